"""AWS Lambda: SQS, function URLs, API Gateway, EventBridge, and direct invocations."""

from __future__ import annotations

import base64
import itertools
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Mapping

from .._outcome import COMPLETED
from ..errors import JobNotFoundError, OJSError, OJSValidationError
from ._deadline import Deadline
from ._delivery import Delivery
from ._ended import answered, comes_again
from .push import PushHandler

logger = logging.getLogger("openjobspec.serverless")


class LambdaHandler(PushHandler):
    """Handlers as a function of AWS Lambda::

        from openjobspec import serverless

        handler = serverless.LambdaHandler(ojs_url="https://ojs.example.com")

        @handler.register("email.send")
        def send_email(ctx):
            ...

        lambda_handler = handler.handle_sqs   # or `handler` itself, which looks at the event

    Outcomes of jobs that SQS, EventBridge or a direct call has brought go to the server ``ojs_url``. Without a
    server, only the answer to the queue tells what became of them. A run ends ``safety_margin`` seconds before the
    function's own time-out.
    """

    def __call__(self, event: Any, context: Any = None) -> Any:
        """Takes an event of any kind; its members say which."""
        if not isinstance(event, Mapping):
            raise OJSValidationError(
                "the event must be an object: of SQS, a function URL, API Gateway, EventBridge, or a job",
                code="invalid_request",
            )
        if "Records" in event:
            return self.handle_sqs(event, context)
        if "httpMethod" in event or "http" in _part(event, "requestContext"):
            return self.handle_http(event, context)
        if "detail-type" in event or "source" in event:
            return self.handle_eventbridge(event, context)
        return self.handle_direct(event, context)

    def handle_sqs(self, event: Mapping[str, Any], context: Any = None) -> dict[str, Any]:
        """Runs the jobs of a batch and returns those that SQS shall deliver again, as ``batchItemFailures``.

        The event source mapping needs ``ReportBatchItemFailures``. A message is delivered again when it cannot be read,
        and when its outcome did not reach the server. The server decides about the next attempt of a failure that it
        has stored.

        As many messages run at a time as a worker would run jobs (``concurrency``). Those of a group of a FIFO queue
        run one after the other, and the first failure that will be tried again ends the work on the group: the message
        and those behind it are delivered again, other groups go on.
        """
        deadline = Deadline.of_lambda(context, self._margin)
        records: list[Mapping[str, Any]] = list(event.get("Records", ()))
        lines = _lines(records)

        def again(line: list[int]) -> list[int]:
            """The messages of a line that come again: the first that has failed, and those behind it."""
            for place, index in enumerate(line):
                if deadline.passed or not self._settled(records[index], deadline):
                    return line[place:]
            return []

        if len(lines) < 2 or self.worker.concurrency == 1:
            failed = [again(line) for line in lines]
        else:
            with ThreadPoolExecutor(min(self.worker.concurrency, len(lines)), "openjobspec-batch") as threads:
                failed = list(threads.map(again, lines))
        messages = [records[index].get("messageId", "") for index in sorted(itertools.chain.from_iterable(failed))]
        return {"batchItemFailures": [{"itemIdentifier": message} for message in messages]}

    def handle_http(self, event: Mapping[str, Any], context: Any = None) -> dict[str, Any]:
        """Answers a push delivery that came by a function URL or API Gateway (payload formats 1.0 and 2.0)."""
        body = event.get("body") or ""
        raw = base64.b64decode(body) if event.get("isBase64Encoded") else body.encode()
        method = event.get("httpMethod") or _part(_part(event, "requestContext"), "http").get("method", "")
        headers = {**_part(event, "headers")}
        answer = self.answer(str(method), headers, raw, Deadline.of_lambda(context, self._margin))
        return {
            "statusCode": answer.status,
            "headers": dict(answer.headers),
            "body": answer.body.decode(),
            "isBase64Encoded": False,
        }

    def handle_eventbridge(self, event: Mapping[str, Any], context: Any = None) -> dict[str, Any]:
        """Runs the job in ``detail``. Raises :class:`~openjobspec.serverless.DeliveryFailedError` when it has failed
        and no server has it: then Lambda calls the function again.
        """
        delivery = Delivery.of(event.get("detail"))
        outcome = self._finish(delivery, Deadline.of_lambda(context, self._margin))
        return answered(outcome, job_id=delivery.id)

    def handle_direct(self, event: Mapping[str, Any], context: Any = None) -> dict[str, Any]:
        """Runs the job that the event is, and returns ``{"status", "job_id"}`` with its ``result`` or ``error``."""
        delivery = self._whole(Delivery.of(event))
        outcome = self.run(delivery, Deadline.of_lambda(context, self._margin))
        self.report(delivery, outcome)
        return answered(outcome, job_id=delivery.id)

    def _settled(self, record: Mapping[str, Any], deadline: Deadline) -> bool:
        """Runs the job of one message; false when SQS shall deliver it again."""
        try:
            delivery = Delivery.parse(record.get("body") or "")
        except OJSValidationError as error:
            logger.error("message %s of SQS holds no job: %s", record.get("messageId"), error)
            return False
        if int(_part(record, "attributes").get("ApproximateReceiveCount", 1)) > 1 and self.is_stale(delivery):
            logger.info("job %s was delivered again, and the server has moved on: it is not run", delivery.id)
            return True
        try:
            delivery = self._whole(delivery)
        except JobNotFoundError:
            logger.info("job %s is gone: it is not run", delivery.id)
            return True
        except OJSError as error:
            logger.error("job %s cannot be read from the server: %s", delivery.id, error)
            return False
        outcome = self.run(delivery, deadline)
        taken = self.report(delivery, outcome)
        if not self._has_server:
            return outcome[1] == COMPLETED
        return taken and (_group(record) is None or not comes_again(outcome))


def _part(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A member that is an object; an empty one where there is none."""
    found = of.get(name)
    return found if isinstance(found, Mapping) else {}


def _lines(records: list[Mapping[str, Any]]) -> list[list[int]]:
    """The messages of a batch by their places: those of a group in a line, every other one alone."""
    lines: dict[Any, list[int]] = {}
    for index, record in enumerate(records):
        group = _group(record)
        lines.setdefault(index if group is None else group, []).append(index)
    return list(lines.values())


def _group(record: Mapping[str, Any]) -> str | None:
    """The message group of a FIFO queue; None in a standard queue."""
    if not str(record.get("eventSourceARN", "")).endswith(".fifo"):
        return None
    return str(_part(record, "attributes").get("MessageGroupId", ""))
