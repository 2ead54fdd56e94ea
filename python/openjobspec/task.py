"""A registered handler with its job type: call it as before, or enqueue a job for it."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Callable, Concatenate, Generic, Mapping, ParamSpec, Protocol, TypeVar, overload

from . import _native
from ._json import dumps
from ._signature import Signature
from .context import JobContext
from .errors import OJSValidationError
from .job import WITH_DEFAULTS, Job, JobRequest
from .options import train_wire
from .policies import after, duration_text

if TYPE_CHECKING:
    from .worker import Worker

P = ParamSpec("P")
R = TypeVar("R")
#: Options that belong to one job, and not to all of a type.
_OF_ONE_JOB = ("id", "delay_until", "expires_at", "tenant", "meta", "schema", "extra")


class Task(Generic[P, R]):
    """What ``@worker.register`` makes of a handler.

    Its parameters behind the context are the job's arguments, for type checkers too. It is still the handler: a test may call it.

    >>> import openjobspec as ojs
    >>> worker = ojs.Worker("memory:task-doc", queues=["mail"])
    >>> @worker.register("greeting.send", queue="mail", retry=5)
    ... def send_email(ctx: ojs.JobContext, to: str, subject: str = "Hello") -> str:
    ...     return f"{subject}, {to}"
    >>> job = send_email.enqueue("ada@example.com")
    >>> job.args, job.queue, job.max_attempts
    (['ada@example.com'], 'mail', 5)
    >>> send_email.options(delay=60).enqueue("ada@example.com", subject="Bye").state
    'scheduled'

    Jobs go to the worker's server, through :attr:`openjobspec.Worker.client` and its middleware. For another client, a batch, a workflow or
    an outbox make a request: ``client.enqueue_batch([send_email.request("a@example.com"), send_email.request("b@example.com")])``,
    ``outbox.write(connection, send_email.request("ada@example.com"))``.
    """

    def __init__(
        self, worker: Worker, job_type: str, function: Callable[..., R], signature: Signature, options: Mapping[str, Any]
    ) -> None:
        #: The job type.
        self.type = job_type
        #: The handler as it was written.
        self.function = function
        self._worker = worker
        self._signature = signature
        self._options = dict(options)
        functools.update_wrapper(self, function)
        if inspect.iscoroutinefunction(function) and hasattr(inspect, "markcoroutinefunction"):
            inspect.markcoroutinefunction(self)  # Python 3.12

    def __call__(self, ctx: JobContext, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs the handler here and now: for tests."""
        return self.function(ctx, *args, **kwargs)

    def request(self, *args: P.args, **kwargs: P.kwargs) -> JobRequest:
        """The job as a request that every client, batch, workflow and outbox takes.

        Raises OJSValidationError when the handler does not take these arguments.
        """
        options = {**self._options, "queue": self.queue}
        if options.get("train") and "id" not in _train(options):
            del options["train"]  # policies alone: the core has them, for jobs that a caller puts into a train
        return JobRequest(self.type, self._signature.arguments(args, kwargs), **options)

    @property
    def queue(self) -> str:
        """Where its jobs go: what was registered, else ``default``, else the first of its worker's queues."""
        return str(self._options.get("queue") or self._worker._home)

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Job:
        """Sends a job with these arguments and returns it as the server stored it. Errors as of :meth:`openjobspec.Client.enqueue`."""
        return self._worker.client.enqueue_request(self.request(*args, **kwargs))

    async def enqueue_async(self, *args: P.args, **kwargs: P.kwargs) -> Job:
        """The same from a coroutine, without blocking its event loop."""
        return await self._worker.async_client.enqueue_request(self.request(*args, **kwargs))

    def options(self, **options: Any) -> Task[P, R]:
        """The same task with options for its next jobs, by the names of :meth:`openjobspec.Client.enqueue`: ``delay="5m"``, ``queue="slow"``."""
        JobRequest(self.type, **options)  # refuses unknown names
        if options.get("train"):
            # Another train, with the policies of the type.
            options["train"] = {**_train(self._options), **_train(options)}
        return Task(self._worker, self.type, self.function, self._signature, {**self._options, **options})

    def __repr__(self) -> str:
        return f"<Task {self.type}: {self._signature}>"


def _train(options: Mapping[str, Any]) -> dict[str, Any]:
    """What options say about a train, as the wire has it."""
    given = options.get("train")
    return dict(train_wire(given)) if given else {}


class Registration(Protocol):
    """The decorator that ``worker.register("email.send")`` returns."""

    @overload
    def __call__(self, function: Callable[[JobContext], R], /) -> Task[..., R]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[JobContext, P], R], /) -> Task[P, R]: ...  # type: ignore[overload-cannot-match]


def defaults_of(job_type: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options for all jobs of a type, once they are found right; enqueues of this process by the type's name get them too."""
    for name in _OF_ONE_JOB:
        if name in options:
            raise OJSValidationError(f"'{name}' belongs to one job, and register() sets defaults for all of '{job_type}': give it to enqueue()")
    wire = JobRequest(job_type, **{name: value for name, value in options.items() if name != "delay"}).options()
    if options.get("delay") is not None:
        after("delay", options["delay"])
        wire["delay"] = duration_text(options["delay"])  # counts from each enqueue
    if wire or job_type in WITH_DEFAULTS:
        _native.set_job_defaults(job_type, dumps(wire).decode())
        WITH_DEFAULTS.add(job_type)
    return dict(options)
