"""Jobs of an engine that shares the application's PostgreSQL: inserted by the transaction itself, without outbox and relay.

The adapters find out by themselves. A server on PostgreSQL says in its health which table its jobs are in; when the application's
connection finds the same table under the same name, its transaction may insert there ("Framework Adapters", section 6.1).
"""

from __future__ import annotations

import logging
import threading
from typing import Any, Callable

from . import _native
from ._json import dumps, loads
from .client import Client

logger = logging.getLogger("openjobspec.outbox")

#: Notifies the nodes after a commit; without it they look ten times a second.
NOTIFY = _native.outbox_notify()

#: What a server says as ``backend.id``, asked by the application; NULL where it sees no such table, or may not insert.
IDENTITY = _native.outbox_identity()


class SameDatabase:
    """Whether a client's server keeps its jobs in an application's database. The core says what to ask, and decides."""

    def __init__(self, client: Client, wanted: bool | None = None) -> None:
        self._client = client
        self._wanted = wanted
        self._lock = threading.Lock()
        self._state: Any = None
        self._lasting: bool | None = None

    def __call__(self, query: Callable[[str], Any]) -> bool:
        """``query`` runs a statement on the application's connection, in a savepoint, and returns the first value of the first row."""
        if self._lasting is not None:
            return self._lasting
        with self._lock:
            step = self._step("begin", value=self._wanted)
            while step["next"] != "enqueue":
                step = self._ask(step, query)
            if step["reason"]:
                logger.info("%s", step["reason"])
            if step["lasting"]:
                self._lasting = step["shared"]
            return bool(step["shared"])

    def _ask(self, step: dict[str, Any], query: Callable[[str], Any]) -> dict[str, Any]:
        try:
            value = query(step["sql"]) if step["next"] == "database" else self._client.health()
        except Exception as error:  # drivers have no class of errors in common
            return self._step(step["next"], error=str(error))
        return self._step(step["next"], value=value)

    def _step(self, event: str, **what: Any) -> dict[str, Any]:
        said = dumps({"state": self._state, "event": event, **what}).decode()
        step: dict[str, Any] = loads(_native.outbox_same_database(said))
        self._state = step["state"]
        return step
