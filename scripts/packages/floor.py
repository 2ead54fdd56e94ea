"""The oldest glibc that a file of ours runs on, read from the versions of the symbols that it asks for.

    floor.py FILE…     prints the floor of each file, and the libraries that it needs
"""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

#: The newest glibc that packages may ask for: RHEL 8, Debian 10, Ubuntu 18.10, Amazon Linux 2023.
MOST = (2, 28)

#: Libraries that every Linux with glibc has. (manylinux allows the same, and some of X11.)
COMMON = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libgcc_s.so.1",
          "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}

Version = tuple[int, ...]


class TooNew(Exception):
    """A file asks for a newer glibc than packages may, or for a library that a bare machine lacks."""


def readelf(*arguments: str) -> str:
    """What readelf prints, in English."""
    return subprocess.run(["readelf", "--wide", *arguments], capture_output=True, text=True, check=True,
                          errors="replace", env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout


def asked(listing: str) -> dict[str, Version]:
    """From the output of ``readelf --version-info``: the versions of glibc that a file needs.

    >>> asked("Version needs section\\n  0x0: Version: 1  File: libc.so.6\\n  0x10: Name: GLIBC_2.17  Flags: none\\n")
    {'GLIBC_2.17': (2, 17)}
    """
    needs = listing.partition("Version needs section")[2]
    found = re.findall(r"Name: (GLIBC_([\d.]+))\b", needs)
    return {name: tuple(map(int, number.split("."))) for name, number in found}


def floor(file: Path) -> Version:
    """The oldest glibc that has all symbols of the file; ``(0,)`` where the file asks for none."""
    return max(asked(readelf("--version-info", str(file))).values(), default=(0,))


def newest_symbols(file: Path, most: Version = MOST) -> list[str]:
    """The symbols that are newer than the floor that packages promise."""
    found = re.findall(r"\bUND (\S+)@+GLIBC_([\d.]+)", readelf("--dyn-syms", str(file)))
    return sorted(f"{name} (glibc {number})" for name, number in found if tuple(map(int, number.split("."))) > most)


def libraries(file: Path) -> list[str]:
    """The shared libraries that the file needs."""
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(.*?)\]", readelf("--dynamic", str(file)))


def check(file: Path, most: Version = MOST) -> None:
    """Raises :class:`TooNew` where the file would not start on a machine with glibc ``most`` and nothing else."""
    if more := sorted(set(libraries(file)) - COMMON):
        raise TooNew(f"{file.name} needs {', '.join(more)}, which a bare machine lacks")
    if floor(file) > most:
        wanted = ".".join(map(str, most))
        symbols = ", ".join(newest_symbols(file, most))
        raise TooNew(f"{file.name} needs a newer glibc than {wanted}: {symbols}; link with cargo-zigbuild")


if __name__ == "__main__":
    for named in sys.argv[1:]:
        number = ".".join(map(str, floor(Path(named))))
        print(f"{named}: glibc {number}; {' '.join(libraries(Path(named)))}")
