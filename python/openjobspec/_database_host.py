"""Runs a relay's statements on the application's own SQLite driver, and keeps its transactions out of forks."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from typing import Any, Callable, Iterable, Iterator, Mapping

from . import _native
from ._json import dumps, loads
from .errors import ClosedError

#: How long the relay waits for the application's transaction to end, in seconds.
_BUSY = 10.0


class DatabaseHost:
    """A thread with a connection of its own that runs the statements of one relay."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        self.mailbox = _native.HostTransport()
        self._connect = connect
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="openjobspec-outbox", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        connection: Any = None
        try:
            while True:
                try:
                    request = self.mailbox.pull(60_000)
                except ClosedError:
                    return
                if request is None:
                    continue
                ticket, _method, _path, body = request
                with _forks.working():
                    try:
                        if connection is None:
                            connection = self._connect()
                            connection.execute("PRAGMA busy_timeout = 100")
                        self.mailbox.reply(ticket, 200, dumps(self._perform(connection, loads(body or b"[]"))))
                    except Exception as error:
                        self.mailbox.reply(ticket, 500, f"{type(error).__name__}: {error}".encode())
        finally:
            if connection is not None:
                with _forks.working():
                    connection.close()

    def close(self) -> None:
        self._closing.set()
        self.mailbox.close()
        self._thread.join(5)

    def _perform(self, connection: Any, statements: Iterable[Mapping[str, Any]]) -> list[list[list[Any]]]:
        """All statements in one transaction; the rows of each."""
        statements = list(statements)
        answers: list[list[list[Any]]] = []
        cursor = connection.cursor()
        try:
            try:
                if not all(statement["sql"].startswith("SELECT") for statement in statements) and not connection.in_transaction:
                    self._begin(cursor)
                for statement in statements:
                    cursor.execute(statement["sql"], statement["params"])
                    answers.append([list(row) for row in cursor.fetchall()] if cursor.description else [])
                connection.commit()
            except BaseException:
                connection.rollback()
                raise
        finally:
            cursor.close()
        return answers

    def _begin(self, cursor: Any) -> None:
        """Waits for another writer, in short turns: SQLite would not hear that the relay is to end, nor that the process forks."""
        until = time.monotonic() + _BUSY
        while True:
            try:
                cursor.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or self._closing.is_set() or time.monotonic() > until:
                    raise
            # The thread that forks may be the one whose transaction is waited for.
            _forks.rest()


class _Forks:
    """Keeps relays off their SQLite files while this process forks.

    SQLite counts the locks of a file once per process, and a child inherits the count, not the thread: a transaction that a relay had open at
    the moment of the fork would lock the file for the child for ever. The same is true of the mutexes of SQLite itself.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._working: set[int] = set()
        self._forking = 0

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """No other thread forks inside of this."""
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def rest(self) -> None:
        """Lets those fork that wait for it; called inside of :meth:`working` while no transaction is open."""
        self._leave()
        self._enter()

    def _enter(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._forking)
            self._working.add(threading.get_ident())

    def _leave(self) -> None:
        with self._changed:
            self._working.discard(threading.get_ident())
            self._changed.notify_all()

    def before(self) -> None:
        """Before a fork, which happens with the lock held."""
        self._changed.acquire()
        self._forking += 1
        self._changed.wait_for(lambda: self._working <= {threading.get_ident()})

    def after_in_parent(self) -> None:
        if not self._forking:
            return  # a signal ended the wait for the lock
        self._forking -= 1
        self._changed.notify_all()
        self._changed.release()


_forks = _Forks()


def _after_in_child() -> None:
    # Threads that waited for the lock are not in the child.
    global _forks
    _forks = _Forks()


if hasattr(os, "register_at_fork"):
    # Looked up at the fork: a child has another.
    os.register_at_fork(
        before=lambda: _forks.before(), after_in_parent=lambda: _forks.after_in_parent(), after_in_child=_after_in_child
    )
