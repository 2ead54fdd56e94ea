"""Dramatiq with Redis: enqueues, then runs its worker processes, and prints one line of JSON.

    BENCH_REDIS=redis://127.0.0.1:6390/0 python dramatiq_noop.py --jobs 12000 --payload 150 --processes 2 --dir DIR
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from tally import Tally

broker = RedisBroker(url=os.environ["BENCH_REDIS"])
dramatiq.set_broker(broker)
tally = Tally(os.environ["BENCH_TALLY"], int(os.environ["BENCH_JOBS"])) if "BENCH_TALLY" in os.environ else None


@dramatiq.actor(actor_name="noop", queue_name="bench")
def noop(number: int, _payload: str) -> None:
    tally.ran(number)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--payload", type=int, default=150)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--dir", required=True)
    options = parser.parse_args()

    path = os.path.join(options.dir, "dramatiq.tally")
    environment = {**os.environ, "BENCH_TALLY": path, "BENCH_JOBS": str(options.jobs)}
    shared = Tally(path, options.jobs)
    payload = "x" * options.payload
    began = time.perf_counter()
    for number in range(options.jobs):
        noop.send(number, payload)
    enqueue = options.jobs / (time.perf_counter() - began)
    worker = subprocess.Popen(
        [sys.executable, "-m", "dramatiq", "dramatiq_noop", "--processes", str(options.processes), "--threads", "8"],
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
    how = f"{options.processes} processes of 8 threads, one byte per job in shared memory"
    print(json.dumps({"system": f"Dramatiq {dramatiq.__version__} + Redis", "jobs_per_second": round(rate),
                      "enqueued_per_second": round(enqueue), "jobs": options.jobs, "how": how}))  # fmt: skip


if __name__ == "__main__":
    main()
