"""Between plain code and coroutines: a background event loop, and daemon threads for blocking calls.

The threads are daemons on purpose: a handler that never returns must not keep the interpreter from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import queue
import threading
from typing import Any, Callable, Coroutine

#: How a call ended: (True, value) or (False, exception). Exceptions travel as values, because StopIteration,
#: SystemExit and KeyboardInterrupt cannot travel through futures and event loops unharmed.
Ended = tuple[bool, Any]


async def caught(coroutine: Coroutine[Any, Any, Any]) -> Ended:
    """Runs a coroutine; only a cancellation passes."""
    try:
        return True, await coroutine
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return False, error


def unwrap(ended: Ended) -> Any:
    """The value, or the exception raised."""
    ok, value = ended
    if ok:
        return value
    try:
        raise value
    finally:
        del value  # no cycle of exception and frame


class Threads:
    """At most ``limit`` daemon threads that run plain functions for an event loop."""

    def __init__(self, limit: int, name: str) -> None:
        self._limit = limit
        self._name = name
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._started = 0
        self._idle = 0
        self._lock = threading.Lock()
        self._pid = os.getpid()

    @property
    def is_own(self) -> bool:
        """False in a forked child, where the threads do not exist."""
        return self._pid == os.getpid()

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Runs ``function`` in a thread, in the caller's context."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Ended] = loop.create_future()
        context = contextvars.copy_context()

        def call() -> None:
            try:
                ended: Ended = (True, context.run(function, *args))
            except BaseException as error:
                ended = (False, error)
            try:
                loop.call_soon_threadsafe(_settle, future, ended)
            except RuntimeError:
                pass  # the loop was closed meanwhile

        with self._lock:
            self._calls.put(call)
            if self._idle < self._calls.qsize() and self._started < self._limit:
                self._started += 1
                threading.Thread(target=self._work, name=f"{self._name}-{self._started}", daemon=True).start()
        return unwrap(await future)

    def _work(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            call = self._calls.get()
            with self._lock:
                self._idle -= 1
            if call is None:
                self._calls.put(None)
                return
            call()

    def close(self) -> None:
        """Lets the threads end when they are done."""
        self._calls.put(None)


def _settle(future: asyncio.Future[Ended], ended: Ended) -> None:
    if not future.done():
        future.set_result(ended)


class LoopThread:
    """An event loop in a daemon thread of its own."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self._cancel_all()
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()

    def _cancel_all(self) -> None:
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        if tasks:
            # Not longer than a moment: a task may refuse to end.
            self.loop.run_until_complete(asyncio.wait(tasks, timeout=1.0))

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Runs a coroutine on the loop and waits for it, from another thread."""
        return run_on(self.loop, coroutine)

    def stop(self, timeout: float | None = None) -> None:
        """Ends the loop and waits for its thread."""
        if not self.loop.is_closed():
            try:
                self.loop.call_soon_threadsafe(self.loop.stop)
            except RuntimeError:
                return  # closed between the two lines
        self._thread.join(timeout)


def run_on(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Runs a coroutine on a loop of another thread, in the caller's context, and waits for it."""
    done: queue.SimpleQueue[Ended] = queue.SimpleQueue()

    async def task() -> None:
        try:
            done.put(await caught(coroutine))
        except asyncio.CancelledError as error:
            done.put((False, error))

    context = contextvars.copy_context()

    def start() -> None:
        running = context.run(loop.create_task, task())
        _RUNNING.add(running)
        running.add_done_callback(_RUNNING.discard)
        # Cancelled before its first step: nothing in it has run.
        running.add_done_callback(lambda t: done.put((False, asyncio.CancelledError())) if t.cancelled() else None)

    loop.call_soon_threadsafe(start)
    return unwrap(done.get())


#: Event loops hold their tasks weakly.
_RUNNING: set[asyncio.Task[None]] = set()
_portal: tuple[int, LoopThread] | None = None
_portal_lock = threading.Lock()


def portal() -> LoopThread:
    """The background loop of this process, for coroutine middleware of plain clients."""
    global _portal
    with _portal_lock:
        if _portal is None or _portal[0] != os.getpid():
            _portal = (os.getpid(), LoopThread("openjobspec-portal"))
        return _portal[1]


def _after_fork() -> None:
    # The lock may have been held by a thread that does not exist here.
    global _portal_lock
    _portal_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
