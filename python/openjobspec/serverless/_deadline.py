"""The point in time at which a function has to have answered."""

from __future__ import annotations

import time
from typing import Any, Callable

Clock = Callable[[], float]


class Deadline:
    """A platform's limit less a margin for the answer, on a clock that only grows.

    The margin is at most half of the limit: a function with three seconds works for one and a half.
    """

    __slots__ = ("_clock", "_end")

    def __init__(self, seconds: float | None, margin: float, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds - min(margin, seconds / 2)

    @classmethod
    def of_lambda(cls, context: Any, margin: float) -> Deadline:
        """The deadline of an invocation of AWS Lambda. It has no limit when the context names none, as in tests of an
        application."""
        remaining = getattr(context, "get_remaining_time_in_millis", None)
        return cls(None if remaining is None else remaining() / 1000, margin)

    def left(self, most: float | None = None) -> float | None:
        """Seconds that are left, ``most`` at most; None without a limit."""
        if self._end is None:
            return most
        left = max(self._end - self._clock(), 0.0)
        return left if most is None else min(left, most)

    @property
    def passed(self) -> bool:
        """Whether there is no time left."""
        return self.left() == 0
