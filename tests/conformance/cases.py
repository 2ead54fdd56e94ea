"""A case as a document: its steps, and the names on a server that it touches."""
import fnmatch
import json
import re

from values import Unsupported, show


def section_steps(test, section):
    if section == "steps":
        return test["steps"]
    found = test.get(section)
    if found is None:
        return []
    if not isinstance(found, dict) or set(found) - {"steps"}:
        raise Unsupported(f"{section} {show(found)}")
    return found.get("steps") or []


def step_name(step, i):
    return step.get("id") or f"#{i + 1}"


def resources_of(test):
    """Names on the server that a test touches; tests sharing one never run at once."""
    out = set()

    def job(spec):
        if isinstance(spec, dict) and "type" in spec:
            options = spec.get("options") if isinstance(spec.get("options"), dict) else {}
            out.add(f"queue:{options.get('queue') or spec.get('queue') or 'default'}")
            if "unique" in options:
                out.add(f"type:{spec['type']}")
            if isinstance(spec.get("id"), str):
                out.add(f"id:{spec['id']}")
            if isinstance(options.get("rate_limit"), dict):
                out.add(f"rate:{options['rate_limit'].get('key')}")

    for section in ("setup", "steps", "teardown"):
        for step in section_steps(test, section):
            path = step.get("path") or ""
            for b in (step.get("body"), step.get("request")):
                if not isinstance(b, dict):
                    continue
                for queue in b.get("queues") or []:
                    out.add(f"queue:{queue}")
                if path in ("", "/ojs/v1/jobs"):
                    job(b)
                callbacks = b.get("callbacks") if isinstance(b.get("callbacks"), dict) else {}
                for spec in [*(b.get("jobs") or []), *(b.get("steps") or []), *callbacks.values(),
                             b.get("job_template")]:
                    job(spec)
                if path == "/ojs/v1/cron" and b.get("name"):
                    out.add(f"cron:{b['name']}")
                if path.endswith("/workers/beat"):
                    out.add(f"worker:{b.get('worker_id')}")
            for kind, pattern in (("queue", r"/queues/([^/?]+)"), ("schema", r"/schemas/([^/?]+)"),
                                  ("cron", r"/cron/([^/?]+)"), ("pool", r"/pools/([^/?]+)")):
                if m := re.search(pattern, path):
                    out.add(f"{kind}:{m[1]}")
            tenant = {k.lower(): v for k, v in (step.get("headers") or {}).items()}.get("x-ojs-tenant")
            if tenant:
                out.add(f"tenant:{tenant}")
    return out


def estimated_seconds(test):
    return 0.05 + sum((s.get("delay_ms") or 0) + (s.get("duration_ms") or 0)
                      for s in test["steps"] if isinstance(s, dict)) / 1000


def named(resources, kind):
    return {r.split(":", 1)[1] for r in resources if r.startswith(kind + ":")}


def load_suites(root):
    tests = {}
    for file in sorted(root.rglob("*.json")):
        rel = file.relative_to(root).as_posix()
        try:
            test = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(test, dict):
                raise ValueError("not a test object")
        except (ValueError, OSError) as e:
            test = {"test_id": "?", "steps": [], "_broken": f"cannot read: {e}"}
        tests[rel] = test
    return tests


def selected(rel, test, opts, listed):
    if listed is not None and rel not in listed:
        return False
    return not opts.only or any(
        fnmatch.fnmatchcase(rel, g) or fnmatch.fnmatchcase(str(test.get("test_id")), g)
        or fnmatch.fnmatchcase(rel, g.rstrip("/") + "/*") for g in opts.only)


def waves_of(names, tests):
    """Batches of tests with disjoint resources, slow ones first."""
    waves = []
    for rel in sorted(names, key=lambda r: (-estimated_seconds(tests[r]), r)):
        need = resources_of(tests[rel])
        for members, used in waves:
            if not need & used:
                members.append(rel)
                used |= need
                break
        else:
            waves.append(([rel], set(need)))
    return [members for members, _ in waves]
