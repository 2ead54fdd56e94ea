"""Pages of jobs, and the request that makes a job."""

from __future__ import annotations

from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, Mapping, Sequence, Union, overload

from . import _native
from ._json import dumps, loads
from ._values import check
from .errors import OJSValidationError, UnknownOptionError
from .options import JobOptions, RetryPolicy, Train, UniquePolicy
from .options import UNSAID_PRIORITY as UNSAID_PRIORITY
from .options import UNSAID_QUEUE as UNSAID_QUEUE
from .options import WITH_DEFAULTS as WITH_DEFAULTS
from .policies import unknown
from .records import Job as Job


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


#: What may stand for a job in a list: a request, ``{"type": …, "args": …}``, ``(type, args)``, or a type.
RequestLike = Union["JobRequest", Mapping[str, Any], "tuple[Any, ...]", str]


def wrap_args(args: Any) -> list[Any]:
    """Arguments as the array that the wire wants: a single value becomes an array of one."""
    if args is None:
        return []
    if isinstance(args, (list, tuple)):
        return list(args)
    return [args]


def _no_option(name: str) -> UnknownOptionError:
    error = unknown(name, _NAMES)
    for option, policy in (("retry", RetryPolicy), ("unique", UniquePolicy), ("train", Train)):
        if near := get_close_matches(name, [one.name for one in fields(policy)], 1, 0.85):
            said = f"unknown option '{name}'; it is one of {option}: write {option}={{'{near[0]}': …}}"
            error = UnknownOptionError(said)
    return error


_NAMES = tuple(option.name for option in fields(JobOptions))


def completed(body: Any) -> Any:
    """What a transport of the program's own gets: jobs with the options of their types, as the core sends them."""
    if isinstance(body, JobRequest):
        body = body.to_dict()
    if not isinstance(body, Mapping):
        return body
    whole = dict(body)
    for name in ("jobs", "steps"):
        if isinstance(whole.get(name), (list, tuple)):
            whole[name] = [completed(job) for job in whole[name]]
    if isinstance(whole.get("callbacks"), Mapping):
        whole["callbacks"] = {name: completed(job) for name, job in whole["callbacks"].items()}
    if "job_template" in whole:
        whole["job_template"] = completed(whole["job_template"])
    options = whole.get("options")
    if whole.get("type") in WITH_DEFAULTS or (isinstance(options, Mapping) and "tenant" in options):
        whole = loads(_native.completed_job(dumps(whole).decode()).encode())
    return whole


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
        if not isinstance(value, Mapping):
            raise OJSValidationError(
                "a job is a type, (type, args), {'type': …, 'args': …}, or task.request(…), "
                f"not {type(value).__name__}",
                code="invalid_payload",
            )
        rest = dict(value)
        job_type = rest.pop("type", None)
        if not isinstance(job_type, str):
            raise OJSValidationError("a job needs a type", code="invalid_payload")
        options = dict(rest.pop("options", None) or {})
        known = {name: rest.pop(name) for name in ("args", "meta", "schema", "id") if name in rest}
        return cls(job_type, known.pop("args", None), extra={**options, **rest}, **known)
