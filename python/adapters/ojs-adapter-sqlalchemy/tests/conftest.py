"""A database and a server per test."""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Iterator
from urllib.parse import urlsplit, urlunsplit

import pytest
from sqlalchemy import text
from sqlalchemy.engine import Engine, create_engine, make_url

import openjobspec
from drivers import POSTGRES
from ojs_adapter_sqlalchemy import OjsOutbox, sqlite_savepoints
from openjobspec import _operations as ops

_number = iter(range(10**6))


@pytest.fixture(params=["sqlite", "postgresql", "mysql"])
def database(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[str]:
    """The URL of an empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/app.db"
        return
    if request.param == "mysql":
        yield from mysql_database()
        return
    server = os.environ.get("OJS_TEST_POSTGRES")
    if not server:
        pytest.fail("OJS_TEST_POSTGRES names no PostgreSQL server: run this under `postgres-fixture --`, as scripts/check.py does")
    url = make_url(urlunsplit(urlsplit(server)._replace(scheme=f"postgresql+{POSTGRES}")))
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    name = f"sa_{os.getpid()}_{next(_number)}"
    with admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield url.set(database=name).render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    admin.dispose()


def mysql_database() -> Iterator[str]:
    """The URL of an empty database on a MariaDB server."""
    server = os.environ.get("OJS_TEST_MYSQL")
    if not server:
        pytest.fail("OJS_TEST_MYSQL names no MariaDB server: run this under `mariadb-fixture`, as scripts/check.py does")
    url = make_url(urlunsplit(urlsplit(server)._replace(scheme="mysql+pymysql")))
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    name = f"sa_{os.getpid()}_{next(_number)}"
    with admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    yield url.set(database=name).render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name}")
    admin.dispose()


@pytest.fixture
def engine(database: str) -> Iterator[Engine]:
    engine = create_engine(database, connect_args={"timeout": 60} if database.startswith("sqlite") else {}, future=True)
    if engine.name == "sqlite":
        sqlite_savepoints(engine)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL)"))
    yield engine
    engine.dispose()


@pytest.fixture
def ojs(ojs_server: str, database: str, engine: Engine) -> Iterator[OjsOutbox]:
    ojs = OjsOutbox(ojs_server, database, poll_interval=0.05)
    with engine.begin() as connection:
        ojs.create_table(connection)
    yield ojs
    ojs.close(grace=0)


@pytest.fixture
def sent(ojs_server: str) -> Iterator[Callable[..., list[Any]]]:
    """Waits until so many jobs are on the server; returns them in order."""
    client = openjobspec.Client(ojs_server)
    fetch = ops.Call("POST", "/workers/fetch", {"queues": ["default"], "count": 100, "worker_id": "test"}, ops.jobs)

    def jobs(count: int) -> list[Any]:
        found: list[Any] = []
        until = time.monotonic() + 60
        while len(found) < count:
            assert time.monotonic() < until, found
            found += client._run(fetch)
            time.sleep(0.005)
        assert len(found) == count, found
        return found

    yield jobs
    client.close()
