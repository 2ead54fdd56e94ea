"""One job in a function: the registry, middleware, context, keys and outcomes of a worker."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Callable

import pytest
from serverless_support import Remaining, fetch, job
from support import PATIENCE, eventually

import openjobspec as ojs
from openjobspec import serverless
from openjobspec.serverless._deadline import Deadline
from openjobspec.serverless._delivery import Delivery

KEYS = {"k-1": bytes(range(32))}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler that ends in order has as long as a busy machine needs."""
    monkeypatch.setattr("openjobspec.serverless._attempt.WIND_UP", PATIENCE)


def handler_with(run: Callable[[ojs.JobContext], Any], **options: Any) -> serverless.LambdaHandler:
    handler = serverless.LambdaHandler(**options)
    handler.register("email.send", run)
    return handler


def test_a_handler_gets_what_a_worker_gives_it() -> None:
    seen: dict[str, Any] = {}

    def send(ctx: ojs.JobContext, to: str, subject: str = "Hello") -> str:
        seen.update(
            id=ctx.id, type=ctx.type, queue=ctx.queue, attempt=ctx.attempt, meta=ctx.meta, to=to, subject=subject
        )
        return f"{subject}, {to}"

    handler = serverless.LambdaHandler()
    task = handler.register("email.send", send)
    assert task.type == "email.send"
    answer = handler(job("email.send", "ada@example.com", queue="mail", attempt=3, meta={"tenant_id": "acme"}))
    assert answer["result"] == "Hello, ada@example.com"
    assert seen == {
        "id": answer["job_id"], "type": "email.send", "queue": "mail", "attempt": 3, "meta": {"tenant_id": "acme"},
        "to": "ada@example.com", "subject": "Hello",
    }  # fmt: skip


def test_middleware_of_both_colours_runs_around_handlers_of_both_colours() -> None:
    handler = serverless.LambdaHandler()
    order: list[str] = []

    @handler.middleware
    def plain(ctx: ojs.JobContext, next: Any) -> Any:
        order.append("plain")
        return next()

    @handler.middleware
    async def coroutine(ctx: ojs.JobContext, next: Any) -> Any:
        order.append("coroutine")
        return await next()

    @handler.register("a")
    def in_thread(ctx: ojs.JobContext) -> str:
        return threading.current_thread().name

    @handler.register("b")
    async def on_loop(ctx: ojs.JobContext) -> int:
        await asyncio.sleep(0)
        return 7

    assert handler(job("a"))["result"].startswith("openjobspec-handler")
    assert handler(job("b"))["result"] == 7
    assert order == ["plain", "coroutine"] * 2


@pytest.mark.parametrize(
    ("raised", "code", "retryable"),
    [
        (ValueError("boom"), "handler_error", True),
        (ojs.NonRetryableError("declined", code="card_declined"), "card_declined", False),
        (ojs.Snooze(1.5), "snooze", True),
        (SystemExit(3), "handler_error", True),
    ],
)
def test_errors_are_those_of_a_worker(raised: BaseException, code: str, retryable: bool) -> None:
    def fail(ctx: ojs.JobContext) -> None:
        raise raised

    answer = handler_with(fail)(job())
    assert (answer["status"], answer["error"]["code"], answer["error"]["retryable"]) == ("failed", code, retryable)
    assert answer.get("delay_ms") == (1500 if code == "snooze" else None)


def test_a_type_without_a_handler_fails_for_good_unless_the_worker_releases_it() -> None:
    answer = serverless.LambdaHandler()(job("other"))
    assert answer["error"]["code"] == "no_handler" and answer["error"]["retryable"] is False
    answer = serverless.LambdaHandler(unknown_types="release")(job("other"))
    assert answer["error"]["retryable"] is True
    fallback = serverless.LambdaHandler()
    fallback.register("*", lambda ctx: ctx.type)
    assert fallback(job("other"))["result"] == "other"


def test_arguments_are_decrypted_with_the_worker_s_keys(ojs_client: ojs.Client, ojs_server: str) -> None:
    with ojs.Client(ojs_server, encryption_keys=KEYS) as producer:
        producer.enqueue("email.send", ["secret"])
    (delivered,) = fetch(ojs_client)
    assert "secret" not in str(delivered)
    assert handler_with(lambda ctx: ctx.args, encryption_keys=KEYS)(delivered)["result"] == ["secret"]
    error = handler_with(lambda ctx: ctx.args, encryption_keys={"k-2": bytes(32)})(delivered)["error"]
    assert (error["code"], error["type"], error["retryable"]) == ("x_codec_unknown_key", "DecryptionError", True)
    error = handler_with(lambda ctx: ctx.args, encryption_keys={"k-1": bytes(32)})(delivered)["error"]
    assert (error["code"], error["retryable"]) == ("x_codec_auth_failed", False)


def test_the_registry_of_a_worker_serves_a_function_too(client: ojs.Client) -> None:
    worker = ojs.Worker(client)
    worker.register("email.send", lambda ctx: "sent")
    handler = serverless.LambdaHandler(worker)
    client.enqueue("email.send")
    (delivered,) = fetch(client)
    assert handler(delivered)["status"] == "completed"
    assert client.get_job(delivered["id"]).state == "completed"
    with pytest.raises(ojs.OJSValidationError, match="belong to the worker"):
        serverless.LambdaHandler(worker, ojs_url="http://localhost:1")


def test_a_run_ends_before_the_platform_s_limit() -> None:
    stopped = threading.Event()

    def wait(ctx: ojs.JobContext) -> str:
        while not ctx.cancelled:
            stopped.wait(0.001)
        assert ctx.cancel_reason is ojs.CancelReason.TIMED_OUT
        stopped.set()
        return "" if ctx.type == "late" else ctx.raise_if_cancelled()  # type: ignore[func-returns-value]

    handler = handler_with(wait, safety_margin=0.02)
    handler.register("late", wait)
    answer = handler(job(), Remaining(40))
    assert (answer["error"]["code"], answer["error"]["retryable"]) == ("timeout", True)
    assert stopped.is_set(), "the handler was asked to stop"
    assert handler(job("late"), Remaining(40))["status"] == "completed", "what a late handler has completed counts"
    assert handler(job(timeout_ms=10))["error"]["code"] == "timeout", "the job's own limit"


def test_a_coroutine_is_cancelled_at_the_limit() -> None:
    cancelled = threading.Event()

    async def wait(ctx: ojs.JobContext) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    handler = handler_with(wait, safety_margin=0.02)
    assert handler(job(), Remaining(40))["error"]["code"] == "timeout"
    assert cancelled.is_set()


def test_a_handler_that_never_looks_up_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openjobspec.serverless._attempt.WIND_UP", 0.01)
    end = threading.Event()
    handler = handler_with(lambda ctx: end.wait(), safety_margin=0.02)
    assert handler(job(), Remaining(40))["error"]["code"] == "timeout"
    end.set()


def test_the_margin_is_half_of_what_is_left_at_most() -> None:
    def left(seconds: float, margin: float) -> float | None:
        return Deadline(seconds, margin, clock=lambda: 0.0).left()

    assert left(30, 5) == 25
    assert left(3, 5) == 1.5
    assert Deadline(None, 5).left() is None and Deadline(None, 5).left(7) == 7
    assert Deadline(30, 5, clock=lambda: 0.0).left(7) == 7
    assert Deadline.of_lambda(object(), 5).left() is None


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"{", "JSON"), (b"[]", "object"), (b'{"job":7}', "'job'"), (b'{"type":"a"}', "'id'"),
        (b'{"id":"1","type":""}', "'type'"),
        (b'{"id":"1","type":"a","args":{}}', "'args'"), (b'{"id":"1","type":"a","attempt":"x"}', "'attempt'"),
    ],
)  # fmt: skip
def test_what_is_no_delivery_is_refused_by_name(body: bytes, named: str) -> None:
    with pytest.raises(ojs.OJSValidationError, match=named) as refused:
        Delivery.parse(body)
    assert refused.value.code == "invalid_request"


def test_checkpoints_steps_progress_and_heartbeats_reach_the_server(client: ojs.Client) -> None:
    worker = ojs.Worker(client)
    runs: list[str] = []

    @worker.register("import.run")
    def run(ctx: ojs.JobContext) -> Any:
        charged = ctx.step("charge", lambda: runs.append("charge") or {"id": "ch_1"})
        if ctx.has_checkpoint:
            return [ctx.load_checkpoint(), charged]
        assert ctx.heartbeat()
        ctx.progress(0.5, "half", data={"row": 7})
        assert ctx.checkpoint({"page": 7}) == 2
        raise ValueError("again")

    handler = serverless.LambdaHandler(worker)
    made = client.enqueue("import.run", retry=ojs.RetryPolicy(max_attempts=3, initial_interval=0.001))
    (delivered,) = fetch(client)
    assert handler({**delivered, "worker_id": "push_worker_01234567"})["status"] == "failed"
    assert client.get_progress(made.id)["progress"] == 0.5
    # The next attempt, in a worker or in a function, goes on from there.
    (again,) = eventually(lambda: fetch(client))
    assert again["attempt"] == 2
    assert handler(again)["result"] == [{"page": 7}, {"id": "ch_1"}]
    assert runs == ["charge"]
    assert client.get_job(made.id).state == "completed"


def test_coroutines_save_and_beat_without_blocking_their_loop(client: ojs.Client) -> None:
    worker = ojs.Worker(client)

    @worker.register("import.run")
    async def run(ctx: ojs.JobContext) -> Any:
        assert await ctx.heartbeat()
        await ctx.checkpoint({"page": 1})
        return await ctx.step("a", lambda: 3)

    client.enqueue("import.run")
    (delivered,) = fetch(client)
    assert serverless.LambdaHandler(worker)(delivered)["result"] == 3


def test_a_lost_lease_stops_the_run(client: ojs.Client) -> None:
    worker = ojs.Worker(client)
    handler = serverless.LambdaHandler(worker)

    @worker.register("import.run")
    def run(ctx: ojs.JobContext) -> None:
        client.cancel_job(ctx.id)
        ctx.checkpoint({"page": 1})

    client.enqueue("import.run")
    (delivered,) = fetch(client)
    answer = handler(delivered)
    assert answer["error"]["code"] == "released"
    assert client.get_job(delivered["id"]).state == "cancelled"


def test_without_a_server_a_checkpoint_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OJS_URL", "OJS_BACKEND_URL"):
        monkeypatch.delenv(name, raising=False)
    answer = handler_with(lambda ctx: ctx.checkpoint(1))(job())
    assert "ojs_url" in answer["error"]["message"]


@pytest.mark.parametrize("name", ["OJS_URL", "OJS_BACKEND_URL"])
def test_either_variable_names_the_server(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for other in ("OJS_URL", "OJS_BACKEND_URL"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "memory:")
    answer = handler_with(lambda ctx: ctx.checkpoint(1))(job())
    assert "ojs_url" not in answer["error"]["message"], "the server was asked"


def test_wrong_settings_are_refused() -> None:
    for options in ({"safety_margin": -1}, {"timeout": 0}, {"unsigned": True, "signing_secret": "a"}, {"urls": "x"}):
        with pytest.raises(ojs.OJSValidationError):
            serverless.PushHandler(**options)  # type: ignore[arg-type]
