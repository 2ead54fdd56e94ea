"""Packages made a second time, elsewhere. Only bytes that do not depend on the place can be checked."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import compare
from checkout import ROOT

from tracked import tracked  # of scripts, where checkout looks

#: The second run has another time zone, another language and another mask of permissions, as another machine would.
VARIED = {"TZ": "Pacific/Auckland", "LANG": "C", "LC_ALL": "C"}
MASK = 0o077


@contextmanager
def elsewhere() -> Iterator[Path]:
    """A copy of this checkout in another folder, with a path of another length and files of another time."""
    with tempfile.TemporaryDirectory(prefix="ojs-made-again-") as folder:
        copy = Path(folder).resolve() / "checkout"
        for name in tracked(ROOT):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name, follow_symlinks=False)
            if not (copy / name).is_symlink():
                (copy / name).chmod((ROOT / name).stat().st_mode)
        yield copy


def again(copy: Path, out: Path, arguments: list[str], tools: Path | None = None) -> None:
    """Runs this program in the copy, with its own folder for what is compiled; raises SystemExit where it fails."""
    target = copy.parent / "target"
    if tools:
        (target / "packages").mkdir(parents=True)
        (target / "packages" / "tools").symlink_to(tools)
    # A jar that is built already is of the first run.
    variables = {name: value for name, value in os.environ.items() if name != "OJS_BUILT"}
    command = [sys.executable, copy / "scripts" / "packages", *arguments, "--out", out]
    done = subprocess.run(command, cwd=copy, umask=MASK, env=variables | VARIED | {"CARGO_TARGET_DIR": str(target)})
    if done.returncode != 0:
        raise SystemExit("packages: the second run has failed")


def check(first: Path, arguments: list[str], tools: Path | None = None) -> None:
    """Makes the packages in ``first`` again and compares."""
    with elsewhere() as copy:
        print(f"\nThe same again in {copy}", flush=True)
        second = copy.parent / "out"
        again(copy, second, arguments, tools)
        judge(first, second)


def judge(first: Path, second: Path) -> None:
    """Raises SystemExit with a list of what differs, where anything does or where there is nothing to compare."""
    equal, lines = compare.compared(first, second)
    if lines or not equal:
        head = "packages: two runs have written different bytes"
        raise SystemExit("\n".join([head, *lines, f"{equal} files are equal"]))
    print(f"two runs have written the same bytes: {equal} files", flush=True)
