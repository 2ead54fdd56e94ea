"""A private engine in place of every client's server."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Iterator

from .. import _native, _override
from .._json import dumps, loads
from .._lanes import Plans
from .._outcome import FAILED, Outcome, failure, reported, success
from .._plan import Plan
from .._portal import LoopThread, Threads, caught, unwrap
from ..context import JobContext
from ..errors import NonRetryableError, OJSError, OJSValidationError
from ..job import _NAMES, JobRequest

if TYPE_CHECKING:
    from ..worker import Worker


class Fake:
    """What was enqueued while it is active. The newest active one gets the jobs."""

    def __init__(self, inline: tuple[Worker, ...] = ()) -> None:
        self._connection = _native.Connection("memory:")
        self._inline = inline
        self._draining = False
        #: Every enqueue request as it goes over the wire, oldest first: ``{"type", "args", "options", …}``.
        self.requests: list[dict[str, Any]] = []

    # --- what clients see ---

    def __call__(self, method: str, path: str, body: Any) -> Any:
        """Takes the place of a connection."""
        data = None if body is None else dumps(body)
        raw = self._connection.call(method, path, data)
        self.requests.extend(loads(_native.fake_recorded(method, path, data or b"")))
        if self._inline and not self._draining:
            self.drain(*self._inline)
        return loads(raw) if raw else None

    # --- what tests ask ---

    def enqueued(self, job_type: str | None = None, **wanted: Any) -> list[dict[str, Any]]:
        """The requests of this type that match: ``args``, ``queue``, ``meta`` (a part of it), or any other option.

        Raises OJSValidationError for an option that does not exist.
        """
        jobs, asked = dumps(self.requests).decode(), dumps(_asked(job_type, wanted)).decode()
        return [self.requests[place] for place in _native.fake_matching(jobs, asked)]

    def assert_enqueued(self, job_type: str, *, count: int | None = None, **wanted: Any) -> list[dict[str, Any]]:
        """Fails unless such a job was enqueued (``count`` times, when given). Returns the requests."""
        found = self.enqueued(job_type, **wanted)
        if not found if count is None else len(found) != count:
            expected = "at least one" if count is None else str(count)
            matching = f" with {wanted}" if wanted else ""
            raise AssertionError(f"expected {expected} '{job_type}'{matching}, found {len(found)}; enqueued were: {self._summary()}")
        return found

    def assert_not_enqueued(self, job_type: str | None = None, **wanted: Any) -> None:
        """Fails when such a job was enqueued."""
        found = self.enqueued(job_type, **wanted)
        if found:
            raise AssertionError(f"expected no '{job_type or 'job'}', found {len(found)}: {found}")

    def clear(self) -> None:
        """Forgets all jobs."""
        self.requests.clear()
        old, self._connection = self._connection, _native.Connection("memory:")
        old.close()

    def drain(self, *workers: Worker, raise_errors: bool = True) -> int:
        """Runs the handlers of ``workers`` on everything that is available, jobs enqueued on the way included.

        Returns how many ran. An exception of a handler is raised here, after the job was marked as failed, unless
        ``raise_errors`` is false. Jobs for later, and retries, are not waited for.
        """
        if not workers:
            raise ValueError("drain() needs the worker whose handlers shall run")
        self._draining = True
        loop, threads = LoopThread("openjobspec-drain"), Threads(4, "openjobspec-drain")
        for worker in workers:
            worker._bridges.loop, worker._bridges.threads = loop.loop, threads
        try:
            return self._drain([(worker.queues, worker._plans()) for worker in workers], loop, raise_errors)
        finally:
            self._draining = False
            threads.close()
            loop.stop(1.0)

    # --- inside ---

    def _drain(self, workers: list[tuple[list[str], Plans]], loop: LoopThread, raise_errors: bool) -> int:
        ran = 0
        while True:
            before = ran
            for queues, own in workers:
                fetched = self._call("/workers/fetch", {"queues": queues, "count": 1, "worker_id": "drain"})
                for job in fetched["jobs"]:
                    ran += 1
                    # Workers may share a queue: the one with a handler for the type runs the job.
                    self._perform([own, *(plans for _, plans in workers if plans is not own)], loop, job, raise_errors)
            if ran == before:
                return ran

    def _perform(self, plans: list[Plans], loop: LoopThread, job: dict[str, Any], raise_errors: bool) -> None:
        queue = job.get("queue", "default")
        attempt = job.get("attempt", 1)
        ctx = JobContext(_Unattended(), 0, job["type"], job["id"], attempt, queue, dumps(job), plans[0].producer)
        raised: BaseException | None = None
        try:
            plan = self._plan_of(plans, ctx)
            outcome = success(ctx, unwrap(loop.run(caught(plan.call(ctx)))) if plan.on_loop else plan.call(ctx))
        except BaseException as error:
            raised, outcome = error, failure(ctx, error)
        self._report(job, outcome)
        if raise_errors and outcome[1] == FAILED:
            assert isinstance(outcome[2], tuple)
            raise raised or OJSValidationError(outcome[2][2], code=outcome[2][0])  # what the handler returned cannot be a result

    @staticmethod
    def _plan_of(several: list[Plans], ctx: JobContext) -> Plan:
        """Raises what a real worker would report for a type without a handler."""
        found = next((plans[ctx.type] for plans in several if ctx.type in plans), None)
        found = found or next((plans.fallback for plans in several if plans.fallback), None)
        if found is None:
            known = ", ".join(sorted({name for plans in several for name in plans})) or "none"
            raise UnknownTypeError(f"No handler is registered for job type '{ctx.type}'. Registered: {known}.", code="no_handler")
        return found

    def _report(self, job: dict[str, Any], outcome: Outcome) -> None:
        path, members = reported(outcome)
        self._call(path, {"job_id": job["id"], "lease_token": job.get("lease_token"), "worker_id": "drain", **members})

    def _call(self, path: str, body: dict[str, Any]) -> Any:
        return loads(self._connection.call("POST", path, dumps(body)))

    def _summary(self) -> str:
        return ", ".join(f"{request['type']}({request['args']})" for request in self.requests) or "none"


class UnknownTypeError(OJSError, NonRetryableError):
    """No worker that was given has a handler for the job's type."""


class _Unattended:
    """A job's link when no worker stands behind it. What a run saves is kept for that run."""

    #: There is no reactor of a worker.
    waits = False

    def __init__(self) -> None:
        self._saved: dict[tuple[int, str | None], bytes] = {}

    def cancelled(self, token: int) -> int | None:
        return None

    def heartbeat(self, token: int) -> int | None:
        return None

    def submit_heartbeat(self, replies: Any, ticket: int, token: int) -> None:
        raise RuntimeError("await ctx.heartbeat() needs a running worker")

    def progress(self, token: int, fraction: float | None, message: str | None, data: bytes | None) -> None:
        pass

    def save(self, token: int, step: str | None, text: bytes) -> tuple[int | None, int | None]:
        self._saved[token, step] = text
        return len(self._saved), None

    def submit_save(self, replies: Any, ticket: int, token: int, step: str | None, text: bytes) -> None:
        raise RuntimeError("there is no event loop of a worker")

    def saved(self, token: int, step: str | None) -> bytes | None:
        return self._saved.get((token, step))


def _asked(job_type: str | None, wanted: dict[str, Any]) -> dict[str, Any]:
    """What is asked for as JSON can have it: policies, times and lengths of time as a request has them."""
    plain = ("args", "id", "meta", "schema", "queue", "priority")
    options = {name: value for name, value in wanted.items() if name not in plain}
    written = JobRequest("", extra={name: value for name, value in options.items() if name not in _NAMES},
                         **{name: value for name, value in options.items() if name in _NAMES}).options()  # fmt: skip
    return {"type": job_type, **{name: wanted[name] for name in plain if name in wanted}, **written}


@contextlib.contextmanager
def fake_mode() -> Iterator[Fake]:
    """Keeps the jobs of all clients in memory, for :class:`Fake` to ask about."""
    with _active(Fake()) as fake:
        yield fake


@contextlib.contextmanager
def inline_mode(*workers: Worker) -> Iterator[Fake]:
    """Runs jobs with the handlers of ``workers`` as soon as they are enqueued; exceptions reach who enqueues."""
    with _active(Fake(inline=workers)) as fake:
        yield fake


@contextlib.contextmanager
def _active(fake: Fake) -> Iterator[Fake]:
    _override.sinks.append(fake)
    try:
        yield fake
    finally:
        _override.sinks.remove(fake)
        fake._connection.close()


def _current() -> Fake:
    if not _override.sinks:
        raise RuntimeError("no fake is active: use `with openjobspec.testing.fake_mode():`")
    sink = _override.sinks[-1]
    assert isinstance(sink, Fake)
    return sink


def enqueued(job_type: str | None = None, **wanted: Any) -> list[dict[str, Any]]:
    """:meth:`Fake.enqueued` of the active fake."""
    return _current().enqueued(job_type, **wanted)


def assert_enqueued(job_type: str, *, count: int | None = None, **wanted: Any) -> list[dict[str, Any]]:
    """:meth:`Fake.assert_enqueued` of the active fake."""
    return _current().assert_enqueued(job_type, count=count, **wanted)


def assert_not_enqueued(job_type: str | None = None, **wanted: Any) -> None:
    """:meth:`Fake.assert_not_enqueued` of the active fake."""
    _current().assert_not_enqueued(job_type, **wanted)


def drain(*workers: Worker, raise_errors: bool = True) -> int:
    """:meth:`Fake.drain` of the active fake."""
    return _current().drain(*workers, raise_errors=raise_errors)


def clear() -> None:
    """:meth:`Fake.clear` of the active fake."""
    _current().clear()
