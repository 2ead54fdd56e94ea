"""The examples of the README, letter by letter, against a real server."""

from __future__ import annotations

import openjobspec
import pytest
import readme_support


@pytest.fixture
def project(tmp_path, ojs_server):
    yield from readme_support.project(tmp_path, "sqlalchemy", ojs_server)


def test_the_examples_of_the_readme_commit_and_their_jobs_are_sent(project, ojs_server):
    printed = {name: project.run(name) for name in project.write()}
    assert printed == {"signup.py": "[1]\n", "signup_async.py": "user 1\n", "orders.py": ""}
    with openjobspec.Client(ojs_server) as client:
        jobs = sorted((job.type, job.args) for job in client.list_jobs())
    assert jobs == [("email.welcome", [1]), ("email.welcome", [1]), ("order.confirm_email", [1])]
