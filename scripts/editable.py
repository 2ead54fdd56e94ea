#!/usr/bin/env python3
"""Installs the Python package, editable, around a native module that is built already (`python.sh` with OJS_BUILT=1).

What `pip install --editable python` does, without its compilation: maturin would build this one package with other
features than the workspace has, and so the whole core a second time. Needs maturin and pip in the interpreter that runs
it, which may be that of an application: `pip install maturin`, then `python editable.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python"


def wheel(folder: Path) -> Path:
    """A wheel of the metadata and of the path to the sources."""
    os.chdir(PACKAGE)
    # Its command lies beside the interpreter, which need not be an activated environment.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    import maturin

    info = folder / maturin.prepare_metadata_for_build_editable(str(folder))
    (folder / "openjobspec.pth").write_text(f"{PACKAGE}\n")
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    record = f"{info.name}/RECORD"
    (folder / record).write_text("".join(f"{name},,\n" for name in [*files, record]))
    made = folder / f"{info.name.removesuffix('.dist-info')}-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for name in [*files, record]:
            archive.write(folder / name, name)
    return made


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = wheel(Path(folder))
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall"]
        subprocess.run([*pip, str(made)], check=True)


if __name__ == "__main__":
    main()
