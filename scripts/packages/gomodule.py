"""The Go module with its static library, and its adapters, in the form of a module proxy (GOPROXY=file://DIR)."""
from __future__ import annotations

import zipfile
from pathlib import Path

from archive import Content, write_zip
from checkout import ROOT, VERSION
from context import Context

import go_module  # of scripts, where checkout looks


def make(context: Context) -> list[Path]:
    """Writes the module for one platform. :func:`gather` makes one of those of several platforms."""
    if not context.platform.go:
        return []
    library = {f"lib/{context.platform.go}/libojs.a": context.natives.for_go()}
    library |= {f"include/{name}": ROOT / "include" / name for name in ("ojs.h", "ojs_frame.h")}
    notices = context.licences("ojs-c")["THIRD-PARTY-NOTICES.txt"]
    go_module.pack(context.out / "go", VERSION, library, {"THIRD-PARTY-NOTICES.txt": notices})
    return sorted((context.out / "go").rglob("*.zip"))


def gather(zips: list[Path], out: Path) -> Path:
    """One module of several that differ in their libraries.

    Raises SystemExit where they differ in anything else than `lib/` and the notices: they are not of one source.
    """
    together: dict[str, Content] = {}
    for path in zips:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                data, inside = archive.read(name), name.partition("@")[2].partition("/")[2]
                known = together.setdefault(name, Content(data))
                if known.read() != data and not inside.startswith("THIRD-PARTY"):
                    raise SystemExit(f"packages: {path} has another {inside}: build all from one commit")
    return write_zip(out, together)
