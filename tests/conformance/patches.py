"""Documented corrections of cases."""
import copy
import fnmatch
import json
from pathlib import Path


def apply_patches(tests, files):
    """Apply documented corrections of cases; returns the paths that were changed.

    A patch file: {"patches": [{"files": GLOB, "why": TEXT, "ops": [OP, ...]}, ...]}
    OP: {"op": "set"|"remove"|"insert", "at": [key or index, ...], "value": ...}
        {"op": "capture", "from": PATH, "to": PATH}     (every capture of PATH)
        {"op": "status", "from": MATCHER, "to": MATCHER}  (every equal status assertion)
    """
    changed = {}
    for file in files:
        spec = json.loads(Path(file).read_text())
        for patch in spec["patches"]:
            hits = 0
            for rel, test in tests.items():
                if not fnmatch.fnmatchcase(rel, patch["files"]):
                    continue
                hits += 1
                before = json.dumps(test)
                for op in patch["ops"]:
                    patch_one(test, op, f"{file}: {patch['files']}")
                if json.dumps(test) != before:
                    changed.setdefault(rel, []).append(patch["why"])
            patch["hits"] = hits
    return changed


def patch_one(test, op, where):
    if op["op"] == "capture":
        for step in test["steps"]:
            for field in ("capture", "captures"):
                for var, path in (step.get(field) or {}).items():
                    if path == op["from"]:
                        step[field][var] = op["to"]
        return
    if op["op"] == "status":
        for step in test["steps"]:
            a = step.get("assertions") or {}
            if a.get("status") == op["from"]:
                a["status"] = copy.deepcopy(op["to"])
        return
    node = test
    try:
        for key in op["at"][:-1]:
            node = node[key]
        if op["op"] == "set":
            node[op["at"][-1]] = copy.deepcopy(op["value"])
        elif op["op"] == "remove":
            del node[op["at"][-1]]
        elif op["op"] == "insert":
            node.insert(op["at"][-1], copy.deepcopy(op["value"]))
        else:
            raise ValueError(op["op"])
    except (KeyError, IndexError, TypeError, ValueError) as e:
        raise SystemExit(f"run.py: patch {where} does not apply: {op} ({type(e).__name__}: {e})")
