"""The error for platforms that deliver an event again after an exception."""

from __future__ import annotations

from ..errors import OJSError


class DeliveryFailedError(OJSError):
    """The job has failed, and no OJS server has stored the failure: the platform shall deliver the event again.

    Raised for platforms that take an exception as a failure (EventBridge, Pub/Sub, Service Bus). ``code`` and
    ``retryable`` are those of the failure.
    """

    _code = "handler_error"
