"""The example of the README, letter by letter: over HTTP, with Flask's server and its commands."""

from __future__ import annotations

import json

import pytest
import readme_support


@pytest.fixture
def project(tmp_path, ojs_server):
    yield from readme_support.project(tmp_path, "flask", ojs_server)


def test_the_example_of_the_readme_answers_201_and_its_job_runs(project):
    assert project.write() == ["shop.py", "jobs.py"]
    assert project.run("-m", "flask", "--app", "shop", "ojs-migrate") == "there is a table ojs_outbox\n"
    web = project.start("-m", "flask", "--app", "shop", "run", "--port", "0")
    worker = project.start("-m", "flask", "--app", "shop", "ojs-worker")
    address = web.until(r"Running on (http://[\d.:]+)")[1]
    status, body = readme_support.request(f"{address}/signup", {"email": "ada@example.com"})
    assert (status, json.loads(body)) == (201, {"id": 1}), f"{body}\n{web}"
    worker.until(r"^welcome, ada@example.com$")


def test_without_the_table_a_request_says_how_to_make_it(project):
    project.write()
    code = "import shop; shop.app.testing = True; shop.app.test_client().post('/signup', data={'email': 'a@example.com'})"
    with pytest.raises(AssertionError, match="there is no table ojs_outbox: run 'flask ojs-migrate' once, or 'ojs relay migrate'"):
        project.run("-c", code)
