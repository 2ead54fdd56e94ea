"""Push deliveries: signatures, replays, and the frameworks that pass them on."""

from __future__ import annotations

import asyncio
import datetime
import io
import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable, Iterator

import flask
import pytest
from fastapi import FastAPI, Request, Response
from fastapi.testclient import TestClient
from ojs_server import OjsServer
from serverless_support import NOW, SECRET, fetch, job, pushed, signed
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from support import PATIENCE, in_state

import openjobspec as ojs
from openjobspec import serverless
from openjobspec.serverless._replays import Replays

#: A secret in the form of Standard Webhooks.
STANDARD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def endpoint(run: Callable[[ojs.JobContext], Any] | None = None, **options: Any) -> serverless.PushHandler:
    handler = serverless.PushHandler(signing_secret=options.pop("signing_secret", SECRET), **options)
    handler.clock = lambda: NOW
    handler.register("email.send", run or (lambda ctx: {"message_id": "msg_123"}))
    return handler


def body_of(answer: serverless.Answer) -> Any:
    return json.loads(answer.body)


def test_the_document_s_request_gets_the_document_s_answer() -> None:
    body = pushed(job("email.send", {"to": "user@example.com"}))
    answer = endpoint().answer("POST", signed(body), body)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert body_of(answer) == {"status": "completed", "result": {"message_id": "msg_123"}}

    def fail(ctx: ojs.JobContext) -> None:
        raise ConnectionError("SMTP connection refused")

    answer = endpoint(fail).answer("POST", signed(body), body)
    error = body_of(answer)["error"]
    assert (answer.status, body_of(answer)["status"]) == (200, "failed")
    assert (error["code"], error["message"], error["retryable"]) == ("handler_error", "SMTP connection refused", True)


BODY = pushed(job())


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, "missing_header"),
        ({**signed(BODY), "X-OJS-Signature": ""}, "signature_mismatch"),
        ({"X-OJS-Signature": signed(BODY)["X-OJS-Signature"]}, "missing_header"),
        ({**signed(BODY), "X-OJS-Timestamp": "soon"}, "invalid_header"),
        (signed(BODY, "whsec_of_another_endpoint"), "signature_mismatch"),
        (signed(BODY + b" "), "signature_mismatch"),
        (signed(BODY, now=NOW - 301), "stale_timestamp"),
        (signed(BODY, now=NOW + 301), "stale_timestamp"),
    ],
)
def test_a_wrong_or_missing_signature_is_401_and_runs_nothing(headers: dict[str, str], reason: str) -> None:
    ran: list[str] = []
    handler = endpoint(lambda ctx: ran.append(ctx.id))
    for answer in (handler.answer("POST", headers, BODY), asyncio.run(handler.answer_async("POST", headers, BODY))):
        assert (answer.status, body_of(answer)["error"]["details"]["reason"], ran) == (401, reason, [])


def test_two_secrets_are_valid_during_a_rotation() -> None:
    handler = endpoint(signing_secret=["whsec_new", "whsec_old"])
    for delivery, secret in (("del_1", "whsec_new"), ("del_2", "whsec_old")):
        body = pushed(job(), delivery)
        assert handler.answer("POST", signed(body, secret), body).status == 200
    other = ",".join(signed(BODY, secret)["X-OJS-Signature"] for secret in ("whsec_newer", "whsec_new"))
    assert handler.answer("POST", {**signed(BODY), "X-OJS-Signature": other}, BODY).status == 200


def test_the_secret_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OJS_SIGNING_SECRET", f"whsec_next,{SECRET}")
    handler = endpoint(signing_secret=None)
    assert handler.answer("POST", signed(BODY), BODY).status == 200
    monkeypatch.delenv("OJS_SIGNING_SECRET")
    assert endpoint(signing_secret=None, unsigned=True).answer("POST", {}, BODY).status == 200


def test_a_handler_without_a_secret_answers_what_is_tried_again_and_logs_what_to_set(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """401 would end the job and disable the endpoint, although only a setting is missing."""
    ran: list[str] = []
    handler = endpoint(lambda ctx: ran.append(ctx.id), signing_secret="")
    for answer in (handler.answer("POST", signed(BODY), BODY), asyncio.run(handler.answer_async("POST", {}, BODY))):
        error = body_of(answer)["error"]
        assert (answer.status, error["code"], error["retryable"], ran) == (500, "internal_error", True, [])
    told = [record.levelname for record in caplog.records if "OJS_SIGNING_SECRET" in record.getMessage()]
    assert told == ["ERROR", "ERROR"]

    said: list[str] = []
    environ = {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": str(len(BODY)), "wsgi.input": io.BytesIO(BODY)}
    handler.wsgi(environ, lambda status, headers: said.append(status))
    assert said == ["500 Internal Server Error"]


@pytest.mark.parametrize(
    ("method", "body", "status", "code"),
    [
        ("GET", BODY, 405, "method_not_allowed"),
        ("POST", b"{", 400, "invalid_request"),
        ("POST", b'{"job":{"id":"1"}}', 400, "invalid_request"),
        ("POST", b" " * (6 * 1024 * 1024 + 1), 413, "payload_too_large"),
    ],
)
def test_what_is_no_delivery_is_refused(method: str, body: bytes, status: int, code: str) -> None:
    answer = endpoint().answer(method, signed(body), body)
    assert (answer.status, body_of(answer)["error"]["code"], body_of(answer)["error"]["retryable"]) == (
        status,
        code,
        False,
    )


def test_a_delivery_that_arrives_twice_runs_once() -> None:
    ran: list[str] = []
    handler = endpoint(lambda ctx: ran.append(ctx.id) or len(ran))
    first = handler.answer("POST", signed(BODY), BODY)
    assert handler.answer("POST", {**signed(BODY), "X-OJS-Delivery-ID": "del_forged"}, BODY) == first, (
        "the header is not signed"
    )
    assert handler.answer("POST", signed(BODY, now=NOW - 9), BODY) == first, "sent again, and signed anew"
    assert len(ran) == 1
    other = pushed(job(), "del_2")
    assert handler.answer("POST", signed(other), other) != first


def test_a_delivery_that_arrives_again_while_it_runs_waits_for_its_answer() -> None:
    began, go_on = threading.Event(), threading.Event()

    def run(ctx: ojs.JobContext) -> int:
        assert not began.is_set()
        began.set()
        go_on.wait()
        return 1

    handler = endpoint(run)
    answers: list[serverless.Answer] = []
    threads = [
        threading.Thread(target=lambda: answers.append(handler.answer("POST", signed(BODY), BODY))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    began.wait()
    go_on.set()
    for thread in threads:
        thread.join()
    assert [body_of(answer)["result"] for answer in answers] == [1, 1, 1]


def test_the_memory_of_deliveries_is_bounded() -> None:
    now = [0.0]
    memory = Replays(600, clock=lambda: now[0], entries=3, size=100)

    def arrive(delivery: str, length: int = 1) -> bool:
        answer, is_first = memory.begin(delivery)
        if is_first:
            with memory.settling(delivery, answer) as settle:
                settle(serverless.Answer(200, b" " * length))
        return is_first

    assert [arrive(name) for name in "abca"] == [True, True, True, False]
    assert arrive("d") and arrive("a"), "number"
    now[0] = 601
    assert arrive("d"), "time"
    assert arrive("e", 200) and arrive("f") and arrive("e"), "size"
    assert len(memory) <= 3
    answer, _ = memory.begin("g")
    with pytest.raises(ValueError), memory.settling("g", answer):
        raise ValueError
    assert isinstance(answer.exception(), ojs.OJSError), "those who wait get an error"
    assert arrive("g"), "and it may come again"


def test_an_answer_that_was_dropped_while_its_delivery_ran_takes_no_room() -> None:
    memory = Replays(600, entries=1, size=100)
    slow, _ = memory.begin("a")
    with memory.settling("a", slow) as settle_slow:
        memory.begin("b")
        again, is_first = memory.begin("a")
        assert is_first, "it was dropped for b"
        settle_slow(serverless.Answer(200, b" " * 200))
    with memory.settling("a", again) as settle:
        settle(serverless.Answer(200, b"1"))
    assert memory.begin("a") == (again, False), "the answer that is kept is small, so nothing is dropped for its size"
    lost, _ = memory.begin("b")
    memory.begin("a")
    with pytest.raises(ValueError), memory.settling("b", lost):
        memory.begin("b")
        raise ValueError
    assert memory.begin("b")[1] is False, "a run that is given up leaves the entry of the next one"


def test_standard_webhooks_signs_what_we_verify() -> None:
    when = datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc)
    headers = {
        "webhook-id": "del_1",
        "webhook-timestamp": str(NOW),
        "webhook-signature": Webhook(STANDARD).sign("del_1", when, BODY.decode()),
    }
    assert endpoint(signing_secret=STANDARD).answer("POST", headers, BODY).status == 200
    assert endpoint(signing_secret=STANDARD).answer("POST", {**headers, "webhook-id": "del_2"}, BODY).status == 401


class Endpoint:
    """An endpoint that checks requests with the library of Standard Webhooks alone, with each of its secrets."""

    def __init__(self) -> None:
        self.secrets: list[str] = []
        requests: queue.SimpleQueue[tuple[dict[str, str], bytes, Exception | None]] = queue.SimpleQueue()
        outer = self

        class Receiver(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers, wrong = dict(self.headers.items()), None
                try:
                    for secret in outer.secrets:
                        Webhook(secret).verify(body, headers)
                except Exception as error:
                    wrong = error
                requests.put((headers, body, wrong))
                answer = b"" if wrong else b'{"status":"completed"}'
                self.send_response(401 if wrong else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args: Any) -> None:
                pass

        self._requests = requests
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def next(self) -> tuple[dict[str, str], bytes]:
        """Headers and body of the next request, which was signed with all secrets."""
        headers, body, wrong = self._requests.get(timeout=PATIENCE)
        if wrong is not None:
            raise wrong
        return headers, body

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Endpoint]:
    made = Endpoint()
    yield made
    made.close()


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    server = OjsServer(tmp_path / "jobs.db")
    yield server.url
    server.kill()


@pytest.fixture
def sender(address: str) -> Iterator[ojs.Client]:
    with ojs.Client(address) as client:
        yield client


def test_standard_webhooks_verifies_what_a_server_signs(sender: ojs.Client, receiver: Endpoint) -> None:
    registered = sender.create_push_endpoint({"endpoint": receiver.url, "job_types": ["t"], "queues": ["q"]})
    old = registered["config"]["signing_secret"]
    receiver.secrets = [old]
    job = sender.enqueue("t", ["ada"], queue="q")
    headers, body = receiver.next()
    delivered = Webhook(old).verify(body, headers)
    assert (delivered["job"]["id"], delivered["job"]["args"]) == (job.id, ["ada"])
    in_state(sender, job.id, "completed")

    new = sender.rotate_push_secret(registered["id"])["config"]["signing_secret"]
    for secret, changed in ((old, body.replace(b"ada", b"adb")), (new, body)):
        with pytest.raises(WebhookVerificationError, match="No matching signature"):
            Webhook(secret).verify(changed, headers)

    # For a day requests are signed with both, so that a function may take the new secret later than the server.
    receiver.secrets = [old, new]
    job = sender.enqueue("t", ["bob"], queue="q")
    headers, body = receiver.next()
    for secret in (old, new):
        assert Webhook(secret).verify(body, headers)["job"]["id"] == job.id
        with pytest.raises(WebhookVerificationError, match="No matching signature"):
            Webhook(secret).verify(body.replace(b"bob", b"bop"), headers)
    in_state(sender, job.id, "completed")


def test_encrypted_arguments_are_opened_by_the_function_only(address: str, receiver: Endpoint) -> None:
    keys = {"k-1": bytes(range(32))}
    with ojs.Client(address, encryption_keys=keys) as client:
        registered = client.create_push_endpoint({"endpoint": receiver.url, "job_types": ["t"], "queues": ["q"]})
        secret = registered["config"]["signing_secret"]
        receiver.secrets = [secret]
        job = client.enqueue("t", ["4111 1111"], queue="q")
        headers, body = receiver.next()
        in_state(client, job.id, "completed")
    assert b"4111 1111" not in body
    handler = serverless.PushHandler(signing_secret=secret, encryption_keys=keys)
    handler.register("t", lambda ctx: ctx.args)
    answer = handler.answer("POST", headers, body)
    assert (answer.status, json.loads(answer.body)["result"]) == (200, ["4111 1111"])


def test_flask_passes_deliveries_on() -> None:
    handler = endpoint()
    app = flask.Flask("app")

    @app.post("/ojs")
    def push() -> Any:
        answer = handler.answer(flask.request.method, list(flask.request.headers.items()), flask.request.get_data())
        return answer.body, answer.status, answer.headers

    answer = app.test_client().post("/ojs", data=BODY, headers=signed(BODY))
    assert (answer.status_code, answer.json["status"]) == (200, "completed")


def test_fastapi_runs_coroutines_on_its_own_loop() -> None:
    loops: list[Any] = []

    async def run(ctx: ojs.JobContext) -> None:
        loops.append(asyncio.get_running_loop())

    handler = endpoint(run)
    app = FastAPI()

    @app.post("/push")
    async def push(request: Request) -> Response:
        loops.append(asyncio.get_running_loop())
        answer = await handler.answer_async(request.method, request.headers, await request.body())
        return Response(answer.body, answer.status, dict(answer.headers))

    app.mount("/mounted", handler.asgi)
    with TestClient(app) as client:
        assert client.post("/push", content=BODY, headers=signed(BODY)).json() == {"status": "completed"}
        other = pushed(job(), "del_2")
        assert client.post("/mounted/", content=other, headers=signed(other)).json() == {"status": "completed"}
        assert client.post("/mounted/", content=other).status_code == 401
        assert client.post("/mounted/", content=b" " * 7_000_000).status_code == 413
    assert len(loops) == 3 and len(set(loops)) == 1


def test_a_plain_handler_behind_asgi_does_not_block_the_loop() -> None:
    async def main() -> None:
        go_on = threading.Event()
        handler = endpoint(lambda ctx: go_on.wait() and "done")
        answer = asyncio.ensure_future(handler.answer_async("POST", signed(BODY), BODY))
        repeated = asyncio.ensure_future(handler.answer_async("POST", signed(BODY), BODY))
        await asyncio.sleep(0)
        repeated.cancel()  # a request that is given up takes no answer from the others
        go_on.set()
        assert body_of(await answer)["result"] == "done"

    asyncio.run(main())


def test_wsgi_servers_can_mount_it() -> None:
    def call(body: bytes, headers: dict[str, str]) -> tuple[str, bytes]:
        said: list[str] = []
        names = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
        environ = {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body), **names}
        chunks = handler.wsgi(environ, lambda status, headers: said.append(status))
        return said[0], b"".join(chunks)

    handler = endpoint()
    assert call(BODY, signed(BODY))[0] == "200 OK"
    assert call(BODY, {})[0] == "401 Unauthorized"
    assert call(b" " * 7_000_000, {})[0] == "413 Content Too Large"


def test_a_server_s_job_is_pushed_and_runs(client: ojs.Client) -> None:
    client.enqueue("email.send", ["ada@example.com"])
    (delivered,) = fetch(client)
    body = pushed(delivered)
    answer = endpoint(lambda ctx: ctx.args[0]).answer("POST", signed(body), body)
    assert body_of(answer) == {"status": "completed", "result": "ada@example.com"}
    assert client.get_job(delivered["id"]).state == "active", (
        "the server acks a push delivery itself, when it has the answer"
    )
