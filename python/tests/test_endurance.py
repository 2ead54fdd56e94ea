"""Memory and time: garbage collection at every turn, many jobs, many objects."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import threading
import tracemalloc
from typing import Any, Iterator

import pytest
from support import PATIENCE, eventually

import openjobspec as ojs


@pytest.fixture
def torture() -> Iterator[None]:
    """Collects garbage all the time."""
    before = gc.get_threshold()
    gc.set_threshold(1)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("torture")
@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
def test_under_constant_garbage_collection(coroutine: bool) -> None:
    run_jobs(300, coroutine)


def run_jobs(count: int, coroutine: bool) -> None:
    """Enqueues, runs and counts jobs."""
    seen: set[int] = set()
    with ojs.Client("memory:") as client:
        worker = ojs.Worker(client, concurrency=4)

        def handle(ctx: ojs.JobContext) -> dict[str, Any]:
            seen.add(ctx.args[0])
            if ctx.args[0] % 7 == 0:
                raise ojs.NonRetryableError("every seventh")
            return {"n": ctx.args[0]}

        async def handle_async(ctx: ojs.JobContext) -> dict[str, Any]:
            await asyncio.sleep(0)
            return handle(ctx)

        worker.register("a", handle_async if coroutine else handle)
        client.enqueue_batch([ojs.JobRequest("a", n) for n in range(count)])
        with worker:
            bad = len(range(0, count, 7))

            def over() -> bool:
                stats = client.queue_stats("default")
                return bool(stats["completed"] == count - bad and stats["discarded"] == bad)

            eventually(over, PATIENCE * 3)
    assert seen == set(range(count))


def settled(before: set[threading.Thread]) -> None:
    """Waits for the threads of workers that are over: until they have ended they hold what their handlers held."""
    names = ("openjobspec-worker", "openjobspec-handler", "openjobspec-loop")
    eventually(lambda: not any(thread.name.startswith(names) for thread in set(threading.enumerate()) - before))
    gc.collect()


def resident() -> int:
    """Bytes of memory this process uses."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
def test_many_jobs_leave_nothing_behind(coroutine: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # pytest keeps every record that reaches it, one for each of the jobs that fail on purpose.
    monkeypatch.setattr(logging.getLogger("openjobspec.worker"), "disabled", True)

    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    others = set(threading.enumerate())
    run_jobs(2_000, coroutine)
    settled(others)
    tracemalloc.start()
    run_jobs(2_000, coroutine)
    settled(others)
    (python, _), threads, fds, memory = tracemalloc.get_traced_memory(), threading.active_count(), descriptors(), resident()
    for _ in range(10):
        run_jobs(2_000, coroutine)
    settled(others)
    grown = tracemalloc.get_traced_memory()[0] - python
    tracemalloc.stop()
    assert grown < 200_000, f"{grown} bytes of Python objects after 20,000 jobs"
    assert resident() - memory < 40_000_000
    eventually(lambda: threading.active_count() <= threads)
    eventually(lambda: descriptors() <= fds)


def test_clients_come_and_go(ojs_server: str) -> None:
    def churn(rounds: int) -> None:
        for _ in range(rounds):
            ojs.Client(ojs_server).health()  # dropped without close
            asyncio.run(ojs.AsyncClient(ojs_server).health())

    churn(5)
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    churn(50)
    gc.collect()
    eventually(lambda: len(os.listdir("/proc/self/fd")) <= before + 4)


def test_a_handler_may_use_its_own_worker_and_client() -> None:
    """One slot, a handler that calls back into client and worker, heartbeats and middleware: nothing locks up."""
    with ojs.Client("memory:") as client:
        worker = ojs.Worker(client, concurrency=1, heartbeat_interval=0.01)

        @worker.middleware
        async def around(ctx: ojs.JobContext, next: Any) -> Any:
            await ctx.heartbeat()
            return await next()

        @worker.register("a")
        def handle(ctx: ojs.JobContext) -> None:
            ctx.heartbeat()
            client.get_job(ctx.id)
            worker.quiet()
            worker.resume()
            if ctx.args[0]:
                client.enqueue("a", [ctx.args[0] - 1])

        client.enqueue("a", [50])
        with worker:
            eventually(lambda: client.queue_stats("default")["completed"] == 51)
