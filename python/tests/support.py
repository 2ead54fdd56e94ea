"""Helpers of the tests: waiting for conditions, a transport that records."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, TypeVar

import openjobspec as ojs

T = TypeVar("T")
#: Longest time a test waits for something that takes milliseconds. Reached only by failures.
PATIENCE = 60.0


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
