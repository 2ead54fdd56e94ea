#!/usr/bin/env python3
"""The tests of the adapters, with other versions of their frameworks than `make test` has: `make ranges`.

    python3 tests/ranges               every row of rows.py
    python3 tests/ranges --only NAME   a row (repeatable)
    python3 tests/ranges --list        names and versions

Packages are installed below target/ranges, once per change of a row. Wanted: what `make python node java` has built,
and servers of PostgreSQL and MariaDB, named by OJS_TEST_POSTGRES and OJS_TEST_MYSQL.

Each row writes target/ranges/NAME/log. Last line: "N passed, N failed". Python 3.10, standard library only.
"""
from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from rows import ROWS, Row  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
PLACE = ROOT / "target" / "ranges"


class Broken(Exception):
    """A command of a row failed; its output is in the row's log."""


class Run:
    """One row, in a folder of its own."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.home = PLACE / row.name
        self.home.mkdir(parents=True, exist_ok=True)
        self.wanted = json.dumps([row.versions, row.beside], sort_keys=True)
        self.log = self.home / "log"
        self.log.write_text("")

    def call(self, *command: str | Path, folder: Path = ROOT, **variables: str) -> None:
        """Runs a command. Raises :class:`Broken` where it fails."""
        with self.log.open("a") as log:
            log.write(f"$ {' '.join(map(str, command))}\n")
            log.flush()
            done = subprocess.run(command, cwd=folder, env=os.environ | variables, stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=subprocess.STDOUT)
        if done.returncode != 0:
            last = "\n".join(self.log.read_text(errors="replace").splitlines()[-25:])
            log_name = self.log.relative_to(ROOT)
            raise Broken(f"exit status {done.returncode} of {command[0]}; {log_name} ends with\n{last}")

    def installed(self, folder: Path) -> bool:
        """Whether the folder has been made for these versions; if not, it is emptied."""
        stamp = folder / ".versions"
        if stamp.is_file() and stamp.read_text() == self.wanted:
            return True
        shutil.rmtree(folder, ignore_errors=True)
        return False

    def stamp(self, folder: Path) -> None:
        """Says that the folder is complete."""
        (folder / ".versions").write_text(self.wanted)


def python(run: Run) -> None:
    """An environment with the row's packages in front of those of .venv."""
    row, venv = run.row, run.home / "venv"
    interpreter = venv / "bin" / "python"
    base = ROOT / ".venv" / "bin" / "python"
    if not run.installed(venv):
        run.call(base, "-m", "venv", venv)
        pins = [f"{name}=={version}" for name, version in (row.versions | row.beside).items()]
        run.call(interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pins)
        own, behind = (next(folder.glob("lib/python*/site-packages")) for folder in (venv, ROOT / ".venv"))
        # addsitedir also reads the .pth file by which the package of this checkout is found.
        (own / "behind.pth").write_text(f"import site; site.addsitedir({str(behind)!r})\n")
        run.stamp(venv)
    for name, version in row.versions.items():
        check = f"from importlib.metadata import version; assert version({name!r}) == {version!r}, version({name!r})"
        run.call(interpreter, "-c", check)
    adapter = ROOT / "python" / "adapters" / f"ojs-adapter-{row.adapter}"
    without = [f"--ignore={adapter}/tests/{name}" for name in row.leave_out]
    # Old versions warn of what is new beside them.
    run.call(interpreter, "-m", "pytest", "-q", "-W", "default", "-c", adapter / "pyproject.toml", *without,
             adapter / "tests")


def node(run: Run) -> None:
    """A copy of the adapters, whose node_modules has links to the row's packages and to all others of the checkout."""
    row, packages, copy = run.row, run.home / "packages", run.home / "node"
    if not run.installed(packages):
        packages.mkdir()
        (packages / "package.json").write_text(json.dumps({"private": True, "dependencies": row.versions | row.beside}))
        run.call("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", folder=packages)
        run.stamp(packages)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT / "node" / "adapters", copy / "adapters", ignore=shutil.ignore_patterns("node_modules"))
    for name in ("test", "node_modules", "package.json"):
        (copy / name).symlink_to(ROOT / "node" / name)
    modules = copy / "adapters" / "node_modules"
    linked(packages / "node_modules", modules)
    linked(ROOT / "node" / "adapters" / "node_modules", modules)
    for adapter in ("express", "nestjs"):
        name = f"ojs-adapter-{adapter}"
        (modules / name).unlink()
        (modules / name).symlink_to(copy / "adapters" / name)
    home = copy / "adapters" / f"ojs-adapter-{row.adapter}"
    tests = sorted(home.glob("test/*.test.mjs"))
    if row.name.startswith("prisma"):
        tests = [prisma(run, home)]
    run.call("node", "--test", *tests)


def linked(source: Path, modules: Path) -> None:
    """Links to the packages of a node_modules, but for those that are there already."""
    for path in sorted(source.iterdir()):
        if path.name.startswith("@"):
            linked(path, modules / path.name)
        elif not path.name.startswith(".") and not (modules / path.name).is_symlink():
            modules.mkdir(parents=True, exist_ok=True)
            (modules / path.name).symlink_to(path.resolve())


def prisma(run: Run, adapter: Path) -> Path:
    """The client that Prisma makes of a schema, and the test that uses it."""
    for path in (ROOT / "tests" / "ranges" / "prisma").iterdir():
        shutil.copy(path, adapter / "test")
    # Without this, Prisma downloads a program that only its migrations need.
    run.call("node", adapter.parent / "node_modules" / "prisma" / "build" / "index.js", "generate",
             folder=adapter / "test", PRISMA_SCHEMA_ENGINE_BINARY=shutil.which("true") or "true")
    return adapter / "test" / "prisma.test.mjs"


def java(run: Run) -> None:
    """A copy of the adapters, tested with other properties. They find the package in the local repository."""
    copy = run.home / "adapters"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT / "java" / "adapters", copy, ignore=shutil.ignore_patterns("target"))
    properties = [f"-D{name}={version}" for name, version in (run.row.versions | run.row.beside).items()]
    system = "macos" if sys.platform == "darwin" else "linux"
    script = '. scripts/maven.sh; (cd java; maven -Dmaven.test.skip=true install); cd "$1"; shift; maven "$@" verify'
    run.call("bash", "-euc", script, "bash", copy, *properties,
             platform=f"{system}-{platform.machine().replace('arm64', 'aarch64')}")


LANGUAGES = {"python": python, "node": node, "java": java}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    chosen = [row for row in ROWS if not options.only or row.name in options.only]
    if unknown := set(options.only or []) - {row.name for row in ROWS}:
        raise SystemExit(f"ranges: no row {', '.join(sorted(unknown))}; --list names them")
    if options.list:
        for row in ROWS:
            print(f"{row.name:16} {', '.join(f'{name} {version}' for name, version in row.versions.items())}")
        return 0
    for variable in ("OJS_TEST_POSTGRES", "OJS_TEST_MYSQL"):
        if not os.environ.get(variable):
            raise SystemExit(f"ranges: {variable} names no server; run `make ranges`")
    failed = 0
    for row in chosen:
        began = time.monotonic()
        try:
            LANGUAGES[row.language](Run(row))
            print(f"ok      {row.name}, {time.monotonic() - began:.0f} s", flush=True)
        except Broken as error:
            failed += 1
            print(f"FAILED  {row.name}: {error}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
