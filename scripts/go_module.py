#!/usr/bin/env python3
"""The Go module, its adapters and its package for functions, as users get them.

    go_module.py pack DIR VERSION    writes them into DIR in the form of a module proxy (GOPROXY=file://DIR)
    go_module.py install VERSION     packs it, gets it into an empty project, and runs the programs of its README there

scripts/go.sh has put the library and the headers in place before. Python 3.10, standard library only.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "scripts" / "packages"))

from archive import Content, Files, write_zip  # noqa: E402
from tracked import tracked  # noqa: E402

GO = ROOT / "go"
# Others are run by go/adapters/tests, which has the drivers.
PROGRAM = re.compile(r"^(?:<!-- until: (?P<until>.+?) -->\n)?(?:<!-- a (?P<test>test) -->\n)?"
                     r"(?<!<!-- with drivers -->\n)(?<!<!-- as printed -->\n)```go\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE = 30


def name_of(text: str) -> str:
    """The name of the module that a go.mod describes."""
    return text.removeprefix("module ").partition("\n")[0]


MODULE = name_of((GO / "go.mod").read_text())


def pack(folder: Path, version: str, native: dict[str, Path] | None = None, more: Files | None = None,
         level: int = 6) -> None:
    """The module, its adapters and the package for functions. Modules inside of a module are no part of it.

    ``native`` are the library and the headers by their path in the module, those that go.sh has put there by default;
    ``more`` are further files of the module.
    """
    homes = [path.parent for path in GO.rglob("go.mod")]
    if native is None:
        there = [*GO.glob("lib/*/*.a"), *GO.glob("include/*")]
        native = {path.relative_to(GO).as_posix(): path for path in there}
    for home in homes:
        if home.name == "tests":
            continue  # Users get no tests.
        # Here it takes the package from this checkout; elsewhere, the version that was packed with it.
        text = (home / "go.mod").read_text().replace(f"{MODULE} v0.0.0", f"{MODULE} v{version}")
        text = re.sub(r"\nreplace .*\n", "", text)
        others = [other for other in homes if other != home and other.is_relative_to(home)]
        inner = tuple(f"{other.relative_to(home).as_posix()}/" for other in others)
        files = {name: Content(home / name) for name in tracked(home)
                 if not name.startswith(inner) and not name.endswith("_test.go")}
        if home == GO:
            files |= {name: Content(path) for name, path in native.items()} | (more or {})
        files |= {"go.mod": Content(text.encode()), "LICENSE": Content(ROOT / "LICENSE")}
        write(folder / name_of(text) / "@v", name_of(text), version, files, level)


def write(place: Path, module: str, version: str, files: Files, level: int) -> None:
    """`@v/list`, and the information, go.mod and zip of one version."""
    place.mkdir(parents=True)
    (place / "list").write_text(f"v{version}\n")
    (place / f"v{version}.info").write_text(f'{{"Version":"v{version}"}}')
    (place / f"v{version}.mod").write_bytes(files["go.mod"].read())
    prefix = f"{module}@v{version}"
    write_zip(place / f"v{version}.zip", {f"{prefix}/{name}": content for name, content in files.items()}, level)


def run(program: Path, until: str | None) -> str:
    """Runs a program; returns what is wrong, or nothing. One that works until it is told to stop gets SIGTERM after its line."""
    process = subprocess.Popen([program], cwd=program.parent, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    clock = threading.Timer(PATIENCE, process.kill)
    clock.start()
    output, seen = "", until is None
    assert process.stdout is not None
    for line in process.stdout:
        output += line
        if not seen and until is not None and until in line:
            seen = True
            process.send_signal(signal.SIGTERM)
    status = process.wait()
    clock.cancel()
    return "" if seen and status == 0 else f"exit status {status}\n{output}"


def install(version: str) -> int:
    """An empty project, `go get`, the programs. Prints one line for each, as go test does."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        pack(Path(folder, "proxy"), version, level=1)
        project = Path(folder, "project")
        project.mkdir()
        # A module cache of its own, which can be deleted; what has been compiled of Go itself is shared.
        environment = os.environ | {"GOPROXY": f"file://{folder}/proxy", "GONOSUMDB": MODULE, "GOFLAGS": "-modcacherw",
                                    "GOMODCACHE": f"{folder}/modules", "GOTOOLCHAIN": "local"}

        def go(*arguments: str) -> None:
            subprocess.run(["go", *arguments], cwd=project, env=environment, check=True, capture_output=True, text=True)

        try:
            go("mod", "init", "example.com/app")
            go("get", f"{MODULE}@v{version}")
            for number, match in enumerate(PROGRAM.finditer((GO / "README.md").read_text()), 1):
                place = project / f"program{number}"
                place.mkdir()
                if match["test"]:
                    (place / "main_test.go").write_text(match["code"])
                    go("test", "-c", "-o", f"{place}/{place.name}", f"./{place.name}")
                else:
                    (place / "main.go").write_text(match["code"])
                    go("build", "-o", f"{place}/", f"./{place.name}")
                wrong = run(place / place.name, match["until"])
                failed += bool(wrong)
                print(f"--- {'FAIL' if wrong else 'PASS'}: README program {number}, installed into an empty project {wrong}")
        except subprocess.CalledProcessError as error:
            failed += 1
            print(f"--- FAIL: {' '.join(map(str, error.cmd))}\n{error.stderr}")
    return 1 if failed else 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["pack", folder, version]:
            pack(Path(folder), version)
        case ["install", version]:
            sys.exit(install(version))
        case _:
            sys.exit(__doc__)
