"""The strict engine: plays one case, every construct understood."""
import concurrent.futures
import json
import threading
import time

from cases import section_steps, step_name
from lint import ABSTRACT, captures_of, is_comment, strip_reference
from matchers import check, check_header, check_status
from paths import lookup
from templates import Scope
from values import MISSING, Mismatch, OJS_JSON, Unsupported, json_equal, show
from wire import TransportError, call


class Failure:
    def __init__(self, step, field, message):
        self.step, self.field, self.message = step, field, message

    def as_dict(self):
        return {"step": self.step, "field": self.field, "message": self.message}

    def __str__(self):
        where = f"{self.step}: " if self.step else ""
        what = f"{self.field}: " if self.field else ""
        return " ".join(f"{where}{what}{self.message}".split())


def abstract_request(step, request):
    """push/get/fetch/ack/... of the protocol-neutral cases -> (method, path, body)."""
    action = step["action"]
    if action == "push":
        body = {k: v for k, v in request.items() if k != "queue"}
        if "queue" in request:
            body["options"] = {**body.get("options", {}), "queue": request["queue"]}
        return "POST", "/ojs/v1/jobs", body
    if action == "fetch":
        return "POST", "/ojs/v1/workers/fetch", request
    job_id = request.get("id", request.get("job_id"))
    if not isinstance(job_id, str):
        raise Unsupported(f"{action} without a job id")
    if action in ("ack", "nack"):
        rest = {k: v for k, v in request.items() if k not in ("id", "job_id")}
        return "POST", f"/ojs/v1/workers/{action}", {"job_id": job_id, **rest}
    return ("GET" if action == "get" else "DELETE"), f"/ojs/v1/jobs/{job_id}", None


def abstract_subject(doc):
    return doc["job"] if isinstance(doc, dict) and isinstance(doc.get("job"), dict) else doc


class Run:
    """One test case against one server."""

    def __init__(self, test, base, opts):
        self.test, self.base, self.opts = test, base, opts
        self.scope = Scope()
        self.failures = []
        self.exchanges = []  # (method, path, request body, Answer) for the clean-up
        self.lock = threading.Lock()

    def execute(self):
        for i, step in enumerate(section_steps(self.test, "setup")):
            found = self.step(step, step_name(step, i))
            if found:
                self.failures.append(Failure(found[0].step, found[0].field, f"setup step failed: {found[0].message}"))
                return
        steps = self.test["steps"]
        try:
            i = 0
            while i < len(steps):
                group = self.parallel_group(steps, i)
                if len(group) == 1:
                    self.failures += self.step(steps[i], step_name(steps[i], i))
                else:
                    with concurrent.futures.ThreadPoolExecutor(len(group)) as pool:
                        futures = [pool.submit(self.step, steps[k], step_name(steps[k], k)) for k in group]
                    for future in futures:
                        self.failures += future.result()
                i += len(group)
        finally:
            for i, step in enumerate(section_steps(self.test, "teardown")):
                self.step(step, step_name(step, i))

    @staticmethod
    def parallel_group(steps, start):
        """Indices of the run of consecutive steps tied together by parallel_with."""
        linked = set()
        for s in steps:
            if s.get("parallel_with"):
                linked |= {s.get("id"), s["parallel_with"]}
        group = [start]
        if steps[start].get("id") in linked:
            while group[-1] + 1 < len(steps) and steps[group[-1] + 1].get("id") in linked:
                group.append(group[-1] + 1)
        return group

    def step(self, step, name):
        if step.get("delay_ms"):
            time.sleep(step["delay_ms"] / 1000)
        kind = step["action"].upper()
        if kind == "WAIT":
            time.sleep((step.get("duration_ms") or step.get("delay_ms") or 0) / 1000)
            return []
        if kind == "ASSERT":
            return self.cross_checks(step, name)
        failures = []
        for n in range(step.get("repeat", 1)):
            label = f"{name} (repetition {n + 1})" if step.get("repeat", 1) > 1 else name
            failures += self.exchange(step, name, label)
        return failures

    def exchange(self, step, name, label):
        abstract = step["action"] in ABSTRACT
        try:
            if abstract:
                method, path, body = abstract_request(step, self.scope.fill(step["request"]))
                payload = None if body is None else json.dumps(body, ensure_ascii=False).encode()
            else:
                method, path = step["action"].upper(), self.scope.text(step["path"])
                if "raw_body" in step:
                    body, payload = None, step["raw_body"].encode()
                elif "body" in step:
                    body = self.scope.fill(step["body"])
                    payload = json.dumps(body, ensure_ascii=False).encode()
                else:
                    body = payload = None
            headers = {k: self.scope.text(v) for k, v in (step.get("headers") or {}).items()}
        except Mismatch as e:
            return [Failure(label, "", f"request not sent: {e}")]
        if payload is not None and not any(k.lower() == "content-type" for k in headers):
            headers["Content-Type"] = OJS_JSON
        try:
            answer = call(self.base, method, path, headers, payload, self.opts.timeout)
        except TransportError as e:
            return [Failure(label, "", f"{method} {path}: {e}")]
        doc = answer.doc
        with self.lock:
            self.exchanges.append((method, path, body, answer))
            self.scope.bodies[name] = doc
        failures = []
        subject = abstract_subject(doc) if abstract else doc
        for var, where in captures_of(step).items():
            found = lookup(where, subject)
            if found is MISSING or found is None:
                failures.append(Failure(label, "capture", f"{where} finds nothing in the answer "
                                                          f"(HTTP {answer.status} {show(doc)})"))
            else:
                with self.lock:
                    self.scope.vars[var] = found
        checks = list(self.checks(step.get("assertions") or {}, step.get("expect") or {}, answer, subject))
        # The most telling mismatch first: status, then the rest, then captures.
        return [Failure(label, f, m) for f, m in checks] + failures

    def checks(self, a, e, answer, subject):
        """Yield (field, message) for every expectation that does not hold."""
        for source in (a, e):
            for key in ("status", "status_in", "status_one_of"):
                if key in source:
                    try:
                        check_status(source[key], answer.status)
                    except Mismatch as x:
                        yield "status", f"{x} {self.excerpt(answer)}"
        for name, m in (a.get("headers") or {}).items():
            try:
                check_header(m, answer.header(name))
            except Mismatch as x:
                yield f"header {name}", str(x)
        if a.get("body") is not None:
            yield from self.body_checks(a["body"], answer)
        for path in a.get("body_absent") or []:
            found = lookup(path, answer.doc)
            if found is not MISSING and found is not None:
                yield path, f"expected no value, got {show(found)}"
        text = answer.raw.decode("utf-8", "replace")
        for part in a.get("body_contains") or []:
            if part not in text:
                yield "body_contains", f"the answer does not contain {part!r}"
        yield from self.timing_checks(a.get("timing_ms") or {}, answer.duration_ms)
        for key, m in e.items():
            if key == "body":
                if subject is MISSING:
                    yield "body", "the answer is not JSON"
                else:
                    yield from self.partial("", m, subject)
            elif key.startswith("body."):
                path = key[len("body."):]
                yield from self.one(path, path, m, answer.doc)

    def body_checks(self, body, answer):
        if "$or" in body:
            if not any([self.alternative(alt, answer) for alt in body["$or"]]):
                yield "$or", f"no alternative matched {self.excerpt(answer)}"
        if "$empty" in body and (not answer.raw.strip()) != body["$empty"]:
            yield "$empty", f"expected $empty {body['$empty']} {self.excerpt(answer)}"
        plain = {p: m for p, m in body.items() if p not in ("$or", "$empty")}
        if plain and answer.doc is MISSING:
            yield "body", f"the answer is not JSON {self.excerpt(answer)}"
            return
        for path, m in plain.items():
            yield from self.one(path, path, m, answer.doc)

    def alternative(self, body, answer):
        return not list(self.body_checks(body, answer))

    def one(self, label, path, m, doc):
        try:
            check(self.scope.fill(m, literal=True), lookup(self.scope.text(path), doc))
        except Mismatch as x:
            yield label, str(x)

    def partial(self, prefix, want, subject):
        for key, m in want.items():
            label = f"{prefix}{key}"
            if isinstance(m, dict) and m and not any(k.startswith("$") for k in m):
                found = lookup(key, subject)
                if not isinstance(found, dict):
                    yield label, f"expected an object, got {show(found)}"
                else:
                    yield from self.partial(label + ".", m, found)
            else:
                yield from self.one(label, key, m, subject)

    def timing_checks(self, t, got):
        if "less_than" in t and got >= t["less_than"]:
            yield "timing_ms", f"expected < {t['less_than']}, took {got}"
        if "greater_than" in t and got <= t["greater_than"]:
            yield "timing_ms", f"expected > {t['greater_than']}, took {got}"
        if "approximate" in t:
            slack = max(t["approximate"] * self.opts.tolerance / 100, 100)
            if abs(got - t["approximate"]) > slack:
                yield "timing_ms", f"expected ~{t['approximate']} (+-{slack:g}), took {got}"

    def cross_checks(self, step, name):
        failures = []
        for key, arg in step["assertions"].items():
            if is_comment(key):
                continue
            try:
                if key == "exclusive_claim":
                    filled = self.scope.fill(arg)
                    fetches = filled["fetches"]
                    if not all(isinstance(f, list) for f in fetches):
                        raise Mismatch(f"a fetch did not answer with an array of jobs: {show(fetches)}")
                    owners = sum(any(isinstance(j, dict) and j.get("id") == filled["job_id"] for j in f)
                                 for f in fetches)
                    empty = sum(not f for f in fetches)
                    if arg.get("exactly_one_has_job") and owners != 1:
                        raise Mismatch(f"{owners} fetches got the job, expected exactly 1")
                    if arg.get("exactly_one_empty") and empty != 1:
                        raise Mismatch(f"{empty} fetches were empty, expected exactly 1")
                else:
                    for left, right in arg.items():
                        x, y = (self.scope.value(strip_reference(s)) for s in (left, right))
                        if not json_equal(x, y):
                            raise Mismatch(f"{left} is not equal to {right}: {show(x)} / {show(y)}")
            except Mismatch as e:
                failures.append(Failure(name, key, str(e)))
        return failures

    @staticmethod
    def excerpt(answer):
        text = " ".join(answer.raw[:200].decode("utf-8", "replace").split())
        return f"(HTTP {answer.status}: {text[:120] or 'empty body'})"
