"""Google's functions framework, and the types of Azure Functions."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import azure.functions
import functions_framework
import pytest
from serverless_support import NOW, SECRET, fetch, job, pushed, signed

import openjobspec as ojs
from openjobspec import serverless

SOURCE = """
import functions_framework
from openjobspec import serverless

handler = serverless.GoogleHandler(signing_secret="whsec_test_secret", timeout=60)
handler.clock = lambda: 1_708_030_665

@handler.register("email.send")
def send_email(ctx, to):
    if to == "fail":
        raise ValueError("boom")
    return f"sent to {to}"

@functions_framework.http
def push(request):
    return handler.handle_http(request)

@functions_framework.cloud_event
def on_event(event):
    handler.handle_cloudevent(event)
"""


def framework(folder: Path, target: str) -> Any:
    source = folder / "main.py"
    source.write_text(SOURCE)
    app = functions_framework.create_app(target=target, source=str(source))
    app.testing = True
    return app.test_client()


def cloud_event(data: Any) -> dict[str, Any]:
    headers = {
        "ce-id": "1",
        "ce-source": "//pubsub",
        "ce-specversion": "1.0",
        "ce-type": "google.cloud.pubsub.topic.v1.messagePublished",
    }
    return {"headers": headers, "json": data}


def message(of: Any) -> dict[str, Any]:
    """The data of a Pub/Sub event."""
    return {
        "message": {
            "data": base64.b64encode(json.dumps(of).encode()).decode(),
            "attributes": {"X-OJS-Job-ID": of["id"]},
        }
    }


def test_google_s_framework_passes_deliveries_on(tmp_path: Path) -> None:
    client = framework(tmp_path, "push")
    body = pushed(job("email.send", "ada"))
    answer = client.post("/", data=body, headers=signed(body))
    assert (answer.status_code, answer.json) == (200, {"status": "completed", "result": "sent to ada"})
    assert client.post("/", data=body).status_code == 401


def test_google_s_framework_passes_cloud_events_on(
    tmp_path: Path, ojs_client: ojs.Client, ojs_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OJS_URL", ojs_server)
    client = framework(tmp_path, "on_event")
    for to in ("ada", "fail"):
        ojs_client.enqueue("email.send", [to])
    jobs = fetch(ojs_client, 2)
    for one in jobs:
        assert client.post("/", **cloud_event(message(one))).status_code == 200, "the server has both outcomes"
    assert [ojs_client.get_job(one["id"]).state for one in jobs] == ["completed", "retryable"]


def test_without_a_server_pub_sub_learns_of_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OJS_URL", raising=False)
    handler = serverless.GoogleHandler()
    handler.register("email.send", lambda ctx: 1 / ctx.args[0])
    handler.handle_cloudevent({"data": job("email.send", 2)})
    with pytest.raises(serverless.DeliveryFailedError, match="division by zero"):
        handler.handle_cloudevent({"data": message(job("email.send", 0))})
    with pytest.raises(ojs.OJSValidationError, match="base64"):
        handler.handle_cloudevent({"data": {"message": {"data": "?"}}})


def test_the_limit_of_a_first_generation_function_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCTION_TIMEOUT_SEC", "0.04")
    handler = serverless.GoogleHandler(signing_secret=SECRET, safety_margin=0.02)
    handler.clock = lambda: NOW

    @handler.register("email.send")
    async def wait(ctx: ojs.JobContext) -> None:
        await asyncio.Event().wait()

    body = pushed(job())
    assert json.loads(handler.answer("POST", signed(body), body).body)["error"]["code"] == "timeout"


def azure_handler(**options: Any) -> serverless.AzureHandler:
    handler = serverless.AzureHandler(**options)
    handler.clock = lambda: NOW

    @handler.register("email.send")
    def send(ctx: ojs.JobContext, to: str) -> str:
        if to == "fail":
            raise ValueError("boom")
        return f"sent to {to}"

    return handler


def test_azure_passes_deliveries_on() -> None:
    handler = azure_handler(signing_secret=SECRET)
    body = pushed(job("email.send", "ada"))
    answer = handler.handle_http(
        azure.functions.HttpRequest(method="POST", url="/api/ojs", headers=signed(body), body=body)
    )
    assert (answer.status_code, json.loads(answer.get_body())) == (
        200,
        {"status": "completed", "result": "sent to ada"},
    )
    assert answer.headers["content-type"] == "application/json"
    assert (
        handler.handle_http(azure.functions.HttpRequest(method="POST", url="/", headers={}, body=body)).status_code
        == 401
    )


class Message:
    """A message of a queue, as Azure's worker makes it: the package has the base classes alone."""

    def __init__(self, of: Any, **counts: int) -> None:
        self._body = json.dumps(of).encode()
        self.__dict__.update(counts)

    def get_body(self) -> bytes:
        return self._body


def test_azure_s_queues_report_to_the_server(ojs_client: ojs.Client, ojs_server: str) -> None:
    handler = azure_handler(ojs_url=ojs_server)
    for to in ("ada", "fail"):
        ojs_client.enqueue("email.send", [to])
    jobs = fetch(ojs_client, 2)
    handler.handle_queue(Message(jobs[0], delivery_count=1))
    queued = azure.functions.QueueMessage(id="1", body=json.dumps(jobs[1]).encode())
    handler.handle_queue(queued)
    assert [ojs_client.get_job(one["id"]).state for one in jobs] == ["completed", "retryable"]
    handler.handle_queue(Message(jobs[0], dequeue_count=2))
    assert ojs_client.get_job(jobs[0]["id"]).state == "completed"


def test_azure_abandons_what_no_server_knows_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OJS_URL", raising=False)
    with pytest.raises(serverless.DeliveryFailedError, match="boom"):
        azure_handler().handle_queue(Message(job("email.send", "fail"), delivery_count=1))
