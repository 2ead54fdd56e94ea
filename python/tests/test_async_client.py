"""The asyncio client."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
from support import Recorder

import openjobspec as ojs


def test_a_job_goes_through_its_life(url: str) -> None:
    async def main() -> None:
        async with ojs.AsyncClient(url) as client:
            job = await client.enqueue("email.send", ["ä", 2**60 + 1], queue="mail")
            assert (await client.get_job(job.id)).args == ["ä", 2**60 + 1]
            assert (await client.cancel_job(job.id)).state == "cancelled"
            with pytest.raises(ojs.InvalidStateTransitionError):
                await client.cancel_job(job.id)
            with pytest.raises(ojs.JobNotFoundError):
                await client.get_job("nobody")
            assert [job.type for job in await client.enqueue_batch(["a", "b"])] == ["a", "b"]
            assert (await client.queue_stats("default"))["available"] == 2
        with pytest.raises(ojs.ClosedError):
            await client.enqueue("a")

    asyncio.run(main())


def test_many_calls_at_once(url: str) -> None:
    async def main() -> None:
        async with ojs.AsyncClient(url) as client:
            jobs = await asyncio.gather(*(client.enqueue("a", [n], queue="many") for n in range(500)))
            assert len({job.id for job in jobs}) == 500
            assert (await client.queue_stats("many"))["available"] == 500

    asyncio.run(main())


def test_one_client_in_several_loops(url: str) -> None:
    client = ojs.AsyncClient(url)
    for _ in range(3):
        assert asyncio.run(client.enqueue("a")).state == "available"
    asyncio.run(client.close())


def test_a_cancelled_call_does_no_harm(url: str) -> None:
    async def main() -> None:
        async with ojs.AsyncClient(url) as client:
            await client.health()
            calls = [asyncio.ensure_future(client.health()) for _ in range(50)]
            await asyncio.sleep(0)
            for call in calls[::2]:
                call.cancel()
            done = await asyncio.gather(*calls, return_exceptions=True)
            assert all(isinstance(answer, (dict, asyncio.CancelledError)) for answer in done)
            assert (await client.health())["status"] in ("ok", "healthy")

    asyncio.run(main())


def test_the_loop_goes_on_while_a_call_waits(ojs_server: str) -> None:
    async def main() -> None:
        client = ojs.AsyncClient(ojs_server)
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticker = asyncio.ensure_future(tick())
        before = ticks
        await client.enqueue("a")
        assert ticks > before + 1
        ticker.cancel()
        await client.close()

    asyncio.run(main())


@pytest.mark.parametrize("coroutine", [True, False])
def test_custom_transports_plain_and_coroutine(recorder: Recorder, coroutine: bool) -> None:
    class Coroutine:
        async def request(self, method: str, path: str, body: Any = None) -> Any:
            await asyncio.sleep(0)
            return recorder.request(method, path, body)

    transport = Coroutine() if coroutine else recorder

    async def main() -> None:
        client = ojs.AsyncClient(transport=transport)
        assert (await client.enqueue("a", [1])).id == "test-id"
        with pytest.raises(ojs.JobNotFoundError):
            await client.get_job("x")

    asyncio.run(main())
    # The plain client takes both, too.
    assert ojs.Client(transport=transport).enqueue("a").id == "test-id"


def test_both_clients_have_the_same_methods_with_parameters_types_and_docstrings() -> None:
    def public(client: type) -> dict[str, Any]:
        members = inspect.getmembers(client, inspect.isfunction)
        return {name: member for name, member in members if not name.startswith("_")}

    plain, asyncio_ = public(ojs.Client), public(ojs.AsyncClient)
    assert plain.keys() == asyncio_.keys() and len(plain) > 50
    del plain["of_tenant"]  # Makes a client of the same kind, and asks no server.
    for name, method in plain.items():
        ours, theirs = inspect.signature(method), inspect.signature(asyncio_[name])
        assert list(ours.parameters.values()) == list(theirs.parameters.values()), name
        expected = str(ours.return_annotation).replace("Iterator[", "AsyncIterator[")
        assert theirs.return_annotation == expected, name
        told = (method.__doc__ or "").split("\n\n")[0].replace("an iterator", "an asynchronous iterator")
        assert told and told.strip() == (asyncio_[name].__doc__ or "").split("\n\n")[0].strip(), name
        assert inspect.iscoroutinefunction(asyncio_[name]) or inspect.isasyncgenfunction(asyncio_[name]), name
