"""A function of AWS Lambda that runs jobs from SQS, and those that a server pushes to its address."""

from openjobspec import NonRetryableError, serverless

handler = serverless.LambdaHandler()


@handler.register("email.send")
def send_email(ctx, to):
    if "@" not in to:
        raise NonRetryableError(f"{to} is no address", code="invalid_address")
    ctx.logger.info("sent to %s", to)
    return {"sent": True}


lambda_handler = handler
