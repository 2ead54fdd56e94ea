"""One job as it reaches a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from .._json import dumps, loads
from ..errors import OJSError, OJSValidationError


@dataclass(frozen=True, slots=True)
class Delivery:
    """A job, and what its delivery says about the lease under which it runs."""

    id: str
    type: str
    queue: str
    attempt: int
    #: The job as JSON text.
    envelope: bytes
    #: The state that earlier attempts have saved. The job carries it.
    checkpoint: Any = None
    #: How long the attempt may take, in seconds; None without a limit.
    timeout: float | None = None
    worker_id: str | None = None
    #: New for every attempt to push a job; None for a job that was not pushed.
    delivery_id: str | None = None
    lease_token: Any = None
    #: The members of the job in the message, if the message has no ``args``: it refers to a job that is too large for
    #: the queue.
    reference: Mapping[str, Any] | None = None

    @classmethod
    def parse(cls, body: bytes | str) -> Delivery:
        """Reads the body of a push delivery, ``{"job": …, "worker_id", "delivery_id"}``, or a job alone.

        Raises OJSValidationError (``invalid_request``), which names the wrong member.
        """
        return cls.of(cls.read(body))

    @staticmethod
    def read(body: bytes | str) -> Any:
        """The value of a body. Raises as :meth:`parse`."""
        try:
            return loads(body)
        except OJSError as error:
            raise invalid(error.message.replace("the answer", "the body")) from None

    @classmethod
    def of(cls, data: Any) -> Delivery:
        """The same for JSON that has been decoded."""
        if not isinstance(data, Mapping):
            raise invalid("the body must be a JSON object with a job")
        job = data.get("job", data)
        if not isinstance(job, Mapping):
            raise invalid("'job' must be an object")
        for name in ("id", "type"):
            if not isinstance(job.get(name), str) or not job[name]:
                raise invalid(f"'{name}' of the job must be a text that is not empty")
        if not isinstance(job.get("args", []), list):
            raise invalid("'args' of the job must be an array")
        return cls(
            id=job["id"],
            type=job["type"],
            queue=str(job.get("queue") or "default"),
            attempt=_whole("attempt", job.get("attempt"), 1),
            envelope=dumps(job),
            checkpoint=job.get("checkpoint"),
            timeout=_seconds(job),
            worker_id=_text(data.get("worker_id") or job.get("worker_id")),
            delivery_id=_text(data.get("delivery_id")),
            lease_token=data.get("lease_token", job.get("lease_token")),
            reference=None if "args" in job else job,
        )

    @property
    def has_checkpoint_ref(self) -> bool:
        """Whether the server has a checkpoint of the job that is too large for the message as well."""
        return self.reference is not None and self.reference.get("checkpoint_ref") is True

    def completed(self, job: Mapping[str, Any], checkpoint: Mapping[str, Any] | None) -> Delivery:
        """The same delivery with the whole job, as the server has it. Members of the message count: its lease and its
        attempt are those of this delivery.
        """
        members = {**job, **(self.reference or {})}
        members.pop("checkpoint_ref", None)
        if checkpoint is not None:
            members["checkpoint"] = {"state": checkpoint["state"], "sequence": checkpoint["sequence"]}
        return Delivery.of({"job": members, "delivery_id": self.delivery_id, **self.lease()})

    def lease(self) -> dict[str, Any]:
        """The members by which a call to the server names this delivery, beside the job's id."""
        named = {"worker_id": self.worker_id, "lease_token": self.lease_token}
        return {name: value for name, value in named.items() if value is not None}


def invalid(message: str) -> OJSValidationError:
    """A delivery that cannot be read."""
    return OJSValidationError(message, code="invalid_request")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _whole(name: str, value: Any, default: int) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise invalid(f"'{name}' of the job must be a whole number")
    return value


def _seconds(job: Mapping[str, Any]) -> float | None:
    length = _whole("timeout_ms", job.get("timeout_ms"), 0)
    return length / 1000 if length > 0 else None
