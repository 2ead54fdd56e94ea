"""EI-001, EI-012, EI-013 and FA-R002: encrypted jobs that belong to a transaction, and the relay that sends them."""

from __future__ import annotations

import base64
import json

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

import openjobspec
from ojs_adapter_sqlalchemy import OjsOutbox

KEYS = "k-1:" + base64.b64encode(bytes(range(32))).decode()
SECRET = "4111-1111-1111-1111"
ONCE = openjobspec.UniquePolicy(keys=["type", "args"], on_conflict="ignore")


@pytest.fixture
def encrypted(ojs, database, ojs_server, monkeypatch):
    monkeypatch.setenv("OJS_ENCRYPTION_KEYS", KEYS)
    encrypted = OjsOutbox(ojs_server, database, poll_interval="PT0.05S")
    yield encrypted
    encrypted.close(grace=0)


def test_ei_013_ei_012_the_outbox_and_the_server_hold_ciphertext(engine, encrypted, sent):
    with Session(engine) as session, session.begin():
        job = encrypted.enqueue_after_commit(session, "card.charge", [SECRET], priority=7)
        row = session.execute(text("SELECT job_args, job_options FROM ojs_outbox")).one()
        assert SECRET not in json.dumps(list(row)) and "ojs_encoded" in json.dumps(list(row))
        assert encrypted.staged(session)[0]["options"]["priority"] == 7, "what the relay looks at is in the clear"
    (found,) = sent(1)
    assert found.id == job.id and SECRET not in json.dumps(found.args)


def test_ei_001_the_unique_key_is_that_of_the_plain_arguments(engine, encrypted, sent):
    with engine.begin() as connection:
        for secret in (SECRET, SECRET, "another"):
            encrypted.enqueue_after_commit(connection, "card.charge", [secret], unique=ONCE)
    encrypted.start()
    encrypted.close(grace=60)
    assert len(sent(2)) == 2


def test_fa_r002_rows_go_in_batches(engine, ojs, database, ojs_server, sent):
    ojs.close(grace=0)
    batches = []

    class Counting:
        def request(self, method, path, body=None):
            if path == "/jobs/batch":
                batches.append(len(body["jobs"]))
            return real._transport.request(method, path, body)

    with openjobspec.Client(ojs_server) as real:
        relayed = OjsOutbox(openjobspec.Client(transport=Counting()), database, relay=False, same_database=False, batch_size=100)
        with engine.begin() as connection:
            for number in range(250):
                relayed.enqueue_after_commit(connection, "a", [number])
        relayed.relay.start()
        relayed.close(grace=60)
    assert batches == [100, 100, 50]
