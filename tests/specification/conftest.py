"""Servers and workers for the examples; the package's own pytest plugin provides most of it."""

from __future__ import annotations

import threading
import time
from typing import Callable, TypeVar

import pytest

T = TypeVar("T")


@pytest.fixture
def eventually() -> Callable[[Callable[[], T]], T]:
    """Waits for the first true value of a probe, twenty seconds at most."""

    def wait(probe: Callable[[], T]) -> T:
        until = time.monotonic() + 60
        pause = threading.Event()
        while not (value := probe()):
            assert time.monotonic() < until, "not in time"
            pause.wait(0.002)
        return value

    return wait
