"""Celery with Redis: enqueues, then runs a prefork worker, and prints one line of JSON.

    BENCH_REDIS=redis://127.0.0.1:6390/0 python celery_noop.py --jobs 6000 --payload 150 --processes 2 --dir DIR
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time

import celery
from tally import Tally

app = celery.Celery("bench", broker=os.environ["BENCH_REDIS"])
app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=64, broker_connection_retry_on_startup=True)
tally = Tally(os.environ["BENCH_TALLY"], int(os.environ["BENCH_JOBS"])) if "BENCH_TALLY" in os.environ else None


@app.task(name="bench.noop")
def noop(number: int, _payload: str) -> None:
    tally.ran(number)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--payload", type=int, default=150)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--dir", required=True)
    options = parser.parse_args()

    path = os.path.join(options.dir, "celery.tally")
    environment = {**os.environ, "BENCH_TALLY": path, "BENCH_JOBS": str(options.jobs)}
    shared = Tally(path, options.jobs)
    payload = "x" * options.payload
    began = time.perf_counter()
    with app.connection_for_write() as connection, app.amqp.Producer(connection) as producer:
        for number in range(options.jobs):
            noop.apply_async((number, payload), producer=producer)
    enqueue = options.jobs / (time.perf_counter() - began)
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "celery_noop", "worker", "--pool=prefork", f"--concurrency={options.processes}",
         "--loglevel=ERROR", "--without-gossip", "--without-mingle", "--without-heartbeat"],
        cwd=os.path.dirname(os.path.abspath(__file__)), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        rate = shared.measure()
    finally:
        worker.send_signal(signal.SIGTERM)
        try:
            worker.wait(10)
        except subprocess.TimeoutExpired:
            worker.kill()
    how = f"prefork, {options.processes} processes, prefetch 64 per process, results ignored, one byte per job in shared memory"
    print(json.dumps({"system": f"Celery {celery.__version__} + Redis", "jobs_per_second": round(rate),
                      "enqueued_per_second": round(enqueue), "jobs": options.jobs, "how": how}))  # fmt: skip


if __name__ == "__main__":
    main()
