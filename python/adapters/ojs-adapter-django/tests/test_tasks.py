"""Django's own tasks: in the transaction, on a worker, and their results."""

from __future__ import annotations

import json
import time
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone
from ojs_adapter_django import tasks as adapter
from ojs_adapter_django.management.commands import ojs_worker
from shop import tasks
from shop.models import User

from openjobspec import Worker
from openjobspec.django import ojs
from openjobspec.django.tasks import OJSBackend

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def finished(ojs_server):
    """Runs tasks on a worker until one has finished; its result."""
    worker = Worker(ojs_server, queues=["mail", "default"], concurrency=2)
    worker.middleware.add("django_connections", ojs_worker.connections)
    adapter.register(worker)

    def wait(result):
        if worker.state == "new":
            worker.start()
        until = time.monotonic() + 60
        while not result.is_finished:
            assert time.monotonic() < until, result
            time.sleep(0.005)
            result.refresh()
        return result

    yield wait
    worker.stop(grace=5)


def test_fa_001_fa_002_a_task_runs_if_and_only_if_its_transaction_commits(sent, finished):
    with transaction.atomic():
        user = User.objects.create(email="a@example.com")
        kept = tasks.welcome.enqueue(user.pk, greeting="hi")
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            lost = tasks.welcome.enqueue(0)
            _ = 1 / 0
        assert [row["id"] for row in ojs.staged()] == [kept.id]
    assert (kept.status, kept.args, kept.kwargs, kept.attempts) == ("READY", [user.pk], {"greeting": "hi"}, 0)
    done = finished(kept)
    assert (done.status, done.return_value, done.attempts, done.is_finished) == ("SUCCESSFUL", "hi a@example.com", 1, True)
    assert done.enqueued_at <= done.started_at <= done.finished_at
    with pytest.raises(adapter.TaskResultDoesNotExist):
        tasks.welcome.get_result(lost.id)
    with pytest.raises(adapter.TaskResultDoesNotExist):
        tasks.welcome.get_result("nonsense")


def test_a_result_can_be_asked_for_before_the_commit(server):
    with transaction.atomic():
        staged = tasks.add.enqueue(1, 2)
        found = tasks.add.get_result(staged.id)
    assert (found.id, found.status, found.args, found.task.queue_name, found.task.priority) == (staged.id, "READY", [1, 2], "mail", 7)


def test_queue_priority_and_run_after(server):
    later = timezone.now() + timedelta(hours=1)
    result = tasks.welcome.using(queue_name="mail", priority=-3, run_after=later).enqueue(1)
    job = server.get_job(result.id)
    assert (job.type, job.queue, job.priority, job.state) == ("django_task.shop.tasks.welcome", "mail", -3, "scheduled")
    found = tasks.welcome.get_result(result.id)
    assert abs(found.task.run_after - later) < timedelta(seconds=1) and found.status == "READY"


def test_coroutines_and_context(finished):
    result = async_to_sync(tasks.add.aenqueue)(1, 2)
    assert finished(result).return_value == 3
    assert async_to_sync(tasks.add.aget_result)(result.id).return_value == 3
    seen = finished(tasks.about.enqueue("this"))
    assert seen.return_value == [seen.id, 1, "this"]


def test_a_task_that_raises_has_failed(finished):
    failed = finished(tasks.broken.enqueue("no such thing"))
    assert (failed.status, failed.attempts) == ("FAILED", 1)
    [error] = failed.errors
    assert error.exception_class is LookupError and "in broken" in error.traceback and "no such thing" in error.traceback
    with pytest.raises(ValueError, match="failed"):
        _ = failed.return_value
    again = finished(tasks.patient.enqueue())
    assert (again.status, again.attempts, len(again.errors)) == ("FAILED", 2, 2)


def test_signals(finished):
    seen = []

    def note(signal):
        def receive(sender, task_result, **_):
            seen.append((signal, sender, task_result.status))

        return receive

    receivers = {name: note(name) for name in ("task_enqueued", "task_started", "task_finished")}
    for name, receiver in receivers.items():
        getattr(adapter, name).connect(receiver)
    try:
        finished(tasks.add.enqueue(1, 2))
    finally:
        for name, receiver in receivers.items():
            getattr(adapter, name).disconnect(receiver)
    assert seen == [("task_enqueued", OJSBackend, "READY"), ("task_started", OJSBackend, "RUNNING"), ("task_finished", OJSBackend, "SUCCESSFUL")]


def test_scenario_50_what_cannot_be_a_job_is_refused_in_the_transaction():
    before = ojs.staged()
    with pytest.raises(TypeError), transaction.atomic():
        User.objects.create(email="a@example.com")
        tasks.welcome.enqueue(object())
    assert not User.objects.exists() and ojs.staged() == before


def test_a_task_that_is_gone(server, finished):
    job = ojs.enqueue("django_task.shop.gone", [[], {}], meta={adapter.FUNCTION: "shop.tasks.gone", adapter.BACKEND: "default"})
    worker_result = ojs.enqueue("a.b")
    finished(tasks.add.enqueue(1, 2))
    assert server.wait_for_result(job.id, timeout=60).error["code"] == "no_handler"
    assert server.wait_for_result(worker_result.id, timeout=60).error["code"] == "no_handler"
    with pytest.raises(adapter.TaskResultDoesNotExist, match="shop.tasks.gone"):
        tasks.add.get_result(job.id)


def test_checks(settings):
    def ids():
        return [message.id for message in run_checks() if message.id.startswith("ojs.E00")]

    assert ids() == []
    settings.TASKS = {"default": {"BACKEND": "openjobspec.django.tasks.OJSBackend", "QUEUES": ["Mail"], "OPTIONS": {"tags": 5, "retry": "x"}}}
    assert set(ids()) == {"ojs.E004", "ojs.E005"}


def test_the_worker_command_needs_no_worker_for_tasks(settings, monkeypatch, sent):
    settings.OJS_CONFIG = {"url": settings.OJS_CONFIG["url"]}
    ran = []
    monkeypatch.setattr(Worker, "run", lambda self: ran.append((sorted(self.queues), self.job_types)))
    call_command("ojs_worker")
    assert ran == [(["default", "mail"], ["*"])]
    settings.TASKS = {}
    with pytest.raises(CommandError, match="name the worker"):
        call_command("ojs_worker")


def test_a_name_is_made_a_type():
    assert adapter.type_of("shop.Tasks._send") == "django_task.shop.tasks.x_send"
    assert len(adapter.type_of("a" * 300)) == 255
    assert json.dumps(adapter.type_of("größe.tun")) == '"django_task.gr--e.tun"'
