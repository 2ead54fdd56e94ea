#!/usr/bin/env python3
"""Installs every package into an empty place and runs its first program; looks at what is in the packages.

    python3 tests/packages --natives DIR      makes packages of what cargo has put there, twice, in two folders
        --short                               some of them, once: what `make test` has time for
    python3 tests/packages --packages DIR     takes packages that exist; --released also wants glibc 2.28 to be
                                              enough, no local path, and that auditwheel, abi3audit and CycloneDX agree
    --only NAME                               a test (repeatable)

A test whose tools are absent fails: it has not shown that its package can be installed.
Last line: "N passed, N failed". Python 3.10, standard library only.
"""
from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parent))

import binaries  # noqa: E402
import contents  # noqa: E402
import languages  # noqa: E402
import twice  # noqa: E402, of scripts/packages, where contents looks
from place import ROOT, Broken, hidden, hiding  # noqa: E402

#: Where `scripts/packages build` has put its tools.
TOOLS = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "packages" / "tools" / "bin"

INSTALLED: dict[str, Callable[[Path], None]] = {
    "hidden": hidden,
    "wheel": languages.wheel, "npm": languages.npm, "gems": languages.gems, "java": languages.java,
    "kotlin": languages.kotlin, "go": languages.go, "c": languages.c,
    "tarball": binaries.tarball, "debian": binaries.debian,
    "licences": contents.licences, "stripped": contents.stripped, "sums": contents.sums,
}
#: What --short makes, and the tests of it. Maven and Go take longer than all of these together.
SHORT_KINDS = ("wheel", "npm", "gems", "c", "binary")
SHORT = ("hidden", "wheel", "npm", "gems", "c", "tarball", "sums")


def assembled(natives: Path, out: Path, kinds: tuple[str, ...] = ()) -> Path:
    """Packages of what has been built already, for this machine's own glibc."""
    script = [sys.executable, ROOT / "scripts" / "packages", "assemble", "--any-glibc"]
    chosen = [word for kind in kinds for word in ("--only", kind)]
    subprocess.run([*script, "--natives", natives, "--out", out, *chosen], check=True)
    return out


def made(options: argparse.Namespace, folder: Path) -> tuple[Path, dict[str, Callable[[Path], None]]]:
    """The packages of ``--natives``, and the tests of them."""
    natives, first = options.natives.absolute(), folder / "first"
    if options.short:
        return assembled(natives, first, kinds=SHORT_KINDS), {name: INSTALLED[name] for name in SHORT}
    assembled(natives, first)
    with twice.elsewhere() as copy:
        twice.again(copy, folder / "second", ["assemble", "--any-glibc", "--natives", str(natives)])
    return first, INSTALLED | {"same-bytes": partial(contents.same_bytes, again=folder / "second")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--natives", type=Path)
    source.add_argument("--packages", type=Path)
    parser.add_argument("--released", action="store_true")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    if options.short and not options.natives:
        parser.error("--short wants --natives")
    if not hiding():
        print("this system hides neither repository nor compilers: they are only absent from PATH", flush=True)
    with tempfile.TemporaryDirectory(prefix="ojs-packages-") as folder:
        if options.packages:
            packages, tests = Path(shutil.copytree(options.packages, Path(folder, "packages"))), dict(INSTALLED)
        else:
            packages, tests = made(options, Path(folder))
        if options.released:
            tests["floor"] = partial(contents.old_glibc, tools=TOOLS)
            tests["no-paths"] = contents.no_paths
            tests["judged"] = partial(contents.judged, tools=TOOLS)
        return run({name: test for name, test in tests.items() if not options.only or name in options.only}, packages)


def run(tests: dict[str, Callable[[Path], None]], packages: Path) -> int:
    """Runs the tests; the exit status."""
    failed = 0
    for name, test in tests.items():
        began = time.monotonic()
        try:
            test(packages)
            print(f"ok      {name}, {time.monotonic() - began:.0f} s", flush=True)
        except (Broken, OSError, subprocess.SubprocessError, StopIteration, contents.floor.TooNew) as error:
            failed += 1
            print(f"FAILED  {name}: {type(error).__name__} {error}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
