"""Compiles what goes into packages, against an old glibc where the platform has one."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import floor
from checkout import ROOT
from natives import LIBRARIES
from platforms import Platform

#: Cargo starts here. zig writes paths below the folder that it is started in as relative paths, and the build script of
#: rb-sys, which reads the headers of C at these paths, runs in another folder. No target folder is below this one.
START = Path(__file__).resolve().parent


def environment(platform: Platform, target: Path, tools: Path) -> dict[str, str]:
    """Variables of the compilation. Paths of this machine are replaced, so that equal sources give equal bytes.

    zig compiles libunwind when it links, with no flags of ours, and says in its debug information where.
    CCC_OVERRIDE_OPTIONS adds flags to what any clang is given ("#": without a word about it). zig's cache does not know
    of the variable, so zig has a cache of its own.
    """
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    # Of several that fit a path, compilers take the last.
    places = {ROOT: "ojs", target: "ojs/target", home: "cargo"}
    # zig's own path has no symbolic links.
    links = {target.resolve(): "ojs/target", tools.parent.parent.resolve(): "ojs/target/packages/tools"}
    flags = [f"--remap-path-prefix={place}={name}" for place, name in places.items()]
    of_c = [f"-ffile-prefix-map={place}={name}" for place, name in places.items()]
    of_rust = {rustflags(platform): " ".join(flags)}
    of_zig = " ".join(f"+-ffile-prefix-map={place}={name}" for place, name in (places | links).items())
    return os.environ | of_rust | {"CFLAGS": " ".join(of_c), "CARGO_TARGET_DIR": str(target),
                                   "CCC_OVERRIDE_OPTIONS": f"#{of_zig}",
                                   "ZIG_GLOBAL_CACHE_DIR": str(target / "packages" / "zig")}


def rustflags(platform: Platform) -> str:
    """The variable with the flags of one target: build scripts and macros of the host are compiled without them."""
    return f"CARGO_TARGET_{platform.triple.upper().replace('-', '_')}_RUSTFLAGS"


def compile_all(platform: Platform, profile: str, target: Path, tools: Path, wanted: set[str]) -> Path:
    """Builds the cargo packages that are wanted: libraries, the `ojs` binary; the folder that they are in.

    Two builds, because the binary has features that packages of languages do not have (queues of SQS).
    """
    kind, triple = "build", platform.triple
    if platform.libc == "glibc":
        kind, triple = "zigbuild", f"{triple}.{'.'.join(map(str, floor.MOST))}"
    elif platform.libc == "musl":
        kind = "zigbuild"
    variables = environment(platform, target, tools)
    variables["PATH"] = f"{tools.parent}{os.pathsep}{variables['PATH']}"
    made = target / platform.triple / profile.replace("dev", "debug")
    libraries, programs = sorted(wanted & set(LIBRARIES)), sorted(wanted - set(LIBRARIES))
    for chosen in filter(None, (libraries, programs)):
        own = dict(variables)
        # musl has no shared libraries by default: only the binary is linked statically there.
        if platform.libc == "musl" and chosen is libraries:
            own[rustflags(platform)] += " -C target-feature=-crt-static"
        command = ["cargo", kind, "--locked", "--profile", profile, "--target", triple]
        command += [word for name in chosen for word in ("-p", name)]
        subprocess.run(command, cwd=START, env=own, check=True)
    if "ojs-uniffi" in wanted:
        # It runs here, and is in no package: it writes the Kotlin code that belongs to the library.
        own = os.environ | {"CARGO_TARGET_DIR": str(target)}
        subprocess.run(["cargo", "build", "--locked", "-p", "xtask"], cwd=START, env=own, check=True)
        shutil.copy(target / "debug" / "xtask", made)
    return made
