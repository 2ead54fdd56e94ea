"""The outbox on a DB-API connection: transactions, the relay's thread, forks, transports of one's own."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Iterator

import psycopg
import pytest
from support import Recorder, eventually

import openjobspec as ojs
from openjobspec import outbox_context
from openjobspec.outbox import Outbox, Relay, migration, same_file


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "app.db")
    connection = sqlite3.connect(path)
    for statement in migration("sqlite"):
        connection.execute(statement)
    connection.close()
    return path


@pytest.fixture
def relaying(path: str) -> Iterator[Callable[..., Relay]]:
    made: list[Relay] = []

    def make(client: ojs.Client, connect: Any = None, **options: Any) -> Relay:
        relay = Relay(client, connect or (lambda: sqlite3.connect(path, timeout=20)), **{"poll_interval": 0.02, **options})
        made.append(relay)
        return relay.start()

    yield make
    for relay in made:
        relay.stop(grace=0)


def thread_has_ended() -> bool:
    """The relay waits for its thread for five seconds, and no longer."""
    return "openjobspec-outbox" not in [thread.name for thread in threading.enumerate()]


def statuses(path: str) -> list[str]:
    connection = sqlite3.connect(path, timeout=20)
    try:
        return [row[0] for row in connection.execute("SELECT status FROM ojs_outbox ORDER BY id")]
    finally:
        connection.close()


def test_a_commit_sends_and_a_rollback_does_not(client: ojs.Client, path: str, relaying: Callable[..., Relay]) -> None:
    relay = relaying(client)
    outbox = Outbox(client, database="sqlite")
    app = sqlite3.connect(path, timeout=20)
    with app:
        job = outbox.add(app, "email.welcome", [1], queue="mail", meta={"k": "v"})
    with pytest.raises(ZeroDivisionError), app:
        dropped = outbox.add(app, "email.welcome", [2])
        _ = 1 / 0
    relay.wake()
    eventually(lambda: statuses(path) == ["sent"])
    found = client.get_job(job.id)
    assert (found.type, found.args, found.queue, found.meta) == ("email.welcome", [1], "mail", {"k": "v"})
    with pytest.raises(ojs.JobNotFoundError):
        client.get_job(dropped.id)
    app.close()


def test_middleware_runs_when_the_row_is_written(recorder: Recorder, path: str) -> None:
    client = ojs.Client(transport=recorder)

    @client.enqueue_middleware
    def stamp(request: ojs.JobRequest, next: Callable[..., Any]) -> Any:
        request.meta = {"stamped": True, **(request.meta or {})}
        return next(request) if request.type != "no" else None

    outbox = Outbox(client, database="sqlite")
    app = sqlite3.connect(path)
    with outbox_context.bound({"tenant_id": "acme"}):
        job = outbox.add(app, "a", [1])
    with pytest.raises(ojs.NotEnqueuedError):
        outbox.add(app, "no")
    with pytest.raises(ojs.OJSError, match="type"):
        outbox.add(app, "")
    assert outbox.waiting(app) == [
        {"type": "a", "args": [1], "options": {"meta": {"stamped": True, "tenant_id": "acme"}}, "id": job.id}
    ]
    assert recorder.requests == []
    app.close()


def test_only_pythons_own_sqlite_opens_the_file(client: ojs.Client, path: str, relaying: Callable[..., Relay]) -> None:
    statements: list[str] = []

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=20)
        connection.set_trace_callback(statements.append)
        return connection

    with pytest.raises(ojs.OJSValidationError, match="function that opens it"):
        Relay(client, f"sqlite:{path}")
    app = sqlite3.connect(path, timeout=20)
    with app:
        Outbox(client, database="sqlite").add(app, "a", [1])
    app.close()
    relaying(client, connect)
    eventually(lambda: statuses(path) == ["sent"])
    # Whatever changed the row went through Python's driver.
    assert any("UPDATE ojs_outbox SET status = 'sent'" in statement for statement in statements)
    assert same_file(f"sqlite:{path}?durability=relaxed", path) and not same_file("memory:", path)


def test_a_transport_of_ones_own(recorder: Recorder, path: str, relaying: Callable[..., Relay]) -> None:
    client = ojs.Client(transport=recorder)
    app = sqlite3.connect(path, timeout=20)
    with app:
        job = Outbox(client, database="sqlite").add(app, "a", [1])
    app.close()
    relaying(client)
    eventually(lambda: statuses(path) == ["sent"])
    assert recorder.requests == [("POST", "/jobs", {"id": job.id, "type": "a", "args": [1]})]


def test_a_database_that_fails_is_reported_and_tried_again(client: ojs.Client, path: str, relaying: Callable[..., Relay]) -> None:
    broken = [True]

    def connect() -> sqlite3.Connection:
        if broken:
            raise OSError("the disk is away")
        return sqlite3.connect(path, timeout=20)

    relay = relaying(client, connect)
    assert "the disk is away" in eventually(lambda: relay.status()["error"])
    app = sqlite3.connect(path, timeout=20)
    with app:
        Outbox(client, database="sqlite").add(app, "a", [1])
    app.close()
    broken.clear()
    eventually(lambda: statuses(path) == ["sent"])


#: The end of a process flushes for five seconds at most: a machine that has no time for it proves nothing.
FORKED = """
import os, sqlite3, sys
import openjobspec as ojs
from openjobspec.outbox import Outbox, Relay

Relay.stop.__defaults__ = (60.0,)
url, path = sys.argv[1:]
client = ojs.Client(url)
relay = Relay(client, lambda: sqlite3.connect(path, timeout=20), poll_interval=0.02).start()
child = os.fork()
app = sqlite3.connect(path, timeout=20)
with app:
    Outbox(client, database="sqlite").add(app, "child" if child == 0 else "parent", [1])
relay.wake()
assert relay.running
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


#: The child inherits SQLite's count of the locks of the file, and not the thread that would give them back.
FORKED_WHILE_IT_MARKS = """
import os, sqlite3, sys, threading, time
import openjobspec as ojs
from openjobspec import _database_host
from openjobspec.outbox import Outbox, Relay

url, path = sys.argv[1:]
marking, forked = threading.Event(), threading.Event()

class Cursor(sqlite3.Cursor):
    def execute(self, sql, *rest):
        done = super().execute(sql, *rest)
        if sql.startswith("UPDATE") and "status = 'sent'" in sql and not marking.is_set():
            marking.set()
            while not (forked.is_set() or _database_host._forks._forking):
                time.sleep(0.001)
        return done

class Connection(sqlite3.Connection):
    def cursor(self):
        return super().cursor(Cursor)

client = ojs.Client(url)
app = sqlite3.connect(path, timeout=60)
with app:
    Outbox(client, database="sqlite").add(app, "a", [1])
app.close()
relay = Relay(client, lambda: sqlite3.connect(path, factory=Connection), poll_interval=0.02).start()
marking.wait()
ended, ends = os.pipe()
child = os.fork()
if child == 0:
    os.close(ends)
    os.read(ended, 1)
    sqlite3.connect(path, timeout=0).execute("BEGIN IMMEDIATE")
    os._exit(0)
forked.set()
relay.stop(60.0)
os.close(ends)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_fork_waits_until_the_relay_has_no_transaction_open(ojs_server: str, path: str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKED_WHILE_IT_MARKS, ojs_server, path]
    ended = subprocess.run(command, timeout=180, env=os.environ, check=False)
    assert ended.returncode == 0
    assert statuses(path) == ["sent"]


FORKED_IN_A_TRANSACTION = """
import os, sqlite3, sys
import openjobspec as ojs
from openjobspec.outbox import Outbox, Relay

url, path = sys.argv[1:]
client = ojs.Client(url)
app = sqlite3.connect(path, isolation_level=None)
Outbox(client, database="sqlite").add(app, "a", [1])
app.execute("BEGIN IMMEDIATE")
relay = Relay(client, lambda: sqlite3.connect(path), poll_interval=0.02).start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
app.execute("COMMIT")
relay.stop(60.0)
"""


def test_a_thread_forks_inside_of_its_transaction_while_the_relay_waits_for_that(ojs_server: str, path: str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKED_IN_A_TRANSACTION, ojs_server, path]
    ended = subprocess.run(command, timeout=180, env=os.environ, check=False)
    assert ended.returncode == 0
    assert statuses(path) == ["sent"]


def test_a_relay_that_waits_for_another_writer_ends_all_the_same(client: ojs.Client, path: str, relaying: Callable[..., Relay]) -> None:
    writer = sqlite3.connect(path, isolation_level=None)
    Outbox(client, database="sqlite").add(writer, "email.welcome", [1])
    writer.execute("BEGIN IMMEDIATE")
    relay = relaying(client)
    relay.stop(grace=0.2)
    eventually(thread_has_ended)
    assert statuses(path) == ["pending"]
    writer.execute("ROLLBACK")
    relay.start()
    relay.stop(grace=60)
    assert statuses(path) == ["sent"]


def test_a_relay_that_cannot_start_leaves_no_thread(client: ojs.Client, path: str) -> None:
    with pytest.raises(ojs.OJSValidationError, match="table"):
        Relay(client, lambda: sqlite3.connect(path), table="no such").start()
    eventually(thread_has_ended)


def test_a_forked_process_has_a_relay_of_its_own_and_the_end_flushes_it(ojs_server: str, path: str) -> None:
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED, ojs_server, path], timeout=180, env=os.environ, check=False)
    assert ended.returncode == 0
    assert statuses(path) == ["sent", "sent"]


def test_postgresql_by_url(ojs_server: str) -> None:
    server = os.environ.get("OJS_TEST_POSTGRES")
    if not server:
        pytest.fail("OJS_TEST_POSTGRES names no PostgreSQL server: run this under `postgres-fixture --`, as scripts/check.py does")
    with psycopg.connect(server, autocommit=True) as connection, ojs.Client(ojs_server) as client:
        table = f"outbox_{os.getpid()}"
        with Relay(client, server, table=table, migrate=True, poll_interval=0.02) as relay:
            with connection.transaction():
                job = Outbox(client, database="postgresql", table=table).add(connection, "a", [1])
            relay.wake()
            eventually(lambda: relay.status().get("sent") == 1)
        assert client.get_job(job.id).args == [1]
        connection.execute(f"DROP TABLE {table}, {table}_relay")


def test_a_missing_table_is_an_error_that_says_how_to_make_it(ojs_server: str, tmp_path: Path) -> None:
    app = sqlite3.connect(tmp_path / "app.db")
    outbox = Outbox(ojs.Client(ojs_server), database="sqlite")
    with pytest.raises(ojs.OutboxError) as caught, app:
        outbox.add(app, "email.welcome", [1])
    assert caught.value.message == "there is no table ojs_outbox: run 'outbox.migrate(connection)' once, or 'ojs relay migrate'"
    assert caught.value.code == "no_outbox_table" and isinstance(caught.value.__cause__, sqlite3.OperationalError)
    outbox.migrate(app)
    outbox.migrate(app)
    with app:
        assert outbox.add(app, "email.welcome", [1]).args == [1]
    app.close()
