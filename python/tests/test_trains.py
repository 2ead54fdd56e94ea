"""The train of a job: how it is said, what a type says once, what comes back."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

import openjobspec as ojs
from openjobspec.outbox import Outbox


def staged(client: ojs.Client, job: Any, args: Any = None, **options: Any) -> dict[str, Any]:
    """The options of a job, with its metadata among them, as the core has written them into the row of an outbox."""
    app = sqlite3.connect(":memory:")
    outbox = Outbox(client, database="sqlite")
    outbox.migrate(app)
    if isinstance(job, ojs.JobRequest):
        outbox.add(app, job)
    else:
        outbox.add(app, job, args, **options)
    [row] = outbox.waiting(app)
    app.close()
    return dict(row["options"])


HELD = {"id": "dest_1", "on_cancelled": "hold"}


@pytest.mark.parametrize("train", [HELD, ojs.Train("dest_1", on_cancelled="hold")])
def test_a_train_is_an_id_an_object_or_a_train(train: Any) -> None:
    with ojs.Client("memory:") as client:
        assert staged(client, "deploy", train=train)["train"] == HELD
        row = staged(client, "deploy", [7], train="dest_{0}", meta={"a": 1})
        assert (row["train"], row["meta"]) == ({"id": "dest_7"}, {"a": 1, "train_id": "dest_7"})
        assert "train" not in staged(client, "deploy", train=False)


@pytest.mark.parametrize(
    ("train", "message"),
    [
        ("a b", "train.id: must be 1 to 255 letters"),
        ({"on_cancelled": "hold"}, "train.id: is missing"),
        ({"id": "a", "on_cancelled": "wait"}, 'train.on_cancelled: must be "advance" or "hold", got "wait"'),
        ({"id": "a", "on_canceled": "hold"}, "did you mean 'on_cancelled'"),
        (7, "train must be the id of a train"),
    ],
)
def test_a_wrong_train_is_refused_by_field_and_rule(train: Any, message: str) -> None:
    with ojs.Client("memory:") as client, pytest.raises(ojs.OJSValidationError, match=message):
        client.enqueue("deploy", train=train)


def test_a_type_says_its_train_once() -> None:
    worker = ojs.Worker("memory:", queues=["deployments"])
    policy = ojs.Train(on_cancelled="hold")
    task = worker.register("trains.policy", lambda ctx: None, queue="deployments", train=policy)
    named = {"id": "dest_{destination_id}", "on_discarded": "hold"}
    derived = worker.register("trains.derived", lambda ctx, destination: None, train=named)
    with ojs.Client("memory:") as client:
        assert "train" not in staged(client, task.request()), "policies alone are no train"
        for job in (task.options(train="dest_1").request(), ojs.JobRequest("trains.policy", train="dest_1")):
            row = staged(client, job)
            assert row["train"] == {"id": "dest_1", "on_cancelled": "hold"}
        own = task.options(train=ojs.Train("dest_1", on_cancelled="advance"))
        assert staged(client, own.request())["train"] == {"id": "dest_1", "on_cancelled": "advance"}
        args = {"destination_id": 123, "action": "deploy"}
        for row in (staged(client, derived.request(args)), staged(client, "trains.derived", [args])):
            assert row["train"] == {"id": "dest_123", "on_discarded": "hold"}
            assert row["meta"] == {"train_id": "dest_123", "train_on_discarded": "hold"}
        assert "train" not in staged(client, derived.options(train=False).request(args))
        with pytest.raises(ojs.OJSValidationError, match="names the argument 'destination_id'"):
            staged(client, derived.request({}))
    with pytest.raises(ojs.OJSValidationError, match="brace without its pair"):
        worker.register("trains.wrong", lambda ctx: None, train="dest_{")


def test_a_job_knows_its_place() -> None:
    place = {"id": "dest_1", "position": 3, "role": "locomotive", "ahead": 0, "state": "running", "epoch": 9}
    job = ojs.Job.from_dict({"id": "1", "train": place})
    assert job.train is not None
    assert {name: getattr(job.train, name) for name in place} == place
    assert repr(job.train) == "JobTrain(id='dest_1', position=3, role='locomotive', ahead=0, state='running')"
    assert ojs.Job.from_dict({"id": "1"}).train is None


def test_a_server_without_trains_is_an_error_of_its_own() -> None:
    class Refusing:
        def request(self, method: str, path: str, body: Any = None) -> Any:
            details = {"extension": "urn:ojs:ext:x:openjobspec:job-trains"}
            return 422, {"error": {"code": "EXTENSION_NOT_SUPPORTED", "message": "no", "details": details}}

    with ojs.Client(transport=Refusing()) as client, pytest.raises(ojs.UnsupportedExtensionError) as caught:
        client.enqueue("deploy", train="dest_1")
    assert caught.value.details["extension"].endswith(":job-trains")
    assert isinstance(caught.value, ojs.InvalidRequestError)


def test_a_fake_runs_the_jobs_of_a_train_in_order() -> None:
    client, ran = ojs.Client("http://127.0.0.1:1"), list[Any]()
    worker = ojs.Worker("http://127.0.0.1:1", queues=["deployments"])

    @worker.register("trains.fake", queue="deployments", train=ojs.Train(on_discarded="hold"))
    def deploy(ctx: ojs.JobContext, number: int) -> None:
        ran.append((number, ctx.train and ctx.train.position))
        if number < 0:
            raise ojs.NonRetryableError("no such destination")

    with ojs.testing.fake_mode() as fake:
        for number, priority in ((1, -5), (2, 0), (3, 5)):
            client.enqueue("trains.fake", [number], train="dest_1", priority=priority)
        assert len(fake.assert_enqueued("trains.fake", train="dest_1", count=3)) == 3
        fake.assert_not_enqueued("trains.fake", train="dest_2")
        assert fake.drain(worker) == 3
        assert ran == [(1, 1), (2, 2), (3, 3)], "without the train the highest priority would run first"

    ran.clear()
    with ojs.testing.fake_mode() as fake:
        held = [client.enqueue("trains.fake", [number], train="dest_1") for number in (-1, 2)]
        assert fake.drain(worker, raise_errors=False) == 1
        assert ran == [(-1, 1)], "the train is held"
        second = client.get_job(held[1].id)
        assert (second.state, second.train and (second.train.role, second.train.state)) == ("pending", ("car", "held"))
        client.advance_train("dest_1")
        assert fake.drain(worker) == 1

    ran.clear()
    with ojs.testing.inline_mode(worker):
        for number in (1, 2):
            client.enqueue("trains.fake", [number], train="dest_1")
        assert [number for number, _ in ran] == [1, 2]
