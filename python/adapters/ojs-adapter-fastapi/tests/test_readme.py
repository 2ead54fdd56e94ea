"""The example of the README, letter by letter: over HTTP, with uvicorn and a worker of its own."""

from __future__ import annotations

import json

import pytest
import readme_support


@pytest.fixture
def project(tmp_path, ojs_server):
    yield from readme_support.project(tmp_path, "fastapi", ojs_server)


def test_the_example_of_the_readme_answers_201_and_its_job_runs(project):
    assert project.write() == ["shop.py", "jobs.py"]
    web = project.start("-m", "uvicorn", "shop:app", "--port", "0")
    worker = project.start("-m", "openjobspec", "worker", "jobs:worker")
    address = web.until(r"running on (http://[\d.:]+)")[1]
    status, body = readme_support.request(f"{address}/signup?email=ada@example.com")
    assert (status, json.loads(body)) == (201, {"id": 1}), f"{body}\n{web}"
    worker.until(r"^welcome, user 1$")
