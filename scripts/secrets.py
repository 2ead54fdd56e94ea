#!/usr/bin/env python3
"""Looks for planted secrets in the logs of all suites: `check.py` runs it when they have ended.

Tests plant PLANTED as a password, a key, an argument or a result (cli/tests/cli/edge.rs writes what the commands and
servers printed into planted-*.log beside the logs). A program that prints it would print secrets
of users, too.

    secrets.py FOLDER
"""
import sys
import tempfile
from pathlib import Path

PLANTED = b"planted-5ecret"
WANTED = ("planted-commands.log", "planted-server.log", "planted-migrate.log")


def found(folder: Path) -> list[str]:
    """The files with the secret, each with the number of the line."""
    return [f"{path.name}:{number}: {line.decode(errors='replace')[:200]}"
            for path in sorted(folder.glob("*.log")) if not path.name.startswith("secrets.")
            for number, line in enumerate(path.read_bytes().splitlines(), 1) if PLANTED in line]


def main() -> int:
    folder = Path(sys.argv[1])
    # A check that cannot fail says nothing.
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "a.log").write_bytes(b"fine\nurl=postgres://app:" + PLANTED + b"@db\n")
        assert found(Path(scratch)) == ["a.log:2: url=postgres://app:planted-5ecret@db"]
    missing = [name for name in WANTED if not (folder / name).is_file()]
    places = [f"nothing was planted: {name} is not there" for name in missing] + found(folder)
    print("\n".join(places))
    print(f"{len(list(folder.glob('*.log')))} logs read")
    print(f"{0 if places else 1} passed, {len(places)} failed")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())
