# Made from xtask/schema.toml by make gen; do not edit.
"""Everything that can go wrong, as exceptions.

Which class a refusal of a server becomes is decided by the core, the same in every language::

    OJSError
    ├── OJSAPIError                         the server answered with an error
    │   ├── ConflictError                   the job's state or another job is in the way
    │   │   ├── DuplicateJobError           same id, or a unique policy said so
    │   │   └── InvalidStateTransitionError the job's state does not allow this
    │   ├── JobNotFoundError                no such job, queue, workflow
    │   ├── QueuePausedError                the queue refuses jobs
    │   ├── RateLimitedError                too fast, or the queue is full
    │   ├── PayloadTooLargeError            more than the server takes
    │   ├── InvalidRequestError             the server found the request wrong
    │   │   └── UnsupportedExtensionError   the server lacks an extension that it needs
    │   └── AuthenticationError             the token is missing, wrong, or not allowed to
    ├── OJSConnectionError                  no answer; the server may not be there
    │   └── OJSTimeoutError                 no answer in time; the server may have acted
    ├── OJSValidationError                  wrong before it was sent
    ├── NotEnqueuedError                    an enqueue middleware dropped the job
    ├── MiddlewareError                     a chain was used wrongly
    ├── OutboxError                         the outbox cannot be used so, or not here
    ├── UntrustedWebhookError               a webhook whose signature does not fit
    ├── ClosedError                         the client or worker was closed
    ├── ForkedError                         made in the parent of a forked process
    └── InternalError                       a bug in OJS

Handlers raise :class:`NonRetryableError` to fail for good, and :class:`Snooze` to run again later without a failure.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any, Mapping

from ._secrets import redacted


class OJSError(Exception):
    """Base of all errors of this package."""

    #: Of an error that says no other.
    _code = "internal_error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        retryable: bool = False,
        status: int = 0,
        details: Any = None,
        hint: str | None = None,
        request_id: str | None = None,
        numeric: str | None = None,
    ) -> None:
        message = redacted(message)
        super().__init__(message)
        self.message = message
        #: Machine-readable, as the server wrote it, such as ``not_found``.
        self.code = self._code if code is None else code
        #: Whether the same call may succeed later.
        self.retryable = retryable
        #: The HTTP status; 0 when there was no answer.
        self.status = status
        #: More about the error, in the forms of JSON; None when there is no more.
        self.details = details
        #: What to do next, in the server's words; None when the server gave no hint.
        self.hint = hint
        #: The name of the request in the server's log; None when the server gave none.
        self.request_id = request_id
        #: The number of the code in the catalogue of OJS errors, such as ``OJS-3000``; None when it has none.
        self.numeric = numeric

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.status else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.message, dict(self.__dict__)))


def _rebuild(cls: type[OJSError], message: str, state: dict[str, Any]) -> OJSError:
    error = cls(message)
    error.__dict__.update(state)
    return error


class OJSAPIError(OJSError):
    """The server answered, and the answer is an error."""


class ConflictError(OJSAPIError):
    """The job's present state or another job is in the way."""


class DuplicateJobError(ConflictError):
    """The job exists already: same id, or a unique policy said so."""

    @property
    def existing_job_id(self) -> str | None:
        """The id of the job that was there first."""
        details = self.details
        value = details.get("existing_job_id") if isinstance(details, dict) else None
        return value if isinstance(value, str) else None


class InvalidStateTransitionError(ConflictError):
    """The state of the job, schema, workflow or other thing does not allow the operation; for a job, current_state in the details names it."""


class JobNotFoundError(OJSAPIError):
    """There is no such job, queue, workflow or schedule (any more)."""


class QueuePausedError(OJSAPIError):
    """The queue is paused and refuses jobs."""


class RateLimitedError(OJSAPIError):
    """The request came too fast, or the queue is full."""


class PayloadTooLargeError(OJSAPIError):
    """The job, its metadata, its result or the batch is larger than the server takes."""


class InvalidRequestError(OJSAPIError):
    """The server found the request wrong; field in the details names the place."""


class UnsupportedExtensionError(InvalidRequestError):
    """The server does not have an extension that the request needs, such as job trains; extension in the details names it. Nothing was done."""


class AuthenticationError(OJSAPIError):
    """The token is missing, wrong, or not allowed to do this."""


class OJSConnectionError(OJSError):
    """There was no OJS answer."""


class OJSTimeoutError(OJSConnectionError):
    """There was no answer in time; the server may have acted."""


class OJSValidationError(OJSError, ValueError):
    """The request, an argument or a setting was found wrong before anything was sent."""

    _code = "invalid_argument"


class NotEnqueuedError(OJSError):
    """An enqueue middleware did not call next: the job was dropped on purpose."""

    _code = "not_enqueued"


class MiddlewareError(OJSError):
    """A chain was used wrongly: unknown name, name taken, changed while in use, next called twice."""

    _code = "middleware"


class OutboxError(OJSError):
    """The outbox cannot be used as it is set up, or not here: the message says what to do."""

    _code = "outbox"


class UntrustedWebhookError(OJSError):
    """A request of a webhook is not to be trusted: a header is missing, the signature is old, or no secret fits. reason in the details is a word for it."""

    _code = "untrusted_webhook"


class ClosedError(OJSError):
    """The client, worker or server was closed."""

    _code = "closed"


class ForkedError(OJSError):
    """A worker or embedded engine of the parent was used in a forked child. Make it after the fork."""

    _code = "forked"


class InternalError(OJSError):
    """A bug in OJS. Please report it."""


class UnknownOptionError(OJSValidationError, TypeError):
    """A name that no option has: the message says which there are. Python's own calls raise TypeError for it, and so this is one too."""


class NonRetryableError(Exception):
    """Raise it in a handler: the job fails for good, whatever its retry policy says.

    >>> raise NonRetryableError("card was declined", code="card_declined")
    Traceback (most recent call last):
    openjobspec.errors.NonRetryableError: card was declined
    """

    def __init__(self, message: str = "", *, code: str = "non_retryable", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.details = details


#: The same, in the words of other job libraries.
Discard = NonRetryableError


class Snooze(Exception):
    """Raise it in a handler: the job runs again after ``delay`` (seconds or a timedelta), and no attempt is counted."""

    def __init__(self, delay: float | timedelta) -> None:
        seconds = delay.total_seconds() if isinstance(delay, timedelta) else float(delay)
        if not 0 <= seconds < float("inf"):
            raise OJSValidationError(f"delay must be zero or more seconds, got {delay!r}")
        super().__init__(f"again in {seconds:g} s")
        self.seconds = seconds


class JobCancelledError(Exception):
    """Raised by :meth:`JobContext.raise_if_cancelled`; a handler that lets it through ends its job quietly."""


#: By number of the core's table (``ErrorClass`` in bindings/abi).
_CLASSES: dict[int, type[OJSError]] = {
    1: OJSAPIError,
    2: DuplicateJobError,
    3: JobNotFoundError,
    4: QueuePausedError,
    5: RateLimitedError,
    6: InvalidStateTransitionError,
    7: PayloadTooLargeError,
    8: InvalidRequestError,
    9: AuthenticationError,
    11: UnsupportedExtensionError,
    20: OJSConnectionError,
    21: OJSTimeoutError,
    30: OJSValidationError,
    31: NotEnqueuedError,
    34: UntrustedWebhookError,
    40: ClosedError,
    41: ForkedError,
    42: InternalError,
}


def from_native(number: int, text: str) -> OJSError:
    """Called by the core to make an exception of its error."""
    data = json.loads(text)
    cls = _CLASSES.get(number, OJSError)
    return cls(
        data["message"],
        code=data["code"],
        retryable=data["retryable"],
        status=data["status"],
        details=data.get("details"),
        hint=data.get("hint"),
        request_id=data.get("request_id"),
        numeric=data.get("numeric"),
    )
