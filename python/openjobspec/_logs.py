"""The core's log records, in Python's logging under ``openjobspec.core``."""

from __future__ import annotations

import logging
import os
import threading

from . import _native

logger = logging.getLogger("openjobspec.core")

_LEVELS = {1: logging.ERROR, 2: logging.WARNING, 3: logging.INFO, 4: logging.DEBUG, 5: 5}
_started_in: int | None = None


def start() -> None:
    """Starts the thread that carries records over, once per process; takes over the logger's level each time."""
    global _started_in
    level = logger.getEffectiveLevel()
    _native.set_log_level(max((number for number, name in _LEVELS.items() if name >= level), default=0))
    if _started_in != os.getpid():
        _started_in = os.getpid()
        threading.Thread(target=_carry, name="openjobspec-logs", daemon=True).start()


def flush() -> None:
    """Carries over what is there now: at the end of a worker the process may end, too."""
    _emit(*_native.pull_logs(4096, 0))


def _carry() -> None:
    while True:
        _emit(*_native.pull_logs(256, 60_000))


def _emit(records: list[tuple[int, str, str]], lost: int) -> None:
    if lost:
        logger.warning("%d log records were lost: the logging handlers are too slow", lost)
    for level, target, text in records:
        logger.log(_LEVELS.get(level, logging.INFO), "%s: %s", target, text)
