"""FA-001, FA-002, FA-R001, FA-R003 in Flask."""

from __future__ import annotations

import base64
import time

import pytest
from flask import Flask, jsonify, request
from ojs_adapter_flask import Ojs
from sqlalchemy import create_engine, text
from sqlalchemy.orm import scoped_session, sessionmaker

import openjobspec
from openjobspec import _operations as ops


@pytest.fixture
def shop(tmp_path, ojs_server):
    database = f"sqlite:///{tmp_path}/app.db"
    engine = create_engine(database, connect_args={"timeout": 60})
    session = scoped_session(sessionmaker(engine))
    app = Flask("shop")
    app.config.update(OJS_URL=ojs_server, OJS_DATABASE=database, OJS_OUTBOX={"poll_interval": 0.05})
    ojs = Ojs(app, session=session, user_id=lambda: request.headers.get("X-User"))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL)"))
        app.extensions["ojs"].create_table(connection)

    @app.teardown_appcontext
    def remove(_error):
        session.remove()

    @app.post("/signup")
    def signup():
        with session.begin():
            id = session.execute(text("INSERT INTO users (email) VALUES (:e) RETURNING id"), {"e": request.form["email"]}).scalar_one()
            ojs.enqueue_after_commit("email.welcome", [id])
            if request.form.get("fail"):
                raise RuntimeError("the payment was refused")
        return jsonify(id=id), 201

    yield app
    ojs.close(app, grace=0)
    engine.dispose()


def sent(url, count):
    with openjobspec.Client(url) as client:
        found = []
        until = time.monotonic() + 60
        while len(found) < count:
            assert time.monotonic() < until
            wanted = {"queues": ["default"], "count": 10, "worker_id": "t"}
            found += client._run(ops.Call("POST", "/workers/fetch", wanted, ops.jobs))
        return found


def test_the_configuration_of_section_5_2_as_printed(tmp_path):
    app = Flask("printed")
    app.config["OJS_DATABASE"] = f"sqlite:///{tmp_path}/app.db"
    # --- as printed, in TOML's or JSON's place
    app.config["OJS_CONFIG"] = {
        "adapter": {
            "ojs_url": "http://localhost:8080",
            "backend_type": "external",
            "outbox": {
                "enabled": True,
                "table_name": "ojs_outbox",
                "poll_interval": "PT1S",
                "batch_size": 100
            }
        }
    }  # fmt: skip
    # ---
    outbox = Ojs(app)
    with app.app_context():
        assert outbox.outbox.table == "ojs_outbox"
        assert outbox.outbox.relay is not None
    assert app.config["OJS_URL"] == "http://localhost:8080"
    outbox.close(app, grace=0)
    app.config["OJS_CONFIG"]["adapter"]["outbox"]["poll"] = 1
    with pytest.raises(openjobspec.OJSValidationError, match="unknown setting 'poll'"):
        Ojs(app)


def test_fa_001_fa_002_fa_r001_a_request_commits_or_fails(shop, ojs_server):
    browser = shop.test_client()
    assert browser.post("/signup", data={"email": "a@example.com", "fail": "1"}).status_code == 500
    headers = {"X-User": "7", "X-Request-ID": "r-1", "X-OJS-Tenant": "acme", "Accept-Language": "fr"}
    assert browser.post("/signup", data={"email": "a@example.com"}, headers=headers).status_code == 201
    [job] = sent(ojs_server, 1)
    assert (job.type, job.args) == ("email.welcome", [1])
    assert job.meta == {
        "ojs.context.user_id": "7", "ojs.context.request_id": "r-1", "tenant_id": "acme", "ojs.context.locale": "fr",
    }  # fmt: skip


def test_fa_r003_lifecycle_and_commands(shop, ojs_server):
    assert not shop.extensions["ojs"].relay.running
    shop.test_client().get("/nothing")
    assert shop.extensions["ojs"].relay.running
    runner = shop.test_cli_runner()
    assert runner.invoke(args=["ojs-relay", "--once"]).output == "relaying\n"
    assert "name the worker" in runner.invoke(args=["ojs-worker"]).output
    assert "cannot load nowhere" in runner.invoke(args=["ojs-worker", "nowhere:worker"]).output


def test_fa_003_fa_r002_ei_001_ei_012_ei_013_encrypted_rows_wait_for_the_relay_and_go_together(tmp_path, ojs_server, monkeypatch):
    monkeypatch.setenv("OJS_ENCRYPTION_KEYS", "k-1:" + base64.b64encode(bytes(range(32))).decode())
    app = Flask("secretive")
    app.config.update(OJS_URL=ojs_server, OJS_DATABASE=f"sqlite:///{tmp_path}/app.db", OJS_OUTBOX={"relay": False})
    unique = openjobspec.UniquePolicy(keys=["type", "args"], on_conflict="ignore")
    ojs = Ojs(app)
    outbox = app.extensions["ojs"]
    engine = create_engine(app.config["OJS_DATABASE"])
    with engine.begin() as connection:
        outbox.create_table(connection)
    with engine.connect() as connection, app.app_context():
        for number in ("4111 1111", "4111 1111", "4222 2222"):
            ojs.enqueue_after_commit("card.charge", [number], transaction=connection, unique=unique)
        rows = str(outbox.staged(connection))
        assert "4111 1111" not in rows and "ojs_encoded" in rows
        connection.commit()
    outbox.relay.start()
    ojs.close(app, grace=60)
    assert "4111 1111" not in str([job.args for job in sent(ojs_server, 2)])
    engine.dispose()


def test_what_is_missing_is_said(shop):
    with pytest.raises(openjobspec.OJSError, match="OJS_DATABASE"):
        Ojs(Flask("empty"))
    with shop.app_context(), pytest.raises(openjobspec.OJSError, match="which transaction"):
        Ojs().enqueue_after_commit("a")
