"""``python -m openjobspec server`` and ``python -m openjobspec worker module:attribute``."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import signal
import sys
import threading
from typing import Sequence

from . import _logs, _native
from ._json import dumps
from .errors import OJSError
from .worker import Worker

TEXT = "%(asctime)s %(levelname)s %(name)s %(message)s"
TRUE = ("1", "true", "yes", "on", "y", "t")
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


def level_of(text: str) -> int:
    """The level in ``info``, or in a filter as the `ojs` command takes it: ``ojs_engine=debug,info``."""
    words = [part for part in text.split(",") if "=" not in part]
    try:
        return LEVELS[words[-1].strip().lower()] if words else logging.INFO
    except KeyError:
        raise OJSError(f"--log-level {text}: use one of {', '.join(LEVELS)}") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit status: 0 done, 2 wrong usage or a setting that cannot work."""
    options = _parser().parse_args(arguments)
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if options.log_format == "json" else logging.Formatter(TEXT))
    try:
        logging.basicConfig(level=level_of(options.log_level), handlers=[handler])
        if options.command == "server":
            _server(options)
        else:
            _worker(options)
    except OJSError as error:
        print(f"openjobspec: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m openjobspec", description="Open Job Spec: a job server, and workers.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {_native.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)

    server = commands.add_parser("server", help="run a job server in this process; the flags are those of `ojs server`")
    server.add_argument("--listen", metavar="ADDRESS", default=os.environ.get("OJS_LISTEN", "127.0.0.1:8080"),
                        help="address and port; port 0 takes any free one")  # fmt: skip
    server.add_argument("--store", metavar="URL", default=os.environ.get("OJS_STORE", "sqlite:ojs.db"),
                        help="sqlite:PATH, or memory: (gone when the server stops)")  # fmt: skip
    server.add_argument("--keys", metavar="FILE", default=os.environ.get("OJS_KEYS"),
                        help="every request needs a key of this file (ojs keys add)")  # fmt: skip
    server.add_argument("--insecure", action="store_true", default=os.environ.get("OJS_INSECURE", "").lower() in TRUE,
                        help="listen on other addresses than loopback without keys")  # fmt: skip
    server.add_argument("--test-mode", action="store_true", help="anyone who can connect can delete all jobs")
    _logging(server)

    worker = commands.add_parser("worker", help="run the worker found in a module")
    worker.add_argument("app", metavar="MODULE:ATTRIBUTE", help="where the Worker is, for example mail:worker")
    worker.add_argument("--url", help="overrides the worker's own")
    worker.add_argument("--queues", metavar="A,B", help="overrides the worker's own")
    worker.add_argument("--concurrency", type=int, metavar="N", help="overrides the worker's own")
    _logging(worker)
    return parser


def _logging(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--log-level", metavar="LEVEL", default=os.environ.get("OJS_LOG_LEVEL", "info"), help=", ".join(LEVELS))
    parser.add_argument("--log-format", choices=("text", "json"), default=os.environ.get("OJS_LOG_FORMAT", "text"),
                        help="how log lines are written")  # fmt: skip


def _server(options: argparse.Namespace) -> None:
    # Before the first line is printed: who reads it may send a signal at once.
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: os._exit(128 + number) if stop.is_set() else stop.set())
    _logs.start()
    server = _native.Server(options.store, options.listen, options.test_mode, options.keys, options.insecure)
    print(f"listening on {server.url}", flush=True)
    stop.wait()
    server.stop()


def _worker(options: argparse.Namespace) -> None:
    worker = load(options.app)
    worker.configure(url=options.url, queues=options.queues, concurrency=options.concurrency)
    worker.run()


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
