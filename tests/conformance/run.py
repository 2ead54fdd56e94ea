#!/usr/bin/env python3
"""Conformance runner for Open Job Spec servers (Python 3.11, standard library only).

    run.py --url http://127.0.0.1:8080 --suites DIR [--only GLOB] [--json OUT] [--jobs N]

It plays the JSON test cases of the official ojs-conformance suite against a
server over HTTP.  The runner is producer AND worker: it enqueues, fetches, acks
and nacks itself, so no handler (test.echo, test.slow, ...) is ever executed.

Two engines:

  strict   (default)   the documented DSL plus every construct that occurs in the
                       suites (expect, capture, repeat, raw_body, ASSERT steps,
                       $type, header $exists, abstract push/get steps, ...).
                       A construct it does not know makes the test an ERROR,
                       never a pass.
  --official           the verdicts of the official Go runner (v0.4.0), quirks
                       included: it ignores what it does not know.  Use it only
                       to predict what the official runner would say.

State between tests: --spawn (a fresh server per test), --reset-url (POST before
each test) or, with neither, clean-up through the public API.

Exit status: 0 all passed, 1 something failed, 2 could not run.
"""
import argparse
import concurrent.futures
import json
import signal
import sys
import threading
import time
import urllib.parse
from pathlib import Path

from cases import estimated_seconds, load_suites, named, resources_of, selected, waves_of
from isolation import clean_up, drain
from lint import why_not_understood
from official import OfficialRun
from patches import apply_patches
from servers import Server, answers
from strict import Failure, Run
from values import Unsupported
from wire import TransportError, call


class Harness:
    def __init__(self, tests, opts):
        self.tests, self.opts = tests, opts
        self.results = {}
        self.lock = threading.Lock()

    def verdict(self, rel, status, failures, started):
        test = self.tests[rel]
        with self.lock:
            self.results[rel] = {
                "test_id": str(test.get("test_id")), "path": rel, "level": test.get("level"),
                "category": test.get("category"), "status": status,
                "duration_ms": int((time.monotonic() - started) * 1000),
                "failures": [f.as_dict() for f in failures],
            }
            if self.opts.progress:
                print(f"[{len(self.results)}/{self.total}] {status:5} {rel}", file=sys.stderr, flush=True)

    def one(self, rel, base):
        """Run one test on the server at base (None: spawn one). Returns the Run."""
        test, started, run, server = self.tests[rel], time.monotonic(), None, None
        try:
            if base is None:
                server = Server(self.opts.spawn, self.opts.spawn_wait)
                base = server.url
            run = (OfficialRun if self.opts.official else Run)(test, base, self.opts)
            run.execute()
            self.verdict(rel, "fail" if run.failures else "pass", run.failures, started)
        except Unsupported as e:
            self.verdict(rel, "error", [Failure("", "", f"not understood: {e}")], started)
        except TransportError as e:
            self.verdict(rel, "error", [Failure("", "", str(e))], started)
        except Exception as e:  # a bug of ours must not look like a verdict on the server
            self.verdict(rel, "error", [Failure("", "", f"runner bug: {type(e).__name__}: {e}")], started)
        finally:
            if server:
                server.stop()
        return run

    def run(self, names):
        opts = self.opts
        self.total = len(names)
        understood = []
        for rel in names:
            problem = why_not_understood(self.tests[rel], opts.official)
            if problem:
                self.verdict(rel, "error", [Failure("", "", f"not understood: {problem}")], time.monotonic())
            else:
                understood.append(rel)
        names = understood
        if opts.spawn:
            order = sorted(names, key=lambda r: (-estimated_seconds(self.tests[r]), r)) if opts.jobs > 1 else names
            with concurrent.futures.ThreadPoolExecutor(opts.jobs) as pool:
                list(pool.map(lambda rel: self.one(rel, None), order))
            return
        batches = [[rel] for rel in names] if opts.jobs == 1 else waves_of(names, self.tests)
        with concurrent.futures.ThreadPoolExecutor(opts.jobs) as pool:
            for batch in batches:
                self.prepare(batch)
                runs = list(pool.map(lambda rel: self.one(rel, opts.url), batch))
                if opts.isolation == "cleanup":
                    list(pool.map(clean_up, [r for r in runs if r]))

    def prepare(self, batch):
        opts = self.opts
        if opts.isolation == "reset":
            url = urllib.parse.urlsplit(opts.reset_url)
            try:
                path = url.path + (f"?{url.query}" if url.query else "")
                got = call(f"{url.scheme}://{url.netloc}", "POST", path, {}, b"", 30.0)
            except TransportError as e:
                raise SystemExit(f"run.py: reset failed: {e}")
            if got.status >= 300:
                raise SystemExit(f"run.py: reset failed: HTTP {got.status} from {opts.reset_url}")
        elif opts.isolation == "cleanup":
            resources = set().union(*(resources_of(self.tests[r]) for r in batch))
            drain(opts.url, named(resources, "queue"), named(resources, "tenant"))


def report(results, opts, patched):
    order = sorted(results)
    if not opts.summary_only:
        for rel in order:
            r = results[rel]
            if r["status"] == "pass":
                continue
            first = r["failures"][0] if r["failures"] else {"step": "", "field": "", "message": ""}
            note = " [patched]" if rel in patched else ""
            text = str(Failure(first["step"], first["field"], first["message"]))
            print(f"{r['status'].upper():5} {r['test_id']} {rel}{note}: {text}"[:500])
    groups = {}
    for rel in order:
        parts = rel.split("/")[:-1]
        groups.setdefault("/".join(parts) or ".", []).append(results[rel]["status"])
    width = max(map(len, groups), default=0)
    for name, found in sorted(groups.items()):
        errors = found.count("error")
        print(f"{name:{width}}  {found.count('pass'):4} passed, {found.count('fail') + errors:4} failed"
              f", {found.count('skip'):4} skipped" + (f"   ({errors} not run: ERROR)" if errors else ""))
    count = {s: sum(r["status"] == s for r in results.values()) for s in ("pass", "fail", "error", "skip")}
    if count["error"]:
        print(f"{count['error']} of the failed are ERRORs: not understood, or no server to run against")
    if patched:
        corrected = sum(r in results for r in patched)
        print(f"{corrected} cases ran with documented corrections (--no-patches: as published)")
    return count


def parser():
    """The arguments."""
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    p.add_argument("--url", help="base URL of the server under test")
    p.add_argument("--suites", required=True, type=Path, help="directory of test case files")
    p.add_argument("--only", action="append", metavar="GLOB",
                   help="run cases whose relative path or test id matches (repeatable); "
                        "a directory name selects all in it")
    p.add_argument("--list", type=Path, metavar="FILE", help="run only the relative paths listed in FILE")
    p.add_argument("--json", type=Path, metavar="OUT", help="write a machine-readable report")
    p.add_argument("--jobs", type=int, default=1, metavar="N", help="cases at a time (default 1)")
    p.add_argument("--reset-url", metavar="URL", help="POST here before each case (before each batch with --jobs)")
    p.add_argument("--spawn", metavar="CMD", help="start a fresh server per case; {port} and {dir} are replaced")
    p.add_argument("--spawn-wait", type=float, default=15, metavar="S", help="seconds to wait for it (default 15)")
    p.add_argument("--no-isolation", action="store_true", help="leave the server as each case left it")
    p.add_argument("--patches", action="append", type=Path, metavar="FILE",
                   help="corrections to apply (default: patches.json beside run.py; repeatable)")
    p.add_argument("--no-patches", action="store_true", help="run the cases exactly as published")
    p.add_argument("--official", action="store_true", help="predict the verdicts of the official Go runner")
    p.add_argument("--timeout", type=float, default=30, metavar="S", help="per request (default 30)")
    p.add_argument("--tolerance", type=float, default=50, metavar="PCT", help="for timing_ms.approximate (default 50)")
    p.add_argument("--summary-only", action="store_true", help="print no line per failing case")
    p.add_argument("--progress", action="store_true", help="one line per finished case on stderr")
    p.add_argument("--lint", action="store_true", help="only say which cases are not understood; needs no server")
    return p


def options(p):
    """What was given, checked, with what follows from it."""
    opts = p.parse_args()
    if not opts.suites.is_dir():
        p.error(f"no such directory: {opts.suites}")
    if not (opts.url or opts.spawn or opts.lint):
        p.error("one of --url, --spawn, --lint is needed")
    if opts.jobs < 1:
        p.error("--jobs must be at least 1")
    opts.url = opts.url.rstrip("/") if opts.url else None
    opts.isolation = "none" if opts.no_isolation or opts.spawn else "reset" if opts.reset_url else "cleanup"
    return opts


def chosen(p, opts):
    """All cases, the paths of those to run, and why those of them that were corrected were."""
    tests = load_suites(opts.suites)
    files = [] if opts.no_patches or opts.official else opts.patches or [
        f for f in [Path(__file__).resolve().parent / "patches.json"] if f.exists()]
    patched = apply_patches(tests, files)
    listed = None
    if opts.list:
        lines = opts.list.read_text().splitlines()
        listed = {line.strip() for line in lines if line.strip() and not line.startswith("#")}
        gone = sorted(listed - set(tests))
        if gone:
            p.error(f"{opts.list} names {len(gone)} case(s) not under {opts.suites}, e.g. {gone[0]}")
    wanted = [r for r in tests if selected(r, tests[r], opts, listed)]
    names = sorted(wanted, key=lambda r: (str(tests[r].get("test_id")), r))
    if not names:
        p.error("no case selected")
    return tests, names, {r: why for r, why in patched.items() if r in names}


def lint(tests, names):
    """Says which cases are not understood."""
    bad = 0
    for rel in names:
        problem = why_not_understood(tests[rel])
        if problem:
            bad += 1
            print(f"ERROR {tests[rel].get('test_id')} {rel}: not understood: {problem}")
    print(f"{len(names) - bad} understood, {bad} not")
    return 1 if bad else 0


def write_report(results, opts, patched, count, seconds):
    """The report for programs."""
    by_suite = {}
    for r in results.values():
        suite = r["path"].rpartition("/")[0]
        row = by_suite.setdefault(suite, {"passed": 0, "failed": 0, "errors": 0, "skipped": 0})
        row[{"pass": "passed", "fail": "failed", "error": "errors", "skip": "skipped"}[r["status"]]] += 1
    opts.json.write_text(json.dumps({
        "target": opts.url or opts.spawn, "suites": str(opts.suites),
        "engine": "official" if opts.official else "strict", "isolation": "spawn" if opts.spawn else opts.isolation,
        "duration_ms": int(seconds * 1000),
        "summary": {"total": len(results), "passed": count["pass"], "failed": count["fail"] + count["error"],
                    "errors": count["error"], "skipped": count["skip"]},
        "by_suite": dict(sorted(by_suite.items())),
        "patched": patched,
        "tests": [results[r] for r in sorted(results)],
    }, indent=1, ensure_ascii=False) + "\n")


def main():
    p = parser()
    opts = options(p)
    tests, names, patched = chosen(p, opts)
    if opts.lint:
        return lint(tests, names)
    if opts.url and not opts.spawn and not answers(opts.url):
        print(f"run.py: nothing answers at {opts.url}", file=sys.stderr)
        return 2
    started = time.monotonic()
    harness = Harness(tests, opts)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    try:
        harness.run(names)
    except KeyboardInterrupt:
        print("run.py: interrupted", file=sys.stderr)
        raise SystemExit(2)
    finally:
        Server.stop_all()
    results = harness.results
    count = report(results, opts, patched)
    failed = count["fail"] + count["error"]
    if opts.json:
        write_report(results, opts, patched, count, time.monotonic() - started)
    print(f"{count['pass']} passed, {failed} failed, {count['skip']} skipped")
    return 1 if failed or len(results) != len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
