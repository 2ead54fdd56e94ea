"""A small project. OJS_TEST_POSTGRES names a PostgreSQL server, OJS_TEST_MYSQL a MariaDB; without them the databases are SQLite files."""

import os
import tempfile
from importlib.util import find_spec
from urllib.parse import parse_qs, unquote, urlsplit

SECRET_KEY = "tests"
USE_TZ = True
INSTALLED_APPS = [
    "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "ojs_adapter_django", "shop",
]  # fmt: skip
if not find_spec("django.tasks"):  # before Django 6.0
    INSTALLED_APPS.append("django_tasks")
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "ojs_adapter_django.middleware.OjsContextMiddleware",
]
ROOT_URLCONF = "shop.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"


def _databases() -> dict[str, dict[str, object]]:
    url = os.environ.get("OJS_TEST_POSTGRES")
    if url:
        parts = urlsplit(url)
        host = unquote(parts.hostname or "") or parse_qs(parts.query).get("host", [""])[0]
        server = {"ENGINE": "django.db.backends.postgresql", "HOST": host, "PORT": parts.port or "", "USER": unquote(parts.username or ""),
                  "PASSWORD": unquote(parts.password or "")}  # fmt: skip
        names = {"default": f"shop_{os.getpid()}", "other": f"other_{os.getpid()}"}
        return {alias: {**server, "NAME": "postgres", "TEST": {"NAME": name}} for alias, name in names.items()}
    url = os.environ.get("OJS_TEST_MYSQL")
    if url:
        import pymysql

        pymysql.install_as_MySQLdb()
        parts = urlsplit(url)
        server = {"ENGINE": "django.db.backends.mysql", "HOST": parts.hostname, "PORT": parts.port, "USER": parts.username, "PASSWORD": parts.password}
        names = {"default": f"shop_{os.getpid()}", "other": f"other_{os.getpid()}"}
        return {alias: {**server, "NAME": "mysql", "TEST": {"NAME": name}} for alias, name in names.items()}
    directory = tempfile.mkdtemp(prefix="ojs-django-")
    return {
        alias: {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{directory}/{alias}.db", "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE"},
                "TEST": {"NAME": f"{directory}/test_{alias}.db"}}
        for alias in ("default", "other")
    }  # fmt: skip


DATABASES = _databases()
OJS_CONFIG = {"url": "http://127.0.0.1:1", "outbox": {"enabled": True, "table": "ojs_outbox", "poll_interval": 0.02}}
_TASKS = "openjobspec.django.tasks.OJSBackend"
TASKS = {
    "default": {"BACKEND": _TASKS, "QUEUES": ["default", "mail"]},
    "patient": {"BACKEND": _TASKS, "OPTIONS": {"retry": {"max_attempts": 2, "initial_interval": "PT0.01S"}}},
}
