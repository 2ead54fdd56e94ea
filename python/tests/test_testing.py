"""The package's own test support: fake, inline, and the pytest fixtures."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import pytest

import openjobspec as ojs
from openjobspec import testing


def test_fake_records_and_nothing_runs() -> None:
    client = ojs.Client("http://127.0.0.1:1")
    with testing.fake_mode() as fake:
        job = client.enqueue("email.send", ["a"], queue="mail", meta={"tenant": "acme", "k": 1}, priority=5)
        assert job.state == "available"
        client.enqueue_batch([("email.send", ["b"]), "other"])
        asyncio.run(ojs.AsyncClient("http://127.0.0.1:1").enqueue("from.asyncio"))
        testing.assert_enqueued("email.send")
        fake.assert_enqueued("email.send", count=2)
        fake.assert_enqueued("email.send", args=["a"], queue="mail", meta={"tenant": "acme"}, priority=5, count=1)
        fake.assert_enqueued("email.send", queue="default", count=1)
        fake.assert_enqueued("from.asyncio")
        fake.assert_not_enqueued("email.receive")
        fake.assert_not_enqueued("email.send", args=["c"])
        with pytest.raises(AssertionError, match=r"expected at least one 'nobody'.*email.send"):
            fake.assert_enqueued("nobody")
        with pytest.raises(AssertionError):
            fake.assert_not_enqueued("other")
        assert client.get_job(job.id).args == ["a"]
        with pytest.raises(ojs.InvalidRequestError):  # the fake is a real engine: what it would refuse, it refuses
            client.enqueue("Not A Type")
        testing.clear()
        testing.assert_not_enqueued()
    with pytest.raises(RuntimeError, match="no fake is active"):
        testing.assert_enqueued("email.send")
    with pytest.raises(ojs.OJSConnectionError):
        ojs.Client("http://127.0.0.1:1", max_sends=1).enqueue("email.send")


def family(client: ojs.Client) -> tuple[ojs.Worker, list[Any]]:
    worker = ojs.Worker()
    ran: list[Any] = []

    @worker.middleware
    async def around(ctx: ojs.JobContext, next: Callable[[], Any]) -> Any:
        ran.append("before")
        return await next()

    @worker.register("parent")
    def parent(ctx: ojs.JobContext) -> str:
        ran.append(("parent", ctx.args))
        client.enqueue("child", [1])
        return "done"

    @worker.register("child")
    async def child(ctx: ojs.JobContext) -> None:
        await asyncio.sleep(0)
        ran.append(("child", ctx.args))

    @worker.register("bad")
    def bad(ctx: ojs.JobContext) -> None:
        raise KeyError("missing")

    return worker, ran


def test_drain_runs_handlers_middleware_and_what_they_enqueue() -> None:
    client = ojs.Client()
    worker, ran = family(client)
    with testing.fake_mode() as fake:
        job = client.enqueue("parent", ["x"])
        assert fake.drain(worker) == 2
        assert ran == ["before", ("parent", ["x"]), "before", ("child", [1])]
        assert client.get_job(job.id).result == "done"
        bad = client.enqueue("bad")
        with pytest.raises(KeyError, match="missing"):
            testing.drain(worker)
        assert client.get_job(bad.id).state == "retryable"
        client.enqueue("bad")
        assert fake.drain(worker, raise_errors=False) == 1


def test_inline_runs_at_once() -> None:
    client = ojs.Client()
    worker, ran = family(client)
    with testing.inline_mode(worker):
        client.enqueue("parent", ["x"])
        assert ran == ["before", ("parent", ["x"]), "before", ("child", [1])]
        with pytest.raises(KeyError):
            client.enqueue("bad")


def test_fakes_nest() -> None:
    client = ojs.Client()
    with testing.fake_mode() as outer:
        with testing.fake_mode() as inner:
            client.enqueue("a")
        inner.assert_enqueued("a")
        outer.assert_not_enqueued("a")


def test_the_plugin_is_found_by_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_mail.py").write_text(
        """
import openjobspec as ojs

def test_real(ojs_client, ojs_worker):
    import threading
    done = threading.Event()
    worker = ojs_worker()
    worker.register("a", lambda ctx: done.set())
    ojs_client.enqueue("a")
    with worker:
        assert done.wait(60)

def test_async(ojs_async_client):
    import asyncio
    assert asyncio.run(ojs_async_client.enqueue("a")).state == "available"

def test_fake(ojs_fake):
    ojs.Client().enqueue("a")
    ojs_fake.assert_enqueued("a")
"""
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, timeout=180, capture_output=True, text=True)
    assert "3 passed" in done.stdout, done.stdout + done.stderr


def test_a_type_without_a_handler_is_an_error_of_the_package() -> None:
    client = ojs.Client()
    worker, _ = family(client)
    with testing.inline_mode(worker) as fake:
        with pytest.raises(ojs.OJSError, match="No handler is registered for job type 'chidl'. Registered: bad, child, parent.") as caught:
            client.enqueue("chidl")
        assert caught.value.code == "no_handler"
        [request] = fake.enqueued("chidl")
    with testing.fake_mode() as fake:
        job = client.enqueue("chidl")
        with pytest.raises(ojs.NonRetryableError, match="No handler is registered"):
            fake.drain(worker)
        found = client.get_job(job.id)
        assert found.state == "discarded" and found.error is not None and found.error["code"] == "no_handler"


def test_workers_that_share_a_queue_run_what_they_have_handlers_for() -> None:
    client, ran = ojs.Client(), []
    one, two = ojs.Worker(), ojs.Worker()
    one.register("one", lambda ctx: ran.append("one"))
    two.register("two", lambda ctx: ran.append("two"))
    with testing.inline_mode(one, two):
        for job_type in ("two", "one", "two"):
            client.enqueue(job_type)
    assert ran == ["two", "one", "two"]
