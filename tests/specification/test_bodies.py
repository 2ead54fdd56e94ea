"""The JSON of "Implement an SDK", posted to a real server letter by letter."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import openjobspec as ojs
import pytest

ENQUEUED = '{"id": "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "type": "email.send", "args": [], "options": {"queue": "critical"}}'

# --- as printed
FETCH = '{ "queues": ["critical", "default", "low"], "count": 5, "worker_id": "worker_abc123", "visibility_timeout_ms": 30000}'
ACK = '{ "job_id": "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "result": { "delivered": true }}'
NACK = """{ "job_id": "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "error": { "code": "handler_error", "message": "Connection refused to smtp.example.com:587", \
"retryable": true, "details": { "stack": "..." } }}"""
HEARTBEAT = '{ "worker_id": "worker_abc123", "state": "running", "active_jobs": 3, "active_job_ids": ["job-1", "job-2", "job-3"]}'
# ---


def post(url: str, path: str, body: str) -> tuple[int, Any]:
    request = urllib.request.Request(f"{url}/ojs/v1{path}", body.encode(), {"Content-Type": "application/openjobspec+json"}, method="POST")
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


@pytest.fixture
def fetched(ojs_server):
    """A server whose job the worker of the guide holds."""
    assert post(ojs_server, "/jobs", ENQUEUED)[0] == 201
    status, answer = post(ojs_server, "/workers/fetch", FETCH)
    assert status == 200
    assert [job["id"] for job in answer["jobs"]] == ["019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"]
    return ojs_server


def test_ack_as_printed(fetched):
    assert post(fetched, "/workers/ack", ACK)[0] == 200
    with ojs.Client(fetched) as client:
        job = client.get_job("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    assert (job.state, job.result) == ("completed", {"delivered": True})


def test_nack_as_printed(fetched):
    assert post(fetched, "/workers/nack", NACK)[0] == 200
    with ojs.Client(fetched) as client:
        job = client.get_job("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    assert job.state == "retryable"
    assert job.error["message"] == "Connection refused to smtp.example.com:587"


def test_heartbeat_as_printed(ojs_server):
    status, answer = post(ojs_server, "/workers/heartbeat", HEARTBEAT)
    assert (status, answer["state"]) == (200, "running")
    assert answer["server_time"].endswith("Z")


@pytest.mark.parametrize("code, status", [("invalid_payload", 400), ("not_found", 404), ("duplicate", 409)])
def test_the_table_of_errors(fetched, code, status):
    path, body = {
        "invalid_payload": ("/jobs", "{"),
        "not_found": ("/workers/ack", ACK.replace("9e0f", "9e10")),
        "duplicate": ("/jobs", ENQUEUED),
    }[code]
    answer = post(fetched, path, body)
    assert (answer[0], answer[1]["error"]["code"], answer[1]["error"]["retryable"]) == (status, code, False)


def test_an_invalid_transition_in_the_table_of_errors(fetched):
    assert post(fetched, "/workers/ack", ACK)[0] == 200
    status, answer = post(fetched, "/workers/ack", ACK)
    error = answer["error"]
    assert status == 409 and "invalid_state_transition" in (error["code"], error.get("details", {}).get("reason"))
