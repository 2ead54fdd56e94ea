"""Request middleware: jobs carry who made them, in which request, trace, tenant and language."""

from __future__ import annotations

from typing import Any, Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from openjobspec import outbox_context


class OjsContextMiddleware:
    """Put it below the authentication middleware. The tenant is ``request.tenant_id`` where something sets it, else ``X-OJS-Tenant``."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Handles a request."""
        if iscoroutinefunction(self):
            return self._async(request)
        with outbox_context.bound(_context(request, getattr(request, "user", None))):
            response: HttpResponseBase = self.get_response(request)
            return response

    async def _async(self, request: HttpRequest) -> HttpResponseBase:
        user = await request.auser() if hasattr(request, "auser") and hasattr(request, "session") else None
        with outbox_context.bound(_context(request, user)):
            response: HttpResponseBase = await self.get_response(request)
            return response


def _context(request: HttpRequest, user: Any) -> dict[str, Any]:
    signed_in = user is not None and getattr(user, "is_authenticated", False)
    return outbox_context.of_request(
        request.headers.get, user_id=user.pk if signed_in else None, tenant_id=getattr(request, "tenant_id", None)
    )
