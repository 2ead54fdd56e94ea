"""Events as they happen."""

from __future__ import annotations

import random
from collections import deque
from typing import Any, Mapping, Sequence

from .errors import ClosedError, OJSConnectionError, OJSError

#: How long the server may hold back an answer, in seconds: below the time-outs of common proxies.
WAIT = 20.0
#: Between two looks at a server that does not hold back.
PAUSE = 0.5
PAGE = 500
_FIRST_BACKOFF, _LONGEST_BACKOFF = 0.1, 10.0


class Event:
    """Something that happened.

    >>> event = Event({"id": "evt_1", "type": "job.completed", "subject": "1", "data": {"queue": "mail"}})
    >>> event.type, event.data["queue"]
    ('job.completed', 'mail')
    """

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = dict(data)

    def to_dict(self) -> dict[str, Any]:
        """The whole event."""
        return self._data

    @property
    def id(self) -> str:
        """Its id; ``after`` of :meth:`Client.events` takes it."""
        return str(self._data["id"])

    @property
    def type(self) -> str:
        """What happened: ``job.completed``."""
        return str(self._data["type"])

    @property
    def time(self) -> str:
        """When, RFC 3339."""
        return str(self._data.get("time", ""))

    @property
    def subject(self) -> str:
        """The id of the job or workflow, the name of the queue or worker."""
        return str(self._data.get("subject", ""))

    @property
    def data(self) -> dict[str, Any]:
        """The rest, by type of event."""
        return self._data.get("data") or {}

    def __repr__(self) -> str:
        return f"Event(type={self.type!r}, subject={self.subject!r}, time={self.time!r})"


class Reader:
    """How far somebody has come in the log. No I/O: the clients ask it what to send, and tell it what came of it."""

    def __init__(self, after: str | None, filters: Mapping[str, Sequence[str]]) -> None:
        self.cursor = "latest" if after is None else after
        self.filters = filters
        self.page: deque[Event] = deque()
        #: An answer has come: from here on faults are waited out.
        self._heard = False
        self._backoff = _FIRST_BACKOFF

    @property
    def wait(self) -> float:
        """How long the next answer may be held back. The first tells where the log ends, at once."""
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
