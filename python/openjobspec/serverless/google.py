"""Google Cloud Functions: HTTP, and CloudEvents of Pub/Sub."""

from __future__ import annotations

import base64
import os
from typing import Any, Mapping

from ._delivery import Delivery, invalid
from .push import PushHandler


class GoogleHandler(PushHandler):
    """Handlers as a function of Google Cloud::

        handler = serverless.GoogleHandler(ojs_url="https://ojs.example.com", timeout=60)

        @functions_framework.http
        def push(request):
            return handler.handle_http(request)

        @functions_framework.cloud_event
        def job(event):
            handler.handle_cloudevent(event)

    ``timeout`` is the function's own (``--timeout``), in seconds. First-generation functions have it in their
    environment.
    """

    def __init__(self, worker: Any = None, *, timeout: float | None = None, **options: Any) -> None:
        said = os.environ.get("FUNCTION_TIMEOUT_SEC")
        super().__init__(worker, timeout=float(said) if timeout is None and said else timeout, **options)

    def handle_http(self, request: Any) -> tuple[bytes, int, dict[str, str]]:
        """Answers a push delivery: a request of Flask, which the functions framework passes."""
        answer = self.answer(request.method, list(request.headers.items()), request.get_data())
        return answer.body, answer.status, dict(answer.headers)

    def handle_cloudevent(self, event: Any) -> None:
        """Runs the job in the data of a Pub/Sub message, or the job that is the event's data itself, and reports its
        outcome.

        Raises :class:`~openjobspec.serverless.DeliveryFailedError` when it has failed and no server has it: Pub/Sub
        delivers it again. Its acknowledgement deadline must be ten seconds longer than ``timeout``.
        """
        self._finish(Delivery.of(_data(event)), self._within())


def _data(event: Any) -> Any:
    """The job of a CloudEvent, which is an object of the library ``cloudevents`` or a mapping."""
    found = event.get("data") if isinstance(event, Mapping) else getattr(event, "data", None)
    if found is None and hasattr(event, "get_data"):
        found = event.get_data()
    message = found.get("message") if isinstance(found, Mapping) else None
    if not isinstance(message, Mapping):
        return found
    try:
        return Delivery.read(base64.b64decode(message.get("data") or "", validate=True))
    except ValueError:
        raise invalid("'data' of the Pub/Sub message is not base64") from None
