"""Compiles what goes into packages, against an old glibc where the platform has one."""
from __future__ import annotations

import os
import subprocess
from pathlib import Path

import floor
from natives import LIBRARIES
from platforms import Platform
from context import ROOT


def environment(platform: Platform) -> dict[str, str]:
    """Variables of the compilation. Paths of this machine are replaced, so that equal sources give equal bytes."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    flags = [f"--remap-path-prefix={ROOT}=ojs", f"--remap-path-prefix={home}=cargo"]
    of_c = f"-ffile-prefix-map={home}=cargo -ffile-prefix-map={ROOT}=ojs"
    return os.environ | {rustflags(platform): " ".join(flags), "CFLAGS": of_c}


def rustflags(platform: Platform) -> str:
    """The variable with the flags of one target: build scripts and macros of the host are compiled without them."""
    return f"CARGO_TARGET_{platform.triple.upper().replace('-', '_')}_RUSTFLAGS"


def compile_all(platform: Platform, profile: str, target: Path, tools: Path) -> Path:
    """Builds all libraries and the `ojs` binary; the folder that they are in.

    Two builds, because the binary has features that packages of languages do not have (queues of SQS).
    """
    kind, triple = "build", platform.triple
    if platform.libc == "glibc":
        kind, triple = "zigbuild", f"{triple}.{'.'.join(map(str, floor.MOST))}"
    elif platform.libc == "musl":
        kind = "zigbuild"
    # musl has no shared libraries by default: only the binary is linked statically there.
    packages = [word for name in LIBRARIES for word in ("-p", name)]
    variables = environment(platform)
    variables["PATH"] = f"{tools.parent}{os.pathsep}{variables['PATH']}"
    for chosen in (packages, ["-p", "ojs-cli"]):
        own = dict(variables)
        if platform.libc == "musl" and chosen is packages:
            own[rustflags(platform)] += " -C target-feature=-crt-static"
        command = ["cargo", kind, "--locked", "--profile", profile, "--target", triple, *chosen]
        subprocess.run(command, cwd=ROOT, env=own, check=True)
    return target / platform.triple / profile.replace("dev", "debug")
