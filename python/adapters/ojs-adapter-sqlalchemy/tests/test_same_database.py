"""Framework Adapters, section 6.1: the server keeps its jobs in the application's own database."""

from __future__ import annotations

import asyncio
import time

import pytest
from sqlalchemy import text
from sqlalchemy.engine import create_engine, make_url
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from drivers import POSTGRES, asyncio_url
from ojs_adapter_sqlalchemy import OjsOutbox
from openjobspec import Client, JobNotFoundError, Worker, _native

pytestmark = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


@pytest.fixture
def server(database):
    """A server whose store is the application's database."""
    server = _native.Server(make_url(database).set(drivername="postgresql").render_as_string(hide_password=False), "127.0.0.1:0", True)
    yield server.url
    server.stop()


@pytest.fixture
def shared(server, database, engine):
    """No outbox table: there is nothing to fall back to."""
    ojs = OjsOutbox(server, database)
    yield ojs
    ojs.close(grace=0)


def result(client, job):
    """Once a node has taken the row in."""
    until = time.monotonic() + 60
    while True:
        try:
            return client.wait_for_result(job.id, timeout=60)
        except JobNotFoundError:
            assert time.monotonic() < until
            time.sleep(0.005)


def rows(engine, table="ojs_jobs"):
    with engine.connect() as connection:
        return connection.execute(text(f"SELECT count(*) FROM {table}")).scalar()


def test_a_commit_makes_the_job_and_a_rollback_none(engine, shared, server):
    with Session(engine) as session, session.begin():
        job = shared.enqueue_after_commit(session, "email.welcome", [2**60, "50 % :x"], queue="email", priority=7, meta={"k": "v"})
        assert [row["id"] for row in shared.staged(session)] == [job.id]
        assert rows(engine) == 0
    with pytest.raises(ZeroDivisionError), Session(engine) as session, session.begin():
        shared.enqueue_after_commit(session, "email.welcome", [2])
        _ = 1 / 0
    with Session(engine) as session, session.begin():
        with pytest.raises(ZeroDivisionError), session.begin_nested():
            shared.enqueue_after_commit(session, "a", [3])
            _ = 1 / 0
        with session.begin_nested():
            shared.enqueue_after_commit(session, "a", [4])
    done = []
    worker = Worker(server, queues=["email", "default"])
    worker.handler("email.welcome", lambda ctx: done.append((ctx.id, ctx.args, ctx.job.priority, ctx.meta["k"])))
    worker.handler("a", lambda ctx: done.append(ctx.args))
    with worker:
        with Client(server) as client:
            assert result(client, job).ok
            # A node takes rows in when it hears of them: [4] may come after jobs that were enqueued later.
            until = time.monotonic() + 60
            while [4] not in done:
                assert time.monotonic() < until, done
                client.wait_for_result(client.enqueue("a", ["later"]).id, timeout=60)
    assert (job.id, [2**60, "50 % :x"], 7, "v") in done and [4] in done and [3] not in done
    assert not shared.relay.running, "there is nothing to send"


def test_with_asyncio(database, shared, server):
    async def run():
        engine = create_async_engine(database if POSTGRES == "psycopg" else asyncio_url(database))
        async with AsyncSession(engine) as session, session.begin():
            job = await shared.enqueue_after_commit_async(session, "a", [1])
        await engine.dispose()
        return job

    job = asyncio.run(run())
    worker = Worker(server)
    worker.handler("a", lambda ctx: "done")
    with worker, Client(server) as client:
        assert result(client, job).result == "done"


def test_a_database_that_only_looks_like_it_is_not_used(ojs_server, database, engine, server, sent):
    # The tables of a server are there, but the client talks to another one.
    ojs = OjsOutbox(ojs_server, database, poll_interval=0.05)
    with engine.begin() as connection:
        ojs.create_table(connection)
    with Session(engine) as session, session.begin():
        job = ojs.enqueue_after_commit(session, "a", [1])
    assert [found.id for found in sent(1)] == [job.id]
    assert rows(engine) == 0
    ojs.close(grace=0)


def test_a_role_that_may_not_insert_goes_through_the_outbox(engine, server, database):
    # Without a relay, which would at once send the row on to the engine's table.
    shared = OjsOutbox(server, database, relay=False)
    url = make_url(database)
    with engine.begin() as connection:
        role = f"limited_{url.database}"
        connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN")
        shared.create_table(connection)
        connection.exec_driver_sql(f"GRANT ALL ON ojs_outbox TO {role}; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role}")
    limited = create_engine(url.set(username=role))
    with Session(limited) as session, session.begin():
        shared.enqueue_after_commit(session, "a", [1])
    limited.dispose()
    assert (rows(engine, "ojs_outbox"), rows(engine)) == (1, 0)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"DROP OWNED BY {role}; DROP ROLE {role}")
    shared.close(grace=0)
