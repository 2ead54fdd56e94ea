"""Queues of SQS as endpoints of push delivery: `ojs server`, a server of SQS that checks signatures, the loop of an
event source, and the handlers of the Python and the Node.js package behind it."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[2] / "python" / "tests")]

from ojs_server import OjsServer  # noqa: E402
from queues import Amazon, NodeFunction  # noqa: E402
from serverless_support import EventSource, LambdaFunction  # noqa: E402
from support import PATIENCE, eventually, in_state  # noqa: E402

import openjobspec as ojs  # noqa: E402

FUNCTION = """
from openjobspec import serverless

handler = serverless.LambdaHandler()

@handler.register("email.send")
def send_email(ctx, to):
    if to == "fail":
        raise ValueError("boom")
    return {"sent": len(to)}

lambda_handler = handler
"""


#: Says that it has begun a job, and never ends it.
ENDLESS = """
import os, pathlib, threading
from openjobspec import serverless

handler = serverless.LambdaHandler()

@handler.register("email.send")
def send_email(ctx, to):
    pathlib.Path(os.environ["BEGAN"]).write_text(ctx.id)
    threading.Event().wait()

lambda_handler = handler
"""


class Killed(Exception):
    """The process of a function was killed in the middle of an invocation."""


class KilledFunction(LambdaFunction):
    """A function whose process is killed while its handler runs."""

    def __init__(self, folder: Path, **environment: str) -> None:
        folder.mkdir()
        self._began = folder / "began"
        super().__init__(folder, ENDLESS, BEGAN=str(self._began), **environment)

    def invoke(self, event: Any) -> Any:
        self._events.put(("request-1", json.dumps(event).encode()))
        began = eventually(lambda: self._process.poll() is not None or self._began.exists() and self._began.read_text())
        self._process.kill()
        code = self._process.wait(PATIENCE)
        assert began == json.loads(event["Records"][0]["body"])["id"], self._process.communicate()[0]
        assert code == -signal.SIGKILL
        assert self._answers.empty(), "it has not answered"
        raise Killed


@pytest.fixture
def amazon() -> Iterator[Amazon]:
    amazon = Amazon()
    amazon.checks()
    yield amazon
    amazon.close()


@pytest.fixture
def server(amazon: Amazon, tmp_path: Path) -> Iterator[OjsServer]:
    server = OjsServer(tmp_path / "jobs.db", amazon.key)
    yield server
    server.kill()


@pytest.fixture
def client(server: OjsServer) -> Iterator[ojs.Client]:
    with ojs.Client(server.url) as client:
        yield client


@pytest.fixture(params=["python", "node"])
def function(request: pytest.FixtureRequest, server: OjsServer, tmp_path: Path) -> Iterator[Any]:
    if request.param == "node":
        made: Any = NodeFunction(tmp_path, OJS_URL=server.url)
    else:
        made = LambdaFunction(tmp_path, FUNCTION, OJS_URL=server.url)
    yield made
    made.close()


def register(client: ojs.Client, queue_url: str, **config: Any) -> str:
    endpoint = {"endpoint": f"sqs:{queue_url}", "job_types": ["email.send"], "config": config}
    return str(client.create_push_endpoint(endpoint)["id"])


def messages(amazon: Amazon, url: str) -> int:
    """Messages in a queue, those under way included."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    found = amazon.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(found[name]) for name in names)


def arrived(amazon: Amazon, url: str, count: int) -> None:
    """Waits until so many messages are in a queue."""
    eventually(lambda: messages(amazon, url) >= count)


def killed_in_the_middle(amazon: Amazon, url: str, arn: str, server: OjsServer, folder: Path) -> None:
    """Passes the message of a queue on to a function that is killed while it runs the job."""
    function = KilledFunction(folder, OJS_URL=server.url)
    try:
        with pytest.raises(Killed):
            EventSource(amazon.client("sqs"), url, function, arn).poll()
    finally:
        function.close()


def redrive(amazon: Amazon, dead: str, url: str) -> None:
    """Moves a message from a dead letter queue back, as StartMessageMoveTask does, which moto does not have."""
    sqs = amazon.client("sqs")
    (lost,) = sqs.receive_message(QueueUrl=dead, MessageAttributeNames=["All"])["Messages"]
    sqs.send_message(QueueUrl=url, MessageBody=lost["Body"], MessageAttributes=lost.get("MessageAttributes", {}))
    sqs.delete_message(QueueUrl=dead, ReceiptHandle=lost["ReceiptHandle"])


def drain(source: EventSource, done: Callable[[], bool]) -> None:
    """Passes on batches until a condition holds."""
    eventually(lambda: source.poll() is not None and done())


def test_must_1_and_2_jobs_go_through_an_event_source_mapping_and_the_function_settles_them(
    amazon: Amazon, client: ojs.Client, function: Any
) -> None:
    url, arn = amazon.queue("ojs")
    source = EventSource(amazon.client("sqs"), url, function, arn)
    register(client, url)
    jobs = [client.enqueue("email.send", [to]) for to in ("ada", "fail", "bob", *("x" * n for n in range(1, 12)))]
    arrived(amazon, url, len(jobs))
    states = lambda: [client.get_job(job.id).state for job in jobs]  # noqa: E731
    assert set(states()) == {"active"}, "they wait in the queue under their leases"
    drain(source, lambda: "active" not in states())
    assert states() == ["completed", "retryable", *["completed"] * 12]
    assert client.wait_for_result(jobs[0].id).result["sent"] == 3
    assert messages(amazon, url) == 0


def test_a_job_above_the_limit_of_a_message_goes_by_reference(
    amazon: Amazon, client: ojs.Client, function: Any
) -> None:
    url, arn = amazon.queue("ojs")
    source = EventSource(amazon.client("sqs"), url, function, arn)
    large, small = client.enqueue("email.send", ["x" * 400_000]), client.enqueue("email.send", ["ada"])
    register(client, url)
    arrived(amazon, url, 2)
    drain(source, lambda: client.get_job(large.id).state == "completed")
    assert client.wait_for_result(large.id).result["sent"] == 400_000
    in_state(client, small.id, "completed")


def test_may_4_a_fifo_queue_keeps_the_order_of_a_train(amazon: Amazon, client: ojs.Client, function: Any) -> None:
    url, arn = amazon.queue("ojs.fifo")
    source = EventSource(amazon.client("sqs"), url, function, arn)
    register(client, url)
    jobs = [client.enqueue("email.send", [to], train="dest_1") for to in ("a", "bb", "ccc")]
    for place, job in enumerate(jobs):
        arrived(amazon, url, 1)
        assert [client.get_job(later.id).state for later in jobs[place + 1 :]] == ["pending"] * (len(jobs) - place - 1)
        drain(source, lambda job=job: client.get_job(job.id).state == "completed")  # type: ignore[misc]
    ended = [client.get_job(job.id).completed_at for job in jobs]
    assert ended == sorted(ended)


def test_a_job_that_is_tried_again_at_once_is_another_message_of_a_fifo_queue(
    amazon: Amazon, client: ojs.Client, function: Any
) -> None:
    url, arn = amazon.queue("ojs.fifo")
    source = EventSource(amazon.client("sqs"), url, function, arn)
    register(client, url)
    retry = {"max_attempts": 2, "initial_interval": "PT0.001S", "jitter": False}
    job = client.enqueue("email.send", ["fail"], retry=retry)
    # SQS drops messages with one id of deduplication for five minutes: with the job's id alone, the second attempt
    # would be lost.
    drain(source, lambda: client.get_job(job.id).state == "discarded")
    assert client.get_job(job.id).attempt == 2


def test_a_message_that_is_given_up_goes_to_the_dead_letter_queue_and_the_lease_keeps_the_job(
    amazon: Amazon, client: ojs.Client, server: OjsServer, function: Any, tmp_path: Path
) -> None:
    dead, dead_arn = amazon.queue("ojs-dlq")
    policy = json.dumps({"deadLetterTargetArn": dead_arn, "maxReceiveCount": 1})
    url, arn = amazon.queue("ojs", RedrivePolicy=policy, VisibilityTimeout="1")
    register(client, url)
    job = client.enqueue("email.send", ["ada"])
    arrived(amazon, url, 1)
    sqs = amazon.client("sqs")
    killed_in_the_middle(amazon, url, arn, server, tmp_path / "killed")
    # SQS gives the message up instead of handing it out a second time.
    eventually(lambda: not sqs.receive_message(QueueUrl=url).get("Messages") and messages(amazon, dead) == 1)
    assert client.get_job(job.id).state == "active", "the server has not lost it: its lease decides"
    # Redrive: the message comes back, and the function runs the job under the lease that still holds.
    redrive(amazon, dead, url)
    drain(EventSource(sqs, url, function, arn), lambda: client.get_job(job.id).state == "completed")
    assert client.wait_for_result(job.id).result["sent"] == 3
    assert client.get_job(job.id).attempt == 1
    assert (messages(amazon, url), messages(amazon, dead)) == (0, 0)


def test_a_function_that_is_killed_in_the_middle_runs_the_job_again(
    amazon: Amazon, client: ojs.Client, server: OjsServer, function: Any, tmp_path: Path
) -> None:
    # SQS makes a message visible again that was not deleted for so long.
    url, arn = amazon.queue("ojs", VisibilityTimeout="1")
    register(client, url)
    job = client.enqueue("email.send", ["ada"])
    arrived(amazon, url, 1)
    sqs = amazon.client("sqs")
    killed_in_the_middle(amazon, url, arn, server, tmp_path / "killed")
    assert client.get_job(job.id).state == "active", "it is not settled"
    assert messages(amazon, url) == 1, "its message is not deleted"
    drain(EventSource(sqs, url, function, arn), lambda: client.get_job(job.id).state == "completed")
    assert client.wait_for_result(job.id).result["sent"] == 3
    assert client.get_job(job.id).attempt == 1, "the lease held, so it is the same attempt"
    assert messages(amazon, url) == 0


def test_a_server_that_is_killed_after_sending_takes_the_outcome_when_it_is_back(
    amazon: Amazon, tmp_path: Path
) -> None:
    url, arn = amazon.queue("ojs")
    first = OjsServer(tmp_path / "jobs.db", amazon.key)
    with ojs.Client(first.url) as client:
        register(client, url)
        job = client.enqueue("email.send", ["ada"])
        arrived(amazon, url, 1)
    first.kill()
    second = OjsServer(tmp_path / "jobs.db", amazon.key)
    function = LambdaFunction(tmp_path, FUNCTION, OJS_URL=second.url)
    try:
        with ojs.Client(second.url) as client:
            source = EventSource(amazon.client("sqs"), url, function, arn)
            drain(source, lambda: client.get_job(job.id).state == "completed")
            assert client.get_job(job.id).attempt == 1
    finally:
        function.close()
        second.kill()


def test_a_wrong_key_disables_the_endpoint_and_costs_no_job(amazon: Amazon, tmp_path: Path) -> None:
    url, _ = amazon.queue("ojs")
    wrong = OjsServer(tmp_path / "jobs.db", {**amazon.key, "aws_secret_access_key": "wrong"})
    try:
        with ojs.Client(wrong.url) as client:
            endpoint = register(client, url)
            job = client.enqueue("email.send", ["ada"], retry={"max_attempts": 1})
            eventually(lambda: client.get_push_endpoint(endpoint)["status"] == "disabled")
            assert "SignatureDoesNotMatch" in client.get_push_endpoint(endpoint)["last_failure"]["reason"]
            in_state(client, job.id, "retryable", "available")
            told = client.test_push_endpoint(endpoint)
            assert (told["success"], told["outcome"]) == (False, "refused") and "sqs:SendMessage" in told["explanation"]
    finally:
        wrong.kill()
