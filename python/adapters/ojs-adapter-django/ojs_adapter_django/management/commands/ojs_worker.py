"""``manage.py ojs_worker``: runs the worker of this project."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import close_old_connections

from openjobspec import OJSError, OJSValidationError, Worker, outbox_context
from openjobspec.__main__ import load

from ojs_adapter_django import ojs


class Command(BaseCommand):
    """Runs handlers until it is told to stop."""

    help = "Run Django's tasks, and the handlers of a worker: OJS_CONFIG['worker'] or the argument, as module:attribute."

    def add_arguments(self, parser: CommandParser) -> None:
        """What can be given."""
        parser.add_argument("app", nargs="?", help="module:attribute of the openjobspec.Worker")
        parser.add_argument("--queues", help="a,b: overrides the worker's own")
        parser.add_argument("--concurrency", type=int, help="overrides the worker's own")

    def handle(self, *, app: str | None, queues: str | None, concurrency: int | None, **_: Any) -> None:
        """Runs it; returns when it has stopped."""
        worker = _worker(app or ojs.config.worker)
        try:
            if ojs.config.url:
                worker.configure(url=ojs.config.url, queues=queues, concurrency=concurrency)
            else:
                worker.configure(queues=queues, concurrency=concurrency)
            worker.middleware.prepend("django_context", outbox_context.restored)
            worker.middleware.prepend("django_connections", connections)
            worker.run()
        except OJSValidationError as error:
            raise CommandError(str(error)) from error


def _worker(app: str | None) -> Worker:
    """The project's worker, or one for Django's tasks alone; tasks run in either."""
    tasks = _tasks()
    backends = tasks.backends() if tasks else []
    if not app and not backends:
        raise CommandError("name the worker: OJS_CONFIG['worker'] = 'shop.jobs:worker', or manage.py ojs_worker shop.jobs:worker")
    try:
        worker = load(app) if app else Worker(ojs.config.url, queues=sorted({queue for backend in backends for queue in backend.queues}))
    except OJSError as error:
        raise CommandError(str(error)) from error
    if tasks and backends:
        tasks.register(worker)
    return worker


def _tasks() -> Any:
    """The module of Django's tasks, where the project has settings for them."""
    if not hasattr(settings, "TASKS"):
        return None
    try:
        from ojs_adapter_django import tasks
    except ModuleNotFoundError as error:
        raise CommandError(f"settings.TASKS needs Django 6.0, or: pip install django-tasks ({error})") from error
    return tasks


def connections(_ctx: Any, next: Any) -> Any:
    """As around a request: a connection that has gone is not used again."""
    close_old_connections()
    try:
        return next()
    finally:
        close_old_connections()
