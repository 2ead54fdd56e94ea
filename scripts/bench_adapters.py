#!/usr/bin/env python3
"""What a job costs the application's own transaction, per adapter, on a real PostgreSQL: milliseconds, statements, round trips.

    bench_adapters.py [--only django,pgx] [--transactions 1000] [--runs 3] [--json FILE]

Each adapter has a small program in benches/adapters, written as its README shows: a transaction with one row of the application, and the same
with a job, in turns, after a warm-up; the outbox is in the application's database, no relay runs, no server is asked. The times are the middle
ones of all transactions of a kind, then of the runs; PostgreSQL is durable (fsync).

Statements are those that PostgreSQL says it has completed, round trips the points at which the driver waits for its answers: both are counted
between driver and server, in runs of their own with other numbers of transactions, whose difference is what one transaction needs.

Wanted: what `make bench` builds, PostgreSQL. What is not there is named, and the exit status says so. Python 3.10, standard library only.
"""
from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "benches" / "adapters"
sys.path.insert(0, str(PROGRAMS))

from tap import Count, Tap  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "release"
TOOLS = ROOT / "target" / "bench"
GO = shutil.which("go") or "/usr/local/go/bin/go"
FIXTURE = str(TARGET / "postgres-fixture")
#: As the other benchmarks have it: memory that fits, no checkpoint in the middle of a run because the log has grown.
SETTINGS = ("shared_buffers=512MB", "max_wal_size=4GB")
SHOWN = ("server_version", "fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_wal_size")
#: Transactions of each kind before the clock starts: statements are prepared, code is compiled.
WARM = 300
#: Of a run that counts. More than any driver waits before it prepares a statement.
COUNTED = 20
#: A program that has not ended by then does not end, in seconds.
PATIENCE = 600


class Missing(Exception):
    """What a program needs is not there, or it failed."""


@dataclass
class Adapter:
    """A program, and what makes it ready."""

    key: str
    command: list[str]
    prepare: Callable[[], None]
    environment: dict[str, str] = field(default_factory=dict)


@dataclass
class Cost:
    """What one transaction asked of the server."""

    statements: float
    round_trips: float


# --- preparations ---


def present(path: Path, how: str) -> None:
    if not path.exists():
        raise Missing(f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path} is missing: {how}")


def checked(command: list[str], folder: Path, how: str) -> None:
    """Builds; what cannot be started, or fails, is said."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    except OSError as error:
        raise Missing(f"{command[0]}: {error.strerror}: {how}") from error
    if done.returncode != 0:
        raise Missing(f"{' '.join(command)} failed:\n{(done.stderr + done.stdout)[-1500:]}")


def wants_python() -> None:
    present(ROOT / ".venv" / "bin" / "python", "make python")


def wants_node() -> None:
    if not shutil.which("node"):
        raise Missing("no node: scripts/setup.sh node")
    present(ROOT / "node" / "adapters" / "node_modules", "make node")


def wants_ruby() -> None:
    checked(["ruby", "-Iruby/lib", "-e", "require 'ojs'; require 'active_record'; require 'pg'"], ROOT, "scripts/setup.sh ruby rails && make ruby")


def wants_go() -> None:
    TOOLS.mkdir(parents=True, exist_ok=True)
    checked([GO, "build", "-o", f"{TOOLS}/", "./cmd/..."], PROGRAMS / "go", "scripts/setup.sh go && make go")


def wants_java() -> None:
    checked([str(PROGRAMS / "java" / "run.sh"), "build"], ROOT, "scripts/setup.sh java && make java")


def wants_rust() -> None:
    present(TARGET / "ojs-bench-axum", "cargo build --release --workspace")


def python(key: str, program: str, adapter: str) -> Adapter:
    folders = os.pathsep.join(str(ROOT / "python" / "adapters" / name) for name in (f"ojs-adapter-{adapter}",))
    return Adapter(key, [str(ROOT / ".venv" / "bin" / "python"), str(PROGRAMS / program)], wants_python, {"PYTHONPATH": folders})


ADAPTERS = [
    Adapter("axum", [str(TARGET / "ojs-bench-axum")], wants_rust),
    python("django", "django_atomic.py", "django"),
    python("sqlalchemy", "sqlalchemy_session.py", "sqlalchemy"),
    python("sqlalchemy-async", "sqlalchemy_async.py", "sqlalchemy"),
    Adapter("express-pg", ["node", str(PROGRAMS / "express_pg.mjs")], wants_node),
    Adapter("express-knex", ["node", str(PROGRAMS / "express_knex.mjs")], wants_node),
    Adapter("active-record", ["ruby", "-W0", "-Iruby/lib", "-Iruby/adapters/ojs-adapter-activerecord/lib", str(PROGRAMS / "active_record.rb")], wants_ruby),
    Adapter("database-sql", [str(TOOLS / "database_sql")], wants_go),
    Adapter("pgx", [str(TOOLS / "pgx")], wants_go),
    Adapter("jdbc", [str(PROGRAMS / "java" / "run.sh"), "Jdbc"], wants_java),
    Adapter("spring", [str(PROGRAMS / "java" / "run.sh"), "Spring"], wants_java),
]


# --- the run ---


def run(adapter: Adapter, server: str, without: int, along: int) -> dict:
    """Runs a program with a database of its own on that server; its line of JSON."""
    numbers = [str(number) for number in (WARM if server == own_server() else COUNTED, without, along)]
    environment = os.environ | adapter.environment | {"OJS_TEST_POSTGRES": server}
    command = [FIXTURE, "--database", "--", *adapter.command, "{database}", *numbers]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    answers = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not answers:
        raise Missing(f"failed ({done.returncode}):\n{(done.stderr + done.stdout)[-2000:]}")
    return json.loads(answers[-1])


def own_server() -> str:
    return os.environ["OJS_TEST_POSTGRES"]


def costs(adapter: Adapter) -> tuple[Cost, Cost]:
    """What a transaction asks of the server, without and with a job."""
    place = urlsplit(own_server())

    def counted(without: int, along: int) -> Count:
        tap = Tap(place.hostname or "", place.port or 5432)
        try:
            run(adapter, place._replace(netloc=f"{place.username}@127.0.0.1:{tap.port}").geturl(), without, along)
            return tap.count()
        finally:
            tap.close()

    for _ in range(3):
        # The start and the end are the same in all three.
        base, more_without, more_with = counted(COUNTED, COUNTED), counted(2 * COUNTED, COUNTED), counted(COUNTED, 2 * COUNTED)
        bare, along = per_transaction(base, more_without), per_transaction(base, more_with)
        # On a busy machine a pool looks after a connection that has been idle for half a second: then the difference is not whole.
        if all(number.is_integer() for cost in (bare, along) for number in (cost.statements, cost.round_trips)):
            break
    return bare, along


def per_transaction(base: Count, more: Count) -> Cost:
    return Cost((more.statements - base.statements) / COUNTED, (more.round_trips - base.round_trips) / COUNTED)


def measure(adapters: list[Adapter], runs: int, transactions: int, missing: dict[str, str]) -> list[dict]:
    """All adapters in turns, run by run, then the counts; one that fails is added to those that are missing."""
    timed: dict[str, list[dict]] = {adapter.key: [] for adapter in adapters}
    counted: dict[str, tuple[Cost, Cost]] = {}
    for number in range(runs + 1):
        for adapter in adapters:
            if adapter.key in missing:
                continue
            try:
                if number < runs:
                    progress(f"run {number + 1} of {runs}: {adapter.key}")
                    timed[adapter.key].append(run(adapter, own_server(), transactions, transactions))
                else:
                    progress(f"statements: {adapter.key}")
                    counted[adapter.key] = costs(adapter)
            except Missing as reason:
                missing[adapter.key] = str(reason)
    return [result(timed[key], *cost, transactions) for key, cost in counted.items()]


def result(runs: list[dict], bare: Cost, along: Cost, transactions: int) -> dict:
    """All that is known of one adapter."""
    times = {name: statistics.median(one[name] for one in runs) for name in ("without_ms", "with_ms")}
    return {
        "adapter": runs[0]["adapter"], **times, "transactions": transactions,
        "added_ms": times["with_ms"] - times["without_ms"], "ratio": times["with_ms"] / times["without_ms"],
        "statements": [bare.statements, along.statements], "added_statements": along.statements - bare.statements,
        "round_trips": [bare.round_trips, along.round_trips], "added_round_trips": along.round_trips - bare.round_trips,
        "runs": runs,
    }


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# --- what is shown ---


def conditions() -> dict[str, object]:
    """The machine and the server, as ojs-bench says them."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    processor = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    return {"cores": os.cpu_count(), "processor": processor, "kernel": platform.release(), "load_before": round(os.getloadavg()[0], 2), "postgres": settings()}


def settings() -> str:
    """Those of the server that a reader wants to know."""
    query = f"SELECT string_agg(name || ' ' || current_setting(name), ', ') FROM unnest(ARRAY{list(SHOWN)}) AS name"
    programs = [shutil.which("psql"), *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/psql"), reverse=True))]
    psql = next((program for program in programs if program), None)
    if psql is None:
        return "PostgreSQL, durable"
    return subprocess.run([psql, own_server(), "-Atc", query], capture_output=True, text=True, check=True).stdout.strip()


COLUMNS = ("adapter", "ms without", "ms with", "added ms", "ratio", "statements", "added", "round trips", "added")


def table(found: list[dict]) -> str:
    """In Markdown, aligned."""
    rows = [COLUMNS, *(
        (one["adapter"], f"{one['without_ms']:.3f}", f"{one['with_ms']:.3f}", f"{one['added_ms']:+.3f}", f"{one['ratio']:.2f}",
         "{:g} → {:g}".format(*one["statements"]), f"{one['added_statements']:+g}", "{:g} → {:g}".format(*one["round_trips"]),
         f"{one['added_round_trips']:+g}") for one in found)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
    lines = ["| " + " | ".join(text.ljust(width) if place == 0 else text.rjust(width) for place, (text, width) in enumerate(zip(row, widths))) + " |"
             for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 1) + ("-" if place == 0 else ":") for place, width in enumerate(widths)) + "|")
    return "\n".join(lines)


def ready(adapters: list[Adapter]) -> tuple[list[Adapter], dict[str, str]]:
    """Those that can run, and why the others cannot."""
    there, missing = [], {}
    for adapter in adapters:
        progress(f"preparing {adapter.key}")
        try:
            adapter.prepare()
            there.append(adapter)
        except Missing as reason:
            missing[adapter.key] = str(reason)
    return there, missing


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help=f"adapters, separated by commas: {', '.join(adapter.key for adapter in ADAPTERS)}")
    parser.add_argument("--transactions", type=int, default=1000, help="of each kind, in each run (default 1000)")
    parser.add_argument("--runs", type=int, default=3, help="of each program (default 3)")
    parser.add_argument("--json", type=Path, default=TOOLS / "adapters.json", metavar="FILE", help="everything that was measured (default target/bench/adapters.json)")
    options = parser.parse_args()
    unknown = {name for name in options.only.split(",") if name} - {adapter.key for adapter in ADAPTERS}
    if unknown:
        parser.error(f"no adapter {', '.join(sorted(unknown))}; there are {', '.join(adapter.key for adapter in ADAPTERS)}")
    if options.transactions < 1 or options.runs < 1:
        parser.error("--transactions and --runs are at least 1")
    return options


def main() -> int:
    options = arguments()
    if "OJS_TEST_POSTGRES" not in os.environ:
        if not Path(FIXTURE).exists():
            raise SystemExit(f"{FIXTURE} is missing: cargo build --release --workspace")
        command = [FIXTURE, "--durable", *(word for setting in SETTINGS for word in ("--set", setting)), "--", sys.executable, *sys.argv]
        os.execv(command[0], command)
    before = conditions()
    wanted = {name for name in options.only.split(",") if name}
    there, missing = ready([adapter for adapter in ADAPTERS if not wanted or adapter.key in wanted])
    found = measure(there, options.runs, options.transactions, missing)
    print("{cores} cores ({processor}), kernel {kernel}, load before the run {load_before}. Program and server share the cores.".format(**before))
    print(f"PostgreSQL: {before['postgres']}. One row of the application per transaction, one connection; {options.transactions} transactions "
          f"without and with a job in turns, the middle ones; medians of {options.runs} runs.\n")
    print(table(found))
    for key, reason in missing.items():
        print(f"\nNOT MEASURED: {key}: {reason}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"conditions": before, "adapters": found, "missing": missing}, indent=1, ensure_ascii=False))
    print(f"\nEvery run: {options.json}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
