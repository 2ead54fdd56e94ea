"""JSON paths as the cases write them: parse, walk, look up."""
import json
import re

from values import MISSING, Unsupported

_FILTER = re.compile(r"""\?\(@\.([A-Za-z_][\w.-]*)\s*==\s*('[^']*'|"[^"]*"|[^'")]+)\)\Z""")


def _closed(text, start, path):
    """Where the bracket ends that begins at start; one within quotes does not count."""
    end, quote = start + 1, None
    while end < len(text) and (quote or text[end] != "]"):
        if quote:
            quote = None if text[end] == quote else quote
        elif text[end] in "'\"":
            quote = text[end]
        end += 1
    if end >= len(text):
        raise Unsupported(f"unclosed bracket in path {path!r}")
    return end


def _bracket(inner, path):
    """The token for the text between two brackets."""
    if inner == "*":
        return "each", None
    if re.fullmatch(r"\d+", inner):
        return "index", int(inner)
    if len(inner) >= 2 and inner[0] == inner[-1] and inner[0] in "'\"":
        return "exact", inner[1:-1]
    if m := _FILTER.match(inner):
        want = m[2]
        return "filter", (m[1], want[1:-1] if want[0] in "'\"" else want)
    raise Unsupported(f"path segment [{inner}] in {path!r}")


def parse_path(path):
    """'$.jobs[0].meta["a.b"]' -> [('key','jobs'),('index',0),('key','meta'),('exact','a.b')]."""
    text = path
    if text == "$":
        return []
    if text.startswith("$."):
        text = text[2:]
    elif text.startswith("$["):
        text = text[1:]
    tokens, i, n = [], 0, len(text)
    expect_key = True
    while i < n:
        c = text[i]
        if c == "[":
            end = _closed(text, i, path)
            tokens.append(_bracket(text[i + 1:end].strip(), path))
            i = end + 1
            expect_key = False
        elif c == ".":
            if expect_key:
                raise Unsupported(f"empty segment in path {path!r}")
            i += 1
            expect_key = True
        else:
            if not expect_key:
                raise Unsupported(f"malformed path {path!r}")
            end = i
            while end < n and text[end] not in ".[":
                end += 1
            key = text[i:end]
            if any(ch in key for ch in "*?()@$'\"]"):
                raise Unsupported(f"path segment {key!r} in {path!r}")
            tokens.append(("key", key))
            i = end
            expect_key = False
    if expect_key and text:
        raise Unsupported(f"path {path!r} ends with a dot")
    if not text:
        raise Unsupported("empty path")
    return tokens


def as_text(v):
    """How an element is compared by filters and by contains:/not_contains:."""
    if isinstance(v, str):
        return v
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, float) and v.is_integer() and abs(v) < 1e15:
        return str(int(v))
    return json.dumps(v)


def walk(tokens, node):
    if not tokens:
        return node
    (kind, arg), rest = tokens[0], tokens[1:]
    if kind == "key":
        if not isinstance(node, dict):
            return MISSING
        if arg in node:
            found = walk(rest, node[arg])
            if found is not MISSING:
                return found
        # Member names may themselves contain dots ("ojs.codec.key_id" in meta):
        # try longer and longer joined names.
        name = arg
        for used, (k, a) in enumerate(rest, 1):
            if k != "key":
                break
            name += "." + a
            if name in node:
                found = walk(rest[used:], node[name])
                if found is not MISSING:
                    return found
        return MISSING
    if kind == "exact":
        return walk(rest, node[arg]) if isinstance(node, dict) and arg in node else MISSING
    if not isinstance(node, list):
        return MISSING
    if kind == "index":
        return walk(rest, node[arg]) if arg < len(node) else MISSING
    if kind == "each":
        out = [walk(rest, item) for item in node]
        return [v for v in out if v is not MISSING and v is not None]
    key, want = arg
    for item in node:
        if isinstance(item, dict) and key in item and as_text(item[key]) == want:
            return walk(rest, item)
    return MISSING


def lookup(path, data):
    return walk(parse_path(path), data)
