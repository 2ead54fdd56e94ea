"""Encrypted arguments: what the handler sees, and what no other reader does (EI-012, EI-013)."""

import json
import queue
import sqlite3

import pytest

import openjobspec as ojs
from openjobspec.outbox import Outbox, Relay, migration

SECRET = "4111 1111 1111 1111"
KEYS = {"k-2": bytes(range(32)), "k-1": bytes(32)}


@pytest.fixture
def store(tmp_path):
    return f"sqlite:{tmp_path}/jobs.db"


def work_one(client):
    """The arguments and the metadata that a handler saw."""
    seen = queue.SimpleQueue()
    worker = ojs.Worker(client, concurrency=1)

    @worker.register("card.charge")
    def charge(ctx):
        seen.put((ctx.args, dict(ctx.meta or {})))

    worker.start()
    try:
        return seen.get(timeout=60)
    finally:
        worker.stop()


def test_the_handler_sees_what_the_server_does_not(store):
    with ojs.Client(store, encryption_keys=KEYS) as client:
        job = client.enqueue("card.charge", [SECRET, {"n": 1.5}], meta={"tenant_id": "acme"})
        stored = client.get_job(job.id)
        assert SECRET not in json.dumps(stored.to_dict()) and stored.meta["ojs.codec.key_id"] == "k-2"
        assert work_one(client) == ([SECRET, {"n": 1.5}], {"tenant_id": "acme"})
        assert client.get_job(job.id).state == "completed"


def test_jobs_under_an_older_key_are_read(store):
    with ojs.Client(store, encryption_keys={"k-1": KEYS["k-1"]}) as before:
        before.enqueue("card.charge", [SECRET])
    with ojs.Client(store, encryption_keys=KEYS) as client:
        assert work_one(client)[0] == [SECRET]


def test_the_environment_names_the_keys(store, monkeypatch):
    monkeypatch.setenv("OJS_ENCRYPTION_KEYS", "k-9:" + "ab" * 32)
    with ojs.Client(store) as client:
        job = client.enqueue("card.charge", [SECRET])
        assert client.get_job(job.id).meta["ojs.codec.key_id"] == "k-9"


def test_unique_jobs_are_compared_in_the_clear(store):
    with ojs.Client(store, encryption_keys=KEYS) as client:
        policy = ojs.UniquePolicy(keys=["type", "args"])
        first = client.enqueue("ei.a", ["u1"], unique=policy)
        with pytest.raises(ojs.DuplicateJobError) as refused:
            client.enqueue("ei.a", ["u1"], unique=policy)
        assert first.id in json.dumps(refused.value.details)
        client.enqueue("ei.a", ["u2"], unique=policy)


def test_the_outbox_holds_ciphertext_and_the_relay_no_key(store, tmp_path):
    path = tmp_path / "app.db"
    app = sqlite3.connect(path)
    for statement in migration("sqlite"):
        app.execute(statement)
    with ojs.Client(store, encryption_keys=KEYS) as client:
        outbox = Outbox(client, database="sqlite")
        with app:
            job = outbox.add(app, "card.charge", [SECRET])
        rows = app.execute("SELECT job_args FROM ojs_outbox").fetchall()
        assert "ojs_encoded" in rows[0][0]
        assert not any(SECRET.encode() in file.read_bytes() for file in tmp_path.iterdir())
        app.close()
    with ojs.Client(store) as keyless:
        Relay(keyless, lambda: sqlite3.connect(path)).start().stop(grace=60)
    with ojs.Client(store, encryption_keys=KEYS) as client:
        assert client.get_job(job.id).args == json.loads(rows[0][0])
        assert work_one(client)[0] == [SECRET]


@pytest.mark.parametrize("keys", ["nonsense", "k:short", {"k": b"short"}])
def test_a_wrong_key_is_refused_without_being_repeated(keys):
    with pytest.raises(ojs.OJSValidationError) as error:
        ojs.Client("memory:", encryption_keys=keys)
    assert "32 bytes" in str(error.value) or "name:key" in str(error.value)
    assert "short" not in str(error.value)
