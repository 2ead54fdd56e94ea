"""What the operations of :mod:`openjobspec.operations` are made of, and those that are written by hand. No I/O."""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Generic, Iterable, Mapping, Sequence, TypeVar
from urllib.parse import quote, urlencode

from .errors import OJSError, OJSValidationError
from .job import JobPage, JobRequest
from .policies import Duration, When, duration_text, time_text, unknown
from .records import BulkItem, Event, Job, JobResult, WorkflowStatus
from .workflow import definition

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


# --- what is made of an answer ---


def member(name: str) -> Callable[[Any], Any]:
    """One member of the answer."""

    def read(answer: Any) -> Any:
        if not isinstance(answer, Mapping) or name not in answer:
            raise OJSError(f"the answer has no '{name}'", code="unexpected_answer")
        return answer[name]

    return read


def items(name: str) -> Callable[[Any], list[Any]]:
    """One member of the answer, a list. Some servers write null for one without entries."""

    def read(answer: Any) -> list[Any]:
        found = member(name)(answer)
        if not isinstance(found, (list, type(None))):
            raise OJSError(f"'{name}' in the answer is no list", code="unexpected_answer")
        return found or []

    return read


def number(name: str) -> Callable[[Any], int]:
    """One member of the answer, a number."""
    return lambda answer: int(member(name)(answer))


def part(name: str, more: str) -> Callable[[Any], tuple[int, bool]]:
    """How many were changed, and whether the request has to be sent again."""
    return lambda answer: (int(answer.get(name, 0)), bool(answer.get(more)))


def job(answer: Any) -> Job:
    """The answer's job."""
    return bare_job(member("job")(answer))


def jobs(answer: Any) -> list[Job]:
    """The answer's jobs."""
    return [bare_job(job) for job in member("jobs")(answer) or ()]


def bare_job(job: Any) -> Job:
    """A job, if that is what it is: its id and type are text, and its arguments a list."""
    if not isinstance(job, dict) or not isinstance(job.get("id"), str) or not isinstance(job.get("type", ""), str):
        raise OJSError("the answer holds something that is not a job", code="unexpected_answer")
    if not isinstance(job.get("args") or [], list) or not isinstance(job.get("meta") or {}, dict):
        raise OJSError(f"the answer holds a job that cannot be read: {job['id']}", code="unexpected_answer")
    return Job(data=job)


def job_page(answer: Any) -> JobPage:
    """A page of jobs."""
    found = [bare_job(job) for job in member("items")(answer) or ()]
    about = answer.get("pagination") or {}
    return JobPage(found, int(about.get("total", len(found))), int(about.get("page", 1)), bool(about.get("has_more", False)))


def results(answer: Any) -> list[JobResult | None]:
    """Results in order, None where there is none."""
    return [None if one is None else JobResult(one) for one in member("results")(answer)]


def workflow(answer: Any) -> WorkflowStatus:
    """The answer's workflow."""
    return WorkflowStatus(member("workflow")(answer))


def crons(answer: Any) -> list[dict[str, Any]]:
    """The answer's cron entries, under the names that servers have for them."""
    found: list[dict[str, Any]] = answer.get("crons") or answer.get("cron_jobs") or answer.get("cron") or []
    return found


def cron(answer: Any) -> dict[str, Any]:
    """The answer's cron entry."""
    return whole(answer.get("cron", answer))


def whole(answer: Any) -> dict[str, Any]:
    """The whole answer."""
    if not isinstance(answer, dict):
        raise OJSError("the answer is not a JSON object", code="unexpected_answer")
    return answer


def nothing(_answer: Any) -> None:
    """Nothing of the answer is read."""
    return None


# --- what is sent ---


def at(kind: str, *names: str) -> str:
    """A path: each name is one segment of it, whatever it holds."""
    for name in names:
        if not isinstance(name, str) or not name:
            said = f"a path under /{kind} needs an id or a name as text, such as job.id; got {_shown(name)}"
            raise OJSValidationError(said, code="invalid_payload")
    return "".join(f"/{quote(name, safe='')}" for name in (kind, *names))


def _shown(value: Any) -> str:
    """Short, and nothing of what a job holds."""
    return repr(value) if value is None or isinstance(value, (str, int)) else f"a {type(value).__name__}"


def query(path: str, parameters: Mapping[str, Any]) -> str:
    """The path with those parameters that are not None."""
    text = {name: str(value).lower() if isinstance(value, bool) else value for name, value in given(parameters).items()}
    return f"{path}?{urlencode(text)}" if text else path


def given(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def from_one(**numbers: int | None) -> None:
    """Refuses numbers below 1."""
    if any(number is not None and number < 1 for number in numbers.values()):
        got = " and ".join(str(number) for number in numbers.values())
        raise OJSValidationError(f"{' and '.join(numbers)} count from 1, got {got}")


def atomicity(atomic: bool) -> str:
    """What ``atomic`` is on the wire."""
    return "atomic" if atomic else "partial"


def time(when: When | None) -> str | None:
    """A point in time."""
    return None if when is None else time_text(when)


def period(length: Duration | None) -> str | None:
    """A length of time."""
    return None if length is None else duration_text(length)


def age(older_than: When | float | None) -> str | None:
    """A point in time, or a length of time before now."""
    if isinstance(older_than, (int, float, timedelta)):
        return duration_text(older_than)
    return time(older_than)


def moment(when: When | float | None) -> str | None:
    """A point in time; a length of time is that long ago."""
    if isinstance(when, (int, float)):
        when = timedelta(seconds=when)
    if isinstance(when, timedelta):
        return (datetime.now(timezone.utc) - when).isoformat()
    return time(when)


# --- operations that are more than one request, or whose request is built elsewhere ---


def enqueue(request: JobRequest) -> Call[Job]:
    return Call("POST", "/jobs", request.to_dict(), job)


def enqueue_batch(requests: Iterable[JobRequest]) -> Call[list[Job]]:
    return Call("POST", "/jobs/batch", {"jobs": [request.to_dict() for request in requests]}, jobs)


def bulk_enqueue(requests: Sequence[JobRequest], atomic: bool, key: str | None) -> Call[list[BulkItem]]:
    body = {
        "jobs": [request.to_dict() for request in requests],
        "atomicity": atomicity(atomic),
        # Made here when the caller has none: the transport may send the request twice.
        "idempotency_key": key or str(uuid.uuid4()),
    }
    return Call("POST", "/jobs/bulk", body, lambda answer: [BulkItem.of(item) for item in member("items")(answer)])


#: How long the server may hold back the result of a job, in seconds: below the time-outs of common proxies.
LONGEST_WAIT = 20.0


def wait_for_result(job_id: str, wait: float) -> Call[JobResult]:
    path = query(at("jobs", job_id, "result"), {"wait": True, "timeout": math.ceil(wait)})
    return Call("GET", path, None, JobResult, wait=wait)


def start_workflow(wanted: Any) -> Call[WorkflowStatus]:
    return Call("POST", "/workflows", definition(wanted), workflow)


def events(path: str, wait: float) -> Call[tuple[list[Event], str]]:
    def read(answer: Any) -> tuple[list[Event], str]:
        return [Event(one) for one in member("events")(answer)], str(answer["cursor"])

    return Call("GET", path, None, read, wait=wait)


#: Settings of a schedule besides those that have parameters of their own.
CRON_SETTINGS = ("enabled", "description")


def register_cron(
    name: str, expression: str, request: JobRequest, timezone: str | None, overlap_policy: str | None, settings: Mapping[str, Any]
) -> Call[dict[str, Any]]:
    for setting in settings:
        if setting not in CRON_SETTINGS and not setting.startswith("x_"):
            raise unknown(setting, ("timezone", "overlap_policy", *CRON_SETTINGS), " of a schedule")
    body: dict[str, Any] = {"name": name, "expression": expression, "job_template": request.to_dict(), **settings}
    if timezone is not None:
        body["timezone"] = timezone
    if overlap_policy is not None:
        body["overlap_policy"] = overlap_policy
    return Call("POST", "/cron", body, cron)
