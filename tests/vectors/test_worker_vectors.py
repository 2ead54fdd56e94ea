"""The vectors of workers, chains, policies and keys, in Python. ``judge.py`` is the server that workers talk to."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any, Iterator

import pytest

import openjobspec as ojs
from openjobspec.errors import _CLASSES
from openjobspec.middleware import MiddlewareError
from strictly import each

FOLDER = Path(__file__).parent
PATIENCE = 60.0


@pytest.fixture(scope="module")
def judge() -> Iterator[str]:
    """The address of the server; it ends with its standard input."""
    with subprocess.Popen([sys.executable, FOLDER / "judge.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().split()[-1]
        process.communicate()


def verdicts(judge: str, kind: str) -> dict[str, dict[str, str]]:
    with urllib.request.urlopen(f"{judge}/verdicts/{kind}") as answer:
        return {verdict["name"]: verdict for verdict in json.load(answer)}


async def does(ctx: ojs.JobContext) -> Any:
    """The handler that does what its argument says."""
    what = ctx.args[0]
    if "fail" in what:
        raise RuntimeError(what["fail"])
    if "refuse" in what:
        raise ojs.NonRetryableError(what["refuse"], code=what.get("code", "non_retryable"), details=what.get("details"))
    if "snooze_ms" in what:
        raise ojs.Snooze(what["snooze_ms"] / 1000)
    if "unserializable" in what:
        return object()
    while ("wait" in what or "wait_and_return" in what) and not ctx.cancelled:
        try:
            await asyncio.sleep(0.002)
        except asyncio.CancelledError:
            break
    if "wait" in what:
        ctx.raise_if_cancelled()
    return what.get("return", what.get("wait_and_return"))


@pytest.fixture(scope="module")
def outcomes(judge: str) -> dict[str, dict[str, str]]:
    worker = ojs.Worker(judge, queues=["outcomes"], worker_id="vectors", heartbeat_interval=0.02, max_sends=1)
    worker.register("vector", does)
    with worker:
        return verdicts(judge, "outcomes")


@each("case", "outcomes", "answers cancelled does job name requests type")
def test_outcome(outcomes: dict[str, dict[str, str]], case: dict[str, Any]) -> None:
    verdict = outcomes[case["name"]]
    assert verdict["found"] == verdict["expected"]


@each("case", "lives", "concurrency directive grace_ms jobs name requests steps", jobs="args type")
def test_life(judge: str, case: dict[str, Any]) -> None:
    name = case["name"]
    worker = ojs.Worker(judge, queues=[name], worker_id=name, concurrency=case["concurrency"], grace_period=case["grace_ms"] / 1000,
                        heartbeat_interval=0.02, max_sends=1)
    began, go = threading.Semaphore(0), threading.Event()

    @worker.register("hold")
    def hold(ctx: ojs.JobContext) -> None:
        began.release()
        while not go.wait(0.002):
            ctx.raise_if_cancelled()

    def all_began() -> None:
        for _ in case["jobs"]:
            assert began.acquire(timeout=PATIENCE)

    steps = {"began": all_began, "go": go.set, "quiet": worker.quiet, "stop": worker.shutdown, "stop_now": lambda: worker.shutdown(0),
             "stopped": lambda: worker.wait(PATIENCE)}
    worker.start()
    for step in case["steps"]:
        steps[step]()
    worker.stop(0)
    verdict = verdicts(judge, "lives")[name]
    assert verdict["found"] == verdict["expected"]


@each("case", "policies", "args error name options type", error="class code field")
def test_policy(case: dict[str, Any]) -> None:
    with ojs.Client("memory:") as client:
        try:
            client.enqueue(case["type"], case["args"], extra=case["options"])
        except ojs.OJSError as error:
            number = next(number for number, cls in _CLASSES.items() if cls is type(error))
            assert {"class": number, "code": error.code, "field": (error.details or {}).get("field")} == case["error"]
        else:
            assert case["error"] is None


@each("case", "keys", "args key name options type unique")
def test_key(case: dict[str, Any]) -> None:
    with ojs.Client("memory:") as client:
        unique = {**case["unique"], "on_conflict": "reject"}
        client.enqueue(case["type"], case["args"], unique=unique, **case["options"])
        with pytest.raises(ojs.DuplicateJobError) as caught:
            client.enqueue(case["type"], case["args"], unique=unique, **case["options"])
        assert caught.value.details is not None and caught.value.details["unique_key"] == case["key"]


def layer(name: str, does: str | None, trace: list[str]) -> Any:
    """A layer of either chain that writes down when it is passed."""

    def run(subject: Any, next: Any) -> Any:
        trace.append(f"{name}>")
        if does == "stop":
            return None
        if does == "fail_before":
            raise RuntimeError(name)
        if does == "change":
            subject.meta = {**(subject.meta or {}), "by": name}
        result = next(subject)
        if does == "fail_after":
            raise RuntimeError(name)
        trace.append(f"<{name}")
        return result

    return run


@each("case", "chains", "chain do layers name names steps trace")
def test_chain(case: dict[str, Any]) -> None:
    sent: list[str] = []
    ran: list[str] = []
    with ojs.Client("memory:") as client:
        worker = ojs.Worker(client)
        for which, chain, trace in (("enqueue", client.enqueue_middleware, sent), ("execution", worker.middleware, ran)):
            if case["chain"] not in ("both", which):
                continue
            steps = []
            for method, *names in case["do"]:
                layers = [] if method == "remove" else [layer(names[-1], case["layers"].get(names[-1]), trace)]
                try:
                    getattr(chain, method)(*names, *layers)
                    steps.append("ok")
                except MiddlewareError:
                    steps.append("error")
            assert (steps, chain.names()) == (case["steps"], case["names"])
        if "trace" in case:
            assert one_job(client, worker, sent, ran) == case["trace"]


def one_job(client: ojs.Client, worker: ojs.Worker, sent: list[str], ran: list[str]) -> dict[str, Any]:
    """What a job went through in both chains."""
    worker.register("a", lambda ctx: ran.append("handler"))
    try:
        job = client.enqueue("a", retry={"max_attempts": 1})
    except ojs.NotEnqueuedError:
        return {"enqueue": "dropped", "sent": sent}
    except RuntimeError:
        return {"enqueue": "failed", "sent": sent}
    with worker:
        ended = client.wait_for_result(job.id, timeout=PATIENCE)
    return {"enqueue": "enqueued", "sent": sent, "ran": ran, "state": ended.state, "by": client.get_job(job.id).meta.get("by")}


def test_a_published_server_costs_features_and_no_jobs(judge: str) -> None:
    """What it offers less, and writes otherwise: ``published.py``."""
    with urllib.request.urlopen(f"{judge}/published") as answer:
        url = json.load(answer)["url"]
    with ojs.Client(url) as client:
        worker = ojs.Worker(url, worker_id="w", heartbeat_interval=0.02)

        @worker.register("email.send")
        def send(ctx: ojs.JobContext) -> dict[str, int]:
            if ctx.attempt == 1:
                raise RuntimeError("the first attempt fails")
            return {"attempt": ctx.attempt}

        with worker:
            job = client.enqueue("email.send", [7])
            assert client.wait_for_result(job.id, timeout=PATIENCE).result == {"attempt": 2}
        assert [client.list_queues(), client.dead_letters(), client.list_cron()] == [[], [], []]
        for ask in (client.get_job, client.cancel_job):
            with pytest.raises(ojs.JobNotFoundError):
                ask("019461a8-0000-7000-8000-00000000ffff")
