"""Versions of the arguments of a job type: what a worker takes, and how old arguments become new ones."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from support import eventually

import openjobspec as ojs

MakeWorker = Callable[..., ojs.Worker]


def addressed(args: list[Any]) -> list[Any]:
    return [{"to": args[0]}]


def copied(args: list[Any]) -> list[Any]:
    return [{**args[0], "copy": None}]


def test_a_worker_takes_the_versions_of_its_handler(client: ojs.Client, make_worker: MakeWorker) -> None:
    old, new = make_worker(), make_worker()
    old.register("versions.mail", lambda ctx: f"old {ctx.args[0]}", versions=["1"])
    new.register("versions.mail", lambda ctx: f"new {ctx.args[0]}", versions=[">=2.0 <3.0"])
    held = client.enqueue("versions.mail", ["3"], version="3")
    with old, new:
        said = ("1", "2.4", "2", "1.0.0")
        jobs = {version: client.enqueue("versions.mail", [version], version=version) for version in said}
        results = {version: client.wait_for_result(job.id, timeout=30).result for version, job in jobs.items()}
    assert results == {"1": "old 1", "1.0.0": "old 1.0.0", "2.4": "new 2.4", "2": "new 2"}
    assert (client.get_job(held.id).state, client.get_job(held.id).attempt) == ("available", 0)


@pytest.mark.parametrize("colour", ["plain", "coroutine"])
def test_old_arguments_become_those_of_the_handler(client: ojs.Client, make_worker: MakeWorker, colour: str) -> None:
    worker = make_worker()
    seen: list[Any] = []

    @worker.middleware
    def outer(ctx: ojs.JobContext, next: Callable[[], Any]) -> Any:
        seen.append(ctx.args)
        return next()

    def plain(ctx: ojs.JobContext, message: Any) -> Any:
        return [message, ctx.job.get("version")]

    async def coroutine(ctx: ojs.JobContext, message: Any) -> Any:
        return [message, ctx.job.get("version")]

    task = worker.register("versions.mail", plain if colour == "plain" else coroutine, version="3.1")
    worker.transform("versions.mail", "2", "3.0", copied)
    worker.transform("versions.mail", "1.0", "2", addressed)
    with worker:
        jobs = [client.enqueue("versions.mail", ["ada"], version="1")]
        jobs.append(client.enqueue("versions.mail", [{"to": "bob"}], version="2.0"))
        jobs.append(task.options(version="3.9").enqueue({"to": "eve"}))
        jobs.append(client.enqueue_request(ojs.JobRequest("versions.mail", [{"to": "joe"}], version="3.0")))
        results = [client.wait_for_result(job.id, timeout=30).result for job in jobs]
    assert results == [
        [{"to": "ada", "copy": None}, "3.0"],
        [{"to": "bob", "copy": None}, "3.0"],
        [{"to": "eve"}, "3.9"],
        [{"to": "joe"}, "3.0"],
    ]
    assert [{"to": "ada", "copy": None}] in seen, "the middleware sees what the handler sees"
    assert task.enqueue("x").get("version") == "3.1", "jobs of this process have the version of its handler"


def test_a_job_that_no_change_brings_to_the_handler_says_why(client: ojs.Client, make_worker: MakeWorker) -> None:
    worker = make_worker()
    worker.register("versions.mail", lambda ctx: None, versions=["*"])
    worker.register("versions.note", lambda ctx: None)

    @worker.transform("versions.note", "1", "2")
    def broken(args: list[Any]) -> list[Any]:
        raise ValueError("no address")

    worker.transform("versions.mail", "1", "2", lambda args: {"no": "list"})  # type: ignore[arg-type, return-value]
    with worker:
        jobs = [client.enqueue(kind, version="1") for kind in ("versions.note", "versions.mail")]
        ended = [client.wait_for_result(job.id, timeout=30) for job in jobs]
    errors = [result.error for result in ended]
    assert [error["code"] for error in errors] == ["version_transform", "version_transform"]
    assert "cannot become those of version 2: no address" in errors[0]["message"]
    assert "must return a list of arguments" in errors[1]["message"]


def test_a_version_that_no_handler_runs_is_refused_by_the_worker_too() -> None:
    """A server that knows no versions hands out what this worker does not run."""
    asked: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    job = {"id": "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "type": "versions.mail", "args": [], "version": "4.0"}

    class Old:
        def __init__(self) -> None:
            self.jobs = [job]

        def request(self, method: str, path: str, body: Any = None) -> Any:
            if path == "/workers/fetch":
                asked.append(body)
                jobs, self.jobs = self.jobs, []
                return 200, {"jobs": jobs}
            if path in ("/workers/ack", "/workers/nack"):
                refused.append(body)
                return 200, {"acknowledged": True}
            return (404, {"error": {"code": "not_found", "message": "none"}}) if "manifest" in path else (200, {})

    worker = ojs.Worker(transport=Old(), poll_interval=0.01)
    worker.register("versions.mail", lambda ctx: None, version="2")
    worker.transform("versions.mail", "1", "2", addressed)
    with worker:
        [nack] = eventually(lambda: refused)
    assert asked[0]["handlers"] == [{"type": "versions.mail", "versions": [">=2.0 <3.0", "1.0.0"]}]
    assert nack["error"]["code"] == "unsupported_version"
    assert "'versions.mail' in versions >=2.0 <3.0; the arguments have version 4.0.0" in nack["error"]["message"]


def test_changes_that_contradict_each_other_are_refused_at_the_start() -> None:
    for changes, message in [
        ([("1", "2"), ("1.0", "3")], "has a transform already"),
        ([("1", "2"), ("2", "1")], "back to it"),
        ([("1", "two")], "must be a version such as 2 or 2.1, got 'two'"),
        ([("1", "1.5")], "which transforms change into 1.5.0"),
    ]:
        worker = ojs.Worker("memory:")
        worker.register("versions.mail", lambda ctx: None, version="2")
        for since, to in changes:
            worker.transform("versions.mail", since, to, addressed)
        with pytest.raises(ojs.OJSValidationError, match=message):
            worker.start()
    with pytest.raises(ojs.OJSValidationError, match="must be callable"):
        ojs.Worker("memory:").transform("versions.mail", "1", "2", 7)  # type: ignore[call-overload]


def test_a_fake_changes_old_arguments_too() -> None:
    worker = ojs.Worker("memory:")
    seen: list[Any] = []
    worker.register("versions.fake", lambda ctx: seen.append(ctx.args), version="2.0.0")
    worker.transform("versions.fake", "1", "2", addressed)
    with ojs.testing.fake_mode() as fake, ojs.Client("memory:") as client:
        client.enqueue("versions.fake", ["ada"], version="1")
        assert fake.drain(worker) == 1
    assert seen == [[{"to": "ada"}]]
