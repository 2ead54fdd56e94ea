"""Functions in AWS's own runtimes, under AWS's own emulator of the Lambda service."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "python" / "tests")]

from emulator import Emulator  # noqa: E402
from ojs_server import OjsServer  # noqa: E402
from serverless_support import failures, fetch, job, pushed, sqs_event  # noqa: E402

import openjobspec as ojs  # noqa: E402

PYTHON = """
import time

from openjobspec import serverless

handler = serverless.LambdaHandler()

@handler.register("email.send")
def send_email(ctx, to):
    if to == "wait":
        time.sleep(60)
    if to == "bob":
        raise ValueError("no mail today")
"""


def python(folder: Path) -> list[str]:
    (folder / "app.py").write_text(PYTHON)
    return [sys.executable, "-m", "awslambdaric", "app.handler"]


def go(folder: Path) -> list[str]:
    """The function of the Go tests, built as functions are: without cgo."""
    function = folder / "bootstrap"
    build = ["go", "build", "-o", str(function), "./function"]
    subprocess.run(build, cwd=ROOT / "go/serverless/tests", env={**os.environ, "CGO_ENABLED": "0"}, check=True)
    return [str(function)]


def rust(folder: Path) -> list[str]:
    """The example, which the Rust tests build."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return [str(target / "release/examples/lambda_function")]


RUNTIMES = {"python": python, "go": go, "rust": rust}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[OjsServer]:
    server = OjsServer(tmp_path / "jobs.db")
    yield server
    server.kill()


@pytest.fixture
def client(server: OjsServer) -> Iterator[ojs.Client]:
    with ojs.Client(server.url) as client:
        yield client


def leased(client: ojs.Client, *recipients: str) -> list[dict[str, Any]]:
    """Jobs, claimed as the sender of push deliveries claims them."""
    for to in recipients:
        client.enqueue("email.send", [to], retry={"initial_interval": "PT1H"})
    return sorted(fetch(client, len(recipients)), key=lambda job: recipients.index(job["args"][0]))


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_function_settles_its_jobs_at_the_server(
    runtime: str, client: ojs.Client, server: OjsServer, tmp_path: Path
) -> None:
    # The handler of the Rust example fails for another name.
    failing = "fail" if runtime == "rust" else "bob"
    jobs = leased(client, "ada", failing)
    function = Emulator(tmp_path, RUNTIMES[runtime](tmp_path), OJS_URL=server.url, OJS_SIGNING_SECRET="whsec_1")
    try:
        assert failures(function.invoke(sqs_event(*jobs, "no job"))) == ["m3"]
        assert [client.get_job(one["id"]).state for one in jobs] == ["completed", "retryable"]
        forged = {"httpMethod": "POST", "headers": {}, "body": pushed(job("email.send", "ada")).decode()}
        assert function.invoke(forged)["statusCode"] == 401
        refused = function.invoke({"source": "app", "detail": {}})
        assert "errorMessage" in refused, refused
    finally:
        function.close()


def test_a_job_is_given_up_before_the_emulator_ends_the_function(
    client: ojs.Client, server: OjsServer, tmp_path: Path
) -> None:
    (slow,) = leased(client, "wait")
    function = Emulator(tmp_path, python(tmp_path), timeout=6, OJS_URL=server.url)
    try:
        assert failures(function.invoke(sqs_event(slow))) == []
    finally:
        function.close()
    found = client.get_job(slow["id"])
    assert (found.state, found.error["code"]) == ("retryable", "timeout")
