#!/usr/bin/env python3
"""Runs `cargo build` and says in a line what is being built and how far it is.

    crates.py TITLE [option of cargo build …]

For example: crates.py "the Python package" --profile demo -p ojs-python

On a terminal the line is written over again; elsewhere a new one comes every ten seconds. The output of the compiler
appears when something fails.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from typing import Any, Iterator

#: Seconds between two lines where there is no terminal.
EVERY = 10.0


def packages(options: list[str]) -> int:
    """How many packages cargo compiles with these options: those that its tree names, but for what only tests need."""
    taken = [option for option in options if option == "--no-default-features"]
    for name in ("-p", "--package", "--features"):
        taken += named(options, name)
    tree = ["cargo", "tree", "--locked", "-e", "normal,build", "--prefix", "none", "--format", "{p}", *taken]
    found = subprocess.run(tree, capture_output=True, text=True, check=True).stdout
    return len({line.removesuffix(" (*)") for line in found.splitlines() if line})


def named(options: list[str], name: str) -> Iterator[str]:
    """An option and its value, as often as it is there."""
    for at, option in enumerate(options):
        if option == name:
            yield from options[at : at + 2]
        elif option.startswith(f"{name}="):
            yield option


class Line:
    """What is being built, how far it is, since when."""

    def __init__(self, title: str, total: int) -> None:
        self._title = title
        self._total = total
        self._began = time.monotonic()
        self._done: set[str] = set()
        self._latest = ""
        self._shown = float("-inf")
        self._terminal = sys.stderr.isatty()

    def text(self) -> str:
        """
        >>> line = Line("the Python package", 149)
        >>> line.compiled("registry+https://…#tokio@1.47.0", "tokio")
        >>> line.text()
        'building the Python package: 1 of 149 crates, 0:00, tokio'
        """
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        if not self._done:
            return f"building {self._title}: fetching {self._total} crates, {minutes}:{seconds:02}"
        done = f"{len(self._done)} of {self._total} crates"
        return f"building {self._title}: {done}, {minutes}:{seconds:02}, {self._latest}"

    def compiled(self, package: str, name: str) -> None:
        """One more target of a package is there."""
        self._done.add(package)
        self._total = max(self._total, len(self._done))
        self._latest = name

    def show(self, *, now: bool = False) -> None:
        """Writes the line, where it is time to."""
        if self._terminal:
            print(f"\r\x1b[K{self.text()[:110]}", end="", file=sys.stderr, flush=True)
        elif now or time.monotonic() - self._shown >= EVERY:
            self._shown = time.monotonic()
            print(self.text(), file=sys.stderr, flush=True)

    def end(self) -> None:
        """The last line stays."""
        self.show(now=True)
        if self._terminal:
            print(file=sys.stderr)


def follow(messages: Iterator[str], line: Line) -> None:
    """Counts what cargo says it has compiled."""
    for text in messages:
        try:
            message: dict[str, Any] = json.loads(text)
        except ValueError:
            continue
        if message.get("reason") == "compiler-artifact" and "custom-build" not in message["target"]["kind"]:
            line.compiled(message["package_id"], message["target"]["name"])


def build(title: str, options: list[str]) -> int:
    """The code with which cargo ends."""
    line = Line(title, packages(options))
    command = ["cargo", "build", "--locked", "--quiet", "--message-format", "json-render-diagnostics", *options]
    line.show()
    # Lints of this build are for those who change the sources.
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as cargo:
        assert cargo.stdout is not None
        counting = threading.Thread(target=follow, args=(iter(cargo.stdout.readline, ""), line))
        counting.start()
        while counting.is_alive():
            line.show()
            counting.join(1.0)
    line.end()
    return cargo.returncode


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    sys.exit(build(sys.argv[1], sys.argv[2:]))
