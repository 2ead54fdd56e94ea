"""The examples of the README, letter by letter: a project of `django-admin startproject`, over HTTP."""

from __future__ import annotations

import json

import pytest
import readme_support

#: `runserver` does not say which port it took.
SERVE = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "shop.settings"
import django
django.setup()
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler, get_internal_wsgi_application
server = ThreadedWSGIServer(("127.0.0.1", 0), WSGIRequestHandler)
server.set_app(get_internal_wsgi_application())
print(f"serving at http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
"""


@pytest.fixture
def project(tmp_path, ojs_server):
    for made in readme_support.project(tmp_path, "django", ojs_server):
        made.run("-m", "django", "startproject", "shop", ".")
        made.write()
        yield made


def test_the_examples_of_the_readme_answer_201_and_their_jobs_run(project):
    assert "ojs.W002" in checked(project), "a project whose outbox is missing is told so"
    project.run("manage.py", "migrate", "--verbosity", "0")
    assert checked(project) == "System check identified no issues (0 silenced).\n"
    web = project.start("-c", SERVE)
    worker = project.start("manage.py", "ojs_worker")
    address = web.until(r"serving at (\S+)")[1]
    status, body = readme_support.request(f"{address}/signup", {"email": "ada@example.com"})
    assert (status, json.loads(body)) == (201, {"id": 1}), f"{body}\n{web}"
    worker.until(r"^welcome, ada@example.com$")
    status, body = readme_support.request(f"{address}/register", {"email": "bob@example.com"})
    assert status == 201, f"{body}\n{web}"
    worker.until(r"^hello, user 2$")


def test_without_the_table_a_request_says_how_to_make_it(project):
    project.run("manage.py", "migrate", "auth", "--verbosity", "0")
    code = f"{SERVE.partition('from django.core')[0]}\nfrom django.test import Client; Client().post('/signup', {{'email': 'a@example.com'}}, HTTP_HOST='localhost')"
    with pytest.raises(AssertionError, match="there is no table ojs_outbox: run 'manage.py migrate ojs' once, or 'ojs relay migrate'"):
        project.run("-c", code)


def checked(project):
    done = project.run("-c", "import subprocess, sys; r = subprocess.run([sys.executable, 'manage.py', 'check'], capture_output=True, text=True); print(r.stderr + r.stdout, end='')")
    return done
