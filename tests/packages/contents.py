"""What must hold for every package: licences, no debug information, an old glibc, sums, equal bytes when made again."""
from __future__ import annotations

import hashlib
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Iterator

from place import ROOT, Broken

sys.path.append(str(ROOT / "scripts" / "packages"))

import compare  # noqa: E402
import floor  # noqa: E402


def archives(packages: Path) -> list[Path]:
    """The packages that users install. Signatures, sums and symbols are none."""
    folders = ("python", "npm", "gems", "maven", "go", "c", "binary", "debian")
    ends = (".whl", ".tgz", ".gem", ".jar", ".zip", ".tar.gz", ".deb")
    return sorted(path for folder in folders for path in (packages / folder).rglob("*") if path.name.endswith(ends))


def unpack(path: Path, folder: Path) -> Path:
    """Unpacks a package of any kind; the content of a gem lies in an archive of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    if path.suffix in (".whl", ".jar", ".zip"):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
    elif path.suffix == ".deb":
        subprocess.run(["dpkg-deb", "--extract", path, folder], check=True)
    else:
        with tarfile.open(path) as archive:
            archive.extractall(folder)
        if path.suffix == ".gem":
            unpack((folder / "data.tar.gz").rename(folder / "inside.tar.gz"), folder)
    return folder


def elves(folder: Path) -> Iterator[Path]:
    """Programs and shared libraries. (Members of static libraries are linked by the user's own linker.)"""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def licences(packages: Path) -> None:
    """LICENSE is in each, and the notices wherever code of others is compiled in."""
    for path in archives(packages):
        with tempfile.TemporaryDirectory() as folder:
            files = list(unpack(path, Path(folder)).rglob("*"))
            names = {file.name for file in files}
            if not names & {"LICENSE", "copyright"}:
                raise Broken(f"{path.name} has no LICENSE")
            native = next(elves(Path(folder)), None) or next((file for file in files if file.suffix == ".a"), None)
            if native is None:
                continue
            notice = next((file for file in files if file.name == "THIRD-PARTY-NOTICES.txt"), None)
            if notice is None or not re.search(r"^tokio \d.*: MIT$", notice.read_text(), re.MULTILINE):
                raise Broken(f"{path.name} has {native.name}, and no notices of what is in it")


def stripped(packages: Path) -> None:
    """No debug information; a link to the file beside it, which is in the tarball of symbols with the same checksum."""
    symbols = next((packages / "symbols").glob("*.tar.gz"))
    with tarfile.open(symbols) as archive:
        there = {Path(name).name for name in archive.getnames()}
    for path in archives(packages):
        with tempfile.TemporaryDirectory() as folder:
            for file in elves(unpack(path, Path(folder))):
                sections = floor.readelf("--section-headers", str(file))
                link = floor.readelf("--string-dump=.gnu_debuglink", str(file))
                if ".debug_info" in sections or ".gnu_debuglink" not in sections:
                    raise Broken(f"{path.name}: {file.name} has debug information, or no link to it")
                if not any(name in link for name in there):
                    raise Broken(f"{path.name}: the symbols of {file.name} are not in {symbols.name}: {link}")


def old_glibc(packages: Path, tools: Path) -> None:
    """Every program and shared library asks for symbols of glibc 2.28 or older, and for common libraries only.

    A static library says nothing of versions: a program that is linked with it against glibc 2.28 has all its symbols.
    """
    without = {path.relative_to(packages).parts[0] for path in archives(packages)}
    with tempfile.TemporaryDirectory() as folder:
        # Numbered: the zips of Go modules all have one name.
        for number, path in enumerate(archives(packages)):
            content = unpack(path, Path(folder, str(number)))
            files = [*elves(content), *(linked(library, tools) for library in sorted(content.rglob("*.a")))]
            for file in files:
                floor.check(file)
                oldest = ".".join(map(str, floor.floor(file)))
                print(f"        {path.name}: {file.name} runs on glibc {oldest}", flush=True)
                without.discard(path.relative_to(packages).parts[0])
    if without:
        raise Broken(f"no native file in the packages of {sorted(without)}")


def linked(library: Path, tools: Path) -> Path:
    """The example of C, linked by zig with a static library and the symbols of glibc 2.28."""
    program, target = library.with_name("linked"), f"{platform.machine()}-linux-gnu.{'.'.join(map(str, floor.MOST))}"
    include = next(folder / "include" for folder in library.parents if (folder / "include").is_dir())
    compiler = [tools / "python", "-m", "ziglang", "cc", "-target", target]
    # -lunwind: gcc links its library for backtraces by itself, zig does not link its own.
    libraries = [library, "-lpthread", "-ldl", "-lm", "-lunwind"]
    example = [f"-I{include}", ROOT / "examples" / "c" / "mail.c", *libraries, "-o", program]
    done = subprocess.run([*compiler, *example], capture_output=True, text=True)
    if done.returncode != 0:
        raise Broken(f"{library.name} does not link against {target}:\n{done.stderr}")
    return program


def uncompressed(file: Path) -> bytes:
    """A native file whose debug information can be searched."""
    if file.suffix != ".debug":
        return file.read_bytes()
    plain = file.with_name("plain")
    subprocess.run(["objcopy", "--decompress-debug-sections", file, plain], check=True)
    return plain.read_bytes()


def no_paths(packages: Path) -> None:
    """No path of the machine that compiled is in a native file, nor in the debug information beside them."""
    places = {str(ROOT).encode(), str(Path.home() / ".cargo").encode()}
    for path in [*archives(packages), *(packages / "symbols").glob("*.tar.gz")]:
        with tempfile.TemporaryDirectory() as folder:
            content = unpack(path, Path(folder))
            for file in [*elves(content), *content.rglob("*.a")]:
                data = uncompressed(file)
                if found := [place.decode() for place in places if place in data]:
                    raise Broken(f"{path.name}: {file.name} contains the path {found[0]}")


def judged(packages: Path, tools: Path) -> None:
    """Other projects' tools agree: auditwheel on the wheel's name, abi3audit on its module, CycloneDX on our lists."""
    for wheel in (packages / "python").glob("*.whl"):
        said = _tool(tools, "auditwheel", "show", wheel)
        tag = re.search(r"manylinux_\d+_\d+_\w+(?=\.whl)", wheel.name)
        if tag is None or f'"{tag[0]}"' not in said.replace("\n", " "):
            raise Broken(f"auditwheel show {wheel.name}:\n{said}")
        _tool(tools, "abi3audit", "--strict", wheel)
    for listing in (packages / "sbom").glob("*.json"):
        _tool(tools, "python", "-c", VALID, listing)


#: Prints nothing for a list of components that CycloneDX's own schema accepts.
VALID = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read()))
"""


def _tool(tools: Path, name: str, *arguments: str | Path) -> str:
    done = subprocess.run([tools / name, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise Broken(f"{name} {' '.join(map(str, arguments[-1:]))}:\n{done.stdout}{done.stderr}")
    return done.stdout


def sums(packages: Path) -> None:
    """SHA256SUMS names every file, with its digest."""
    lines = [line.split("  ", 1) for line in (packages / "SHA256SUMS").read_text().splitlines()]
    wrong = [name for digest, name in lines if hashlib.sha256((packages / name).read_bytes()).hexdigest() != digest]
    missing = {path.name for path in archives(packages)} - {Path(name).name for _, name in lines}
    if wrong or missing:
        raise Broken(f"SHA256SUMS: wrong {wrong}, missing {sorted(missing)}")


def same_bytes(packages: Path, again: Path) -> None:
    """A run in another folder has written the same bytes."""
    equal, lines = compare.compared(packages, again)
    if lines or not equal:
        raise Broken("\n".join(["a second run wrote other bytes:", *lines]))
