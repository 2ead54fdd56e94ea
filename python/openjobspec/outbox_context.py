"""What a request hands on to the jobs it makes: who, which request, which trace, which tenant, which language.

A web framework's adapter binds it at the start of a request; jobs enqueued meanwhile carry it in their metadata, and
:func:`restored`, a worker's middleware, binds it again around the handler.
"""

from __future__ import annotations

import contextlib
import contextvars
from typing import Any, Callable, Iterator, Mapping

from .job import JobRequest

#: The names in metadata ("Framework Adapters", section 7.1).
KEYS = ("ojs.context.user_id", "ojs.context.request_id", "traceparent", "tenant_id", "ojs.context.locale")

_current: contextvars.ContextVar[Mapping[str, Any]] = contextvars.ContextVar("openjobspec.request", default={})


def current() -> dict[str, Any]:
    """The metadata of the present request; empty outside of one."""
    return dict(_current.get())


@contextlib.contextmanager
def bound(meta: Mapping[str, Any]) -> Iterator[None]:
    """Jobs enqueued inside carry this metadata.

    >>> with bound({"tenant_id": "acme"}):
    ...     current()
    {'tenant_id': 'acme'}
    """
    token = bind(meta)
    try:
        yield
    finally:
        unbind(token)


def bind(meta: Mapping[str, Any]) -> contextvars.Token[Mapping[str, Any]]:
    """Begins what :func:`unbind` ends, for frameworks whose requests have no block."""
    return _current.set({name: value for name, value in meta.items() if value not in (None, "")})


def unbind(token: contextvars.Token[Mapping[str, Any]]) -> None:
    """Ends what :func:`bind` began."""
    _current.reset(token)


def of_request(header: Callable[[str], str | None], *, user_id: Any = None, tenant_id: Any = None) -> dict[str, Any]:
    """The metadata of a request, from its headers and from what authentication found."""
    locale = (header("Accept-Language") or "").split(",")[0].split(";")[0].strip()
    found = {
        "ojs.context.user_id": None if user_id is None else str(user_id),
        "ojs.context.request_id": header("X-Request-ID"),
        "traceparent": header("traceparent"),
        "tenant_id": header("X-OJS-Tenant") if tenant_id is None else str(tenant_id),
        "ojs.context.locale": None if locale in ("", "*") else locale,
    }
    return {name: value for name, value in found.items() if value}


def completed(request: JobRequest) -> JobRequest:
    """Adds the present request's metadata; what the job says itself stays."""
    context = _current.get()
    if context:
        own = {name: value for name, value in context.items() if name != "tenant_id" or request.tenant is None}
        request.meta = {**own, **(request.meta or {})}
    return request


def restored(ctx: Any, next: Callable[[], Any]) -> Any:
    """Worker middleware: binds what the job carries, for the jobs that its handler enqueues."""
    with bound({name: ctx.meta[name] for name in KEYS if name in (ctx.meta or {})}):
        return next()
