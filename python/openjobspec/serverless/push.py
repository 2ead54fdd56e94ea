"""Push deliveries: signed requests of a server, each with one job. Any framework can pass them on."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import time
from concurrent.futures import Future
from typing import Any, Awaitable, Callable, Iterable, Mapping

from ..errors import OJSValidationError, UntrustedWebhookError
from ..webhooks import verify_webhook
from ._deadline import Deadline
from ._delivery import Delivery
from ._ended import answered
from ._replays import Replays
from .handler import FunctionHandler
from .http import MAX_BODY, Answer

logger = logging.getLogger("openjobspec.serverless")
Headers = Mapping[str, str] | Iterable[tuple[str, str]]
#: The environment variable of the secrets that no argument gives: several, separated by commas, while one is being
#: replaced.
VARIABLE = "OJS_SIGNING_SECRET"


class PushHandler(FunctionHandler):
    """Answers push deliveries, in any framework: ``answer(method, headers, body)``, or as an application for WSGI or
    ASGI.

    >>> from openjobspec import serverless
    >>> handler = serverless.PushHandler(signing_secret="whsec_test_secret")
    >>> @handler.register("email.send")
    ... def send_email(ctx):
    ...     return {"message_id": "msg_123"}
    >>> handler.answer("POST", {}, b"{}").status
    401

    ``signing_secret`` is the endpoint's secret, or several while it is being replaced (``OJS_SIGNING_SECRET``). A
    request without a valid signature, or one that was signed more than ``tolerance`` seconds ago, is answered 401 and
    runs nothing. A delivery that arrives twice gets its first answer, and runs once. ``unsigned=True`` trusts every
    request: only where the platform has checked its origin already.

    ``timeout`` is what the platform allows for one request, in seconds; the run ends ``safety_margin`` seconds before
    it.
    """

    def __init__(
        self,
        worker: Any = None,
        *,
        signing_secret: str | Iterable[str] | None = None,
        tolerance: float = 300.0,
        unsigned: bool = False,
        timeout: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__(worker, **options)
        given = os.environ.get(VARIABLE, "").split(",") if signing_secret is None else signing_secret
        self._secrets = [secret.strip() for secret in ([given] if isinstance(given, str) else given) if secret.strip()]
        if unsigned and self._secrets:
            raise OJSValidationError("unsigned=True checks no signature, and there is a signing_secret: choose one")
        if timeout is not None and not timeout > 0:
            raise OJSValidationError(f"timeout must be more than zero seconds, got {timeout!r}")
        self._unsigned = unsigned
        self._tolerance = tolerance
        self._timeout = timeout
        #: The time in seconds since the epoch; tests set another clock.
        self.clock: Callable[[], float] = time.time
        # A signature from the future is valid for twice the tolerance.
        self._replays = Replays(2 * tolerance)

    def answer(self, method: str, headers: Headers, body: bytes | str, deadline: Deadline | None = None) -> Answer:
        """The answer to one request: 200 with the outcome of its job, 401 without a valid signature, 400, 405 or 413
        for a request that is not a push delivery, and 500 where the handler has no signing secret. ``body`` is that of
        the request byte for byte.
        """
        found = self._received(method, headers, body)
        if isinstance(found, Answer):
            return found
        delivery, key, answer, is_first = found
        if is_first:
            with self._replays.settling(key, answer) as settle:
                settle(Answer.of(200, answered(self.run(delivery, self._within(deadline)))))
        return answer.result()

    async def answer_async(
        self, method: str, headers: Headers, body: bytes | str, deadline: Deadline | None = None
    ) -> Answer:
        """The same on the running event loop, where coroutine handlers run too."""
        found = self._received(method, headers, body)
        if isinstance(found, Answer):
            return found
        delivery, key, answer, is_first = found
        if is_first:
            with self._replays.settling(key, answer) as settle:
                settle(Answer.of(200, answered(await self.run_async(delivery, self._within(deadline)))))
        # A request that is given up must not cancel the answer that others wait for.
        return await asyncio.shield(asyncio.wrap_future(answer))

    def wsgi(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """An application for WSGI: Flask, Django and every server of WSGI can mount it."""
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if length > MAX_BODY:
            answer = _too_large()
        else:
            names = {name[5:].replace("_", "-"): value for name, value in environ.items() if name.startswith("HTTP_")}
            answer = self.answer(environ["REQUEST_METHOD"], names, environ["wsgi.input"].read(length))
        start_response(f"{answer.status} {_REASONS[answer.status]}", list(answer.headers.items()))
        return [answer.body]

    async def asgi(
        self, scope: Mapping[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        """An application for ASGI: ``app.mount("/ojs", handler.asgi)`` in FastAPI and Starlette."""
        if scope["type"] != "http":
            raise OJSValidationError(f"a push endpoint answers requests of HTTP, and this is '{scope['type']}'")
        body = bytearray()
        more = True
        while more and len(body) <= MAX_BODY:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        answer = await self.answer_async(scope["method"], headers, bytes(body))
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": raw})
        await send({"type": "http.response.body", "body": answer.body})

    # --- inside ---

    def _received(
        self, method: str, headers: Headers, body: bytes | str
    ) -> Answer | tuple[Delivery, str, Future[Answer], bool]:
        """Checks a request; an answer means that nothing is to be run."""
        if method.upper() != "POST":
            return Answer.error(405, "method_not_allowed", "a push delivery is a POST request", allow="POST")
        raw = body.encode() if isinstance(body, str) else bytes(body)
        if len(raw) > MAX_BODY:
            return _too_large()
        if not (self._secrets or self._unsigned):
            # 401 would end the job and disable the endpoint, although only a setting is missing.
            logger.error(
                "a push endpoint needs its signing secret: set signing_secret or %s; unsigned=True trusts all requests",
                VARIABLE,
            )
            why = "the function has no signing secret: its log says what to set"
            return Answer.error(500, "internal_error", why, retryable=True)
        try:
            if not self._unsigned:
                verify_webhook(raw, headers, self._secrets, self._tolerance, self.clock())
        except UntrustedWebhookError as error:
            return Answer.error(401, "unauthenticated", error.message, details=error.details)
        try:
            delivery = Delivery.parse(raw)
        except OJSValidationError as error:
            return Answer.error(400, error.code, error.message)
        # The header with the delivery's id is not signed, the body is.
        key = delivery.delivery_id or hashlib.sha256(raw).hexdigest()
        return delivery, key, *self._replays.begin(key)

    def _within(self, deadline: Deadline | None = None) -> Deadline | None:
        return Deadline(self._timeout, self._margin) if deadline is None and self._timeout is not None else deadline


_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 405: "Method Not Allowed", 413: "Content Too Large",
            500: "Internal Server Error"}  # fmt: skip


def _too_large() -> Answer:
    return Answer.error(413, "payload_too_large", f"a push delivery has at most {MAX_BODY} bytes")
