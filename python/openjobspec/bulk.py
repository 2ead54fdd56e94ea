"""Which jobs a bulk operation changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from .errors import OJSValidationError
from .policies import When, time_text


@dataclass(frozen=True)
class Target:
    """Which jobs a bulk call means: ids, or a filter."""

    job_ids: Sequence[str] | None
    filter: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        job_ids: Iterable[str] | None,
        queue: str | None,
        job_type: str | None,
        states: Sequence[str] | None,
        enqueued_after: When | None,
        enqueued_before: When | None,
        priority: int | None,
        meta: Mapping[str, Any] | None,
    ) -> Target:
        """Out of the arguments of a call."""
        wanted = {
            "queue": queue, "type": job_type, "state": None if states is None else list(states), "priority": priority,
            "enqueued_after": None if enqueued_after is None else time_text(enqueued_after),
            "enqueued_before": None if enqueued_before is None else time_text(enqueued_before),
            "meta": None if meta is None else dict(meta),
        }  # fmt: skip
        given = {name: value for name, value in wanted.items() if value is not None}
        if isinstance(job_ids, str):
            raise OJSValidationError("job_ids is a list of ids, not one")
        if (job_ids is None) == (not given):
            raise OJSValidationError("name the jobs by job_ids or by a filter (queue, job_type, states, …), and not by both")
        return cls(None if job_ids is None else list(job_ids), given)

    def to_dict(self) -> dict[str, Any]:
        """The form on the wire."""
        return {"filter": dict(self.filter)} if self.job_ids is None else {"job_ids": list(self.job_ids)}
