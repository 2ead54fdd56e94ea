"""Many jobs at a time, queues and their settings, limits, results, dead letters: both clients, against the real engine."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from support import in_state

import openjobspec as ojs


class Both:
    """A client whose calls are the plain one's, or the asyncio one's run to their end."""

    def __init__(self, client: Any, loop: asyncio.AbstractEventLoop | None) -> None:
        self._client, self._loop = client, loop

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._client, name)

        def call(*args: Any, **options: Any) -> Any:
            answer = member(*args, **options)
            return self._loop.run_until_complete(answer) if self._loop and inspect.isawaitable(answer) else answer

        return call


@pytest.fixture(params=["plain", "asyncio"])
def both(request: pytest.FixtureRequest, url: str) -> Any:
    if request.param == "plain":
        with ojs.Client(url) as client:
            yield Both(client, None)
        return
    loop = asyncio.new_event_loop()
    client = ojs.AsyncClient(url)
    yield Both(client, loop)
    loop.run_until_complete(client.close())
    loop.close()


def test_each_job_of_a_bulk_stands_for_itself(both: Any) -> None:
    items = both.bulk_enqueue([("a", [1]), ("NO SUCH TYPE", []), ojs.JobRequest("c", [3], queue="q")])
    assert [(item.status, item.ok) for item in items] == [("created", True), ("failed", False), ("created", True)]
    assert items[2].job.queue == "q"
    assert isinstance(items[1].error, ojs.InvalidRequestError) and items[1].error.code == "invalid_payload"
    nothing = both.bulk_enqueue([("NO", []), ("NEITHER", [])], atomic=True)
    assert [item.status for item in nothing] == ["failed", "failed"]
    assert both.bulk_enqueue([]) == []


def test_a_key_stores_once(both: Any) -> None:
    first = both.bulk_enqueue([{"id": "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "type": "a", "args": []}], idempotency_key="k")
    again = both.bulk_enqueue([{"id": "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "type": "a", "args": []}], idempotency_key="k")
    assert first[0].job.id == again[0].job.id and again[0].status == "created"
    one, two = (both.bulk_enqueue([("a", [])], idempotency_key="own")[0].job.id for _ in range(2))
    assert one == two
    with pytest.raises(ojs.OJSAPIError) as caught:
        both.bulk_enqueue([("b", [])], idempotency_key="k")
    assert caught.value.status == 409


def test_many_are_cancelled_retried_and_deleted(both: Any) -> None:
    jobs = [both.enqueue("a", [n], queue="q", meta={"tenant": "x" if n else "y"}) for n in range(3)]
    one = both.bulk_cancel(queue="q", meta={"tenant": "y"})
    assert (one.matched, one.succeeded, one.items[0].job_id, one.items[0].status) == (1, 1, jobs[0].id, "cancelled")
    rest = both.bulk_cancel([job.id for job in jobs])
    assert (rest.matched, rest.succeeded, rest.skipped) == (3, 2, 1)
    assert isinstance(rest.items[0].error, ojs.InvalidStateTransitionError)
    # Nothing could be done: still an answer that says why.
    assert both.bulk_retry([jobs[0].id]).skipped == 1
    assert both.bulk_delete(queue="q", states=["cancelled"]).succeeded == 3
    for wrong in ({}, {"job_ids": ["x"], "queue": "q"}, {"job_ids": "x"}):
        with pytest.raises(ojs.OJSValidationError):
            both.bulk_cancel(**wrong)


def test_queues_are_set_up_and_purged(both: Any) -> None:
    assert both.create_queue("mail", {"concurrency": 2}, max_size=10)["config"] == {"concurrency": 2, "max_size": 10}
    assert both.configure_queue("mail", max_size=None)["config"] == {"concurrency": 2}
    assert both.get_queue("mail")["state"] == "active"
    both.enqueue("a", queue="mail")
    both.drain_queue("mail")
    with pytest.raises(ojs.QueuePausedError):
        both.enqueue("a", queue="mail")
    both.resume_queue("mail")
    assert both.purge_queue("mail", ["available"], older_than=timedelta(hours=1)) == 0
    assert both.purge_queue("mail", ["available"]) == 1
    both.enqueue("a", queue="mail")
    with pytest.raises(ojs.OJSAPIError):
        both.delete_queue("mail")
    assert both.delete_queue("mail", strategy="move", target_queue="other")["jobs_moved"] == 1


def test_limits_are_listed_and_overridden(both: Any) -> None:
    both.enqueue("a", extra={"rate_limit": {"key": "api", "concurrency": 5}})
    assert [limit["key"] for limit in both.list_rate_limits()] == ["api"]
    changed = both.override_rate_limit("api", {"concurrency": 1}, expires_at=timedelta(hours=1))
    assert changed["concurrency"]["limit"] == 1 == both.get_rate_limit("api")["concurrency"]["limit"]
    assert both.override_rate_limit("api", {})["concurrency"]["limit"] == 5


def test_results_are_waited_for(both: Any, url: str, make_worker: Callable[..., ojs.Worker]) -> None:
    worker = make_worker()
    go = threading.Event()

    @worker.register("sum")
    def handle(ctx: ojs.JobContext) -> int:
        go.wait(20)
        return sum(ctx.args)

    job = both.enqueue("sum", [1, 2])
    with pytest.raises(ojs.OJSError) as caught:
        both.result(job.id)
    assert caught.value.status == 408
    with pytest.raises(ojs.OJSTimeoutError):
        both.wait_for_result(job.id, timeout=0)
    worker.start()
    go.set()
    result = both.wait_for_result(job.id, timeout=60)
    assert (result.ok, result.result, result.job_id) == (True, 3, job.id)
    assert [one and one.result for one in both.results([job.id, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"])] == [3, None]


def test_dead_letters_by_the_many(both: Any, client: ojs.Client, make_worker: Callable[..., ojs.Worker]) -> None:
    worker = make_worker()

    @worker.register("fail")
    def handle(ctx: ojs.JobContext) -> None:
        raise ValueError("no")

    worker.start()
    policy = ojs.RetryPolicy(max_attempts=1, on_exhaustion="dead_letter")
    jobs = [both.enqueue("fail", retry=policy) for _ in range(2)]
    for job in jobs:
        in_state(client, job.id, "discarded")
    stats = both.dead_letter_stats()
    assert (stats["total"], stats["by_queue"]) == (2, {"default": 2})
    assert both.get_dead_letter(jobs[0].id).id == jobs[0].id
    worker.stop()
    assert both.retry_dead_letters(job_type="fail", until=timedelta(minutes=1)) == 2
    assert both.discard_dead_letters(queue="default") == 0
    assert both.dead_letter_stats()["total"] == 0


def test_events_are_followed_across_a_lost_connection() -> None:
    """A transport that fails now and then stands for a network that does."""
    server = ojs.Client("memory:")
    asked = []

    class Flaky:
        def request(self, method: str, path: str, body: Any = None) -> Any:
            asked.append(path)
            if len(asked) in (2, 4):
                raise ojs.OJSConnectionError("gone")
            return server._transport.request(method, path, body)

    jobs = [server.enqueue("a", queue="q").id for _ in range(2)]
    events = ojs.Client(transport=Flaky()).events(types=["job.*"], queues=["q"], after="")
    seen = [next(events) for _ in range(2)]
    jobs.append(server.enqueue("a", queue="q").id)
    server.enqueue("a", queue="elsewhere")
    seen.append(next(events))
    jobs.append(server.enqueue("a", queue="q").id)
    seen.append(next(events))
    assert [event.subject for event in seen] == jobs and len({event.id for event in seen}) == 4
    assert len(asked) > 4
    # Another reader goes on where this one stopped.
    jobs.append(server.enqueue("a", queue="q").id)
    assert next(server.events(queues=["q"], after=seen[-1].id)).subject == jobs[-1]


def test_the_core_says_what_a_reader_of_events_asks_and_when_it_ends() -> None:
    asked = []
    refusal = {"error": {"code": "x", "message": "m"}}
    event = {"id": "evt_2", "type": "job.enqueued", "subject": "1", "data": {}}
    none, one = {"events": [], "cursor": "1"}, {"events": [event], "cursor": "2"}
    answers = [(200, none), (503, refusal), (200, one), (401, refusal)]

    class Scripted:
        def request(self, method: str, path: str, body: Any = None) -> Any:
            asked.append(path)
            return answers[len(asked) - 1]

    events = ojs.Client(transport=Scripted()).events(types=["job.*"], queues=["q"])
    assert next(events).subject == "1"
    with pytest.raises(ojs.AuthenticationError):
        next(events)
    path = "/events?after={}&types=job.%2A&queues=q&limit=500&wait_ms={}"
    assert asked == [path.format(*step) for step in [("latest", 0), (1, 20000), (1, 20000), (2, 20000)]]


def test_events_begin_now_and_wait(url: str) -> None:
    async def follow() -> tuple[str, str]:
        async with ojs.AsyncClient(url) as client:
            await client.enqueue("before")
            events = client.events(types=["job.enqueued"], job_types=["after"])
            waiting = asyncio.ensure_future(events.__anext__())
            # Whatever comes after the first look is told; the look itself is one request.
            job = None
            while not waiting.done():
                job = job or await client.enqueue("after")
                done, _ = await asyncio.wait([waiting], timeout=0.2)
                if not done:
                    job = await client.enqueue("after")
            event = waiting.result()
            return event.data["job_type"], event.type

    assert asyncio.run(asyncio.wait_for(follow(), 60)) == ("after", "job.enqueued")


def test_a_refused_stream_ends(url: str) -> None:
    with ojs.Client(url) as client, pytest.raises(ojs.InvalidRequestError):
        next(client.events(after="nonsense"))


def test_a_first_request_without_answer_is_an_error() -> None:
    with ojs.Client("http://127.0.0.1:1", max_sends=1) as client, pytest.raises(ojs.OJSConnectionError):
        next(client.events())


