"""Which modules of a crate import each other in a circle: read from the `use` lines and the paths of its files."""
import re
from pathlib import Path

USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+((?:crate|super|self)\b[^;]*);", re.M)
PATH = re.compile(r"(?<![\w:])(?:crate|super)(?:::\w+)+")
COMMENT = re.compile(r"^\s*//.*$", re.M)


def modules(source: Path) -> dict[tuple[str, ...], Path]:
    """The files of a crate by the paths of their modules."""
    found = {}
    for file in source.rglob("*.rs"):
        parts = file.relative_to(source).with_suffix("").parts
        found[parts[:-1] if parts[-1] in ("mod", "lib") else parts] = file
    return found


def leaves(tree: str) -> list[str]:
    """The paths that a `use` names: `a::{b, c::d}` is `a::b` and `a::c::d`."""
    start = tree.find("{")
    if start < 0:
        return [tree.split(" as ")[0].strip()]
    head, body = tree[:start].strip(), tree[start + 1:tree.rindex("}")]
    parts, depth, current = [], 0, ""
    for sign in body:
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += sign
    return [head + leaf for part in [*parts, current] if part.strip() for leaf in leaves(part.strip())]


def imports(name: tuple[str, ...], text: str, known: dict[tuple[str, ...], Path]) -> set[tuple[str, ...]]:
    """The modules that a file's text names. Tests at its end do not count, nor does a parent that only declares."""
    text = COMMENT.sub("", text.split("#[cfg(test)]\nmod tests")[0])
    paths = [leaf for tree in USE.findall(text) for leaf in leaves(tree)] + PATH.findall(USE.sub("", text))
    found = set()
    for path in paths:
        parts, base = [part.strip() for part in path.split("::")], list(name)
        if parts[0] == "crate":
            base = []
        while parts and parts[0] in ("crate", "self", "super"):
            if parts.pop(0) == "super":
                base = base[:-1]
        whole = (*base, *parts)
        for length in range(len(whole), 0, -1):
            if whole[:length] in known:
                found.add(whole[:length])
                break
    return found - {name}


def groups(graph: dict) -> list[set]:
    """Groups of names of which each reaches each other, the largest first."""
    reach = {}
    for name in graph:
        seen, stack = set(), list(graph[name])
        while stack:
            following = stack.pop()
            if following not in seen:
                seen.add(following)
                stack.extend(graph[following])
        reach[name] = seen
    found = {frozenset(other for other in graph if other in reach[name] and name in reach[other]) for name in graph}
    return sorted((set(group) for group in found if len(group) > 1), key=len, reverse=True)


def circles(source: Path) -> list[list[str]]:
    """Groups of modules of which each reaches each other by imports, the largest first."""
    known = modules(source)
    graph = {name: imports(name, file.read_text(), known) for name, file in known.items()}
    return [sorted("::".join(name) or "lib" for name in group) for group in groups(graph)]
