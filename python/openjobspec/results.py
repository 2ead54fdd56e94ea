"""How jobs ended."""

from __future__ import annotations

from typing import Any, Mapping


class JobResult:
    """How a job ended, and what came out of it.

    >>> JobResult({"job_id": "1", "state": "completed", "result": {"sent": 3}}).result
    {'sent': 3}
    """

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = dict(data)

    def to_dict(self) -> dict[str, Any]:
        """Everything the server said."""
        return self._data

    @property
    def job_id(self) -> str:
        """Which job."""
        return str(self._data.get("job_id", ""))

    @property
    def state(self) -> str:
        """``completed``, ``discarded`` or ``cancelled``."""
        return str(self._data.get("state", ""))

    @property
    def ok(self) -> bool:
        """Whether it was completed."""
        return self.state == "completed"

    @property
    def result(self) -> Any:
        """What the handler returned; None when it returned nothing or nothing is kept (``result_ttl=0``)."""
        return self._data.get("result")

    @property
    def error(self) -> dict[str, Any] | None:
        """The failure that ended it."""
        return self._data.get("error")

    @property
    def attempt(self) -> int:
        """Attempts begun."""
        return int(self._data.get("attempt", 0))

    @property
    def stored_at(self) -> str | None:
        """When the result was stored, RFC 3339."""
        return self._data.get("result_stored_at")

    @property
    def expires_at(self) -> str | None:
        """When the result is removed, RFC 3339; None is never."""
        return self._data.get("result_expires_at")

    def __repr__(self) -> str:
        return f"JobResult(job_id={self.job_id!r}, state={self.state!r}, result={self.result!r})"
