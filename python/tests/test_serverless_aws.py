"""AWS Lambda: batches of SQS, HTTP events, EventBridge; AWS's own runtime client, and a queue of SQS behind it."""

from __future__ import annotations

import base64
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Callable, Iterator

import boto3
import pytest
from moto.server import ThreadedMotoServer
from serverless_support import (
    NOW,
    SECRET,
    EventSource,
    LambdaFunction,
    Remaining,
    failures,
    fetch,
    job,
    pushed,
    signed,
    sqs_event,
)

import openjobspec as ojs
from openjobspec import serverless

FIFO = "arn:aws:sqs:eu-west-1:1:ojs.fifo"


def handler_of(ran: list[str], worker: ojs.Worker | None = None, **options: Any) -> serverless.LambdaHandler:
    """A handler whose jobs do what their first argument says."""
    handler = serverless.LambdaHandler(worker, **options)

    @handler.register("email.send")
    def send(ctx: ojs.JobContext) -> str:
        ran.append(ctx.id)
        match ctx.args:
            case ["fail"]:
                raise ValueError("boom")
            case ["decline"]:
                raise ojs.NonRetryableError("no")
        return "sent"

    return handler


class Server:
    """An engine whose jobs were handed out under the lease of a sender of push deliveries."""

    def __init__(self, client: ojs.Client) -> None:
        self.client = client

    def jobs(self, *args: str) -> list[dict[str, Any]]:
        for arg in args:
            self.client.enqueue("email.send", [arg])
        return fetch(self.client, len(args))

    def states(self, jobs: list[dict[str, Any]]) -> list[str]:
        return [self.client.get_job(one["id"]).state for one in jobs]


@pytest.fixture
def server(client: ojs.Client) -> Server:
    return Server(client)


# --- batches ---


def test_a_batch_acks_and_nacks_at_the_server(server: Server) -> None:
    ran: list[str] = []
    handler = handler_of(ran, ojs.Worker(server.client))
    jobs = server.jobs("ok", "fail", "decline", "ok")
    answer = handler.handle_sqs(sqs_event(*jobs, "not a job"))
    assert failures(answer) == ["m5"], (
        "the server has the others, and what cannot be read goes to the dead letter queue"
    )
    assert server.states(jobs) == ["completed", "retryable", "discarded", "completed"]
    assert server.client.wait_for_result(jobs[0]["id"]).result == "sent"
    assert len(ran) == 4


def test_without_a_server_sqs_learns_of_every_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OJS_URL", raising=False)
    messages = [job("email.send", arg, id=f"job-{arg}") for arg in ("ok", "fail", "decline")]
    answer = handler_of([]).handle_sqs(sqs_event(*messages, job("unknown")))
    assert failures(answer) == ["m2", "m3", "m4"]


def test_an_outcome_that_does_not_reach_the_server_comes_again() -> None:
    handler = handler_of([], ojs_url="http://127.0.0.1:9", max_sends=1)
    assert failures(handler.handle_sqs(sqs_event(job("email.send", "ok")))) == ["m1"]


def test_messages_run_beside_each_other_as_jobs_of_a_worker_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OJS_URL", raising=False)
    both = threading.Barrier(2)
    handler = serverless.LambdaHandler(concurrency=2)
    handler.register("email.send", lambda ctx: both.wait())
    assert failures(handler.handle_sqs(sqs_event(job(), job()))) == []
    alone = serverless.LambdaHandler(concurrency=1)
    ran: list[str] = []
    alone.register("email.send", lambda ctx: ran.append(ctx.id))
    assert failures(alone.handle_sqs(sqs_event(*(job(id=name) for name in "abc")))) == []
    assert ran == ["a", "b", "c"]


def test_a_server_that_hangs_does_not_hold_up_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openjobspec.serverless.handler.CALL_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        handler = handler_of([], ojs_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert failures(handler.handle_sqs(sqs_event(job("email.send", "ok")))) == ["m1"]


def test_scenario_41_fifo_stops_a_group_at_its_first_failure_and_goes_on_with_others(server: Server) -> None:
    ran: list[str] = []
    handler = handler_of(ran, ojs.Worker(server.client))
    jobs = server.jobs("ok", "fail", "ok", "ok", "ok")
    answer = handler.handle_sqs(sqs_event(*jobs, arn=FIFO, groups=("a", "a", "a", "b", "a")))
    assert failures(answer) == ["m2", "m3", "m5"]
    assert sorted(ran) == sorted(jobs[place]["id"] for place in (0, 1, 3))
    assert server.states(jobs) == ["completed", "retryable", "active", "completed", "active"]


def test_fifo_goes_on_behind_a_job_that_failed_for_good(server: Server) -> None:
    handler = handler_of([], ojs.Worker(server.client))
    jobs = server.jobs("decline", "ok")
    assert failures(handler.handle_sqs(sqs_event(*jobs, arn=FIFO, groups=("a", "a")))) == []
    assert server.states(jobs) == ["discarded", "completed"]


def test_fifo_without_a_server_stops_at_every_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OJS_URL", raising=False)
    messages = [job("email.send", arg, id=f"job-{place}") for place, arg in enumerate(("decline", "ok"))]
    assert failures(handler_of([]).handle_sqs(sqs_event(*messages, arn=FIFO, groups=("a", "a")))) == ["m1", "m2"]


def test_a_message_that_comes_again_is_not_run_when_the_server_has_moved_on(server: Server) -> None:
    ran: list[str] = []
    handler = handler_of(ran, ojs.Worker(server.client))
    jobs = server.jobs("fail", "ok", "ok")
    handler.handle_sqs(sqs_event(*jobs[:2]))
    server.client.cancel_job(jobs[2]["id"])
    ran.clear()
    gone = job("email.send", "ok")
    assert failures(handler.handle_sqs(sqs_event(*jobs, gone, received=2))) == []
    assert ran == []


def test_a_message_that_comes_again_runs_while_its_lease_holds(server: Server) -> None:
    ran: list[str] = []
    handler = handler_of(ran, ojs.Worker(server.client))
    jobs = server.jobs("ok")
    assert failures(handler.handle_sqs(sqs_event(*jobs, received=3))) == []
    assert len(ran) == 1 and server.states(jobs) == ["completed"]


def test_what_the_time_does_not_suffice_for_comes_again_unbegun(server: Server) -> None:
    ran: list[str] = []
    handler = handler_of(ran, ojs.Worker(server.client))
    jobs = server.jobs("ok", "ok")
    assert failures(handler.handle_sqs(sqs_event(*jobs), Remaining(0))) == ["m1", "m2"]
    assert ran == [] and server.states(jobs) == ["active", "active"]


def test_a_result_that_the_server_refuses_fails_the_job_for_good(ojs_client: ojs.Client) -> None:
    worker = ojs.Worker(ojs_client)
    handler = serverless.LambdaHandler(worker)
    handler.register("email.send", lambda ctx: "x" * 3_000_000)
    ojs_client.enqueue("email.send")
    (delivered,) = fetch(ojs_client)
    assert failures(handler.handle_sqs(sqs_event(delivered))) == []
    assert ojs_client.get_job(delivered["id"]).state == "discarded"


VECTORS = Path(__file__).resolve().parents[2] / "tests" / "vectors" / "serverless_reference.json"


@pytest.mark.parametrize("vector", json.loads(VECTORS.read_text())["cases"], ids=lambda vector: vector["name"])
def test_references_are_those_of_the_vectors(vector: dict[str, Any]) -> None:
    """What the server sends for a job that is too large for a queue, and what runs then."""
    seen: list[ojs.JobContext] = []
    asked: list[str] = []

    class Server:
        def request(self, method: str, path: str, body: Any = None) -> Any:
            asked.append(f"{method} {path}")
            if path == f"/jobs/{vector['message']['id']}":
                return 200, {"job": vector["job"]}
            return 200, vector["checkpoint"] if path.endswith("/checkpoint") else {}

    handler = serverless.LambdaHandler(transport=Server())
    handler.register("email.send", seen.append)
    assert failures(handler.handle_sqs(sqs_event(vector["message"]))) == []
    (ctx,), runs = seen, vector["runs"]
    assert (ctx.args, ctx.attempt, ctx.meta) == (runs["args"], runs["attempt"], runs["meta"])
    assert ctx.load_checkpoint() == runs.get("checkpoint", {}).get("state")
    assert (f"GET /jobs/{ctx.id}/checkpoint" in asked) == ("checkpoint_ref" in vector["message"])


@pytest.mark.parametrize("answer", json.loads(VECTORS.read_text())["answers"], ids=lambda answer: answer["name"])
def test_references_end_as_the_answers_of_the_vectors_say(answer: dict[str, Any]) -> None:
    (given,) = (one for one in json.loads(VECTORS.read_text())["cases"] if "checkpoint_ref" in one["message"])
    reported: list[str] = []
    saved: list[Any] = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name, found = ("job", {"job": given["job"]})
            if self.path.endswith("/checkpoint"):
                name, found = "checkpoint", given["checkpoint"]
            said = answer[name] or {"status": 200, "body": json.dumps(found)}
            self.say(said["status"], said["body"])

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            reported.append(self.path)
            self.say(200, "{}")

        def say(self, status: int, text: str) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        handler = serverless.LambdaHandler(ojs_url=f"http://127.0.0.1:{server.server_port}")
        handler.register("email.send", lambda ctx: saved.append(ctx.load_checkpoint()))
        again = failures(handler.handle_sqs(sqs_event(given["message"])))
        server.shutdown()
        thread.join()
    ends = "again" if again else "runs" if saved else "gone"
    assert ends == answer["ends"]
    assert reported == (["/ojs/v1/workers/ack"] if ends == "runs" else [])
    if ends == "runs":
        assert saved == [given["checkpoint"]["state"] if answer["checkpoint"] is None else None]


def test_a_timeout_has_the_error_of_the_vectors() -> None:
    wanted = json.loads(VECTORS.with_name("serverless_timeout.json").read_text())["error"]
    end = threading.Event()
    handler = serverless.LambdaHandler()
    handler.register("email.send", lambda ctx: end.wait())
    error = handler(job("email.send", timeout_ms=10))["error"]
    end.set()
    assert {name: error[name] for name in wanted} == wanted


def test_a_reference_is_kept_for_later_when_the_server_cannot_be_asked() -> None:
    ran: list[str] = []
    handler = handler_of(ran, ojs_url="http://127.0.0.1:9", max_sends=1)
    reference = {"id": "1", "type": "email.send", "lease_token": 7}
    assert failures(handler.handle_sqs(sqs_event(reference))) == ["m1"]
    assert ran == []


def test_a_reference_is_not_run_where_no_server_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OJS_URL", raising=False)
    ran: list[str] = []
    handler = handler_of(ran)
    reference = {"id": "1", "type": "email.send", "lease_token": 7}
    assert failures(handler.handle_sqs(sqs_event(reference))) == ["m1"]
    for call in (handler.handle_direct, lambda one: handler.handle_eventbridge({"detail": one})):
        with pytest.raises(ojs.OJSValidationError, match="ojs_url") as caught:
            call(reference)
        assert (caught.value.code, caught.value.retryable) == ("invalid_job", True)
    assert ran == []


def test_a_reference_to_a_job_that_is_gone_is_done(client: ojs.Client) -> None:
    ran: list[str] = []
    handler = handler_of(ran, ojs.Worker(client))
    reference = {"id": "019539a4-0000-7000-8000-00000000dead", "type": "email.send", "lease_token": 7}
    assert failures(handler.handle_sqs(sqs_event(reference))) == []
    answer = handler.handle_eventbridge({"detail": reference})
    assert (answer["status"], answer["error"]["code"], answer["error"]["retryable"]) == ("failed", "not_found", False)
    assert ran == []


def test_the_id_of_a_message_is_one_segment_of_a_path() -> None:
    asked: list[str] = []

    class Server:
        def request(self, method: str, path: str, body: Any = None) -> Any:
            asked.append(f"{method} {path}")
            found = {"job": job("email.send", "ok", state="active")}
            return 200, {"state": 1, "sequence": 1} if path.endswith("/checkpoint") else found

    handler = serverless.LambdaHandler(transport=Server())
    handler.register("email.send", lambda ctx: ctx.checkpoint({"page": 1}))
    reference = {"id": "../a?b/c", "type": "email.send", "checkpoint_ref": True}
    assert failures(handler.handle_sqs(sqs_event(reference, received=2))) == []
    place = "/jobs/..%2Fa%3Fb%2Fc"
    wanted = [f"GET {place}", f"GET {place}", f"GET {place}/checkpoint", f"PUT {place}/checkpoint", "POST /workers/ack"]
    assert asked == wanted


# --- other events ---


def test_every_event_finds_its_way() -> None:
    handler = handler_of([], signing_secret=SECRET)
    handler.clock = lambda: NOW
    body = pushed(job("email.send", "ok"))
    url = {
        "version": "2.0",
        "requestContext": {"http": {"method": "POST"}},
        "headers": signed(body),
        "body": body.decode(),
    }
    gateway = {
        "httpMethod": "POST", "requestContext": {}, "headers": signed(body), "isBase64Encoded": True,
        "body": base64.b64encode(body).decode(),
    }  # fmt: skip
    for event in (url, gateway):
        answer = handler(event, Remaining(30_000))
        assert (answer["statusCode"], json.loads(answer["body"])["status"], answer["isBase64Encoded"]) == (
            200,
            "completed",
            False,
        )
    assert handler({**url, "headers": {}})["statusCode"] == 401
    assert handler({**url, "requestContext": {"http": {"method": "GET"}}})["statusCode"] == 405
    assert handler({"source": "app", "detail-type": "job", "detail": job("email.send", "ok")})["status"] == "completed"
    assert handler(job("email.send", "ok"))["status"] == "completed"
    assert handler({"Records": []}) == {"batchItemFailures": []}
    with pytest.raises(ojs.OJSValidationError, match="object"):
        handler([])


def test_eventbridge_and_direct_calls_report_to_the_server(server: Server) -> None:
    handler = handler_of([], ojs.Worker(server.client))
    jobs = server.jobs("ok", "fail")
    assert handler.handle_eventbridge({"detail": jobs[0]})["status"] == "completed"
    assert handler.handle_eventbridge({"detail": jobs[1]})["status"] == "failed"
    assert server.states(jobs) == ["completed", "retryable"]


def test_eventbridge_raises_when_no_server_knows_of_the_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OJS_URL", raising=False)
    handler = handler_of([])
    assert handler.handle_eventbridge({"detail": job("email.send", "ok")})["status"] == "completed"
    with pytest.raises(serverless.DeliveryFailedError, match="boom") as raised:
        handler.handle_eventbridge({"detail": job("email.send", "fail")})
    assert (raised.value.code, raised.value.retryable) == ("handler_error", True)


# --- the real runtime, and a real queue ---

FUNCTION = """
import asyncio

import openjobspec as ojs
from openjobspec import serverless

handler = serverless.LambdaHandler()

@handler.middleware
def count(ctx, next):
    ctx.metadata["layers"] = 1
    return next()

@handler.register("email.send")
async def send_email(ctx: ojs.JobContext, to: str):
    if to == "fail":
        raise ValueError("boom")
    if to == "wait":
        await asyncio.Event().wait()
    return {"sent": to, "layers": ctx.metadata["layers"]}

lambda_handler = handler
"""


@pytest.fixture
def function(tmp_path: Path) -> Iterator[Callable[..., LambdaFunction]]:
    """Functions in AWS's runtime client, ended after the test."""
    made: list[LambdaFunction] = []

    def make(timeout: float = 30.0, **environment: str) -> LambdaFunction:
        made.append(LambdaFunction(tmp_path, FUNCTION, timeout, **environment))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_in_aws_s_runtime_client(function: Callable[..., LambdaFunction]) -> None:
    runs = function()
    assert runs.invoke(job("email.send", "ada"))["result"] == {"sent": "ada", "layers": 1}
    assert failures(runs.invoke(sqs_event(job("email.send", "fail"), job("email.send", "ada")))) == ["m1"]
    error = runs.fail({"source": "app", "detail": job("email.send", "fail")})
    assert (error["errorType"], error["errorMessage"]) == ("DeliveryFailedError", "boom")


def test_the_runtime_s_own_deadline_ends_a_run(function: Callable[..., LambdaFunction]) -> None:
    answer = function(timeout=2.0).invoke(job("email.send", "wait"))
    assert answer["error"]["code"] == "timeout"


@pytest.fixture
def sqs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of a server of SQS in this process."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield boto3.client("sqs", region_name="eu-west-1", endpoint_url=f"http://{host}:{port}")
    server.stop()


@pytest.mark.parametrize("fifo", [False, True])
def test_from_the_server_through_sqs_and_lambda_and_back(
    fifo: bool, sqs: Any, ojs_client: ojs.Client, ojs_server: str, function: Callable[..., LambdaFunction]
) -> None:
    name = "ojs.fifo" if fifo else "ojs"
    made = sqs.create_queue(QueueName=name, Attributes={"FifoQueue": "true"} if fifo else {})["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=made, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    for to in ("ada", "fail", "bob"):
        ojs_client.enqueue("email.send", [to])
    jobs = fetch(ojs_client, 3)
    for one in jobs:
        # As an endpoint `sqs:` sends them: the train is the message group, and the id of deduplication `<job>.<lease>`.
        deduplication = f"{one['id']}.{one['lease_token']}"
        ordered = {"MessageGroupId": "train", "MessageDeduplicationId": deduplication} if fifo else {}
        sqs.send_message(QueueUrl=made, MessageBody=json.dumps(one), **ordered)
    source = EventSource(sqs, made, function(OJS_URL=ojs_server), arn)
    states = lambda: [ojs_client.get_job(one["id"]).state for one in jobs]  # noqa: E731
    again = source.poll()
    if fifo:
        assert [json.loads(body)["args"] for body in again] == [["fail"], ["bob"]], (
            "the failure, and what stands behind it"
        )
        assert states() == ["completed", "retryable", "active"]
        assert source.poll() == [], "the failed message is stale by now: the server tries the job again itself"
    else:
        assert again == []
    assert states() == ["completed", "retryable", "completed"]
    assert ojs_client.wait_for_result(jobs[0]["id"]).result == {"sent": "ada", "layers": 1}
    assert source.poll() == [], "the queue is empty"
