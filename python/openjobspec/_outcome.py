"""From what a handler did to what the core gets: ``(token, kind, payload)``."""

from __future__ import annotations

import os
import traceback
from typing import Any

from ._json import dumps, loads
from ._values import check
from .context import JobContext
from .errors import JobCancelledError, NonRetryableError, OJSError, OJSValidationError, Snooze

# gen:python/outcomes.j2 (make gen; do not edit)
#: Done; the payload is the result as JSON text, or empty.
COMPLETED = 0
#: Failed; the payload is a JSON object: message, perhaps code, type, retryable, details, backtrace.
FAILED = 1
#: Given back without counting an attempt; no payload.
RELEASED = 2
#: To run again after the delay, without counting a failure; no payload.
SNOOZED = 3
# gen:end

Outcome = tuple[int, int, object]

#: The server keeps no more frames.
_FRAMES = 50


def success(ctx: JobContext, result: Any) -> Outcome:
    """The handler returned."""
    if result is None:
        result = ctx._handler_result
        if result is None:
            return (ctx._token, COMPLETED, None)
    try:
        check("result", result, returned=True)
        return (ctx._token, COMPLETED, dumps(result))
    except OJSValidationError as error:
        return _failed(ctx, error, "serialization_error", retryable=False, message=f"what the handler returned: {error.message}")
    except BaseException as error:  # an object with odd ideas about being looked at
        return _failed(ctx, error, "serialization_error", retryable=False)


def failure(ctx: JobContext, error: BaseException) -> Outcome:
    """The handler raised: anything, SystemExit and KeyboardInterrupt included."""
    if isinstance(error, Snooze):
        return (ctx._token, SNOOZED, error.seconds)
    if isinstance(error, JobCancelledError):
        if ctx.cancelled:
            return (ctx._token, RELEASED, None)
        return _failed(ctx, error, "cancelled", retryable=False)
    if isinstance(error, NonRetryableError):
        details = dict(error.details) if error.details else None
        return _failed(ctx, error, str(error.code), retryable=False, details=details)
    return _failed(ctx, error, "handler_error", retryable=True)


def stopped(ctx: JobContext) -> Outcome:
    """The handler's task was cancelled."""
    if ctx.cancelled:
        return (ctx._token, RELEASED, None)
    # Not by us: the handler let a CancelledError of its own through.
    return (ctx._token, FAILED, ("handler_error", "CancelledError", "the handler was cancelled from inside", True, None, []))


def reported(outcome: Outcome) -> tuple[str, dict[str, Any]]:
    """How the plain protocol reports an outcome: the path, and the members beside those that name the job."""
    _, kind, payload = outcome
    if kind == COMPLETED:
        return "/workers/ack", {"result": loads(payload)} if isinstance(payload, bytes) else {}
    if isinstance(payload, tuple):
        names = ("code", "type", "message", "retryable", "details", "backtrace")
        return "/workers/nack", {"error": dict(zip(names, payload), details=loads(payload[4] or b"{}"))}
    code = "snooze" if kind == SNOOZED else "released"
    error: dict[str, Any] = {"code": code, "type": code, "message": "given back by the handler", "retryable": True}
    members: dict[str, Any] = {"requeue": True, "error": error}
    if isinstance(payload, float):
        # Servers without `delay_ms` read the delay from the details.
        members["delay_ms"] = int(payload * 1000)
        error["details"] = {"snooze_ms": members["delay_ms"]}
    return "/workers/nack", members


def refused(error: OJSError, *, kind: str | None = None) -> Outcome:
    """The job fails before a handler of it has run, or because its time is up, with the code of the error."""
    about: Any = (_clean(error.code), kind or type(error).__name__, _clean(error.message), error.retryable, None, [])
    return (0, FAILED, about)


def _failed(
    ctx: JobContext,
    error: BaseException,
    code: str,
    *,
    retryable: bool,
    message: str | None = None,
    details: dict[str, Any] | None = None,
) -> Outcome:
    cls = type(error)
    text = message or _text(error) or cls.__name__
    about: dict[str, Any] = dict(details or {})
    about.setdefault("error_class", f"{cls.__module__}.{cls.__qualname__}")
    about.setdefault("stack", _stack(error))
    try:
        raw = dumps(about)
    except BaseException:
        raw = dumps({"error_class": about["error_class"], "stack": about["stack"]})
    return (ctx._token, FAILED, (_clean(code), cls.__name__, _clean(text), retryable, raw, _frames(error)))


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as broken:
        return f"<str() of {type(error).__name__} raised {type(broken).__name__}>"


def _clean(text: str) -> str:
    """Text without lone surrogates: UTF-8 has no place for them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _stack(error: BaseException) -> str:
    try:
        return _clean("".join(traceback.format_exception(type(error), error, error.__traceback__)))
    except BaseException:
        return f"<the traceback of {type(error).__name__} cannot be printed>"


#: Where the frames of this package are, which surround the handler's.
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _frames(error: BaseException) -> list[str]:
    """The innermost frames first, without those of this package. An error of the package itself keeps all of them."""
    try:
        every = traceback.extract_tb(error.__traceback__)
        outside = [frame for frame in every if not frame.filename.startswith(_PACKAGE)]
        frames = (outside or every)[-_FRAMES:]
        return [_clean(f"{frame.filename}:{frame.lineno} in {frame.name}") for frame in reversed(frames)]
    except BaseException:
        return []
