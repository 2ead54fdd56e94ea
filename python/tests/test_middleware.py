"""Both chains: order, arrangement, mixtures of plain and coroutine layers."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, Callable

import pytest
from support import Recorder, in_state

import openjobspec as ojs


def layer(name: str, order: list[str], coroutine: bool) -> Callable[..., Any]:
    async def around(subject: Any, next: Callable[..., Any]) -> Any:
        order.append(f"{name}-before")
        result = await (next(subject) if isinstance(subject, ojs.JobRequest) else next())
        order.append(f"{name}-after")
        return result

    def around_plain(subject: Any, next: Callable[..., Any]) -> Any:
        order.append(f"{name}-before")
        result = next(subject) if isinstance(subject, ojs.JobRequest) else next()
        order.append(f"{name}-after")
        return result

    return around if coroutine else around_plain


def test_arranging() -> None:
    chain = ojs.Chain()

    def nothing(subject: Any, next: Callable[..., Any]) -> Any:
        return next()

    chain.add("b", nothing)
    chain.prepend("a", nothing)
    chain.insert_after("b", "d", nothing)
    chain.insert_before("d", "c", nothing)
    assert chain.names() == ["a", "b", "c", "d"]
    chain.remove("b")
    assert chain.names() == ["a", "c", "d"]
    assert "c" in chain and len(chain) == 3
    chain(nothing)
    chain(nothing)
    chain("named")(nothing)
    assert chain.names()[3:] == ["nothing", "nothing-2", "named"]
    for wrong in (lambda: chain.add("a", nothing), lambda: chain.remove("z"), lambda: chain.insert_before("z", "y", nothing)):
        with pytest.raises(ojs.MiddlewareError):
            wrong()
    chain.freeze()
    with pytest.raises(ojs.MiddlewareError, match="before the first job"):
        chain.add("late", nothing)


@pytest.mark.parametrize("colours", list(itertools.product([False, True], repeat=4)), ids=str)
def test_worker_layers_in_every_mixture(colours: tuple[bool, ...]) -> None:
    order: list[str] = []
    with ojs.Client("memory:") as client:
        worker = ojs.Worker(client)
        for name, coroutine in zip(("first", "second", "third"), colours):
            worker.middleware.add(name, layer(name, order, coroutine))

        async def handle_async(ctx: ojs.JobContext) -> str:
            await asyncio.sleep(0)
            order.append("handler")
            return "result"

        def handle(ctx: ojs.JobContext) -> str:
            order.append("handler")
            return "result"

        worker.register("a", handle_async if colours[3] else handle)
        job = client.enqueue("a")
        with worker:
            assert in_state(client, job.id, "completed").result == "result"
    names = ["first", "second", "third"]
    assert order == [f"{n}-before" for n in names] + ["handler"] + [f"{n}-after" for n in reversed(names)]


@pytest.mark.parametrize("colours", list(itertools.product([False, True], repeat=3)), ids=str)
def test_enqueue_layers_in_every_mixture(recorder: Recorder, colours: tuple[bool, ...]) -> None:
    order: list[str] = []
    client = ojs.Client(transport=recorder)
    for name, coroutine in zip(("first", "second", "third"), colours):
        client.enqueue_middleware.add(name, layer(name, order, coroutine))
    assert client.enqueue("a").id == "test-id"
    names = ["first", "second", "third"]
    assert order == [f"{n}-before" for n in names] + [f"{n}-after" for n in reversed(names)]


def test_enqueue_middleware_changes_and_drops() -> None:
    with ojs.Client("memory:") as client:

        @client.enqueue_middleware
        async def stamp(request: ojs.JobRequest, next: Any) -> Any:
            request.meta = request.meta or {}
            request.meta["trace_id"] = "t"
            return await next(request)

        @client.enqueue_middleware
        def drop(request: ojs.JobRequest, next: Any) -> Any:
            return None if request.type == "unwanted" else next(request)

        assert client.enqueue("a").meta == {"trace_id": "t"}
        with pytest.raises(ojs.NotEnqueuedError):
            client.enqueue("unwanted")
        batch = client.enqueue_batch(["a", "unwanted", "b"])
        assert [(job.type, job.meta) for job in batch] == [("a", {"trace_id": "t"}), ("b", {"trace_id": "t"})]


def test_async_client_takes_plain_layers(recorder: Recorder) -> None:
    client = ojs.AsyncClient(transport=recorder)

    @client.enqueue_middleware
    def stamp(request: ojs.JobRequest, next: Any) -> Any:
        request.meta = {"trace_id": "t"}
        return next(request)

    asyncio.run(client.enqueue("a"))
    assert recorder.body["meta"] == {"trace_id": "t"}


def test_next_works_once(recorder: Recorder) -> None:
    client = ojs.Client(transport=recorder)

    @client.enqueue_middleware
    def twice(request: ojs.JobRequest, next: Any) -> Any:
        next(request)
        return next(request)

    with pytest.raises(ojs.MiddlewareError, match="twice"):
        client.enqueue("a")
    assert len(recorder.requests) == 1


def test_worker_middleware_answers_for_the_handler() -> None:
    with ojs.Client("memory:") as client:
        worker = ojs.Worker(client)

        @worker.middleware
        def guard(ctx: ojs.JobContext, next: Any) -> Any:
            if ctx.type == "skipped":
                return "from the middleware"
            next()  # the result is not returned, and not lost

        @worker.register("*")
        def handle(ctx: ojs.JobContext) -> str:
            return "from the handler"

        skipped, run = client.enqueue("skipped"), client.enqueue("run")
        with worker:
            assert in_state(client, skipped.id, "completed").result == "from the middleware"
            assert in_state(client, run.id, "completed").result == "from the handler"


def test_errors_travel_outwards() -> None:
    seen: list[str] = []
    with ojs.Client("memory:") as client:
        worker = ojs.Worker(client)

        @worker.middleware
        async def outer(ctx: ojs.JobContext, next: Any) -> Any:
            try:
                return await next()
            except StopIteration as error:  # what a plain handler raises reaches a coroutine as a RuntimeError
                seen.append("StopIteration")
                raise
            except RuntimeError as error:
                seen.append(type(error).__name__)
                raise ojs.NonRetryableError("enough") from error

        @worker.register("a")
        def handle(ctx: ojs.JobContext) -> None:
            raise StopIteration

        job = client.enqueue("a")
        with worker:
            failed = in_state(client, job.id, "discarded")
    assert seen == ["RuntimeError"] or seen == ["StopIteration"]
    assert failed.error is not None


def test_ei_012_the_canonical_layers_keep_their_order(recorder: Recorder) -> None:
    client = ojs.Client(transport=recorder)
    seen: list[str] = []

    def spy(name: str) -> Any:
        def layer(request: ojs.JobRequest, next: Any) -> Any:
            seen.append(name)
            return next(request)

        return layer

    for name in ("trace_inject", "auth", "validate", "unique", "rate_limit", "encrypt"):
        client.enqueue_middleware.add(name, spy(name))
    client.enqueue_middleware.insert_after("validate", "custom", spy("custom"))
    client.enqueue("a", [1])
    assert seen == ["trace_inject", "auth", "validate", "custom", "unique", "rate_limit", "encrypt"]


def test_ei_001_a_canonical_layer_elsewhere_is_refused(recorder: Recorder) -> None:
    client = ojs.Client(transport=recorder)
    chain = client.enqueue_middleware
    chain.add("encrypt", lambda request, next: next(request))
    with pytest.raises(ojs.MiddlewareError, match="'unique' must stand before 'encrypt'"):
        chain.add("unique", lambda request, next: next(request))
    chain.prepend("unique", lambda request, next: next(request))
    with pytest.raises(ojs.MiddlewareError, match="'rate_limit' must stand after 'unique'"):
        chain.prepend("rate_limit", lambda request, next: next(request))
    assert chain.names() == ["unique", "encrypt"]
