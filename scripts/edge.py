#!/usr/bin/env python3
"""Writes node/serverless/core: modules of the Node.js package as ES modules, for runtimes without the native half and
without Node.js.

    edge.py          writes them (`make gen`)
    edge.py check    fails where one differs

The source is node/lib. What a runtime has instead of Node.js is written by hand: platform.mjs and durations.mjs. Python
3.10, standard library only.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "node" / "lib"
TARGET = ROOT / "node" / "serverless" / "core"
MODULES = ("context", "errors", "handlers", "json", "middleware", "outcome", "records", "values")

REQUIRED = re.compile(r"^const (?P<names>\{[^}]*\}|\w+) = require\('\./(?P<module>\w+)\.cjs'\);\n", re.MULTILINE)
#: A module that is asked for when it is needed, because it needs this one.
LATE = re.compile(r"^(?P<space> +)const (?P<names>\{[^}]*\}) = require\('\./(?P<module>\w+)\.cjs'\);\n", re.MULTILINE)


def converted(name: str) -> str:
    """A CommonJS module of the package as an ES module."""
    text = (SOURCE / f"{name}.cjs").read_text()
    imports: dict[str, str] = {}

    def required(match: re.Match[str]) -> str:
        imports[match["module"]] = f"import {match['module']} from './{match['module']}.mjs';\n"
        return "" if match["names"] == match["module"] else f"const {match['names']} = {match['module']};\n"

    def late(match: re.Match[str]) -> str:
        required(match)
        return f"{match['space']}const {match['names']} = {match['module']};\n"

    body = LATE.sub(late, REQUIRED.sub(required, text.removeprefix("'use strict';\n")))
    body, exports = re.subn(r"^module\.exports = ", "const exported = ", body, flags=re.MULTILINE)
    body = body.replace(
        "Object.assign(module.exports, module.exports.public);", "Object.assign(exported, exported.public);"
    )
    if exports != 1 or re.search(r"\brequire\(|module\.exports|\bprocess\.|\bBuffer\.(?!from)", body):
        raise SystemExit(f"edge.py: node/lib/{name}.cjs has something that this script cannot turn into an ES module")
    head = f"// Made from node/lib/{name}.cjs by scripts/edge.py (make gen); do not edit.\n"
    return head + "".join(imports[module] for module in sorted(imports)) + body + "\nexport default exported;\n"


def main() -> int:
    check = sys.argv[1:] == ["check"]
    wrong = []
    for name in MODULES:
        path, text = TARGET / f"{name}.mjs", converted(name)
        if path.exists() and path.read_text() == text:
            continue
        wrong.append(path.relative_to(ROOT))
        if not check:
            path.write_text(text)
    if check and wrong:
        print("\n".join(f"{path}: differs from node/lib; run make gen" for path in wrong))
    return 1 if check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
