"""The wheel of the Python package: one for every Python since 3.10 (abi3)."""
from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from archive import Content, Files, text, write_zip
from checkout import ROOT, VERSION, sources
from context import Context

#: Oldest macOS that Rust's standard library supports, per processor.
MACOS = {"x86_64": "macosx_10_12_x86_64", "aarch64": "macosx_11_0_arm64"}
#: musl 1.2, which Rust's own targets are linked with.
MUSL = "musllinux_1_2"


def tag(context: Context) -> str:
    """The platform in the name of the wheel; that of glibc says the oldest version that the module runs on."""
    platform = context.platform
    if platform.system == "macos":
        return MACOS[platform.machine]
    if platform.libc == "musl":
        return f"{MUSL}_{platform.machine}"
    # No manylinux is older than 2.17.
    major, minor = max(context.glibc[:2], (2, 17))
    return f"manylinux_{major}_{minor}_{platform.machine}"


def metadata(context: Context) -> dict[str, bytes]:
    """The metadata that maturin makes of pyproject.toml."""
    place = context.stage / "wheel"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    code = "import maturin, sys; maturin.prepare_metadata_for_build_wheel(sys.argv[1])"
    # maturin's own command lies beside the interpreter.
    path = {"PATH": f"{context.tools.parent}{os.pathsep}{os.environ['PATH']}"}
    made = subprocess.run([context.tools, "-c", code, place], cwd=ROOT / "python", capture_output=True, text=True,
                          env=os.environ | path)
    if made.returncode != 0:
        raise SystemExit(f"packages: maturin cannot describe the wheel\n{made.stdout}{made.stderr}")
    folder = next(place.glob("*.dist-info"))
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != "RECORD"}


def record(files: Files, name: str) -> Content:
    """The list of files with their hashes, which installers compare."""
    lines = []
    for path, content in sorted(files.items()):
        data = content.read()
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    return text("".join(lines) + f"{name},,\n")


def make(context: Context) -> list[Path]:
    """Writes openjobspec-VERSION-cp310-abi3-PLATFORM.whl."""
    files: Files = {f"openjobspec/{name}": content for name, content in sources("python/openjobspec").items()}
    # Python loads this name on macOS, too.
    files["openjobspec/_native.abi3.so"] = Content(context.natives.shared("_native"), executable=True)
    info = f"openjobspec-{VERSION}.dist-info"
    tags = f"cp310-abi3-{tag(context)}"
    wheel = f"Wheel-Version: 1.0\nGenerator: ojs-packages\nRoot-Is-Purelib: false\nTag: {tags}\n"
    files |= {f"{info}/{name}": Content(data) for name, data in metadata(context).items()}
    files[f"{info}/WHEEL"] = text(wheel)
    files |= context.licences("ojs-python", f"{info}/licenses/")
    files[f"{info}/RECORD"] = record(files, f"{info}/RECORD")
    return [write_zip(context.out / "python" / f"openjobspec-{VERSION}-{tags}.whl", files)]
