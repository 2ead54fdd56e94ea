"""Runs the examples of a README as a reader would: every block becomes a file, the programs are started, and requests go over HTTP.

A block says in its first line which file it is: ``# shop.py``; ``# shop/settings.py, at its end`` is added to a file that is there.
"""

from __future__ import annotations

import os
import queue
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Iterator

#: Longest time for what takes a second or two. Reached only by failures.
PATIENCE = 60.0
ADAPTERS = Path(__file__).resolve().parent
_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (?P<path>[\w/.]+\.py)(?P<more>, at its end)?\n")


class Project:
    """A directory with the files of a README, and the processes that run in it."""

    def __init__(self, folder: Path, readme: Path, url: str) -> None:
        self.folder = folder
        self.readme = readme
        self.url = url
        self._processes: list[Process] = []

    def write(self) -> list[str]:
        """Writes all blocks; returns their files in order, each once. A block that is no Python, or names no file, fails the test."""
        names: list[str] = []
        for found in _BLOCK.finditer(self.readme.read_text()):
            head = _FILE.match(found["code"])
            assert found["language"] == "python" and head, f"which file is this?\n{found['code'][:200]}"
            path = self.folder / head["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            before = path.read_text() if path.exists() else ""
            assert bool(before) == bool(head["more"]), f"{head['path']}: a block that adds to a file says so"
            path.write_text(before + found["code"])
            names += [] if head["path"] in names else [head["path"]]
        assert names, "the README has no example"
        return names

    def environment(self) -> dict[str, str]:
        """A clean one, in which the server is known."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OJS_", "DJANGO_", "PYTEST"))}
        path = os.pathsep.join([str(self.folder), *(str(found) for found in sorted(ADAPTERS.glob("ojs-adapter-*")))])
        return {**kept, "OJS_URL": self.url, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}

    def run(self, *command: str) -> str:
        """Runs a program of Python to its end; returns what it printed. Fails unless it ends well."""
        done = subprocess.run([sys.executable, *command], cwd=self.folder, env=self.environment(), capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def start(self, *command: str) -> Process:
        """Starts a program of Python that runs until the end of the test."""
        process = Process(command, self.folder, self.environment())
        self._processes.append(process)
        return process

    def stop(self) -> None:
        """Ends what was started; fails for a program that does not end well, and for one that complained."""
        for process in reversed(self._processes):
            process.stop()


class Process:
    """A running program and the lines it prints, to stdout and stderr."""

    def __init__(self, command: tuple[str, ...], folder: Path, environment: dict[str, str]) -> None:
        self.command = command
        self.lines: list[str] = []
        self._news: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, *command], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._news.put(line.rstrip("\n"))
        self._news.put(None)

    def _next(self, until: float) -> str | None:
        try:
            line = self._news.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            raise AssertionError(f"{self.command}: not in time\n{self}") from None
        if line is not None:
            self.lines.append(line)
        return line

    def until(self, pattern: str) -> re.Match[str]:
        """Waits for a line in which the pattern is found."""
        until = time.monotonic() + PATIENCE
        for line in self.lines:
            if found := re.search(pattern, line):
                return found
        while (line := self._next(until)) is not None:
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"{self.command} ended without {pattern!r}\n{self}")

    def stop(self) -> None:
        """Ends it with SIGTERM."""
        self._process.terminate()
        until = time.monotonic() + PATIENCE
        while self._next(until) is not None:
            pass
        self._process.wait(PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()
        assert "Traceback" not in str(self), f"{self.command} complained:\n{self}"

    def __str__(self) -> str:
        return "\n".join(self.lines)


def request(url: str, form: dict[str, str] | None = None) -> tuple[int, str]:
    """A POST; returns status and body, of a refusal too."""
    data = urllib.parse.urlencode(form or {}).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, method="POST"), timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def project(folder: Path, adapter: str, url: str) -> Iterator[Any]:
    """For a fixture: the project of an adapter's README, whose processes end with the test."""
    made = Project(folder, ADAPTERS / f"ojs-adapter-{adapter}" / "README.md", url)
    yield made
    made.stop()
