"""FA-001, FA-002, FA-R001, FA-R003 in FastAPI."""

from __future__ import annotations

import base64
import threading
import time
from typing import Annotated, Any

import pytest
from fastapi import Depends, FastAPI, Form
from fastapi.testclient import TestClient
from ojs_adapter_fastapi import OjsContextMiddleware, get_ojs, ojs_lifespan
from ojs_adapter_sqlalchemy import OjsOutbox
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

import openjobspec
from openjobspec import _operations as ops


@pytest.fixture
def shop(tmp_path, ojs_server):
    path = f"{tmp_path}/app.db"
    ojs = OjsOutbox(ojs_server, f"sqlite:///{path}", poll_interval=0.05)
    plain = create_engine(f"sqlite:///{path}")
    with plain.begin() as connection:
        connection.execute(text("CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL)"))
        ojs.create_table(connection)
    plain.dispose()
    engine = create_async_engine(f"sqlite+aiosqlite:///{path}", connect_args={"timeout": 60})
    app = FastAPI(lifespan=ojs_lifespan(ojs, grace=60))
    app.add_middleware(OjsContextMiddleware, user_id=lambda scope: dict(scope["headers"]).get(b"x-user", b"").decode())

    @app.post("/signup", status_code=201)
    async def signup(email: Annotated[str, Form()], ojs: Annotated[Any, Depends(get_ojs)], fail: Annotated[bool, Form()] = False):
        async with AsyncSession(engine) as session, session.begin():
            id = (await session.execute(text("INSERT INTO users (email) VALUES (:e) RETURNING id"), {"e": email})).scalar_one()
            await ojs.enqueue_after_commit_async(session, "email.welcome", [id])
            if fail:
                raise RuntimeError("the payment was refused")
        return {"id": id}

    app.state.dispose = engine.dispose
    return app


def sent(url, count):
    with openjobspec.Client(url) as client:
        found = []
        until = time.monotonic() + 60
        while len(found) < count:
            assert time.monotonic() < until
            wanted = {"queues": ["default"], "count": 10, "worker_id": "t"}
            found += client._run(ops.Call("POST", "/workers/fetch", wanted, ops.jobs))
        return found


def test_fa_001_fa_002_fa_r001_fa_r003_a_request_commits_or_fails_and_the_end_flushes(shop, ojs_server):
    headers = {"X-User": "7", "X-Request-ID": "r-1", "X-OJS-Tenant": "acme", "Accept-Language": "fr"}
    with TestClient(shop, raise_server_exceptions=False) as browser:
        assert "openjobspec-outbox" in [thread.name for thread in threading.enumerate()]
        assert browser.post("/signup", data={"email": "a@example.com", "fail": "1"}).status_code == 500
        answer = browser.post("/signup", data={"email": "a@example.com"}, headers=headers)
        assert answer.status_code == 201, answer.text
        browser.portal.call(shop.state.dispose)
    # Five seconds are all that the relay waits for its thread.
    for thread in threading.enumerate():
        if thread.name == "openjobspec-outbox":
            thread.join(60)
            assert not thread.is_alive()
    [job] = sent(ojs_server, 1)
    assert (job.type, job.args) == ("email.welcome", [answer.json()["id"]])
    assert job.meta == {
        "ojs.context.user_id": "7", "ojs.context.request_id": "r-1", "tenant_id": "acme", "ojs.context.locale": "fr",
    }  # fmt: skip


def test_fa_003_fa_r002_ei_001_ei_012_ei_013_encrypted_rows_of_an_earlier_process_go_together(tmp_path, ojs_server, monkeypatch):
    monkeypatch.setenv("OJS_ENCRYPTION_KEYS", "k-1:" + base64.b64encode(bytes(range(32))).decode())
    database = f"sqlite:///{tmp_path}/app.db"
    unique = openjobspec.UniquePolicy(keys=["type", "args"], on_conflict="ignore")
    earlier = OjsOutbox(ojs_server, database, relay=False)
    plain = create_engine(database)
    with plain.begin() as connection:
        earlier.create_table(connection)
        for number in ("4111 1111", "4111 1111", "4222 2222"):
            earlier.enqueue_after_commit(connection, "card.charge", [number], unique=unique)
        rows = str(earlier.staged(connection))
        assert "4111 1111" not in rows and "ojs_encoded" in rows
    plain.dispose()
    earlier.close(grace=0)
    with TestClient(FastAPI(lifespan=ojs_lifespan(OjsOutbox(ojs_server, database), grace=60))):
        pass
    assert "4111 1111" not in str([job.args for job in sent(ojs_server, 2)])
