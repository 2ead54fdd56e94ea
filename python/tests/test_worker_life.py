"""The life of a worker: quiet, stop, the grace period, a start that fails, a transport of the program's own."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Callable

import pytest
from support import PATIENCE, Recorder, eventually, in_state

import openjobspec as ojs

Make = Callable[..., ojs.Worker]


def test_quiet_and_resume(client: ojs.Client, make_worker: Make) -> None:
    worker = make_worker()
    worker.register("a", lambda ctx: "done")
    with worker:
        in_state(client, client.enqueue("a").id, "completed")
        worker.quiet()
        eventually(lambda: worker.state == "quiet")
        waiting = client.enqueue("a")
        worker.resume()
        eventually(lambda: worker.state == "running")
        in_state(client, waiting.id, "completed")


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
def test_stopping_lets_handlers_finish(client: ojs.Client, make_worker: Make, coroutine: bool) -> None:
    started, release = threading.Event(), threading.Event()

    def handle(ctx: ojs.JobContext) -> str:
        started.set()
        release.wait(PATIENCE)
        return "finished"

    async def handle_async(ctx: ojs.JobContext) -> str:
        started.set()
        while not release.is_set():
            await asyncio.sleep(0.001)
        return "finished"

    worker = make_worker()
    worker.register("a", handle_async if coroutine else handle)
    job = client.enqueue("a")
    worker.start()
    assert started.wait(PATIENCE)
    worker.shutdown()
    eventually(lambda: worker.state == "terminate")
    release.set()
    worker.stop()
    assert client.get_job(job.id).result == "finished"


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
def test_after_the_grace_period_jobs_go_back(client: ojs.Client, make_worker: Make, coroutine: bool) -> None:
    started, release = threading.Event(), threading.Event()

    def handle(ctx: ojs.JobContext) -> None:
        started.set()
        release.wait(PATIENCE)

    async def handle_async(ctx: ojs.JobContext) -> None:
        started.set()
        await asyncio.sleep(PATIENCE)

    # A busy server may take the job back when the worker has given up waiting for the answer; the lease would last for an hour.
    worker = make_worker(visibility_timeout_ms=3_600_000)
    worker.register("a", handle_async if coroutine else handle)
    job = client.enqueue("a")
    worker.start()
    assert started.wait(PATIENCE)
    worker.stop(grace=0)
    assert in_state(client, job.id, "available").errors == []
    release.set()


def test_run_async(client: ojs.Client, make_worker: Make) -> None:
    async def main() -> None:
        worker = make_worker()
        loops: list[asyncio.AbstractEventLoop] = []

        @worker.register("coroutine")
        async def coroutine(ctx: ojs.JobContext) -> None:
            loops.append(asyncio.get_running_loop())

        worker.register("plain", lambda ctx: "plain")
        task = asyncio.ensure_future(worker.run_async(signals=False))
        jobs = client.enqueue_batch(["coroutine", "plain"])
        for job in jobs:
            await asyncio.to_thread(in_state, client, job.id, "completed")
        assert loops == [asyncio.get_running_loop()]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert worker.state == "stopped"

    asyncio.run(main())


def test_misuse_is_explained() -> None:
    worker = ojs.Worker("memory:")
    with pytest.raises(ojs.OJSValidationError, match="no handlers"):
        worker.start()
    worker.register("a", lambda ctx: None)
    with pytest.raises(ojs.OJSValidationError, match="already"):
        worker.register("a", lambda ctx: None)
    with pytest.raises(ojs.OJSValidationError, match="not been started"):
        worker.quiet()
    with pytest.raises(ojs.OJSValidationError, match="concurrency"):
        ojs.Worker("memory:", concurrency=0)
    with pytest.raises(ojs.OJSValidationError, match="queue"):
        ojs.Worker("memory:", queues=[])
    for place in ("memory:", ojs.Client("memory:")):
        with pytest.raises(TypeError, match="unknown option 'conccurrency'; did you mean 'concurrency'\\? There are queues, concurrency, .*auth_token"):
            ojs.Worker(place, conccurrency=1)
    with worker:
        with pytest.raises(ojs.OJSValidationError, match="once"):
            worker.start()
        with pytest.raises(ojs.OJSValidationError, match="before the worker starts"):
            worker.register("b", lambda ctx: None)
        with pytest.raises(ojs.MiddlewareError):
            worker.middleware.add("late", lambda ctx, next: next())
    worker.stop()


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
def test_a_start_that_fails_leaves_nothing_behind(coroutine: bool) -> None:
    async def handle(ctx: ojs.JobContext) -> None: ...

    before = threading.active_count()
    worker = ojs.Worker("sqlite:/no/such/directory/jobs.db")
    worker.register("a", handle if coroutine else lambda ctx: None)
    with pytest.raises(ojs.OJSError, match="/no/such/directory"):
        worker.start()
    worker.stop()
    eventually(lambda: threading.active_count() <= before)
    other = ojs.Worker("sqlite:/no/such/directory/jobs.db")
    other.register("a", handle)
    with pytest.raises(ojs.OJSError, match="/no/such/directory"):
        asyncio.run(other.run_async())


class FakeServer(Recorder):
    """Hands out the given jobs by the plain protocol."""

    def __init__(self, jobs: list[dict[str, Any]]) -> None:
        super().__init__()
        self.jobs = jobs
        self.outcomes: dict[str, Any] = {}
        self.all = threading.Event()
        self.expected = len(jobs)

    def request(self, method: str, path: str, body: Any = None) -> Any:
        if path == "/workers/fetch":
            handed, self.jobs = self.jobs[: body["count"]], self.jobs[body["count"] :]
            return 200, {"jobs": handed}
        if path in ("/workers/ack", "/workers/nack"):
            assert body["job_id"] not in self.outcomes, "two outcomes for one job"
            self.outcomes[body["job_id"]] = (path, body)
            if len(self.outcomes) == self.expected:
                self.all.set()
            return {"status": 200, "body": {"id": body["job_id"], "state": "completed"}}
        if path == "/workers/heartbeat":
            return 200, {"state": "running"}
        return super().request(method, path, body)


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
def test_worker_over_a_custom_transport(coroutine: bool) -> None:
    envelope = {"specversion": "1.0", "queue": "default", "state": "active", "attempt": 1}
    server = FakeServer([{"id": str(n), "type": "ok" if n % 2 else "bad", "args": [n], **envelope} for n in range(20)])

    class Coroutine:
        async def request(self, method: str, path: str, body: Any = None) -> Any:
            await asyncio.sleep(0)
            return server.request(method, path, body)

    worker = ojs.Worker(transport=Coroutine() if coroutine else server, concurrency=4)

    @worker.register("ok")
    def ok(ctx: ojs.JobContext) -> int:
        return int(ctx.args[0])

    @worker.register("bad")
    async def bad(ctx: ojs.JobContext) -> None:
        raise ValueError(ctx.args[0])

    with worker:
        assert server.all.wait(PATIENCE)
    for n in range(20):
        path, body = server.outcomes[str(n)]
        if n % 2:
            assert (path, body["result"]) == ("/workers/ack", n)
        else:
            assert (path, body["error"]["message"]) == ("/workers/nack", str(n))
            assert "ValueError" in body["error"]["details"]["stack"]
