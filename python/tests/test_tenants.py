"""Tenants: clients of one, jobs of one, and what a handler's jobs inherit."""

from __future__ import annotations

import sqlite3
from typing import Any, Callable

import pytest
from support import Recorder

import openjobspec as ojs
from openjobspec import outbox_context
from openjobspec.outbox import Outbox

MakeWorker = Callable[..., ojs.Worker]


def tenant_of(job: ojs.Job) -> Any:
    return job.meta.get("tenant_id")


def test_a_client_of_a_tenant_sees_and_makes_what_belongs_to_it(client: ojs.Client, url: str) -> None:
    with ojs.Client(url, tenant="acme") as acme, ojs.Client(url, tenant="globex") as globex:
        job = acme.enqueue("tenants.mail")
        assert tenant_of(job) == tenant_of(client.get_job(job.id)) == "acme"
        assert acme.get_job(job.id).id == client.of_tenant("acme").get_job(job.id).id == job.id
        for stranger in (globex, client.of_tenant("globex")):
            with pytest.raises(ojs.JobNotFoundError):
                stranger.get_job(job.id)
        assert tenant_of(client.of_tenant("globex").enqueue("tenants.mail")) == "globex"
        assert tenant_of(client.enqueue("tenants.mail")) is None
        with pytest.raises(ojs.OJSAPIError):
            acme.enqueue("tenants.mail", tenant="globex")


def test_a_job_names_its_tenant(client: ojs.Client) -> None:
    assert client.enqueue("tenants.mail", tenant="acme", meta={"a": 1}).meta == {"a": 1, "tenant_id": "acme"}
    jobs = client.enqueue_batch([ojs.JobRequest("tenants.mail", tenant="acme"), ojs.JobRequest("tenants.mail")])
    assert [tenant_of(job) for job in jobs] == ["acme", None]
    other = {"tenant_id": "globex"}
    for tenant, meta, message in [("a b", None, "tenant must be letters"), ("acme", other, "say it once")]:
        with pytest.raises(ojs.OJSValidationError, match=message):
            client.enqueue("tenants.mail", tenant=tenant, meta=meta)
    for wrong in ("a b", "_other"):
        with pytest.raises(ojs.OJSValidationError, match="tenant must be letters"):
            client.of_tenant(wrong)
        with pytest.raises(ojs.OJSValidationError, match="tenant must be letters"):
            ojs.Client("memory:", tenant=wrong)


def test_what_a_handler_enqueues_belongs_to_the_tenant_of_its_job(client: ojs.Client, make_worker: MakeWorker) -> None:
    worker = make_worker()
    made: dict[str, Any] = {}

    @worker.register("parent")
    def parent(ctx: ojs.JobContext) -> Any:
        child = ctx.client.enqueue("child", queue="later")
        step = ojs.JobRequest("step", queue="later")
        flow = ctx.client.workflow(ojs.chain(step, step))
        made[str(ctx.tenant)] = (child.id, flow.id)
        return ctx.tenant

    @worker.register("parent.async")
    async def parent_async(ctx: ojs.JobContext) -> Any:
        return (await ctx.async_client.enqueue("child", queue="later")).meta.get("tenant_id")

    with worker:
        jobs = [client.enqueue("parent", tenant="acme"), client.enqueue("parent")]
        jobs.append(client.enqueue("parent.async", tenant="acme"))
        assert [client.wait_for_result(job.id, timeout=30).result for job in jobs] == ["acme", None, "acme"]
    assert tenant_of(client.get_job(made["acme"][0])) == "acme"
    assert tenant_of(client.get_job(made["None"][0])) is None
    assert client.of_tenant("acme").get_workflow(made["acme"][1]).id == made["acme"][1]
    with pytest.raises(ojs.OJSAPIError):
        client.of_tenant("acme").get_workflow(made["None"][1])


def test_a_row_of_an_outbox_names_the_tenant() -> None:
    app = sqlite3.connect(":memory:")
    with ojs.Client("memory:", tenant="acme") as acme, ojs.Client("memory:") as plain:
        Outbox(acme, database="sqlite").migrate(app)
        Outbox(acme, database="sqlite").add(app, "tenants.mail")
        outbox = Outbox(plain, database="sqlite")
        outbox.add(app, "tenants.mail", tenant="globex")
        Outbox(plain.of_tenant("initech"), database="sqlite").add(app, "tenants.mail")
        with outbox_context.bound({"tenant_id": "hooli", "ojs.context.user_id": "7"}):
            outbox.add(app, "tenants.mail")
            outbox.add(app, "tenants.mail", tenant="acme")
        metas = [row["options"]["meta"] for row in outbox.waiting(app)]
    assert [meta["tenant_id"] for meta in metas] == ["acme", "globex", "initech", "hooli", "acme"]
    assert [meta.get("ojs.context.user_id") for meta in metas] == [None, None, None, "7", "7"]
    app.close()


def test_a_transport_of_the_programs_own_gets_tenants_and_the_options_of_types() -> None:
    recorder = Recorder()
    ojs.Worker("memory:").register("tenants.custom", lambda ctx: None, queue="slow", retry=5)
    with ojs.Client(transport=recorder, tenant="acme") as client:
        client.enqueue("tenants.custom")
        assert recorder.body["meta"] == {"tenant_id": "acme"}
        options = recorder.body["options"]
        assert (options["queue"], options["retry"]["max_attempts"]) == ("slow", 5)
        client.of_tenant("globex").enqueue("tenants.custom", priority=3)
        assert (recorder.body["meta"], recorder.body["options"]["priority"]) == ({"tenant_id": "globex"}, 3)
        client.enqueue_batch([("tenants.custom", []), ("other", [])])
        assert [job.get("options", {}).get("queue") for job in recorder.body["jobs"]] == ["slow", None]
        client.workflow(ojs.chain("tenants.custom", "other"))
        assert recorder.body["steps"][0]["options"]["queue"] == "slow"


def test_a_fake_knows_tenants() -> None:
    with ojs.testing.fake_mode() as fake, ojs.Client("memory:", tenant="acme") as client:
        worker = ojs.Worker(client)
        worker.register("tenants.parent", lambda ctx: ctx.client.enqueue("tenants.child", queue="later").id)
        client.enqueue("tenants.parent")
        assert fake.drain(worker) == 1
        fake.assert_enqueued("tenants.child", meta={"tenant_id": "acme"})


def test_operators_direct_tenants(client: ojs.Client) -> None:
    client.put_tenant("acme", name="Acme Ltd.", limits={"max_concurrency": 10})
    assert [tenant["id"] for tenant in client.list_tenants(per_page=10)] == ["acme"]
    assert client.set_tenant_limits("acme", max_queue_depth=2)["limits"]["max_queue_depth"] == 2
    acme = client.of_tenant("acme")
    kept = [acme.enqueue("tenants.mail") for _ in range(2)]
    with pytest.raises(ojs.OJSAPIError) as refused:
        acme.enqueue("tenants.mail")
    assert (refused.value.status, refused.value.details["limit"]) == (429, "max_queue_depth")
    assert sorted(job.id for job in client.tenant_jobs("acme", state="available")) == sorted(job.id for job in kept)
    assert client.tenant_stats("acme")["total_jobs"] == 2
    assert client.suspend_tenant("acme")["status"] == "suspended"
    with pytest.raises(ojs.OJSAPIError):
        acme.enqueue("tenants.mail")
    assert client.resume_tenant("acme")["status"] == client.get_tenant("acme")["status"] == "active"
    for job in kept:
        acme.cancel_job(job.id)
    client.delete_tenant("acme")
    with pytest.raises(ojs.OJSAPIError):
        client.get_tenant("acme")
    with pytest.raises(ojs.OJSAPIError) as denied:
        acme.list_tenants()
    assert denied.value.status == 403
