# Made from xtask/schema.toml by make gen; do not edit.
"""What may be said about a job besides its type and arguments: options and policies, and how they are written on the wire."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any, ClassVar, Literal, Mapping, Sequence

from .errors import OJSValidationError
from .policies import (
    Duration,
    When,
    after,
    duration_text,
    milliseconds,
    time_text,
    unknown,
    whole_milliseconds,
)


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


def train_wire(value: Train | Mapping[str, Any] | str | bool) -> Any:
    """A train as the wire has it; a text is its id.

    >>> train_wire("dest_123"), train_wire({"id": "dest_123", "on_cancelled": "hold"})
    ({'id': 'dest_123'}, {'id': 'dest_123', 'on_cancelled': 'hold'})
    """
    if isinstance(value, str):
        return {"id": value}
    if isinstance(value, Train):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: member for name, member in _checked("train", value, Train, ()).items() if member is not None}
    if value is False:
        return False
    raise OJSValidationError(
        f"train must be the id of a train, Train('dest_123', on_cancelled='hold'), or a dict such as {{'id': 'dest_123', 'on_cancelled': 'hold'}}, got {value!r}"
    )


#: Spellings of other clients that servers read.
_RETRY_MORE = (
    "max_retries",
    "initial_interval_ms",
    "base_delay_ms",
    "initial_delay_ms",
    "multiplier",
    "max_interval_ms",
    "backoff_type",
    "backoff",
    "strategy",
)
_UNIQUE_MORE = ("key", "period_ms", "onConflict")


def _checked(
    option: str, given: Mapping[str, Any], policy: type[RetryPolicy] | type[UniquePolicy] | type[Train], more: Sequence[str]
) -> dict[str, Any]:
    names = [field.name for field in fields(policy)]
    for name in given:
        if name not in names and name not in more and not str(name).startswith(("x_", "x-")):
            raise unknown(str(name), names, f" of {option}")
    return {name: duration_text(value) if name in policy._DURATIONS and value is not None else value for name, value in given.items()}


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """How often and when a failed job runs again. What is None is left to the server's defaults.

    >>> RetryPolicy(max_attempts=5, initial_interval=timedelta(seconds=2)).to_dict()
    {'max_attempts': 5, 'initial_interval': 'PT2S'}
    """

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

    def to_dict(self) -> dict[str, Any]:
        """The policy as the wire has it."""
        return _wire(self)


@dataclass(frozen=True, kw_only=True)
class UniquePolicy:
    """When two jobs count as the same, and what happens to the second.

    >>> UniquePolicy(keys=["type", "args"], period=timedelta(hours=1), on_conflict="ignore").to_dict()
    {'keys': ['type', 'args'], 'period': 'PT1H', 'on_conflict': 'ignore'}
    """

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

    def to_dict(self) -> dict[str, Any]:
        """The policy as the wire has it."""
        return _wire(self)


@dataclass(frozen=True)
class Train:
    """The train of a job: the jobs of one train run one after the other, in the order in which they were stored.

    A job that fails and is tried again keeps its place.

    >>> Train("dest_123", on_cancelled="hold").to_dict()
    {'id': 'dest_123', 'on_cancelled': 'hold'}
    """

    #: The train, such as dest_123; dest_{destination_id} is filled in with an argument of the job.
    id: str | None = None
    #: What the train does when the job is cancelled: without it the next job runs.
    on_cancelled: Literal["advance", "hold"] | None = None
    #: What the train does when the job has failed for good: without it the next job runs.
    on_discarded: Literal["advance", "hold"] | None = None
    #: When a job that is cancelled while it runs leaves the train: without it when its worker has let go of it.
    cancel_active: Literal["drain", "immediate"] | None = None
    #: The members that are lengths of time.
    _DURATIONS: ClassVar[frozenset[str]] = frozenset()

    def to_dict(self) -> dict[str, Any]:
        """The train as the wire has it."""
        return _wire(self)


def _wire(policy: RetryPolicy | UniquePolicy | Train) -> dict[str, Any]:
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


class _UnsaidText(str):
    """A text that no caller has given: one that is set for the job's type takes its place."""

    def __repr__(self) -> str:
        return str.__repr__(str(self))


class _UnsaidNumber(int):
    """The same for a number."""

    def __repr__(self) -> str:
        return int.__repr__(int(self))


#: The queue and the priority of a job of which neither was said. They are equal to what a caller may say.
UNSAID_QUEUE: str = _UnsaidText("default")
UNSAID_PRIORITY: int = _UnsaidNumber(0)
#: Types for which :meth:`openjobspec.Worker.register` has set options in the core.
WITH_DEFAULTS: set[str] = set()


@dataclass(kw_only=True)
class JobOptions:
    """What may be said about a job besides its type and arguments. None, and the queue ``default``, mean the default."""

    #: The queue.
    queue: str = UNSAID_QUEUE
    #: −100 to 100, higher first.
    priority: int = UNSAID_PRIORITY
    #: The most one run may take, in milliseconds.
    timeout_ms: int | None = None
    #: How long a worker may be silent before the job is given to another, in milliseconds.
    visibility_timeout_ms: int | None = None
    #: How long the result is kept (0 keeps none), in seconds.
    result_ttl: int | None = None
    #: Run after this long: seconds, a timedelta, or text such as 5m.
    delay: Duration | None = None
    #: Do not run before this time.
    delay_until: When | None = None
    #: Throw the job away when it has not started by then.
    expires_at: When | None = None
    #: How long the job's whole life may take.
    total_timeout: Duration | None = None
    #: What happens when it fails.
    retry: RetryPolicy | Mapping[str, Any] | int | None = None
    #: What makes it a duplicate.
    unique: UniquePolicy | Mapping[str, Any] | bool | None = None
    #: How many of its kind may start or run at a time.
    rate_limit: dict[str, Any] | None = None
    #: The train that it joins: jobs of one train run one after the other.
    train: Train | Mapping[str, Any] | str | bool | None = None
    #: Words to find it by.
    tags: Sequence[str] | None = None
    #: The version of the arguments: `2`, `2.1` or `2.1.0`.
    version: str | None = None
    #: The tenant that it belongs to: `meta.tenant_id`.
    tenant: str | None = None
    #: The key of its line in a queue that is shared by keys: keys get jobs handed out in turn.
    fairness_key: str | None = None
    #: An id of your own (UUIDv7, lower case), so that sending it twice makes one job.
    id: str | None = None
    #: Any JSON object that travels with the job.
    meta: dict[str, Any] | None = None
    #: URI of the schema its arguments follow.
    schema: str | None = None
    #: The same as timeout_ms, as seconds, a timedelta, or text: ``30``, ``"30s"``, ``"1h30m"``.
    timeout: Duration | None = None
    #: The same as visibility_timeout_ms, as seconds, a timedelta, or text.
    visibility_timeout: Duration | None = None
    #: More options, by their names on the wire.
    extra: dict[str, Any] = field(default_factory=dict)

    def options(self) -> dict[str, Any]:
        """The ``options`` object: only what differs from the defaults, of the job's type where it has some."""
        options: dict[str, Any] = {}
        of_type = getattr(self, "type", None) in WITH_DEFAULTS
        if self.queue != "default" or (of_type and not isinstance(self.queue, _UnsaidText)):
            options["queue"] = self.queue
        if self.priority or (of_type and not isinstance(self.priority, _UnsaidNumber)):
            options["priority"] = self.priority
        self._put_lengths(options)
        if self.retry is not None:
            options["retry"] = retry_wire(self.retry)
        if self.unique is not None:
            options["unique"] = unique_wire(self.unique)
        if self.rate_limit is not None:
            if not isinstance(self.rate_limit, Mapping):
                raise OJSValidationError(f"rate_limit must be a dict, got {self.rate_limit!r}")
            options["rate_limit"] = dict(self.rate_limit)
        if self.train is not None and (of_type or self.train is not False):
            options["train"] = train_wire(self.train)
        if self.tags or (of_type and self.tags is not None):
            if isinstance(self.tags, str):
                raise OJSValidationError(f"tags must be a list of words, got {self.tags!r}: write [{self.tags!r}]")
            options["tags"] = list(self.tags)
        if self.version is not None:
            options["version"] = self.version
        if self.tenant is not None:
            options["tenant"] = self.tenant
        if self.fairness_key is not None:
            options["fairness_key"] = self.fairness_key
        options.update(self.extra)
        return options

    def _put_lengths(self, options: dict[str, Any]) -> None:
        for name, own, wire in (("timeout", self.timeout, self.timeout_ms),
                                ("visibility_timeout", self.visibility_timeout, self.visibility_timeout_ms)):  # fmt: skip
            if own is not None and wire is not None:
                raise OJSValidationError(f"give either {name} or {name}_ms, not both")
            if own is not None:
                options[f"{name}_ms"] = milliseconds(name, own)
            elif wire is not None:
                options[f"{name}_ms"] = whole_milliseconds(f"{name}_ms", wire)
        if self.result_ttl is not None:
            options["result_ttl"] = self.result_ttl
        if self.delay is not None:
            if self.delay_until is not None:
                raise OJSValidationError("give either delay or delay_until, not both")
            options["delay_until"] = after("delay", self.delay)
        for name in ("delay_until", "expires_at"):
            when = getattr(self, name)
            if isinstance(when, timedelta):
                options[name] = after(name, when)
            elif when is not None:
                options[name] = time_text(when)
        if self.total_timeout is not None:
            options["total_timeout"] = duration_text(self.total_timeout)
