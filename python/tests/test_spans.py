"""Spans, with OpenTelemetry's own SDK and an exporter in memory. What they are: tests/vectors/spans.json."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
from opentelemetry import baggage, trace
from opentelemetry.context import attach, detach
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

import openjobspec as ojs
from openjobspec.spans import Spans

CASES = json.loads((Path(__file__).parents[2] / "tests/vectors/spans.json").read_text())["spans"]
#: What differs from run to run.
PLACEHOLDERS = {
    "ojs.job.id": "@id", "messaging.message.id": "@id", "ojs.job.scheduled_at": "@time", "error.message": "@text",
}  # fmt: skip


class NotYet(Exception):
    """A failure of a handler."""


class Program:
    """A program with telemetry: a client, and a worker for the queues of the vectors."""

    def __init__(self, client: ojs.Client) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = self.provider.get_tracer("program")
        self.spans = Spans(self.provider)
        self.client = client
        client.enqueue_middleware.prepend("trace_inject", self.spans.enqueue)
        self.worker = ojs.Worker(client, queues=["mail", "default"], worker_id="w", concurrency=2)
        self.worker.middleware.prepend("trace_extract", self.spans.process)

    def finished(self, name: str | None = None) -> list[ReadableSpan]:
        return [span for span in self.exporter.get_finished_spans() if name in (None, span.name)]


@pytest.fixture
def program(client: ojs.Client) -> Iterator[Program]:
    program = Program(client)
    yield program
    if program.worker.state != "new":
        program.worker.stop(grace=0)


def handlers(coroutines: bool) -> Callable[[ojs.JobContext], Any]:
    snoozed = []

    def run(ctx: ojs.JobContext) -> None:
        if ctx.type == "t.fail":
            raise NotYet("not yet")
        if ctx.type == "t.snooze" and not snoozed:
            snoozed.append(ctx)
            raise ojs.Snooze(0)

    async def run_async(ctx: ojs.JobContext) -> None:
        await asyncio.sleep(0)
        run(ctx)

    return run_async if coroutines else run


def described(span: ReadableSpan, spans: list[ReadableSpan]) -> dict[str, Any]:
    """A span in the words of the vectors."""
    names = {other.context.span_id: other.name for other in spans}

    def place(id: int) -> str:
        return names.get(id, trace.format_span_id(id))

    return {
        "name": span.name,
        "kind": span.kind.name.lower(),
        "status": span.status.status_code.name.lower(),
        "parent": None if span.parent is None else place(span.parent.span_id),
        "links": [place(link.context.span_id) for link in span.links],
        "attributes": {name: PLACEHOLDERS.get(name, value) for name, value in (span.attributes or {}).items()},
        "events": [event.name for event in span.events],
    }


def place(span: ReadableSpan) -> str:
    """The span's traceparent without the flags."""
    return f"00-{trace.format_trace_id(span.context.trace_id)}-{trace.format_span_id(span.context.span_id)}-"


@pytest.mark.parametrize("coroutines", [False, True], ids=["plain", "coroutines"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_spans_are_those_of_the_core(case: dict[str, Any], coroutines: bool) -> None:
    with ojs.Client("memory:") as client:
        program = Program(client)
        handler = handlers(coroutines)
        for kind in ("t.ok", "t.fail", "t.snooze"):
            program.worker.register(kind, handler)
        program.worker.register("t.mail", handler, queue="mail")
        options = dict(case["job"])
        times, attempts = options.pop("times", 1), options.pop("max_attempts", None)
        job_type, args = options.pop("type"), options.pop("args")
        program.worker.start()
        for _ in range(times):
            try:
                made = client.enqueue(job_type, args, retry=attempts, **options)
            except ojs.DuplicateJobError:  # the second of two
                assert times == 2
            else:
                if case["runs"]:
                    client.wait_for_result(made.id, timeout=60)
        program.worker.stop()
        # A job may be over before the answer to its enqueue is read.
        finished = sorted(program.finished(), key=lambda span: span.start_time)
    assert [described(span, finished) for span in finished] == case["spans"]


@pytest.mark.parametrize("coroutines", [False, True], ids=["plain", "coroutines"])
def test_what_a_handler_does_is_inside_of_its_span(program: Program, coroutines: bool) -> None:
    seen: list[Any] = []

    def work(ctx: ojs.JobContext) -> None:
        seen.append(baggage.get_baggage("tenant"))
        with program.tracer.start_as_current_span("work"):
            pass

    async def work_async(ctx: ojs.JobContext) -> None:
        await asyncio.sleep(0)
        work(ctx)
        await ctx.async_client.enqueue("t.inner")

    def work_plain(ctx: ojs.JobContext) -> None:
        work(ctx)
        ctx.client.enqueue("t.inner")

    program.worker.register("t.outer", work_async if coroutines else work_plain)
    program.worker.register("t.inner", lambda ctx: None)
    program.worker.start()
    token = attach(baggage.set_baggage("tenant", "acme"))
    try:
        with program.tracer.start_as_current_span("request") as request:
            job = program.client.enqueue("t.outer")
    finally:
        detach(token)
    program.client.wait_for_result(job.id, timeout=60)
    program.worker.stop()
    made = program.finished("default enqueue")[0]
    run = next(span for span in program.finished("default process") if span.attributes["ojs.job.type"] == "t.outer")
    assert made.parent.span_id == request.get_span_context().span_id
    assert program.finished("work")[0].parent.span_id == run.context.span_id
    # A link and no child: the job may run long after the request, and more than once.
    assert run.parent is None and [link.context.span_id for link in run.links] == [made.context.span_id]
    assert seen == ["acme"]
    if not coroutines:  # the worker's client for coroutines is another object, without this layer
        inner = next(span for span in program.finished("default enqueue") if span is not made)
        assert inner.parent.span_id == run.context.span_id


def test_an_asyncio_client_has_the_same_span(program: Program, url: str) -> None:
    async def run() -> ojs.Job:
        async with ojs.AsyncClient(url) as client:
            client.enqueue_middleware.prepend("trace_inject", program.spans.enqueue)
            with program.tracer.start_as_current_span("request"):
                return await client.enqueue("t.ok", ["a"])

    job = asyncio.run(run())
    request, made = program.finished("request")[0], program.finished("default enqueue")[0]
    assert made.parent.span_id == request.context.span_id and made.status.status_code is StatusCode.OK
    assert job.meta["traceparent"].startswith(place(made))


def test_each_job_of_a_batch_has_a_span(program: Program) -> None:
    jobs = program.client.enqueue_batch([("t.ok", ["a"]), ("t.ok", ["b"])])
    made = program.finished("default enqueue")
    assert len(made) == 2
    assert all(job.meta["traceparent"].startswith(place(span)) for job, span in zip(jobs, made))


def test_a_cancelled_job_has_not_failed(program: Program) -> None:
    begun = threading.Event()

    @program.worker.register("t.long")
    def long(ctx: ojs.JobContext) -> None:
        begun.set()
        while not ctx.cancelled:
            ctx.heartbeat()
        raise RuntimeError("it was stopped")

    program.worker.start()
    job = program.client.enqueue("t.long")
    assert begun.wait(60)
    program.client.cancel_job(job.id)
    program.worker.stop()
    [run] = program.finished("default process")
    assert run.status.status_code is StatusCode.OK and not run.events


def test_ei_002_neither_plaintext_nor_ciphertext_is_on_a_span() -> None:
    with ojs.Client("memory:", encryption_keys={"k-1": bytes(range(32))}) as client:
        program = Program(client)
        program.worker.register("t.ok", handlers(False))
        program.worker.register("t.fail", handlers(False))
        program.worker.start()
        stored = []
        for kind in ("t.ok", "t.fail"):
            job = client.enqueue(kind, ["4111 1111"], retry=1)
            stored.append(json.dumps(client.get_job(job.id).args))
            client.wait_for_result(job.id, timeout=60)
        program.worker.stop()
        text = " ".join(span.to_json() for span in program.finished())
    assert len(program.finished("default process")) == 2 and "4111 1111" not in text and '"args"' not in text
    assert all("4111 1111" not in args for args in stored)
    ciphertexts = [word for args in stored for word in args.split('"') if len(word) > 20]
    assert ciphertexts and not any(word in text for word in ciphertexts)


def test_without_a_provider_the_trace_of_a_request_goes_on() -> None:
    """In a process of its own: the global provider of this one may be set."""
    program = """
import openjobspec as ojs
from openjobspec.spans import Spans
spans, parent = Spans(), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
with ojs.Client("memory:") as client:
    client.enqueue_middleware.prepend("trace_inject", spans.enqueue)
    assert client.enqueue("t.ok").meta.get("traceparent") is None
    assert client.enqueue("t.ok", meta={"traceparent": parent}).meta["traceparent"] == parent
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_importing_the_package_imports_no_telemetry() -> None:
    program = "import sys, openjobspec; assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
