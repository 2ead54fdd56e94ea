"""Whether a case uses only what the runner understands: one that does not is an error, never a pass."""
import re

from cases import estimated_seconds, resources_of, section_steps, step_name
from matchers import check_header, check_status, lint_matcher
from paths import parse_path
from templates import Scope, STEP_REF
from values import Mismatch, Unsupported, is_number, show


TEST_KEYS = {"test_id", "level", "category", "name", "description", "spec_ref", "tags",
             "setup", "steps", "teardown", "preconditions"}
STEP_KEYS = {"id", "action", "intent", "path", "headers", "body", "raw_body", "delay_ms",
             "duration_ms", "assertions", "expect", "description", "parallel_with", "repeat",
             "capture", "captures", "store", "request"}
ASSERT_KEYS = {"status", "status_in", "status_one_of", "body", "body_absent", "body_contains",
               "headers", "timing_ms"}
HTTP_METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}
ABSTRACT = {"push", "get", "fetch", "ack", "nack", "cancel"}


def is_comment(key):
    return key.endswith("_comment") or key == "comment"


class LintScope(Scope):
    """Pretends every reference has the value 'x', but knows which ones can exist."""

    def value(self, ref):
        m = STEP_REF.match(ref)
        if m:
            if m[1] not in self.bodies:
                raise Unsupported(f"template {{{{{ref}}}}} names no earlier step")
            if m[2]:
                parse_path(m[2])
            return "x"
        if re.fullmatch(r"\w+", ref):
            if ref not in self.vars:
                raise Unsupported(f"variable {ref!r} is never captured")
            return "x"
        raise Unsupported(f"template {{{{{ref}}}}}")


def lint_body(body, scope):
    if not isinstance(body, dict):
        raise Unsupported(f"body assertion {show(body)}")
    for path, m in body.items():
        if path == "$or":
            if not isinstance(m, list) or not m:
                raise Unsupported(f"$or {show(m)}")
            for alternative in m:
                lint_body(alternative, scope)
        elif path == "$empty":
            if not isinstance(m, bool):
                raise Unsupported(f"$empty {show(m)}")
        else:
            if not (path == "$" or path.startswith(("$.", "$["))):
                raise Unsupported(f"body path {path!r}")
            parse_path(scope.text(path))
            lint_matcher(scope.fill(m, literal=True))


def lint_partial(want, scope):
    for key, m in want.items():
        parse_path(key)
        if isinstance(m, dict) and m and not any(k.startswith("$") for k in m):
            lint_partial(m, scope)
        else:
            lint_matcher(scope.fill(m, literal=True))


def lint_step(step, scope):
    """Raise Unsupported for anything unknown; return how many real expectations it has."""
    lint_fields(step)
    action, a, e = step["action"], step.get("assertions"), step.get("expect")
    kind = action.upper()
    if kind == "WAIT":
        if a or e:
            raise Unsupported("assertions on a WAIT step are never evaluated")
        return 0
    if kind == "ASSERT":
        if not a or e:
            raise Unsupported("ASSERT step without assertions")
        return lint_relations(a, scope)
    if action in ABSTRACT:
        if not isinstance(step.get("request"), dict) or a is not None or "path" in step or "body" in step:
            raise Unsupported(f"abstract step {action!r} without a plain request")
        scope.fill(step["request"])
    elif kind in HTTP_METHODS:
        lint_http(step, scope)
    else:
        raise Unsupported(f"action {action!r}")
    return (0 if a is None else lint_assertions(a, scope)) + (0 if e is None else lint_expect(e, scope))


def lint_fields(step):
    """The fields of a step, and the types of their values."""
    unknown = {k for k in step if k not in STEP_KEYS and not is_comment(k)}
    if unknown:
        raise Unsupported(f"step field(s) {sorted(unknown)}")
    action = step.get("action")
    if not isinstance(action, str):
        raise Unsupported(f"action {action!r}")
    for field in ("delay_ms", "duration_ms", "repeat"):
        if field in step and (not isinstance(step[field], int) or isinstance(step[field], bool) or step[field] < 0):
            raise Unsupported(f"{field} {step[field]!r}")
    if step.get("repeat", 1) < 1:
        raise Unsupported("repeat 0")
    a, e = step.get("assertions"), step.get("expect")
    if not isinstance(a, (dict, type(None))) or not isinstance(e, (dict, type(None))):
        raise Unsupported("assertions or expect is not an object")


def lint_relations(assertions, scope):
    """The assertions of an ASSERT step, which compare what earlier steps got."""
    count = 0
    for key, arg in assertions.items():
        if is_comment(key):
            continue
        if key == "exclusive_claim":
            if not isinstance(arg, dict) or set(arg) - {"job_id", "fetches", "exactly_one_has_job", "exactly_one_empty"} \
                    or not isinstance(arg.get("fetches"), list) or not isinstance(arg.get("job_id"), str) \
                    or not (arg.get("exactly_one_has_job") is True or arg.get("exactly_one_empty") is True):
                raise Unsupported(f"exclusive_claim {show(arg)}")
            scope.fill(arg)
        elif key == "equality":
            if not isinstance(arg, dict) or not arg:
                raise Unsupported(f"equality {show(arg)}")
            for left, right in arg.items():
                for side in (left, right):
                    scope.value(strip_reference(side))
        else:
            raise Unsupported(f"ASSERT {key!r}")
        count += 1
    return count


def lint_http(step, scope):
    """The request of an HTTP step."""
    if "request" in step or "store" in step:
        raise Unsupported(f"request/store on an HTTP step {step['action']!r}")
    if not isinstance(step.get("path"), str) or not step["path"].startswith("/"):
        raise Unsupported(f"path {step.get('path')!r}")
    scope.text(step["path"])
    scope.fill(step.get("body"))
    if "raw_body" in step and ("body" in step or not isinstance(step["raw_body"], str)):
        raise Unsupported("raw_body")
    if not all(isinstance(v, str) for v in (step.get("headers") or {}).values()):
        raise Unsupported("headers")


def lint_assertions(assertions, scope):
    """What is asserted of an answer; returns how many expectations that is."""
    unknown = {k for k in assertions if k not in ASSERT_KEYS and not is_comment(k)}
    if unknown:
        raise Unsupported(f"assertion(s) {sorted(unknown)}")
    count = 0
    for key in ("status", "status_in", "status_one_of"):
        if key in assertions:
            holds_status(assertions[key])
            count += 1
    if assertions.get("body") is not None:
        lint_body(assertions["body"], scope)
        count += len(assertions["body"])
    for path in assertions.get("body_absent") or []:
        parse_path(path)
        count += 1
    for text in assertions.get("body_contains") or []:
        if not isinstance(text, str):
            raise Unsupported("body_contains")
        count += 1
    for m in (assertions.get("headers") or {}).values():
        for values in ([], ["x"]):
            try:
                check_header(m, values)
            except Mismatch:
                pass
        count += 1
    t = assertions.get("timing_ms")
    if t is not None:
        if not isinstance(t, dict) or not t or set(t) - {"less_than", "greater_than", "approximate"} \
                or not all(is_number(v) for v in t.values()):
            raise Unsupported(f"timing_ms {show(t)}")
        count += 1
    return count


def lint_expect(expect, scope):
    """The same in the other form, whose keys are paths."""
    count = 0
    for key, m in expect.items():
        if is_comment(key):
            continue
        if key in ("status", "status_in", "status_one_of"):
            holds_status(m)
        elif key == "body" and isinstance(m, dict):
            lint_partial(m, scope)
        elif key.startswith("body."):
            parse_path(scope.text(key[len("body."):]))
            lint_matcher(scope.fill(m, literal=True))
        else:
            raise Unsupported(f"expect {key!r}")
        count += 1
    return count


def holds_status(m):
    try:
        check_status(m, 0)
    except Mismatch:
        pass


def strip_reference(side):
    """'{{steps.a.response.body}}' or '$.steps.a.response.body' -> 'steps.a.response.body'."""
    if isinstance(side, str):
        whole = re.fullmatch(r"\{\{([^{}]*)\}\}", side)
        ref = whole[1].strip() if whole else side[2:] if side.startswith("$.") else side
        if STEP_REF.match(ref):
            return ref
    raise Unsupported(f"equality operand {side!r}")


def captures_of(step):
    out = {}
    for field in ("capture", "captures", "store"):
        found = step.get(field) or {}
        if not isinstance(found, dict) or not all(isinstance(p, str) for p in found.values()):
            raise Unsupported(f"{field} {show(found)}")
        out.update(found)
    for path in out.values():
        parse_path(path)
    return out


def lint_test(test):
    unknown = {k for k in test if k not in TEST_KEYS and not is_comment(k)}
    if unknown:
        raise Unsupported(f"test field(s) {sorted(unknown)}")
    if not isinstance(test.get("steps"), list) or not test["steps"]:
        raise Unsupported("no steps")
    scope = LintScope()
    count = 0
    for section in ("setup", "steps", "teardown"):
        for i, step in enumerate(section_steps(test, section)):
            if not isinstance(step, dict):
                raise Unsupported(f"{section} step {show(step)}")
            name = step_name(step, i)
            try:
                n = lint_step(step, scope)
                found = captures_of(step)
            except Unsupported as e:
                raise Unsupported(f"{section} step {name!r}: {e}") from None
            if section == "steps":
                count += n
            scope.bodies[name] = "x"
            scope.vars.update(dict.fromkeys(found, "x"))
    if count == 0:
        raise Unsupported("the test asserts nothing")


def why_not_understood(test, official=False):
    """None, or the reason why a case must not be run."""
    try:
        if "_broken" in test:
            raise Unsupported(test["_broken"])
        if not official:
            lint_test(test)
        resources_of(test)
        estimated_seconds(test)
        return None
    except Unsupported as e:
        return str(e)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as e:
        return f"malformed ({type(e).__name__}: {e})"
