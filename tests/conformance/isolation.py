"""What a case touches on a server, and how that is removed after it."""
import json
import re

from cases import named, resources_of
from values import OJS_JSON
from wire import TransportError, call


def quiet_call(base, method, path, body=None, headers=None):
    payload = None if body is None else json.dumps(body).encode()
    headers = {**({"Content-Type": OJS_JSON} if payload else {}), **(headers or {})}
    try:
        return call(base, method, path, headers, payload, 5.0)
    except TransportError:
        return None


def drain(base, queues, tenants):
    for queue in sorted(queues):
        for headers in [None, *({"X-OJS-Tenant": t} for t in sorted(tenants))]:
            for _ in range(30):
                got = quiet_call(base, "POST", "/ojs/v1/workers/fetch",
                                 {"queues": [queue], "count": 100, "worker_id": "conformance-cleanup"}, headers)
                jobs = got.doc.get("jobs") if got and got.status == 200 and isinstance(got.doc, dict) else None
                ids = [j["id"] for j in jobs if isinstance(j, dict) and isinstance(j.get("id"), str)] \
                    if isinstance(jobs, list) else []
                for job_id in ids:
                    quiet_call(base, "POST", "/ojs/v1/workers/ack", {"job_id": job_id}, headers)
                if not ids:
                    break


def clean_up(run):
    """Undo, through the public API, what a test left on a server we cannot reset."""
    base, jobs, workflows, hooks, paused = run.base, [], [], [], []
    for method, path, _, answer in run.exchanges:
        doc = answer.doc if isinstance(answer.doc, dict) else {}
        found = [doc.get("job"), *(doc.get("jobs") if isinstance(doc.get("jobs"), list) else [])]
        if path.startswith(("/ojs/v1/jobs", "/ojs/v1/workers/fetch")):
            jobs += [j["id"] for j in found if isinstance(j, dict) and isinstance(j.get("id"), str)]
        for kind, into in (("workflow", workflows), ("subscription", hooks)):
            if isinstance(doc.get(kind), dict) and isinstance(doc[kind].get("id"), str):
                into.append(doc[kind]["id"])
        if m := re.fullmatch(r"(/ojs/v1/(?:admin/)?queues/[^/]+)/pause", path):
            paused.append(m[1])
        if m := re.fullmatch(r"/ojs/v1/admin/schemas/[^/]+/\d+", path):
            if method == "PUT":
                quiet_call(base, "DELETE", path)
    resources = resources_of(run.test)
    tenants = named(resources, "tenant")
    for name in sorted(named(resources, "cron")):
        quiet_call(base, "DELETE", f"/ojs/v1/cron/{name}")
    for wid in dict.fromkeys(workflows):
        quiet_call(base, "DELETE", f"/ojs/v1/workflows/{wid}")
    for queue in paused:
        quiet_call(base, "POST", f"{queue}/resume", {})
    for hook in dict.fromkeys(hooks):
        quiet_call(base, "DELETE", f"/ojs/v1/webhooks/subscriptions/{hook}")
    for job_id in dict.fromkeys(jobs):
        for headers in [None, *({"X-OJS-Tenant": t} for t in sorted(tenants))]:
            got = quiet_call(base, "DELETE", f"/ojs/v1/jobs/{job_id}", headers=headers)
            if got and got.status < 300:
                break
    if "dead-letter" in json.dumps(run.test) or "dead_letter" in json.dumps(run.test):
        for job_id in dict.fromkeys(jobs):
            quiet_call(base, "DELETE", f"/ojs/v1/dead-letter/{job_id}")
    drain(base, named(resources, "queue"), tenants)
