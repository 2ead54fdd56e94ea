"""The C library in a tarball: headers, shared and static library, files for pkg-config and for CMake.

    clibrary.py files PREFIX    writes the files for pkg-config and CMake into a prefix (scripts/c.sh)
"""
from __future__ import annotations

import sys
from pathlib import Path

from archive import Content, Files, text, write_tar_gz
from checkout import ROOT, VERSION
from context import Context

TEMPLATES = Path(__file__).with_name("templates")
#: Template, and its place in a prefix.
PLACES = {"ojs.pc": "lib/pkgconfig", "ojs-config.cmake": "lib/cmake/ojs", "ojs-config-version.cmake": "lib/cmake/ojs"}
#: The name under which programs look for the library when they start (bindings/c/build.rs).
SONAME = "libojs.so.0"


def described(soname: str) -> Files:
    """The files that tell build tools where the library is. They name no absolute path: a prefix may be moved."""
    filled = {name: (TEMPLATES / name).read_text().replace("@VERSION@", VERSION).replace("@SONAME@", soname)
              for name in PLACES}
    return {f"{PLACES[name]}/{name}": text(content) for name, content in filled.items()}


def make(context: Context) -> list[Path]:
    """Writes ojs-c-VERSION-PLATFORM.tar.gz, to be unpacked into a prefix such as /usr/local."""
    shared = Content(context.natives.shared("ojs_c"), executable=True)
    headers = ("ojs.h", "ojs_frame.h", "ojs_operations.h")
    files: Files = {f"include/{name}": Content(ROOT / "include" / name) for name in headers}
    files["lib/libojs.a"] = Content(context.natives.archive())
    if context.platform.system == "macos":
        files |= {"lib/libojs.dylib": shared, **described("libojs.dylib")}
    else:
        files |= {f"lib/libojs.so.{VERSION}": shared, f"lib/{SONAME}": Content(link=f"libojs.so.{VERSION}"),
                  "lib/libojs.so": Content(link=SONAME), **described(SONAME)}
    files |= context.licences("ojs-c", "share/doc/ojs-c/")
    files["share/doc/ojs-c/mail.c"] = Content(ROOT / "examples" / "c" / "mail.c")
    top = f"ojs-c-{VERSION}-{context.platform.short}"
    return [write_tar_gz(context.out / "c" / f"{top}.tar.gz", {f"{top}/{name}": data for name, data in files.items()})]


if __name__ == "__main__":
    if sys.argv[1:2] != ["files"] or len(sys.argv) != 3:
        raise SystemExit(__doc__)
    for name, content in described("libojs.dylib" if sys.platform == "darwin" else SONAME).items():
        path = Path(sys.argv[2], name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.read())
