"""From the packages of each platform to the files of a release, with their sums."""
from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import gomodule
from archive import Content, write_tar_gz
from checkout import VERSION

#: Repositories of Maven and of Go: many files, whose paths matter. A release has each as one tarball.
TREES = ("maven", "go")
SUMS = "SHA256SUMS"


def files(folder: Path) -> list[Path]:
    """Everything that the sums name, in the order of paths."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SUMS)


def sums(folder: Path) -> None:
    """SHA256SUMS of everything in a folder, as `sha256sum --check` reads it there."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
             for path in files(folder)]
    (folder / SUMS).write_text("".join(lines))


def gather(out: Path, folders: list[Path]) -> None:
    """Joins the packages of several platforms: the Go module is made of all, everything else lies side by side.

    A package without native code is written on every platform, and not everywhere by the same version of Ruby. That of
    the first folder is taken.
    """
    shutil.rmtree(out, ignore_errors=True)
    modules: dict[Path, list[Path]] = {}
    for folder in folders:
        for path in files(folder):
            inside = path.relative_to(folder)
            if inside.parts[0] == "go" and path.suffix == ".zip":
                modules.setdefault(inside, []).append(path)
            elif not (out / inside).exists():
                (out / inside).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, out / inside)
    for inside, zips in modules.items():
        gomodule.gather(zips, out / inside)
    sums(out)


def assets(out: Path, folder: Path) -> None:
    """The files without their folders, and SHA256SUMS of them by these names.

    Raises SystemExit where two files have one name.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for path in files(folder):
        if path.relative_to(folder).parts[0] in TREES:
            continue
        if (out / path.name).exists():
            raise SystemExit(f"packages: two files are called {path.name}: a release has all files in one folder")
        shutil.copy2(path, out)
    for tree in TREES:
        inside = {path.relative_to(folder).as_posix(): Content(path) for path in files(folder / tree)}
        if inside:
            write_tar_gz(out / f"ojs-{tree}-{VERSION}.tar.gz", inside)
    sums(out)
