"""What every kind of package is made of: the binaries, the version, the licences, where it goes."""
from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import notices
from archive import Content, Files, text
from natives import Natives
from platforms import Platform

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "scripts"))

from tracked import tracked  # noqa: E402

VERSION = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]  # type: ignore[index]


@dataclass
class Context:
    """One run for one platform."""

    platform: Platform
    natives: Natives
    out: Path
    stage: Path
    glibc: tuple[int, ...]  # the oldest glibc that the binaries run on
    tools: Path = Path(sys.executable)  # the Python interpreter that has maturin

    def licences(self, package: str, folder: str = "") -> Files:
        """LICENSE and the notices of what is inside."""
        there = notices.third_party(package, self.platform.triple)
        return {f"{folder}LICENSE": Content(ROOT / "LICENSE"), f"{folder}THIRD-PARTY-NOTICES.txt": text(there)}


def sources(folder: str, *beginnings: str, but: tuple[str, ...] = ()) -> Files:
    """The files of the repository below a folder, by their path in it: those that git has or would take.

    ``beginnings`` chooses paths by how they begin, ``but`` leaves some out.
    """
    home = ROOT / folder
    chosen = [name for name in tracked(home) if not beginnings or name.startswith(beginnings)]
    return {name: Content(home / name, executable=(home / name).stat().st_mode & 0o100 != 0)
            for name in chosen if not name.startswith(but or ("\0",))}
