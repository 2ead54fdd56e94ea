"""The answer to an HTTP request, for every framework and platform."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from .._json import dumps

#: The most bytes of a request's body. A larger request is refused before its job is read. A job has 1 MiB of arguments
#: at most.
MAX_BODY = 6 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and body of an answer.

    In Flask ``return answer.body, answer.status, answer.headers``; in Django
    ``HttpResponse(answer.body, status=answer.status, headers=answer.headers)``; in FastAPI
    ``Response(answer.body, answer.status, answer.headers)``.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})

    @classmethod
    def of(cls, status: int, body: Any, **headers: str) -> Answer:
        """An answer with a JSON body."""
        return cls(status, dumps(body), {"content-type": "application/json", **headers})

    @classmethod
    def error(
        cls, status: int, code: str, message: str, *, retryable: bool = False, details: Any = None, **headers: str
    ) -> Answer:
        """An error in the form of the protocol."""
        about = {"code": code, "message": message, "retryable": retryable}
        return cls.of(status, {"error": about if details is None else {**about, "details": details}}, **headers)
