"""Where handlers run: threads that pull jobs, and an event loop that is woken when there are some."""

from __future__ import annotations

import asyncio
import sys
from contextvars import Context
from functools import partial
from time import perf_counter_ns
from typing import Any, Coroutine, Mapping

from . import _native
from ._outcome import Outcome, failure, stopped, success
from ._plan import Plan
from .context import JobContext, Producer

#: The core sends fewer when handlers are slow.
BATCH = 256


class Plans(dict[str, Plan]):
    """Plans by job type, with one for all others perhaps."""

    def __init__(self, plans: Mapping[str, Plan], producer: Producer) -> None:
        super().__init__(plans)
        self.producer = producer
        self.fallback = self.pop("*", None)

    def __missing__(self, job_type: str) -> Plan:
        if self.fallback is None:  # the core hands out known types only
            raise KeyError(job_type)
        return self.fallback


def run_thread(native: _native.Worker, lane: int, plans: Plans) -> None:
    """The life of one lane thread. Jobs come in batches of about two milliseconds.

    ``step`` is asked before every job whether it still belongs to this thread: a batch that is stuck behind a slow job is
    given to another one. Each job runs in an empty context: context variables do not leak from job to job.
    """
    step = native.step
    producer = plans.producer
    done: Outcome | None = None
    jobs = busy = 0
    while True:
        batch = native.turn(lane, done, jobs, busy, BATCH)
        if batch is None:
            return
        done = None
        jobs = 0
        began = perf_counter_ns()
        for job in batch:
            if not step(done, job[0]):
                done = None
                continue
            jobs += 1
            ctx = JobContext(native, *job, producer)
            try:
                done = success(ctx, Context().run(plans[ctx.type].call, ctx))
            except BaseException as error:
                # SystemExit and KeyboardInterrupt too: a handler ends its job, not the worker.
                done = failure(ctx, error)
        busy = perf_counter_ns() - began


def _start(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Outcome]) -> asyncio.Task[Outcome]:
    """A task in an empty context; where Python can, its first step runs at once."""
    if sys.version_info >= (3, 12):
        return asyncio.Task(coroutine, loop=loop, context=Context(), eager_start=True)
    if sys.version_info >= (3, 11):
        return loop.create_task(coroutine, context=Context())
    return Context().run(loop.create_task, coroutine)


class EventLane:
    """Runs coroutine handlers on one event loop, at most ``limit`` at a time. All methods run on that loop."""

    def __init__(self, native: _native.Worker, lane: int, plans: Plans, limit: int, loop: asyncio.AbstractEventLoop) -> None:
        self._native = native
        self._lane = lane
        self._plans = plans
        self._limit = limit
        self._loop = loop
        self._running: dict[int, asyncio.Task[Outcome]] = {}
        self._outcomes: list[Outcome] = []
        self._busy = 0
        self._flushing = False
        self._full = False
        self._fd = native.fd(lane)
        #: Done when the worker is over.
        self.closed: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._fd, self._drain)

    def _drain(self) -> None:
        for token, reason in self._native.cancels(self._lane):
            task = self._running.get(token)
            if task is not None:
                task.cancel(f"job cancelled: reason {reason}")
        if self.closed.done():
            return
        free = self._limit - len(self._running)
        wanted = min(free, BATCH)
        batch = self._native.drain(self._lane, wanted)
        if batch is None:
            self._close()
            return
        for job in batch:
            self._begin(JobContext(self._native, *job, self._plans.producer))
        self._full = free <= BATCH and len(batch) == wanted
        if len(batch) == BATCH:
            # More may wait, but others use this loop too.
            self._loop.call_soon(self._drain)

    def _begin(self, ctx: JobContext) -> None:
        began = perf_counter_ns()
        task = _start(self._loop, self._attempt(ctx))
        self._running[ctx._token] = task
        if task.done():
            self._ended(ctx, began, task)
        else:
            task.add_done_callback(partial(self._ended, ctx, began))

    async def _attempt(self, ctx: JobContext) -> Outcome:
        try:
            return success(ctx, await self._plans[ctx.type].call(ctx))
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            # SystemExit and KeyboardInterrupt must not reach the event loop: they would end it.
            return failure(ctx, error)

    def _ended(self, ctx: JobContext, began: int, task: asyncio.Task[Outcome]) -> None:
        del self._running[ctx._token]
        self._busy += perf_counter_ns() - began
        self._outcomes.append(stopped(ctx) if task.cancelled() else task.result())
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        outcomes, self._outcomes = self._outcomes, []
        busy, self._busy = self._busy, 0
        self._native.complete(self._lane, outcomes, busy)
        if self._full:
            self._full = False
            self._drain()

    def abandon(self) -> None:
        """Stops listening when the worker could not start. From any thread."""
        if not self._loop.is_closed() and not self.closed.done():
            self._loop.call_soon_threadsafe(self._close)

    def _close(self) -> None:
        if self.closed.done():
            return
        self._loop.remove_reader(self._fd)
        for task in list(self._running.values()):
            task.cancel("worker stopped")
        self.closed.set_result(None)
