"""How far a program has read the log of events."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from . import _native
from . import _operations as ops
from ._json import dumps, loads
from .errors import OJSConnectionError, OJSError
from .records import Event


class Reader:
    """The place of a reader in the log. The core says what it asks, after which pause, and which errors end it."""

    def __init__(self, after: str | None, filters: Mapping[str, Sequence[str]]) -> None:
        self._say({"begin": {"after": after, **{name: list(names) for name, names in filters.items()}}})

    def call(self) -> ops.Call[tuple[list[Event], str]]:
        """The next request, to be made after :attr:`pause`."""
        return ops.events(self._step["path"], self._step["wait_ms"] / 1000)

    @property
    def pause(self) -> float:
        """Seconds before the next request."""
        return float(self._step["pause_ms"]) / 1000

    def answered(self, events: Sequence[Event], cursor: str) -> None:
        """These events have been read, up to this cursor."""
        self._say({"answered": {"state": self._step["state"], "events": len(events), "cursor": cursor}})

    def failed(self, error: OJSError) -> None:
        """No answer, or a refusal. Raises the error when waiting does not help."""
        said = {name: getattr(error, name) for name in ("status", "code", "retryable")}
        said["connection"] = isinstance(error, OJSConnectionError)
        if not self._say({"failed": {"state": self._step["state"], "error": said}}):
            raise error

    def _say(self, said: Mapping[str, Any]) -> bool:
        self._step = loads(_native.follow_events(dumps(said).decode()))
        return self._step is not None
