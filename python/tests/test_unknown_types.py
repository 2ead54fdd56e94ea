"""Jobs whose type has no handler: a dead letter, given back, or never asked for; settings that the core checks."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from support import in_state

import openjobspec as ojs

Make = Callable[..., ojs.Worker]
ONCE = {"max_attempts": 1}


@pytest.mark.parametrize(
    ("settings", "state"),
    [({}, "discarded"), ({"unknown_types": "release"}, "retryable"), ({"only_registered_types": True}, "available")],
    ids=["fail", "release", "only registered"],
)
def test_a_job_of_an_unknown_type(client: ojs.Client, make_worker: Make, settings: dict[str, Any], state: str) -> None:
    worker = make_worker(queues=["shared"], **settings)
    worker.register("own", lambda ctx: None)
    other = client.enqueue("other", queue="shared", retry=ONCE)
    with worker:
        own = client.enqueue("own", queue="shared")
        in_state(client, own.id, "completed")
        in_state(client, other.id, state)


def test_a_job_that_was_given_back_runs_where_its_handler_is(client: ojs.Client, make_worker: Make) -> None:
    first = make_worker(queues=["shared-later"], unknown_types="release")
    first.register("own", lambda ctx: None)
    other = client.enqueue("other", queue="shared-later", retry=ONCE)
    with first:
        in_state(client, other.id, "retryable")
    second = make_worker(queues=["shared-later"])
    second.register("other", lambda ctx: "done")
    with second:
        assert in_state(client, other.id, "completed").result == "done"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_response_bytes": 0}, "max_response_bytes must be at least 1"),
        ({"max_response_bytes": "many"}, "max_response_bytes must be a number of bytes"),
        ({"proxy": "http://proxy"}, "'environment' or 'none'"),
    ],
)
def test_wrong_settings_of_a_connection(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ojs.OJSValidationError, match=message):
        ojs.Client("http://localhost:1", **settings)


def test_wrong_settings_of_a_worker() -> None:
    worker = ojs.Worker("memory:", unknown_types="ignore")  # type: ignore[arg-type]
    worker.register("own", lambda ctx: None)
    with pytest.raises(ojs.OJSValidationError, match="'fail' or 'release'"):
        worker.start()


def test_an_answer_has_a_largest_size(ojs_server: str) -> None:
    with ojs.Client(ojs_server, max_response_bytes=10, proxy="none", max_sends=1) as client:
        with pytest.raises(ojs.OJSConnectionError):
            client.manifest()
