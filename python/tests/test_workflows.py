"""Workflows and schedules on a real engine."""

from __future__ import annotations

import asyncio
from typing import Callable

import pytest
from support import eventually

import openjobspec as ojs


def finished(client: ojs.Client, workflow_id: str) -> ojs.WorkflowStatus:
    """The workflow, once it is over."""

    def probe() -> ojs.WorkflowStatus | None:
        status = client.get_workflow(workflow_id)
        return status if status.state != "running" else None

    return eventually(probe)


def test_a_chain_hands_results_on(client: ojs.Client, make_worker: Callable[..., ojs.Worker]) -> None:
    worker = make_worker()
    seen: list[tuple[list[object], bool]] = []

    @worker.register("data.fetch")
    def fetch(ctx: ojs.JobContext) -> dict[str, object]:
        seen.append((ctx.parent_results, bool(ctx.workflow_id)))
        return {"rows": ctx.args[0]}

    @worker.register("data.load")
    async def load(ctx: ojs.JobContext) -> int:
        seen.append((ctx.parent_results, bool(ctx.workflow_id)))
        return int(ctx.parent_results[0]["rows"]) + 1

    status = client.workflow(ojs.chain(("data.fetch", [41]), ("data.load", []), name="etl"))
    assert (status.type, status.name, status.state) == ("chain", "etl", "running")
    with worker:
        done = finished(client, status.id)
    assert done.state == "completed"
    assert seen == [([], True), ([{"rows": 41}], True)]
    assert done.steps[1]["result"] == 42


def test_a_node_of_a_graph_gets_the_results_of_those_before_it(
    client: ojs.Client, make_worker: Callable[..., ojs.Worker]
) -> None:
    worker = make_worker()
    worker.register("part", lambda ctx: ctx.args[0] + sum(ctx.parent_results or []))
    diamond = ojs.graph(
        ojs.node("start", ("part", [1])),
        ojs.node("left", ("part", [10]), after="start"),
        ojs.node("right", ("part", [100]), after=["start"]),
        ojs.node("end", ("part", [1000]), after=["left", "right"]),
        name="diamond",
    )
    status = client.workflow(diamond)
    assert (status.type, status.name) == ("dag", "diamond")
    with worker:
        done = finished(client, status.id)
    assert (done.state, done.steps[3]["result"]) == ("completed", 1112)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ojs.graph("part"), "a graph is made of nodes"),  # type: ignore[arg-type]
        (lambda: ojs.graph(), "at least one job"),
        (lambda: ojs.chain(ojs.node("a", "part")), "a node is a step of a graph"),  # type: ignore[arg-type]
        (lambda: ojs.node("a", ojs.node("b", "part")), "a node is a step of a graph"),  # type: ignore[arg-type]
        (lambda: ojs.chain(print), "a job is a type, .* not builtin_function_or_method"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_step_is_refused(make: Callable[[], ojs.Workflow], says: str) -> None:
    with pytest.raises(ojs.OJSValidationError, match=says):
        make()


def test_a_batch_calls_back(client: ojs.Client, make_worker: Callable[..., ojs.Worker]) -> None:
    worker = make_worker()
    called: list[str] = []

    @worker.register("part")
    def part(ctx: ojs.JobContext) -> int:
        if ctx.args[0] < 0:
            raise ojs.NonRetryableError("negative")
        return int(ctx.args[0])

    for name in ("always", "good", "bad"):
        worker.register(name, lambda ctx: called.append(ctx.type))
    callbacks = {"on_complete": "always", "on_success": "good", "on_failure": "bad"}
    with worker:
        good = client.workflow(ojs.batch([("part", [1]), ("part", [2])], callbacks))
        assert finished(client, good.id).state == "completed"
        assert sorted(called) == ["always", "good"]
        called.clear()
        bad = client.workflow(ojs.batch([("part", [1]), ("part", [-1])], **callbacks))
        assert finished(client, bad.id).state == "completed"
        assert sorted(called) == ["always", "bad"]


def test_a_group_and_its_cancellation(client: ojs.Client) -> None:
    status = client.workflow(ojs.group("a", "b", name="pair"))
    assert len(status.steps) == 2
    assert client.cancel_workflow(status.id).state == "cancelled"
    with pytest.raises(ojs.InvalidStateTransitionError):
        client.cancel_workflow(status.id)
    with pytest.raises(ojs.JobNotFoundError):
        client.get_workflow("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    with pytest.raises(ojs.InvalidRequestError):
        client.workflow({"type": "circle", "jobs": []})


def test_from_asyncio(url: str) -> None:
    async def main() -> None:
        async with ojs.AsyncClient(url) as client:
            status = await client.workflow(ojs.group("a", "b"))
            assert (await client.get_workflow(status.id)).state == "running"
            assert (await client.cancel_workflow(status.id)).state == "cancelled"

    asyncio.run(main())


def test_dead_letters(client: ojs.Client, make_worker: Callable[..., ojs.Worker]) -> None:
    worker = make_worker()
    fail = True

    @worker.register("a")
    def handle(ctx: ojs.JobContext) -> str:
        if fail:
            raise ValueError("not today")
        return "better"

    job = client.enqueue("a", queue="default", retry=ojs.RetryPolicy(max_attempts=1, on_exhaustion="dead_letter"))
    with worker:
        (dead,) = eventually(lambda: client.dead_letters("default", job_type="a"))
        assert (dead.id, dead.error and dead.error["message"]) == (job.id, "not today")
        fail = False
        assert client.retry_dead_letter(job.id).state == "available"
        eventually(lambda: client.get_job(job.id).result == "better")
    other = client.enqueue("a", retry=ojs.RetryPolicy(max_attempts=1, on_exhaustion="dead_letter"))
    assert client.dead_letters() == []
    with pytest.raises(ojs.OJSAPIError):
        client.discard_dead_letter(other.id)


def test_an_unknown_setting_of_a_schedule_is_refused(client: ojs.Client) -> None:
    says = "unknown option 'overlap' of a schedule; did you mean 'overlap_policy'"
    with pytest.raises(ojs.OJSValidationError, match=says):
        client.register_cron("refused", "0 7 * * *", "part", overlap="skip")
    assert client.register_cron("kept", "0 7 * * *", "part", enabled=False, x_team="mail")["enabled"] is False
    client.delete_cron("kept")
