"""FA-001, FA-002, FA-003, with sessions and connections, plain and asyncio."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.engine import create_engine, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from ojs_adapter_sqlalchemy import OjsOutbox
from drivers import asyncio_url
from openjobspec import OJSAPIError, OJSError, OJSValidationError, outbox_context

#: A session whose commit releases a savepoint. In SQLAlchemy 1.4 sessions of such a connection do nothing else.
SAVEPOINT = {"join_transaction_mode": "create_savepoint"} if sqlalchemy.__version__ >= "2" else {"future": True}
INSERT = text("INSERT INTO users (id, email) VALUES (:id, 'a@example.com')")


def test_fa_001_a_session_commits(engine, ojs, sent):
    with Session(engine) as session, session.begin():
        session.execute(INSERT, {"id": 1})
        job = ojs.enqueue_after_commit(session, "email.welcome", [1], meta={"k": "50 % :x"})
        with pytest.raises(OJSAPIError):
            ojs.client.get_job(job.id)
    [found] = sent(1)
    assert (found.id, found.type, found.args, found.meta["k"]) == (job.id, "email.welcome", [1], "50 % :x")


def test_fa_001_a_connection_commits_and_goes_on(engine, ojs, sent):
    with engine.connect() as connection:
        for number in range(3):
            with connection.begin():
                ojs.enqueue_after_commit(connection, "a", [number])
        assert [job.args for job in sent(3)] == [[0], [1], [2]]


def test_fa_002_rollbacks_and_scenario_48_savepoints(engine, ojs, sent):
    with pytest.raises(ZeroDivisionError), Session(engine) as session, session.begin():
        ojs.enqueue_after_commit(session, "a", [1])
        _ = 1 / 0
    with Session(engine) as session, session.begin():
        session.execute(INSERT, {"id": 1})
        ojs.enqueue_after_commit(session, "a", [2])
        with pytest.raises(ZeroDivisionError), session.begin_nested():
            ojs.enqueue_after_commit(session, "a", [3])
            _ = 1 / 0
        with session.begin_nested():
            ojs.enqueue_after_commit(session, "a", [4])
        assert not ojs.relay.running  # a savepoint that is released does not wake the relay
    assert [job.args for job in sent(2)] == [[2], [4]]


def test_autocommit_sends_at_once(engine, ojs):
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        job = ojs.enqueue_after_commit(connection, "a", [1])
    assert ojs.client.get_job(job.id).state == "available"


def test_a_connection_that_goes_back_in_mid_transaction_takes_its_jobs_along(engine, ojs, sent):
    connection = engine.connect()
    connection.begin()
    ojs.enqueue_after_commit(connection, "a", [1])
    connection.close()
    with engine.begin() as connection:
        ojs.enqueue_after_commit(connection, "a", [2])
    assert [job.args for job in sent(1)] == [[2]]


def test_a_transaction_that_only_reads_refuses_jobs(engine, ojs, sent):
    begin = {"postgresql": "SET TRANSACTION READ ONLY", "mysql": "START TRANSACTION READ ONLY", "sqlite": "PRAGMA query_only = ON"}[engine.name]
    with engine.connect() as connection:
        connection.exec_driver_sql(begin)
        with pytest.raises(DBAPIError, match="(?i)read.?only"):
            ojs.enqueue_after_commit(connection, "a", [1])
        connection.rollback()
        if engine.name == "sqlite":
            connection.exec_driver_sql("PRAGMA query_only = OFF")
    with engine.begin() as connection:
        ojs.enqueue_after_commit(connection, "a", [2])
    assert [job.args for job in sent(1)] == [[2]]


def test_scenario_49_a_test_that_rolls_back_sees_its_jobs(engine, ojs):
    with engine.connect() as connection, connection.begin() as outer:
        with Session(connection, **SAVEPOINT) as session:
            ojs.enqueue_after_commit(session, "a", [1])
            session.commit()
        assert [job["args"] for job in ojs.staged(connection)] == [[1]]
        outer.rollback()
    with engine.connect() as connection:
        assert ojs.staged(connection) == []


def test_fa_003_a_relay_that_starts_later_finds_the_rows(database, engine, ojs, ojs_server, sent):
    quiet = OjsOutbox(ojs_server, database, relay=False)
    with Session(engine) as session, session.begin():
        for number in range(5):
            quiet.enqueue_after_commit(session, "a", [number])
    quiet.close()
    ojs.start()
    assert [job.args for job in sent(5)] == [[number] for number in range(5)]


#: As "Framework Adapters", section 5.2, prints it.
PRINTED = """
{
  "adapter": {
    "ojs_url": "http://localhost:8080",
    "backend_type": "external",
    "outbox": {
      "enabled": true,
      "table_name": "ojs_outbox",
      "poll_interval": "PT1S",
      "batch_size": 100
    }
  }
}
"""


def test_the_configuration_of_section_5_2_as_printed(database, engine, ojs, ojs_server, sent):
    ojs.close(grace=0)
    OjsOutbox.from_config(json.loads(PRINTED), engine).close()
    config = json.loads(PRINTED.replace("http://localhost:8080", ojs_server))
    printed = OjsOutbox.from_config(config, database)
    assert printed.table == "ojs_outbox"
    with engine.begin() as connection:
        printed.enqueue_after_commit(connection, "a", [1])
    printed.start()
    assert sent(1)[0].args == [1]
    printed.close()
    for path, value, message in [
        (("adapter", "backend_type"), "redis", "'external'.*'database'"),
        (("adapter", "url"), "x", "'url' is given twice"),
        (("adapter", "outbox", "poll"), 1, "unknown setting 'poll'; there are table"),
        (("adapter", "outbox", "enabled"), False, "leave 'enabled' out"),
        (("adapters",), {}, "unknown setting 'adapters'; there are ojs_url"),
    ]:
        wrong = json.loads(PRINTED)
        place = wrong
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value
        with pytest.raises(OJSValidationError, match=message):
            OjsOutbox.from_config(wrong, engine)


def test_fa_r001_metadata_of_the_request(engine, ojs, sent):
    with outbox_context.bound({"tenant_id": "acme", "ojs.context.user_id": "7"}), engine.begin() as connection:
        ojs.enqueue_after_commit(connection, "a", [1], meta={"tenant_id": "own"})
    assert sent(1)[0].meta == {"tenant_id": "own", "ojs.context.user_id": "7"}


def test_fa_r003_closing_flushes_and_ends_the_thread(engine, ojs, sent):
    ojs.start()
    with engine.begin() as connection:
        ojs.enqueue_after_commit(connection, "a", [1])
    ojs.relay.stop(grace=60)
    assert len(sent(1)) == 1
    # Five seconds are all that the relay waits for its thread.
    for thread in threading.enumerate():
        if thread.name == "openjobspec-outbox":
            thread.join(60)
            assert not thread.is_alive()


# The last version with engines that commit each statement by themselves; `make ranges` runs it.
if sqlalchemy.__version__ < "2":

    def test_an_engine_of_1_4_commits_each_statement_until_a_transaction_is_begun(database, ojs, sent):
        engine = create_engine(database)
        with engine.connect() as connection:
            assert ojs.client.get_job(ojs.enqueue_after_commit(connection, "a", [1]).id).state == "available"
            with connection.begin():
                ojs.enqueue_after_commit(connection, "a", [2])
        with Session(engine) as session, session.begin():
            ojs.enqueue_after_commit(session, "a", [3])
        with pytest.raises(ZeroDivisionError), Session(engine) as session, session.begin():
            ojs.enqueue_after_commit(session, "a", [4])
            _ = 1 / 0
        assert [job.args for job in sent(3)] == [[1], [2], [3]]
        engine.dispose()


def test_asyncio(database, engine, ojs, sent):
    url = asyncio_url(database)

    async def run() -> None:
        engine = create_async_engine(url)
        try:
            async with AsyncSession(engine) as session, session.begin():
                await session.execute(INSERT, {"id": 1})
                await ojs.enqueue_after_commit_async(session, "a", [1])
            with pytest.raises(ZeroDivisionError):
                async with AsyncSession(engine) as session, session.begin():
                    await ojs.enqueue_after_commit_async(session, "a", [2])
                    _ = 1 / 0
            async with engine.begin() as connection:
                await ojs.enqueue_after_commit_async(connection, "a", [3])
        finally:
            await engine.dispose()

    asyncio.run(run())
    assert [job.args for job in sent(2)] == [[1], [3]]


def test_what_cannot_work_says_so(tmp_path):
    with pytest.raises(OJSError, match="mssql"):
        OjsOutbox(None, "mssql://localhost/shop")
    with pytest.raises(OJSError, match="two copies"):
        OjsOutbox(f"sqlite:{tmp_path}/app.db", f"sqlite:///{tmp_path}/app.db")
    with pytest.raises(OJSError, match="in memory"):
        OjsOutbox(None, "sqlite://").start()
