"""``python -m openjobspec server`` and ``python -m openjobspec worker module:attribute``."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import sys
import threading
from typing import Any, Mapping, Sequence

from . import _logs, _native
from ._json import dumps, loads
from .errors import OJSError
from .worker import Worker

TEXT = "%(asctime)s %(levelname)s %(name)s %(message)s"
LEVELS = {"error": logging.ERROR, "warn": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG, "trace": 5}


class JsonLines(logging.Formatter):
    """One JSON object per line, for collectors."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, object] = {"timestamp": self.formatTime(record), "level": record.levelname, "target": record.name,
                                   "message": record.getMessage()}  # fmt: skip
        line.update({name: value for name in ("job_id", "job_type", "attempt", "queue") if (value := getattr(record, name, None))})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return dumps(line).decode()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit status: 0 done, 2 wrong usage or a setting that cannot work."""
    invocation = {"program": "python -m openjobspec", "target": "MODULE:ATTRIBUTE",
                  "about_target": "the Worker that a module has, for example mail:worker",
                  "arguments": list(sys.argv[1:] if arguments is None else arguments)}  # fmt: skip
    said = loads(_native.read_command(dumps(invocation).decode()))
    if "exit" in said:
        sys.stdout.write(said["out"])
        sys.stderr.write(said["err"])
        return int(said["exit"])
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if said["log_format"] == "json" else logging.Formatter(TEXT))
    logging.basicConfig(level=LEVELS[said["log_level"]], handlers=[handler])
    try:
        if said["command"] == "server":
            _server(said["settings"])
        else:
            worker = load(said["target"])
            worker.configure(**said["settings"])
            worker.run()
    except OJSError as error:
        print(f"ojs: {error}", file=sys.stderr)
        return 2
    return 0


def _server(settings: Mapping[str, Any]) -> None:
    # Before the first line is printed: who reads it may send a signal at once.
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: os._exit(128 + number) if stop.is_set() else stop.set())
    _logs.start()
    server = _native.Server(**settings)
    print(f"listening on {server.url}", flush=True)
    stop.wait()
    server.stop()


def load(app: str) -> Worker:
    """The worker that ``module:attribute`` names; the attribute may be left out when it is ``worker``."""
    name, _, attribute = app.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(name)
        for part in (attribute or "worker").split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise OJSError(f"cannot load {app}: {error}") from error
    if not isinstance(found, Worker):
        raise OJSError(f"{app} is a {type(found).__name__}, not an openjobspec.Worker")
    return found


if __name__ == "__main__":
    sys.exit(main())
