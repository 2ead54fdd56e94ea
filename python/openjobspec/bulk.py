"""Many jobs in one request, each with an outcome of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from . import _native
from ._json import dumps
from .errors import OJSValidationError
from .job import Job
from .policies import When, time_text


def _error(item: Mapping[str, Any]) -> Exception | None:
    error = item.get("error")
    return None if error is None else _native.item_error(dumps(error).decode("utf-8"))


@dataclass(frozen=True)
class BulkItem:
    """What became of one job of :meth:`Client.bulk_enqueue`.

    >>> item = BulkItem.of({"index": 0, "status": "created", "job": {"id": "1", "type": "a"}})
    >>> item.ok, item.job.id
    (True, '1')
    """

    #: Place in the request.
    index: int
    #: ``created``, ``duplicate`` (a unique policy of ``ignore``: ``job`` is the one that was there), ``failed``.
    status: str
    #: The job, unless it failed.
    job: Job | None
    #: Why it failed.
    error: Exception | None

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> BulkItem:
        """One item of an answer."""
        job = item.get("job")
        return cls(int(item["index"]), str(item["status"]), None if job is None else Job(data=job), _error(item))

    @property
    def ok(self) -> bool:
        """Whether the job is stored."""
        return self.error is None


@dataclass(frozen=True)
class BulkChange:
    """What became of one job of a bulk cancel, retry or delete."""

    #: Its id.
    job_id: str
    #: ``cancelled``, ``retried``, ``deleted``, or ``skipped``.
    status: str
    #: Why it was skipped.
    error: Exception | None


@dataclass(frozen=True)
class BulkResult:
    """What came of a bulk cancel, retry or delete."""

    #: Jobs that were named or found.
    matched: int
    #: Jobs that were changed.
    succeeded: int
    #: Jobs that were left as they are; their items say why.
    skipped: int
    #: In the order of the ids; of a filter the first 1,000.
    items: tuple[BulkChange, ...]

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> BulkResult:
        """The answer of the server."""
        matched, skipped = int(answer["total_matched"]), int(answer["skipped"])
        items = (BulkChange(str(item["job_id"]), str(item["status"]), _error(item)) for item in answer["items"])
        return cls(matched, matched - skipped, skipped, tuple(items))


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
