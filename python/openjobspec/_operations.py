"""Every call of the protocol, once: what is sent, and what is made of the answer. No I/O."""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Generic, Iterable, Mapping, Sequence, TypeVar
from urllib.parse import quote, urlencode

from .bulk import BulkItem, BulkResult, Target
from .errors import OJSError, OJSValidationError
from .events import Event
from .job import Job, JobPage, JobRequest
from .policies import When, duration_text, time_text
from .results import JobResult
from .workflow import WorkflowStatus, definition

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request, and how its answer is read."""

    method: str
    path: str
    body: Any
    read: Callable[[Any], T]
    #: How long the server may hold back its answer, in seconds.
    wait: float | None = None

    def result(self, answer: Any) -> T:
        """What the answer comes to. Raises OJSError with the code ``unexpected_answer`` for one of another shape."""
        try:
            return self.read(answer)
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            if isinstance(error, OJSError):
                raise
            path = self.path.partition("?")[0]
            raise OJSError(f"the answer to {self.method} {path} cannot be read: {error}", code="unexpected_answer") from error


def _member(name: str) -> Callable[[Any], Any]:
    def read(answer: Any) -> Any:
        if not isinstance(answer, Mapping) or name not in answer:
            raise OJSError(f"the answer has no '{name}'", code="unexpected_answer")
        return answer[name]

    return read


def _job(answer: Any) -> Job:
    return _readable(_member("job")(answer))


def _jobs(answer: Any) -> list[Job]:
    return [_readable(job) for job in _member("jobs")(answer) or ()]


def _readable(job: Any) -> Job:
    """A job, if that is what it is: its id and type are text, and its arguments a list."""
    if not isinstance(job, dict) or not isinstance(job.get("id"), str) or not isinstance(job.get("type", ""), str):
        raise OJSError("the answer holds something that is not a job", code="unexpected_answer")
    if not isinstance(job.get("args") or [], list) or not isinstance(job.get("meta") or {}, dict):
        raise OJSError(f"the answer holds a job that cannot be read: {job['id']}", code="unexpected_answer")
    return Job(data=job)


def _workflow(answer: Any) -> WorkflowStatus:
    return WorkflowStatus(_member("workflow")(answer))


def _whole(answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise OJSError("the answer is not a JSON object", code="unexpected_answer")
    return answer


def _nothing(_answer: Any) -> None:
    return None


def _named(kind: str, name: str, *more: str) -> str:
    if not isinstance(name, str) or not name:
        raise OJSValidationError(f"a path under /{kind} needs an id or a name as text, such as job.id; got {_shown(name)}", code="invalid_payload")
    return "/".join(["", kind, quote(name, safe=""), *more])


def _shown(value: Any) -> str:
    """Short, and nothing of what a job holds."""
    return repr(value) if value is None or isinstance(value, (str, int)) else f"a {type(value).__name__}"


def _query(path: str, **parameters: Any) -> str:
    given = {name: value for name, value in parameters.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def _number(name: str) -> Callable[[Any], int]:
    return lambda answer: int(_member(name)(answer))


def _given(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _ago(older_than: When | float | None) -> str | None:
    """A time, or a length of time before now."""
    if isinstance(older_than, (int, float, timedelta)):
        return duration_text(older_than)
    return None if older_than is None else time_text(older_than)


def enqueue(request: JobRequest) -> Call[Job]:
    return Call("POST", "/jobs", request.to_dict(), _job)


def enqueue_batch(requests: Iterable[JobRequest]) -> Call[list[Job]]:
    return Call("POST", "/jobs/batch", {"jobs": [request.to_dict() for request in requests]}, _jobs)


def get_job(job_id: str) -> Call[Job]:
    return Call("GET", _named("jobs", job_id), None, _job)


def cancel_job(job_id: str) -> Call[Job]:
    return Call("DELETE", _named("jobs", job_id), None, _job)


def activate_job(job_id: str) -> Call[Job]:
    return Call("POST", _named("jobs", job_id, "activate"), {}, _job)


#: Jobs of one page of :func:`list_jobs`, unless the caller says otherwise.
PAGE_SIZE = 100


def list_jobs(
    queue: str | None,
    job_type: str | None,
    state: str | None,
    since: When | float | None,
    until: When | float | None,
    sort: str | None,
    order: str | None,
    page: int,
    per_page: int,
) -> Call[JobPage]:
    if page < 1 or per_page < 1:
        raise OJSValidationError(f"page and per_page count from 1, got {page} and {per_page}")
    times = {name: None if when is None else _moment(when) for name, when in (("since", since), ("until", until))}
    path = _query("/admin/jobs", queue=queue, type=job_type, state=state, **times, sort=sort, order=order, page=page, per_page=per_page)

    def read(answer: Any) -> JobPage:
        found = [_readable(job) for job in _member("items")(answer) or ()]
        about = answer.get("pagination") or {}
        return JobPage(found, int(about.get("total", len(found))), int(about.get("page", page)), bool(about.get("has_more", False)))

    return Call("GET", path, None, read)


def _moment(when: When | float) -> str:
    """A point in time; a length of time is that long ago."""
    if isinstance(when, (int, float)):
        when = timedelta(seconds=when)
    if isinstance(when, timedelta):
        return (datetime.now(timezone.utc) - when).isoformat()
    return time_text(when)


def workflow(wanted: Any) -> Call[WorkflowStatus]:
    return Call("POST", "/workflows", definition(wanted), _workflow)


def get_workflow(workflow_id: str) -> Call[WorkflowStatus]:
    return Call("GET", _named("workflows", workflow_id), None, _workflow)


def cancel_workflow(workflow_id: str) -> Call[WorkflowStatus]:
    return Call("DELETE", _named("workflows", workflow_id), None, _workflow)


def list_queues() -> Call[list[dict[str, Any]]]:
    return Call("GET", "/queues", None, _member("queues"))


def queue_stats(name: str) -> Call[dict[str, Any]]:
    return Call("GET", _named("queues", name, "stats"), None, _member("queue"))


def pause_queue(name: str) -> Call[dict[str, Any]]:
    return Call("POST", _named("queues", name, "pause"), {}, _member("queue"))


def resume_queue(name: str) -> Call[dict[str, Any]]:
    return Call("POST", _named("queues", name, "resume"), {}, _member("queue"))


def dead_letters(queue: str | None, job_type: str | None, limit: int | None, offset: int | None) -> Call[list[Job]]:
    return Call("GET", _query("/dead-letter", queue=queue, type=job_type, limit=limit, offset=offset), None, _jobs)


def retry_dead_letter(job_id: str) -> Call[Job]:
    return Call("POST", _named("dead-letter", job_id, "retry"), {}, _job)


def discard_dead_letter(job_id: str) -> Call[None]:
    return Call("DELETE", _named("dead-letter", job_id), None, _nothing)


def get_dead_letter(job_id: str) -> Call[Job]:
    return Call("GET", _named("dead-letter", job_id), None, _job)


def retry_dead_letters(filter: Mapping[str, Any]) -> Call[int]:
    return Call("POST", "/dead-letter/retry", {"filter": _given(filter), "confirm": True}, _number("retried"))


def discard_dead_letters(filter: Mapping[str, Any]) -> Call[int]:
    return Call("DELETE", _query("/dead-letter", confirm="true", **filter), None, _number("deleted"))


def dead_letter_stats() -> Call[dict[str, Any]]:
    return Call("GET", "/dead-letter/stats", None, _whole)


def bulk_enqueue(requests: Sequence[JobRequest], atomic: bool, key: str | None) -> Call[list[BulkItem]]:
    body = {
        "jobs": [request.to_dict() for request in requests],
        "atomicity": "atomic" if atomic else "partial",
        # Made here when the caller has none: the transport may send the request twice.
        "idempotency_key": key or str(uuid.uuid4()),
    }
    return Call("POST", "/jobs/bulk", body, lambda answer: [BulkItem.of(item) for item in _member("items")(answer)])


def bulk(verb: str, target: Target, atomic: bool) -> Call[BulkResult]:
    body = {**target.to_dict(), "atomicity": "atomic" if atomic else "partial"}
    return Call("POST", f"/jobs/bulk/{verb}", body, BulkResult.of)


def create_queue(name: str, config: Mapping[str, Any]) -> Call[dict[str, Any]]:
    return Call("POST", "/queues", {"name": name, "config": dict(config)}, _whole)


def get_queue(name: str) -> Call[dict[str, Any]]:
    return Call("GET", _named("queues", name), None, _whole)


def configure_queue(name: str, config: Mapping[str, Any]) -> Call[dict[str, Any]]:
    return Call("PUT", _named("queues", name, "config"), dict(config), _whole)


def delete_queue(name: str, strategy: str, target: str | None) -> Call[dict[str, Any]]:
    return Call("DELETE", _query(_named("queues", name), strategy=strategy, target_queue=target), None, _whole)


def drain_queue(name: str) -> Call[dict[str, Any]]:
    return Call("POST", _named("queues", name, "drain"), {}, _whole)


#: Jobs that one request of a purge removes: it takes a second or two, and a lost answer loses little.
PURGE_SLICE = 10_000


def purge_queue(name: str, states: Sequence[str], older_than: When | float | None) -> Call[tuple[int, bool]]:
    body = {"states": list(states), "older_than": _ago(older_than), "confirm": True, "limit": PURGE_SLICE}

    def read(answer: Any) -> tuple[int, bool]:
        return int(answer.get("purged_count", 0)), bool(answer.get("has_more"))

    return Call("DELETE", _named("admin/queues", name, "jobs"), body, read)


def list_rate_limits() -> Call[list[dict[str, Any]]]:
    return Call("GET", "/rate-limits?limit=200", None, _member("items"))


def get_rate_limit(key: str) -> Call[dict[str, Any]]:
    return Call("GET", _named("rate-limits", key), None, _whole)


def override_rate_limit(key: str, limits: Mapping[str, Any], expires_at: When | None) -> Call[dict[str, Any]]:
    body = dict(limits)
    if expires_at is not None:
        body["expires_at"] = time_text(expires_at)
    return Call("PUT", _named("rate-limits", key), body, _whole)


def result(job_id: str, wait: float | None = None) -> Call[JobResult]:
    # Sent once, also without waiting: "not finished" (408) is an answer here.
    patience = {} if wait is None else {"wait": "true", "timeout": math.ceil(wait)}
    return Call("GET", _query(_named("jobs", job_id, "result"), **patience), None, JobResult, wait=wait or 0.0)


def results(job_ids: Sequence[str]) -> Call[list[JobResult | None]]:
    def read(answer: Any) -> list[JobResult | None]:
        return [None if one is None else JobResult(one) for one in _member("results")(answer)]

    return Call("POST", "/jobs/results", {"ids": list(job_ids)}, read)


def events(after: str, filters: Mapping[str, Sequence[str]], limit: int, wait: float) -> Call[tuple[list[Event], str]]:
    given = {name: ",".join(names) for name, names in filters.items() if names}
    path = _query("/events", after=after or None, limit=limit, wait_ms=int(wait * 1000), **given)

    def read(answer: Any) -> tuple[list[Event], str]:
        return [Event(one) for one in _member("events")(answer)], str(answer["cursor"])

    return Call("GET", path, None, read, wait=wait)


def list_cron() -> Call[list[dict[str, Any]]]:
    return Call("GET", "/cron", None, lambda answer: answer.get("crons") or answer.get("cron_jobs") or answer.get("cron") or [])


def register_cron(
    name: str, expression: str, request: JobRequest, timezone: str | None, overlap_policy: str | None, settings: Mapping[str, Any]
) -> Call[dict[str, Any]]:
    body: dict[str, Any] = {"name": name, "expression": expression, "job_template": request.to_dict(), **settings}
    if timezone is not None:
        body["timezone"] = timezone
    if overlap_policy is not None:
        body["overlap_policy"] = overlap_policy
    return Call("POST", "/cron", body, lambda answer: answer.get("cron", answer))


def delete_cron(name: str) -> Call[None]:
    return Call("DELETE", _named("cron", name), None, _nothing)


def health() -> Call[dict[str, Any]]:
    return Call("GET", "/health", None, _whole)


def manifest() -> Call[dict[str, Any]]:
    return Call("GET", "/ojs/manifest", None, _whole)
