"""The Python examples of "Implement an SDK", as printed there, against a real server.

Code between the lines `# --- as printed` and `# ---` is the guide's own, to the letter.
"""

from __future__ import annotations

import asyncio
from typing import Any

import openjobspec as ojs
import pytest
from openjobspec import Job, RetryPolicy


class PrintedClient(ojs.AsyncClient):
    """The package's client with the guide's `enqueue` in place of its own."""

    # --- as printed: "enqueue(type, args, options?)"
    # Python SDK example
    async def enqueue(
        self,
        job_type: str,
        args: list[Any] | None = None,
        *,
        queue: str = "default",
        priority: int = 0,
        retry: RetryPolicy | None = None,
        delay_until: str | None = None,
    ) -> Job:
        body = {
            "type": job_type,
            "args": args or [],
        }
        options = {}
        if queue != "default":
            options["queue"] = queue
        if priority:
            options["priority"] = priority
        if retry:
            options["retry"] = retry.to_dict()
        if delay_until:
            options["delay_until"] = delay_until
        if options:
            body["options"] = options

        response = await self._transport.post("/jobs", body=body)
        return Job.from_dict(response["job"])

    # ---


def test_enqueue_as_printed(ojs_server):
    async def main():
        client = PrintedClient(ojs_server)
        job = await client.enqueue("email.send")
        assert (job.type, job.args, job.queue, job.state) == ("email.send", [], "default", "available")
        assert job.id and job.created_at, "server-assigned fields"
        job = await client.enqueue(
            "email.send", ["a@example.com"], queue="mail", priority=7, retry=RetryPolicy(max_attempts=5), delay_until="2099-01-01T00:00:00Z"
        )
        assert (job.queue, job.priority, job.max_attempts, job.state) == ("mail", 7, 5, "scheduled")
        await client.close()

    asyncio.run(main())


def test_register_as_printed(ojs_client, ojs_worker, eventually):
    worker = ojs_worker()
    sent = []

    async def send_email(to):
        sent.append(to)

    # --- as printed: "Handler registration"
    # Python: decorator
    @worker.register("email.send")
    async def handle_email(ctx: ojs.JobContext):
        to = ctx.args[0]
        await send_email(to)
        return {"sent": True}

    # ---

    job = ojs_client.enqueue("email.send", ["user@example.com"])
    with worker:
        eventually(lambda: ojs_client.get_job(job.id).state == "completed")
    assert sent == ["user@example.com"]
    assert ojs_client.get_job(job.id).result == {"sent": True}


@pytest.mark.parametrize("kind", ["plain client", "asyncio client"])
def test_enqueue_middleware_as_printed(ojs_server, kind):
    client = ojs.Client(ojs_server) if kind == "plain client" else ojs.AsyncClient(ojs_server)

    def generate_trace_id():
        return "trace-1"

    # --- as printed: "Enqueue middleware"
    # Python: enqueue middleware that adds trace context
    @client.enqueue_middleware
    async def add_trace_id(request, next):
        request.meta = request.meta or {}
        request.meta["trace_id"] = generate_trace_id()
        return await next(request)

    # ---

    if isinstance(client, ojs.Client):
        job = client.enqueue("email.send", ["a"], meta={"user_id": 1})
        client.close()
    else:

        async def main():
            job = await client.enqueue("email.send", ["a"], meta={"user_id": 1})
            await client.close()
            return job

        job = asyncio.run(main())
    assert job.meta == {"user_id": 1, "trace_id": "trace-1"}


@pytest.mark.parametrize("handler", ["plain", "coroutine"])
def test_middleware_order_as_printed(ojs_client, ojs_worker, eventually, handler):
    worker = ojs_worker()

    # --- as printed: "Test the middleware chain"
    order = []

    @worker.middleware
    async def first(ctx, next):
        order.append("first-before")
        result = await next()
        order.append("first-after")
        return result

    @worker.middleware
    async def second(ctx, next):
        order.append("second-before")
        result = await next()
        order.append("second-after")
        return result

    # ---

    async def coroutine(ctx):
        return "ok"

    worker.register("a", coroutine if handler == "coroutine" else lambda ctx: "ok")
    job = ojs_client.enqueue("a")
    with worker:
        eventually(lambda: ojs_client.get_job(job.id).state == "completed")

    # --- as printed
    # After processing a job:
    assert order == ["first-before", "second-before", "second-after", "first-after"]
    # ---
    assert ojs_client.get_job(job.id).result == "ok"


class MockTransport:
    """The guide's mock transport, in Python."""

    async def request(self, method, path, body=None):
        if path == "/jobs" and method == "POST":
            return {
                "status": 201,
                "body": {"job": {"id": "test-id", "type": "email.send", "state": "available", "args": ["test"]}},
            }
        raise RuntimeError(f"Unexpected request: {method} {path}")


def test_mock_transport():
    client = ojs.AsyncClient("http://unused", transport=MockTransport())
    job = asyncio.run(client.enqueue("email.send", ["test"]))
    assert job.id == "test-id"
    assert ojs.Client("http://unused", transport=MockTransport()).enqueue("email.send", ["test"]).id == "test-id"
    with pytest.raises(RuntimeError, match="Unexpected request: GET /jobs/x"):
        ojs.Client(transport=MockTransport()).get_job("x")


def test_requests_of_a_worker_have_the_printed_members(eventually):
    """`fetch`, `ack`, `nack` and `heartbeat` carry what the guide prints."""
    jobs = [
        {"id": "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "type": "email.send", "args": [], "attempt": 1, "queue": "default"},
        {"id": "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e10", "type": "email.fail", "args": [], "attempt": 1, "queue": "default"},
        {"id": "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e11", "type": "email.unknown", "args": [], "attempt": 1, "queue": "default"},
    ]
    seen: dict[str, list[Any]] = {}

    class Server:
        def request(self, method, path, body=None):
            seen.setdefault(path, []).append(body)
            if path == "/workers/fetch":
                handed, jobs[:] = jobs[: body["count"]], jobs[body["count"] :]
                return 200, {"jobs": handed}
            if path == "/workers/heartbeat":
                return 200, {"state": "running", "server_time": "2026-02-12T10:30:00Z"}
            if path in ("/workers/ack", "/workers/nack"):
                return 200, {"acknowledged": True, "id": body["job_id"], "state": "completed"}
            return 404, {"error": {"code": "not_found", "message": "no", "retryable": False}}

    worker = ojs.Worker(transport=Server(), queues=["critical", "default", "low"], worker_id="worker_abc123", heartbeat_interval=0.02)
    worker.register("email.send", lambda ctx: {"delivered": True})

    @worker.register("email.fail")
    def fail(ctx):
        raise ConnectionError("Connection refused to smtp.example.com:587")

    with worker:
        eventually(lambda: len(seen.get("/workers/nack", ())) == 2 and seen.get("/workers/ack") and seen.get("/workers/heartbeat"))
    fetch = seen["/workers/fetch"][0]
    assert fetch["queues"] == ["critical", "default", "low"]
    assert (fetch["worker_id"], fetch["visibility_timeout_ms"]) == ("worker_abc123", 30000)
    assert 1 <= fetch["count"] <= 10
    ack = seen["/workers/ack"][0]
    assert (ack["job_id"], ack["result"]) == ("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", {"delivered": True})
    nacks = {body["job_id"]: body["error"] for body in seen["/workers/nack"]}
    failed = nacks["019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e10"]
    assert (failed["code"], failed["retryable"]) == ("handler_error", True)
    assert failed["message"] == "Connection refused to smtp.example.com:587"
    assert "ConnectionError" in failed["details"]["stack"]
    assert nacks["019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e11"]["retryable"] is False
    beat = seen["/workers/heartbeat"][0]
    assert (beat["worker_id"], beat["state"]) == ("worker_abc123", "running")
    assert beat["active_jobs"] == len(beat["active_job_ids"])


@pytest.mark.parametrize("directive, state", [("quiet", "quiet"), ("terminate", "stopped")])
def test_directives_of_the_server(eventually, directive, state):
    class Server:
        def request(self, method, path, body=None):
            if path == "/workers/heartbeat":
                return 200, {"state": directive, "server_time": "2026-02-12T10:30:00Z"}
            if path == "/workers/fetch":
                return 200, {"jobs": []}
            return 404, {"error": {"code": "not_found", "message": "no", "retryable": False}}

    worker = ojs.Worker(transport=Server(), heartbeat_interval=0.02)
    worker.register("a", lambda ctx: None)
    worker.start()
    eventually(lambda: worker.state == state)
    worker.stop()


def test_workflow_helpers_build_the_printed_definitions():
    chain = ojs.chain(
        {"type": "data.fetch", "args": {"url": "..."}},
        {"type": "data.transform", "args": {"format": "csv"}},
        {"type": "data.load", "args": {"dest": "warehouse"}},
    )
    assert [step["type"] for step in chain.to_dict()["steps"]] == ["data.fetch", "data.transform", "data.load"]
    assert chain.to_dict()["steps"][0]["args"] == [{"url": "..."}]
    group = ojs.group({"type": "export.csv", "args": {"reportId": "rpt_456"}}, {"type": "export.pdf", "args": {"reportId": "rpt_456"}})
    assert group.to_dict()["type"] == "group" and len(group.to_dict()["jobs"]) == 2
    batch = ojs.batch(
        [
            {"type": "email.send", "args": ["user1@example.com"]},
            {"type": "email.send", "args": ["user2@example.com"]},
        ],
        {
            "on_complete": {"type": "batch.report", "args": []},
            "on_failure": {"type": "batch.alert", "args": []},
        },
    )
    assert batch.to_dict()["callbacks"] == {"on_complete": {"type": "batch.report", "args": []}, "on_failure": {"type": "batch.alert", "args": []}}


def test_structured_errors(ojs_client):
    job = ojs_client.enqueue("a")
    ojs_client.cancel_job(job.id)
    for call, error, status in [
        (lambda: ojs_client.enqueue("Not A Type"), ojs.InvalidRequestError, 400),
        (lambda: ojs_client.get_job("missing"), ojs.JobNotFoundError, 404),
        (lambda: ojs_client.cancel_job(job.id), ojs.InvalidStateTransitionError, 409),
        (lambda: ojs_client.enqueue("a", id=job.id), ojs.DuplicateJobError, 409),
    ]:
        with pytest.raises(error) as caught:
            call()
        assert (caught.value.status, caught.value.retryable) == (status, False)
        assert caught.value.code and caught.value.message
    with pytest.raises(ojs.OJSConnectionError):
        ojs.Client("http://127.0.0.1:1", max_sends=1).health()
