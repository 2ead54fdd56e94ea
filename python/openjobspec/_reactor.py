"""Calls of the core made from an event loop: one file descriptor per loop says that answers are there."""

from __future__ import annotations

import asyncio
import itertools
import weakref
from typing import Any, Callable

from . import _native


class Reactor:
    """Waits for answers on behalf of one event loop."""

    _by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Reactor] = weakref.WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        # The loop keeps this object alive through its reader, not the other way round.
        self._loop = weakref.ref(loop)
        self._replies = _native.Replies()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._tickets = itertools.count()
        loop.add_reader(self._replies.fd, self._deliver)

    @classmethod
    def of_running_loop(cls) -> Reactor:
        """The reactor of the loop that runs now."""
        loop = asyncio.get_running_loop()
        reactor = cls._by_loop.get(loop)
        if reactor is None:
            reactor = cls._by_loop[loop] = cls(loop)
        return reactor

    def call(self, submit: Callable[[_native.Replies, int], None]) -> asyncio.Future[Any]:
        """Starts a call and returns the future of its answer."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        ticket = next(self._tickets)
        self._waiting[ticket] = future
        try:
            submit(self._replies, ticket)
        except BaseException:
            del self._waiting[ticket]
            raise
        return future

    def _deliver(self) -> None:
        for ticket, answer in self._replies.take():
            future = self._waiting.pop(ticket)
            if future.done():
                continue  # cancelled by its caller
            if isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)
