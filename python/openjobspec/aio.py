# Made from xtask/templates/python/client.py.j2 by make gen; do not edit.
"""The producer's side for asyncio: the same as :class:`openjobspec.Client`, as coroutines."""

from __future__ import annotations

import asyncio
import copy
import inspect
import time
from types import TracebackType
from typing import Any, AsyncIterator, Awaitable, Callable, Iterable, Literal, Mapping, NoReturn, Sequence, TypeVar

from . import _native, _override
from . import _operations as ops
from ._json import dumps, loads
from ._reactor import Reactor
from ._secrets import redacted
from .errors import NotEnqueuedError, OJSError, OJSTimeoutError
from .events import Reader
from .job import UNSAID_PRIORITY, UNSAID_QUEUE, JobRequest, RequestLike, completed
from .middleware import ENQUEUE_ORDER, Chain, through_asyncio
from .operations import AsyncOperations
from .options import RetryPolicy, Train, UniquePolicy
from .policies import Duration, When
from .records import BulkItem, Event, Job, JobResult, WorkflowStatus
from .transport import CONNECTION_OPTIONS, Answer, default_url, native_connection, send, unknown_option
from .workflow import Workflow

T = TypeVar("T")


class AsyncTransport:
    """Requests over the core, or over an object of the program's own, for coroutines."""

    def __init__(self, connection: _native.Connection | None, custom: Any = None, url: str | None = None) -> None:
        self.connection = connection
        self.custom = custom
        #: Where it leads, fit to be shown.
        self.place = type(custom).__name__ if connection is None else redacted(url or default_url())

    async def request(self, method: str, path: str, body: Any = None, wait: float | None = None) -> Any:
        """One request; raises the error of an answer that is not 2xx. ``wait``: so many seconds the server may hold it back."""
        if _override.sinks:
            return _override.sinks[-1](method, path, body)
        connection = self.connection
        if connection is not None:
            data = None if body is None else dumps(body)
            raw = await Reactor.of_running_loop().call(
                lambda replies, ticket: connection.submit(replies, ticket, method, path, data, wait)
            )
            return loads(raw) if raw else None
        answer = send(self.custom, method, path, completed(body))
        if inspect.isawaitable(answer):
            answer = await answer
        return Answer.of(answer).decoded()

    async def get(self, path: str) -> Any:
        """GET."""
        return await self.request("GET", path)

    async def post(self, path: str, body: Any = None) -> Any:
        """POST."""
        return await self.request("POST", path, body)

    async def delete(self, path: str) -> Any:
        """DELETE."""
        return await self.request("DELETE", path)

    def of_tenant(self, tenant: str) -> AsyncTransport:
        """The same with requests of one tenant."""
        connection = None if self.connection is None else self.connection.of_tenant(tenant)
        return AsyncTransport(connection, self.custom, self.place)

    async def close(self) -> None:
        """Releases the connection."""
        connection = self.connection
        if connection is not None:
            await Reactor.of_running_loop().call(lambda replies, ticket: connection.submit_close(replies, ticket))


class AsyncClient(AsyncOperations):
    """Talks to an OJS server, or to an engine in this process, without blocking the event loop.

    ``url`` and settings are those of :class:`openjobspec.Client`. One client may be used from several event loops.

    Example::

        async with ojs.AsyncClient("sqlite:jobs.db") as client:
            job = await client.enqueue("email.send", ["a@example.com"], queue="mail")

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
        tenant: str | None = None,
        timeout: Duration | None = None,
        connect_timeout: Duration | None = None,
        max_sends: int | None = None,
        ca_file: str | None = None,
        client_cert: tuple[str, str] | None = None,
        encryption_keys: str | Mapping[str, bytes] | None = None,
        max_response_bytes: int | None = None,
        proxy: Literal["environment", "none"] | None = None,
        **unknown: NoReturn,
    ) -> None:
        for name in unknown:
            raise unknown_option(name, ("transport", *CONNECTION_OPTIONS))
        options = {
            "auth_token": auth_token,
            "headers": headers,
            "tenant": tenant,
            "timeout": timeout,
            "connect_timeout": connect_timeout,
            "max_sends": max_sends,
            "ca_file": ca_file,
            "client_cert": client_cert,
            "encryption_keys": encryption_keys,
            "max_response_bytes": max_response_bytes,
            "proxy": proxy,
        }
        self._transport = AsyncTransport(None if transport is not None else native_connection(url, options), transport, url)
        #: Runs around every enqueue. A decorator, and a :class:`~openjobspec.middleware.Chain` to arrange.
        self.enqueue_middleware = Chain(ENQUEUE_ORDER)
        self._frozen: list[Callable[..., Any]] | None = None
        self._tenant = tenant

    # --- enqueue ---

    async def enqueue(
        self,
        job_type: str,
        args: Any = None,
        *,
        queue: str = UNSAID_QUEUE,
        priority: int = UNSAID_PRIORITY,
        timeout_ms: int | None = None,
        visibility_timeout_ms: int | None = None,
        result_ttl: int | None = None,
        delay: Duration | None = None,
        delay_until: When | None = None,
        expires_at: When | None = None,
        total_timeout: Duration | None = None,
        retry: RetryPolicy | Mapping[str, Any] | int | None = None,
        unique: UniquePolicy | Mapping[str, Any] | bool | None = None,
        rate_limit: dict[str, Any] | None = None,
        train: Train | Mapping[str, Any] | str | bool | None = None,
        tags: Sequence[str] | None = None,
        version: str | None = None,
        tenant: str | None = None,
        fairness_key: str | None = None,
        id: str | None = None,
        meta: dict[str, Any] | None = None,
        schema: str | None = None,
        timeout: Duration | None = None,
        visibility_timeout: Duration | None = None,
        extra: Mapping[str, Any] | None = None,
        **unknown: NoReturn,
    ) -> Job:
        """Sends a job and returns it as the server stored it.

        ``args`` is an array; a single value is wrapped in one. ``delay`` and ``timeout`` are seconds, a timedelta, or text such as ``5m``;
        ``delay_until`` and ``expires_at`` are RFC 3339 text, a datetime, or a timedelta from now. ``retry=5`` is five runs in all,
        ``unique=True`` is: not beside a job of the same type and arguments. See :class:`~openjobspec.JobOptions` for the others.

        Raises OJSValidationError for options and values that cannot be sent, a subclass of OJSAPIError when the server refuses,
        OJSConnectionError when it is not reached, and NotEnqueuedError when a middleware dropped the job.
        """
        request = JobRequest(
            job_type, args,
            queue=queue, priority=priority, timeout_ms=timeout_ms, visibility_timeout_ms=visibility_timeout_ms,
            result_ttl=result_ttl, delay=delay, delay_until=delay_until, expires_at=expires_at, total_timeout=total_timeout,
            retry=retry, unique=unique, rate_limit=rate_limit, train=train, tags=tags, version=version, tenant=tenant,
            fairness_key=fairness_key, id=id, meta=meta, schema=schema,
            timeout=timeout, visibility_timeout=visibility_timeout, extra=dict(extra or {}), **unknown,
        )  # fmt: skip
        return await self.enqueue_request(request)

    async def enqueue_request(self, request: JobRequest) -> Job:
        """The same for a request made before."""
        job: Job | None = await self._through(request, lambda changed: self._run(ops.enqueue(changed)))
        if job is None:
            raise NotEnqueuedError("a middleware dropped the job", code="not_enqueued")
        return job

    async def enqueue_batch(self, jobs: Iterable[RequestLike]) -> list[Job]:
        """Sends many jobs in one request: all are stored or none.

        Middleware runs for each; ``next`` returns the job as it will be sent. Dropped jobs are left out.
        """
        kept = await self._kept(jobs)
        return await self._run(ops.enqueue_batch(kept)) if kept else []

    # --- many jobs ---

    async def bulk_enqueue(
        self, jobs: Iterable[RequestLike], *, atomic: bool = False, idempotency_key: str | None = None
    ) -> list[BulkItem]:
        """Sends many jobs in one request, each on its own: one that is refused leaves the others alone.

        Up to 10,000 at a time; one item per job, in order. With ``atomic`` all are stored or none. The server answers the same
        request with the same ``idempotency_key`` the same way for a day; without one, a key is made for the call. Middleware runs for
        each, and dropped jobs are left out.
        """
        kept = await self._kept(jobs)
        return await self._run(ops.bulk_enqueue(kept, atomic, idempotency_key)) if kept else []

    # --- results ---

    async def wait_for_result(self, job_id: str, timeout: float | None = None) -> JobResult:
        """Waits for the end of the job: at most ``timeout`` seconds, for ever without one. Raises OJSTimeoutError when they are over.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = ops.LONGEST_WAIT if until is None else max(0.0, until - time.monotonic())
            try:
                return await self._run(ops.wait_for_result(job_id, min(left, ops.LONGEST_WAIT)))
            except OJSError as error:
                if error.status != 408:
                    raise
                if until is not None and time.monotonic() >= until:
                    raise OJSTimeoutError(f"job {job_id} has not ended within {timeout} s", code="timeout", retryable=True) from error

    # --- events ---

    async def events(
        self,
        *,
        types: Sequence[str] = (),
        queues: Sequence[str] = (),
        job_types: Sequence[str] = (),
        after: str | None = None,
    ) -> AsyncIterator[Event]:
        """What happens, as it happens: an asynchronous iterator without end.

        It begins where the log ends when it is first asked; ``after`` is the id of the last event that was dealt with, and ``""`` the
        oldest that is kept. When the connection is lost it asks again from there, so none is missed and none comes twice. ``types``
        may end in ``*``. A refusal, and a fault of the first request, is raised.
        """
        reader = Reader(after, {"types": types, "queues": queues, "job_types": job_types})
        while True:
            await asyncio.sleep(reader.pause)
            try:
                events, cursor = await self._run(reader.call())
            except OJSError as error:
                reader.failed(error)
            else:
                for event in events:
                    yield event
                reader.answered(events, cursor)

    # --- tenants ---

    def of_tenant(self, tenant: str) -> AsyncClient:
        """The same client with the requests of one tenant: they see and change what belongs to it, and the jobs are the
        tenant's.

        It shares connection and middleware; closing it leaves them open. Raises OJSValidationError when the text is not
        the id of a tenant.
        """
        view = copy.copy(self)
        view._transport = self._transport.of_tenant(tenant)
        view._tenant = tenant
        return view

    # --- any other operation ---

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Any request of the protocol, for operations that have no method; returns the decoded body of a 2xx answer.

        ``path`` is relative to ``/ojs/v1``. Raises a subclass of OJSAPIError when the server refuses.
        """
        return await self._transport.request(method, path, body)

    # --- workflows ---

    async def workflow(self, definition: Workflow | Mapping[str, Any]) -> WorkflowStatus:
        """Starts a workflow made by :func:`~openjobspec.chain`, :func:`~openjobspec.group` or :func:`~openjobspec.batch`."""
        return await self._run(ops.start_workflow(definition))

    # --- cron ---

    async def register_cron(
        self,
        name: str,
        expression: str,
        job: RequestLike,
        *,
        timezone: str | None = None,
        overlap_policy: Literal["skip", "allow", "cancel_previous", "enqueue"] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        """Enqueues ``job`` whenever ``expression`` matches; replaces a schedule of the same name.

        ``overlap_policy`` says what happens while the previous job is not finished (``skip`` by default). Further
        settings are ``enabled`` and ``description``; others are refused, unless their name begins with ``x_``.
        """
        return await self._run(ops.register_cron(name, expression, JobRequest.of(job), timezone, overlap_policy, settings))

    # --- life ---

    async def close(self) -> None:
        """Releases the connection; an embedded engine is flushed. Later calls raise ClosedError."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self._transport.place!r})"

    # --- inside ---

    @classmethod
    def _over(cls, transport: AsyncTransport) -> AsyncClient:
        """A client on a connection that is there already."""
        client = cls.__new__(cls)
        client._transport = transport
        client.enqueue_middleware = Chain(ENQUEUE_ORDER)
        client._frozen = None
        client._tenant = None
        return client

    @property
    def _connection(self) -> _native.Connection | None:
        return self._transport.connection

    async def _run(self, call: ops.Call[T]) -> T:
        return call.result(await self._transport.request(call.method, call.path, call.body, call.wait))

    async def _kept(self, jobs: Iterable[RequestLike]) -> list[JobRequest]:
        """The jobs that middleware lets through."""
        kept: list[JobRequest] = []

        async def keep(request: JobRequest) -> Job:
            kept.append(request)
            return Job.from_dict(request.to_dict())

        for job in jobs:
            await self._through(JobRequest.of(job), keep)
        return kept

    async def _through(self, request: JobRequest, send: Callable[[JobRequest], Awaitable[Any]]) -> Any:
        if self._frozen is None:
            self._frozen = self.enqueue_middleware.freeze()
        if self._tenant is not None and request.tenant is None and "tenant_id" not in (request.meta or {}):
            request.tenant = self._tenant
        return await through_asyncio(self._frozen, request, send)
