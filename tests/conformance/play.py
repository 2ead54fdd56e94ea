#!/usr/bin/env python3
"""Plays the public conformance cases against the real server, a fresh one per case.

    play.py --ojs target/release/ojs --store sqlite|memory --cases DIR [--slow]
    play.py --ojs target/release/ojs --store postgres --cases DIR [--nodes 2]

DIR is the folder of the cases: it, or `cases` or `suites` in it, holds level-0-core and the other suites. The suites in GATED
must pass. With --report the others are played too, and a line for each says how many of its cases pass. On PostgreSQL every
server has a database of its own, on the server of OJS_TEST_POSTGRES or one started for the run (`postgres-fixture`, beside the
binary). With --nodes, every case is played against several servers on its database in turns, one request here, the next there.
The last line is "N passed, N failed" of the gated cases.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

# A suite joins this list when it passes fully; it never leaves.
GATED = [
    "level-0-core",
    "level-1-reliable",
    "level-2-scheduled",
    "level-3-workflows",
    "level-4-advanced",
    "ext-admin-api",
    "ext-backpressure",
    "ext-dead-letter",
    "ext-durable-execution",
    "ext-encryption",
    "ext-fair-scheduling",
    "ext-graceful-shutdown",
    "ext-job-versioning",
    "ext-middleware",
    "ext-multi-tenancy",
    "ext-observability",
    "ext-progress",
    "ext-rate-limiting",
    "ext-schema-registry",
    "ext-serverless",
    "ext-webhooks",
]
# Two cases wait for the minute to pass, once and twice. They run by themselves (--slow), on one store.
SLOW = ["cron-fires-on-schedule", "cron-overlap-prevention"]


def play(options: argparse.Namespace, suites: list[str], report: Path) -> subprocess.CompletedProcess[str]:
    """One run of the runner over some suites."""
    store = {"memory": "memory:", "sqlite": "sqlite:{dir}/jobs.db", "postgres": "{database}"}[options.store]
    listen = "127.0.0.1:{port}"
    address = listen if options.nodes == 1 else "{listen}"
    server = f"{options.ojs.resolve()} server --listen {address} --store {store} --test-mode --log-level error"
    if options.nodes > 1:
        server = f"{sys.executable} {HERE / 'nodes.py'} --listen {listen} --nodes {options.nodes} -- {server}"
    if options.store == "postgres":
        server = f"{fixture(options)} --database -- {server}"
    command = [sys.executable, str(HERE / "run.py"), "--spawn", server, "--suites", str(options.cases),
               "--jobs", str(options.jobs), "--json", str(report)]
    cases = options.cases
    found = [path for suite in suites for path in sorted((cases / suite).rglob("*.json"))]
    chosen = [path for path in found if (path.stem in SLOW) == options.slow]
    chosen_list = report.with_suffix(".list")
    chosen_list.write_text("".join(f"{path.relative_to(cases)}\n" for path in chosen))
    command += ["--list", str(chosen_list)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def folder_of_cases(folder: Path) -> Path | None:
    """The folder that holds the suites: this one, or `cases` or `suites` in it."""
    places = (folder, folder / "cases", folder / "suites")
    return next((place.resolve() for place in places if (place / "level-0-core").is_dir()), None)


def fixture(options: argparse.Namespace) -> Path:
    """The program that lends databases."""
    return options.ojs.resolve().with_name("postgres-fixture")


def closing(run: subprocess.CompletedProcess[str]) -> str:
    """The runner's last line."""
    lines = run.stdout.strip().splitlines()
    return lines[-1] if lines else f"no output, exit status {run.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ojs", type=Path, required=True, help="the binary")
    parser.add_argument("--store", choices=["memory", "sqlite", "postgres"], required=True)
    parser.add_argument("--nodes", type=int, default=1, help="servers on one database")
    parser.add_argument("--cases", type=Path, required=True, help="the folder of the cases")
    parser.add_argument("--jobs", type=int, default=4, help="cases at a time")
    parser.add_argument("--slow", action="store_true", help="only the cases that wait for minutes; without it, only the others")
    parser.add_argument("--report", action="store_true", help="play the suites that are not gated, too")
    options = parser.parse_args()
    cases = folder_of_cases(options.cases)
    if cases is None:
        parser.error(f"no level-0-core in {options.cases}, nor in its folders cases and suites")
    options.cases = cases
    if options.nodes > 1 and options.store == "memory":
        parser.error("--nodes needs a store that servers can share: sqlite or postgres")
    if options.store == "postgres" and "OJS_TEST_POSTGRES" not in os.environ:
        os.execv(fixture(options), ["postgres-fixture", "--", sys.executable, *sys.argv])
    with tempfile.TemporaryDirectory() as directory:
        gated = play(options, GATED, Path(directory) / "gated.json")
        print(gated.stderr, file=sys.stderr)
        if options.report:
            for suite in sorted(p.name for p in cases.iterdir() if p.is_dir() and p.name not in GATED):
                last_line = closing(play(options, [suite], Path(directory) / "other.json"))
                print(f"for the record: {suite:<24} {last_line}", flush=True)
        print(gated.stdout, end="")
    return gated.returncode


if __name__ == "__main__":
    sys.exit(main())
