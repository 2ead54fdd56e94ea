"""Lengths of time and points in time, as they may be given and as the wire has them; and names that do not exist."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from typing import Any, Iterable

from . import _native
from .errors import OJSValidationError, UnknownOptionError

#: A length of time: seconds, a timedelta, or ISO 8601 text such as ``PT5M``.
Duration = float | timedelta | str
#: A point in time: RFC 3339 text, a datetime (naive = local time), or a timedelta from now.
When = str | datetime | timedelta


def duration_text(value: Duration) -> str:
    """ISO 8601 text of a duration; short text such as ``5m`` is written out."""
    if isinstance(value, str):
        return value if value.startswith("P") else _native.duration_text(_native.duration_seconds(value))
    return _native.duration_text(value.total_seconds() if isinstance(value, timedelta) else float(value))


def duration_seconds(value: Duration) -> float:
    """Seconds of a duration; text is ISO 8601, or short: ``1s``, ``5m``.

    >>> duration_seconds("PT1S"), duration_seconds("5m"), duration_seconds(timedelta(hours=1))
    (1.0, 300.0, 3600.0)
    """
    if isinstance(value, str):
        return _native.duration_seconds(value)
    return value.total_seconds() if isinstance(value, timedelta) else float(value)


def time_text(value: When) -> str:
    """RFC 3339 text of a point in time; a negative timedelta is in the past."""
    if isinstance(value, str):
        return value
    if isinstance(value, timedelta):
        if value.days < 0:
            return (datetime.now(timezone.utc) + value).isoformat()
        return _native.time_after(value.total_seconds())
    if not isinstance(value, datetime):
        raise OJSValidationError(f"a time is a datetime, RFC 3339 text, or a timedelta from now, got {value!r}")
    return (value if value.tzinfo else value.astimezone()).isoformat()


def milliseconds(name: str, value: Duration) -> int:
    """A length that must be longer than zero, in whole milliseconds, never shorter than asked for.

    >>> milliseconds("timeout", "90s"), milliseconds("timeout", 1.5)
    (90000, 1500)
    """
    seconds = _length(name, value)
    if seconds <= 0:
        raise OJSValidationError(f"{name} must be longer than zero; leave it out for the server's default")
    return math.ceil(round(seconds * 1000, 6))


def whole_milliseconds(name: str, value: Any) -> int:
    """The same for a setting that is named after its unit: a number is milliseconds."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = value / 1000
    return milliseconds(name, value)


def after(name: str, value: Duration) -> str:
    """RFC 3339 text of the time that a length from now ends at. Raises OJSValidationError for a negative one."""
    seconds = _length(name, value)
    if seconds < 0:
        raise OJSValidationError(f"{name} must be zero or more seconds, or text such as '5m', got {value!r}")
    return _native.time_after(seconds)


def _length(name: str, value: Duration) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, timedelta, str)):
        raise OJSValidationError(f"{name} must be seconds, a timedelta, or text such as '5m', got {value!r}")
    try:
        seconds = duration_seconds(value)
    except ValueError as error:
        raise OJSValidationError(f"{name} must be seconds, a timedelta, or text such as '5m' or 'PT5M', got {value!r}") from error
    if not math.isfinite(seconds):
        raise OJSValidationError(f"{name} must be seconds, a timedelta, or text such as '5m', got {value!r}")
    return seconds


def unknown(name: str, names: Iterable[str], place: str = "") -> UnknownOptionError:
    """The error for an option that there is not, with the one that was probably meant. The sentence is the core's."""
    return UnknownOptionError(_native.unknown_name("option", name, place, list(names)))
