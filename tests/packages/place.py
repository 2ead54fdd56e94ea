"""An empty place to install a package into: a folder, a PATH with named programs only, no compiler, no repository."""
from __future__ import annotations

import functools
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent.parent
#: Seconds for an installation or a program. A machine that compiles beside it is slow.
PATIENCE = 600
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "ld", "as", "rustc", "cargo", "zig")
#: The line that every first program of a README prints.
WORKED = "to ada@example.com"
#: What newcomers mistype in it, and what the answer must name.
MISTAKES = {"sqlite:jobs.db": ("jobs.db", "sqlite:jobs.db"), "email.send": ("Email Send", "Email Send")}


class Broken(Exception):
    """An installation or a program did not do what it should."""


@functools.cache
def hiding() -> list[str]:
    """The command behind which a repository and compilers can be hidden; empty where the system does not allow it."""
    unshare = shutil.which("unshare")
    for command in ([unshare, "--mount"], [unshare, "--mount", "--map-root-user"]):
        if unshare and subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            return command
    return []


def fifteen_lines(readme: Path) -> str:
    """The first program of a README, as its users copy it.

    The sections are alike in every language: ``## Fifteen lines``, then a block of code.
    """
    found = re.search(r"^## Fifteen lines\n.*?^```\w+\n(.*?)^```$", readme.read_text(), re.MULTILINE | re.DOTALL)
    if found is None:
        raise Broken(f"{readme}: no block of code below '## Fifteen lines'")
    return found[1]


class Place:
    """One such place. Use it in a `with` statement: the folder is removed at the end.

    The packages are outside of the repository, which is hidden here.
    """

    def __init__(self, packages: Path, *programs: str, compiler: bool = False) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="ojs-package-")
        self.home = Path(self._folder.name).resolve()
        self.packages = packages
        self._compiler = compiler
        self.path = self.home / "path"
        for name in ("bin", "path", "app", "tmp"):
            (self.home / name).mkdir()
        self.app = self.home / "app"
        for program in (*programs, "sh", "env"):
            found = shutil.which(program)
            if found is None:
                raise Broken(f"no {program} on this machine")
            (self.path / program).symlink_to(found)

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def environment(self, more: dict[str, str]) -> dict[str, str]:
        """The variables that programs get: nothing of this process."""
        path = str(self.path) if not self._compiler else f"{self.path}:/usr/local/bin:/usr/bin:/bin"
        return {"HOME": str(self.home), "PATH": path, "TMPDIR": str(self.home / "tmp"), "LANG": "C.UTF-8"} | more

    def command(self, words: tuple[str | Path, ...]) -> list[str]:
        """The command, behind one that hides the repository, and the compilers if none may be used."""
        plain = [str(word) for word in words]
        if not hiding():
            return plain
        hide = [f'/bin/mount -t tmpfs none "{ROOT}"']
        if not self._compiler:
            there = {os.path.realpath(path) for name in COMPILERS if (path := shutil.which(name))}
            hide += [f'/bin/mount --bind /dev/null "{path}"' for path in sorted(there)]
        return [*hiding(), "/bin/sh", "-ec", f'{"; ".join(hide)}; exec "$@"', "sh", *plain]

    def run(self, *words: str | Path, **variables: str) -> str:
        """Runs a command in the folder of the application; its output. Raises :class:`Broken` where it fails."""
        done = self.tried(*words, **variables)
        if done.returncode != 0:
            raise Broken(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}")
        return done.stdout

    def tried(self, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a command that may fail."""
        return subprocess.run(self.command(words), cwd=self.app, env=self.environment(variables), text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=PATIENCE)

    def start(self, *words: str | Path, **variables: str) -> subprocess.Popen[str]:
        """Starts a program in a group of its own; it is killed after :data:`PATIENCE` seconds at the latest."""
        process = subprocess.Popen(self.command(words), cwd=self.app, env=self.environment(variables), text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        clock = threading.Timer(PATIENCE, process.kill)
        clock.daemon = True
        clock.start()
        return process

    def works(self, *words: str | Path, statuses: tuple[int, ...] = (0,), **variables: str) -> None:
        """Runs a program until its handler has printed its line, and ends it by Ctrl-C; its job is then completed.

        A terminal sends SIGINT to every process of the program.
        """
        began = time.monotonic()
        process = self.start(*words, **variables)
        seen = until(process, WORKED)
        print(f"        the first job was done after {time.monotonic() - began:.1f} s", flush=True)
        os.killpg(process.pid, signal.SIGINT)
        rest = process.communicate()[0]
        if process.returncode not in statuses:
            raise Broken(f"{words[0]}: exit status {process.returncode} after Ctrl-C\n{seen}{rest}")
        self.completed()

    def refuses(self, source: Path, run: Callable[[], subprocess.CompletedProcess[str]]) -> None:
        """Runs the program with each of :data:`MISTAKES`: it ends by itself and says what was wrong."""
        program = source.read_text()
        for right, (wrong, named) in MISTAKES.items():
            if right not in program:
                raise Broken(f"{source.name} does not contain {right}")
            source.write_text(program.replace(right, wrong))
            done = run()
            if done.returncode == 0 or named not in done.stdout:
                raise Broken(f"with {wrong}, exit status {done.returncode}, nothing names {named}:\n{done.stdout}")
        source.write_text(program)

    def completed(self) -> None:
        """The one job in jobs.db is completed, as the `ojs` binary of the packages says."""
        if binaries := sorted((self.packages / "binary").glob("*.tar.gz")):
            with Server(self, unpacked(binaries[0], self.home / "ojs"), "sqlite:jobs.db") as server:
                found = server.get("/ojs/v1/admin/jobs")
            states = [job["state"] for job in found["items"]]
            if states != ["completed"]:
                raise Broken(f"the program has ended, and its jobs are {states}")


def hidden(packages: Path) -> None:
    """An empty place is one: the repository is empty there, and no compiler starts."""
    compilers = [path for name in COMPILERS if (path := shutil.which(name))]
    with Place(packages) as place:
        for name in COMPILERS:
            place.run("sh", "-c", f"! command -v {name}")
        if hiding():
            if seen := place.run("/bin/ls", "-A", ROOT):
                raise Broken(f"the repository is visible: {seen}")
            for path in compilers:
                place.run("sh", "-c", f'! "{path}" --version')


def until(process: subprocess.Popen[str], line: str) -> str:
    """Reads output until a line contains a text; what has been read."""
    seen = ""
    assert process.stdout is not None
    for text in process.stdout:
        seen += text
        if line in text:
            return seen
    raise Broken(f"ended with status {process.wait()} before it printed '{line}'\n{seen}")


def unpacked(tarball: Path, folder: Path) -> Path:
    """Unpacks a tarball; the one folder that is in it."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["tar", "-xzf", tarball, "-C", folder], check=True)
    return next(path for path in folder.iterdir() if path.is_dir())


class Server:
    """`ojs server` of a package, on a port that the system gives."""

    def __init__(self, place: Place, prefix: Path, store: str) -> None:
        self._place, self._binary, self._store = place, prefix / "bin" / "ojs", store

    def __enter__(self) -> Server:
        self.process = self._place.start(self._binary, "server", "--listen", "127.0.0.1:0", "--store", self._store)
        said = until(self.process, "listening on")
        self.url = re.search(r"listening on (http://\S+)", said)[1]  # type: ignore[index]
        # What the server prints from now on is read, so that its pipe does not fill.
        self._reader = threading.Thread(target=self.process.stdout.read, daemon=True)  # type: ignore[union-attr]
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        if status != 0:
            raise Broken(f"ojs server: exit status {status} after SIGTERM")

    def get(self, path: str) -> dict:
        """What the server answers to a GET."""
        return self._ask(path, None)

    def post(self, path: str, body: object) -> dict:
        """What the server answers to a POST."""
        return self._ask(path, body)

    def _ask(self, path: str, body: object) -> dict:
        import json
        import urllib.request

        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/openjobspec+json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)
