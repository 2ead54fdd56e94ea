"""Jobs of an engine that shares the application's PostgreSQL: inserted by the transaction itself, without outbox and relay.

The adapters find out by themselves. A server on PostgreSQL says in its health which table its jobs are in; when the application's
connection finds the same table under the same name, its transaction may insert there (specification, section 6.1).
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any, Callable

from ._json import dumps
from .client import Client
from .errors import OJSError, OJSValidationError

logger = logging.getLogger("openjobspec.outbox")

#: Tells the nodes after a commit; without it they look ten times a second.
NOTIFY = "NOTIFY ojs_ready, '+'"

#: What a server says as ``backend.id``, asked by the application; NULL where it sees no such table, or may not insert.
IDENTITY = """
SELECT CASE WHEN has_table_privilege(to_regclass('ojs_jobs')::oid, 'INSERT') THEN (SELECT system_identifier FROM pg_control_system())
  || '.' || (SELECT oid FROM pg_database WHERE datname = current_database()) || '.' || to_regclass('ojs_jobs')::oid END
"""

#: Seconds until the server is asked again when it did not answer, and until a table is looked for again that was not there.
_PATIENCE = 30.0

_PLACES: dict[str, Callable[[int], str]] = {
    "qmark": lambda _n: "?", "format": lambda _n: "%s", "pyformat": lambda _n: "%s", "numeric": lambda n: f":{n}",
    "numeric_dollar": lambda n: f"${n}",
}  # fmt: skip


def insert(body: dict[str, Any], job_id: str, paramstyle: str) -> tuple[str, tuple[Any, ...]]:
    """The statement that makes a job of a request, and its parameters."""
    if "schema" in body:
        raise OJSValidationError("a row of ojs_jobs has no place for a schema: enqueue this job through the outbox (same_database=False)")
    options = dict(body.get("options") or {})
    queue = options.pop("queue", "default")
    place = _PLACES[paramstyle]
    sql = f"INSERT INTO ojs_jobs (id, type, args, queue, meta, options) VALUES ({', '.join(place(n) for n in range(1, 7))})"
    text = [None if not value else dumps(value).decode("utf-8") for value in (body.get("meta"), options)]
    return sql, (job_id, body["type"], dumps(body["args"]).decode("utf-8"), queue, *text)


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
