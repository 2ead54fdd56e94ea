"""What a handler gets."""

from __future__ import annotations

import asyncio
import enum
import inspect
import logging
from typing import TYPE_CHECKING, Any, Callable, Generator, Protocol

from ._json import dumps, loads
from ._reactor import Reactor
from .errors import JobCancelledError, OJSValidationError
from .records import Job, JobTrain

if TYPE_CHECKING:
    from .aio import AsyncClient
    from .client import Client

logger = logging.getLogger("openjobspec.job")


class CancelReason(enum.IntEnum):
    """Why a handler is asked to stop."""

    # gen:python/cancel_reasons.j2 (make gen; do not edit)
    #: The job was cancelled on the server.
    CANCELLED = 0
    #: Another worker has the job by now, or it was answered before.
    LEASE_LOST = 1
    #: The attempt's time is up.
    TIMED_OUT = 2
    #: The worker stops and its grace period is over.
    SHUTDOWN = 3
    # gen:end

    def __bool__(self) -> bool:
        """True, for the first one too: ``if ctx.cancel_reason:`` asks whether there is one."""
        return True


class Link(Protocol):
    """The part of the native worker that a job talks to.

    One with ``waits = False`` has no reactor: coroutines call it in a thread.
    """

    def cancelled(self, token: int) -> int | None: ...
    def heartbeat(self, token: int) -> int | None: ...
    def submit_heartbeat(self, replies: Any, ticket: int, token: int) -> None: ...
    def progress(self, token: int, fraction: float | None, message: str | None, data: bytes | None) -> None: ...
    def save(self, token: int, step: str | None, text: bytes) -> tuple[int | None, int | None]: ...
    def submit_save(self, replies: Any, ticket: int, token: int, step: str | None, text: bytes) -> None: ...
    def saved(self, token: int, step: str | None) -> bytes | None: ...


class Producer(Protocol):
    """The part of a worker that gives contexts their clients."""

    @property
    def client(self) -> Client: ...
    @property
    def async_client(self) -> AsyncClient: ...


class Beat:
    """The answer to a heartbeat: true while the handler may go on. In coroutines, await it."""

    __slots__ = ("_future", "_reason")

    def __init__(self, reason: int | None, future: asyncio.Future[int | None] | None = None) -> None:
        self._reason = reason
        self._future = future

    @property
    def reason(self) -> CancelReason | None:
        """Why the handler should stop, or None."""
        if self._future is not None and self._future.done():
            self._reason = self._future.result()
        return None if self._reason is None else CancelReason(self._reason)

    def __bool__(self) -> bool:
        return self.reason is None

    def __await__(self) -> Generator[Any, None, Beat]:
        if self._future is not None:
            self._reason = yield from self._future.__await__()
        return self


class JobContext:
    """One run of one job. ``args``, ``meta`` and the rest of the envelope are read when they are asked for."""

    __slots__ = (
        "_envelope", "_handler_result", "_job", "_link", "_logger", "_metadata", "_producer", "_token",
        "attempt", "id", "queue", "type",
    )  # fmt: skip

    def __init__(
        self,
        link: Link,
        token: int,
        type: str,
        id: str,
        attempt: int,
        queue: str,
        envelope: bytes,
        producer: Producer | None = None,
    ) -> None:
        self._link = link
        self._producer = producer
        self._token = token
        # gen:python/context_frame.j2 (make gen; do not edit)
        #: The job type.
        self.type = type
        #: The job's id: the same in every attempt and redelivery.
        self.id = id
        #: The number of the attempt, 1 during the first run.
        self.attempt = attempt
        #: The queue that the job came from.
        self.queue = queue
        # gen:end
        self._envelope = envelope
        self._job: Job | None = None
        self._handler_result: Any = None
        self._metadata: dict[str, Any] | None = None
        self._logger: logging.LoggerAdapter[logging.Logger] | None = None

    @property
    def job(self) -> Job:
        """The whole job."""
        if self._job is None:
            self._job = Job.from_json(self._envelope)
        return self._job

    # gen:python/context.j2 (make gen; do not edit)
    @property
    def args(self) -> list[Any]:
        """The arguments."""
        return self.job.args

    @property
    def meta(self) -> dict[str, Any]:
        """What travels with the job besides its arguments."""
        return self.job.meta

    @property
    def parent_results(self) -> list[Any]:
        """The results of the steps before this one, in a workflow."""
        return self.job.parent_results

    @property
    def workflow_id(self) -> str | None:
        """The workflow that the job belongs to; None when it belongs to none."""
        return self.job.workflow_id

    @property
    def train(self) -> JobTrain | None:
        """The job's place in its train; None when it runs in none."""
        return self.job.train
    # gen:end

    @property
    def worker_id(self) -> str | None:
        """The worker's name on the server; None where no worker runs the job."""
        found: str | None = getattr(self._link, "id", None)
        return found

    @property
    def tenant(self) -> str | None:
        """The tenant that the job belongs to; None when it names none."""
        return self.meta.get("tenant_id")

    @property
    def client(self) -> Client:
        """The worker's client. What it enqueues belongs to the tenant of this job, and so does all that it sees."""
        client = self._enqueuer.client
        return client if self.tenant is None else client.of_tenant(self.tenant)

    @property
    def async_client(self) -> AsyncClient:
        """The same for coroutines."""
        client = self._enqueuer.async_client
        return client if self.tenant is None else client.of_tenant(self.tenant)

    @property
    def _enqueuer(self) -> Producer:
        if self._producer is None:
            raise OJSValidationError("this context belongs to no worker, and has no client")
        return self._producer

    @property
    def metadata(self) -> dict[str, Any]:
        """A place for middleware to leave things for the layers inside; gone after this run."""
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    def set_result(self, value: Any) -> None:
        """Sets the job's result; what the handler returns, unless it is None, wins."""
        self._handler_result = value

    @property
    def cancel_reason(self) -> CancelReason | None:
        """Why the handler should stop, or None. Costs nothing; ask often."""
        reason = self._link.cancelled(self._token)
        return None if reason is None else CancelReason(reason)

    @property
    def cancelled(self) -> bool:
        """Whether the handler should stop. Coroutine handlers are cancelled by themselves."""
        return self._link.cancelled(self._token) is not None

    def raise_if_cancelled(self) -> None:
        """Raises JobCancelledError when the handler should stop."""
        reason = self.cancel_reason
        if reason is not None:
            raise JobCancelledError(reason.name.lower())

    def heartbeat(self) -> Beat:
        """Extends the lease now; the worker does so every few seconds by itself.

        In plain handlers ``if not ctx.heartbeat(): return``, in coroutines ``if not await ctx.heartbeat(): return``.
        """
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return Beat(self._link.heartbeat(self._token))
        if not getattr(self._link, "waits", True):
            return Beat(None, loop.run_in_executor(None, self._link.heartbeat, self._token))
        future = Reactor.of_running_loop().call(
            lambda replies, ticket: self._link.submit_heartbeat(replies, ticket, self._token)
        )
        return Beat(None, future)

    def progress(self, fraction: float | None = None, message: str | None = None, *, data: Any = None) -> None:
        """Says how far the run has come: a fraction from 0 to 1, a sentence for people, data of the application.

        Returns at once, in coroutines too. Of many reports the latest is sent, a few a second at most; one that is
        lost does not harm the job.
        """
        self._link.progress(self._token, fraction, message, None if data is None else dumps(data))

    def checkpoint(self, state: Any) -> Any:
        """Saves the checkpoint of the job in place of the one before, and returns its sequence.

        It is on the server's disk then, and every later attempt begins with it. In coroutines, await it. Raises
        JobCancelledError when the lease is lost, and PayloadTooLargeError above 1 MiB.
        """
        return self._save(None, state)

    def load_checkpoint(self, default: Any = None) -> Any:
        """What this run, or an attempt before it, has saved; ``default`` when there is nothing."""
        text = self._link.saved(self._token, None)
        return default if text is None else loads(text)

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is a checkpoint to go on from."""
        return self._link.saved(self._token, None) is not None

    def step(self, name: str, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Runs ``run(*args, **kwargs)`` once across all attempts of the job, and returns its result.

        The result is saved with the checkpoint; later attempts get it and do not run the step. A crash between the
        end of the step and the server's answer runs it again. In coroutines, await it; ``run`` may be a coroutine
        function there.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            text = self._link.saved(self._token, name)
            if text is not None:
                return loads(text)
            result = run(*args, **kwargs)
            self._save(name, result)
            return result
        return self._step(name, run, args, kwargs)

    async def _step(self, name: str, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        text = self._link.saved(self._token, name)
        if text is not None:
            return loads(text)
        result = run(*args, **kwargs)
        if inspect.isawaitable(result):
            result = await result
        await self._save(name, result)
        return result

    def _save(self, step: str | None, value: Any) -> Any:
        text = dumps(value)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return _confirmed(self._link.save(self._token, step, text))
        return self._save_later(step, text)

    async def _save_later(self, step: str | None, text: bytes) -> int | None:
        if not getattr(self._link, "waits", True):
            loop = asyncio.get_running_loop()
            return _confirmed(await loop.run_in_executor(None, self._link.save, self._token, step, text))
        return _confirmed(
            await Reactor.of_running_loop().call(
                lambda replies, ticket: self._link.submit_save(replies, ticket, self._token, step, text)
            )
        )

    @property
    def logger(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger that knows the job: ``job_id``, ``job_type``, ``attempt`` and ``queue`` are in every record."""
        if self._logger is None:
            extra = {"job_id": self.id, "job_type": self.type, "attempt": self.attempt, "queue": self.queue}
            self._logger = logging.LoggerAdapter(logger, extra)
        return self._logger

    def __repr__(self) -> str:
        return f"JobContext(id={self.id!r}, type={self.type!r}, attempt={self.attempt})"


def _confirmed(answer: tuple[int | None, int | None]) -> int | None:
    """The sequence of a checkpoint; JobCancelledError when the run should stop."""
    sequence, reason = answer
    if reason is not None:
        raise JobCancelledError(CancelReason(reason).name.lower())
    return sequence
