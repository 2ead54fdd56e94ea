"""Framework Adapters, section 6.1: the server keeps its jobs in the project's own database."""

from __future__ import annotations

import time

import pytest
from django.db import connections, transaction
from ojs_adapter_django import databases

from openjobspec import Client, JobNotFoundError, Worker, _native
from openjobspec.django import ojs

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])


@pytest.fixture
def shared(settings):
    """A server whose store is the database `default`."""
    if connections["default"].vendor != "postgresql":
        pytest.fail("OJS_TEST_POSTGRES names no PostgreSQL server: run this under `postgres-fixture --`, as scripts/check.py does")
    server = _native.Server(databases.for_relay("default"), "127.0.0.1:0", True)
    settings.OJS_CONFIG = {**settings.OJS_CONFIG, "url": server.url}
    ojs.close()
    yield server.url
    ojs.close()
    server.stop()
    # The server's part of the database: everything but the outbox, which is the project's.
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT format('DROP TABLE %I CASCADE', tablename) FROM pg_tables WHERE tablename ~ '^ojs_' AND tablename !~ '^ojs_outbox'")
        for (sql,) in cursor.fetchall():
            cursor.execute(sql)
        cursor.execute("DROP SEQUENCE IF EXISTS ojs_raw_seq, ojs_node_seq, ojs_lease_seq CASCADE")
        cursor.execute("DROP FUNCTION IF EXISTS ojs_next_seq, ojs_new_id CASCADE")


def result(client, job):
    """Once a node has taken the row in."""
    until = time.monotonic() + 60
    while True:
        try:
            return client.wait_for_result(job.id, timeout=60)
        except JobNotFoundError:
            assert time.monotonic() < until
            time.sleep(0.005)


def test_transactions_insert_jobs_and_no_relay_runs(shared):
    with transaction.atomic():
        job = ojs.enqueue_after_commit("email.welcome", [1], priority=3, meta={"k": "50 % off"})
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            lost = ojs.enqueue_after_commit("email.welcome", [2])
            _ = 1 / 0
        assert [row["id"] for row in ojs.staged()] == [job.id]
    with transaction.atomic(using="other"):
        other = ojs.enqueue_after_commit("email.welcome", [3], using="other")
    worker = Worker(shared)
    worker.handler("email.welcome", lambda ctx: [ctx.args, ctx.job.priority, ctx.meta.get("k")])
    with worker, Client(shared) as client:
        assert result(client, job).result == [[1], 3, "50 % off"]
        assert result(client, other).result[0] == [3], "the other database has an outbox"
        with pytest.raises(JobNotFoundError):
            client.get_job(lost.id)
    assert not ojs.relay().running
