"""What goes wrong in a worker is on stderr, without any set-up; with a set-up it is where that says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Iterator

import pytest
from support import PATIENCE, in_state

import openjobspec as ojs

WORKER = '''
import logging, sys, time
import openjobspec as ojs

{setup}
worker = ojs.Worker(sys.argv[1] if len(sys.argv) == 2 else None, visibility_timeout_ms=5000)

@worker.register("boom")
def boom(ctx):
    raise ValueError(f"attempt {{ctx.attempt}} went wrong")

@worker.register("boom.async")
async def boom_async(ctx):
    raise ValueError(f"attempt {{ctx.attempt}} went wrong")

@worker.register("slow")
def slow(ctx):
    while not ctx.cancelled:
        time.sleep(0.01)
    raise RuntimeError("told to stop")

@worker.register("good")
def good(ctx):
    return 1

if __name__ == "__main__":
    worker.run()
'''


class Program:
    """A worker process, and what it writes to stderr."""

    def __init__(self, folder: Path, url: str, setup: str, *command: str) -> None:
        (folder / "app.py").write_text(WORKER.format(setup=setup))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OJS_")}
        self.process = subprocess.Popen(
            [sys.executable, *(command or ("app.py", url))], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.text = ""
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._more:
                self.text += line
                self._more.notify_all()

    def until(self, pattern: str) -> re.Match[str]:
        """Waits until the pattern is found."""
        found: list[Any] = []

        def look() -> bool:
            found[:] = [re.search(pattern, self.text, re.DOTALL)]
            return found[0] is not None

        with self._more:
            assert self._more.wait_for(look, PATIENCE), f"never {pattern!r} in:\n{self.text}"
        match: re.Match[str] = found[0]
        return match

    def stop(self) -> str:
        """Ends it; returns all that it wrote."""
        self.process.terminate()
        self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return self.text


@pytest.fixture
def program(tmp_path: Path, ojs_server: str) -> Iterator[Any]:
    made: list[Program] = []

    def start(setup: str = "", *command: str) -> Program:
        made.append(Program(tmp_path, ojs_server, setup, *command))
        return made[-1]

    yield start
    for one in made:
        if one.process.poll() is None:
            one.stop()


FAST = {"max_attempts": 2, "initial_interval": 0.05}


@pytest.mark.parametrize("job_type", ["boom", "boom.async"])
def test_a_failed_attempt_is_on_stderr_with_type_id_attempt_next_run_and_trace(program: Any, ojs_client: ojs.Client, job_type: str) -> None:
    worker = program()
    job = ojs_client.enqueue(job_type, ["hunter2"], retry=FAST)
    worker.until(f"job failed type={job_type} id={job.id} queue=default attempt=1 of 2 runs_again=in .*ValueError.*attempt 1 went wrong.*app.py:\\d+ in boom")
    worker.until(f"job failed for good type={job_type} id={job.id} queue=default attempt=2 of 2 .*attempt 2 went wrong")
    assert "hunter2" not in worker.stop(), "arguments may be secret"


def test_a_misspelt_type_is_on_stderr(program: Any, ojs_client: ojs.Client) -> None:
    worker = program()
    job = ojs_client.enqueue("bom")
    worker.until(f"job failed for good type=bom id={job.id} .*no_handler.*No handler is registered for job type 'bom'")


def test_a_run_that_took_too_long_is_on_stderr(program: Any, ojs_client: ojs.Client) -> None:
    worker = program()
    job = ojs_client.enqueue("slow", timeout="1s", retry=1)
    worker.until(f"job failed for good type=slow id={job.id} .*timeout")


def test_a_lost_lease_is_on_stderr(program: Any, ojs_client: ojs.Client) -> None:
    worker = program()
    job = ojs_client.enqueue("slow")
    in_state(ojs_client, job.id, "active")
    os.kill(worker.process.pid, 19)  # SIGSTOP: it is silent for longer than its lease
    try:
        # The server takes the job back, and another worker has it.
        until = time.monotonic() + PATIENCE
        while not ojs_client._run(fetch()):
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        os.kill(worker.process.pid, 18)
    worker.until(f"type=slow id={job.id} .*(LeaseLost|did not take the report)")


def fetch() -> Any:
    from openjobspec import _operations as ops

    return ops.Call("POST", "/workers/fetch", {"queues": ["default"], "count": 1, "worker_id": "other"}, ops.jobs)


def test_a_set_up_of_the_program_is_respected(program: Any, ojs_client: ojs.Client) -> None:
    setup = "logging.basicConfig(format='<%(levelname)s %(name)s> %(message)s')"
    worker = program(setup)
    ojs_client.enqueue("boom", retry=FAST)
    worker.until("<WARNING openjobspec.worker> job failed type=boom .*<ERROR openjobspec.worker> job failed for good type=boom")
    assert "INFO" not in worker.stop()
    quiet = program("logging.getLogger('openjobspec').setLevel(logging.CRITICAL)")
    job = ojs_client.enqueue("boom", retry=FAST)
    in_state(ojs_client, job.id, "discarded")
    assert quiet.stop() == ""


def test_the_worker_command_shows_failures_too(program: Any, ojs_client: ojs.Client, ojs_server: str) -> None:
    worker = program("", "-m", "openjobspec", "worker", "app:worker", "--url", ojs_server)
    job = ojs_client.enqueue("boom", retry=1)
    worker.until(f"ERROR openjobspec.worker job failed for good type=boom id={job.id}")
