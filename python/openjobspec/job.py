"""Jobs: what a server knows about one, and the request that makes one."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any, Mapping, Sequence, overload

from ._json import loads
from ._values import check
from .errors import OJSValidationError, UnknownOptionError
from .policies import (
    Duration,
    RetryPolicy,
    UniquePolicy,
    When,
    after,
    duration_text,
    milliseconds,
    nearest,
    retry_wire,
    time_text,
    unique_wire,
    unknown,
    whole_milliseconds,
)


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


class JobPage(Sequence[Job]):
    """One page of a list of jobs: a sequence of jobs that knows how many there are in all.

    >>> page = JobPage([Job.from_dict({"id": "1", "type": "a"})], total=1, page=1, has_more=False)
    >>> [job.type for job in page], len(page), page.total
    (['a'], 1, 1)
    """

    __slots__ = ("_jobs", "has_more", "page", "total")

    def __init__(self, jobs: list[Job], total: int, page: int, has_more: bool) -> None:
        self._jobs = jobs
        #: Jobs that the filter finds, on all pages. Servers with very many may stop counting.
        self.total = total
        #: Number of this page, from 1.
        self.page = page
        #: Whether there is a page behind this one.
        self.has_more = has_more

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> list[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | list[Job]:
        return self._jobs[index]

    def __len__(self) -> int:
        return len(self._jobs)

    def __repr__(self) -> str:
        return f"JobPage(page={self.page}, jobs={len(self._jobs)}, total={self.total}, has_more={self.has_more})"


def wrap_args(args: Any) -> list[Any]:
    """Arguments as the array that the wire wants: a single value becomes an array of one."""
    if args is None:
        return []
    if isinstance(args, (list, tuple)):
        return list(args)
    return [args]


class _UnsaidText(str):
    """A text that no caller has given: one that is set for the job's type takes its place."""

    def __repr__(self) -> str:
        return str.__repr__(str(self))


class _UnsaidNumber(int):
    """The same for a number."""

    def __repr__(self) -> str:
        return int.__repr__(int(self))


#: The queue and the priority of a job of which neither was said. They are equal to what a caller may say.
UNSAID_QUEUE: str = _UnsaidText("default")
UNSAID_PRIORITY: int = _UnsaidNumber(0)
#: Types for which :meth:`openjobspec.Worker.register` has set options in the core.
WITH_DEFAULTS: set[str] = set()


@dataclass(kw_only=True)
class JobOptions:
    """What may be said about a job besides its type and arguments. None, and the queue ``default``, mean the default."""

    # gen:python/option_fields.j2 (make gen; do not edit)
    #: The queue.
    queue: str = UNSAID_QUEUE
    #: −100 to 100, higher first.
    priority: int = UNSAID_PRIORITY
    #: The most one run may take, in milliseconds.
    timeout_ms: int | None = None
    #: How long a worker may be silent before the job is given to another, in milliseconds.
    visibility_timeout_ms: int | None = None
    #: How long the result is kept (0 keeps none), in seconds.
    result_ttl: int | None = None
    #: Run after this long: seconds, a timedelta, or text such as 5m.
    delay: Duration | None = None
    #: Do not run before this time.
    delay_until: When | None = None
    #: Throw the job away when it has not started by then.
    expires_at: When | None = None
    #: How long the job's whole life may take.
    total_timeout: Duration | None = None
    #: What happens when it fails.
    retry: RetryPolicy | Mapping[str, Any] | int | None = None
    #: What makes it a duplicate.
    unique: UniquePolicy | Mapping[str, Any] | bool | None = None
    #: How many of its kind may start or run at a time.
    rate_limit: dict[str, Any] | None = None
    #: Words to find it by.
    tags: Sequence[str] | None = None
    #: An id of your own (UUIDv7, lower case), so that sending it twice makes one job.
    id: str | None = None
    #: Any JSON object that travels with the job.
    meta: dict[str, Any] | None = None
    #: URI of the schema its arguments follow.
    schema: str | None = None
    # gen:end
    #: The same as timeout_ms, as seconds, a timedelta, or text: ``30``, ``"30s"``, ``"1h30m"``.
    timeout: Duration | None = None
    #: The same as visibility_timeout_ms, as seconds, a timedelta, or text.
    visibility_timeout: Duration | None = None
    #: More options, by their names on the wire.
    extra: dict[str, Any] = field(default_factory=dict)

    def options(self) -> dict[str, Any]:
        """The ``options`` object: only what differs from the defaults, of the job's type where it has some."""
        options: dict[str, Any] = {}
        of_type = getattr(self, "type", None) in WITH_DEFAULTS
        if self.queue != "default" or (of_type and not isinstance(self.queue, _UnsaidText)):
            options["queue"] = self.queue
        if self.priority or (of_type and not isinstance(self.priority, _UnsaidNumber)):
            options["priority"] = self.priority
        self._put_lengths(options)
        if self.retry is not None:
            options["retry"] = retry_wire(self.retry)
        if self.unique is not None:
            options["unique"] = unique_wire(self.unique)
        if self.rate_limit is not None:
            options["rate_limit"] = dict(self.rate_limit)
        if self.tags or (of_type and self.tags is not None):
            if isinstance(self.tags, str):
                raise OJSValidationError(f"tags must be a list of words, got {self.tags!r}: write [{self.tags!r}]")
            options["tags"] = list(self.tags)
        options.update(self.extra)
        return options

    def _put_lengths(self, options: dict[str, Any]) -> None:
        for name, own, wire in (("timeout", self.timeout, self.timeout_ms),
                                ("visibility_timeout", self.visibility_timeout, self.visibility_timeout_ms)):  # fmt: skip
            if own is not None and wire is not None:
                raise OJSValidationError(f"give either {name} or {name}_ms, not both")
            if own is not None:
                options[f"{name}_ms"] = milliseconds(name, own)
            elif wire is not None:
                options[f"{name}_ms"] = whole_milliseconds(f"{name}_ms", wire)
        if self.result_ttl is not None:
            options["result_ttl"] = self.result_ttl
        if self.delay is not None:
            if self.delay_until is not None:
                raise OJSValidationError("give either delay or delay_until, not both")
            options["delay_until"] = after("delay", self.delay)
        for name in ("delay_until", "expires_at"):
            when = getattr(self, name)
            if isinstance(when, timedelta):
                options[name] = after(name, when)
            elif when is not None:
                options[name] = time_text(when)
        if self.total_timeout is not None:
            options["total_timeout"] = duration_text(self.total_timeout)


def _no_option(name: str) -> UnknownOptionError:
    error = unknown(f"'{name}'", name, _NAMES)
    for option, policy in (("retry", RetryPolicy), ("unique", UniquePolicy)):
        if near := nearest(name, [one.name for one in fields(policy)], 0.85):
            error = UnknownOptionError(f"unknown option '{name}'; it is one of {option}: write {option}={{'{near}': …}}")
    return error


_NAMES = tuple(option.name for option in fields(JobOptions))


@dataclass(kw_only=True, repr=False)
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
        for name in options:
            if name not in _NAMES:
                raise _no_option(name)
        JobOptions.__init__(self, **options)
        self.type = type
        self.args = wrap_args(args)

    def to_dict(self) -> dict[str, Any]:
        """The request as the wire has it."""
        args = wrap_args(self.args)
        check("args", args)
        body: dict[str, Any] = {"type": self.type, "args": args}
        if self.id is not None:
            body["id"] = self.id
        if self.meta:
            check("meta", self.meta)
            body["meta"] = self.meta
        if self.schema is not None:
            body["schema"] = self.schema
        options = self.options()
        if options:
            body["options"] = options
        return body

    def __repr__(self) -> str:
        # Never the arguments: they may be secret, and logs are not.
        return f"JobRequest(type={self.type!r}, queue={self.queue!r})"

    @classmethod
    def made(cls, job: str | JobRequest, args: Any, options: Mapping[str, Any]) -> JobRequest:
        """A request from a type, arguments and options, or one that was made before, by a task: then there is nothing to add."""
        if isinstance(job, str):
            return cls(job, args, **options)
        if not isinstance(job, JobRequest):
            raise OJSValidationError(f"name a job type, or pass task.request(…), not {type(job).__name__}", code="invalid_payload")
        if args is not None or options:
            raise OJSValidationError("a request has its arguments and options already: pass them to task.options(…).request(…)")
        return job

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
