"""The vectors that all languages share, in Python: what goes over the wire, and which error an answer becomes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Iterator
from urllib.parse import parse_qsl, unquote

import pytest

import openjobspec as ojs
from openjobspec import _native, outbox, testing
from openjobspec.errors import _CLASSES
from openjobspec.same_database import NOTIFY, SameDatabase
from openjobspec.transport import environment
from strictly import each, known, vectors

OPERATIONS = vectors("operations", "answer arguments body method name path query", file="operations.json")
#: What a workflow, or a step of one, may say.
TREE = "args batch callbacks chain graph group name options type"
#: What is compared of an error.
ERROR = "class code details hint message retryable status"


class Listener(ThreadingHTTPServer):
    """Remembers the latest request, answers what it is told."""

    status = 200
    request = ""
    answer: Any = None
    received: Any = None
    text = ""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self) -> None:
        server = self.server
        assert isinstance(server, Listener)
        server.request = self.requestline
        length = int(self.headers.get("content-length", 0))
        server.text = self.rfile.read(length).decode()
        server.received = json.loads(server.text) if length else None
        body = json.dumps(server.answer).encode()
        self.send_response(server.status)
        self.send_header("content-type", "application/openjobspec+json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = respond

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    with Listener(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def client(listener: Listener) -> Iterator[ojs.Client]:
    with ojs.Client(f"http://127.0.0.1:{listener.server_port}", max_sends=1) as client:
        yield client


def test_a_member_that_no_test_compares_fails() -> None:
    with pytest.raises(AssertionError, match="these tests do not know more: compare it"):
        known({"name": "x", "more": 1}, "body name", "requests: x")


@each("case", "requests", "args body name options text type why")
def test_request(listener: Listener, client: ojs.Client, case: dict[str, Any]) -> None:
    listener.status, listener.answer = 201, {"job": {"id": "x"}}
    client.enqueue(case["type"], case["args"], **case["options"])
    listener.received.pop("id", None)
    assert listener.received == case["body"]
    assert case["text"] in (None, listener.text)


@each("case", "refusals", "name options says")
def test_refusal(client: ojs.Client, case: dict[str, Any]) -> None:
    with pytest.raises(ojs.OJSValidationError, match=re.escape(case["says"])):
        client.enqueue("email.send", [], **case["options"])


def built(tree: dict[str, Any]) -> Any:
    """A workflow, or a step of one, as a program would write it."""
    known(tree, TREE, str(tree))
    if "graph" in tree:
        for node in tree["graph"]:
            known(node, "after id step", str(node))
        nodes = [ojs.node(node["id"], built(node["step"]), after=node.get("after", [])) for node in tree["graph"]]
        return ojs.graph(nodes, name=tree.get("name"))
    for make in (ojs.chain, ojs.group, ojs.batch):
        if make.__name__ in tree:
            return make(*(built(step) for step in tree[make.__name__]), name=tree.get("name"), **tree.get("callbacks", {}))
    return ojs.JobRequest(tree["type"], tree["args"], **tree.get("options", {}))


@each("case", "workflows", "body name workflow")
def test_workflow(listener: Listener, client: ojs.Client, case: dict[str, Any]) -> None:
    listener.status, listener.answer = 201, {"workflow": {"id": "x"}}
    client.workflow(built(case["workflow"]))
    assert listener.received == case["body"]


@each("case", "webhooks", "body headers name now reason secrets tolerance")
def test_webhook(case: dict[str, Any]) -> None:
    def verify() -> None:
        more = {"tolerance": case["tolerance"], "now": case["now"]}
        ojs.verify_webhook(case["body"].encode(), case["headers"], case["secrets"], **more)

    if case["reason"] is None:
        return verify()
    with pytest.raises(ojs.UntrustedWebhookError) as refused:
        verify()
    assert refused.value.details["reason"] == case["reason"]


@each("case", "crons", "body cron name", cron="expression job name timezone")
def test_cron(listener: Listener, client: ojs.Client, case: dict[str, Any]) -> None:
    listener.status, listener.answer = 201, {"cron": {"name": "x"}}
    cron = case["cron"]
    client.register_cron(cron["name"], cron["expression"], built(cron["job"]), timezone=cron.get("timezone"))
    assert listener.received == case["body"]


def in_parts(request: str) -> dict[str, Any]:
    """The method, the decoded segments of the path below ``/ojs/v1``, and the query of a request's first line."""
    method, target, _ = request.split(" ")
    path, _, query = target.partition("?")
    segments = [unquote(segment) for segment in path.removeprefix("/ojs/v1").strip("/").split("/")]
    return {"method": method, "path": segments, "query": dict(parse_qsl(query))}


def check_operation(listener: Listener, case: dict[str, Any]) -> None:
    """Compares the latest request with a vector."""
    found = in_parts(listener.request)
    assert {**found, "body": listener.received} == {name: case[name] for name in ("method", "path", "query", "body")}


@pytest.mark.parametrize("case", OPERATIONS, ids=lambda case: case["name"])
def test_operation(listener: Listener, client: ojs.Client, case: dict[str, Any]) -> None:
    listener.status, listener.answer = 200, case["answer"]
    getattr(client, case["name"])(**case["arguments"])
    check_operation(listener, case)


@pytest.mark.parametrize("case", OPERATIONS, ids=lambda case: case["name"])
def test_operation_of_an_async_client(listener: Listener, case: dict[str, Any]) -> None:
    listener.status, listener.answer = 200, case["answer"]

    async def main() -> None:
        async with ojs.AsyncClient(f"http://127.0.0.1:{listener.server_port}", max_sends=1) as client:
            await getattr(client, case["name"])(**case["arguments"])

    asyncio.run(main())
    check_operation(listener, case)


@each("case", "answers", "answer error name status", error=ERROR)
def test_answer(listener: Listener, client: ojs.Client, case: dict[str, Any]) -> None:
    listener.status, listener.answer = case["status"], case["answer"]
    with pytest.raises(ojs.OJSAPIError) as caught:
        client.get_job("x")
    error = caught.value
    found = {name: getattr(error, name) for name in ("code", "message", "retryable", "status", "hint", "details")}
    assert type(error) is _CLASSES[case["error"]["class"]]
    assert found == {name: case["error"][name] for name in found}


@each("vector", "environments", "error name settings variables")
def test_environment(vector: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OJS_")]:
        monkeypatch.delenv(name)
    for name, text in vector["variables"].items():
        monkeypatch.setenv(name, text)
    if vector["error"]:
        for make in (ojs.Client, ojs.Worker):
            with pytest.raises(ojs.OJSValidationError) as caught:
                make("memory:")
            assert str(caught.value) == vector["error"]
        return
    assert environment() == vector["settings"]
    worker = ojs.Worker("memory:")
    assert (worker.queues, worker.concurrency) == (vector["settings"]["queues"], vector["settings"]["concurrency"])


@each(
    "vector",
    "detections",
    "calls database name server wanted",
    calls="asked lasting reason shared",
    database="error value",
    server="error value",
)
def test_same_database(listener: Listener, client: ojs.Client, vector: dict[str, Any]) -> None:
    failed = {"error": {"code": "backend_error", "message": "refused"}}
    server = vector["server"]
    listener.status, listener.answer = (200, server["value"]) if "value" in server else (500, failed)
    asked = []

    def query(sql: str) -> Any:
        assert "pg_control_system" in sql
        asked.append("database")
        if "error" in vector["database"]:
            raise RuntimeError(vector["database"]["error"])
        return vector["database"]["value"]

    same = SameDatabase(client, vector["wanted"])
    for call in vector["calls"]:
        listener.request = ""
        asked.clear()
        assert same(query) == call["shared"]
        assert asked + ["server"] * ("/health " in listener.request) == call["asked"]


@each("vector", "statements", "database in_engine migration name notify staged table")
def test_statements(vector: dict[str, Any]) -> None:
    assert outbox.migration(vector["database"], vector["table"]) == vector["migration"]
    assert _native.outbox_staged_query(vector["database"], vector["table"], vector["in_engine"]) == vector["staged"]
    assert vector["notify"] == NOTIFY


@each("vector", "fakes", "jobs name questions recorded", jobs="args meta options type", questions="error found wanted")
def test_fake(vector: dict[str, Any]) -> None:
    with testing.fake_mode() as fake, ojs.Client("memory:") as client:
        for job in vector["jobs"]:
            meta = {"meta": job["meta"]} if "meta" in job else {}
            client.enqueue(job["type"], job["args"], **job.get("options", {}), **meta)
        assert fake.requests == vector["recorded"]
        for question in vector["questions"]:
            wanted = dict(question["wanted"])
            job_type = wanted.pop("type", None)
            if question["error"]:
                with pytest.raises(ojs.OJSValidationError, match=re.escape(question["error"])):
                    fake.enqueued(job_type, **wanted)
            else:
                assert len(fake.enqueued(job_type, **wanted)) == question["found"], question
