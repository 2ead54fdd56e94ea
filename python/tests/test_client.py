"""The plain client: what it sends, what it makes of answers, how it fails."""

from __future__ import annotations

import pickle
import socket
import threading
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from support import Recorder

import openjobspec as ojs


def test_options_stand_in_options_and_defaults_are_left_out(recorder: Recorder) -> None:
    client = ojs.Client(transport=recorder)
    client.enqueue("email.send", ["a"])
    assert recorder.requests == [("POST", "/jobs", {"type": "email.send", "args": ["a"]})]
    client.enqueue(
        "email.send", ["a"], queue="mail", priority=5, timeout_ms=1000, tags=["x"], meta={"k": 1}, schema="urn:x",
        delay_until="2027-01-01T00:00:00Z", expires_at=datetime(2027, 1, 2, tzinfo=timezone.utc),
        retry=ojs.RetryPolicy(max_attempts=2, initial_interval=1.5), unique=ojs.UniquePolicy(keys=["type"], period=timedelta(minutes=5)),
        extra={"pending": True},
    )  # fmt: skip
    assert recorder.body == {
        "type": "email.send", "args": ["a"], "meta": {"k": 1}, "schema": "urn:x",
        "options": {
            "queue": "mail", "priority": 5, "timeout_ms": 1000, "delay_until": "2027-01-01T00:00:00Z",
            "expires_at": "2027-01-02T00:00:00+00:00", "retry": {"max_attempts": 2, "initial_interval": "PT1.5S"},
            "unique": {"keys": ["type"], "period": "PT5M"}, "tags": ["x"], "pending": True,
        },
    }  # fmt: skip


@pytest.mark.parametrize("given, sent", [(None, []), ([], []), ((1, 2), [1, 2]), ({"a": 1}, [{"a": 1}]), ("x", ["x"]), (0, [0])])
def test_args_are_always_an_array(recorder: Recorder, given: Any, sent: list[Any]) -> None:
    ojs.Client(transport=recorder).enqueue("a", given)
    assert recorder.body["args"] == sent


def test_a_job_goes_through_its_life(client: ojs.Client) -> None:
    job = client.enqueue("email.send", ["ä", {"n": 1}], queue="mail", meta={"trace_id": "t"}, tags=["x"], priority=3)
    assert (job.state, job.queue, job.priority, job.meta, job.tags) == ("available", "mail", 3, {"trace_id": "t"}, ["x"])
    again = client.get_job(job.id)
    assert again.args == ["ä", {"n": 1}]
    assert client.cancel_job(job.id).state == "cancelled"
    with pytest.raises(ojs.InvalidStateTransitionError) as caught:
        client.cancel_job(job.id)
    assert caught.value.status == 409
    assert caught.value.details["current_state"] == "cancelled"


def test_delays(client: ojs.Client) -> None:
    for options in ({"delay": 60}, {"delay": timedelta(minutes=1)}, {"delay_until": timedelta(minutes=1)}):
        # Counted from somewhere within the call, which may take long; a millisecond for rounding.
        before = datetime.now(timezone.utc) - timedelta(milliseconds=1)
        job = client.enqueue("a", **options)  # type: ignore[arg-type]
        after = datetime.now(timezone.utc) + timedelta(milliseconds=1)
        assert job.state == "scheduled"
        scheduled = datetime.fromisoformat((job.scheduled_at or "").replace("Z", "+00:00"))
        assert before <= scheduled - timedelta(minutes=1) <= after
    with pytest.raises(ojs.OJSValidationError):
        client.enqueue("a", delay=1, delay_until="2027-01-01T00:00:00Z")


@pytest.mark.parametrize(
    "value",
    [2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1, 10**30, 1.0, 1e-7, 0.1, "\u0000", "a\u2028b", "😀", "\x7f", "e\u0301", "𝄞" * 1000],
    ids=repr,
)
def test_values_survive(client: ojs.Client, value: Any) -> None:
    job = client.enqueue("a", [value, {"k": value}])
    back = client.get_job(job.id).args
    assert back == [value, {"k": value}]
    assert type(back[0]) is type(value)


def test_key_order_survives(client: ojs.Client) -> None:
    wanted = {"z": 1, "a": 2, "m": {"y": 1, "b": 2}}
    back = client.get_job(client.enqueue("a", [wanted]).id).args[0]
    assert list(back) == ["z", "a", "m"]
    assert list(back["m"]) == ["y", "b"]


def test_what_json_cannot_say_is_refused_before_it_is_sent(client: ojs.Client) -> None:
    for value in (object(), {1, 2}, "\ud800", lambda: None, float("nan"), {"a": [None, float("-inf")]}):
        with pytest.raises(ojs.OJSValidationError):
            client.enqueue("a", [value])
    with pytest.raises(ValueError):  # the same error, for those who know only Python
        client.enqueue("a", [object()])


def test_big_payloads(client: ojs.Client) -> None:
    text = "x" * 1_000_000
    job = client.enqueue("a", [text])
    assert client.get_job(job.id).args == [text]
    with pytest.raises(ojs.PayloadTooLargeError) as caught:
        client.enqueue("a", ["x" * 11_000_000])
    assert caught.value.status == 413


def test_batch_is_all_or_nothing(client: ojs.Client) -> None:
    jobs = client.enqueue_batch(["a", ("b", [1]), {"type": "c", "args": [2], "options": {"queue": "q"}}, ojs.JobRequest("d", 3, queue="q")])
    assert [(job.type, job.args, job.queue) for job in jobs] == [("a", [], "default"), ("b", [1], "default"), ("c", [2], "q"), ("d", [3], "q")]
    with pytest.raises(ojs.InvalidRequestError) as caught:
        client.enqueue_batch(["fine", "Not A Type"])
    assert caught.value.details["index"] == 1
    assert client.queue_stats("default")["available"] == 2
    assert client.enqueue_batch([]) == []


def test_refusals_have_classes_and_say_what_to_do(client: ojs.Client) -> None:
    with pytest.raises(ojs.JobNotFoundError) as missing:
        client.get_job("nobody/../knows this?")
    assert (missing.value.code, missing.value.numeric, missing.value.retryable) == ("not_found", "OJS-3000", False)
    assert missing.value.hint
    with pytest.raises(ojs.InvalidRequestError) as wrong:
        client.enqueue("Not A Type")
    assert wrong.value.details["field"] == "type"
    with pytest.raises(ojs.OJSAPIError, match="max_attempts"):
        client.enqueue("a", retry={"max_attempts": -1})
    first = client.enqueue("a", id="019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    with pytest.raises(ojs.DuplicateJobError) as duplicate:
        client.enqueue("a", id=first.id)
    assert duplicate.value.existing_job_id == first.id
    assert pickle.loads(pickle.dumps(duplicate.value)).details == duplicate.value.details


def test_nobody_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        client = ojs.Client(f"http://127.0.0.1:{taken.getsockname()[1]}", max_sends=1)
        with pytest.raises(ojs.OJSConnectionError) as caught:
            client.health()
        assert caught.value.retryable


def test_a_server_that_does_not_answer_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = ojs.Client(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.1, max_sends=1)
        with pytest.raises(ojs.OJSTimeoutError):
            client.health()


def test_a_proxy_that_answers_html() -> None:
    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 12\r\nConnection: close\r\n\r\n<html></html")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        client = ojs.Client(f"http://127.0.0.1:{listener.getsockname()[1]}", max_sends=1)
        with pytest.raises(ojs.OJSConnectionError) as caught:
            client.get_job("x")
        thread.join()
    assert caught.value.status == 502


def test_wrong_settings_are_named() -> None:
    with pytest.raises(ojs.OJSError, match="ftp"):
        ojs.Client("ftp://example.com")
    with pytest.raises(ojs.OJSValidationError, match="timeout"):
        ojs.Client("http://localhost", timeout=-1)


@pytest.mark.parametrize("make", [ojs.Client, ojs.AsyncClient, ojs.Worker])
def test_a_url_that_leads_nowhere_is_refused_where_it_is_given(make: Any) -> None:
    hints = {"jobs.db": "write sqlite:jobs.db for a file", "localhost:8080": "write http://localhost:8080 for a server"}
    for url, hint in hints.items():
        with pytest.raises(ojs.OJSValidationError, match=hint):
            make(url)


def test_an_empty_url_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OJS_BACKEND_URL", raising=False)
    monkeypatch.setenv("OJS_URL", "memory:from-the-environment")
    with ojs.Client("memory:from-the-environment") as named, ojs.Client("") as empty, ojs.Client() as unsaid:
        job = named.enqueue("a")
        assert (empty.get_job(job.id), unsaid.get_job(job.id)) == (job, job)


def test_closed(client: ojs.Client) -> None:
    client.enqueue("a")
    client.close()
    with pytest.raises(ojs.ClosedError):
        client.enqueue("a")


def test_queues(client: ojs.Client) -> None:
    client.enqueue("a", queue="q")
    assert client.pause_queue("q")["paused"] is True
    assert client.queue_stats("q")["available"] == 1
    assert client.resume_queue("q")["paused"] is False
    assert {queue["name"] for queue in client.list_queues()} >= {"default", "q"}


def test_a_list_is_longer_than_a_page(client: ojs.Client) -> None:
    many = {f"many-{n}" for n in range(51)}
    client.enqueue_batch([ojs.JobRequest("a", queue=queue) for queue in many])
    assert {queue["name"] for queue in client.list_queues()} >= many


def test_server_facts(client: ojs.Client) -> None:
    assert client.health()["status"] in ("ok", "healthy")
    manifest = client.manifest()
    assert manifest["specversion"] == "1.0"


def test_threads_share_a_client(client: ojs.Client) -> None:
    failed: list[BaseException] = []

    def produce() -> None:
        try:
            for _ in range(20):
                client.enqueue("a", queue="shared")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=produce) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert client.queue_stats("shared")["available"] == 160


def test_url_from_the_environment(ojs_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OJS_URL", ojs_server)
    with ojs.Client() as client:
        assert client.enqueue("a").state == "available"


def test_workflow_definitions(recorder: Recorder) -> None:
    client = ojs.Client(transport=recorder)
    status = client.workflow(ojs.chain({"type": "data.fetch", "args": {"url": "u"}}, ("data.load", [1]), name="etl"))
    assert recorder.body == {
        "type": "chain", "name": "etl",
        "steps": [{"type": "data.fetch", "args": [{"url": "u"}]}, {"type": "data.load", "args": [1]}],
    }  # fmt: skip
    assert (status.id, status.state) == ("wf", "running")
    client.workflow(ojs.group("export", ["export.csv", ojs.JobRequest("export.pdf", queue="q")]))
    assert recorder.body == {
        "type": "group", "name": "export",
        "jobs": [{"type": "export.csv", "args": []}, {"type": "export.pdf", "args": [], "options": {"queue": "q"}}],
    }  # fmt: skip
    jobs = [{"type": "email.send", "args": ["a"]}, {"type": "email.send", "args": ["b"]}]
    callbacks = {"on_complete": {"type": "batch.report", "args": []}}
    for definition in (ojs.batch(jobs, callbacks), ojs.batch(jobs, on_complete="batch.report"), ojs.batch(jobs, callbacks=callbacks)):
        client.workflow(definition)
        assert recorder.body == {"type": "batch", "jobs": jobs, "callbacks": callbacks}
    client.workflow(ojs.chain("a", ojs.group("b", "c")))
    assert recorder.body["steps"][1] == {"type": "group", "jobs": [{"type": "b", "args": []}, {"type": "c", "args": []}]}
    with pytest.raises(ojs.OJSValidationError):
        ojs.chain()
    with pytest.raises(ojs.OJSValidationError, match="on_end"):
        ojs.batch(jobs, {"on_end": "x"})
