"""Jobs of an engine that shares the application's PostgreSQL: inserted by the transaction itself, without outbox and relay.

The adapters find out by themselves. A server on PostgreSQL says in its health which table its jobs are in; when the application's
connection finds the same table under the same name, its transaction may insert there ("Framework Adapters", section 6.1).
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any, Callable

from . import _native
from .client import Client
from .errors import OJSError

logger = logging.getLogger("openjobspec.outbox")

#: Tells the nodes after a commit; without it they look ten times a second.
NOTIFY = "NOTIFY ojs_ready, '+'"

#: What a server says as ``backend.id``, asked by the application; NULL where it sees no such table, or may not insert.
IDENTITY = _native.outbox_identity()

#: Seconds until the server is asked again when it did not answer, and until a table is looked for again that was not there.
_PATIENCE = 30.0


class SameDatabase:
    """Whether a client's server keeps its jobs in an application's database: asked once, remembered."""

    def __init__(self, client: Client, wanted: bool | None = None) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._known: bool | None = wanted
        self._ask_at = 0.0

    def __call__(self, query: Callable[[str], Any]) -> bool:
        """``query`` runs a statement on the application's connection, in a savepoint, and returns the first value of the first row."""
        if self._known is not None:
            return self._known
        with self._lock:
            if self._known is None and time.monotonic() >= self._ask_at:
                self._known = self._find(query)
                self._ask_at = time.monotonic() + _PATIENCE
            return bool(self._known)

    def _find(self, query: Callable[[str], Any]) -> bool | None:
        try:
            ours = query(IDENTITY)
        except Exception as error:
            logger.info("jobs go through the outbox: the database does not say which one it is (%s)", error)
            return False
        if ours is None:
            return None
        try:
            backend = self._client.health().get("backend") or {}
        except OJSError as error:
            logger.info("jobs go through the outbox for now: the server did not say where it keeps them (%s)", error)
            return None
        return bool(backend.get("id") == str(ours))
