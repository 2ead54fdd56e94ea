#!/usr/bin/env python3
"""Runs every check of this repository: builds once, runs what is independent side by side, sums up (`make test`).

    check.py                 everything
    check.py --only rust     the suites whose name or group matches (repeatable), with what they need
    check.py --list          the suites, what each needs
    check.py --ci            as .ci/run calls it, see below

Each suite writes target/test-logs/<name>.log. The last line is "N passed, N failed"; the exit status is 0 only when
nothing failed. Python 3.10, standard library only.

A suite of which few tests fail while other suites run is run once more, alone. If it then passes it is "unsteady": the last lines
name its test, both logs and the seed. An unsteady suite counts as failed, except with --ci. The conformance cases are another
project's (tests/conformance/README.md): without them the summary says that they are absent, and with --require-cases
that is a failure.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
LOGS = ROOT / "target" / "test-logs"
PYTHON = ROOT / ".venv" / "bin" / "python"
UNIFFI = "libojs_uniffi.dylib" if sys.platform == "darwin" else "libojs_uniffi.so"

# Logs are read later, by people and by count().
ENVIRONMENT = os.environ | {"CARGO_TERM_COLOR": "never", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", "OJS_TEST_LOGS": str(LOGS)}

# Two suites at a time: the reference machine has two cores. The conformance cases measure time and mostly wait (one for
# two minutes): they run beside each other, when nothing else does.
PLACES = 2

#: Groups of commands that pass or fail as a whole. The other suites run tests, and say how many.
COMMANDS = ("lint", "build", "docs")

COUNTERS = [
    re.compile(r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed"),
    re.compile(r"^(?P<passed>\d+) passed, (?P<failed>\d+) failed(?:, \d+ skipped)?$"),
    # Node.js says it in two lines.
    re.compile(r"^# pass (?P<passed>\d+)(?P<failed>)$"),
    re.compile(r"^# fail (?P<passed>)(?P<failed>\d+)$"),
    # pytest: "=== 3 failed, 12 passed, 1 error in 0.5s ===", in any order.
    re.compile(r"^=* ?(?=.* in [\d.]+s)(?:(?P<failed>\d+) failed,? ?)?(?:(?P<passed>\d+) passed)?.* in [\d.]+s"),
]


@dataclass
class Suite:
    """One command, and what it needs."""

    name: str
    group: str
    command: list[str]
    needs: tuple[str, ...] = ()  # must have passed
    after: tuple[str, ...] = ()  # must have ended: both want cargo's lock
    places: int = 1
    counts: bool = True  # says how many tests it ran; not asked of the groups of COMMANDS
    filters: bool = False  # takes `-- --exact NAME…`: a second run has only the tests that failed
    minutes: float = 25  # a hung suite ends; a slow machine needs three times what the reference machine does
    state: str = "waiting"  # then running, and passed, unsteady, failed, or blocked (by a failed need)
    runs: int = 0
    passed: int = 0
    failed: int = 0
    seconds: float = 0.0
    note: str = ""
    first: list[str] = field(default_factory=list)  # what failed in the first of two runs
    first_failed: int = 0  # how many tests that were
    first_passed: int = 0  # in the first of two runs, where the second has not all tests
    only: list[str] = field(default_factory=list)  # the tests of the second run
    seeds: list[str] = field(default_factory=list)  # that the first of two runs printed
    group_id: int | None = None  # of the processes, while running
    log: Path = field(init=False)

    def __post_init__(self) -> None:
        self.log = LOGS / f"{self.name}.log"

    @property
    def first_log(self) -> Path:
        """The log of the first of two runs."""
        return self.log.with_suffix(".first.log")


def conformance_cases() -> Path | None:
    """The folder of the conformance cases, None if there is none. A folder that OJS_CONFORMANCE names must hold them."""
    named = os.environ.get("OJS_CONFORMANCE")
    places = [Path(named)] if named else [ROOT / "tests" / "conformance", ROOT.parent / "shared" / "conformance"]
    for place in places:
        for folder in (place, place / "cases", place / "suites"):
            if (folder / "level-0-core").is_dir():
                return folder.resolve()
    if named:
        raise SystemExit(f"check.py: OJS_CONFORMANCE={named}: no level-0-core there, see tests/conformance/README.md")
    return None


def suites() -> list[Suite]:
    """Everything there is, in the order of preference when several could start."""
    cargo = ["cargo"]
    release = ["--release", "--locked"]
    built = ["env", "OJS_BUILT=1"]
    ojs = TARGET / "release" / "ojs"
    # One database server for a whole suite, instead of one per test program.
    postgres = [str(TARGET / "release" / "postgres-fixture"), "--"]
    mariadb = [str(TARGET / "release" / "mariadb-fixture")]
    databases = postgres + mariadb

    def tests(*which: str) -> list[str]:
        # Always the whole workspace: another choice of packages has other features, and would compile everything again.
        return ["cargo", "test", *release, "--workspace", "--no-fail-fast", *which]

    others = [name for name in test_names() if name not in ("store", "e2e", "wire", "kill9", "scenarios")]
    shared = ["tests/specification", "tests/vectors"]
    folders = ("node/test", "tests/specification")
    node_tests = [str(test.relative_to(ROOT)) for at in folders for test in sorted(ROOT.glob(f"{at}/*.test.mjs"))]
    page_tests = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests" / "dashboard").glob("*.test.mjs"))]
    all_ = [
        Suite("format", "lint", cargo + ["fmt", "--all", "--check", "--", "--color", "never"]),
        Suite("build", "build", cargo + ["build", *release, "--workspace", "--all-targets"], places=2, minutes=50),
        Suite("clippy", "lint", cargo + ["clippy", *release, "--workspace", "--all-targets", "--", "-D", "warnings"],
              needs=("build",), minutes=40),
        # Early in this list, because it takes longest.
        Suite("store", "rust", databases + tests("--test=store"),
              needs=("build",), after=("clippy",), filters=True, minutes=40),
        # What scripts/demo.sh builds first: without the features that the others are built with.
        Suite("first-build", "lint",
              cargo + ["check", "--locked", "--profile", "demo", "-p", "ojs-python", "--no-default-features"],
              after=("build", "clippy"), minutes=40),
        Suite("gen", "lint", [str(TARGET / "release" / "xtask"), "gen", "--check"], needs=("build",)),
        Suite("checks", "lint", ["python3", "tests/checks"]),
        Suite("layers", "lint", ["python3", "scripts/layers.py"]),
        Suite("sizes", "lint", ["python3", "scripts/sizes.py"]),
        Suite("imports", "lint", ["python3", "scripts/imports.py"]),
        Suite("edge", "lint", ["python3", "scripts/edge.py", "check"]),
        Suite("references", "lint", ["python3", "scripts/references.py"]),
        Suite("dependencies", "lint", ["python3", "scripts/dependencies.py"]),
        Suite("python-build", "build", [*built, "scripts/python.sh"], needs=("build",)),
        Suite("mypy", "lint", [str(PYTHON), "-m", "mypy", "--config-file", "python/pyproject.toml", "python/openjobspec"],
              needs=("python-build",)),
        Suite("swift", "lint",
              [str(PYTHON), "scripts/swift_syntax.py", *(str(TARGET / "release" / name) for name in ("xtask", UNIFFI))],
              needs=("python-build",)),
        Suite("node-build", "build", [*built, "scripts/node.sh"], needs=("build",)),
        Suite("node-types", "lint", ["node", "node/node_modules/typescript/bin/tsc", "--noEmit", "-p", "node/test/types"], needs=("node-build",)),
        Suite("node", "node", ["node", "--test", "--test-reporter=tap", *node_tests], needs=("node-build",)),
        *(Suite(f"adapter-{name}", "node", databases + ["node", "--test", "--test-reporter=tap", *node_adapter_tests(name)], needs=("node-build",))
          for name in ("express", "nestjs")),
        Suite("languages", "node", [str(PYTHON), "examples/demo/languages.py"],
              needs=("python-build", "node-build", "ruby-build", "java", "go"), counts=False),
        Suite("trains", "node", [str(PYTHON), "examples/trains/run.py", "python", "node", "ruby", "go", "java"],
              needs=("python-build", "node-build", "ruby-build", "java", "go")),
        # After the adapters of Java and Go, whose drivers it takes.
        Suite("migrations", "node", databases + [str(PYTHON), "tests/migrations/run.py"],
              needs=("python-build", "node-build", "ruby-build", "adapter-java", "adapter-go")),
        Suite("c", "c", [*built, "scripts/c.sh", "test"], needs=("build",), minutes=40),
        Suite("java", "java", [*built, "scripts/java.sh", "test"], needs=("build",), minutes=40),
        Suite("adapter-java", "java", databases + [*built, "scripts/java.sh", "adapters"], needs=("java",), minutes=40),
        Suite("kotlin", "kotlin", databases + [*built, "scripts/kotlin.sh", "test"], needs=("build",), minutes=40),
        Suite("go", "go", [*built, "scripts/go.sh", "test"], needs=("build",), minutes=40),
        Suite("adapter-go", "go", databases + [*built, "scripts/go.sh", "adapters"], needs=("go",), minutes=40),
        Suite("ruby-build", "build", [*built, "scripts/ruby.sh"], needs=("build",)),
        Suite("ruby", "ruby", [*built, "scripts/ruby.sh", "test"], needs=("ruby-build",)),
        *(Suite(f"adapter-{name}", "ruby", databases + ["ruby", f"ruby/adapters/ojs-adapter-{name}/test/all.rb"], needs=("ruby-build",))
          for name in ("activerecord", "rails")),
        Suite("rust", "rust", databases + tests("--lib", "--bins", *(f"--test={name}" for name in others)),
              needs=("build",), after=("clippy",), filters=True, minutes=40),
        Suite("wire", "rust", postgres + tests("--test=e2e", "--test=wire"),
              needs=("build",), after=("clippy",), filters=True, minutes=40),
        Suite("faults", "rust", postgres + tests("--test=kill9", "--test=scenarios"),
              needs=("build",), after=("clippy",), filters=True, minutes=40),
        Suite("doctests", "rust", tests("--doc"), needs=("build",), after=("clippy",), minutes=40),
        Suite("pytest", "python", postgres + [str(PYTHON), "-m", "pytest", "-q", "-c", "python/pyproject.toml", f"--junitxml={LOGS / 'pytest.xml'}",
                                  "python/tests", *shared], needs=("python-build",)),
        *(Suite(f"adapter-{name}", "python",
                (databases if name == "sqlalchemy" else postgres)
                + [str(PYTHON), "-m", "pytest", "-q", "-c", f"python/adapters/ojs-adapter-{name}/pyproject.toml",
                            f"python/adapters/ojs-adapter-{name}/tests"], needs=("python-build",))
          for name in ("django", "sqlalchemy", "flask", "fastapi")),
        # Without a server of PostgreSQL its databases are MariaDB's, or SQLite files.
        *(Suite(f"adapter-django-{name}", "python",
                server + [str(PYTHON), "-m", "pytest", "-q", "-c", "python/adapters/ojs-adapter-django/pyproject.toml",
                          "python/adapters/ojs-adapter-django/tests", "--ignore=python/adapters/ojs-adapter-django/tests/test_same_database.py"],
                needs=("python-build",))
          for name, server in (("sqlite", []), ("mysql", mariadb))),
        Suite("versions", "lint", ["python3", "scripts/packages/versions.py", "check"]),
        # Its wheel is described by maturin, which the environment of the Python package has.
        Suite("packages", "packages",
              [str(PYTHON), "tests/packages", "--natives", str(TARGET / "release"), "--short"],
              needs=("build", "python-build")),
        Suite("dashboard-install", "build", ["scripts/dashboard.sh"]),
        Suite("dashboard", "dashboard", ["env", f"OJS_BIN={ojs}", "node", "--test", "--test-reporter=tap", *page_tests],
              needs=("build", "dashboard-install")),
        Suite("sqs", "python",
              ["env", f"OJS_BIN={ojs}", str(PYTHON), "-m", "pytest", "-q", "-c", "python/pyproject.toml", "tests/sqs"],
              needs=("build", "python-build", "node-build")),
        Suite("lambda", "python",
              ["env", f"OJS_BIN={ojs}", str(PYTHON), "-m", "pytest", "-q", "-c", "python/pyproject.toml",
               "tests/lambda"],
              needs=("rust", "python-build")),
        Suite("panics", "c", [str(PYTHON), "-m", "pytest", "-q", "-c", "python/pyproject.toml", "tests/parity"],
              needs=("python-build", "node-build", "ruby-build")),
        # Reads what the suites of the languages leave behind.
        Suite("parity", "docs", ["python3", "scripts/parity.py", "check"],
              needs=("store", "rust", "wire", "pytest", "node", "ruby", "go", "java", "kotlin")),
        Suite("docs", "docs", [str(PYTHON), "scripts/snippets.py", "--ojs", str(ojs)],
              needs=("build", "python-build", "node-build", "ruby-build", "java", "kotlin")),
    ]
    if cases := conformance_cases():
        play = ["python3", "tests/conformance/play.py", "--ojs", str(ojs), "--cases", str(cases)]
        calm = ("store", "wire", "rust", "faults", "doctests", "pytest", "node", "languages", "c", "ruby", "java",
                "kotlin", "go")
        for store in ("memory", "sqlite", "postgres"):
            all_.append(Suite(f"conformance-{store}", "conformance", [*play, "--store", store], needs=("build",), after=calm))
        # The same through two servers on one database, in turns: nothing may live in one server alone.
        all_.append(Suite("conformance-nodes", "conformance", [*play, "--store", "postgres", "--nodes", "2"],
                          needs=("build",), after=calm))
        all_.append(Suite("conformance-minutes", "conformance", [*play, "--store", "sqlite", "--slow"], needs=("build",)))
    # Reads the logs of all the others, when they have ended.
    all_.append(Suite("secrets", "docs", ["python3", "scripts/secrets.py", str(LOGS)], needs=("store", "rust"),
                      after=tuple(suite.name for suite in all_)))
    return all_


def node_adapter_tests(name: str) -> list[str]:
    """The test files of an adapter for Node.js."""
    return [str(path.relative_to(ROOT)) for path in sorted((ROOT / "node" / "adapters" / f"ojs-adapter-{name}" / "test").glob("*.test.mjs"))]


def test_names() -> list[str]:
    """The integration tests of the workspace."""
    text = subprocess.run(["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"], cwd=ROOT, capture_output=True, check=True).stdout
    targets = [target for package in json.loads(text)["packages"] for target in package["targets"]]
    return sorted({target["name"] for target in targets if "test" in target["kind"]})


def lines_of(suite: Suite) -> list[str]:
    """What the suite printed."""
    return [line.strip() for line in suite.log.read_text(errors="replace").splitlines()]


def count(suite: Suite, ended_well: bool) -> bool:
    """Reads the totals a test runner printed. A command that prints none counts as one check, and a runner that ran
    none as a failure. True if the runner itself says that tests failed."""
    for line in lines_of(suite):
        for pattern in COUNTERS:
            if match := pattern.match(line):
                suite.passed += int(match["passed"] or 0)
                suite.failed += int(match["failed"] or 0)
                break
    told = suite.failed > 0
    if suite.passed == 0 and suite.failed == 0:
        if ended_well and suite.group not in COMMANDS and suite.counts:
            suite.note = "no test ran"
        suite.passed, suite.failed = (1, 0) if ended_well and not suite.note else (0, 1)
    if not ended_well and suite.failed == 0:
        suite.failed = 1
    return told


def run(suite: Suite) -> None:
    """Runs one suite in a process group of its own, so that nothing it started can outlive it."""
    started = time.monotonic()
    suite.runs, suite.passed, suite.failed, suite.note = suite.runs + 1, suite.first_passed, 0, ""
    suite.first_log.unlink(missing_ok=True)
    if suite.runs > 1:
        suite.log.rename(suite.first_log)
    command = suite.command + (["--", "--exact", *suite.only] if suite.only else [])
    with suite.log.open("wb") as log:
        log.write(f"$ {' '.join(command)}\n".encode())
        log.flush()
        try:
            process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as error:
            suite.note, code = f"could not start: {error}", 1
        else:
            suite.group_id = process.pid
            try:
                code = process.wait(timeout=suite.minutes * 60)
            except subprocess.TimeoutExpired:
                suite.note, code = f"no end after {suite.minutes:g} minutes", 1
            if reap(process.pid, patience=0 if suite.note else 30) and code == 0:
                suite.note, code = "left processes behind", 1
            process.wait()
            suite.group_id = None
    suite.seconds = time.monotonic() - started
    told = count(suite, ended_well=code == 0)
    if suite.failed and code == 0 and not suite.note:
        suite.note = "failures reported, exit status 0"
    if not suite.failed:
        suite.state, suite.note = ("unsteady", "failed beside others, passed alone") if suite.first else ("passed", "")
    elif told and unsteady(suite):
        suite.first, suite.first_failed, suite.note = telling(suite), suite.failed, "failed; runs once more, alone"
        suite.seeds, suite.state, suite.places = seeds_of(suite), "waiting", PLACES
        if suite.filters and len(failed := failed_tests(suite)) == suite.failed:
            suite.only, suite.first_passed = failed, suite.passed
    else:
        suite.state = "failed"


def failed_tests(suite: Suite) -> list[str]:
    """The tests that Rust's runner says have failed."""
    return [match[1] for line in lines_of(suite) if (match := re.match(r"test (\S+) \.\.\. FAILED", line))]


def seeds_of(suite: Suite) -> list[str]:
    """What repeats the run: the seeds that the log names."""
    return sorted(set(re.findall(r"\bOJS_\w*SEED=\d+|\bseed \d+", "\n".join(lines_of(suite)))))


def unsteady(suite: Suite) -> bool:
    """Whether to run a suite once more, alone, because few of its tests failed, which waits on busy cores explain. Never after a crash,
    a race, a leak or a hang: no load explains those."""
    ours = re.search(r"DATA RACE|Sanitizer|signal: |core dumped|SIG(SEGV|ABRT|BUS)", "\n".join(lines_of(suite)))
    return suite.runs == 1 and not suite.note and suite.failed <= 3 and not ours


def reap(group: int, patience: float = 30) -> bool:
    """Ends what is left of a process group; true if anything was. What was killed a moment ago may take that moment."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    os.killpg(group, signal.SIGKILL)
    return True


def closure(all_: list[Suite], patterns: list[str]) -> list[Suite]:
    """The suites that match, and those they need."""
    by_name = {suite.name: suite for suite in all_}
    wanted: set[str] = set()

    def add(suite: Suite) -> None:
        if suite.name not in wanted:
            wanted.add(suite.name)
            for need in suite.needs:
                add(by_name[need])

    for suite in all_:
        if not patterns or any(p in (suite.group, suite.name) or suite.name.startswith(p) for p in patterns):
            add(suite)
    return [suite for suite in all_ if suite.name in wanted]


def schedule(plan: list[Suite]) -> None:
    """Starts each suite as soon as what it needs has passed and a place is free."""
    by_name = {suite.name: suite for suite in plan}
    done = threading.Condition()
    free = PLACES

    def finish(suite: Suite) -> None:
        nonlocal free
        places = suite.places
        run(suite)
        with done:
            free += places
            report(suite)
            done.notify()

    with done:
        while any(suite.state in ("waiting", "running") for suite in plan):
            for suite in plan:
                if suite.state != "waiting":
                    continue
                needs = [by_name[name].state for name in suite.needs]
                if any(state in ("failed", "blocked") for state in needs):
                    suite.state, suite.failed, suite.note = "blocked", 1, "needs " + ", ".join(suite.needs)
                    report(suite)
                elif any(by_name[name].state in ("waiting", "running") for name in suite.after if name in by_name):
                    continue
                elif all(state in ("passed", "unsteady") for state in needs) and free >= suite.places:
                    free -= suite.places
                    suite.state = "running"
                    threading.Thread(target=finish, args=(suite,), daemon=True).start()
            if any(suite.state == "running" for suite in plan):
                done.wait()


def report(suite: Suite) -> None:
    """One line as soon as a suite ends; the end of its log if it failed."""
    print(f"{suite.state:>8}  {suite.name:<20} {suite.seconds:7.1f} s  {suite.note}", flush=True)
    if suite.state == "failed":
        tail = suite.log.read_text(errors="replace").splitlines()[-60:]
        print("\n".join(f"    | {line}" for line in tail), flush=True)


def unended(lines: list[str]) -> list[str]:
    """The tests that Rust's runner calls slow and that have no result: a suite without an end hangs in one of them."""
    slow = [match[1] for line in lines if (match := re.match(r"test (\S+) has been running for over", line))]
    ended = {match[1] for line in lines if (match := re.match(r"test (\S+) \.\.\. \w", line))}
    return [f"test {name} did not end" for name in slow if name not in ended]


def telling(suite: Suite) -> list[str]:
    """The lines of a log that most likely say what went wrong; they stand in the last lines of the whole run."""
    lines = lines_of(suite)
    hung = unended(lines)
    # What a runner says of a test that failed, before all other words of trouble.
    named = r"^not ok\b|^test .* FAILED$|^FAILED |panicked at|to rerun pass|\(signal: |FAIL:|<<< (FAILURE|ERROR)"
    words = r"(?i)\bfail(ed|ure)\b|\berror\b|assertion|SIG[A-Z]{3,}"
    for pattern in (named, words):
        found = [at for at, line in enumerate(lines) if re.search(pattern, line) and not re.search(r"(?i)\.\.\. ok$|^ok\b| 0 failed", line)]
        if found:
            # The first, with what follows it: later ones are often of its making.
            # Node.js says why six lines below the name.
            spans = [range(at, at + (10 if lines[at].startswith("not ok") else 3)) for at in found[:6]]
            shown = sorted({at for span in spans for at in span if at < len(lines)})
            return hung[:6] + [lines[at] for at in shown if not lines[at].endswith("... ok")]
    return hung[:6] or lines[-8:]


def are_absent(plan: list[Suite], options: argparse.Namespace) -> bool:
    """Whether this run should have played the conformance cases and found none."""
    return not options.only and all(suite.group != "conformance" for suite in plan)


def absent_cases(plan: list[Suite], options: argparse.Namespace) -> int:
    """Says that there are no conformance cases, if this run should have played them; how many failures that is."""
    if not are_absent(plan, options):
        return 0
    verdict = "\nWithout them this run has failed." if options.require_cases else ""
    print("\nNO CONFORMANCE CASES: nothing of tests/conformance ran. They are another project's; get them with\n"
          "    git clone https://github.com/openjobspec/ojs-conformance\n"
          f"    OJS_CONFORMANCE=ojs-conformance/suites make test{verdict}")
    return 1 if options.require_cases else 0


def name_unsteady(plan: list[Suite]) -> int:
    """Names what passed only when it ran again, with both logs and the seed; how many tests failed at first."""
    found = [suite for suite in plan if suite.state == "unsteady"]
    if found:
        print("\nunsteady: failed beside other suites, passed alone; mend these tests")
    for suite in found:
        logs = " and ".join(os.path.relpath(path, ROOT) for path in (suite.first_log, suite.log))
        print(f"{suite.name}: logs {logs}; seed {', '.join(suite.seeds) or 'none printed'}\n"
              + "\n".join(f"    {line[:200]}" for line in suite.first))
    return sum(suite.first_failed for suite in found)


def summary(plan: list[Suite], seconds: float, options: argparse.Namespace) -> int:
    """The table and the closing lines; returns the exit status."""
    print(f"\n{'suite':<20} {'result':<8} {'passed':>7} {'failed':>7} {'time':>9}")
    for suite in plan:
        print(f"{suite.name:<20} {suite.state:<8} {suite.passed:>7} {suite.failed:>7} {suite.seconds:>7.1f} s  {suite.note}")
    if are_absent(plan, options):
        print(f"{'conformance':<20} {'ABSENT':<8} {0:>7} {int(options.require_cases):>7} {'':>9}  no cases, see below")
    for suite in plan:
        if suite.state == "failed":
            lines = "\n".join(f"    {line[:200]}" for line in telling(suite))
            print(f"\n{suite.name}: {suite.note or 'failed'}\n{lines}")
    passed, failed = sum(s.passed for s in plan), sum(s.failed for s in plan) + absent_cases(plan, options)
    at_first = name_unsteady(plan)
    failed += 0 if options.ci else at_first
    print(f"\nlogs in {os.path.relpath(LOGS, ROOT)}, {seconds / 60:.1f} minutes\n{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="suite or group (repeatable)")
    parser.add_argument("--list", action="store_true", help="name the suites and stop")
    parser.add_argument("--ci", action="store_true", help="for .ci/run: an unsteady suite is no failure")
    parser.add_argument("--require-cases", action="store_true", help="absent conformance cases are a failure")
    options = parser.parse_args()
    plan = closure(suites(), options.only)
    if options.list:
        for suite in plan:
            print(f"{suite.name:<20} {suite.group:<12} needs {', '.join(suite.needs) or 'nothing'}")
        return 0
    if not plan:
        parser.error(f"no suite matches {options.only}; see --list")
    LOGS.mkdir(parents=True, exist_ok=True)
    # A shell that starts this in the background has it ignore Ctrl-C, and with it every program that a test interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    started = time.monotonic()
    try:
        schedule(plan)
    except KeyboardInterrupt:
        # The suites are in groups of their own and did not get the interrupt.
        for suite in plan:
            if suite.group_id is not None:
                reap(suite.group_id)
        return 130
    return summary(plan, time.monotonic() - started, options)


if __name__ == "__main__":
    sys.exit(main())
