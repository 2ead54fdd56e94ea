"""Two folders of packages that should be equal: which files differ, and which of their members."""
from __future__ import annotations

import gzip
import io
import lzma
import struct
import tarfile
import zipfile
from pathlib import Path
from typing import Callable, Iterator

import release

#: What an archive says of a member besides its bytes, and the bytes.
Member = tuple[str, bytes]
Members = dict[str, Member]
#: Most lines about one package.
MOST = 20


def compared(first: Path, second: Path) -> tuple[int, list[str]]:
    """How many files of both folders are equal, and lines about those that are not."""
    here, there = ({path.relative_to(folder).as_posix(): path for path in release.files(folder)}
                   for folder in (first, second))
    equal, lines = 0, []
    for name in sorted(here | there):
        if name not in here or name not in there:
            lines.append(f"{name}: only in {first if name in here else second}")
            continue
        one, other = here[name].read_bytes(), there[name].read_bytes()
        if one == other:
            equal += 1
            continue
        found = list(differences(name, one, other))
        lines += found[:MOST] + [f"{name}: {len(found) - MOST} more differences"] * (len(found) > MOST)
    return equal, lines


def differences(name: str, one: bytes, other: bytes) -> Iterator[str]:
    """What differs between two files, down to the members of archives inside of archives."""
    here, there = members(one), members(other)
    if not here or not there:
        at = next((at for at, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
        yield f"{name}: {len(one)} and {len(other)} bytes, the first difference at {at}"
        return
    inside = False
    for member in sorted(here | there):
        inner = f"{name} > {member}" if member else name
        if member not in here or member not in there:
            inside = True
            yield f"{inner}: only in the {'first' if member in here else 'second'}"
            continue
        (about, data), (about_other, data_other) = here[member], there[member]
        if about != about_other:
            inside = True
            yield f"{inner}: {about} and {about_other}"
        if data != data_other:
            inside = True
            yield from differences(inner, data, data_other)
    if not inside:
        order = "in another order" if list(here) != list(there) else "packed in another way"
        yield f"{name}: the same members, {order}"


def members(data: bytes) -> Members:
    """The members of an archive, the sections of a program, the content of what is compressed; of other files none."""
    for magic, at, read in FORMATS:
        if data[at:at + len(magic)] == magic:
            return read(data)
    return {}


def _zip(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {entry.filename: (f"time {entry.date_time}, mode {entry.external_attr >> 16:o}", archive.read(entry))
                for entry in archive.infolist()}


def _tar(data: bytes) -> Members:
    found: Members = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for entry in archive:
            file = archive.extractfile(entry) if entry.isfile() else None
            about = f"time {entry.mtime}, mode {entry.mode:o}, owner {entry.uid}:{entry.gid}, link {entry.linkname!r}"
            found[entry.name] = about, file.read() if file else b""
    return found


def _ar(data: bytes) -> Members:
    """A static library or a Debian package. Members may have one name: they are numbered."""
    found: Members = {}
    at, names = 8, b""
    while at + 60 <= len(data):
        head, size = data[at:at + 60], int(data[at + 48:at + 58])
        content = data[at + 60:at + 60 + size]
        name = head[:16].rstrip().decode(errors="replace")
        if name == "//":
            names = content
        elif name[:1] == "/" and name[1:].isdigit():
            name = names[int(name[1:]):].split(b"/\n")[0].decode(errors="replace")
        elif name != "/":
            name = name.removesuffix("/")
        number = sum(key.partition(" #")[0] == name for key in found)
        found[f"{name} #{number}" if number else name] = head[16:48].decode(errors="replace"), content
        at += 60 + size + size % 2
    return found


def _elf(data: bytes) -> Members:
    """The sections of a program or shared library of 64 bits."""
    if data[4] != 2 or data[5] != 1:
        return {}
    start, = struct.unpack_from("<Q", data, 40)
    size, count, of_names = struct.unpack_from("<3H", data, 58)
    heads = [struct.unpack_from("<2I4Q", data, start + size * number) for number in range(count)]
    names = data[heads[of_names][4]:] if heads else b""
    nobits = 8
    return {names[head[0]:].split(b"\0")[0].decode() or f"section {number}":
            (f"flags {head[2]}, {head[5]} bytes", b"" if head[1] == nobits else data[head[4]:head[4] + head[5]])
            for number, head in enumerate(heads)}


def _packed(unpack: Callable[[bytes], bytes], head: int) -> Callable[[bytes], Members]:
    """One compressed content, without a name; what stands before it, of a gzip file its time, is said beside it."""
    return lambda data: {"": (f"head {data[:head].hex()}", unpack(data))}


#: How a format begins, where in the file, and what reads it.
FORMATS: list[tuple[bytes, int, Callable[[bytes], Members]]] = [
    (b"PK\x03\x04", 0, _zip), (b"\x1f\x8b", 0, _packed(gzip.decompress, 10)),
    (b"\xfd7zXZ", 0, _packed(lzma.decompress, 12)),
    (b"!<arch>\n", 0, _ar), (b"\x7fELF", 0, _elf), (b"ustar", 257, _tar),
]
