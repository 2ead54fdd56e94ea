"""scripts/check.py: what counts as passed."""
import argparse
import contextlib
import io
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check

ROOT = Path(__file__).resolve().parent.parent.parent

#: Fails the first time, like a test that waits too short a time beside other suites; passes the second time.
FIRST_TIME = """
if [ -e ran ]; then echo '3 passed, 0 failed'; exit 0; fi
touch ran
echo 'OJS_FAULT_SEED=4711 OJS_FAULT_ROUNDS=2'
echo 'test leases::come_back ... FAILED'
echo '2 passed, 1 failed'
exit 1
"""


class Runs(unittest.TestCase):
    """Suites that are shell scripts, run as the real ones are."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("ROOT", "LOGS"):
            patch = mock.patch.object(check, name, self.folder)
            patch.start()
            self.addCleanup(patch.stop)

    def run_plan(
        self, script: str, ci: bool = False, only: bool = True, cases: bool = False
    ) -> tuple[int, list[str], check.Suite]:
        """Plays the script as a suite beside another that needs it; the exit status, the lines and the suite."""
        suite = check.Suite("flaky", "rust", ["bash", "-c", script])
        reader = check.Suite("reader", "docs", ["true"], needs=("flaky",))
        options = argparse.Namespace(ci=ci, only=["flaky"] if only else [], require_cases=cases)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            check.schedule([suite, reader])
            status = check.summary([suite, reader], 1.0, options)
        return status, printed.getvalue().strip().splitlines(), suite

    def test_a_suite_that_passes_only_when_run_again_fails_the_run(self) -> None:
        status, lines, suite = self.run_plan(FIRST_TIME)
        self.assertEqual((status, suite.state, suite.runs), (1, "unsteady", 2))
        self.assertEqual(lines[-1], "4 passed, 1 failed")

    def test_a_runner_that_ran_no_test_has_failed(self) -> None:
        status, lines, suite = self.run_plan("echo 'test result: ok. 0 passed; 0 failed; 0 ignored'")
        self.assertEqual((status, suite.state, suite.runs, suite.note), (1, "failed", 1, "no test ran"))
        self.assertEqual(lines[-1], "0 passed, 2 failed", "the suite, and the one that needs it")

    def test_ci_ends_green_and_names_the_test_both_logs_and_the_seed_at_the_end(self) -> None:
        status, lines, _ = self.run_plan(FIRST_TIME, ci=True)
        self.assertEqual((status, lines[-1]), (0, "4 passed, 0 failed"))
        end = "\n".join(lines[-8:])
        for wanted in ("leases::come_back", "flaky.first.log", "flaky.log", "OJS_FAULT_SEED=4711"):
            self.assertIn(wanted, end)
        self.assertIn("FAILED", (self.folder / "flaky.first.log").read_text())

    def test_of_a_large_suite_only_the_tests_that_failed_run_again(self) -> None:
        script = 'echo "$*" >> runs' + FIRST_TIME.replace("3 passed", "1 passed")
        suite = check.Suite("large", "rust", ["bash", "-c", script, "bash"], filters=True)
        with contextlib.redirect_stdout(io.StringIO()):
            check.schedule([suite])
        self.assertEqual((suite.state, suite.runs, suite.passed, suite.first_failed), ("unsteady", 2, 3, 1))
        self.assertEqual((self.folder / "runs").read_text(), "\n-- --exact leases::come_back\n")

    def test_the_tests_in_which_a_suite_hangs_are_named(self) -> None:
        script = """
        for test in 'a::slow' 'b::hangs'; do echo "test $test has been running for over 60 seconds"; done
        echo 'test a::slow ... ok'
        echo 'test c::fails ... FAILED'
        exec sleep 60"""
        suite = check.Suite("hung", "rust", ["bash", "-c", script], minutes=0.01)
        check.run(suite)
        self.assertEqual((suite.state, suite.note), ("failed", "no end after 0.01 minutes"))
        self.assertEqual(check.telling(suite), ["test b::hangs did not end", "test c::fails ... FAILED"])

    def test_a_suite_that_fails_twice_has_failed_with_ci_too(self) -> None:
        status, lines, suite = self.run_plan("echo '2 passed, 1 failed'; exit 1", ci=True)
        self.assertEqual((status, suite.state), (1, "failed"))
        self.assertEqual(lines[-1], "2 passed, 2 failed")  # the second is the suite that needs it

    def test_absent_conformance_cases_are_named_and_fail_where_they_are_required(self) -> None:
        for cases in (False, True):
            status, lines, _ = self.run_plan("echo '1 passed, 0 failed'", cases=cases, only=False)
            self.assertEqual(status, int(cases))
            self.assertIn("NO CONFORMANCE CASES", "\n".join(lines))
            self.assertTrue(any(line.startswith("conformance ") and "ABSENT" in line for line in lines), lines)
            self.assertEqual(lines[-1], f"2 passed, {int(cases)} failed")


class ContinuousIntegration(unittest.TestCase):
    """What .ci/run asks of make."""

    def test_absent_conformance_cases_fail_it(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            make = Path(folder, "make")
            make.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
            make.chmod(0o755)
            path = f"{folder}:{os.environ['PATH']}"
            environment = os.environ | {"PATH": path}
            run = subprocess.run([ROOT / ".ci" / "run"], env=environment, capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout), (0, "test\nCHECK=--ci --require-cases\n"), run.stderr)


class Cases(unittest.TestCase):
    """Where the conformance cases are looked for."""

    def test_a_folder_named_by_the_environment_comes_first_and_must_hold_cases(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.dict(os.environ, {"OJS_CONFORMANCE": folder}):
                with self.assertRaises(SystemExit):
                    check.conformance_cases()
                suite = Path(folder, "suites", "level-0-core")
                suite.mkdir(parents=True)
                self.assertEqual(check.conformance_cases(), suite.parent.resolve())

    def test_a_folder_beside_the_repository_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, "repository")
            suite = Path(folder, "shared", "conformance", "cases", "level-0-core")
            with mock.patch.object(check, "ROOT", root), mock.patch.dict(os.environ):
                os.environ.pop("OJS_CONFORMANCE", None)
                self.assertIsNone(check.conformance_cases())
                suite.mkdir(parents=True)
                self.assertEqual(check.conformance_cases(), suite.parent.resolve())
