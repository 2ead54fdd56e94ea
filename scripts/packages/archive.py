"""Archives whose bytes depend on nothing but their content: names in order, one time, one owner."""
from __future__ import annotations

import gzip
import io
import os
import tarfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

#: Seconds since 1970, as every file in every archive has them. The default is also in the pom files.
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "1767225600"))


@dataclass(frozen=True)
class Content:
    """One file of an archive: its bytes, or the file that has them, or the target of a symbolic link."""

    data: bytes | Path = b""
    executable: bool = False
    link: str = ""

    def read(self) -> bytes:
        """The bytes."""
        return self.data if isinstance(self.data, bytes) else self.data.read_bytes()

    @property
    def mode(self) -> int:
        """Permissions: readable by all, executable only where the file is a program."""
        return 0o755 if self.executable else 0o644


Files = dict[str, Content]


def text(content: str) -> Content:
    """A text file."""
    return Content(content.encode())


def write_zip(path: Path, files: Files, level: int = 6) -> Path:
    """Writes a zip file: a wheel, a jar, a Go module. Order: META-INF first, as jars want it, then by name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    date = time.gmtime(EPOCH)[:6]
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(files, key=lambda name: (name != "META-INF/MANIFEST.MF", name)):
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (0o100000 | files[name].mode) << 16
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name].read(), compresslevel=level)
    return path


def write_tar_gz(path: Path, files: Files) -> Path:
    """Writes a tar.gz file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in sorted(files):
            entry, content = tarfile.TarInfo(name), files[name]
            entry.mtime, entry.mode = EPOCH, content.mode
            if content.link:
                entry.type, entry.linkname = tarfile.SYMTYPE, content.link
                archive.addfile(entry)
            else:
                data = content.read()
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    # No name and no time of its own: both would be in the bytes.
    with path.open("wb") as out, gzip.GzipFile("", "wb", 6, out, mtime=0) as packed:
        packed.write(raw.getbuffer())
    return path


def gzipped(data: bytes) -> bytes:
    """The bytes, compressed without a time."""
    return gzip.compress(data, 9, mtime=0)


def lay(folder: Path, files: Files) -> Path:
    """Writes the files into a folder, with the time that archives have, and so the folders that they are in."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content.link:
            path.symlink_to(content.link)
        else:
            path.write_bytes(content.read())
            path.chmod(content.mode)
            os.utime(path, (EPOCH, EPOCH))
    # Their own folders only: a prefix may be /usr/local.
    inside = {folder / parent for name in files for parent in Path(name).parents if parent != Path(".")}
    for parent in sorted(inside, reverse=True):
        parent.chmod(0o755)
        os.utime(parent, (EPOCH, EPOCH))
    return folder
