"""The verdicts of the official Go runner."""
import concurrent.futures
import decimal
import json
import re
import time

from matchers import APPROX, DATETIME, RANGE, UUID, UUID7, compile_regex
from strict import Failure, Run
from values import OJS_JSON, Unsupported, is_number, json_type, show
from wire import TransportError, call

# A model of ojs-conformance v0.4.0 runner/http + lib, kept apart from the strict
# engine on purpose: it must err exactly where the Go runner errs.

GO_TEMPLATE = re.compile(r"\{\{steps\.([^.]+)\.response\.body\.([^}]+)\}\}")


def go_text(v):
    """fmt's %v for decoded JSON."""
    if v is None:
        return "<nil>"
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, (int, float)):
        f = float(v)
        if f and not 1e-4 <= abs(f) < 1e6:
            digits = decimal.Decimal(repr(f)).normalize()
            mantissa, exp = f"{digits:e}".lower().split("e")
            return f"{mantissa}e{exp[0]}{int(exp[1:]):02d}"
        return str(int(f)) if f.is_integer() else repr(f)
    if isinstance(v, list):
        return "[" + " ".join(map(go_text, v)) + "]"
    if isinstance(v, dict):
        return "map[" + " ".join(f"{k}:{go_text(v[k])}" for k in sorted(v)) + "]"
    return v


def go_split(path):
    parts, current, depth = [], "", 0
    for c in path:
        depth += (c == "[") - (c == "]")
        if c == "." and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += c
    return parts + [current] if current else parts


def go_lookup(path, data):
    """Value (None for null or absent); KeyError where the Go code returns an error."""
    parts = go_split(path.removeprefix("$."))
    node = data
    for i, part in enumerate(parts):
        if not part:
            continue
        if "[" not in part:
            if not isinstance(node, dict):
                raise KeyError(path)
            if part not in node:
                return None
            node = node[part]
            continue
        field, rest = part[:part.index("[")], part[part.index("["):]
        if field:
            if not isinstance(node, dict):
                raise KeyError(path)
            node = node.get(field)
        if rest.startswith("[?(@."):
            end = rest.find(")]")
            if end < 0 or "==" not in rest[5:end]:
                raise KeyError(path)
            key, want = rest[5:end].split("==", 1)
            want, rest = want.strip("'\""), rest[end + 2:]
            if not isinstance(node, list):
                raise KeyError(path)
            node = next((x for x in node if isinstance(x, dict) and key in x and go_text(x[key]) == want), None)
            if rest.startswith(".") and node is not None:
                return go_lookup(rest[1:], node)
            continue
        while rest:
            end = rest.find("]")
            if not rest.startswith("[") or end < 0:
                raise KeyError(path)
            index, rest = rest[1:end], rest[end + 1:]
            if not isinstance(node, list):
                raise KeyError(path)
            if index == "*":
                tail = ".".join(([rest] if rest else []) + parts[i + 1:]).removeprefix(".")
                out = []
                for item in node:
                    if not tail:
                        out.append(item)
                        continue
                    try:
                        v = go_lookup(tail, item)
                    except KeyError:
                        continue
                    if v is not None:
                        out.append(v)
                return out
            if not re.fullmatch(r"[+-]?\d+", index) or not 0 <= int(index) < len(node):
                raise KeyError(path)
            node = node[int(index)]
    return node


def go_json(v):
    """encoding/json of decoded JSON: sorted keys, whole floats without a fraction."""
    if isinstance(v, list):
        return "[" + ",".join(map(go_json, v)) + "]"
    if isinstance(v, dict):
        return "{" + ",".join(f"{go_json(k)}:{go_json(v[k])}" for k in sorted(v)) + "}"
    if isinstance(v, float) and v.is_integer() and abs(v) < 1e21:
        return str(int(v))
    text = json.dumps(v, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def go_int(s):
    return int(s) if re.fullmatch(r"[+-]?\d+", s) else None


def go_match_text(m, v):
    if m == "any":
        return True
    if m == "absent":
        return v is None
    if m == "exists":
        return v is not None
    if m in ("string:nonempty", "string:non_empty"):
        return isinstance(v, str) and v != ""
    for name, regex in (("string:uuid", UUID), ("string:uuidv7", UUID7), ("string:datetime", DATETIME)):
        if m == name:
            return isinstance(v, str) and bool(regex.fullmatch(v))
    if m == "number:positive":
        return is_number(v) and v > 0
    if m == "number:non_negative":
        return is_number(v) and v >= 0
    if m == "array:nonempty":
        return isinstance(v, list) and len(v) > 0
    if m == "array:empty":
        return isinstance(v, list) and len(v) == 0
    for prefix, test in (("array:min_length:", lambda n: len(v) >= n), ("array:min:", lambda n: len(v) >= n),
                         ("array:length:", lambda n: len(v) == n)):
        if m.startswith(prefix):
            n = go_int(m[len(prefix):])
            return n is not None and isinstance(v, list) and test(n)
    if m.startswith("contains:"):
        return isinstance(v, list) and any(go_text(x) == m[9:] for x in v)
    if m.startswith("not_contains:"):
        return isinstance(v, list) and all(go_text(x) != m[13:] for x in v)
    if m.startswith("string:contains:"):
        return isinstance(v, str) and m[16:] in v
    if g := RANGE.fullmatch(m):
        return is_number(v) and float(g[1]) <= v <= float(g[2])
    if g := re.fullmatch(r"array:length\((\d+)\)", m):
        return isinstance(v, list) and len(v) == int(g[1])
    if g := APPROX.fullmatch(m):
        return is_number(v) and abs(v - float(g[1])) <= float(g[1]) * 0.5
    if m.startswith("string:pattern(") and m.endswith(")"):
        return isinstance(v, str) and go_regex(m[15:-1], v)
    return isinstance(v, str) and v == m


def go_regex(pattern, text):
    try:
        return bool(compile_regex(pattern).search(text))
    except Unsupported:
        return False


def go_match(m, v):
    if m is None:
        return v is None
    if isinstance(m, str):
        return go_match_text(m, v)
    if isinstance(m, bool):
        return v is m
    if is_number(m):
        if not is_number(v):
            return False
        return int(m) == int(v) if m == int(m) and v == int(v) else abs(m - v) <= 1e-9
    if isinstance(m, list):
        return isinstance(v, list) and len(v) == len(m) and all(map(go_match, m, v))
    if "$exists" in m:
        want = m["$exists"]
        if want is None:
            want = False
        if not isinstance(want, bool) or (want and v is None) or (not want and v is not None):
            return False
        return not isinstance(m.get("$type"), str) or json_type(v) == m["$type"]
    if "$match" in m:
        return isinstance(m["$match"], str) and isinstance(v, str) and go_regex(m["$match"], v)
    for op in ("$in", "$or"):
        if op == "$or" and "$size" in m:
            continue
        if op in m:
            return isinstance(m[op], list) and any(go_match(x, v) for x in m[op])
    if "$size" in m:
        if not isinstance(v, list):
            return False
        size = m["$size"]
        if isinstance(size, int) and not isinstance(size, bool):
            return len(v) == size
        return isinstance(size, dict) and isinstance(size.get("$gte"), int) and len(v) >= size["$gte"]
    if "$empty" in m:
        return True
    if "range" in m:
        bounds = m["range"]
        if not isinstance(bounds, dict) or not is_number(v):
            return False
        return not (is_number(bounds.get("min")) and v < bounds["min"]) \
            and not (is_number(bounds.get("max")) and v > bounds["max"])
    if not isinstance(v, dict):
        return False
    for key, want in m.items():
        if want == "absent":
            if key in v:
                return False
        elif key not in v or not go_match(want, v[key]):
            return False
    return True


def go_match_status(m, code):
    if m is None:
        return code == 0
    if isinstance(m, int) and not isinstance(m, bool):
        return code == m
    if isinstance(m, str) and m.startswith("one_of:"):
        parts = [go_int(p.strip()) for p in m[7:].split(",")]
        return code in parts and None not in parts[:parts.index(code)]
    if isinstance(m, str):
        return go_match_text(m, code)
    return isinstance(m, dict) and isinstance(m.get("$in"), list) and code in m["$in"]


def go_header_checks(headers, answer):
    for name, m in headers.items():
        got = (answer.header(name) or [""])[0]
        if isinstance(m, dict) and m and all(isinstance(x, str) for x in m.values()):
            if "$match" in m:
                if not go_regex(m["$match"], got):
                    yield f"header {name}", f"expected {show(m)}, got {show(got)}"
                continue
            m = m.get("$eq")
        if isinstance(m, str) and m != got:
            yield f"header {name}", f"expected {show(m)}, got {show(got)}"


class OfficialRun(Run):
    def execute(self):
        self.parsed = {}
        for step in (self.test.get("setup") or {}).get("steps") or []:
            found = self.step(step)
            if found:
                self.failures.append(Failure(found[0].step, found[0].field, f"setup step failed: {found[0].message}"))
                return
        steps = self.test["steps"]
        linked = set()
        for s in steps:
            if s.get("parallel_with"):
                linked |= {s.get("id", ""), s["parallel_with"]}
        done = set()
        for i, s in enumerate(steps):
            name = s.get("id", "")
            if name in done:
                continue  # also skips every unnamed step after the first, as the original does
            group = [s]
            if name in linked:
                group = []
                for t in steps[i:]:
                    tid = t.get("id", "")
                    if tid in linked and (tid == name or t.get("parallel_with")):
                        group.append(t)
                    if group and tid not in linked:
                        break
            if len(group) > 1:
                with concurrent.futures.ThreadPoolExecutor(len(group)) as pool:
                    for found in pool.map(self.step, group):
                        self.failures += found
                done |= {t.get("id", "") for t in group}
            else:
                self.failures += self.step(s)
                done.add(name)
        for step in (self.test.get("teardown") or {}).get("steps") or []:
            self.step(step)

    def go_fill(self, text):
        def one(m):
            body = self.parsed.get(m[1])
            if body is None:
                return m[0]
            try:
                v = go_lookup(m[2], body)
            except KeyError:
                return m[0]
            if v is None:
                return m[0]
            if isinstance(v, str):
                return v
            if is_number(v):
                return str(int(v)) if v == int(v) else go_text(v)
            return go_json(v)
        return GO_TEMPLATE.sub(one, text)

    def go_matcher(self, m):
        raw = json.dumps(m, ensure_ascii=False)
        if "{{steps." not in raw:
            return True, m
        try:
            return True, json.loads(self.go_fill(raw))
        except ValueError:
            return False, None

    def step(self, step, name=None):
        name = step.get("id", "")
        time.sleep(max(step.get("delay_ms") or 0, 0) / 1000)
        action = step.get("action") or "GET"
        if action.upper() == "WAIT":
            wait = step.get("duration_ms") or 0
            time.sleep((wait if wait > 0 else step.get("delay_ms") or 0) / 1000)
            self.parsed[name] = None
            return []
        path = self.go_fill(step.get("path") or "")
        payload = None
        if "body" in step:
            payload = self.go_fill(json.dumps(step["body"], ensure_ascii=False)).encode()
        headers = dict(step.get("headers") or {})
        if payload is not None and not any(k.lower() == "content-type" for k in headers):
            headers["Content-Type"] = OJS_JSON
        try:
            answer = call(self.base, action, path, headers, payload, self.opts.timeout)
        except TransportError as e:
            self.parsed[name] = None
            return [Failure(name, "", f"{action} {path}: {e}")]
        doc = answer.doc if isinstance(answer.doc, dict) else None
        with self.lock:
            self.exchanges.append((action, path, step.get("body"), answer))
            self.parsed[name] = doc
        a = step.get("assertions")
        return [Failure(name, f, m) for f, m in self.go_checks(a, answer, doc)] if a else []

    def go_checks(self, a, answer, doc):
        if "status" in a and not go_match_status(a["status"], answer.status):
            yield "status", f"expected {show(a['status'])}, got {answer.status} {self.excerpt(answer)}"
        if a.get("status_in") and answer.status not in a["status_in"]:
            yield "status", f"expected one of {a['status_in']}, got {answer.status}"
        if a.get("body") is not None:
            yield from self.go_body_checks(a["body"], doc)
        for path in a.get("body_absent") or []:
            try:
                if go_lookup(path, doc if doc is not None else {}) is not None:
                    yield path, "expected no value"
            except KeyError:
                pass
        yield from go_header_checks(a.get("headers") or {}, answer)
        yield from self.timing_checks(a.get("timing_ms") or {}, answer.duration_ms)
        for part in a.get("body_contains") or []:
            if part not in answer.raw.decode("utf-8", "replace"):
                yield "body_contains", f"the answer does not contain {part!r}"

    def go_body_checks(self, body, doc):
        if isinstance(body.get("$or"), list):
            if not any(isinstance(alternative, dict) and self.go_all(alternative, doc) for alternative in body["$or"]):
                yield "$or", "no $or alternative matched"
        if doc is None:
            return
        for path, m in body.items():
            if path.startswith("$") and not path.startswith("$."):
                continue
            ok, m = self.go_matcher(m)
            try:
                v = go_lookup(self.go_fill(path), doc)
            except KeyError:
                if m != "absent":
                    yield path, "failed to resolve the path"
                continue
            if not ok or not go_match(m, v):
                yield path, f"expected {show(m)}, got {show(v)}"

    def go_all(self, alternative, doc):
        for path, m in alternative.items():
            ok, m = self.go_matcher(m)
            try:
                if not ok or not go_match(m, go_lookup(path, doc if doc is not None else {})):
                    return False
            except KeyError:
                return False
        return True
