"""Workers: every way a handler can end is exactly one outcome."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from typing import Any, Callable

import pytest
from support import PATIENCE, eventually, in_state

import openjobspec as ojs

Make = Callable[..., ojs.Worker]


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
def test_result_context_and_order(client: ojs.Client, make_worker: Make, coroutine: bool) -> None:
    seen: list[Any] = []

    def look(ctx: ojs.JobContext) -> dict[str, Any]:
        seen.append((ctx.args, ctx.attempt, ctx.queue, ctx.meta, ctx.type, ctx.id == ctx.job.id, ctx.parent_results, ctx.workflow_id))
        return {"sent": True, "n": 2**63}

    async def look_async(ctx: ojs.JobContext) -> dict[str, Any]:
        await asyncio.sleep(0)
        return look(ctx)

    worker = make_worker(queues=["mail"])
    worker.register("email.send", look_async if coroutine else look)
    job = client.enqueue("email.send", ["ä"], queue="mail", meta={"k": [1]})
    with worker:
        done = in_state(client, job.id, "completed")
    assert done.result == {"sent": True, "n": 2**63}
    assert seen == [(["ä"], 1, "mail", {"k": [1]}, "email.send", True, [], None)]
    assert worker.state == "stopped"


class BadStr(Exception):
    def __str__(self) -> str:
        raise ValueError("no text for you")


class BadRepr:
    def __repr__(self) -> str:
        raise ValueError("no")


def raising(error: BaseException | type[BaseException]) -> Callable[[ojs.JobContext], Any]:
    def handle(ctx: ojs.JobContext) -> None:
        raise error

    return handle


ENDINGS: list[tuple[str, Callable[[ojs.JobContext], Any], str, dict[str, Any]]] = [
    ("exception", raising(ValueError("bad input ä")), "retryable", {"code": "handler_error", "type": "ValueError", "message": "bad input ä"}),
    ("no message", raising(KeyError), "retryable", {"type": "KeyError", "message": "KeyError"}),
    ("base exception", raising(type("Odd", (BaseException,), {})("odd")), "retryable", {"type": "Odd", "message": "odd"}),
    ("system exit", raising(SystemExit(3)), "retryable", {"type": "SystemExit", "message": "3"}),
    ("keyboard interrupt", raising(KeyboardInterrupt()), "retryable", {"type": "KeyboardInterrupt"}),
    ("generator exit", raising(GeneratorExit()), "retryable", {"type": "GeneratorExit"}),
    ("cancelled error", raising(asyncio.CancelledError()), "retryable", {"type": "CancelledError"}),
    ("stop iteration", raising(StopIteration(1)), "retryable", {}),
    ("str() raises", raising(BadStr()), "retryable", {"type": "BadStr"}),
    ("lone surrogate", raising(ValueError("\ud800 x")), "retryable", {"message": "\\ud800 x"}),
    ("recursion", lambda ctx: (lambda f: f(f))(lambda f: f(f)), "retryable", {"type": "RecursionError"}),
    ("memory", raising(MemoryError()), "retryable", {"type": "MemoryError"}),
    ("for good", raising(ojs.NonRetryableError("declined", code="card_declined", details={"n": 1})), "discarded",
     {"code": "card_declined", "message": "declined", "retryable": False}),
    ("discard", raising(ojs.Discard("no")), "discarded", {"code": "non_retryable"}),
    ("odd result", lambda ctx: object(), "discarded", {"code": "serialization_error"}),
    ("odder result", lambda ctx: {"a": BadRepr()}, "discarded", {"code": "serialization_error"}),
    ("cyclic result", lambda ctx: (lambda a: (a.append(a), a)[1])([]), "discarded", {"code": "serialization_error"}),
    ("cancelled by hand", raising(ojs.JobCancelledError()), "discarded", {"code": "cancelled"}),
]  # fmt: skip


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
@pytest.mark.parametrize("handler, state, error", [e[1:] for e in ENDINGS], ids=[e[0] for e in ENDINGS])
def test_endings(handler: Callable[[ojs.JobContext], Any], state: str, error: dict[str, Any], coroutine: bool) -> None:
    runs = 0

    def count(ctx: ojs.JobContext) -> Any:
        nonlocal runs
        runs += 1
        return handler(ctx)

    async def count_async(ctx: ojs.JobContext) -> Any:
        return count(ctx)

    with ojs.Client("memory:") as client:
        worker = ojs.Worker(client)
        worker.register("a", count_async if coroutine else count)
        worker.register("after", lambda ctx: "still here")
        job = client.enqueue("a", retry={"max_attempts": 3, "initial_interval": "PT1H"})
        with worker:
            failed = in_state(client, job.id, state)
            after = client.enqueue("after")
            assert in_state(client, after.id, "completed").result == "still here"
        assert runs == 1
        assert failed.error is not None
        for name, value in error.items():
            assert failed.error[name] == value, failed.error
        assert len(failed.errors) == 1
        assert failed.error["details"]["stack"] if failed.error["type"] != "CancelledError" or not coroutine else True


def test_traceback_goes_into_the_history(client: ojs.Client, make_worker: Make) -> None:
    def deep() -> None:
        raise ValueError("deep down")

    def handle(ctx: ojs.JobContext) -> None:
        try:
            deep()
        except ValueError as error:
            raise RuntimeError("on the surface") from error

    worker = make_worker()
    worker.register("a", handle)
    job = client.enqueue("a", retry={"max_attempts": 1})
    with worker:
        failed = in_state(client, job.id, "discarded")
    assert failed.error is not None
    stack = failed.error["details"]["stack"]
    assert "deep down" in stack and "on the surface" in stack and "in deep" in stack
    assert failed.error["details"]["error_class"] == "builtins.RuntimeError"
    frames = failed.error["backtrace"]
    assert "in handle" in frames[0]
    assert not [frame for frame in frames if "/openjobspec/_" in frame], "frames of this package are left out"


def test_retries_count_attempts(client: ojs.Client, make_worker: Make) -> None:
    attempts: list[int] = []

    def handle(ctx: ojs.JobContext) -> str:
        attempts.append(ctx.attempt)
        if ctx.attempt < 3:
            raise ConnectionError("not yet")
        return "third time lucky"

    worker = make_worker()
    worker.register("a", handle)
    policy = ojs.RetryPolicy(max_attempts=3, initial_interval=0.01, jitter=False)
    job = client.enqueue("a", retry=policy)
    with worker:
        assert in_state(client, job.id, "completed").result == "third time lucky"
    assert attempts == [1, 2, 3]


def test_snooze_charges_no_attempt(client: ojs.Client, make_worker: Make) -> None:
    runs: list[int] = []

    def handle(ctx: ojs.JobContext) -> str:
        runs.append(ctx.attempt)
        if len(runs) < 3:
            raise ojs.Snooze(0.01)
        return "awake"

    worker = make_worker()
    worker.register("a", handle)
    job = client.enqueue("a", retry={"max_attempts": 1})
    with worker:
        done = in_state(client, job.id, "completed")
    assert done.result == "awake"
    assert done.errors == []
    assert len(runs) == 3
    with pytest.raises(ojs.OJSValidationError):
        ojs.Snooze(-1)


def test_a_type_without_handler_fails_for_good(client: ojs.Client, make_worker: Make) -> None:
    worker = make_worker()
    worker.register("a", lambda ctx: None)
    job = client.enqueue("unknown")
    with worker:
        failed = in_state(client, job.id, "discarded")
    assert failed.error is not None and failed.error["code"] == "no_handler"


def test_both_colours_in_one_worker(client: ojs.Client, make_worker: Make) -> None:
    worker = make_worker()
    threads: dict[str, str] = {}

    @worker.register("plain")
    def plain(ctx: ojs.JobContext) -> None:
        threads["plain"] = threading.current_thread().name

    @worker.register("coroutine")
    async def coroutine(ctx: ojs.JobContext) -> None:
        threads["coroutine"] = threading.current_thread().name
        assert asyncio.get_running_loop().is_running()

    jobs = client.enqueue_batch(["plain", "coroutine"])
    with worker:
        for job in jobs:
            in_state(client, job.id, "completed")
    assert threads["plain"].startswith("openjobspec-worker-")
    assert threads["coroutine"] == "openjobspec-loop"


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
@pytest.mark.parametrize("concurrency", [1, 3])
def test_never_more_at_a_time_than_asked_for(client: ojs.Client, make_worker: Make, coroutine: bool, concurrency: int) -> None:
    running = most = 0
    lock = threading.Lock()
    full = threading.Barrier(concurrency)

    def enter() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)

    def leave() -> None:
        nonlocal running
        with lock:
            running -= 1

    def handle(ctx: ojs.JobContext) -> None:
        enter()
        full.wait(PATIENCE)  # all slots are used at the same time
        leave()

    async def handle_async(ctx: ojs.JobContext) -> None:
        enter()
        while running < concurrency and most < concurrency:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        leave()

    worker = make_worker(concurrency=concurrency)
    worker.register("a", handle_async if coroutine else handle)
    jobs = client.enqueue_batch(["a"] * concurrency * 20)
    with worker:
        for job in jobs:
            in_state(client, job.id, "completed")
    assert most == concurrency


def test_one_slow_job_does_not_hold_up_the_fast_ones(client: ojs.Client, make_worker: Make) -> None:
    release = threading.Event()
    worker = make_worker(concurrency=2)
    worker.register("fast", lambda ctx: None)
    worker.register("slow", lambda ctx: release.wait(PATIENCE))
    warm = client.enqueue_batch(["fast"] * 500)  # the worker learns that handlers are fast, and takes batches
    with worker:
        in_state(client, warm[-1].id, "completed")
        slow = client.enqueue_batch(["slow"] + ["fast"] * 300)
        for job in slow[1:]:
            in_state(client, job.id, "completed")
        assert client.get_job(slow[0].id).state == "active"
        release.set()
        in_state(client, slow[0].id, "completed")


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
def test_cancelled_on_the_server(client: ojs.Client, make_worker: Make, coroutine: bool) -> None:
    started, told = threading.Event(), threading.Event()

    def handle(ctx: ojs.JobContext) -> None:
        started.set()
        eventually(lambda: ctx.cancelled)
        assert ctx.cancel_reason is ojs.CancelReason.CANCELLED and ctx.cancel_reason
        told.set()
        ctx.raise_if_cancelled()

    async def handle_async(ctx: ojs.JobContext) -> None:
        started.set()
        try:
            await asyncio.sleep(PATIENCE)
        except asyncio.CancelledError:
            assert ctx.cancel_reason is ojs.CancelReason.CANCELLED
            told.set()
            raise

    worker = make_worker(heartbeat_interval=0.05)
    worker.register("a", handle_async if coroutine else handle)
    job = client.enqueue("a")
    with worker:
        assert started.wait(PATIENCE)
        client.cancel_job(job.id)
        assert told.wait(PATIENCE)
    assert client.get_job(job.id).state == "cancelled"


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
def test_time_out(client: ojs.Client, make_worker: Make, coroutine: bool) -> None:
    began, told = threading.Event(), threading.Event()

    def handle(ctx: ojs.JobContext) -> str:
        began.set()
        eventually(lambda: ctx.cancelled)
        told.set()
        return "too late"

    async def handle_async(ctx: ojs.JobContext) -> str:
        began.set()
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            told.set()
        return "never"

    worker = make_worker()
    worker.register("a", handle_async if coroutine else handle)
    with worker:
        # The time counts from the fetch: on a busy machine it may be over before a handler begins, and then none does.
        while not began.is_set():
            job = client.enqueue("a", timeout_ms=500, retry={"max_attempts": 1})
            failed = in_state(client, job.id, "discarded")
            assert failed.error is not None and failed.error["code"] == "timeout"
        assert told.wait(PATIENCE)


def test_heartbeats_by_hand(client: ojs.Client, make_worker: Make) -> None:
    worker = make_worker()
    beats: list[bool] = []

    @worker.register("plain")
    def plain(ctx: ojs.JobContext) -> None:
        beats.append(bool(ctx.heartbeat()))
        client.cancel_job(ctx.id)
        beats.append(bool(ctx.heartbeat()))

    @worker.register("coroutine")
    async def coroutine(ctx: ojs.JobContext) -> None:
        beat = await ctx.heartbeat()
        beats.append(bool(beat))

    job = client.enqueue("plain")
    with worker:
        in_state(client, job.id, "cancelled")
        eventually(lambda: len(beats) == 2)
        in_state(client, client.enqueue("coroutine").id, "completed")
    assert beats == [True, False, True]


def test_context_variables_do_not_leak(client: ojs.Client, make_worker: Make) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="clean")
    worker = make_worker(concurrency=1)
    seen: list[str] = []

    @worker.register("a")
    def handle(ctx: ojs.JobContext) -> None:
        seen.append(variable.get())
        variable.set("dirty")

    jobs = client.enqueue_batch(["a"] * 5)
    with worker:
        in_state(client, jobs[-1].id, "completed")
    assert seen == ["clean"] * 5


def test_set_result_logger_and_metadata(client: ojs.Client, make_worker: Make, caplog: pytest.LogCaptureFixture) -> None:
    worker = make_worker()

    @worker.middleware
    def leave(ctx: ojs.JobContext, next: Any) -> Any:
        ctx.metadata["tenant"] = "acme"
        return next()

    @worker.register("a")
    def handle(ctx: ojs.JobContext) -> None:
        ctx.set_result({"tenant": ctx.metadata["tenant"]})
        ctx.logger.warning("hello")

    job = client.enqueue("a", ["secret"])
    with caplog.at_level(logging.WARNING, logger="openjobspec.job"), worker:
        assert in_state(client, job.id, "completed").result == {"tenant": "acme"}
    record = next(r for r in caplog.records if r.message == "hello")
    assert (record.job_id, record.job_type, record.attempt) == (job.id, "a", 1)  # type: ignore[attr-defined]
    assert "secret" not in caplog.text
