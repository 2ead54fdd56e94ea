"""``manage.py ojs_relay``: the relay as a process of its own."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ojs_adapter_django import ojs


class Command(BaseCommand):
    """Relays until it is told to stop."""

    help = "Send what transactions have put into the outbox. Any number may run; one sends. SIGTERM flushes and ends it."

    def add_arguments(self, parser: CommandParser) -> None:
        """What can be given."""
        parser.add_argument("--database", default=None, help="the alias whose outbox is relayed")
        parser.add_argument("--once", action="store_true", help="send what is there and end")

    def handle(self, *, database: str | None, once: bool, **_: Any) -> None:
        """Runs it."""
        if not ojs.config.enabled:
            raise CommandError("the outbox is off: set OJS_CONFIG['outbox']['enabled'] to True")
        stop = threading.Event()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: stop.set())
        relay = ojs.relay(database).start()
        self.stdout.write(f"relaying {ojs.config.table} of '{database or ojs.config.database}'")
        before = relay.status()
        while not once and not stop.wait(10):
            now = relay.status()
            if now != before:
                self.stdout.write(f"sent {now['sent']}, refused {now['refused']}, parked {now['parked']}" + (f": {now['error']}" if now["error"] else ""))
            before = now
        relay.stop()
