"""JSON values: kinds, comparison, how they are shown, and the two errors of the runner."""
import json

OJS_JSON = "application/openjobspec+json"
MAX_BODY = 64 * 1024 * 1024


class Unsupported(Exception):
    """The test uses something this runner does not understand: ERROR, not pass."""


class Mismatch(Exception):
    """An expectation about the server's answer did not hold."""


class _Missing:
    def __repr__(self):
        return "(missing)"

    def __bool__(self):
        return False


MISSING = _Missing()


class Literal(str):
    """A string that came out of a template: compared literally, never a matcher."""


def show(v, limit=160):
    if v is MISSING:
        return "(missing)"
    try:
        s = json.dumps(v, ensure_ascii=False)
    except (TypeError, ValueError):
        s = repr(v)
    return s if len(s) <= limit else s[: limit - 3] + "..."


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def json_type(v):
    if v is None:
        return "null"
    if isinstance(v, bool):
        return "boolean"
    if isinstance(v, (int, float)):
        return "number"
    if isinstance(v, str):
        return "string"
    if isinstance(v, list):
        return "array"
    if isinstance(v, dict):
        return "object"
    return type(v).__name__


def json_equal(a, b):
    if json_type(a) != json_type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(json_equal(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(json_equal(x, y) for x, y in zip(a, b))
    return a == b


def parse_json(raw):
    """bytes -> JSON value; MISSING when empty or not valid JSON."""
    if not raw.strip():
        return MISSING

    def refuse(token):
        raise ValueError(token)

    try:
        return json.loads(raw.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError):
        return MISSING
