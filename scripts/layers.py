#!/usr/bin/env python3
"""Dependencies point downwards only: the core and the host layer know no foreign-language binding.

Reads `cargo tree` of every crate in core/ and of bindings/abi, and the imports of the engine's modules: no large
circle, a feature imports of another feature only what that feature offers, and the kernel imports only the listed
modules of features. Prints one line per crate, then "N passed, N failed".
"""
import subprocess
import sys
from pathlib import Path

from circles import circles, imports, modules

ROOT = Path(__file__).resolve().parent.parent

# What glue crates may use and nothing below them may.
FOREIGN = {"pyo3", "pyo3-ffi", "napi", "napi-sys", "magnus", "rb-sys", "cbindgen", "jni", "uniffi", "uniffi_bindgen"}

# Crates of this workspace that a layer may use: only the layers listed here, which are all below it.
ALLOWED = {
    "ojs-model": set(),
    "ojs-engine": {"ojs-model"},
    "ojs": {"ojs-model", "ojs-engine"},
    "ojs-abi": {"ojs-model", "ojs-engine", "ojs"},
    "ojs-dashboard": {"ojs-model", "ojs-engine"},
}
OURS = {
    *ALLOWED, "ojs-adapter-axum", "ojs-cli", "ojs-python", "ojs-node", "ojs-c", "ojs-ruby", "ojs-uniffi",
    "ojs-tests", "ojs-mariadb-fixture", "ojs-postgres-fixture", "ojs-bench", "xtask",
}

ENGINE = ROOT / "core" / "engine" / "src"
# The most modules of the engine that may import each other in a circle.
# Three: the hooks of features are functions over a transaction, and a transaction finds the list of features in
# its counters.
LARGEST_CIRCLE = 3
# What a feature offers to other features; everything else in its folder is its own.
OFFERED = {"records", "commands", "tables", "answer", "routes", "filter"}
# What the kernel imports of features. All else that they do reaches it through hooks.
OF_KERNEL = {
    # What features keep while a transaction, an audit or the process runs. The kernel does not look into it.
    ("features", "state"),
    # Members of a printed job: what prints it has the rows, and no list of hooks.
    ("features", "results", "records"),
    ("features", "trains", "records"),
    ("features", "trains", "answer"),
    # The figures that each event of a job changes.
    ("features", "statistics", "records"),
}


def kernel_imports() -> list[str]:
    """Imports of features by the kernel that are not listed, and listed ones that it does not need."""
    known = modules(ENGINE)
    found = {}
    for name, file in known.items():
        if name[:1] == ("kernel",) and "tests" not in name:
            for other in imports(name, file.read_text(), known):
                if other[:1] == ("features",):
                    found.setdefault(other, []).append(name)
    wrong = [f"{'::'.join(name)} imports {'::'.join(other)}"
             for other, names in found.items() if other not in OF_KERNEL for name in names]
    return sorted(wrong + [f"the kernel imports {'::'.join(other)} no more" for other in OF_KERNEL - set(found)])


def inside_imports() -> list[str]:
    """Imports of a feature's own modules by another feature."""
    known = modules(ENGINE)
    found = []
    for name, file in known.items():
        if len(name) < 3 or name[0] != "features":
            continue
        for other in imports(name, file.read_text(), known):
            if len(other) > 2 and other[0] == "features" and other[1] != name[1] and other[2] not in OFFERED:
                found.append(f"{'::'.join(name)} imports {'::'.join(other)}")
    return sorted(found)


def tree(crate: str, *arguments: str) -> set[str]:
    """Names of all crates that the crate is built from, itself excepted."""
    command = ["cargo", "tree", "--locked", "--package", crate, "--edges", "normal,build", "--prefix", "none", "--format", "{p}", *arguments]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in listing.splitlines() if line.strip()} - {crate}


def main() -> int:
    failed = 0
    for crate, allowed in ALLOWED.items():
        names = tree(crate, "--all-features")
        wrong = (names & FOREIGN) | ((names & OURS) - allowed)
        failed += bool(wrong)
        print(f"{crate:<12} {'uses ' + ', '.join(sorted(wrong)) if wrong else 'ok'}")
    plain = tree("ojs")
    if "ojs-engine" in plain:
        failed += 1
        print("ojs          needs ojs-engine without the feature `embedded`")
    largest = next(iter(circles(ENGINE)), [])
    print(f"largest circle of imports in the engine: {len(largest)} modules ({', '.join(largest)})")
    if len(largest) > LARGEST_CIRCLE:
        failed += 1
        print(f"ojs-engine   has a circle of more than {LARGEST_CIRCLE} modules")
    inside = inside_imports()
    failed += bool(inside)
    for line in inside:
        print(f"ojs-engine   {line}: another feature's inside")
    of_kernel = kernel_imports()
    failed += bool(of_kernel)
    for line in of_kernel:
        print(f"ojs-engine   {line}: see OF_KERNEL in scripts/layers.py")
    print(f"{len(ALLOWED) + 4 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
