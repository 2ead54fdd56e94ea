"""The producer's side, plain: enqueue, look up, cancel, administer. :class:`openjobspec.AsyncClient` is its twin."""

from __future__ import annotations

from datetime import timedelta
from types import TracebackType
from typing import Any, Callable, Iterable, Mapping, Sequence, TypeVar

from . import _operations as ops
from . import _native, _portal
from ._portal import Threads
from .errors import NotEnqueuedError
from .job import Job, JobRequest
from .middleware import Chain, Once, is_async
from .policies import Duration, RetryPolicy, UniquePolicy, When
from .transport import SyncTransport, native_connection
from .workflow import Workflow, WorkflowStatus

T = TypeVar("T")
RequestLike = JobRequest | Mapping[str, Any] | tuple[Any, ...] | str


class Client:
    """Talks to an OJS server, or to an engine in this process.

    ``url`` is ``http://host:8080``, ``https://…``, ``sqlite:jobs.db``, ``memory:`` or ``memory:name``; without it ``OJS_URL``,
    else ``http://localhost:8080``. Making a client opens nothing: it connects with its first call, so one made before a
    fork works after it. Threads may share one.

    >>> with Client("memory:") as client:
    ...     client.enqueue("email.send", ["a@example.com"], queue="mail").state
    'available'

    Middleware may be plain or coroutine functions; the latter run on a background event loop::

        @client.enqueue_middleware
        async def add_trace_id(request, next):
            request.meta = request.meta or {}
            request.meta["trace_id"] = generate_trace_id()
            return await next(request)
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        transport: Any = None,
        auth_token: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        connect_timeout: float | None = None,
        max_sends: int | None = None,
        ca_file: str | None = None,
        client_cert: tuple[str, str] | None = None,
    ) -> None:
        options = {"auth_token": auth_token, "headers": headers, "timeout": timeout, "connect_timeout": connect_timeout,
                   "max_sends": max_sends, "client_cert": client_cert}  # fmt: skip
        if ca_file is not None:
            options["ca_file"] = ca_file
        self._transport = SyncTransport(None if transport is not None else native_connection(url, options), transport)
        #: Runs around every enqueue. A decorator, and a :class:`~openjobspec.middleware.Chain` to arrange.
        self.enqueue_middleware = Chain()
        self._composed: Callable[[JobRequest, Callable[[JobRequest], Any]], Any] | None = None

    # --- enqueue ---

    def enqueue(
        self,
        job_type: str,
        args: Any = None,
        *,
        queue: str = "default",
        meta: dict[str, Any] | None = None,
        priority: int = 0,
        timeout_ms: int | None = None,
        delay: float | timedelta | None = None,
        delay_until: When | None = None,
        expires_at: When | None = None,
        retry: RetryPolicy | Mapping[str, Any] | None = None,
        unique: UniquePolicy | Mapping[str, Any] | None = None,
        tags: Sequence[str] | None = None,
        schema: str | None = None,
        visibility_timeout_ms: int | None = None,
        result_ttl: int | None = None,
        total_timeout: Duration | None = None,
        id: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Job:
        """Sends a job and returns it as the server stored it.

        ``args`` is an array; a single value is wrapped in one. ``delay`` is seconds or a timedelta, ``delay_until`` and
        ``expires_at`` are RFC 3339 text, a datetime, or a timedelta from now. See :class:`~openjobspec.JobOptions` for the
        others.

        Raises a subclass of OJSAPIError when the server refuses, OJSConnectionError when it is not reached, and
        NotEnqueuedError when a middleware dropped the job.
        """
        request = JobRequest(
            job_type, args, queue=queue, meta=meta, priority=priority, timeout_ms=timeout_ms, delay=delay,
            delay_until=delay_until, expires_at=expires_at, retry=retry, unique=unique, tags=tags, schema=schema,
            visibility_timeout_ms=visibility_timeout_ms, result_ttl=result_ttl, total_timeout=total_timeout, id=id,
            extra=dict(extra or {}),
        )  # fmt: skip
        return self.enqueue_request(request)

    def enqueue_request(self, request: JobRequest) -> Job:
        """The same for a request made before."""
        job: Job | None = self._through(request, lambda changed: self._run(ops.enqueue(changed)))
        if job is None:
            raise NotEnqueuedError("a middleware dropped the job", code="not_enqueued")
        return job

    def enqueue_batch(self, jobs: Iterable[RequestLike]) -> list[Job]:
        """Sends many jobs in one request: all are stored or none.

        Middleware runs for each; ``next`` returns the job as it will be sent. Dropped jobs are left out.
        """
        kept: list[JobRequest] = []

        def keep(request: JobRequest) -> Job:
            kept.append(request)
            return Job.from_dict(request.to_dict())

        for job in jobs:
            self._through(JobRequest.of(job), keep)
        return self._run(ops.enqueue_batch(kept)) if kept else []

    # --- jobs ---

    def get_job(self, job_id: str) -> Job:
        """The job with this id. Raises JobNotFoundError."""
        return self._run(ops.get_job(job_id))

    def cancel_job(self, job_id: str) -> Job:
        """Cancels the job; raises InvalidStateTransitionError when it is over already."""
        return self._run(ops.cancel_job(job_id))

    def activate_job(self, job_id: str) -> Job:
        """Releases a job that was enqueued with ``extra={"pending": True}``."""
        return self._run(ops.activate_job(job_id))

    # --- workflows ---

    def workflow(self, definition: Workflow | Mapping[str, Any]) -> WorkflowStatus:
        """Starts a workflow made by :func:`~openjobspec.chain`, :func:`~openjobspec.group` or :func:`~openjobspec.batch`."""
        return self._run(ops.workflow(definition))

    def get_workflow(self, workflow_id: str) -> WorkflowStatus:
        """How far the workflow is."""
        return self._run(ops.get_workflow(workflow_id))

    def cancel_workflow(self, workflow_id: str) -> WorkflowStatus:
        """Cancels what has not begun."""
        return self._run(ops.cancel_workflow(workflow_id))

    # --- queues ---

    def list_queues(self) -> list[dict[str, Any]]:
        """All queues with their status."""
        return self._run(ops.list_queues())

    def queue_stats(self, name: str) -> dict[str, Any]:
        """Counts by state."""
        return self._run(ops.queue_stats(name))

    def pause_queue(self, name: str) -> dict[str, Any]:
        """No job is handed out until :meth:`resume_queue`."""
        return self._run(ops.pause_queue(name))

    def resume_queue(self, name: str) -> dict[str, Any]:
        """Hands jobs out again."""
        return self._run(ops.resume_queue(name))

    # --- dead letters ---

    def dead_letters(
        self, queue: str | None = None, *, job_type: str | None = None, limit: int | None = None, offset: int | None = None
    ) -> list[Job]:
        """Jobs that failed for good and were kept, newest first."""
        return self._run(ops.dead_letters(queue, job_type, limit, offset))

    def retry_dead_letter(self, job_id: str) -> Job:
        """Runs it again, from attempt one."""
        return self._run(ops.retry_dead_letter(job_id))

    def discard_dead_letter(self, job_id: str) -> None:
        """Deletes it."""
        return self._run(ops.discard_dead_letter(job_id))

    # --- cron ---

    def list_cron(self) -> list[dict[str, Any]]:
        """All schedules."""
        return self._run(ops.list_cron())

    def register_cron(self, name: str, expression: str, job: RequestLike, *, timezone: str | None = None) -> dict[str, Any]:
        """Enqueues ``job`` whenever ``expression`` matches; replaces a schedule of the same name."""
        return self._run(ops.register_cron(name, expression, JobRequest.of(job), timezone))

    def delete_cron(self, name: str) -> None:
        """Ends a schedule."""
        return self._run(ops.delete_cron(name))

    # --- server ---

    def health(self) -> dict[str, Any]:
        """The server's own account of its health."""
        return self._run(ops.health())

    def manifest(self) -> dict[str, Any]:
        """What the server is and can do."""
        return self._run(ops.manifest())

    # --- life ---

    def close(self) -> None:
        """Releases the connection; an embedded engine is flushed. Later calls raise ClosedError."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # --- inside ---

    @property
    def _connection(self) -> _native.Connection | None:
        return self._transport.connection

    def _run(self, call: ops.Call[T]) -> T:
        return call.read(self._transport.request(call.method, call.path, call.body))

    def _through(self, request: JobRequest, send: Callable[[JobRequest], Any]) -> Any:
        if self._composed is None:
            self._composed = _compose(self.enqueue_middleware.freeze())
        return self._composed(request, send)


def _compose(layers: list[Callable[..., Any]]) -> Callable[[JobRequest, Callable[[JobRequest], Any]], Any]:
    """One function out of all layers. Coroutine layers run on the portal's loop, what is inside them in a thread."""

    def run(request: JobRequest, send: Callable[[JobRequest], Any]) -> Any:
        inner = send
        for layer in reversed(layers):
            inner = _layer(layer, inner)
        return inner(request)

    return run


def _layer(layer: Callable[..., Any], inner: Callable[[JobRequest], Any]) -> Callable[[JobRequest], Any]:
    if not is_async(layer):
        return lambda request: layer(request, Once(inner))

    async def next_(request: JobRequest) -> Any:
        return await _threads().run(inner, request)

    return lambda request: _portal.portal().run(layer(request, Once(next_)))


_pool: Threads | None = None


def _threads() -> Threads:
    # Used on the portal's loop only, hence without a lock; a forked child has a new portal, but no threads.
    global _pool
    if _pool is None or not _pool.is_own:
        _pool = Threads(64, "openjobspec-middleware")
    return _pool
