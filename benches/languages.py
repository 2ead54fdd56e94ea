#!/usr/bin/env python3
"""Handlers that do nothing, in every language, beside a rival of that language, all in one run: `make bench-languages`.

    languages.py [--jobs 30000] [--runs 3] [--only node,go]

Each figure is a run of one process that enqueues its jobs, then works them: its own runner in benches/, which reads the arguments, counts
each number, and prints one line of JSON. A job that did not run exactly once, or is not completed, ends the run without a table. Per
language: embedded on SQLite (durable), over HTTP with a server of its own on SQLite, embedded in memory, and the rival, in turns; medians.

The cost of the boundary is the processor time of the worker's process per job, engine in memory, 100 at a time, less that of the same
worker in Rust: everything that the language adds, its JSON and its scheduling included. `C` is the interface alone, without a language.

The rivals' PostgreSQL is durable like ours (fsync, synchronous commit); their Redis keeps nothing on disk. They are installed on first
use into target/bench. Wanted: what `make bench-languages` builds, redis-server, PostgreSQL. Python 3.10, standard library only.
"""
from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent
BENCHES = ROOT / "benches"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "release"
TOOLS = ROOT / "target" / "bench"
GO = shutil.which("go") or "/usr/local/go/bin/go"
PAYLOAD = 150
#: For all languages when the boundary is measured.
SLOTS = 100
#: A run that has not ended by then does not end, in seconds.
PATIENCE = 300

#: A command for a URL, a number of jobs, and how many at a time.
Runner = Callable[[str, int, int], list[str]]


@dataclass
class Rival:
    """Another system, in the same language."""

    name: str
    store: str  # redis or postgres
    command: Runner
    environment: Callable[[str, int], dict[str, str]] = lambda url, jobs: {}
    fill: list[str] = field(default_factory=list)  # enqueues, where the worker does not
    share: float = 0.5  # of the jobs: the slow ones get fewer

    def run(self, url: str, jobs: int, slots: int) -> dict:
        environment = self.environment(url, jobs)
        if self.fill:
            checked(self.fill, **environment)
        return line(self.command(url, jobs, slots), **environment)


@dataclass
class Language:
    """What is run, and what it is compared with."""

    name: str
    slots: int
    command: Runner
    prepare: Callable[[], None] = lambda: None
    rivals: list[Rival] = field(default_factory=list)


def line(command: list[str], **environment: str) -> dict:
    """Runs a program; its last line that is JSON is the answer."""
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=PATIENCE)
    answers = [text for text in done.stdout.splitlines() if text.startswith("{")]
    if done.returncode != 0 or not answers:
        raise SystemExit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stderr[-2000:]}{done.stdout[-500:]}")
    return json.loads(answers[-1])


def checked(command: list[str], folder: Path = ROOT, **environment: str) -> None:
    """Runs what prints nothing of interest."""
    done = subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}{done.stdout[-500:]}")


# --- preparations ---


def build_c() -> None:
    library = TARGET / "libojs_c.a"
    checked(["cc", "-std=c11", "-O2", "-I", "include", "benches/c/noop.c", "-o", str(TOOLS / "noop-c"), str(library), "-lpthread", "-ldl", "-lm"])


def build_go() -> None:
    checked([GO, "build", "-o", str(TOOLS / "noop-go"), "."], BENCHES / "go")
    checked([GO, "build", "-o", str(TOOLS / "river-go"), "./river"], BENCHES / "go")


def install_node() -> None:
    """The rivals of Node.js; the same folder as ojs-bench's."""
    folder = TOOLS / "rivals" / "node"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = (BENCHES / "node" / "package.json").read_text()
    installed = folder / "installed.json"
    if not installed.exists() or installed.read_text() != wanted:
        (folder / "package.json").write_text(wanted)
        checked(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error"], folder)
        installed.write_text(wanted)
    # Beside node_modules: that is where Node.js looks for what it imports.
    for script in ("graphile.js", "bullmq.js"):
        shutil.copy(BENCHES / "node" / script, folder / script)


def install_python() -> None:
    checked([str(BENCHES / "setup.sh")])


# --- languages ---


def flags(*start: str, more: tuple[str, ...] = ()) -> Runner:
    """A runner with the flags that most of them have."""
    return lambda url, jobs, slots: [*start, "--url", url, "--jobs", str(jobs), "--payload", str(PAYLOAD), "--concurrency", str(slots), *more]


def python_rival(name: str, share: float) -> Rival:
    script = str(BENCHES / "python" / "rivals" / f"{name.lower()}_noop.py")
    processes = str(os.cpu_count() or 2)

    def command(_url: str, jobs: int, _slots: int) -> list[str]:
        folder = tempfile.mkdtemp(dir=TOOLS)
        return [str(TOOLS / "venv/bin/python"), script, "--jobs", str(jobs), "--payload", str(PAYLOAD), "--processes", processes, "--dir", folder]

    return Rival(name, "redis", command, lambda url, jobs: {"BENCH_REDIS": url}, share=share)


def kotlin(url: str, jobs: int, slots: int) -> list[str]:
    return ["benches/kotlin/run.sh", f"-Djobs={jobs}", f"-Dpayload={PAYLOAD}", f"-Dthreads={slots}", "--", "noop", url]


def java(which: str) -> Runner:
    return lambda url, jobs, slots: ["benches/java/run.sh", f"-Djobs={jobs}", f"-Dpayload={PAYLOAD}", f"-Dthreads={slots}", "--", which, url]


NODE_RIVALS = TOOLS / "rivals" / "node"
SIDEKIQ = str(BENCHES / "ruby" / "sidekiq_noop.rb")
BULLMQ = Rival("BullMQ", "redis", flags("node", str(NODE_RIVALS / "bullmq.js")))
GRAPHILE = Rival("graphile-worker, tuned", "postgres",
                 lambda url, jobs, slots: ["node", str(NODE_RIVALS / "graphile.js"), "--url", url, "--how", "tuned", "--jobs", str(jobs), "--payload", str(PAYLOAD)])
RIVER = Rival("River, set as in its benchmark", "postgres",
              lambda url, jobs, slots: [str(TOOLS / "river-go"), "-url", url, "-jobs", str(jobs), "-payload", str(PAYLOAD)])
SIDEKIQ_RIVAL = Rival("Sidekiq", "redis", lambda url, jobs, slots: ["sidekiq", "-r", SIDEKIQ, "-c", str(slots), "-q", "default"],
                      lambda url, jobs: {"REDIS_URL": url, "BENCH_JOBS": str(jobs), "BENCH_PAYLOAD": str(PAYLOAD), "RUBYOPT": "-W0"}, ["ruby", SIDEKIQ, "enqueue"])

LANGUAGES = [
    Language("Rust", 100, lambda url, jobs, slots: [str(TARGET / "ojs-bench"), "noop", "--url", url, "--jobs", str(jobs), "--concurrency", str(slots)]),
    Language("C", 100, lambda url, jobs, slots: [str(TOOLS / "noop-c"), url, str(jobs), str(PAYLOAD), str(slots)], build_c),
    Language("Python", 10, flags(str(ROOT / ".venv/bin/python"), "python/benchmarks/noop.py", more=("--read-args",)), install_python,
             [python_rival("Celery", 0.1), python_rival("Dramatiq", 0.3)]),
    Language("Node.js", 100, flags("node", "benches/node/noop.mjs"), install_node, [BULLMQ, GRAPHILE]),
    Language("Ruby", 10, flags("ruby", "-Iruby/lib", "benches/ruby/noop.rb"), rivals=[SIDEKIQ_RIVAL]),
    Language("Go", 100, flags(str(TOOLS / "noop-go")), build_go, [RIVER]),
    Language("Java", 50, java("ojs"), rivals=[Rival("db-scheduler", "postgres", java("db-scheduler"))]),
    Language("Kotlin", 50, kotlin),
]


# --- servers ---


@contextmanager
def server(folder: str) -> Iterator[str]:
    """A server of ours on SQLite."""
    command = [str(TARGET / "ojs"), "server", "--store", f"sqlite:{folder}/server.db", "--listen", "127.0.0.1:0", "--log-level", "error"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


@contextmanager
def redis() -> Iterator[str]:
    """A Redis that keeps nothing on disk."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                deadline = time.monotonic() + 20
                while True:
                    try:
                        socket.create_connection(("127.0.0.1", port)).close()
                        break
                    except ConnectionError:
                        if time.monotonic() > deadline:
                            raise SystemExit("redis-server does not answer") from None
                        time.sleep(0.02)
                yield f"redis://127.0.0.1:{port}/0"
            finally:
                process.terminate()


def beside_postgres(rival: Rival, jobs: int, slots: int) -> dict:
    """A run with a database of its own, on the server that this program was started beside."""
    fixture = [str(TARGET / "postgres-fixture"), "--database", "--"]
    return line([*fixture, *rival.command("{database}", jobs, slots)])


# --- the run ---


def measure(language: Language, jobs: int) -> dict[str, dict]:
    """One run of each kind."""
    found: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as folder:
        found["embedded"] = line(language.command(f"sqlite:{folder}/jobs.db", jobs, language.slots))
        with server(folder) as url:
            found["http"] = line(language.command(url, jobs, language.slots))
    found["memory"] = line(language.command("memory:", jobs, SLOTS))
    for rival in language.rivals:
        few = max(1000, int(jobs * rival.share))
        if rival.store == "postgres":
            found[rival.name] = beside_postgres(rival, few, language.slots)
        else:
            with redis() as url:
                found[rival.name] = rival.run(url, few, language.slots)
    return found


def median(runs: list[dict[str, dict]], kind: str, figure: str) -> float:
    return statistics.median(run[kind][figure] for run in runs)


def table(languages: list[Language], runs: dict[str, list[dict[str, dict]]]) -> str:
    """The table in Markdown."""
    rows = ["| language | slots | embedded, SQLite | over HTTP, SQLite | in memory | CPU per job | boundary | rival | its rate | ours to it |",
            "|---|---:|---:|---:|---:|---:|---:|---|---:|---:|"]
    rust = median(runs["Rust"], "memory", "cpu_us")
    for language in languages:
        mine = runs[language.name]
        rates = [median(mine, kind, "jobs_per_second") for kind in ("embedded", "http", "memory")]
        cpu = median(mine, "memory", "cpu_us")
        boundary = "" if language.name == "Rust" else f"{(cpu - rust) * 1000:,.0f} ns"
        start = f"| {language.name} | {language.slots} | {' | '.join(f'{rate:,.0f}' for rate in rates)} | {cpu:.1f} µs | {boundary} |"
        for rival in language.rivals or [None]:
            rate = median(mine, rival.name, "jobs_per_second") if rival else 0.0
            rows.append(f"{start} {rival.name} | {rate:,.0f} | {rates[0] / rate:.2f} × |" if rival else f"{start} | | |")
            start = "|" + " |" * 7
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="languages, separated by commas; Rust is always there, to compare with")
    options = parser.parse_args()
    if "OJS_TEST_POSTGRES" not in os.environ:
        command = [str(TARGET / "postgres-fixture"), "--durable", "--", sys.executable, *sys.argv]
        os.execv(command[0], command)
    wanted = {name.lower().removesuffix(".js") for name in options.only.split(",") if name}
    languages = [one for one in LANGUAGES if not wanted or one.name == "Rust" or one.name.lower().removesuffix(".js") in wanted]
    TOOLS.mkdir(parents=True, exist_ok=True)
    for language in languages:
        language.prepare()
    runs: dict[str, list[dict[str, dict]]] = {language.name: [] for language in languages}
    for number in range(options.runs):
        for language in languages:
            print(f"run {number + 1} of {options.runs}: {language.name}", file=sys.stderr, flush=True)
            runs[language.name].append(measure(language, options.jobs))
    print(f"{options.jobs} jobs, {PAYLOAD} bytes of text each, medians of {options.runs}; {os.cpu_count()} processors, {platform.platform()}; "
          "jobs/s; the ratio is embedded on SQLite to the rival; memory and boundary at 100 slots\n")
    print(table(languages, runs))
    report = TOOLS / "languages.json"
    report.write_text(json.dumps({"options": vars(options), "runs": runs}, indent=1))
    print(f"\nEvery run: {report.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
