"""No password and no token in what is printed: errors, their causes, and the texts of objects."""

from __future__ import annotations

import traceback
from typing import Any, Callable

import pytest

import openjobspec as ojs
from openjobspec.outbox import Relay

#: With what passwords may hold when they are not encoded for a URL.
PASSWORDS = ["hunter2", "hunter2@home", "hunter2/x", "hunter2:y"]


def shown(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error) + repr(getattr(error, "details", None)) + repr(error.__dict__)


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize(
    "fail",
    [
        lambda login: ojs.Client(f"http://{login}@127.0.0.1:1", max_sends=1, connect_timeout=0.2, timeout=0.2).get_job("x"),
        lambda login: ojs.Client(f"postgres://{login}@127.0.0.1:1/shop").get_job("x"),
        lambda login: ojs.Client(f"gopher://{login}@127.0.0.1/shop").get_job("x"),
        lambda login: Relay(ojs.Client("memory:"), f"redis://{login}@127.0.0.1/0"),
        lambda login: ojs.Worker(f"gopher://{login}@127.0.0.1/").register("a", lambda ctx: None).enqueue(),
    ],
    ids=["http", "postgres", "unknown scheme", "relay", "worker"],
)
def test_an_error_holds_no_password(fail: Callable[[str], Any], password: str) -> None:
    with pytest.raises(ojs.OJSError) as caught:
        fail(f"app:{password}")
    text = shown(caught.value)
    # The line of this test that made the URL is quoted in the traceback, and holds no password.
    assert "hunter2" not in text, text


@pytest.mark.parametrize("password", PASSWORDS)
def test_the_texts_of_objects_hold_no_secret(password: str) -> None:
    url = f"http://app:{password}@127.0.0.1:1"
    client = ojs.Client(url, auth_token="hunter2", encryption_keys={"k": b"hunter2".ljust(32)}, headers={"X-Key": "hunter2"})
    worker = ojs.Worker(url, auth_token="hunter2")
    worker.register("a", lambda ctx: None)
    relay = Relay(client, f"postgres://app:{password}@db/shop")
    request = ojs.JobRequest("a", ["hunter2"], meta={"k": "hunter2"})
    for thing in (client, ojs.AsyncClient(url, auth_token="hunter2"), worker, worker.client, relay, request, ojs.Job.from_dict(request.to_dict())):
        assert "hunter2" not in f"{thing!r} {thing!s}"
    assert repr(ojs.Client("http://localhost:8080")) == "Client('http://localhost:8080')"
