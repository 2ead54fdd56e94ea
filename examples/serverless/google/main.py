"""Functions of Google Cloud: ``push`` takes signed push deliveries, ``job`` those of a Pub/Sub topic."""

import functions_framework

from openjobspec import NonRetryableError, serverless

handler = serverless.GoogleHandler(timeout=60)


@handler.register("email.send")
def send_email(ctx, to):
    if "@" not in to:
        raise NonRetryableError(f"{to} is no address", code="invalid_address")
    return {"sent": True}


@functions_framework.http
def push(request):
    return handler.handle_http(request)


@functions_framework.cloud_event
def job(event):
    handler.handle_cloudevent(event)
