"""What a platform is told when a job has failed."""

from __future__ import annotations

from ..errors import OJSError


class DeliveryFailedError(OJSError):
    """The job has failed, and no OJS server has taken note of it: the platform shall deliver the event again.

    Raised to platforms that learn of a failure by an exception (EventBridge, Pub/Sub, Service Bus). ``code`` and
    ``retryable`` are those of the failure.
    """

    _code = "handler_error"
