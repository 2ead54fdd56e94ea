"""Functions of Azure: ``push`` takes signed push deliveries, ``job`` the messages of a Service Bus queue."""

import azure.functions as func

from openjobspec import NonRetryableError, serverless

handler = serverless.AzureHandler(timeout=300)


@handler.register("email.send")
def send_email(ctx, to):
    if "@" not in to:
        raise NonRetryableError(f"{to} is no address", code="invalid_address")
    return {"sent": True}


# The handler checks the signature of each request.
app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)


@app.route(route="push", methods=["POST"])
def push(request: func.HttpRequest) -> func.HttpResponse:
    return handler.handle_http(request)


@app.service_bus_queue_trigger(arg_name="message", queue_name="ojs", connection="SERVICE_BUS")
def job(message: func.ServiceBusMessage) -> None:
    handler.handle_queue(message)
