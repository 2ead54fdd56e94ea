"""Jobs per second of one Python process with a handler that does nothing, from the first fetch to the last ack.

    python benchmarks/noop.py --url sqlite:/tmp/bench.db --jobs 100000 [--async] [--concurrency 10]

Prints one line of JSON. Enqueueing is not part of the time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import threading
import time

import openjobspec as ojs


def fill(client: ojs.Client, queue: str, jobs: int, payload: int) -> float:
    """Enqueues in batches; returns the seconds it took."""
    text = "x" * payload
    began = time.perf_counter()
    for first in range(0, jobs, 1000):
        count = min(1000, jobs - first)
        client.enqueue_batch([ojs.JobRequest("bench.noop", [n, text], queue=queue) for n in range(first, first + count)])
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="memory:bench")
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--concurrency", type=int, default=10)
    parser.add_argument("--async", dest="coroutine", action="store_true")
    parser.add_argument("--read-args", action="store_true", help="the handler reads its arguments and counts runs per job")
    parser.add_argument("--payload", type=int, default=150, help="bytes of text in every job")
    options = parser.parse_args()

    queue = f"bench-{os.getpid()}-{int(time.time())}"
    client = ojs.Client(options.url)
    enqueue_seconds = fill(client, queue, options.jobs, options.payload)

    worker = ojs.Worker(client, queues=[queue], concurrency=options.concurrency)
    done = threading.Event()
    left = options.jobs
    runs = bytearray(options.jobs)

    def count(ctx: ojs.JobContext) -> None:
        nonlocal left
        if options.read_args:
            runs[ctx.args[0]] += 1
        left -= 1  # one bytecode thread at a time: exact enough with the GIL, checked below
        if left <= 0:
            done.set()

    async def count_async(ctx: ojs.JobContext) -> None:
        count(ctx)

    worker.register("bench.noop", count_async if options.coroutine else count)
    began, cpu = time.perf_counter(), time.process_time()
    worker.start()
    while not done.wait(0.01) and client.queue_stats(queue)["completed"] < options.jobs:
        pass
    while client.queue_stats(queue)["completed"] < options.jobs:
        time.sleep(0.002)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    worker.stop()
    if options.read_args and runs.count(1) != options.jobs:
        raise SystemExit(f"delivery check failed: {options.jobs - runs.count(1)} jobs did not run exactly once")
    print(json.dumps({
        "benchmark": "python-noop", "url": options.url, "handler": "async" if options.coroutine else "sync",
        "concurrency": options.concurrency, "jobs": options.jobs, "seconds": round(seconds, 3),
        "jobs_per_second": round(options.jobs / seconds), "cpu_us": round(cpu * 1e6 / options.jobs, 3),
        "enqueued_per_second": round(options.jobs / enqueue_seconds),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
