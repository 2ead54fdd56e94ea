"""Azure Functions: HTTP, Service Bus and storage queues."""

from __future__ import annotations

from typing import Any

from ._delivery import Delivery
from .push import PushHandler


class AzureHandler(PushHandler):
    """Handlers as a function of Azure::

        handler = serverless.AzureHandler(ojs_url="https://ojs.example.com", timeout=300)

        @app.service_bus_queue_trigger(arg_name="message", queue_name="ojs", connection="SERVICE_BUS")
        def job(message: func.ServiceBusMessage) -> None:
            handler.handle_queue(message)

        @app.route(route="ojs", methods=["POST"], auth_level=func.AuthLevel.ANONYMOUS)
        def push(request: func.HttpRequest) -> func.HttpResponse:
            return handler.handle_http(request)

    ``timeout`` is ``functionTimeout`` of ``host.json`` in seconds.
    """

    def handle_http(self, request: Any) -> Any:
        """Answers a push delivery: an ``HttpRequest``, with an ``HttpResponse`` of the package ``azure-functions``."""
        from azure.functions import HttpResponse

        answer = self.answer(request.method, dict(request.headers), request.get_body())
        return HttpResponse(answer.body, status_code=answer.status, headers=dict(answer.headers))

    def handle_queue(self, message: Any) -> None:
        """Runs the job in a message of Service Bus or of a storage queue, and reports its outcome.

        Raises :class:`~openjobspec.serverless.DeliveryFailedError` when it has failed and no server has it: the message
        is abandoned, and comes again. A lock must last fifteen seconds longer than ``timeout``.
        """
        delivery = Delivery.parse(message.get_body())
        count = getattr(message, "delivery_count", None) or getattr(message, "dequeue_count", None) or 1
        if count > 1 and self.is_stale(delivery):
            return
        self._finish(delivery, self._within())
