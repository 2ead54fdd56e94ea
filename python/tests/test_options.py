"""Options: shorthands that work, and names and values that are refused with what there is instead."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from datetime import datetime, timedelta, timezone
from typing import Any, Callable

import pytest
from support import Recorder

import openjobspec as ojs
from openjobspec.options import JobOptions

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"retry": {"maxAttempts": 5}}, "unknown option 'maxAttempts' of retry; did you mean 'max_attempts'\\? There are max_attempts, initial_interval"),
    ({"retry": True}, "retry must be a number of runs"),
    ({"retry": "5"}, "retry must be a number of runs"),
    ({"retry": -1}, "retry must be a number of runs"),
    ({"retry": {"initial_interval": "soon"}}, "soon"),
    ({"unique": {"on_conflct": "ignore"}}, "did you mean 'on_conflict'"),
    ({"unique": "type"}, "unique must be True"),
    ({"max_attemps": 5}, "unknown option 'max_attemps'; it is one of retry: write retry={'max_attempts': …}"),
    ({"time_out": 5}, "unknown option 'time_out'; did you mean 'timeout'"),
    ({"retries": 5}, "did you mean 'retry'"),
    ({"colour": "red"}, "there are queue, priority, timeout_ms"),
    ({"timeout_ms": 0}, "timeout_ms must be longer than zero"),
    ({"timeout_ms": -1}, "timeout_ms must be longer than zero"),
    ({"timeout_ms": float("nan")}, "timeout_ms must be seconds"),
    ({"timeout": 0}, "timeout must be longer than zero"),
    ({"timeout": "5 parsecs"}, "timeout must be seconds, a timedelta, or text such as '5m'"),
    ({"timeout": 5, "timeout_ms": 5}, "either timeout or timeout_ms"),
    ({"delay": -5}, "delay must be zero or more seconds"),
    ({"delay": timedelta(seconds=-5)}, "delay must be zero or more seconds"),
    ({"delay": True}, "delay must be seconds"),
    ({"delay": "soon"}, "delay must be seconds, a timedelta, or text such as '5m'"),
    ({"delay": float("inf")}, "delay must be seconds"),
    ({"delay_until": timedelta(seconds=-5)}, "delay_until must be zero or more"),
    ({"expires_at": timedelta(seconds=-5)}, "expires_at must be zero or more"),
    ({"tags": "urgent"}, "tags must be a list of words"),
]

SHORT: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"retry": 5}, {"retry": {"max_attempts": 5}}),
    ({"retry": {"max_attempts": 2, "initial_interval": "5m"}}, {"retry": {"max_attempts": 2, "initial_interval": "PT5M"}}),
    ({"retry": ojs.RetryPolicy(initial_interval="90s")}, {"retry": {"initial_interval": "PT1M30S"}}),
    ({"unique": True}, {"unique": {"keys": ["type", "args"]}}),
    ({"unique": {"period": timedelta(hours=1)}}, {"unique": {"period": "PT1H"}}),
    ({"timeout": "30s"}, {"timeout_ms": 30_000}),
    ({"timeout": 1.5}, {"timeout_ms": 1500}),
    ({"timeout": timedelta(minutes=1)}, {"timeout_ms": 60_000}),
    ({"timeout_ms": "30s"}, {"timeout_ms": 30_000}),
    ({"visibility_timeout": "1h"}, {"visibility_timeout_ms": 3_600_000}),
    ({"version": "2.1"}, {"version": "2.1"}),
    ({"fairness_key": "user:7"}, {"fairness_key": "user:7"}),
]

WAYS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "plain": lambda transport, options: ojs.Client(transport=transport).enqueue("a", [1], **options),
    "asyncio": lambda transport, options: asyncio.run(ojs.AsyncClient(transport=transport).enqueue("a", [1], **options)),
    "request": lambda transport, options: ojs.Client(transport=transport).enqueue_batch([ojs.JobRequest("a", [1], **options)]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("options", "message"), WRONG, ids=[str(options) for options, _ in WRONG])
def test_wrong_options_are_refused_before_anything_is_sent(way: str, options: dict[str, Any], message: str, recorder: Recorder) -> None:
    with pytest.raises(ojs.OJSValidationError, match=message):
        WAYS[way](recorder, options)
    assert recorder.requests == []


def test_an_unknown_keyword_is_a_type_error_too() -> None:
    with pytest.raises(TypeError, match="max_attempts"):
        ojs.Client("memory:").enqueue("a", max_attemps=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "shown"), [(None, "None"), ("", "''"), (ojs.Job({"id": "x"}), "a Job")])
def test_what_is_no_id_is_refused(name: Any, shown: str, recorder: Recorder) -> None:
    client = ojs.Client(transport=recorder)
    for call, kind in ((client.get_job, "jobs"), (client.cancel_job, "jobs"), (client.pause_queue, "queues")):
        with pytest.raises(ojs.OJSValidationError, match=f"^a path under /{kind} needs an id or a name as text, such as job.id; got {shown}$"):
            call(name)
    assert recorder.requests == []


@pytest.mark.parametrize("make", [ojs.Client, ojs.AsyncClient, ojs.Worker])
def test_an_unknown_setting_is_refused_with_those_that_exist(make: Any) -> None:
    with pytest.raises(TypeError, match="unknown option 'tiemout'; did you mean 'timeout'\\? There are .*timeout, connect_timeout"):
        make("memory:", tiemout=3)
    with pytest.raises(TypeError, match="unknown option 'tiemout'"):
        make(transport=Recorder(), tiemout=3)


WRONG_SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"concurrency": "ten"}, "concurrency must be at least 1, got 'ten'"),
    ({"concurrency": 1.5}, "concurrency must be at least 1, got 1.5"),
    ({"concurrency": True}, "concurrency must be at least 1, got True"),
    ({"queues": 5}, "queues must be a list of names"),
    ({"queues": [1]}, "queues must be a list of names"),
    ({"queues": ["Mail Room"]}, "queues: queue must be lowercase letters"),
    ({"labels": "eu"}, 'labels must be a list of words, got "eu"'),
    ({"labels": {"a": 1}}, "labels must be a list of words"),
    ({"worker_id": ""}, "worker_id: it must be 1 to 255 bytes"),
    ({"worker_id": "two\nlines"}, "worker_id: it must be 1 to 255 bytes"),
    ({"visibility_timeout_ms": 500}, "visibility_timeout: it must be at least 1000"),
    ({"heartbeat_interval": 0}, "heartbeat_interval: must be longer than zero"),
    ({"poll_interval": timedelta()}, "poll_interval: must be longer than zero"),
    ({"grace_period": "soon"}, "grace_period must be zero or more seconds, or text such as '5m'"),
    ({"timeout": 0}, "timeout must be longer than zero"),
    ({"headers": ["a"]}, "headers must be names with a text each"),
]


@pytest.mark.parametrize(("settings", "message"), WRONG_SETTINGS, ids=[str(settings) for settings, _ in WRONG_SETTINGS])
def test_wrong_settings_of_a_worker_are_refused_before_it_fetches(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ojs.OJSValidationError, match=message):
        worker = ojs.Worker("memory:wrong-settings", **settings)
        worker.register("a", lambda ctx: None)
        worker.start()


def test_lengths_of_time_are_seconds_a_timedelta_or_text() -> None:
    for length in (2, 2.5, timedelta(seconds=2), "2s", "PT2S"):
        client = ojs.Client("memory:lengths", timeout=length, connect_timeout=length)
        lengths = dict.fromkeys(("heartbeat_interval", "grace_period", "flush_timeout", "poll_interval"), length)
        worker = ojs.Worker(client, **lengths)
        worker.register("a", lambda ctx: None)
        with worker:
            assert worker.state == "running"
        client.close()


def test_what_is_no_time_and_no_type_is_named(client: ojs.Client) -> None:
    with pytest.raises(ojs.OJSValidationError, match="a time is a datetime, RFC 3339 text, or a timedelta.*got 5"):
        client.enqueue("a", delay_until=5)
    with pytest.raises(ojs.OJSValidationError, match="rate_limit must be a dict, got 5"):
        client.enqueue("a", rate_limit=5)
    with pytest.raises(ojs.OJSValidationError, match="needs a job type such as 'email.send', got 5"):
        ojs.Worker(client).register(5, lambda ctx: None)


@pytest.mark.parametrize("way", ["plain", "asyncio"])
@pytest.mark.parametrize(("options", "sent"), SHORT, ids=[str(options) for options, _ in SHORT])
def test_shorthands_are_written_out(way: str, options: dict[str, Any], sent: dict[str, Any], recorder: Recorder) -> None:
    WAYS[way](recorder, options)
    assert recorder.body["options"] == sent


def test_a_server_takes_what_shorthands_come_to(client: ojs.Client) -> None:
    job = client.enqueue("a", [1], retry=5, unique=True, delay="5m", timeout="30s")
    assert (job.max_attempts, job["timeout_ms"], job.state) == (5, 30_000, "scheduled")
    with pytest.raises(ojs.DuplicateJobError):
        client.enqueue("a", [1], unique=True)
    assert client.enqueue("a", [1], delay=0).state == "available"


def test_jobs_are_listed_by_page_and_filter(client: ojs.Client, url: str) -> None:
    client.enqueue_batch([("list.a", [n]) for n in range(5)])
    client.enqueue("list.b", queue="other", priority=9, delay=600)
    first = client.list_jobs(job_type="list.*", per_page=4, sort="created_at", order="asc")
    assert ([job.args for job in first], first.total, first.page, first.has_more, len(first)) == ([[0], [1], [2], [3]], 6, 1, True, 4)
    assert (first[0].args, [job.args for job in first[1:3]]) == ([0], [[1], [2]])
    second = client.list_jobs(job_type="list.*", per_page=4, page=2, sort="created_at", order="asc")
    assert ([job.type for job in second], second.has_more) == (["list.a", "list.b"], False)
    assert [job.type for job in client.list_jobs(queue="other")] == ["list.b"]
    assert [job.type for job in client.list_jobs(state="scheduled")] == ["list.b"]
    assert client.list_jobs(since=timedelta(hours=1)).total == 6 and client.list_jobs(until=3600).total == 0

    async def twin() -> list[str]:
        async with ojs.AsyncClient(url) as twin:
            return [job.type for job in await twin.list_jobs(queue="other", state="scheduled")]

    assert asyncio.run(twin()) == ["list.b"]
    with pytest.raises(ojs.OJSValidationError, match="page and per_page count from 1"):
        client.list_jobs(page=0)
    with pytest.raises(ojs.InvalidRequestError, match="use one of"):
        client.list_jobs(state="waiting")


def test_each_declared_option_is_sent() -> None:
    """An option that the template of options.py does not write would be accepted and never sent."""
    time = datetime(2030, 1, 1, tzinfo=timezone.utc)
    given: dict[str, Any] = {
        "delay_until": time,
        "expires_at": time,
        "unique": True,
        "train": "t",
        "rate_limit": {"key": "k"},
        "tags": ["a"],
        "extra": {"x_own": 1},
    }
    in_envelope = {"id", "meta", "schema"}
    declared = [field for field in fields(JobOptions) if field.init and field.name not in in_envelope]
    for field in declared:
        value = given.get(field.name, "1" if str(field.type).startswith("str") else 1)
        assert JobOptions(**{field.name: value}).options(), field.name
