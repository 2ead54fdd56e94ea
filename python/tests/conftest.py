"""What the tests share: engines of their own, and workers that are stopped."""

from __future__ import annotations

import itertools
import os
from typing import Any, Callable, Iterator

import pytest
from support import Recorder

import openjobspec as ojs

_names = itertools.count()


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


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()
