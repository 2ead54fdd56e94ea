"""FA-001, FA-002, FA-003, with real transactions."""

from __future__ import annotations

import pytest
from django.db import connections, transaction
from django.test import Client as Browser
from shop.models import User

from openjobspec import Job, OJSError
from openjobspec.django import ojs

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])


def test_fa_001_the_example_of_the_specification(sent):
    answer = Browser().post("/signup", {"email": "a@example.com"})
    assert answer.status_code == 201
    [job] = sent(1)
    assert (job.type, job.args) == ("email.welcome", [answer.json()["id"]])


def test_fa_001_nothing_is_sent_before_the_outermost_commit(server, sent, idle):
    with transaction.atomic():
        with transaction.atomic():
            job = ojs.enqueue_after_commit("a", [1])
        if connections["default"].vendor != "sqlite":  # SQLite has one writer: the relay would wait for this transaction
            idle()
            assert ojs.relay().status().get("sent", 0) == 0
        with pytest.raises(OJSError):
            server.get_job(job.id)
    assert [found.id for found in sent(1)] == [job.id]


def test_outside_of_a_transaction_it_is_sent_at_once(server):
    job = ojs.enqueue_after_commit("a", [1])
    assert server.get_job(job.id).state == "available"


def test_fa_002_a_rollback_takes_its_jobs_along(sent):
    with pytest.raises(ZeroDivisionError):
        with transaction.atomic():
            ojs.enqueue_after_commit("a", [1])
            _ = 1 / 0
    with transaction.atomic():
        ojs.enqueue_after_commit("a", [2])
    assert [job.args for job in sent(1)] == [[2]]


def test_fa_002_scenario_48_savepoints_both_ways(sent):
    with transaction.atomic():
        ojs.enqueue_after_commit("a", [1])
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            ojs.enqueue_after_commit("a", [2])
            _ = 1 / 0
        with transaction.atomic():
            ojs.enqueue_after_commit("a", [3])
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        with transaction.atomic():
            ojs.enqueue_after_commit("a", [4])
        _ = 1 / 0
    assert [job.args for job in sent(2)] == [[1], [3]]


def test_fa_002_an_exception_in_the_view(sent):
    browser = Browser(raise_request_exception=False)
    assert browser.post("/failing", {"email": "a@example.com"}).status_code == 500
    assert not User.objects.exists()
    browser.post("/signup", {"email": "b@example.com"})
    assert len(sent(1)) == 1


def test_fa_003_a_server_that_is_away_loses_nothing(settings, sent, ojs_server):
    settings.OJS_CONFIG = {**settings.OJS_CONFIG, "url": "http://127.0.0.1:1"}
    for number in range(5):
        with transaction.atomic():
            ojs.enqueue_after_commit("a", [number])
    assert len(ojs.staged()) == 5
    # The process ends; the next one finds the rows.
    settings.OJS_CONFIG = {**settings.OJS_CONFIG, "url": ojs_server}
    ojs.relay().start()
    assert [job.args for job in sent(5)] == [[number] for number in range(5)]


def test_two_databases(sent):
    with transaction.atomic(), transaction.atomic(using="other"):
        ojs.enqueue_after_commit("a", [1])
        ojs.enqueue_after_commit("a", [2], using="other")
    assert sorted(job.args for job in sent(2)) == [[1], [2]]
    with transaction.atomic():
        # The other database is in autocommit.
        assert ojs.enqueue_after_commit("a", [3], using="other").state == "available"


def test_without_an_outbox_jobs_wait_in_memory(settings, sent):
    settings.OJS_CONFIG = {**settings.OJS_CONFIG, "outbox": {"enabled": False}}
    with transaction.atomic():
        ojs.enqueue_after_commit("a", [1])
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            ojs.enqueue_after_commit("a", [2])
            _ = 1 / 0
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        ojs.enqueue_after_commit("a", [3])
        _ = 1 / 0
    assert [job.args for job in sent(1)] == [[1]]


def test_options_bulk_and_order(sent):
    with transaction.atomic():
        job = ojs.enqueue_after_commit("a", [1], queue="mail", priority=7, meta={"k": "50 %"})
        ojs.enqueue_bulk_after_commit([("a", [2]), {"type": "a", "args": [3], "options": {"queue": "mail"}}])
    assert isinstance(job, Job) and job.queue == "mail"
    first, second = sent(2, "mail")
    assert (first.id, first.priority, first.meta["k"], second.args) == (job.id, 7, "50 %", [3])
    assert [found.args for found in sent(1)] == [[2]]
    assert len(ojs.enqueue_bulk(["a", "b"])) == 2


def test_scenario_50_a_wrong_job_is_refused_in_the_transaction(sent):
    for wrong in ({"job_type": ""}, {"job_type": "a", "priority": 5000}, {"job_type": "a", "queue": "Mail"}):
        with pytest.raises(OJSError, match="type|priority|queue"), transaction.atomic():
            User.objects.create(email="a@example.com")
            ojs.enqueue_after_commit(args=[1], **wrong)
    assert not User.objects.exists()
