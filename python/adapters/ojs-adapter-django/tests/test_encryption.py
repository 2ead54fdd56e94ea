"""EI-001, EI-012, EI-013 and FA-R002: encrypted jobs that belong to a transaction, and the relay that sends them."""

from __future__ import annotations

import base64
import json

import pytest
from django.db import transaction

import openjobspec
from ojs_adapter_django import databases
from openjobspec.django import ojs
from openjobspec.outbox import Relay

KEYS = "k-1:" + base64.b64encode(bytes(range(32))).decode()
SECRET = "4111-1111-1111-1111"
ONCE = openjobspec.UniquePolicy(keys=["type", "args"], on_conflict="ignore")


@pytest.fixture
def encrypted(settings, monkeypatch):
    monkeypatch.setenv("OJS_ENCRYPTION_KEYS", KEYS)
    settings.OJS_CONFIG = {**settings.OJS_CONFIG, "outbox": {"relay": False}}


@pytest.mark.django_db(transaction=True)
def test_ei_013_ei_012_the_outbox_and_the_server_hold_ciphertext(encrypted, ojs_server, sent):
    with transaction.atomic():
        job = ojs.enqueue_after_commit("card.charge", [SECRET], priority=7)
        (row,) = ojs.staged()
    assert SECRET not in json.dumps(row, default=str) and "ojs_encoded" in json.dumps(row, default=str)
    assert row["options"]["priority"] == 7, "what the relay looks at is in the clear"
    ojs.relay().start()
    with openjobspec.Client(ojs_server) as stranger:
        assert [one.id for one in sent(1)] == [job.id]
        assert SECRET not in json.dumps(stranger.get_job(job.id).args)


@pytest.mark.django_db(transaction=True)
def test_ei_001_the_unique_key_is_that_of_the_plain_arguments(encrypted, sent):
    with transaction.atomic():
        for secret in (SECRET, SECRET, "another"):
            ojs.enqueue_after_commit("card.charge", [secret], unique=ONCE)
    ojs.relay().start()
    ojs.relay().stop(grace=60)
    assert len(sent(2)) == 2


@pytest.mark.django_db(transaction=True)
def test_fa_r002_rows_go_in_batches(settings):
    settings.OJS_CONFIG = {**settings.OJS_CONFIG, "outbox": {"relay": False, "batch_size": 100}}
    with transaction.atomic():
        for number in range(250):
            ojs.enqueue_after_commit("a", [number], queue="many")
    batches = []

    class Counting:
        def request(self, method, path, body=None):
            if path == "/jobs/batch":
                batches.append(len(body["jobs"]))
            return real._transport.request(method, path, body)

    with openjobspec.Client(settings.OJS_CONFIG["url"]) as real:
        Relay(openjobspec.Client(transport=Counting()), databases.for_relay("default"), batch_size=100).start().stop(grace=60)
    assert batches == [100, 100, 50]
