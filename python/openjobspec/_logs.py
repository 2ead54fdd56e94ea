"""The core's log records, in Python's logging: failed attempts under ``openjobspec.worker``, the rest under ``openjobspec.core``.

Nothing has to be set up: where a program configures no logging, Python writes warnings and errors to stderr. What a program configures
is respected: levels, handlers and filters of ``openjobspec`` and of the loggers below it.
"""

from __future__ import annotations

import logging
import os
import threading

from . import _native

logger = logging.getLogger("openjobspec.core")
#: Where the core logs failed attempts, and whatever else a user of a worker must see.
_FAILURES = "ojs::worker::failures"
failures = logging.getLogger("openjobspec.worker")

_LEVELS = {1: logging.ERROR, 2: logging.WARNING, 3: logging.INFO, 4: logging.DEBUG, 5: 5}
_started_in: int | None = None
#: Held while records are taken and written, so that who flushes knows that all are out.
_writing = threading.Lock()


def start() -> None:
    """Starts the thread that carries records over, once per process; takes over the loggers' levels each time."""
    global _started_in
    level = min(logger.getEffectiveLevel(), failures.getEffectiveLevel())
    wanted = max((number for number, name in _LEVELS.items() if name >= level), default=0)
    # Warnings are collected in any case: a program may configure its logging after it has started a worker.
    _native.set_log_level(max(wanted, 2))
    if _started_in != os.getpid():
        _started_in = os.getpid()
        threading.Thread(target=_carry, name="openjobspec-logs", daemon=True).start()


def flush() -> None:
    """Carries over what is there now: at the end of a worker the process may end, too."""
    with _writing:
        _emit(*_native.pull_logs(4096, 0))


def _carry() -> None:
    while True:
        # Waits, and takes nothing: what is taken is written before another thread looks.
        _native.pull_logs(0, 60_000)
        with _writing:
            _emit(*_native.pull_logs(256, 0))


def _emit(records: list[tuple[int, str, str]], lost: int) -> None:
    if lost:
        logger.warning("%d log records were lost: the logging handlers are too slow", lost)
    for level, target, text in records:
        if target == _FAILURES:
            failures.log(_LEVELS.get(level, logging.INFO), "%s", text)
        else:
            # Where in the core it was said is for its developers: not before what a user must read.
            logger.log(_LEVELS.get(level, logging.INFO), "%s", f"{target}: {text}" if level > 2 else text)


def _after_fork() -> None:
    # The lock may have been held by a thread that does not exist here.
    global _writing
    _writing = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
