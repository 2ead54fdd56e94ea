"""One function out of a handler and the middleware around it.

Every layer is plain or a coroutine function. Where the colour changes from one layer to the next, a bridge is built:
a plain layer waits for a coroutine on the worker's event loop, a coroutine layer awaits a plain one in a thread. The
outermost layer decides where a job begins: on a lane thread or on the event loop.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Callable

from ._portal import Threads, run_on
from .context import JobContext
from .middleware import Once, is_async, of_colour

Handler = Callable[[JobContext], Any]
Layer = Callable[..., Any]


class Bridges:
    """Where the other colour runs. Filled in when the worker starts."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.threads: Threads | None = None

    def wait_for(self, function: Handler, ctx: JobContext) -> Any:
        """Runs a coroutine function from a thread."""
        assert self.loop is not None
        return run_on(self.loop, function(ctx))

    async def in_thread(self, function: Handler, ctx: JobContext) -> Any:
        """Runs a plain function from the event loop."""
        assert self.threads is not None
        return await self.threads.run(function, ctx)


@dataclass(frozen=True, slots=True)
class Plan:
    """What runs for a job type."""

    call: Handler
    #: The outermost layer is a coroutine function.
    on_loop: bool
    #: Some layer is one.
    needs_loop: bool


def plan(handler: Handler, layers: list[Layer], bridges: Bridges) -> Plan:
    """Composes the layers, outermost first, around the handler."""
    inner_async = needs_loop = is_async(handler)
    call = _keep_result_async(handler) if inner_async else _keep_result(handler)
    for one in reversed(layers):
        layer = of_colour(one, inner_async)
        layer_async = is_async(layer)
        needs_loop = needs_loop or layer_async
        call = _async_layer(layer, call, inner_async, bridges) if layer_async else _plain_layer(layer, call, inner_async, bridges)
        inner_async = layer_async
    return Plan(call, inner_async, needs_loop)


def _keep_result(handler: Handler) -> Handler:
    # A layer that forgets to return what next() gave does not lose the result.
    def call(ctx: JobContext) -> Any:
        result = handler(ctx)
        if result is not None:
            ctx._handler_result = result
        return result

    return call


def _keep_result_async(handler: Handler) -> Handler:
    async def call(ctx: JobContext) -> Any:
        result = await handler(ctx)
        if result is not None:
            ctx._handler_result = result
        return result

    return call


def _plain_layer(layer: Layer, inner: Handler, inner_async: bool, bridges: Bridges) -> Handler:
    if inner_async:
        return lambda ctx: layer(ctx, Once(lambda *_: bridges.wait_for(inner, ctx)))
    return lambda ctx: layer(ctx, Once(lambda *_: inner(ctx)))


def _async_layer(layer: Layer, inner: Handler, inner_async: bool, bridges: Bridges) -> Handler:
    async def call(ctx: JobContext) -> Any:
        if inner_async:
            return await layer(ctx, Once(lambda *_: inner(ctx)))
        return await layer(ctx, Once(lambda *_: bridges.in_thread(inner, ctx)))

    return call
