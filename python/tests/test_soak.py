"""Memory does not grow with the number of jobs. The engine is another process: it keeps the events of all jobs for a while.

``OJS_SOAK_JOBS=1000000`` (``make soak``) is the long form.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest
from support import PATIENCE, eventually

import openjobspec as ojs

JOBS = int(os.environ.get("OJS_SOAK_JOBS", "20000"))
BATCH = 1000
#: Bytes. 20,000 jobs of which half a kilobyte each stayed would be 10 MB; a million, 500 MB.
MAY_GROW = 10 << 20


def resident() -> int:
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
def test_soak(coroutine: bool) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "openjobspec", "server", "--store", "memory:", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout
    try:
        url = server.stdout.readline().split()[-1]
        with ojs.Client(url) as client:
            soak(client, ojs.Worker(client, concurrency=16), coroutine)
    finally:
        server.terminate()
        server.communicate()


def soak(client: ojs.Client, worker: ojs.Worker, coroutine: bool) -> None:
    def plain(ctx: ojs.JobContext) -> int:
        return int(ctx.args[0])

    async def on_the_loop(ctx: ojs.JobContext) -> int:
        return int(ctx.args[0])

    def run(jobs: int) -> None:
        for _ in range(jobs // BATCH):
            client.enqueue_batch([ojs.JobRequest("a", [n, "x" * 200]) for n in range(BATCH)])
            eventually(lambda: client.queue_stats("default")["completed"] == BATCH, PATIENCE * 3)
            client.purge_queue("default", states=["completed"])

    worker.register("a", on_the_loop if coroutine else plain)
    with worker:
        run(JOBS // 2)
        before = resident()
        run(JOBS)
        grown = resident() - before
    assert grown < MAY_GROW, f"{JOBS} jobs left {grown >> 10} KB behind"
