"""Open Job Spec for FastAPI and Starlette: jobs that run if, and only if, the transaction commits."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, AsyncIterator, Callable

from fastapi import FastAPI, Request
from ojs_adapter_sqlalchemy import OjsOutbox
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from openjobspec import outbox_context

__all__ = ["OjsContextMiddleware", "get_ojs", "ojs_lifespan", "running"]


@contextlib.asynccontextmanager
async def running(app: FastAPI, ojs: OjsOutbox, grace: float = 5.0) -> AsyncIterator[OjsOutbox]:
    """For a lifespan of your own: starts the relay, and flushes it at the end."""
    app.state.ojs = ojs
    await asyncio.to_thread(ojs.start)
    try:
        yield ojs
    finally:
        await asyncio.to_thread(ojs.close, grace)


def ojs_lifespan(ojs: OjsOutbox, grace: float = 5.0) -> Callable[[FastAPI], Any]:
    """A lifespan that does nothing else: ``FastAPI(lifespan=ojs_lifespan(ojs))``."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running(app, ojs, grace):
            yield

    return lifespan


def get_ojs(request: Request) -> OjsOutbox:
    """A dependency: ``ojs: Annotated[OjsOutbox, Depends(get_ojs)]``."""
    found: OjsOutbox = request.app.state.ojs
    return found


class OjsContextMiddleware:
    """Jobs carry request id, trace, tenant and language of the request; the user where ``user_id`` finds it in the ASGI scope."""

    def __init__(
        self, app: ASGIApp, *, user_id: Callable[[Scope], Any] | None = None, tenant_id: Callable[[Scope], Any] | None = None
    ) -> None:
        self._app = app
        self._user_id = user_id
        self._tenant_id = tenant_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles a request."""
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        meta = outbox_context.of_request(
            Headers(scope=scope).get,
            user_id=self._user_id(scope) if self._user_id else None,
            tenant_id=self._tenant_id(scope) if self._tenant_id else None,
        )
        with outbox_context.bound(meta):
            await self._app(scope, receive, send)
