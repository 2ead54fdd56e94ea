# Made from xtask/records.toml by make gen; do not edit.
"""What a server answers with, as objects: jobs, results, workflows, events, and what bulk operations did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from . import _native
from ._json import dumps, loads


class Record:
    """Something that a server describes. Members that this package does not know are kept: ``record["x_custom"]``."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data: dict[str, Any] | None = dict(data)

    def to_dict(self) -> dict[str, Any]:
        """All members. Changes to it are changes to the object."""
        return self._data or {}

    def __getitem__(self, name: str) -> Any:
        return self.to_dict()[name]

    def get(self, name: str, default: Any = None) -> Any:
        """One member by its name on the wire."""
        return self.to_dict().get(name, default)


class Job(Record):
    """A job as the server describes it. The JSON is read when the first member is asked for.

    >>> job = Job.from_dict({"id": "1", "type": "email.send", "args": ["a@example.com"], "state": "available"})
    >>> job.type, job.args, job.queue
    ('email.send', ['a@example.com'], 'default')
    """

    __slots__ = ("_raw",)

    def __init__(self, raw: bytes | None = None, data: dict[str, Any] | None = None) -> None:
        self._raw = raw
        self._data = data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Job:
        """The job in an answer of the server."""
        return cls(data=dict(data))

    @classmethod
    def from_json(cls, raw: bytes) -> Job:
        """The job of a JSON text, read when needed."""
        return cls(raw=raw)

    def to_dict(self) -> dict[str, Any]:
        """All members, unknown ones included. Changes to it are changes to the job object."""
        if self._data is None:
            self._data = loads(self._raw or b"{}")
            self._raw = None
        return self._data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        # Never the arguments: they may be secret, and logs are not.
        return f"Job(id={self.id!r}, type={self.type!r}, queue={self.queue!r}, state={self.state!r})"

    @property
    def id(self) -> str:
        """A UUIDv7, the same in every attempt and redelivery."""
        return str(self.to_dict().get("id", ""))

    @property
    def type(self) -> str:
        """The job type, with dots between its parts."""
        return str(self.to_dict().get("type", ""))

    @property
    def queue(self) -> str:
        """The queue that the job is in."""
        return str(self.to_dict().get("queue", "default"))

    @property
    def state(self) -> str | None:
        """Where the job is in its life; None in a job that no server has seen."""
        found: str | None = self.to_dict().get("state")
        return found

    @property
    def args(self) -> list[Any]:
        """The arguments."""
        found: list[Any] = self.to_dict().get("args") or []
        return found

    @property
    def meta(self) -> dict[str, Any]:
        """What travels with the job besides its arguments."""
        found: dict[str, Any] = self.to_dict().get("meta") or {}
        return found

    @property
    def priority(self) -> int:
        """Higher runs earlier."""
        return int(self.to_dict().get("priority") or 0)

    @property
    def attempt(self) -> int:
        """The number of the attempt, 1 during the first run."""
        return int(self.to_dict().get("attempt") or 0)

    @property
    def max_attempts(self) -> int | None:
        """How many attempts there may be; None when the server did not say."""
        found: int | None = self.to_dict().get("max_attempts")
        return found

    @property
    def tags(self) -> list[str]:
        """Words to find the job by."""
        found: list[str] = self.to_dict().get("tags") or []
        return found

    @property
    def result(self) -> Any:
        """What the handler returned; None when there is no result."""
        return self.to_dict().get("result")

    @property
    def error(self) -> dict[str, Any] | None:
        """The latest failure; None when no attempt has failed."""
        found: dict[str, Any] | None = self.to_dict().get("error")
        return found

    @property
    def errors(self) -> list[dict[str, Any]]:
        """All failures, the oldest first."""
        found: list[dict[str, Any]] = self.to_dict().get("errors") or []
        return found

    @property
    def parent_results(self) -> list[Any]:
        """The results of the steps before this one, in a workflow."""
        found: list[Any] = self.to_dict().get("parent_results") or []
        return found

    @property
    def workflow_id(self) -> str | None:
        """The workflow that the job belongs to; None when it belongs to none."""
        found: str | None = self.to_dict().get("workflow_id")
        return found

    @property
    def train(self) -> JobTrain | None:
        """The job's place in its train; None when it runs in none."""
        train = self.to_dict().get("train")
        return None if train is None else JobTrain(train)

    @property
    def created_at(self) -> str | None:
        """When the job was created."""
        found: str | None = self.to_dict().get("created_at")
        return found

    @property
    def enqueued_at(self) -> str | None:
        """When the job was enqueued."""
        found: str | None = self.to_dict().get("enqueued_at")
        return found

    @property
    def scheduled_at(self) -> str | None:
        """When the job may run; None when it need not wait."""
        found: str | None = self.to_dict().get("scheduled_at")
        return found

    @property
    def started_at(self) -> str | None:
        """When the latest attempt began."""
        found: str | None = self.to_dict().get("started_at")
        return found

    @property
    def completed_at(self) -> str | None:
        """When the job was completed; None when it was not."""
        found: str | None = self.to_dict().get("completed_at")
        return found

    @property
    def expires_at(self) -> str | None:
        """When the job is thrown away unless it has started."""
        found: str | None = self.to_dict().get("expires_at")
        return found

    @property
    def timeout_ms(self) -> int | None:
        """The most that one run may take, in milliseconds."""
        found: int | None = self.to_dict().get("timeout_ms")
        return found


class JobTrain(Record):
    """Where a job stands in its train. The server decides all of it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"JobTrain(id={self.id!r}, position={self.position!r}, role={self.role!r}, ahead={self.ahead!r}, state={self.state!r})"

    @property
    def id(self) -> str:
        """The train's id."""
        return str(self.to_dict().get("id", ""))

    @property
    def position(self) -> int:
        """The job's number in the train, from 1, in the order in which jobs joined it."""
        return int(self.to_dict().get("position") or 0)

    @property
    def role(self) -> str:
        """``locomotive``: the one job of the train that may run; ``car``: it waits; ``left``: its turn is over."""
        return str(self.to_dict().get("role", ""))

    @property
    def ahead(self) -> int:
        """How many jobs of the train run before it."""
        return int(self.to_dict().get("ahead") or 0)

    @property
    def state(self) -> str:
        """The state of the train: ``running``, ``draining`` (a cancelled job still runs) or ``held``."""
        return str(self.to_dict().get("state", ""))

    @property
    def epoch(self) -> int:
        """A number that grows with every delivery of a job of this train. A resource that remembers the largest one
        can refuse what the handler of an earlier delivery still sends: a fencing token. Only the locomotive has it."""
        return int(self.to_dict().get("epoch") or 0)


class JobResult(Record):
    """How a job ended, and what its handler returned.

    >>> JobResult({"job_id": "1", "state": "completed", "result": {"sent": 3}}).result
    {'sent': 3}
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"JobResult(job_id={self.job_id!r}, state={self.state!r}, result={self.result!r})"

    @property
    def job_id(self) -> str:
        """The job's id."""
        return str(self.to_dict().get("job_id", ""))

    @property
    def state(self) -> str:
        """Completed, discarded or cancelled."""
        return str(self.to_dict().get("state", ""))

    @property
    def ok(self) -> bool:
        """Whether the job was completed."""
        return self.to_dict().get("state") == "completed"

    @property
    def result(self) -> Any:
        """What the handler returned; None when it returned nothing, or when its result is not kept."""
        return self.to_dict().get("result")

    @property
    def error(self) -> dict[str, Any] | None:
        """The failure that ended the job; None when none did."""
        found: dict[str, Any] | None = self.to_dict().get("error")
        return found

    @property
    def attempt(self) -> int:
        """How many attempts were begun."""
        return int(self.to_dict().get("attempt") or 0)

    @property
    def stored_at(self) -> str | None:
        """When the result was stored."""
        found: str | None = self.to_dict().get("result_stored_at")
        return found

    @property
    def expires_at(self) -> str | None:
        """When the result is removed; None when it is kept."""
        found: str | None = self.to_dict().get("result_expires_at")
        return found


class WorkflowStatus(Record):
    """A workflow as the server describes it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"WorkflowStatus(id={self.id!r}, type={self.type!r}, state={self.state!r})"

    @property
    def id(self) -> str:
        """The workflow's id."""
        return str(self.to_dict().get("id", ""))

    @property
    def name(self) -> str | None:
        """The name that it was given; None without one."""
        found: str | None = self.to_dict().get("name")
        return found

    @property
    def type(self) -> str:
        """``chain``, ``group``, ``batch`` or ``graph``."""
        return str(self.to_dict().get("type", ""))

    @property
    def state(self) -> str:
        """The state, in the server's word."""
        return str(self.to_dict().get("state", ""))

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps or jobs of the workflow."""
        found: list[dict[str, Any]] = self.to_dict().get("steps") or self.to_dict().get("jobs") or []
        return found


class Event(Record):
    """An event: a change of a job, queue, workflow or worker.

    >>> event = Event({"id": "evt_1", "type": "job.completed", "subject": "1", "data": {"queue": "mail"}})
    >>> event.type, event.data["queue"]
    ('job.completed', 'mail')
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Event(type={self.type!r}, subject={self.subject!r}, time={self.time!r})"

    @property
    def id(self) -> str:
        """The id of the event, for reading on from it."""
        return str(self.to_dict().get("id", ""))

    @property
    def type(self) -> str:
        """What happened, such as ``job.completed``."""
        return str(self.to_dict().get("type", ""))

    @property
    def time(self) -> str:
        """When it happened, in RFC 3339."""
        return str(self.to_dict().get("time", ""))

    @property
    def subject(self) -> str:
        """The id of the job or workflow, or the name of the queue or worker."""
        return str(self.to_dict().get("subject", ""))

    @property
    def data(self) -> dict[str, Any]:
        """Everything else, by type of event."""
        found: dict[str, Any] = self.to_dict().get("data") or {}
        return found


def _error(item: Mapping[str, Any]) -> Exception | None:
    error = item.get("error")
    return None if error is None else _native.item_error(dumps(error).decode("utf-8"))


@dataclass(frozen=True)
class BulkItem:
    """What happened to one job of a bulk enqueue.

    >>> item = BulkItem.of({"index": 0, "status": "created", "job": {"id": "1", "type": "a"}})
    >>> item.ok, item.job.id
    (True, '1')
    """

    #: The place of the job in the request, from 0.
    index: int
    #: ``created``; ``duplicate``, with the job that existed before; or ``failed``.
    status: str
    #: The job; None when it was refused.
    job: Job | None
    #: Why the job was refused; None when it was not.
    error: Exception | None

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> BulkItem:
        """One item of an answer."""
        job = item.get("job")
        return cls(int(item["index"]), str(item["status"]), None if job is None else Job(data=job), _error(item))

    @property
    def ok(self) -> bool:
        """Whether the server has the job."""
        return self.error is None


@dataclass(frozen=True)
class BulkChange:
    """What happened to one job of a bulk cancel, retry or delete."""

    #: The job's id.
    job_id: str
    #: ``cancelled``, ``retried``, ``deleted`` or ``skipped``.
    status: str
    #: Why the job was skipped; None when it was not.
    error: Exception | None

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> BulkChange:
        """One item of an answer."""
        return cls(str(item["job_id"]), str(item["status"]), _error(item))


@dataclass(frozen=True)
class BulkResult:
    """What a bulk cancel, retry or delete did."""

    #: How many jobs were named or found.
    matched: int
    #: How many jobs were changed.
    succeeded: int
    #: How many jobs were left as they are; their items say why.
    skipped: int
    #: One for each job, in the order of the ids; of a filter the first 1,000.
    items: tuple[BulkChange, ...]

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> BulkResult:
        """The answer to a bulk operation."""
        matched, skipped = int(answer["total_matched"]), int(answer["skipped"])
        return cls(matched, matched - skipped, skipped, tuple(BulkChange.of(item) for item in answer["items"]))
