"""What cargo has built, without its debug information, which is kept beside it."""
from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import floor
from archive import Content, write_tar_gz
from checkout import ROOT
from platforms import Platform

#: The cargo packages of the shared libraries, and the names of their files without `lib` and the extension.
LIBRARIES = {"ojs-c": "ojs_c", "ojs-node": "ojs_node", "ojs-python": "_native", "ojs-ruby": "ojs_ruby",
             "ojs-uniffi": "ojs_uniffi"}


def run(*command: str | Path) -> None:
    """Runs a tool in the root of the repository; its output is shown where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        raise SystemExit(f"packages: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


@dataclass
class Natives:
    """Stripped binaries of one platform in ``folder``, their debug information in ``symbols``."""

    platform: Platform
    source: Path  # where cargo has put them
    folder: Path
    symbols: Path
    made: dict[str, Path] = field(default_factory=dict)

    def shared(self, library: str) -> Path:
        """A shared library of :data:`LIBRARIES`, stripped."""
        return self._stripped(f"lib{library}.{self.platform.extension}")

    def program(self) -> Path:
        """The ``ojs`` binary, stripped."""
        return self._stripped("ojs")

    def archive(self) -> Path:
        """The static C library without debug records."""
        copy = self.folder / "libojs.a"
        if copy.name not in self.made:
            self.folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.built("libojs_c.a"), copy)
            deterministic = [] if self.platform.system == "macos" else ["--enable-deterministic-archives"]
            run("strip", "-S", *deterministic, copy)
            self.made[copy.name] = copy
        return copy

    def for_go(self) -> Path:
        """The static C library whose SQLite has names of its own."""
        copy = self.folder / "go" / "libojs.a"
        if "go" not in self.made:
            copy.parent.mkdir(parents=True, exist_ok=True)
            run(Path(__file__).with_name("go_library.sh"), self.built("libojs_c.a"), copy)
            self.made["go"] = copy
        return copy

    def glibc(self, *, most: floor.Version | None = None) -> floor.Version:
        """The oldest glibc that all binaries run on, ``(0,)`` without glibc; fails where it is newer than ``most``."""
        if self.platform.libc != "glibc":
            return (0,)
        files = [path for name, path in self.made.items() if name == "ojs" or name.endswith(".so")]
        for path in files:
            try:
                floor.check(path, most or (99,))
            except floor.TooNew as error:
                raise SystemExit(f"packages: {error}") from None
        return max(map(floor.floor, files), default=(0,))

    def write_symbols(self, path: Path, prefix: str) -> Path:
        """The debug information in a tarball, for debuggers and for crash reports."""
        files = {f"{prefix}/{file.name}": Content(file) for file in sorted(self.symbols.glob("*"))}
        return write_tar_gz(path, files)

    def built(self, name: str) -> Path:
        """A file as cargo has put it: with its debug information."""
        path = self.source / name
        if not path.is_file():
            raise SystemExit(f"packages: {path} has not been built")
        return path

    def _stripped(self, name: str) -> Path:
        if name in self.made:
            return self.made[name]
        built, copy, symbols = self.built(name), self.folder / name, self.symbols / f"{name}.debug"
        for folder in (self.folder, self.symbols):
            folder.mkdir(parents=True, exist_ok=True)
        if self.platform.system == "macos":
            run("dsymutil", "--flat", "-o", symbols, built)
            run("strip", "-x", "-o", copy, built)
        else:
            run("objcopy", "--only-keep-debug", "--compress-debug-sections=zlib", built, symbols)
            # Symbols that other programs link against stay. The link names the file beside it, with its checksum.
            run("strip", "--strip-unneeded", "-o", copy, built)
            run("objcopy", f"--add-gnu-debuglink={symbols}", copy)
        self.made[name] = copy
        return copy
