"""Matchers: what a case says about a value, a status or a header."""
import re

from paths import as_text
from values import Literal, MISSING, Mismatch, Unsupported, is_number, json_equal, json_type, show

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
DATETIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})")
RANGE = re.compile(r"number:range\((-?\d+(?:\.\d+)?),\s*(-?\d+(?:\.\d+)?)\)")
_LENGTH = re.compile(r"array:(length|min_length|min)(?::(\d+)|\((\d+)\))")
APPROX = re.compile(r"~(\d+(?:\.\d+)?)")
# A string in one of these name spaces is meant as a matcher; if it is none that
# we know, comparing it as a literal would be guessing.
_MATCHER_LIKE = re.compile(
    r"(?:string|number|array|object|bool|boolean|int|integer|float|datetime|date|uuid|"
    r"regex|pattern|match|matches|contains|not_contains|one_of|range|type|length|min|max|"
    r"gt|gte|lt|lte|not|exists|absent|any)[:(]|~"
)
OPERATORS = {"$exists", "$type", "$match", "$in", "$size", "$or", "$empty",
             "$eq", "$ne", "$gt", "$gte", "$lt", "$lte"}
JSON_TYPES = {"string", "number", "boolean", "null", "array", "object"}


def compile_regex(pattern):
    """Go regexps anchor $ at the very end of the text; Python's $ allows a newline."""
    if not isinstance(pattern, str):
        raise Unsupported(f"regex {pattern!r}")
    if pattern.endswith("$") and not pattern.endswith("\\$"):
        pattern = pattern[:-1] + r"\Z"
    try:
        return re.compile(pattern)
    except re.error as e:
        raise Unsupported(f"regex {pattern!r}: {e}") from None


def _need(kind, v, what):
    ok = is_number(v) if kind == "number" else isinstance(v, {"string": str, "array": list}[kind])
    if not ok:
        raise Mismatch(f"expected {what}, got {show(v)}")


def _check_array(m, v):
    _need("array", v, m)
    if g := _LENGTH.fullmatch(m):
        want = int(g[2] or g[3])
        if len(v) < want or (len(v) != want and g[1] == "length"):
            raise Mismatch(f"expected {m}, got an array of {len(v)}")
    elif m.startswith(("contains:", "not_contains:")):
        want = m.split(":", 1)[1]
        if any(as_text(item) == want for item in v) != m.startswith("contains:"):
            raise Mismatch(f"expected {m}, got {show(v)}")
    elif bool(v) != (m == "array:nonempty"):
        raise Mismatch(f"expected {m}, got an array of {len(v)}")


def check_text(m, v):
    if isinstance(m, Literal):
        if v != str(m) or not isinstance(v, str):
            raise Mismatch(f"expected {show(str(m))}, got {show(v)}")
    elif m in ("any", "exists"):
        if v is MISSING or v is None:
            raise Mismatch(f"expected a value, got {show(v)}")
    elif m == "absent":
        if v is not MISSING and v is not None:
            raise Mismatch(f"expected no value, got {show(v)}")
    elif m in ("string:nonempty", "string:non_empty"):
        _need("string", v, "a non-empty string")
        if v == "":
            raise Mismatch("expected a non-empty string, got an empty one")
    elif m in ("string:uuid", "string:uuidv7", "string:datetime"):
        _need("string", v, m)
        regex = {"string:uuid": UUID, "string:uuidv7": UUID7, "string:datetime": DATETIME}[m]
        if not regex.fullmatch(v):
            raise Mismatch(f"expected {m}, got {show(v)}")
    elif m.startswith("string:contains:"):
        want = m[len("string:contains:"):]
        _need("string", v, f"a string containing {want!r}")
        if want not in v:
            raise Mismatch(f"expected a string containing {want!r}, got {show(v)}")
    elif m.startswith("string:pattern(") and m.endswith(")"):
        regex = compile_regex(m[len("string:pattern("):-1])
        _need("string", v, m)
        if not regex.search(v):
            raise Mismatch(f"expected {m}, got {show(v)}")
    elif m in ("array:nonempty", "array:empty") or _LENGTH.fullmatch(m) or m.startswith(("contains:", "not_contains:")):
        _check_array(m, v)
    elif m in ("number:positive", "number:non_negative"):
        _need("number", v, m)
        if v < 0 or (v == 0 and m == "number:positive"):
            raise Mismatch(f"expected {m}, got {show(v)}")
    elif g := RANGE.fullmatch(m):
        _need("number", v, m)
        if not float(g[1]) <= v <= float(g[2]):
            raise Mismatch(f"expected {m}, got {show(v)}")
    elif g := APPROX.fullmatch(m):
        want = float(g[1])
        _need("number", v, m)
        if abs(v - want) > want * 0.5:
            raise Mismatch(f"expected {m} (within 50%), got {show(v)}")
    elif _MATCHER_LIKE.match(m):
        raise Unsupported(f"matcher {m!r}")
    elif not isinstance(v, str) or v != m:
        raise Mismatch(f"expected {show(m)}, got {show(v)}")


def check_operators(m, v):
    unknown = set(m) - OPERATORS
    if unknown:
        raise Unsupported(f"operator(s) {sorted(unknown)} in matcher {show(m)}")
    for op, arg in m.items():
        if op == "$exists":
            if not isinstance(arg, bool):
                raise Unsupported(f"$exists {show(arg)}")
            if (v is not MISSING and v is not None) != arg:
                raise Mismatch(f"expected {'a' if arg else 'no'} value, got {show(v)}")
        elif op == "$type":
            if arg not in JSON_TYPES:
                raise Unsupported(f"$type {show(arg)}")
            got = "missing" if v is MISSING else json_type(v)
            if got != arg:
                raise Mismatch(f"expected type {arg}, got {got} {show(v)}")
        elif op == "$match":
            regex = compile_regex(arg)
            _need("string", v, f"a string matching {arg!r}")
            if not regex.search(v):
                raise Mismatch(f"expected a match of {arg!r}, got {show(v)}")
        elif op in ("$in", "$or"):
            if not isinstance(arg, list) or not arg:
                raise Unsupported(f"{op} {show(arg)}")
            if not any([holds(option, v) for option in arg]):
                raise Mismatch(f"expected one of {show(arg)}, got {show(v)}")
        elif op == "$size":
            bounds = arg if isinstance(arg, dict) else {"$eq": arg}
            if not bounds or set(bounds) - {"$eq", "$gt", "$gte", "$lt", "$lte"} \
                    or not all(isinstance(b, int) and not isinstance(b, bool) for b in bounds.values()):
                raise Unsupported(f"$size {show(arg)}")
            _need("array", v, f"an array with $size {show(arg)}")
            check_operators(bounds, len(v))
        elif op == "$empty":
            if not isinstance(arg, bool):
                raise Unsupported(f"$empty {show(arg)}")
            if (v is MISSING or v is None or v == "" or v == [] or v == {}) != arg:
                raise Mismatch(f"expected $empty {arg}, got {show(v)}")
        elif op == "$eq":
            if not json_equal(arg, v):
                raise Mismatch(f"expected {show(arg)}, got {show(v)}")
        elif op == "$ne":
            if v is MISSING or json_equal(arg, v):
                raise Mismatch(f"expected a value other than {show(arg)}, got {show(v)}")
        else:
            if not is_number(arg):
                raise Unsupported(f"{op} {show(arg)}")
            _need("number", v, f"a number {op} {arg}")
            if not {"$gt": v > arg, "$gte": v >= arg, "$lt": v < arg, "$lte": v <= arg}[op]:
                raise Mismatch(f"expected a number {op} {arg}, got {show(v)}")


def check(m, v):
    """Raise Mismatch unless value v satisfies matcher m; Unsupported for an unknown m."""
    if m is None:
        if v is not MISSING and v is not None:
            raise Mismatch(f"expected null, got {show(v)}")
    elif isinstance(m, str):
        check_text(m, v)
    elif isinstance(m, bool):
        if v is not m:
            raise Mismatch(f"expected {show(m)}, got {show(v)}")
    elif is_number(m):
        _need("number", v, f"the number {m}")
        if abs(m - v) > 1e-9:
            raise Mismatch(f"expected {m}, got {show(v)}")
    elif isinstance(m, list):
        if not isinstance(v, list) or len(v) != len(m):
            raise Mismatch(f"expected an array of {len(m)}, got {show(v)}")
        for i, (want, got) in enumerate(zip(m, v)):
            try:
                check(want, got)
            except Mismatch as e:
                raise Mismatch(f"[{i}]: {e}") from None
    elif is_range(m):
        check_operators({{"min": "$gte", "max": "$lte"}[k]: b for k, b in m["range"].items()}, v)
    elif any(k.startswith("$") for k in m):
        check_operators(m, v)
    else:
        if not isinstance(v, dict):
            raise Mismatch(f"expected an object, got {show(v)}")
        for key, want in m.items():
            if want == "absent" and not isinstance(want, Literal):
                if key in v:
                    raise Mismatch(f".{key}: expected no value, got {show(v[key])}")
                continue
            if key not in v:
                raise Mismatch(f".{key}: missing")
            try:
                check(want, v[key])
            except Mismatch as e:
                raise Mismatch(f".{key}: {e}") from None


def holds(m, v):
    try:
        check(m, v)
        return True
    except Mismatch:
        return False


def is_range(m):
    return set(m) == {"range"} and isinstance(m["range"], dict) and bool(m["range"]) \
        and not set(m["range"]) - {"min", "max"}


# Values of every JSON type: a matcher is linted by trying it on each of them.
_PROBES = (MISSING, None, True, 1, "x", [], {})


def lint_matcher(m):
    """Raise Unsupported unless every part of m is understood, whatever the answer."""
    if isinstance(m, dict):
        operators = is_range(m) or any(k.startswith("$") for k in m)
        parts = [] if operators else list(m.values())
        for op in ("$in", "$or"):
            if operators and isinstance(m.get(op), list):
                parts += m[op]
        for part in parts:
            lint_matcher(part)
        if not operators:
            return
        # one operator at a time: a mismatch of the first must not hide the others
        alone = [m] if is_range(m) else [{op: arg} for op, arg in m.items()]
    elif isinstance(m, list):
        for part in m:
            lint_matcher(part)
        return
    else:
        alone = [m]
    for one in alone:
        for probe in _PROBES:
            holds(one, probe)


def check_status(m, code):
    if isinstance(m, bool) or m is None:
        raise Unsupported(f"status {show(m)}")
    if isinstance(m, int):
        ok = code == m
    elif isinstance(m, str) and m.startswith("one_of:"):
        parts = [p.strip() for p in m[len("one_of:"):].split(",")]
        if not all(re.fullmatch(r"\d{3}", p) for p in parts):
            raise Unsupported(f"status {m!r}")
        ok = code in map(int, parts)
    elif isinstance(m, str):
        if not m.startswith("number:"):
            raise Unsupported(f"status {m!r}")
        ok = holds(m, code)
    elif isinstance(m, list) and m and all(isinstance(c, int) and not isinstance(c, bool) for c in m):
        ok = code in m
    elif isinstance(m, dict) and set(m) == {"$in"}:
        check_status(m["$in"] if isinstance(m["$in"], list) else None, code)
        return
    else:
        raise Unsupported(f"status {show(m)}")
    if not ok:
        raise Mismatch(f"expected HTTP status {show(m)}, got {code}")


def check_header(m, values):
    """values: all values of that header in the answer."""
    got = values[0] if values else MISSING
    if isinstance(m, str):
        if got != m:
            raise Mismatch(f"expected {show(m)}, got {show(got)}")
    elif isinstance(m, dict) and m and not set(m) - {"$match", "$eq", "$exists", "$in"}:
        check_operators(m, got)
    else:
        raise Unsupported(f"header matcher {show(m)}")
