"""Helpers of the serverless tests: signed requests, a Runtime API of AWS Lambda, and the loop of an event source."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import queue
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import openjobspec as ojs
from support import PATIENCE

SECRET = "whsec_test_secret"
NOW = 1_708_030_665


def job(
    job_type: str = "email.send", *args: Any, id: str = "019539a4-0000-7000-8000-000000000001", **members: Any
) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": id,
        "type": job_type,
        "queue": "default",
        "args": list(args),
        "attempt": 1,
        **members,
    }


def pushed(of: dict[str, Any], delivery: str = "del_1") -> bytes:
    """The body of a push delivery, in the form of the document."""
    return json.dumps({"job": of, "worker_id": "push_worker_01234567", "delivery_id": delivery}).encode()


def signed(body: bytes, secret: str = SECRET, now: int = NOW) -> dict[str, str]:
    """The headers of a push delivery, in the form of the document."""
    mac = hmac.new(secret.encode(), str(now).encode() + b"." + body, hashlib.sha256).hexdigest()
    return {"Content-Type": "application/json", "X-OJS-Signature": f"sha256={mac}", "X-OJS-Timestamp": str(now)}


def fetch(client: ojs.Client, count: int = 1, worker_id: str = "push_worker_01234567") -> list[dict[str, Any]]:
    """Claims jobs as the sender of push deliveries does."""
    body = {"queues": ["default"], "count": count, "worker_id": worker_id}
    jobs: list[dict[str, Any]] = client._transport.request("POST", "/workers/fetch", body)["jobs"]
    return jobs


def sqs_event(
    *bodies: Any, arn: str = "arn:aws:sqs:eu-west-1:1:ojs", groups: tuple[str, ...] = (), received: int = 1
) -> dict[str, Any]:
    """An event of SQS with a message ``m1``, ``m2`` … per body."""
    records = []
    for place, body in enumerate(bodies):
        attributes = {"ApproximateReceiveCount": str(received), **({"MessageGroupId": groups[place]} if groups else {})}
        text = body if isinstance(body, str) else json.dumps(body)
        records.append(
            {
                "messageId": f"m{place + 1}",
                "receiptHandle": "r",
                "body": text,
                "attributes": attributes,
                "eventSourceARN": arn,
            }
        )
    return {"Records": records}


def failures(answer: dict[str, Any]) -> list[str]:
    return [item["itemIdentifier"] for item in answer["batchItemFailures"]]


class Remaining:
    """The context of an invocation."""

    def __init__(self, millis: int) -> None:
        self.millis = millis

    def get_remaining_time_in_millis(self) -> int:
        return self.millis


class LambdaFunction:
    """A function in AWS's own runtime client, which gets its events from a Runtime API of the test's.

    The API is that of "Building a custom runtime for AWS Lambda": ``invocation/next``, ``invocation/{id}/response`` and
    ``invocation/{id}/error``.
    """

    def __init__(self, folder: Path, source: str, timeout: float = 30.0, **environment: str) -> None:
        self._events: queue.SimpleQueue[tuple[str, bytes] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[str, str, bytes]] = queue.SimpleQueue()
        self._timeout = timeout
        self._count = 0
        outer = self

        class Api(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._next(self)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                *_, request, what = self.path.split("/")
                outer._answers.put((what, request, body))
                self._reply(202, b'{"status":"OK"}')

            def _reply(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
                self.send_response(status)
                # The runtime client waits for ever when there is no Content-Type.
                for name, value in {
                    **(headers or {}),
                    "Content-Type": "application/json",
                    "Content-Length": str(len(body)),
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        (folder / "app.py").write_text(source)
        about = {
            "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{self._server.server_port}",
            "AWS_LAMBDA_FUNCTION_NAME": "ojs-worker",
            "AWS_LAMBDA_FUNCTION_VERSION": "1",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256",
            "LAMBDA_TASK_ROOT": str(folder),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "awslambdaric", "app.lambda_handler"],
            cwd=folder, env={**os.environ, **about, **environment},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def _next(self, http: Any) -> None:
        event = self._events.get()
        if event is None:
            http._reply(410, b"{}")
            return
        request, body = event
        http._reply(200, body, {
            "Lambda-Runtime-Aws-Request-Id": request,
            "Lambda-Runtime-Deadline-Ms": str(int((time.time() + self._timeout) * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:eu-west-1:1:function:ojs-worker",
            "Lambda-Runtime-Trace-Id": "Root=1-5759e988-bd862e3fe1be46a994272793",
        })  # fmt: skip

    def invoke(self, event: Any) -> Any:
        """What the function answers; AssertionError with its error when it raises."""
        self._count += 1
        wanted = f"request-{self._count}"
        self._events.put((wanted, json.dumps(event).encode()))
        what, request, body = self._answer()
        assert (what, request) == ("response", wanted), body.decode()
        return json.loads(body)

    def fail(self, event: Any) -> dict[str, Any]:
        """The error of an invocation that raises."""
        self._count += 1
        self._events.put((f"request-{self._count}", json.dumps(event).encode()))
        what, _, body = self._answer()
        assert what == "error", body.decode()
        error: dict[str, Any] = json.loads(body)
        return error

    def _answer(self) -> tuple[str, str, bytes]:
        try:
            return self._answers.get(timeout=PATIENCE)
        except queue.Empty:
            self._process.kill()
            raise AssertionError(
                f"the function has not answered; it printed: {self._process.communicate()[0]}"
            ) from None

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._events.put(None)
        self._server.shutdown()
        self._server.server_close()


class EventSource:
    """The event source mapping between a queue of SQS and a function, with ReportBatchItemFailures."""

    def __init__(self, sqs: Any, queue_url: str, function: LambdaFunction, arn: str) -> None:
        self._sqs = sqs
        self._queue_url = queue_url
        self._function = function
        self._arn = arn

    def poll(self) -> list[str]:
        """Passes on one batch; the bodies of messages that stay in the queue, which are visible again."""
        got = self._sqs.receive_message(QueueUrl=self._queue_url, MaxNumberOfMessages=10, AttributeNames=["All"]).get(
            "Messages", []
        )
        records = [
            {"messageId": one["MessageId"], "receiptHandle": one["ReceiptHandle"], "body": one["Body"],
             "attributes": one["Attributes"],
             "eventSource": "aws:sqs", "eventSourceARN": self._arn, "awsRegion": "eu-west-1"}
            for one in got
        ]  # fmt: skip
        failed = failures(self._function.invoke({"Records": records})) if records else []
        for one in got:
            handle = {"QueueUrl": self._queue_url, "ReceiptHandle": one["ReceiptHandle"]}
            if one["MessageId"] in failed:
                self._sqs.change_message_visibility(**handle, VisibilityTimeout=0)
            else:
                self._sqs.delete_message(**handle)
        return [one["Body"] for one in got if one["MessageId"] in failed]
