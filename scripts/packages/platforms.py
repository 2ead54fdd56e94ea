"""The platforms that packages exist for, and what each packaging system calls them."""
from __future__ import annotations

import platform as host
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Platform:
    """One target of the Rust compiler. A name is empty where a packaging system has no package for the platform."""

    triple: str
    system: str  # linux, macos
    machine: str  # as the Rust compiler names it
    node: str  # npm: @openjobspec/sdk-NODE
    java: str  # classifier of the second jar
    kotlin: str  # likewise; also the folder in which JNA looks
    go: str  # folder in go/lib
    deb: str  # architecture of Debian
    libc: str = ""  # glibc, musl, or empty outside of Linux

    @property
    def extension(self) -> str:
        """The file name extension of a shared library."""
        return "dylib" if self.system == "macos" else "so"

    @property
    def short(self) -> str:
        """The part of the names of tarballs: linux-x86_64, linux-x86_64-musl, macos-aarch64."""
        return f"{self.system}-{self.machine}" + ("-musl" if self.libc == "musl" else "")


def _linux(machine: str, node: str, go: str, deb: str) -> list[Platform]:
    kotlin = f"linux-{machine.replace('x86_64', 'x86-64')}"
    gnu = Platform(f"{machine}-unknown-linux-gnu", "linux", machine, f"linux-{node}-gnu", f"linux-{machine}", kotlin,
                   f"linux_{go}", deb, "glibc")
    # The JVM and Go look for one library per operating system and processor: those of glibc are published.
    musl = Platform(f"{machine}-unknown-linux-musl", "linux", machine, f"linux-{node}-musl", "", "", "", "", "musl")
    return [gnu, musl]


def _macos(machine: str, node: str, go: str) -> Platform:
    kotlin = f"darwin-{machine.replace('x86_64', 'x86-64')}"
    return Platform(f"{machine}-apple-darwin", "macos", machine, f"darwin-{node}", f"macos-{machine}", kotlin,
                    f"darwin_{go}", "")


#: What .github/workflows/release.yml builds.
PLATFORMS = [
    *_linux("x86_64", "x64", "amd64", "amd64"),
    *_linux("aarch64", "arm64", "arm64", "arm64"),
    _macos("x86_64", "x64", "amd64"),
    _macos("aarch64", "arm64", "arm64"),
]


def named(triple: str) -> Platform:
    """The platform of a target.

    >>> named("x86_64-unknown-linux-gnu").node
    'linux-x64-gnu'
    """
    for known in PLATFORMS:
        if known.triple == triple:
            return known
    raise SystemExit(f"packages: no packages for {triple}; there are {', '.join(p.triple for p in PLATFORMS)}")


def here() -> Platform:
    """The platform of this machine."""
    machine = host.machine().replace("arm64", "aarch64")
    if sys.platform == "darwin":
        return named(f"{machine}-apple-darwin")
    return named(f"{machine}-unknown-linux-{'gnu' if host.libc_ver()[0] == 'glibc' else 'musl'}")
