"""Fixtures for pytest, there as soon as the package is installed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

from .. import _native
from ..aio import AsyncClient
from ..client import Client
from ..worker import Worker
from .fake import Fake, fake_mode


@pytest.fixture
def ojs_server(tmp_path: Path) -> Iterator[str]:
    """The URL of a real server in this process, with an empty database."""
    server = _native.Server(f"sqlite:{tmp_path}/ojs.db?durability=relaxed", "127.0.0.1:0", True)
    yield server.url
    server.stop()


@pytest.fixture
def ojs_client(ojs_server: str) -> Iterator[Client]:
    """A client of ``ojs_server``."""
    with Client(ojs_server) as client:
        yield client


@pytest.fixture
def ojs_async_client(ojs_server: str) -> Iterator[AsyncClient]:
    """An asyncio client of ``ojs_server``, for any event loop."""
    client = AsyncClient(ojs_server)
    yield client
    asyncio.run(client.close())


@pytest.fixture
def ojs_worker(ojs_server: str) -> Iterator[Callable[..., Worker]]:
    """Makes workers of ``ojs_server``; those that were started are stopped after the test."""
    workers: list[Worker] = []

    def make(**options: Any) -> Worker:
        worker = Worker(ojs_server, **options)
        workers.append(worker)
        return worker

    yield make
    for worker in workers:
        if worker.state != "new":
            worker.stop(grace=0)


@pytest.fixture
def ojs_fake() -> Iterator[Fake]:
    """:func:`openjobspec.testing.fake_mode` for the length of a test."""
    with fake_mode() as fake:
        yield fake
