"""Policies a job carries: how it is retried, and what makes it unique. The server applies them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, Sequence

from . import _native

#: A length of time: seconds, a timedelta, or ISO 8601 text such as ``PT5M``.
Duration = float | timedelta | str
#: A point in time: RFC 3339 text, a datetime (naive = local time), or a timedelta from now.
When = str | datetime | timedelta


def duration_text(value: Duration) -> str:
    """ISO 8601 text of a duration."""
    if isinstance(value, str):
        return value
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
    """RFC 3339 text of a point in time."""
    if isinstance(value, str):
        return value
    if isinstance(value, timedelta):
        return _native.time_after(value.total_seconds())
    return (value if value.tzinfo else value.astimezone()).isoformat()


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
