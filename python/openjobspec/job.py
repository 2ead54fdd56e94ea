"""Jobs: what a server knows about one, and the request that makes one."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Mapping, Sequence

from ._json import loads
from .errors import OJSValidationError
from .policies import Duration, RetryPolicy, UniquePolicy, When, duration_text, time_text


class Job:
    """A job as the server describes it. The JSON is read when the first attribute is asked for.

    Unknown attributes are kept: see :meth:`to_dict` and ``job["x_custom"]``.

    >>> job = Job.from_dict({"id": "1", "type": "email.send", "args": ["a@example.com"], "state": "available"})
    >>> job.type, job.args, job.queue
    ('email.send', ['a@example.com'], 'default')
    """

    __slots__ = ("_data", "_raw")

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
        """All attributes, unknown ones included. Changes to it are changes to the job object."""
        if self._data is None:
            self._data = loads(self._raw or b"{}")
            self._raw = None
        return self._data

    def __getitem__(self, name: str) -> Any:
        return self.to_dict()[name]

    def get(self, name: str, default: Any = None) -> Any:
        """One attribute by its name on the wire."""
        return self.to_dict().get(name, default)

    @property
    def id(self) -> str:
        """UUIDv7, the same in every redelivery."""
        return str(self.to_dict().get("id", ""))

    @property
    def type(self) -> str:
        """Dot-separated job type."""
        return str(self.to_dict().get("type", ""))

    @property
    def queue(self) -> str:
        """The queue it is in."""
        return str(self.to_dict().get("queue", "default"))

    @property
    def args(self) -> list[Any]:
        """The arguments."""
        args: list[Any] = self.to_dict().get("args") or []
        return args

    @property
    def meta(self) -> dict[str, Any]:
        """The metadata."""
        meta: dict[str, Any] = self.to_dict().get("meta") or {}
        return meta

    @property
    def state(self) -> str | None:
        """The state, in the server's word; None in a job that no server has seen."""
        state: str | None = self.to_dict().get("state")
        return state

    @property
    def priority(self) -> int:
        """Higher first."""
        return int(self.to_dict().get("priority") or 0)

    @property
    def attempt(self) -> int:
        """Runs so far; 1 during the first."""
        return int(self.to_dict().get("attempt") or 0)

    @property
    def max_attempts(self) -> int | None:
        """Runs allowed."""
        max_attempts: int | None = self.to_dict().get("max_attempts")
        return max_attempts

    @property
    def result(self) -> Any:
        """What the handler returned."""
        return self.to_dict().get("result")

    @property
    def error(self) -> dict[str, Any] | None:
        """The latest failure."""
        error: dict[str, Any] | None = self.to_dict().get("error")
        return error

    @property
    def errors(self) -> list[dict[str, Any]]:
        """All failures, oldest first."""
        errors: list[dict[str, Any]] = self.to_dict().get("errors") or []
        return errors

    @property
    def tags(self) -> list[str]:
        """Tags."""
        tags: list[str] = self.to_dict().get("tags") or []
        return tags

    @property
    def scheduled_at(self) -> str | None:
        """Not before this time."""
        scheduled_at: str | None = self.to_dict().get("scheduled_at")
        return scheduled_at

    @property
    def created_at(self) -> str | None:
        """When the server took it."""
        created_at: str | None = self.to_dict().get("created_at")
        return created_at

    @property
    def parent_results(self) -> list[Any]:
        """Results of the steps before, in a workflow."""
        results: list[Any] = self.to_dict().get("parent_results") or []
        return results

    @property
    def workflow_id(self) -> str | None:
        """The workflow it is a step of."""
        workflow_id: str | None = self.to_dict().get("workflow_id")
        return workflow_id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        # Never the arguments: they may be secret, and logs are not.
        return f"Job(id={self.id!r}, type={self.type!r}, queue={self.queue!r}, state={self.state!r})"


def wrap_args(args: Any) -> list[Any]:
    """Arguments as the array that the wire wants: a single value becomes an array of one."""
    if args is None:
        return []
    if isinstance(args, (list, tuple)):
        return list(args)
    return [args]


@dataclass(kw_only=True)
class JobOptions:
    """What may be said about a job besides its type and arguments. None, and the queue ``default``, mean the default."""

    # gen:python/option_fields.j2 (make gen; do not edit)
    #: The queue.
    queue: str = "default"
    #: −100 to 100, higher first.
    priority: int = 0
    #: The most one run may take, in milliseconds.
    timeout_ms: int | None = None
    #: How long a worker may be silent before the job is given to another, in milliseconds.
    visibility_timeout_ms: int | None = None
    #: How long the result is kept (0 keeps none), in seconds.
    result_ttl: int | None = None
    #: Run after this long: seconds or a timedelta.
    delay: float | timedelta | None = None
    #: Do not run before this time.
    delay_until: When | None = None
    #: Throw the job away when it has not started by then.
    expires_at: When | None = None
    #: How long the job's whole life may take.
    total_timeout: Duration | None = None
    #: What happens when it fails.
    retry: RetryPolicy | Mapping[str, Any] | None = None
    #: What makes it a duplicate.
    unique: UniquePolicy | Mapping[str, Any] | None = None
    #: Words to find it by.
    tags: Sequence[str] | None = None
    #: An id of your own (UUIDv7, lower case), so that sending it twice makes one job.
    id: str | None = None
    #: Any JSON object that travels with the job.
    meta: dict[str, Any] | None = None
    #: URI of the schema its arguments follow.
    schema: str | None = None
    # gen:end
    #: More options, by their names on the wire.
    extra: dict[str, Any] = field(default_factory=dict)

    def options(self) -> dict[str, Any]:
        """The ``options`` object: only what differs from the defaults."""
        options: dict[str, Any] = {}
        if self.queue != "default":
            options["queue"] = self.queue
        if self.priority:
            options["priority"] = self.priority
        for name in ("timeout_ms", "visibility_timeout_ms", "result_ttl"):
            value = getattr(self, name)
            if value is not None:
                options[name] = value
        if self.delay is not None:
            if self.delay_until is not None:
                raise OJSValidationError("give either delay or delay_until, not both")
            delay = self.delay if isinstance(self.delay, timedelta) else timedelta(seconds=self.delay)
            options["delay_until"] = time_text(delay)
        elif self.delay_until is not None:
            options["delay_until"] = time_text(self.delay_until)
        if self.expires_at is not None:
            options["expires_at"] = time_text(self.expires_at)
        if self.total_timeout is not None:
            options["total_timeout"] = duration_text(self.total_timeout)
        for name in ("retry", "unique"):
            policy = getattr(self, name)
            if policy is not None:
                options[name] = policy.to_dict() if hasattr(policy, "to_dict") else dict(policy)
        if self.tags:
            options["tags"] = list(self.tags)
        options.update(self.extra)
        return options


@dataclass(kw_only=True)
class JobRequest(JobOptions):
    """A job to be. Enqueue middleware gets it and may change everything but its id.

    >>> JobRequest("email.send", ["a@example.com"], queue="mail").to_dict()
    {'type': 'email.send', 'args': ['a@example.com'], 'options': {'queue': 'mail'}}
    """

    #: Dot-separated job type.
    type: str
    #: The arguments: an array, or one value.
    args: Any = None

    def __init__(self, type: str, args: Any = None, **options: Any) -> None:
        JobOptions.__init__(self, **options)
        self.type = type
        self.args = wrap_args(args)

    def to_dict(self) -> dict[str, Any]:
        """The request as the wire has it."""
        body: dict[str, Any] = {"type": self.type, "args": wrap_args(self.args)}
        if self.id is not None:
            body["id"] = self.id
        if self.meta:
            body["meta"] = self.meta
        if self.schema is not None:
            body["schema"] = self.schema
        options = self.options()
        if options:
            body["options"] = options
        return body

    @classmethod
    def of(cls, value: JobRequest | Mapping[str, Any] | tuple[Any, ...] | str) -> JobRequest:
        """A request from the forms that are handy to write: a request, ``{"type": …, "args": …}``, ``(type, args)``, a type."""
        if isinstance(value, JobRequest):
            return value
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, tuple):
            return cls(*value)
        rest = dict(value)
        job_type = rest.pop("type", None)
        if not isinstance(job_type, str):
            raise OJSValidationError("a job needs a type", code="invalid_payload")
        options = dict(rest.pop("options", None) or {})
        known = {name: rest.pop(name) for name in ("args", "meta", "schema", "id") if name in rest}
        return cls(job_type, known.pop("args", None), extra={**options, **rest}, **known)
