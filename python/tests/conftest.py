"""What the tests share: engines of their own, and waiting for conditions."""

from __future__ import annotations

import itertools
import os
import threading
import time
from typing import Any, Callable, Iterator, TypeVar

import pytest

import openjobspec as ojs

T = TypeVar("T")
_names = itertools.count()
#: Longest time a test waits for something that takes milliseconds. Reached only by failures.
PATIENCE = 20.0


def eventually(probe: Callable[[], T], timeout: float = PATIENCE) -> T:
    """The first true value of ``probe``."""
    until = time.monotonic() + timeout
    pause = threading.Event()
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError(f"not within {timeout} s: {probe}")
        pause.wait(0.002)


def in_state(client: ojs.Client, job_id: str, *states: str) -> ojs.Job:
    """The job, once it is in one of these states."""

    def probe() -> ojs.Job | None:
        job = client.get_job(job_id)
        return job if job.state in states else None

    return eventually(probe)


@pytest.fixture(params=["memory", "http"])
def url(request: pytest.FixtureRequest) -> str:
    """An engine in this process, and one behind HTTP."""
    if request.param == "memory":
        return f"memory:test-{os.getpid()}-{next(_names)}"
    server: str = request.getfixturevalue("ojs_server")
    return server


@pytest.fixture
def client(url: str) -> Iterator[ojs.Client]:
    with ojs.Client(url) as client:
        yield client


@pytest.fixture
def make_worker(client: ojs.Client) -> Iterator[Callable[..., ojs.Worker]]:
    """Workers on the client's connection, stopped after the test."""
    made: list[ojs.Worker] = []

    def make(**options: Any) -> ojs.Worker:
        worker = ojs.Worker(client, **options)
        made.append(worker)
        return worker

    yield make
    for worker in made:
        if worker.state != "new":
            worker.stop(grace=0)


class Recorder:
    """A custom transport: remembers requests, answers like a server."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, Any]] = []

    def request(self, method: str, path: str, body: Any = None) -> Any:
        self.requests.append((method, path, body))
        if (method, path) == ("POST", "/jobs"):
            return 201, {"job": {"id": "test-id", "state": "available", **body}}
        if (method, path) == ("POST", "/jobs/batch"):
            return 201, {"jobs": [{"id": f"test-{n}", "state": "available", **job} for n, job in enumerate(body["jobs"])]}
        if (method, path) == ("POST", "/workflows"):
            return 201, {"workflow": {"id": "wf", "state": "running", **body}}
        return 404, {"error": {"code": "not_found", "message": f"no {path}", "retryable": False}}

    @property
    def body(self) -> Any:
        """The latest body."""
        return self.requests[-1][2]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()
