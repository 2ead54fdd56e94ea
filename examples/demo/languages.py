"""Jobs that cross languages: Python sends them and Node.js works them, and the other way round.

A server in a process of its own, a Node.js worker (languages.mjs) in another, a Python worker in this one. At the end a chain whose
steps alternate between the two, each reading the result of the step before. What comes back must be what was sent, to the last
digit of a 64-bit number.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import openjobspec as ojs
from report import show

JOBS = 2_000
#: What JSON libraries like to damage.
TREASURE = ["žluťoučký kůň 馬 🐎", 9_223_372_036_854_775_807, -9_007_199_254_740_993, 0.1, None, {"nested": [True, ""]}]
PATIENCE = 60.0


@contextlib.contextmanager
def program(*command: str, ready: str, url: str | None = None) -> Iterator[str]:
    """Runs a program until the block ends; gives the rest of the line that begins with ``ready``."""
    environment = os.environ | ({"OJS_URL": url} if url else {})
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line.startswith(ready):
            raise RuntimeError(f"{command[0]} said {line!r} and not {ready!r}")
        yield line.removeprefix(ready).strip()
    finally:
        process.terminate()
        if process.wait() != 0:
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")


def echo(ctx: ojs.JobContext) -> object:
    """Gives back what it got."""
    if ctx.args != TREASURE:
        raise ojs.NonRetryableError(f"damaged on the way from Node.js: {ctx.args}")
    return ctx.args


def python_worker(url: str) -> ojs.Worker:
    """The Python side."""
    worker = ojs.Worker(url, queues=["python"], concurrency=8)
    worker.register("python.echo", echo)
    worker.register("python.words", lambda ctx: {"words": ctx.args[0].split()})
    worker.register("python.join", lambda ctx: " ".join(ctx.parent_results[-1]["words"]))
    return worker


def wait_for(condition, what: str):
    """The first true value of a condition."""
    until = time.monotonic() + PATIENCE
    pause = threading.Event()
    while not (value := condition()):
        if time.monotonic() > until:
            raise TimeoutError(f"{what}: not within {PATIENCE:g} s")
        pause.wait(0.01)
    return value


def completed(client: ojs.Client, queue: str, count: int) -> bool:
    """All jobs of a queue are done, and none has failed."""
    stats = client.queue_stats(queue)
    if stats.get("discarded"):
        raise RuntimeError(f"jobs of queue {queue} failed: {stats}")
    return stats["completed"] >= count


def main() -> None:
    """Runs it and prints what happened."""
    here = Path(__file__).resolve().parent
    server = program(sys.executable, "-m", "openjobspec", "server", "--store", "memory:", "--listen", "127.0.0.1:0", "--log-level", "error",
                     ready="listening on ")  # fmt: skip
    with server as url, program("node", str(here / "languages.mjs"), ready="ready", url=url), ojs.Client(url) as client:
        with python_worker(url):
            began = time.perf_counter()
            jobs = client.enqueue_batch([ojs.JobRequest("node.echo", TREASURE, queue="node") for _ in range(JOBS)])
            wait_for(lambda: completed(client, "node", JOBS), "Node.js works the jobs of Python")
            to_node = time.perf_counter() - began
            assert client.get_job(jobs[-1].id).result == TREASURE, "the same came back"

            began = time.perf_counter()
            client.enqueue("node.send", [JOBS, "python.echo", "python", TREASURE], queue="node")
            wait_for(lambda: completed(client, "python", JOBS), "Python works the jobs of Node.js")
            to_python = time.perf_counter() - began

            text = "jobs cross from one language to the next"
            chain = ojs.chain(
                {"type": "python.words", "args": [text], "queue": "python"},
                {"type": "node.reverse", "args": [], "queue": "node"},
                {"type": "python.join", "args": [], "queue": "python"},
            )
            started = client.workflow(chain)
            status = wait_for(lambda: (now := client.get_workflow(started.id)).state == "completed" and now, "the chain")
            result = client.get_job(status.steps[-1]["job_id"]).result
            assert result == " ".join(reversed(text.split())), result
    show(
        "languages",
        [
            ("sent by Python, worked by Node.js", f"{JOBS:,} jobs, {JOBS / to_node:,.0f} a second"),
            ("sent by Node.js, worked by Python", f"{JOBS:,} jobs, {JOBS / to_python:,.0f} a second"),
            ("a chain through both", result),
        ],
    )


if __name__ == "__main__":
    main()
