"""The checkout that packages are made of: its folder, its version, its files."""
from __future__ import annotations

import re
import sys
from pathlib import Path

from archive import Content, Files

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "scripts"))

from tracked import tracked  # noqa: E402

VERSION = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]  # type: ignore[index]


def sources(folder: str, *beginnings: str, but: tuple[str, ...] = ()) -> Files:
    """The files of the repository below a folder, by their path in it: those that git has or would take.

    ``beginnings`` chooses paths by how they begin, ``but`` leaves some out.
    """
    home = ROOT / folder
    chosen = [name for name in tracked(home) if not beginnings or name.startswith(beginnings)]
    return {name: Content(home / name, executable=(home / name).stat().st_mode & 0o100 != 0)
            for name in chosen if not name.startswith(but or ("\0",))}
