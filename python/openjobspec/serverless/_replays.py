"""Which push deliveries have been answered lately: one that arrives twice gets the first answer, and runs once."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections import OrderedDict
from concurrent.futures import Future
from typing import Callable, Iterator

from ..errors import OJSError
from .http import Answer

#: Deliveries that are remembered at most, and the bytes of their answers.
_ENTRIES = 4096
_BYTES = 8 * 1024 * 1024


@dataclasses.dataclass(frozen=True)
class _Kept:
    since: float
    answer: Future[Answer]

    def size(self) -> int:
        """Bytes of the answer, as soon as there is one."""
        return len(self.answer.result().body) if self.answer.done() and self.answer.exception() is None else 0


class Replays:
    """Answers by delivery, bounded in number, size and time."""

    def __init__(
        self, seconds: float, clock: Callable[[], float] = time.monotonic, entries: int = _ENTRIES, size: int = _BYTES
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._entries = entries
        self._most = size
        self._size = 0
        self._known: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, delivery: str) -> tuple[Future[Answer], bool]:
        """The answer of a delivery, perhaps not there yet, and whether this is the first time that it arrives."""
        with self._lock:
            old = self._clock() - self._seconds
            self._forget(lambda since: since <= old or self._size > self._most)
            known = self._known.get(delivery)
            if known is not None:
                return known.answer, False
            self._forget(lambda since: len(self._known) >= self._entries)
            answer: Future[Answer] = Future()
            self._known[delivery] = _Kept(self._clock(), answer)
            return answer, True

    @contextlib.contextmanager
    def settling(self, delivery: str, answer: Future[Answer]) -> Iterator[Callable[[Answer], None]]:
        """Around a run, which passes its answer to the function that this yields. When the run raises, the delivery is
        forgotten and runs again at its next arrival."""

        def settle(made: Answer) -> None:
            with self._lock:
                answer.set_result(made)
                if self._keeps(delivery, answer):
                    self._size += len(made.body)

        try:
            yield settle
        except BaseException:
            with self._lock:
                if self._keeps(delivery, answer):
                    del self._known[delivery]
            answer.set_exception(OJSError("the run of this delivery was given up", code="abandoned", retryable=True))
            raise

    def _keeps(self, delivery: str, answer: Future[Answer]) -> bool:
        """Whether this answer is the one that is kept: it may have been dropped while its delivery ran."""
        known = self._known.get(delivery)
        return known is not None and known.answer is answer

    def __len__(self) -> int:
        return len(self._known)

    def _forget(self, is_over: Callable[[float], bool]) -> None:
        """Drops the oldest delivery as long as ``is_over`` is true for the time at which it arrived."""
        while self._known:
            first, kept = next(iter(self._known.items()))
            if not is_over(kept.since):
                return
            del self._known[first]
            self._size -= kept.size()
