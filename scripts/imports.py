#!/usr/bin/env python3
"""Files that import each other in a circle: no crate and no package gets a larger circle than it has.

    imports.py            fails where a circle has more files than BOUNDS allows; the last line is "N passed, N failed"
    imports.py --show     also prints the members of every circle

The engine's own bound stands in layers.py. Rust is read by circles.py; of Python count imports at the top level, of
JavaScript `require` and `import` of relative paths. Python 3.10, standard library only.
"""
import ast
import re
import sys
from pathlib import Path

from tracked import tracked

import circles

ROOT = Path(__file__).resolve().parent.parent

#: Most files of one circle. A bound only goes down.
BOUNDS = {
    "core/model/src": 3,
    "core/sdk/src": 3,
    "bindings/ruby/src": 3,
    "cli/src": 5,
    "xtask/src": 4,
    "benches/src": 2,
}
RUST = ["core/model/src", "core/sdk/src", "bindings/abi/src", "bindings/c/src", "bindings/node/src",
        "bindings/python/src", "bindings/ruby/src", "cli/src", "xtask/src", "benches/src", "tests/src"]
PYTHON = ["python/openjobspec"]
NODE = ["node/lib", "dashboard/web"]
#: An import of a relative path at the beginning of a line of JavaScript.
IMPORT = re.compile(r"""(?m)^(?:const|let|import|export|module)[^\n]*?(?:require\(|from |import )['"](\.[^'"]+)['"]""")

Graph = dict[str, set[str]]


def files(folder: str, *endings: str) -> list[str]:
    """The files below a folder that git knows or will know, relative to it."""
    return [name for name in tracked(ROOT / folder) if name.endswith(endings)]


def python(folder: str) -> Graph:
    """Imports at the top level of the modules of a package; those for type checkers alone do not count."""
    package = Path(folder).name
    modules = {}
    for name in files(folder, ".py"):
        parts = [package, *name.removesuffix(".py").split("/")]
        modules[tuple(parts[:-1] if parts[-1] == "__init__" else parts)] = name
    graph: Graph = {name: set() for name in modules.values()}
    for module, name in modules.items():
        here = module if name.endswith("__init__.py") else module[:-1]
        for node in ast.parse((ROOT / folder / name).read_text()).body:
            targets: list[tuple[str, ...]] = []
            if isinstance(node, ast.ImportFrom):
                base = here[: len(here) - node.level + 1] if node.level else ()
                base += tuple(node.module.split(".")) if node.module else ()
                targets = [base + (item.name,) if base + (item.name,) in modules else base for item in node.names]
            elif isinstance(node, ast.Import):
                targets = [tuple(item.name.split(".")) for item in node.names]
            # A module of a package needs its __init__ in any case.
            found = {modules[target] for target in targets if target in modules}
            graph[name] |= {other for other in found if other != name and not other.endswith("__init__.py")}
    return graph


def node(folder: str) -> Graph:
    """Relative requires and imports outside of functions."""
    known = set(files(folder, ".cjs", ".mjs", ".js"))
    graph: Graph = {name: set() for name in known}
    for name in known:
        text = re.sub(r"(?m)^\s*(//|\*|/\*).*$", "", (ROOT / folder / name).read_text())
        for path in IMPORT.findall(text):
            target = str((Path("/") / Path(name).parent / path).resolve().relative_to("/"))
            graph[name] |= {target, f"{target}.cjs", f"{target}.mjs"} & known - {name}
    return graph


def rust(folder: str) -> Graph:
    """The modules of a crate and what they import."""
    known = circles.modules(ROOT / folder)
    graph = {name: circles.imports(name, file.read_text(), known) for name, file in known.items()}
    return {"::".join(name): {"::".join(other) for other in others} for name, others in graph.items()}


def main() -> int:
    failed = 0
    readers = [(rust, RUST), (python, PYTHON), (node, NODE)]
    for folder, graph in {folder: read(folder) for read, folders in readers for folder in folders}.items():
        found = circles.groups(graph)
        largest, bound = (len(found[0]) if found else 0), BOUNDS.get(folder, 0)
        verdict = "ok" if largest == bound else f"ok; write {largest} into BOUNDS"
        if largest > bound:
            failed += 1
            verdict = f"at most {bound} allowed: {', '.join(sorted(found[0]))}"
        print(f"{folder:<24} {len(graph):>4} files, largest circle {largest:>3}, circles {len(found):>2}  {verdict}")
        if "--show" in sys.argv:
            print("".join(f"    {', '.join(sorted(group))}\n" for group in found), end="")
    total = len(RUST) + len(PYTHON) + len(NODE)
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
