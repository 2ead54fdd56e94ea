"""FA-R001, FA-R003, test cases, checks, commands."""

from __future__ import annotations

import functools
import json
import os
import threading
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User as Account
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, transaction
from django.db.transaction import atomic
from django.test import Client as Browser
from django.test import TestCase

from ojs_adapter_django import conf
from openjobspec.django import ojs
from openjobspec.outbox import migration


class RolledBack(TestCase):
    """Scenario 49: jobs can be asserted in a test case whose transaction never commits."""

    databases = {"default"}

    def test_staged_jobs_are_seen_without_a_commit(self):
        with self.captureOnCommitCallbacks(execute=False) as callbacks:
            self.client.post("/signup", {"email": "a@example.com"})
        [job] = ojs.staged()
        assert job["type"] == "email.welcome" and len(callbacks) == 1

    def test_each_test_begins_with_an_empty_outbox(self):
        assert ojs.staged() == []


@pytest.mark.django_db(transaction=True)
def test_fa_r001_the_request_goes_into_the_metadata(sent):
    account = Account.objects.create_user("ada")
    browser = Browser(headers={
        "X-Request-ID": "r-1", "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "X-OJS-Tenant": "acme", "Accept-Language": "de-CH,de;q=0.9",
    })  # fmt: skip
    browser.force_login(account)
    browser.post("/signup", {"email": "a@example.com"})
    [job] = sent(1)
    assert {name: job.meta[name] for name in job.meta if name != "ojs.codec"} == {
        "ojs.context.user_id": str(account.pk), "ojs.context.request_id": "r-1", "tenant_id": "acme",
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "ojs.context.locale": "de-CH",
    }  # fmt: skip
    assert ojs.enqueue("a", [1]).meta == {}


@pytest.mark.django_db(transaction=True)
def test_fa_r003_the_relay_starts_with_the_first_request_and_flushes_at_the_end(sent):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO ojs_outbox (job_type, job_args) VALUES ('left.behind', '[1]')")
    assert not ojs.relay().running
    Browser(raise_request_exception=False).get("/nothing")
    assert ojs.relay().running
    assert [job.type for job in sent(1)] == ["left.behind"]
    ojs.close()
    # Five seconds are all that the relay waits for its thread.
    for thread in threading.enumerate():
        if thread.name == "openjobspec-outbox":
            thread.join(60)
            assert not thread.is_alive()


@pytest.mark.django_db(transaction=True)
def test_the_relay_command(settings, sent):
    settings.OJS_CONFIG = {**settings.OJS_CONFIG, "outbox": {"relay": False}}
    with transaction.atomic():
        ojs.enqueue_after_commit("a", [1])
    assert not ojs.relay().running
    call_command("ojs_relay", once=True, verbosity=0)
    assert len(sent(1)) == 1
    settings.OJS_CONFIG = {**settings.OJS_CONFIG, "outbox": {"enabled": False}}
    with pytest.raises(CommandError, match="enabled"):
        call_command("ojs_relay", once=True)


def test_the_worker_command_wants_a_worker(settings):
    with pytest.raises(CommandError, match="cannot load nowhere"):
        call_command("ojs_worker", "nowhere:worker")
    settings.OJS_CONFIG, settings.TASKS = {"url": "memory:"}, {}
    with pytest.raises(CommandError, match="name the worker"):
        call_command("ojs_worker")
    settings.OJS_CONFIG = {"url": "localhost:8080", "worker": "shop.jobs:worker"}
    with pytest.raises(CommandError, match="write http://localhost:8080 for a server"):
        call_command("ojs_worker")


@pytest.mark.django_db(transaction=True)
def test_checks(settings, monkeypatch):
    def ids():
        return [message.id for message in run_checks() if message.id.startswith("ojs.")]

    assert ids() == []
    for config, found in [
        ({"ulr": "x"}, ["ojs.E001"]),
        ({"outbox": {"poll": 1}}, ["ojs.E001"]),
        ({"outbox": {"enabled": "false"}}, ["ojs.E001"]),
        ({"outbox": {"relay": 0}}, ["ojs.E001"]),
        ({"outbox": {"table": 7}}, ["ojs.E001"]),
        ({"url": "localhost:8080"}, ["ojs.E004"]),
        ({"url": "ftp://localhost"}, ["ojs.E004"]),
        # No client connects, or makes a file, when it is made.
        ({"url": "http://127.0.0.1:9"}, []),
        ({"url": "sqlite:no/such/folder/jobs.db"}, []),
        ({"outbox": {"poll_interval": "soon"}}, ["ojs.E001"]),
        ({"outbox": {"enabled": False}}, ["ojs.W001"]),
    ]:
        settings.OJS_CONFIG = config
        assert ids() == found
    monkeypatch.setenv("OJS_PROXY", "sometimes")
    settings.OJS_CONFIG = {"url": "http://127.0.0.1:9"}
    assert ids() == ["ojs.E004"]
    monkeypatch.delenv("OJS_PROXY")
    if connection.vendor == "sqlite":
        settings.OJS_CONFIG = {"url": f"sqlite:{connection.settings_dict['NAME']}"}
        assert "ojs.E003" in ids()


#: As "Framework Adapters", section 5.2, prints it.
PRINTED = """
{
  "adapter": {
    "ojs_url": "http://localhost:8080",
    "backend_type": "external",
    "outbox": {
      "enabled": true,
      "table_name": "ojs_outbox",
      "poll_interval": "PT1S",
      "batch_size": 100
    }
  }
}
"""


@pytest.mark.django_db(transaction=True)
def test_the_configuration_of_section_5_2_as_printed(settings, ojs_server, sent):
    config = json.loads(PRINTED)
    settings.OJS_CONFIG = config
    assert [message.id for message in run_checks() if message.id.startswith("ojs.")] == []
    read = conf.read()
    assert (read.url, read.enabled, read.table, read.same_database) == ("http://localhost:8080", True, "ojs_outbox", False)
    assert read.relay_options == {"poll_interval": 1.0, "batch_size": 100}
    config["adapter"]["ojs_url"] = ojs_server
    settings.OJS_CONFIG = config
    with transaction.atomic():
        ojs.enqueue_after_commit("a", [1])
    ojs.relay().start()
    assert len(sent(1)) == 1
    # New settings close the relay within five seconds: not sooner than it has marked its row.
    ojs.close(grace=60)
    config["adapter"]["backend_type"] = "redis"
    settings.OJS_CONFIG = config
    assert [message.id for message in run_checks() if message.id.startswith("ojs.")] == ["ojs.E001"]


@pytest.mark.django_db(transaction=True)
def test_the_settings_of_section_8_2_as_printed(settings, ojs_server, monkeypatch):
    monkeypatch.setenv("OJS_URL", ojs_server)
    # fmt: off
    # --- as printed
    # settings.py
    OJS_CONFIG = {
        'url': os.environ['OJS_URL'],
        'outbox': { 'enabled': True, 'table': 'ojs_outbox' },
    }
    # ---
    # fmt: on
    settings.OJS_CONFIG = OJS_CONFIG
    assert [message.id for message in run_checks() if message.id.startswith("ojs.")] == []
    assert (ojs.config.url, ojs.config.enabled, ojs.config.table) == (ojs_server, True, "ojs_outbox")
    assert Browser().post("/signup", {"email": "a@example.com"}).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_the_signups_of_section_4_as_printed(sent):
    class User:
        create = Account.objects.create

    def transaction():
        return atomic()

    def Response(status):
        return status

    # fmt: off
    # --- as printed, but for the first one's name
    # WITHOUT transactional enqueue
    def signup_without(request):
        user = User.create(email=request.email)    # INSERT into database
        ojs.enqueue("email.welcome", [user.id])    # HTTP POST to OJS backend
        return Response(201)

    # WITH transactional enqueue
    def signup(request):
        with transaction():
            user = User.create(email=request.email)
            ojs.enqueue_after_commit("email.welcome", [user.id])
        return Response(201)
        # Job is only sent to OJS if and when the transaction commits
    # ---
    # fmt: on

    request = SimpleNamespace(email="a@example.com")
    assert signup_without(request) == 201
    Account.objects.all().delete()
    User.create = functools.partial(Account.objects.create, username="ada")
    assert signup(request) == 201
    assert [job.type for job in sent(2)] == ["email.welcome"] * 2


@pytest.mark.django_db
def test_the_migration_may_be_run_again():
    with connection.cursor() as cursor:
        for statement in migration(connection.vendor):
            cursor.execute(statement)
