#!/usr/bin/env python3
"""Builds the packages that users install: a wheel, npm packages, gems, jars, a Go module, the C library, `ojs` itself.

    python3 scripts/packages build [--out DIR] [--target TRIPLE] [--profile NAME] [--only KIND]
        compiles against an old glibc (cargo-zigbuild, in target/packages/tools), then writes the packages
    python3 scripts/packages assemble --natives DIR [--out DIR] [--only KIND] [--any-glibc]
        writes them from what cargo has put into DIR
        both take --twice: all of it again in another folder; other bytes are named and are an error
    python3 scripts/packages compare DIR DIR
        names what differs between two folders of packages, down to members of archives
    python3 scripts/packages gather OUT DIR…
        joins what several platforms have written; of files that several have, those of the first folder are taken
    python3 scripts/packages assets OUT DIR
        the files of such a folder as a page of releases has them: side by side, with their own SHA256SUMS

Kinds: wheel, npm, gems, java, kotlin, go, c, binary. The result is in target/packages/out, with SHA256SUMS, a list of
components (CycloneDX) for each binary, and the debug information in a tarball of its own. Python 3.10, standard library
only; maturin describes the wheel.
"""
from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import binary  # noqa: E402
import clibrary  # noqa: E402
import compiling  # noqa: E402
import floor  # noqa: E402
import gems  # noqa: E402
import gomodule  # noqa: E402
import jars  # noqa: E402
import notices  # noqa: E402
import npm  # noqa: E402
import release  # noqa: E402
import twice  # noqa: E402
import wheel  # noqa: E402
from checkout import ROOT, VERSION  # noqa: E402
from context import Context  # noqa: E402
from natives import LIBRARIES, Natives  # noqa: E402
from platforms import Platform, here, named  # noqa: E402

KINDS: dict[str, Callable[[Context], list[Path]]] = {
    "wheel": wheel.make, "npm": npm.make, "gems": gems.make, "java": jars.java,
    "kotlin": jars.kotlin, "go": gomodule.make, "c": clibrary.make, "binary": binary.make,
}
#: Which cargo packages each kind has inside.
INSIDE = {"wheel": "ojs-python", "npm": "ojs-node", "gems": "ojs-ruby", "java": "ojs-c",
          "kotlin": "ojs-uniffi", "go": "ojs-c", "c": "ojs-c", "binary": "ojs-cli"}
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
PLACE = TARGET / "packages"


def tools() -> Path:
    """The Python interpreter with the tools of requirements.txt, installed when the list has changed."""
    home, wanted = PLACE / "tools", HERE / "requirements.txt"
    python, stamp = home / "bin" / "python", home / ".requirements"
    if not stamp.is_file() or stamp.read_bytes() != wanted.read_bytes():
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", wanted]
        subprocess.run(pip, check=True)
        shutil.copy(wanted, stamp)
    return python


def prepared(platform: Platform, source: Path, options: argparse.Namespace, kinds: list[str], python: Path) -> Context:
    """An empty folder for the packages, and the binaries that the chosen kinds need, stripped.

    Fails where they want a newer glibc, unless any will do.
    """
    out, stage = options.out.absolute(), PLACE / "stage" / platform.triple
    for folder in (out, stage):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    natives = Natives(platform, source, stage / "natives", stage / "symbols")
    for kind in kinds:
        if kind == "binary":
            natives.program()
        else:
            natives.shared(LIBRARIES[INSIDE[kind]])
    glibc = natives.glibc(most=None if options.any_glibc else floor.MOST)
    return Context(platform, natives, out, stage, glibc, python)


def assemble(context: Context, kinds: list[str]) -> None:
    """Writes packages of the chosen kinds."""
    out, platform = context.out, context.platform
    for kind in kinds:
        for path in KINDS[kind](context):
            print(f"{path.stat().st_size / 1e6:8.2f} MB  {path.relative_to(out)}", flush=True)
    for package in sorted({INSIDE[kind] for kind in kinds}):
        place = out / "sbom" / f"{package}-{VERSION}-{platform.short}.cdx.json"
        place.parent.mkdir(exist_ok=True)
        place.write_text(notices.sbom(package, platform.triple, VERSION))
    name = f"ojs-symbols-{VERSION}-{platform.short}"
    symbols = context.natives.write_symbols(out / "symbols" / f"{name}.tar.gz", name)
    print(f"{symbols.stat().st_size / 1e6:8.2f} MB  {symbols.relative_to(out)}")
    release.sums(out)


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("build", "assemble"):
        command = commands.add_parser(name)
        command.add_argument("--out", type=Path, default=PLACE / "out")
        command.add_argument("--target", help="a target of the Rust compiler; this machine's by default")
        command.add_argument("--only", action="append", choices=list(KINDS), help="a kind (repeatable)")
        command.add_argument("--any-glibc", action="store_true", help="also binaries that need a newer glibc than 2.28")
        command.add_argument("--twice", action="store_true", help="make them again elsewhere and compare the bytes")
    commands.choices["build"].add_argument("--profile", default="packages")
    commands.choices["assemble"].add_argument("--natives", type=Path, required=True)
    for name in ("gather", "assets", "compare"):
        command = commands.add_parser(name)
        command.add_argument("out", type=Path)
        command.add_argument("folders", type=Path, nargs="+" if name == "gather" else 1)
    return parser.parse_args()


def repeated(options: argparse.Namespace) -> list[str]:
    """The same command line for a second run, without the folder of the result."""
    words = [options.command, *(["--target", options.target] if options.target else [])]
    words += [word for kind in options.only or [] for word in ("--only", kind)]
    words += ["--any-glibc"] if options.any_glibc else []
    if options.command == "build":
        return [*words, "--profile", options.profile]
    return [*words, "--natives", str(options.natives.absolute())]


def main() -> None:
    options = parsed()
    if options.command == "gather":
        release.gather(options.out, options.folders)
    elif options.command == "assets":
        release.assets(options.out, options.folders[0])
    elif options.command == "compare":
        twice.judge(options.out, options.folders[0])
    else:
        make(options)


def make(options: argparse.Namespace) -> None:
    """Builds or assembles, once or twice."""
    platform = named(options.target) if options.target else here()
    kinds = options.only or list(KINDS)
    if options.command == "build":
        python = tools()
        wanted = {INSIDE[kind] for kind in kinds}
        source = compiling.compile_all(platform, options.profile, TARGET, python, wanted)
    else:
        python, source = Path(sys.executable), options.natives.absolute()
    assemble(prepared(platform, source, options, kinds, python), kinds)
    if options.twice:
        tools_of = PLACE / "tools" if options.command == "build" else None
        twice.check(options.out.absolute(), repeated(options), tools_of)


if __name__ == "__main__":
    main()
