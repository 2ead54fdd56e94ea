"""Signals of a worker process: TERM and INT stop it (the second one at once), TSTP makes it quiet, CONT resumes it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Iterator

if TYPE_CHECKING:
    from .worker import Worker


def _actions(worker: Worker) -> dict[signal.Signals, Callable[[], None]]:
    actions: dict[signal.Signals, Callable[[], None]] = {signal.SIGTERM: worker._on_signal, signal.SIGINT: worker._on_signal}
    if hasattr(signal, "SIGTSTP"):
        actions[signal.SIGTSTP] = worker.quiet
        actions[signal.SIGCONT] = worker.resume
    return actions


def _ignoring_arguments(action: Callable[[], None]) -> Callable[[int, Any], None]:
    return lambda _number, _frame: action()


class Signals:
    """Handles them while a ``with`` block runs. Does nothing outside the main thread, where Python allows no handlers."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            for number, action in _actions(self._worker).items():
                self._before[number] = signal.signal(number, _ignoring_arguments(action))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, before in self._before.items():
            signal.signal(number, before if before is not None else signal.SIG_DFL)


@contextlib.contextmanager
def on_loop(worker: Worker, loop: asyncio.AbstractEventLoop, wanted: bool) -> Iterator[None]:
    """The same through an event loop."""
    taken: list[signal.Signals] = []
    if wanted and threading.current_thread() is threading.main_thread():
        for number, action in _actions(worker).items():
            loop.add_signal_handler(number, action)
            taken.append(number)
    try:
        yield
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
