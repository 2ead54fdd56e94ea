"""Progress, checkpoints and steps of handlers, against the real engine."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Callable

import pytest
from support import PATIENCE, eventually, in_state

import openjobspec as ojs

Make = Callable[..., ojs.Worker]

AGAIN = {"max_attempts": 5, "initial_interval": "PT0.05S"}


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
def test_a_step_runs_once_across_attempts(client: ojs.Client, make_worker: Make, coroutine: bool) -> None:
    charges: list[str] = []
    seen: list[Any] = []

    def charge(amount: int) -> dict[str, Any]:
        charges.append(f"ch_{amount}")
        return {"id": charges[-1]}

    def pay(ctx: ojs.JobContext) -> None:
        assert ctx.has_checkpoint == (ctx.attempt > 1)
        page = ctx.load_checkpoint(0)
        seen.append((ctx.attempt, ctx.step("charge", charge, 5)["id"], page, ctx.checkpoint(page + 1)))
        if page < 2:
            raise RuntimeError("again")

    async def pay_async(ctx: ojs.JobContext) -> None:
        async def later(amount: int) -> dict[str, Any]:
            return charge(amount)

        page = ctx.load_checkpoint(0)
        paid = await ctx.step("charge", later, 5)
        seen.append((ctx.attempt, paid["id"], page, await ctx.checkpoint(page + 1)))
        if page < 2:
            raise RuntimeError("again")

    worker = make_worker(queues=["pay"])
    worker.register("pay", pay_async if coroutine else pay)
    job = client.enqueue("pay", queue="pay", retry=AGAIN)
    with worker:
        in_state(client, job.id, "completed")
    # The first attempt saves twice: the step, and the page.
    assert seen == [(1, "ch_5", 0, 2), (2, "ch_5", 1, 3), (3, "ch_5", 2, 4)]
    assert charges == ["ch_5"]
    saved = client.get_checkpoint(job.id)["state"]
    assert saved == {"$ojs.state": 3, "$ojs.steps": {"charge": {"id": "ch_5"}}}


def test_a_handler_goes_on_where_another_language_stopped(client: ojs.Client, make_worker: Make) -> None:
    job = client.enqueue("import", queue="import")
    document = {"$ojs.state": {"row": 7}, "$ojs.steps": {"open": [1, None, 2.5]}}
    client.save_checkpoint(job.id, document)
    seen: list[Any] = []

    def run(ctx: ojs.JobContext) -> None:
        seen.append((ctx.load_checkpoint(), ctx.step("open", pytest.fail), ctx.step("close", lambda: "ä")))
        with pytest.raises(ojs.PayloadTooLargeError):
            ctx.checkpoint("x" * 1_100_000)
        seen.append(ctx.load_checkpoint())

    worker = make_worker(queues=["import"])
    worker.register("import", run)
    with worker:
        in_state(client, job.id, "completed")
    assert seen == [({"row": 7}, [1, None, 2.5], "ä"), {"row": 7}]


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
def test_a_lost_lease_is_the_typed_error(client: ojs.Client, make_worker: Make, coroutine: bool) -> None:
    began, cancelled = threading.Event(), threading.Event()
    raised: list[BaseException] = []

    def run(ctx: ojs.JobContext) -> None:
        began.set()
        assert cancelled.wait(PATIENCE)
        with pytest.raises(ojs.JobCancelledError) as caught:
            ctx.checkpoint(1)
        raised.append(caught.value)

    async def run_async(ctx: ojs.JobContext) -> None:
        began.set()
        assert cancelled.wait(PATIENCE)
        try:
            await ctx.checkpoint(1)
        except (ojs.JobCancelledError, asyncio.CancelledError) as error:
            # A coroutine is cancelled where it waits, which is here.
            raised.append(error)
            raise

    worker = make_worker(queues=["import"])
    worker.register("import", run_async if coroutine else run)
    job = client.enqueue("import", queue="import")
    with worker:
        assert began.wait(PATIENCE)
        client.cancel_job(job.id)
        cancelled.set()
        eventually(lambda: raised)
    with pytest.raises(ojs.JobNotFoundError):
        client.get_checkpoint(job.id)


def test_of_many_reports_the_latest_is_sent(client: ojs.Client, make_worker: Make) -> None:
    seen = threading.Event()

    def run(ctx: ojs.JobContext) -> None:
        for percent in range(51):
            ctx.progress(percent / 100, "rows", data={"percent": percent})
        assert seen.wait(PATIENCE)

    worker = make_worker(queues=["import"])
    worker.register("import", run)
    job = client.enqueue("import", queue="import")
    with worker:
        progress = eventually(lambda: (p := client.get_progress(job.id))["progress"] == 0.5 and p)
        assert (progress["message"], progress["data"]) == ("rows", {"percent": 50})
        seen.set()
        in_state(client, job.id, "completed")
    assert client.get_progress(job.id)["progress"] == 1.0


def test_without_a_worker_a_run_keeps_what_it_saves() -> None:
    seen: list[Any] = []
    worker = ojs.Worker()

    @worker.register("import")
    def run(ctx: ojs.JobContext) -> None:
        ctx.progress(0.5)
        ctx.checkpoint({"row": 1})
        seen.append((ctx.load_checkpoint(), ctx.step("a", lambda: 2), ctx.step("a", pytest.fail)))

    @worker.register("export")
    async def later(ctx: ojs.JobContext) -> None:
        await ctx.checkpoint({"row": 2})
        seen.append((ctx.load_checkpoint(), await ctx.step("a", lambda: 3)))

    with ojs.testing.inline_mode(worker):
        ojs.Client().enqueue("import")
        ojs.Client().enqueue("export")
    assert seen == [({"row": 1}, 2, 2), ({"row": 2}, 3)]
