"""Every call of the protocol, once: what is sent, and what is made of the answer. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Generic, Iterable, Mapping, TypeVar
from urllib.parse import quote, urlencode

from .errors import OJSError
from .job import Job, JobRequest
from .workflow import WorkflowStatus, definition

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request, and how its answer is read."""

    method: str
    path: str
    body: Any
    read: Callable[[Any], T]


def _member(name: str) -> Callable[[Any], Any]:
    def read(answer: Any) -> Any:
        if not isinstance(answer, Mapping) or name not in answer:
            raise OJSError(f"the answer has no '{name}'", code="unexpected_answer")
        return answer[name]

    return read


def _job(answer: Any) -> Job:
    return Job(data=_member("job")(answer))


def _jobs(answer: Any) -> list[Job]:
    return [Job(data=job) for job in _member("jobs")(answer)]


def _workflow(answer: Any) -> WorkflowStatus:
    return WorkflowStatus(_member("workflow")(answer))


def _whole(answer: Any) -> dict[str, Any]:
    result: dict[str, Any] = answer
    return result


def _nothing(_answer: Any) -> None:
    return None


def _named(kind: str, name: str, *more: str) -> str:
    return "/".join(["", kind, quote(name, safe=""), *more])


def _query(path: str, **parameters: Any) -> str:
    given = {name: value for name, value in parameters.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


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


def list_cron() -> Call[list[dict[str, Any]]]:
    return Call("GET", "/cron", None, lambda answer: answer.get("crons") or answer.get("cron_jobs") or answer.get("cron") or [])


def register_cron(name: str, expression: str, request: JobRequest, timezone: str | None) -> Call[dict[str, Any]]:
    body: dict[str, Any] = {"name": name, "expression": expression, "job_template": request.to_dict()}
    if timezone is not None:
        body["timezone"] = timezone
    return Call("POST", "/cron", body, lambda answer: answer.get("cron", answer))


def delete_cron(name: str) -> Call[None]:
    return Call("DELETE", _named("cron", name), None, _nothing)


def health() -> Call[dict[str, Any]]:
    return Call("GET", "/health", None, _whole)


def manifest() -> Call[dict[str, Any]]:
    return Call("GET", "/ojs/manifest", None, _whole)
