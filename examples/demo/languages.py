"""Jobs that cross languages: Python sends them and each of the others works them, and the other way round.

A server in a process of its own, a worker per language (languages.mjs, languages.rb, Languages.java, languages.go) in others, a Python worker in this
one. At the end a chain through all of them, each reading the result of the step before. What comes back must be what was sent, to
the last digit of a 64-bit number.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import openjobspec as ojs
from report import show

JOBS = 2_000
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
#: What JSON libraries like to damage.
TREASURE = ["žluťoučký kůň 馬 🐎", 9_223_372_036_854_775_807, -9_007_199_254_740_993, 0.1, None, {"nested": [True, ""]}]
PATIENCE = 60.0


@dataclass(frozen=True)
class Language:
    """A worker on the queue of its name, until SIGTERM. It prints `ready`, and has the handlers NAME.echo, NAME.send, NAME.reverse."""

    name: str
    title: str
    command: tuple[str, ...]


def java() -> tuple[str, ...]:
    """Java compiles the file itself."""
    home = subprocess.run([ROOT / "scripts" / "jdk.sh"], check=True, capture_output=True, text=True).stdout.strip()
    jars = os.pathsep.join(str(jar) for jar in sorted((ROOT / "java" / "target").glob("ojs-*.jar")))
    return (f"{home}/bin/java", "--enable-native-access=ALL-UNNAMED", "-cp", jars, str(HERE / "Languages.java"))


def go() -> tuple[str, ...]:
    """Go compiles the file within its module. (`go run` would keep the signals to itself.)"""
    program = ROOT / "target" / "demo" / "languages-go"
    program.parent.mkdir(parents=True, exist_ok=True)
    path = f"{os.environ['PATH']}{os.pathsep}/usr/local/go/bin"
    subprocess.run(["go", "build", "-o", program, str(HERE / "languages.go")], cwd=ROOT / "go", env=os.environ | {"PATH": path}, check=True)
    return (str(program),)


OTHERS = (
    Language("node", "Node.js", ("node", str(HERE / "languages.mjs"))),
    Language("ruby", "Ruby", ("ruby", "-I", str(ROOT / "ruby" / "lib"), str(HERE / "languages.rb"))),
    Language("java", "Java", java()),
    Language("go", "Go", go()),
)


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
        raise ojs.NonRetryableError(f"damaged on the way: {ctx.args}")
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


def exchange(client: ojs.Client, other: Language, before: int) -> tuple[float, float]:
    """Jobs from here to the other language, and as many from there to here; returns the seconds. ``before``: done here so far."""
    began = time.perf_counter()
    jobs = client.enqueue_batch([ojs.JobRequest(f"{other.name}.echo", TREASURE, queue=other.name) for _ in range(JOBS)])
    wait_for(lambda: completed(client, other.name, JOBS), f"{other.title} works the jobs of Python")
    there = time.perf_counter() - began
    assert client.get_job(jobs[-1].id).result == TREASURE, "the same came back"

    began = time.perf_counter()
    client.enqueue(f"{other.name}.send", [JOBS, "python.echo", "python", TREASURE], queue=other.name)
    wait_for(lambda: completed(client, "python", before + JOBS), f"Python works the jobs of {other.title}")
    return there, time.perf_counter() - began


def through_all(client: ojs.Client) -> str:
    """A chain that turns the words round in every language; returns its result."""
    words = "jobs cross from one language to the next"
    steps = [{"type": "python.words", "args": [words], "queue": "python"}]
    steps += [{"type": f"{other.name}.reverse", "args": [], "queue": other.name} for other in OTHERS]
    steps += [{"type": "python.join", "args": [], "queue": "python"}]
    started = client.workflow(ojs.chain(*steps))
    status = wait_for(lambda: (now := client.get_workflow(started.id)).state == "completed" and now, "the chain")
    result = client.get_job(status.steps[-1]["job_id"]).result
    expected = words.split()[:: -1 if len(OTHERS) % 2 else 1]
    assert result == " ".join(expected), result
    return str(result)


def main() -> None:
    """Runs it and prints what happened."""
    rows = []
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(program(sys.executable, "-m", "openjobspec", "server", "--store", "memory:", "--listen", "127.0.0.1:0",
                                          "--log-level", "error", ready="listening on "))  # fmt: skip
        for other in OTHERS:
            stack.enter_context(program(*other.command, ready="ready", url=url))
        client = stack.enter_context(ojs.Client(url))
        stack.enter_context(python_worker(url))
        for number, other in enumerate(OTHERS):
            there, here = exchange(client, other, number * JOBS)
            rows.append((f"sent by Python, worked by {other.title}", f"{JOBS:,} jobs, {JOBS / there:,.0f} a second"))
            rows.append((f"sent by {other.title}, worked by Python", f"{JOBS:,} jobs, {JOBS / here:,.0f} a second"))
        rows.append(("a chain through all of them", through_all(client)))
    show("languages", rows)


if __name__ == "__main__":
    main()
