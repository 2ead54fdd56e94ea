"""What a job's context asks of the server, where a function runs the job instead of a worker."""

from __future__ import annotations

import logging
import threading
from typing import Any, Callable

from .._json import loads
from .._operations import at
from ..context import CancelReason
from ..errors import ConflictError, JobNotFoundError, OJSError, OJSValidationError
from ._checkpoint import Checkpoint
from ._delivery import Delivery

logger = logging.getLogger("openjobspec.serverless")

#: ``request(method, path, body)``: one call to the server.
Request = Callable[[str, str, Any], Any]
#: How long the last report of progress may take after the end of its run, in seconds.
_LAST_REPORT = 1.0


class FunctionLink:
    """The link of one run. Its calls are plain HTTP requests under the delivery's lease."""

    #: There is no reactor of a worker.
    waits = False

    def __init__(self, delivery: Delivery, request: Request | None) -> None:
        self._delivery = delivery
        self._request = request
        self._reason: CancelReason | None = None
        self._checkpoint = Checkpoint(delivery.checkpoint)
        self._lock = threading.Lock()
        self._progress: dict[str, Any] | None = None
        self._sender: threading.Thread | None = None

    @property
    def id(self) -> str | None:
        """The worker whose lease the run is under."""
        return self._delivery.worker_id

    def stop(self, reason: CancelReason) -> None:
        """Asks the handler to stop. The first reason counts."""
        if self._reason is None:
            self._reason = reason

    def close(self) -> None:
        """The run is over: its last report of progress is sent before the platform may freeze the process."""
        sender = self._sender
        if sender is not None:
            sender.join(_LAST_REPORT)

    # --- what the context calls ---

    def cancelled(self, token: int) -> int | None:
        return self._reason

    def heartbeat(self, token: int) -> int | None:
        if self._request is not None and self._delivery.worker_id is not None:
            self._beat(self._request, self._delivery.worker_id)
        return self._reason

    def progress(self, token: int, fraction: float | None, message: str | None, data: bytes | None) -> None:
        if self._request is None:
            return
        said = {"progress": fraction, "message": message, "data": None if data is None else loads(data)}
        with self._lock:
            self._progress = {name: value for name, value in said.items() if value is not None}
            if self._sender is None:
                self._sender = threading.Thread(
                    target=self._send_progress, args=(self._request,), name="openjobspec-progress", daemon=True
                )
                self._sender.start()

    def save(self, token: int, step: str | None, text: bytes) -> tuple[int | None, int | None]:
        request = self._request
        if request is None:
            raise OJSValidationError(
                "checkpoints are kept by the server: give the function its URL, ojs_url=… or OJS_URL"
            )

        def put(document: Any) -> int:
            return int(
                request("PUT", self._path("checkpoint"), {"state": document, **self._delivery.lease()})["sequence"]
            )

        try:
            return self._checkpoint.save(step, text, put), None
        except ConflictError as error:
            self._lose(error)
            return None, self._reason

    def saved(self, token: int, step: str | None) -> bytes | None:
        return self._checkpoint.saved(step)

    def submit_heartbeat(self, replies: Any, ticket: int, token: int) -> None:
        raise RuntimeError("a function has no reactor")

    def submit_save(self, replies: Any, ticket: int, token: int, step: str | None, text: bytes) -> None:
        raise RuntimeError("a function has no reactor")

    # --- inside ---

    def _path(self, what: str) -> str:
        return f"{at('jobs', self._delivery.id)}/{what}"

    def _beat(self, request: Request, worker_id: str) -> None:
        job, token = self._delivery.id, self._delivery.lease_token
        body: dict[str, Any] = {"worker_id": worker_id, "state": "running", "active_jobs": [job]}
        if token is not None:
            body["lease_tokens"] = {job: token}
        try:
            answer = request("POST", "/workers/heartbeat", body) or {}
        except OJSError as error:
            logger.warning("the heartbeat of job %s was not taken: %s", job, error)
            return
        if job in answer.get("cancelled_jobs", ()):
            self.stop(CancelReason.CANCELLED)
        elif "jobs_extended" in answer and job not in answer["jobs_extended"]:
            self.stop(CancelReason.LEASE_LOST)

    def _lose(self, error: OJSError) -> None:
        state = error.details.get("current_state") if isinstance(error.details, dict) else None
        self.stop(CancelReason.CANCELLED if state == "cancelled" else CancelReason.LEASE_LOST)

    def _send_progress(self, request: Request) -> None:
        while True:
            with self._lock:
                said, self._progress = self._progress, None
                if said is None:
                    self._sender = None
                    return
            try:
                request("PUT", self._path("progress"), {**said, **self._delivery.lease()})
            except (ConflictError, JobNotFoundError) as error:
                self._lose(error)
            except OJSError as error:
                logger.debug("a report of progress of job %s was not taken: %s", self._delivery.id, error)
