"""Registering handlers, and the tasks that come of it."""

from __future__ import annotations

import asyncio
import functools
import sqlite3
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from support import in_state

import openjobspec as ojs
from openjobspec.outbox import Outbox


def test_a_task_enqueues_with_the_handlers_own_parameters(client: ojs.Client, make_worker: Any) -> None:
    worker: ojs.Worker = make_worker()
    ran: list[Any] = []

    @worker.register("email.send")
    def send_email(ctx: ojs.JobContext, to: str, subject: str = "Hello", *more: int) -> str:
        ran.append((to, subject, *more))
        return subject

    @worker.register("email.later")
    async def later(ctx: ojs.JobContext, to: str, copies: int = 1) -> None:
        await asyncio.sleep(0)
        ran.append((to, copies))

    jobs = [
        send_email.enqueue("ada@example.com"), send_email.enqueue(to="bob@example.com"), send_email.enqueue("c", "d", 1, 2),
        later.enqueue("e", copies=2), asyncio.run(later.enqueue_async("f")),
    ]  # fmt: skip
    assert [job.args for job in jobs] == [["ada@example.com"], ["bob@example.com"], ["c", "d", 1, 2], ["e", 2], ["f"]]
    with worker:
        for job in jobs:
            in_state(client, job.id, "completed")
    assert sorted(ran) == sorted([("ada@example.com", "Hello"), ("bob@example.com", "Hello"), ("c", "d", 1, 2), ("e", 2), ("f", 1)])
    assert send_email(Mock(), "x") == "Hello", "a task is still its handler"
    with pytest.raises(ojs.OJSValidationError, match=r"send_email\(ctx, to, subject='Hello', \*more\) of 'email.send': missing a required argument: 'to'"):
        send_email.enqueue()  # type: ignore[call-arg]
    with pytest.raises(ojs.OJSValidationError, match="unexpected keyword argument 'cc'"):
        send_email.enqueue("a", cc="b")  # type: ignore[call-arg]


def test_a_default_in_front_of_a_named_argument_travels_along(recorder: Any) -> None:
    worker = ojs.Worker(transport=recorder)

    @worker.register("report.make")
    def make(ctx: ojs.JobContext, year: int = 2026, month: int = 1, day: int = 2) -> None: ...

    assert make.request(month=3).args == [2026, 3]
    assert make.request().args == []
    assert make.enqueue(day=9).args == [2026, 1, 9]
    assert asyncio.run(make.enqueue_async(2027)).args == [2027]


def test_a_job_with_other_arguments_fails_and_says_so(client: ojs.Client, make_worker: Any) -> None:
    worker: ojs.Worker = make_worker()

    @worker.register("a")
    def handle(ctx: ojs.JobContext, one: int, two: int = 2) -> None: ...

    job = client.enqueue("a", [1, 2, 3], retry=1)
    with worker:
        error = in_state(client, job.id, "discarded").error
    assert error is not None and error["message"] == "the job has 3 arguments, and handle(ctx, one, two=2) takes 1 to 2"


def test_defaults_of_a_type_and_options_of_a_call(client: ojs.Client, make_worker: Any) -> None:
    worker: ojs.Worker = make_worker(queues=["mail", "slow"])

    @worker.register("tasks.defaults", queue="mail", retry=5, timeout="30s", tags=["x"], unique=True)
    def send(ctx: ojs.JobContext, to: str) -> None: ...

    @worker.register("tasks.plain")
    def plain(ctx: ojs.JobContext) -> None: ...

    job = send.enqueue("a")
    assert (job.queue, job.max_attempts, job["timeout_ms"], job.tags) == ("mail", 5, 30_000, ["x"])
    with pytest.raises(ojs.DuplicateJobError):
        send.enqueue("a")
    other = send.options(queue="slow", delay="1h").enqueue("b")
    assert (other.queue, other.max_attempts, other.state) == ("slow", 5, "scheduled")
    assert plain.enqueue().queue == "mail", "a worker that asks for other queues than 'default' has its tasks in the first of them"
    with pytest.raises(ojs.OJSValidationError, match="did you mean 'queue'"):
        send.options(que="x")
    for wrong, message in (({"que": 1}, "did you mean 'queue'"), ({"id": "x"}, "belongs to one job"), ({"timeout": 0}, "longer than zero"),
                           ({"retry": {"maxAttempts": 5}}, "did you mean 'max_attempts'")):  # fmt: skip
        with pytest.raises(ojs.OJSValidationError, match=message):
            worker.register("tasks.wrong", lambda ctx: None, **wrong)
    assert "tasks.wrong" not in worker.job_types


def test_what_a_call_says_wins_over_a_default_of_the_type(client: ojs.Client, make_worker: Any) -> None:
    make_worker().register("tasks.said", lambda ctx: None, queue="mail", priority=7, tags=["x"])
    shown = lambda job: (job.queue, job.priority, job.tags or [])  # noqa: E731
    assert shown(client.enqueue("tasks.said")) == ("mail", 7, ["x"])
    assert shown(client.enqueue("tasks.said", queue="default", priority=0, tags=[])) == ("default", 0, [])
    said = ojs.JobRequest("tasks.said", priority=0)
    assert shown(client.enqueue_batch([said])[0]) == ("mail", 0, ["x"])
    assert (repr(ojs.JobRequest("tasks.said").priority), ojs.JobRequest("tasks.said").queue) == ("0", "default")


def test_defaults_hold_for_the_string_form_of_batches_and_outboxes_too(client: ojs.Client, make_worker: Any, tmp_path: Path) -> None:
    worker: ojs.Worker = make_worker(queues=["mail"])
    task = worker.register("tasks.shared", lambda ctx: None, queue="mail", retry=7, delay="1h", rate_limit={"key": "k", "concurrency": 2})
    app = sqlite3.connect(tmp_path / "app.db")
    outbox = Outbox(client, database="sqlite")
    outbox.migrate(app)
    outbox.add(app, "tasks.shared")
    [row] = outbox.waiting(app)
    assert (row["options"]["queue"], row["options"]["retry"]["max_attempts"]) == ("mail", 7)
    app.close()
    jobs = [client.enqueue("tasks.shared"), *client.enqueue_batch(["tasks.shared"]), task.enqueue()]
    assert [(job.queue, job.max_attempts, job.state) for job in jobs] == [("mail", 7, "scheduled")] * 3
    assert jobs[0]["rate_limit"]["concurrency"] == 2
    own = client.enqueue("tasks.shared", queue="other", retry=2, delay=0)
    assert (own.queue, own.max_attempts, own.state) == ("other", 2, "available")
    assert task.options(queue="default").enqueue().queue == "default"
    make_worker(queues=["mail"]).register("tasks.shared", lambda ctx: None)
    assert client.enqueue("tasks.shared").queue == "default", "a type that is registered again without defaults has none"


def test_requests_of_tasks_go_into_batches_workflows_and_outboxes(client: ojs.Client, make_worker: Any, tmp_path: Path) -> None:
    worker: ojs.Worker = make_worker()

    @worker.register("tasks.batch", queue="q", priority=3)
    def handle(ctx: ojs.JobContext, n: int) -> None: ...

    assert [job.args for job in client.enqueue_batch([handle.request(1), handle.request(2)])] == [[1], [2]]
    assert ojs.chain(handle.request(1), handle.request(2)).to_dict()["steps"][1]["args"] == [2]
    app = sqlite3.connect(tmp_path / "app.db")
    outbox = Outbox(client, database="sqlite")
    outbox.migrate(app)
    job = outbox.add(app, handle.request(3))
    assert (job.type, job.args) == ("tasks.batch", [3])
    with pytest.raises(ojs.OJSValidationError, match="has its arguments and options already"):
        outbox.add(app, handle.request(3), [4])
    [row] = outbox.waiting(app)
    assert (row["args"], row["options"]["queue"], row["options"]["priority"]) == ([3], "q", 3)
    app.close()


def test_tasks_use_the_client_of_their_worker_and_its_middleware(url: str) -> None:
    for client in (ojs.Client(url), ojs.AsyncClient(url)):
        worker = ojs.Worker(client)

        @client.enqueue_middleware
        def tenant(request: ojs.JobRequest, next: Any) -> Any:
            request.meta = {"tenant": "acme"}
            return next(request)

        @worker.register
        def greet(ctx: ojs.JobContext, who: str) -> None: ...

        if isinstance(client, ojs.Client):
            assert worker.client is client
            assert greet.enqueue("a").meta == {"tenant": "acme"}
            assert asyncio.run(greet.enqueue_async("a")).type == "greet"
        else:
            assert worker.async_client is client
            assert asyncio.run(greet.enqueue_async("a")).meta == {"tenant": "acme"}
            assert greet.enqueue("a").type == "greet"
    lonely = ojs.Worker(url)
    assert lonely.register("x", lambda ctx: None).enqueue(1).args == [1]
    assert lonely.client is lonely.client


def test_register_without_a_type_takes_the_functions_name() -> None:
    worker = ojs.Worker()

    @worker.register
    def bare(ctx: ojs.JobContext) -> None: ...

    @worker.register()
    def called(ctx: ojs.JobContext) -> None: ...

    @worker.register(queue="default")
    def with_options(ctx: ojs.JobContext) -> None: ...

    assert worker.job_types == ["bare", "called", "with_options"]
    assert (bare.type, called.type) == ("bare", "called")
    with pytest.raises(ojs.OJSValidationError, match="'<lambda>' cannot be a job type: name one"):
        worker.register(lambda ctx: None)
    with pytest.raises(ojs.OJSValidationError, match="registered already"):
        worker.register("bare", lambda ctx: None)


class Handler:
    def method(self, ctx: ojs.JobContext) -> None: ...

    def typed(self, ctx: ojs.JobContext, n: int) -> None: ...

    def __call__(self, ctx: ojs.JobContext) -> None: ...


def no_context() -> None: ...


def named_only(ctx: Any, *, to: str) -> None: ...


def celery_style(to: str, subject: str) -> None: ...


@pytest.mark.parametrize(("handler", "message"), [
    (no_context, r"no_context\(\) of 'a' cannot be called: it takes no argument by position. Write def no_context\(ctx\)"),
    (named_only, "'to' can only be given by name"),
    (celery_style, "its first parameter 'to' is annotated as an argument, and it gets the job's context"),
    (lambda **rest: None, "takes no argument by position"),
    (7, "must be callable, and int is not"),
    (None, None),
])  # fmt: skip
def test_a_handler_that_cannot_be_called_is_refused_when_it_is_registered(handler: Any, message: str | None) -> None:
    worker = ojs.Worker()
    if message is None:
        assert callable(worker.register("a", handler))
        return
    with pytest.raises(ojs.OJSValidationError, match=message):
        worker.register("a")(handler)
    with pytest.raises(ojs.OJSValidationError, match=message):
        worker.handler("a", handler)
    assert worker.job_types == []


def test_handlers_of_all_kinds_run(client: ojs.Client, make_worker: Any) -> None:
    worker: ojs.Worker = make_worker()
    seen: list[Any] = []
    handlers: list[Any] = [
        lambda ctx: seen.append("lambda"), lambda ctx, n=7: seen.append(n), lambda *args: seen.append(len(args)), Handler().method,
        Handler().typed, Handler(), functools.partial(lambda store, ctx: store.append("partial"), seen), Mock(return_value=None),
    ]  # fmt: skip
    for number, handler in enumerate(handlers):
        worker.register(f"h{number}", handler)
    jobs = client.enqueue_batch([(f"h{number}", [number]) for number in range(len(handlers))])
    with worker:
        for job in jobs:
            in_state(client, job.id, "completed")
    assert sorted(map(str, seen)) == ["1", "7", "lambda", "partial"]


def test_a_parameter_that_holds_a_value_of_its_own_gets_no_argument() -> None:
    worker = ojs.Worker("memory:")
    task = worker.register("a", lambda ctx, n=7: n)
    with pytest.raises(ojs.OJSValidationError, match="give its parameters annotations"):
        task.enqueue(8)


def test_a_worker_says_when_it_does_not_ask_for_the_queue_of_its_type(
    client: ojs.Client, make_worker: Any, caplog: pytest.LogCaptureFixture
) -> None:
    worker: ojs.Worker = make_worker(queues=["default"])
    worker.register("tasks.mail", lambda ctx: None, queue="mail")
    worker.register("other", lambda ctx: None)
    with worker:
        pass
    assert [record.getMessage() for record in caplog.records if record.name == "openjobspec.worker"] == [
        "jobs of type 'tasks.mail' go to the queue 'mail', and this worker asks for default only"
    ]
