"""An outcome in the forms that platforms take."""

from __future__ import annotations

from typing import Any

from .._outcome import Outcome, reported
from .errors import DeliveryFailedError


def answered(outcome: Outcome, **about: str) -> dict[str, Any]:
    """The answer to a delivery: ``status``, the members of ``about``, and ``result`` or ``error``."""
    path, members = reported(outcome)
    return {"status": "completed" if path == "/workers/ack" else "failed", **about, **members}


def comes_again(outcome: Outcome) -> bool:
    """Whether the job will run again: a failure that may be tried again, or a job that was given back or put off."""
    _, members = reported(outcome)
    return bool(members.get("error", {}).get("retryable"))


def raise_failure(outcome: Outcome) -> None:
    """Raises DeliveryFailedError unless the job is completed."""
    error = reported(outcome)[1].get("error")
    if error is not None:
        raise DeliveryFailedError(
            error["message"], code=error["code"], retryable=error["retryable"], details=error.get("details")
        )
