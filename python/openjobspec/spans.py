"""OpenTelemetry spans around jobs ("OJS Distributed Tracing"; extensions section 12).

Wanted: the package ``opentelemetry-api`` (``pip install 'openjobspec[opentelemetry]'``). Exporter, sampler and resource
are the program's own. Without a provider spans cost next to nothing; a program that does not import this module pays
nothing.

>>> import openjobspec as ojs
>>> from openjobspec.spans import Spans
>>> spans = Spans()  # of the provider that the program has set
>>> client, worker = ojs.Client("memory:spans"), ojs.Worker("memory:spans")
>>> client.enqueue_middleware.prepend("trace_inject", spans.enqueue)
>>> worker.middleware.prepend("trace_extract", spans.process)

=====================  ========  ==========================================================================
span                   kind
=====================  ========  ==========================================================================
``{queue} enqueue``    producer  one per job, in batches and outboxes too; a child of the current span
``{queue} process``    consumer  one per attempt, linked to the enqueue span, parent of what the handler does
=====================  ========  ==========================================================================

The trace travels in the job's metadata: ``traceparent``, ``tracestate``, ``baggage`` (W3C). Arguments and results are
on no span, encrypted or not.
"""

from __future__ import annotations

import inspect
from typing import Any, Awaitable, Callable, Mapping

try:
    from opentelemetry import context as contexts
    from opentelemetry import trace
    from opentelemetry.baggage.propagation import W3CBaggagePropagator
    from opentelemetry.context import Context
    from opentelemetry.trace import Link, Span, SpanContext, SpanKind, Status, StatusCode, TracerProvider
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ModuleNotFoundError as missing:  # pragma: no cover
    raise ModuleNotFoundError(
        "openjobspec.spans needs the package opentelemetry-api: pip install 'openjobspec[opentelemetry]'",
        name=missing.name,
    ) from missing

from . import _native
from ._json import dumps
from .context import CancelReason, JobContext
from .errors import JobCancelledError, OJSError, Snooze
from .job import JobRequest
from .middleware import Both
from .records import Job

__all__ = ["Spans"]

_TRACE = TraceContextTextMapPropagator()
_BAGGAGE = W3CBaggagePropagator()
_FIELDS = ("traceparent", "tracestate", "baggage")
#: Before the names that an older document gave them; read, never written.
_OLD = "ojs.otel."


class Spans:
    """Makes the spans: :attr:`enqueue` is a layer of clients, :attr:`process` one of workers. One object serves many.

    ``tracer_provider`` is the program's; without it the global one, which may be set later.
    """

    def __init__(self, tracer_provider: TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer("ojs", _native.__version__, tracer_provider)
        #: The layer ``trace_inject`` of :attr:`openjobspec.Client.enqueue_middleware`, plain and asyncio.
        self.enqueue: Callable[..., Any] = Both(self._enqueue, self._enqueue_async)
        #: The layer ``trace_extract`` of :attr:`openjobspec.Worker.middleware`, for plain handlers and coroutines.
        self.process: Callable[..., Any] = Both(self._process, self._process_async)

    def _enqueue(self, request: JobRequest, next: Callable[[JobRequest], Any]) -> Any:
        return self._producer(request).around(lambda: next(request))

    async def _enqueue_async(self, request: JobRequest, next: Callable[[JobRequest], Awaitable[Any]]) -> Any:
        return await self._producer(request).around_async(lambda: next(request))

    def _process(self, ctx: JobContext, next: Callable[[], Any]) -> Any:
        return self._consumer(ctx).around(next)

    async def _process_async(self, ctx: JobContext, next: Callable[[], Awaitable[Any]]) -> Any:
        return await self._consumer(ctx).around_async(next)

    def _producer(self, request: JobRequest) -> _Enqueue:
        parent = _parent(request.meta or {})
        queue = str(request.queue)
        attributes = _messaging("publish", queue)
        attributes |= {"ojs.job.type": request.type, "ojs.job.priority": int(request.priority)}
        span = self._tracer.start_span(f"{queue} enqueue", parent, SpanKind.PRODUCER, attributes)
        live = _Enqueue(span, parent, queue)
        carrier: dict[str, str] = {}
        _TRACE.inject(carrier, live.context)
        _BAGGAGE.inject(carrier, live.context)
        if carrier:
            request.meta = {**(request.meta or {}), **carrier}
        live.size(request.args)
        return live

    def _consumer(self, ctx: JobContext) -> _Process:
        meta = _carried(ctx.meta)
        context = _BAGGAGE.extract(meta, contexts.get_current())
        named = _named(meta)
        # A link, no parent: the job may run long after its producer's trace is over, and more than once.
        links = [] if named is None else [Link(named)]
        attributes = _messaging("process", ctx.queue) | _about(ctx)
        span = self._tracer.start_span(f"{ctx.queue} process", context, SpanKind.CONSUMER, attributes, links)
        live = _Process(span, context, ctx)
        live.size(ctx.args)
        return live


class _Live:
    """A span under way, and the context in which what is inside it runs."""

    def __init__(self, span: Span, parent: Context) -> None:
        self.span = span
        self.context = trace.set_span_in_context(span, parent)

    def size(self, args: Any) -> None:
        """How many bytes the arguments are as JSON."""
        if not self.span.is_recording():
            return
        try:
            self.span.set_attribute("messaging.message.body.size", len(dumps(args)))
        except Exception:
            pass  # What cannot be sent is refused where it is sent.

    def around(self, inner: Callable[[], Any]) -> Any:
        token = contexts.attach(self.context)
        try:
            result = inner()
        except BaseException as error:
            self._ended(error)
            raise
        finally:
            contexts.detach(token)
        if inspect.isawaitable(result):
            # A plain function that hands a coroutine on.
            return self.around_async(lambda: result)
        self._ended(None, result)
        return result

    async def around_async(self, inner: Callable[[], Awaitable[Any]]) -> Any:
        token = contexts.attach(self.context)
        try:
            result = await inner()
        except BaseException as error:
            self._ended(error)
            raise
        finally:
            contexts.detach(token)
        self._ended(None, result)
        return result

    def _ended(self, error: BaseException | None, result: Any = None) -> None:
        if error is None:
            self.succeeded(result)
        else:
            self.raised(error)
        self.span.end()

    def succeeded(self, result: Any) -> None:
        self.span.set_status(Status(StatusCode.OK))

    def raised(self, error: BaseException) -> None:
        raise NotImplementedError

    def failed(self, kind: str, error: BaseException) -> None:
        """``kind``: a code or the name of a type, never a text of many values."""
        message = _text(error)
        self.span.record_exception(error)
        self.span.set_attributes({"error.type": kind, "error.message": message})
        self.span.set_status(Status(StatusCode.ERROR, message))


class _Enqueue(_Live):
    def __init__(self, span: Span, parent: Context, queue: str) -> None:
        super().__init__(span, parent)
        self._queue = queue

    def succeeded(self, result: Any) -> None:
        if isinstance(result, Job) and result.state and result.queue != self._queue:
            # The request names none, and the core has filled in the queue of its type.
            self.span.update_name(f"{result.queue} enqueue")
            self.span.set_attributes(_messaging("publish", result.queue))
        if isinstance(result, Job) and result.get("id"):
            self.span.set_attributes({"ojs.job.id": result.id, "messaging.message.id": result.id})
            if result.state:
                self.span.set_attribute("ojs.job.state", result.state)
            if result.scheduled_at:
                self.span.set_attribute("ojs.job.scheduled_at", result.scheduled_at)
        super().succeeded(result)

    def raised(self, error: BaseException) -> None:
        self.failed(str(error.code) if isinstance(error, OJSError) else type(error).__name__, error)


class _Process(_Live):
    def __init__(self, span: Span, parent: Context, ctx: JobContext) -> None:
        super().__init__(span, parent)
        self._ctx = ctx

    def raised(self, error: BaseException) -> None:
        reason = self._ctx.cancel_reason
        stopped = reason is not None and (isinstance(error, JobCancelledError) or not isinstance(error, Exception))
        # Snoozed, given back, or cancelled: the attempt has not failed. One whose time is up has.
        given_back = isinstance(error, Snooze) or (stopped and reason is not CancelReason.TIMED_OUT)
        if given_back or reason is CancelReason.CANCELLED:
            return self.succeeded(None)
        self.span.set_attribute("ojs.job.error.attempt", self._ctx.attempt)
        self.failed(type(error).__name__, error)


def _text(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__


def _messaging(operation: str, queue: str) -> dict[str, Any]:
    """What spans of every kind have: the operation's place in OpenTelemetry's conventions for messaging."""
    return {
        "messaging.system": "ojs",
        "messaging.operation.type": operation,
        "messaging.destination.name": queue,
        "ojs.job.queue": queue,
    }


def _about(ctx: JobContext) -> dict[str, Any]:
    job = ctx.job
    found: dict[str, Any] = {
        "ojs.job.id": ctx.id,
        "messaging.message.id": ctx.id,
        "ojs.job.type": ctx.type,
        "ojs.job.attempt": ctx.attempt,
        "ojs.job.priority": job.priority,
        "ojs.job.state": "active",
        "ojs.worker.id": ctx.worker_id,
        "ojs.workflow.id": ctx.workflow_id,
    }
    if ctx.workflow_id is not None:
        step = job.get("workflow_step")
        found["ojs.workflow.type"] = job.get("workflow_type")
        found["ojs.workflow.step"] = None if step is None else str(step)
    return {name: value for name, value in found.items() if value is not None}


def _carried(meta: Mapping[str, Any]) -> dict[str, str]:
    """The trace in metadata: W3C's names, the older ones, else ``trace_id`` with ``span_id``."""

    def text(name: str) -> str | None:
        value = meta.get(name, meta.get(_OLD + name))
        return value if isinstance(value, str) else None

    found = {name: value for name in _FIELDS if (value := text(name))}
    trace_id, span_id = text("trace_id"), text("span_id")
    if "traceparent" not in found and trace_id and span_id:
        # Whether it was sampled is not known then; 01 leaves it to the sampler.
        found["traceparent"] = f"00-{trace_id}-{span_id}-01"
    return found


def _named(carrier: Mapping[str, str]) -> SpanContext | None:
    """The span that the metadata names."""
    found = trace.get_current_span(_TRACE.extract(carrier, Context())).get_span_context()
    return found if found.is_valid else None


def _parent(meta: Mapping[str, Any]) -> Context:
    """The current span; where there is none, or the job names another trace, what the job names."""
    current = contexts.get_current()
    here = trace.get_current_span(current).get_span_context()
    named = _named(_carried(meta))
    if named is None or (here.is_valid and named.trace_id == here.trace_id):
        return current
    return trace.set_span_in_context(trace.NonRecordingSpan(named), current)
