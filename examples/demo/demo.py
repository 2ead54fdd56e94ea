"""A tour of Open Job Spec in one process: `make demo`.

An engine on a SQLite file, a client, a worker with middleware. One job per source file of this repository, some that fail once
and are retried, one that fails for good, becomes a dead letter, is repaired and replayed, and a job that adds everything up.
"""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from pathlib import Path

import openjobspec as ojs
from measure import measure, source_files, total
from progress import Progress
from report import milliseconds, show

ROOT = Path(__file__).resolve().parents[2]
FAIL_ONCE = 25  # every 25th file
PINGS = 300
RETRY = ojs.RetryPolicy(max_attempts=3, initial_interval=0.2, backoff_coefficient=1.0, jitter=False, on_exhaustion="dead_letter")

log = logging.getLogger("demo")


class Demo:
    """The handlers, and what the middleware measures."""

    def __init__(self, store: str, late_file: Path) -> None:
        self.client = ojs.Client(store)
        self.worker = ojs.Worker(store, concurrency=8)
        self.late_file = late_file
        self.run_times: list[float] = []
        self.pick_ups: list[float] = []
        self.failures = 0
        self.progress: Progress | None = None
        self.pong = threading.Semaphore(0)
        self.lock = threading.Lock()
        self.worker.middleware.add("timing", self.timing)
        self.worker.middleware.add("failures", self.log_failures)
        for name, handler in (("file.measure", self.measure), ("files.total", self.total), ("demo.ping", self.ping)):
            self.worker.register(name, handler)

    # --- middleware: the first one added is the outermost ---

    def timing(self, ctx, next):
        """How long each run takes, and the progress bar."""
        began = time.perf_counter()
        last_run = True
        try:
            return next()
        except Exception:
            last_run = ctx.attempt >= ctx.job.max_attempts
            raise
        finally:
            if self.progress and last_run:
                with self.lock:
                    self.run_times.append(time.perf_counter() - began)
                self.progress.advance()

    def log_failures(self, ctx, next):
        """Every failure, in one line."""
        try:
            return next()
        except Exception as error:
            with self.lock:
                self.failures += 1
            log.debug("%s attempt %d failed: %s", ctx.job.type, ctx.attempt, error)
            raise

    # --- handlers ---

    def measure(self, ctx):
        """Measures a file. Told to, it fails in its first attempt, as a network file system would now and then."""
        path, fails_once = ctx.args
        if fails_once and ctx.attempt == 1:
            raise OSError(f"{path}: stale file handle (planned)")
        return measure(Path(path))

    def total(self, ctx):
        """Adds up the results of other jobs."""
        return total([self.client.get_job(job_id).result for job_id in ctx.args[0]])

    def ping(self, ctx):
        """Nothing but the time from enqueue to start."""
        self.pick_ups.append(time.perf_counter() - ctx.args[0])
        self.pong.release()

    # --- the story ---

    def measure_files(self, files: list[Path]) -> tuple[list[str], float]:
        """One job per file, and one for a file that is not there. Returns their ids and the seconds until all had run."""
        jobs = [
            ojs.JobRequest("file.measure", [str(path), number % FAIL_ONCE == 0], retry=RETRY) for number, path in enumerate(files)
        ]
        jobs.append(ojs.JobRequest("file.measure", [str(self.late_file), False], retry=RETRY))
        self.progress = Progress(len(jobs), "measuring")
        began = time.perf_counter()
        ids = [job.id for job in self.client.enqueue_batch(jobs)]
        self.progress.wait()
        return ids, time.perf_counter() - began

    def replay_dead_letter(self) -> ojs.Job:
        """Finds the dead letter, removes the reason of its failure, runs it again."""
        (letter,) = wait_for(self.client.dead_letters)
        print(f"dead letter {letter.id}: {letter.error['message'] if letter.error else ''} after {letter.attempt} attempts")
        self.late_file.write_text("here at last\n")
        self.progress = Progress(1, "replaying")
        self.client.retry_dead_letter(letter.id)
        self.progress.wait()
        return letter

    def sum_up(self, ids: list[str]) -> dict[str, int]:
        """The summary job, and its result."""
        wait_for(lambda: all(self.client.get_job(job_id).state == "completed" for job_id in ids))
        self.progress = Progress(1, "adding up")
        job = self.client.enqueue("files.total", [ids])
        self.progress.wait()
        wait_for(lambda: self.client.get_job(job.id).state == "completed")
        return self.client.get_job(job.id).result

    def ping_idle_worker(self) -> None:
        """One job after the other to a worker that waits: how soon does it start?"""
        self.progress = None
        for _ in range(PINGS):
            self.client.enqueue("demo.ping", [time.perf_counter()])
            if not self.pong.acquire(timeout=60):
                raise TimeoutError("a ping was not answered")


def wait_for(condition, timeout: float = 60.0):
    """The first true value of a condition. Outcomes are written a moment after their handlers have returned."""
    deadline = time.monotonic() + timeout
    pause = threading.Event()
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError("the demo waited in vain")
        pause.wait(0.01)
    return value


def main() -> None:
    """Runs the tour and prints what happened."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    # The failures are planned, and the middleware counts them: their records and traces would hide the rest.
    logging.getLogger("openjobspec.worker").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="ojs-demo-") as folder:
        store = f"sqlite:{folder}/jobs.db"
        files = list(source_files(ROOT))
        print(f"engine on {store}, {len(files)} source files")
        demo = Demo(store, Path(folder, "late.txt"))
        with demo.client, demo.worker:
            ids, seconds = demo.measure_files(files)
            demo.replay_dead_letter()
            summary = demo.sum_up(ids)
            demo.ping_idle_worker()
            wait_for(lambda: not demo.client.queue_stats("default")["active"])
            counts = demo.client.queue_stats("default")
    show("this repository", [(name, value) for name, value in summary.items()])
    show("jobs", [(state, counts[state]) for state in ("completed", "discarded", "retryable", "active", "available")])
    show(
        "figures",
        [
            ("failed runs, all retried or replayed", demo.failures),
            ("files measured per second, retries included", round(len(ids) / seconds)),
            ("handler time", milliseconds(demo.run_times)),
            (f"pick-up by an idle worker, {PINGS} jobs", milliseconds(demo.pick_ups)),
        ],
    )


if __name__ == "__main__":
    main()
