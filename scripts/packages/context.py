"""What every kind of package is made of: the binaries, the version, the licences, where it goes."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import notices
from archive import Content, Files, text
from checkout import ROOT
from natives import Natives
from platforms import Platform


@dataclass
class Context:
    """One run for one platform."""

    platform: Platform
    natives: Natives
    out: Path
    stage: Path
    glibc: tuple[int, ...]  # the oldest glibc that the binaries run on
    tools: Path  # the Python interpreter that has maturin

    def licences(self, package: str, folder: str = "") -> Files:
        """LICENSE and the notices of what is inside."""
        there = notices.third_party(package, self.platform.triple)
        return {f"{folder}LICENSE": Content(ROOT / "LICENSE"), f"{folder}THIRD-PARTY-NOTICES.txt": text(there)}
