"""The handlers of a worker, run by a function: one job at a time, without a worker that fetches jobs."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from typing import Any, Mapping

from .._lanes import Plans
from .._operations import at
from .._outcome import Outcome, refused, reported
from .._plan import Bridges, Plan
from .._portal import LoopThread, Threads
from ..aio import AsyncClient
from ..client import Client
from ..context import JobContext
from ..errors import (
    ConflictError,
    InvalidRequestError,
    JobNotFoundError,
    OJSConnectionError,
    OJSError,
    OJSValidationError,
    PayloadTooLargeError,
)
from ..middleware import Chain
from ..transport import CONNECTION_OPTIONS
from ..worker import Worker
from . import _attempt
from ._deadline import Deadline
from ._delivery import Delivery
from ._ended import raise_failure
from ._link import FunctionLink

logger = logging.getLogger("openjobspec.serverless")

#: How often an outcome is sent while no clear answer comes. The server takes it once.
_SENDS = 2
#: The longest that one call to the server may take, in seconds: all sends fit into the margin before the platform's
#: limit.
CALL_SECONDS = 2.0
#: Name the server, where no argument does.
_URL_VARIABLES = ("OJS_URL", "OJS_BACKEND_URL")
#: Plain handlers and layers beside coroutines, at a time.
_THREADS = 64


class FunctionHandler:
    """Runs the handlers of a worker where a platform calls them. The base of the handlers of each platform.

    It has the registry, the middleware, the keys and the errors of a :class:`~openjobspec.Worker`, because it holds
    one, which is never started. ``worker`` is the worker whose handlers run; without it the handler makes a worker of
    its own for the server ``ojs_url`` (``OJS_URL`` in the environment), and takes every option of a worker:
    ``auth_token``, ``encryption_keys`` and so on::

        handler = serverless.LambdaHandler(ojs_url="https://ojs.example.com")

        @handler.register("email.send")
        def send_email(ctx):
            send(ctx.args[0])

        lambda_handler = handler.handle_sqs

    ``safety_margin`` is how many seconds before the platform's limit a run is ended with a failure that is tried again.
    It is half of the time that is left, if that is less.
    """

    def __init__(
        self, worker: Worker | None = None, *, ojs_url: str | None = None, safety_margin: float = 5.0, **options: Any
    ) -> None:
        if worker is not None and (ojs_url is not None or options):
            raise OJSValidationError(
                "ojs_url and connection options belong to the worker that was given: set them there"
            )
        if not safety_margin >= 0:
            raise OJSValidationError(f"safety_margin must be zero or more seconds, got {safety_margin!r}")
        #: The worker whose handlers run. It is never started.
        self.worker = Worker(ojs_url, **options) if worker is None else worker
        self._calls = _own_calls(ojs_url, options) if worker is None else None
        #: Registers the handler of a job type, as :meth:`openjobspec.Worker.register`.
        self.register = self.worker.register
        self._margin = safety_margin
        # Without a server, only the answer to the platform tells what became of a job.
        self._has_server = (
            worker is not None
            or ojs_url is not None
            or "transport" in options
            or any(os.environ.get(name, "").strip() for name in _URL_VARIABLES)
        )
        self._lock = threading.Lock()
        self._runner: _Runner | None = None
        self._on_loop: _Runner | None = None

    @property
    def middleware(self) -> Chain:
        """Runs around every handler, as :attr:`openjobspec.Worker.middleware`."""
        return self.worker.middleware

    @property
    def client(self) -> Client:
        """What handlers enqueue with."""
        return self.worker.client

    @property
    def async_client(self) -> AsyncClient:
        """The same for coroutines."""
        return self.worker.async_client

    # --- one job ---

    def run(self, delivery: Delivery, deadline: Deadline | None = None) -> Outcome:
        """Runs the handler of one job and returns its outcome, which has not been reported yet."""
        runner = self._own_runner()
        try:
            plan, ctx, link = self._begin(delivery, runner.plans)
        except OJSError as error:
            return refused(error, kind=_KINDS.get(error.code))
        try:
            return _attempt.run(plan, ctx, link, _limit(delivery, deadline), runner.loop, runner.threads)
        finally:
            link.close()

    async def run_async(self, delivery: Delivery, deadline: Deadline | None = None) -> Outcome:
        """The same on the running event loop, where coroutine handlers run too."""
        runner = self._loop_runner(asyncio.get_running_loop())
        try:
            plan, ctx, link = self._begin(delivery, runner.plans)
        except OJSError as error:
            return refused(error, kind=_KINDS.get(error.code))
        try:
            return await _attempt.run_async(plan, ctx, link, _limit(delivery, deadline), runner.threads)
        finally:
            await asyncio.get_running_loop().run_in_executor(None, link.close)

    def report(self, delivery: Delivery, outcome: Outcome) -> bool:
        """Reports the outcome of a job that a queue has brought. Returns whether the server has it.

        A server that answers that the job is settled, or that another worker has it by now, counts as having the
        outcome. A result that the server refuses (too large) is reported as a failure that is not tried again.
        """
        if not self._has_server:
            return False
        path, members = reported(outcome)
        body = {"job_id": delivery.id, **delivery.lease(), **members}
        try:
            self._send(path, body)
        except (ConflictError, JobNotFoundError) as error:
            logger.warning("job %s is settled or runs elsewhere; its outcome was not taken: %s", delivery.id, error)
        except (InvalidRequestError, PayloadTooLargeError) as error:
            if path != "/workers/ack":
                logger.error("the server did not take the failure of job %s: %s", delivery.id, error)
                return False
            return self.report(delivery, refused(error, kind="ResultRefused"))
        except OJSError as error:
            logger.error("the outcome of job %s did not reach the server: %s", delivery.id, error)
            return False
        return True

    def is_stale(self, delivery: Delivery) -> bool:
        """Whether the server has moved on since the message with this job was sent: the job has ended, or is at a later
        attempt.

        For messages that a queue delivers again. A server that does not answer has not moved on.
        """
        if not self._has_server:
            return False
        try:
            job = self._server.get_job(delivery.id)
        except JobNotFoundError:
            return True
        except OJSError as error:
            logger.warning(
                "job %s was delivered again, and the server cannot be asked about it: %s", delivery.id, error
            )
            return False
        runnable = ("active",) if delivery.lease_token is not None else ("active", "available")
        return job.state not in runnable or job.attempt > delivery.attempt

    # --- inside ---

    def _whole(self, delivery: Delivery) -> Delivery:
        """The delivery with the whole job, which is read from the server if the message refers to it.

        Raises the error of a server that does not answer, OJSValidationError (``invalid_job``) where no server is
        named, and JobNotFoundError.
        """
        if delivery.reference is None:
            return delivery
        if not self._has_server:
            raise OJSValidationError(
                f"the message of job {delivery.id} refers to the job, and there is no server to read it from: give the "
                "function its URL, ojs_url=… or OJS_URL",
                code="invalid_job",
                retryable=True,
            )
        job = self._server._transport.request("GET", at("jobs", delivery.id))["job"]
        return delivery.completed(job, self._saved(delivery) if delivery.has_checkpoint_ref else None)

    def _saved(self, delivery: Delivery) -> Any:
        """The checkpoint that the server has. A server without checkpoints answers 404, in a form of its own: the job
        is there, and runs without one."""
        try:
            return self._server._transport.request("GET", at("jobs", delivery.id) + "/checkpoint")
        except OJSError as error:
            if error.status != 404:
                raise
            logger.warning("the server has no checkpoint of job %s, which begins without it: %s", delivery.id, error)
            return None

    def _finish(self, delivery: Delivery, deadline: Deadline | None) -> Outcome:
        """Runs a job that a platform has brought, and reports its outcome. Raises DeliveryFailedError when the job has
        failed and no server has stored that. A job that the server does not have any more is not run, and the platform
        may forget the message.
        """
        try:
            delivery = self._whole(delivery)
        except JobNotFoundError as error:
            logger.warning("job %s is gone: it is not run", delivery.id)
            return refused(error, kind="JobGone")
        outcome = self.run(delivery, deadline)
        if not self.report(delivery, outcome):
            raise_failure(outcome)
        return outcome

    @property
    def _server(self) -> Client:
        """The client that reports outcomes."""
        return self.client if self._calls is None else self._calls

    def _send(self, path: str, body: dict[str, Any]) -> None:
        for left in reversed(range(_SENDS)):
            try:
                self._server._transport.request("POST", path, body)
                return
            except OJSConnectionError:
                if left == 0:
                    raise

    def _begin(self, delivery: Delivery, plans: Plans) -> tuple[Plan, JobContext, FunctionLink]:
        """Prepares a run up to the first layer of middleware. Raises the error that a worker would report."""
        envelope = self._server._transport.decrypted(delivery.envelope)
        try:
            plan = plans[delivery.type]
        except KeyError:
            released = self.worker._options["unknown_types"] == "release"
            message = f"No handler is registered for job type '{delivery.type}'."
            raise OJSValidationError(message, code="no_handler", retryable=released) from None
        link = FunctionLink(delivery, self._server._transport.request if self._has_server else None)
        job = (delivery.type, delivery.id, delivery.attempt, delivery.queue, envelope)
        return plan, JobContext(link, 0, *job, plans.producer), link

    def _own_runner(self) -> _Runner:
        with self._lock:
            if self._runner is None or not self._runner.threads.is_own:
                loop = LoopThread("openjobspec-function-loop").loop if self.worker._needs_loop() else None
                self._runner = _Runner(self.worker, loop)
            return self._runner

    def _loop_runner(self, loop: asyncio.AbstractEventLoop) -> _Runner:
        # A program has one loop, or several one after the other.
        if self._on_loop is None or self._on_loop.loop is not loop or not self._on_loop.threads.is_own:
            self._on_loop = _Runner(self.worker, loop)
        return self._on_loop


#: Kinds of failures that no handler has caused, as a worker names them.
_KINDS = {
    "no_handler": "NoHandler",
    "x_codec_unknown_key": "DecryptionError",
    "x_codec_auth_failed": "DecryptionError",
    "x_codec_malformed": "DecryptionError",
}


class _Runner:
    """The handlers inside their middleware, composed once, and where those of the other colour run."""

    def __init__(self, worker: Worker, loop: asyncio.AbstractEventLoop | None) -> None:
        self.loop = loop
        self.threads = Threads(_THREADS, "openjobspec-handler")
        bridges = Bridges()
        bridges.loop, bridges.threads = loop, self.threads
        self.plans = worker._plans(bridges)


def _own_calls(url: str | None, options: Mapping[str, Any]) -> Client:
    """A client whose calls end before the margin does. It connects when it is first used."""
    given = {name: options[name] for name in (*CONNECTION_OPTIONS, "transport") if name in options}
    return Client(url, **{"timeout": CALL_SECONDS, "max_sends": 1, **given})


def _limit(delivery: Delivery, deadline: Deadline | None) -> float | None:
    return delivery.timeout if deadline is None else deadline.left(delivery.timeout)
