"""A real server per test; the relay starts with the first commit."""

from __future__ import annotations

import time
from typing import Any, Callable, Iterator

import pytest
from django.db import connections

import openjobspec
from openjobspec.django import ojs
from openjobspec.outbox import Relay


@pytest.fixture(autouse=True)
def server(ojs_server: str, settings: Any) -> Iterator[openjobspec.Client]:
    """A client of the server that the project's `ojs` talks to."""
    settings.OJS_CONFIG = {**settings.OJS_CONFIG, "url": ojs_server, "worker": "shop.jobs:worker"}
    with openjobspec.Client(ojs_server) as client:
        yield client
    # Time to mark what was sent: the next test's relay would send it again, to another server. A test case that never commits has sent
    # nothing, and its transaction would be waited for.
    ojs.close(grace=0 if connections["default"].in_atomic_block else 60)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands flush for five seconds at most: a machine that has no time for it proves nothing."""
    monkeypatch.setattr(Relay.stop, "__defaults__", (60.0,))


@pytest.fixture
def sent(server: openjobspec.Client) -> Callable[..., list[Any]]:
    """Waits until so many jobs are on the server; returns them in order."""

    def jobs(count: int, queue: str = "default") -> list[Any]:
        until = time.monotonic() + 60
        while server.queue_stats(queue).get("stats", server.queue_stats(queue)).get("available", 0) < count:
            assert time.monotonic() < until, f"not {count} jobs: {server.queue_stats(queue)}; {ojs.relay().status()}"
            time.sleep(0.005)
        found = server._run(_fetch(queue))
        assert len(found) == count, found
        return found

    return jobs


def _fetch(queue: str) -> Any:
    from openjobspec import _operations as ops

    return ops.Call("POST", "/workers/fetch", {"queues": [queue], "count": 100, "worker_id": "test"}, ops.jobs)


@pytest.fixture
def idle() -> Callable[[], None]:
    """Has the relay look three times: what it has not sent then it does not send."""

    def wait() -> None:
        ojs.relay().start()
        ojs.relay().stop(grace=20)
        ojs.relay().start()
        ojs.relay().stop(grace=20)

    return wait
