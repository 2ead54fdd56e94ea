"""Policies a job carries: how it is retried, and what makes it unique. The server applies them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from datetime import datetime, timedelta, timezone
from typing import Any, ClassVar, Iterable, Literal, Mapping, Sequence

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


def retry_wire(value: RetryPolicy | Mapping[str, Any] | int) -> Any:
    """A retry policy as the wire has it; a number is that many runs in all.

    >>> retry_wire(5), retry_wire({"max_attempts": 5, "initial_interval": timedelta(seconds=2)})
    ({'max_attempts': 5}, {'max_attempts': 5, 'initial_interval': 'PT2S'})
    """
    if isinstance(value, RetryPolicy):
        return value.to_dict()
    if isinstance(value, Mapping):
        return _checked("retry", value, RetryPolicy, _RETRY_MORE)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return {"max_attempts": value}
    raise OJSValidationError(
        f"retry must be a number of runs, RetryPolicy(max_attempts=5), or a dict such as {{'max_attempts': 5, 'initial_interval': '10s'}}, got {value!r}"
    )


def unique_wire(value: UniquePolicy | Mapping[str, Any] | bool) -> Any:
    """A unique policy as the wire has it; True is: same type and arguments.

    >>> unique_wire(True)
    {'keys': ['type', 'args']}
    """
    if isinstance(value, UniquePolicy):
        return value.to_dict()
    if isinstance(value, Mapping):
        return _checked("unique", value, UniquePolicy, _UNIQUE_MORE)
    if isinstance(value, bool):
        return {"keys": ["type", "args"]} if value else False
    raise OJSValidationError(
        f"unique must be True, UniquePolicy(keys=['type', 'args']), or a dict such as {{'keys': ['args'], 'period': '1h'}}, got {value!r}"
    )


#: Spellings of other clients that servers read.
_RETRY_MORE = ("max_retries", "initial_interval_ms", "base_delay_ms", "multiplier", "max_interval_ms", "backoff_type", "backoff")
_UNIQUE_MORE = ("key", "period_ms", "onConflict")


def _checked(option: str, given: Mapping[str, Any], policy: type[RetryPolicy] | type[UniquePolicy], more: Sequence[str]) -> dict[str, Any]:
    names = [field.name for field in fields(policy)]
    for name in given:
        if name not in names and name not in more and not str(name).startswith(("x_", "x-")):
            raise unknown(f"'{name}' of {option}", str(name), names)
    return {name: duration_text(value) if name in policy._DURATIONS and value is not None else value for name, value in given.items()}


def unknown(shown: str, name: str, names: Iterable[str]) -> UnknownOptionError:
    """The error for an option that there is not, with the one that was probably meant. The sentence is the core's."""
    known = list(names)
    near = nearest(name, known)
    there = f"; did you mean '{near}'? There are" if near else "; there are"
    return UnknownOptionError(f"unknown option {shown}{there} {', '.join(known)}")


def nearest(name: str, names: Iterable[str], likeness: float = 0.5) -> str | None:
    """The name that was probably meant, by the rule of the core: at most half of the letters differ.

    >>> nearest("maxAttemps", ["max_attempts", "jitter"])
    'max_attempts'
    """

    def bare(one: str) -> str:
        return re.sub(r"[^a-z0-9]", "", one.lower())

    wrong = bare(name)
    if len(wrong) > 64:
        return None
    far, near = min((_distance(wrong, bare(one)), one) for one in names)
    longest = max(len(wrong), len(bare(near)))
    return near if far <= (1 - likeness) * longest else None


def _distance(a: str, b: str) -> int:
    """How many letters must change to make one word the other."""
    row = list(range(len(b) + 1))
    for at, letter in enumerate(a, 1):
        above, row[0] = row[0], at
        for to, other in enumerate(b, 1):
            above, row[to] = row[to], min(above + (letter != other), row[to] + 1, row[to - 1] + 1)
    return row[-1]


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """How often and when a failed job runs again. What is None is left to the server's defaults.

    >>> RetryPolicy(max_attempts=5, initial_interval=timedelta(seconds=2)).to_dict()
    {'max_attempts': 5, 'initial_interval': 'PT2S'}
    """

    # gen:python/policy.j2:RetryPolicy (make gen; do not edit)
    #: Runs in all, the first included.
    max_attempts: int | None = None
    #: Pause before the first retry.
    initial_interval: Duration | None = None
    #: Growth of the pause from one retry to the next.
    backoff_coefficient: float | None = None
    #: Longest pause.
    max_interval: Duration | None = None
    #: Spread the pauses at random, so that jobs that failed together do not come back together.
    jitter: bool | None = None
    #: Error types or codes that end the job at once.
    non_retryable_errors: Sequence[str] | None = None
    #: Where the job goes when all attempts have failed.
    on_exhaustion: Literal["discard", "dead_letter"] | None = None
    #: The formula of the pauses.
    backoff_strategy: Literal["exponential", "linear", "constant", "none", "polynomial"] | None = None
    #: The members that are lengths of time.
    _DURATIONS: ClassVar[frozenset[str]] = frozenset({"initial_interval", "max_interval"})
    # gen:end

    def to_dict(self) -> dict[str, Any]:
        """The policy as the wire has it."""
        return _wire(self)


@dataclass(frozen=True, kw_only=True)
class UniquePolicy:
    """When two jobs count as the same, and what happens to the second.

    >>> UniquePolicy(keys=["type", "args"], period=timedelta(hours=1), on_conflict="ignore").to_dict()
    {'keys': ['type', 'args'], 'period': 'PT1H', 'on_conflict': 'ignore'}
    """

    # gen:python/policy.j2:UniquePolicy (make gen; do not edit)
    #: What is compared: of type, queue, args, meta.
    keys: Sequence[str] | None = None
    #: Only these members of the arguments count.
    args_keys: Sequence[str] | None = None
    #: Only these members of the metadata count.
    meta_keys: Sequence[str] | None = None
    #: Only jobs made within this time count.
    period: Duration | None = None
    #: Only jobs in these states count.
    states: Sequence[str] | None = None
    #: What to do with the second job.
    on_conflict: Literal["reject", "replace", "replace_except_schedule", "ignore"] | None = None
    #: The members that are lengths of time.
    _DURATIONS: ClassVar[frozenset[str]] = frozenset({"period"})
    # gen:end

    def to_dict(self) -> dict[str, Any]:
        """The policy as the wire has it."""
        return _wire(self)


def _wire(policy: RetryPolicy | UniquePolicy) -> dict[str, Any]:
    wire: dict[str, Any] = {}
    for field in fields(policy):
        value = getattr(policy, field.name)
        if value is None:
            continue
        if field.name in policy._DURATIONS:
            value = duration_text(value)
        elif isinstance(value, (list, tuple, set, frozenset)):
            value = list(value)
        wire[field.name] = value
    return wire
