"""How far a program has read the log of events."""

from __future__ import annotations

import random
from collections import deque
from typing import Mapping, Sequence

from .errors import ClosedError, OJSConnectionError, OJSError
from .records import Event

#: How long the server may hold back an answer, in seconds: below the time-outs of common proxies.
WAIT = 20.0
#: Between two looks at a server that does not hold back.
PAUSE = 0.5
PAGE = 500
_FIRST_BACKOFF, _LONGEST_BACKOFF = 0.1, 10.0


class Reader:
    """How far a program has read the log. No I/O: the clients ask it what to send, and tell it what came of it."""

    def __init__(self, after: str | None, filters: Mapping[str, Sequence[str]]) -> None:
        self.cursor = "latest" if after is None else after
        self.filters = filters
        self.page: deque[Event] = deque()
        #: An answer has come: from here on faults are waited out.
        self._heard = False
        self._backoff = _FIRST_BACKOFF

    @property
    def wait(self) -> float:
        """How long the next answer may be held back. The first says where the log ends, at once."""
        return WAIT if self._heard else 0.0

    def fed(self, events: Sequence[Event], cursor: str, took: float) -> float:
        """An answer; returns how long to pause before the next request."""
        idle = self._heard and not events and took < WAIT / 2
        self._heard, self._backoff = True, _FIRST_BACKOFF
        self.page.extend(events)
        self.cursor = cursor
        return PAUSE if idle else 0.0

    def failed(self, error: OJSError) -> float:
        """No answer, or a refusal: returns how long to pause before asking again, or raises what waiting does not help."""
        passing = isinstance(error, OJSConnectionError) or error.status in (408, 429) or error.status >= 500
        if not self._heard or not passing or isinstance(error, ClosedError):
            raise error
        pause = self._backoff * random.uniform(0.5, 1.0)
        self._backoff = min(self._backoff * 2, _LONGEST_BACKOFF)
        return pause
