"""One run of one handler within a limit of time: in this thread, in a thread of its own, or on an event loop."""

from __future__ import annotations

import asyncio
import queue
import threading
from contextvars import Context

from .._lanes import _start
from .._outcome import COMPLETED, Outcome, failure, refused, stopped, success
from .._plan import Plan
from .._portal import Threads, run_on
from ..context import CancelReason, JobContext
from ..errors import OJSError
from ._link import FunctionLink

#: How long a handler that was asked to stop may take to end, in seconds. This time is part of the margin before the
#: platform's limit.
WIND_UP = 1.0


def run(
    plan: Plan,
    ctx: JobContext,
    link: FunctionLink,
    seconds: float | None,
    loop: asyncio.AbstractEventLoop | None,
    threads: Threads,
) -> Outcome:
    """Runs a handler for ``seconds`` at most; ``loop`` is that of another thread, for coroutine handlers.

    When the time is up the handler is asked to stop (``ctx.cancelled``; coroutines are cancelled), and the outcome is
    the failure ``timeout``. A plain handler that does not look at ``ctx.cancelled`` runs on in its thread.
    """
    if plan.on_loop:
        assert loop is not None
        outcome: Outcome = run_on(loop, run_async(plan, ctx, link, seconds, threads))
        return outcome
    if seconds is None:
        return Context().run(_attempt, plan, ctx)
    done: queue.SimpleQueue[Outcome] = queue.SimpleQueue()

    def attempt() -> None:
        done.put(Context().run(_attempt, plan, ctx))

    threading.Thread(target=attempt, name="openjobspec-function", daemon=True).start()
    try:
        return done.get(timeout=seconds)
    except queue.Empty:
        link.stop(CancelReason.TIMED_OUT)
    try:
        return _late(done.get(timeout=WIND_UP))
    except queue.Empty:
        return _timed_out()


async def run_async(
    plan: Plan, ctx: JobContext, link: FunctionLink, seconds: float | None, threads: Threads
) -> Outcome:
    """The same on the running event loop. Plain handlers run in ``threads``."""
    loop = asyncio.get_running_loop()
    task = _start(loop, _attempt_async(plan, ctx) if plan.on_loop else threads.run(Context().run, _attempt, plan, ctx))
    try:
        await asyncio.wait({task}, timeout=seconds)
        if task.done():
            return stopped(ctx) if task.cancelled() else task.result()
        link.stop(CancelReason.TIMED_OUT)
        if plan.on_loop:
            task.cancel("job cancelled: timed out")
        await asyncio.wait({task}, timeout=WIND_UP)
        return _late(task.result()) if task.done() and not task.cancelled() else _timed_out()
    except asyncio.CancelledError:
        link.stop(CancelReason.SHUTDOWN)
        raise
    finally:
        task.cancel()


def _attempt(plan: Plan, ctx: JobContext) -> Outcome:
    try:
        return success(ctx, plan.call(ctx))
    except BaseException as error:
        # SystemExit and KeyboardInterrupt too: a handler ends its job, not the function.
        return failure(ctx, error)


async def _attempt_async(plan: Plan, ctx: JobContext) -> Outcome:
    try:
        return success(ctx, await plan.call(ctx))
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return failure(ctx, error)


def _late(outcome: Outcome) -> Outcome:
    """The outcome of a handler that ended after it was asked to stop: a completed job counts, all else times out."""
    return outcome if outcome[1] == COMPLETED else _timed_out()


def _timed_out() -> Outcome:
    message = "The attempt took longer than its timeout_ms, or than the platform allows."
    return refused(OJSError(message, code="timeout", retryable=True), kind="timeout")
