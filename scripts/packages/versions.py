#!/usr/bin/env python3
"""The version stands in Cargo.toml; every other place has the same.

    versions.py check        names the places that differ, then "N passed, N failed"
    versions.py set X.Y.Z    writes it into all places, and into the lock files; CHANGELOG.md gets a heading

Python 3.10, standard library only.
"""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SEMVER = r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?"

#: Files, and where in them the version stands: the group of the pattern. Every match is one place.
PLACES = [
    ("Cargo.toml", rf'(?m)^version = "({SEMVER})"$'),
    ("python/pyproject.toml", rf'(?m)^version = "({SEMVER})"$'),
    ("python/adapters/*/pyproject.toml", rf'(?m)^version = "({SEMVER})"$'),
    ("node/package.json", rf'(?m)^  "version": "({SEMVER})"'),
    ("node/adapters/*/package.json", rf'(?m)^  "version": "({SEMVER})"'),
    ("node/package-lock.json", rf'"name": "@openjobspec/sdk",\s+"version": "({SEMVER})"'),
    ("node/adapters/package-lock.json", rf'"name": "@openjobspec/sdk",\s+"version": "({SEMVER})"'),
    ("node/adapters/package-lock.json", rf'"ojs-adapter-\w+": {{\s+"version": "({SEMVER})"'),
    ("ruby/lib/ojs/version.rb", rf'VERSION = "({SEMVER})"'),
    ("java/pom.xml", rf"(?m)^  <version>({SEMVER})</version>"),
    ("java/adapters/pom.xml", rf"(?m)^  <version>({SEMVER})</version>"),
    ("java/adapters/*/pom.xml", rf"(?s)<parent>.*?<version>({SEMVER})</version>.*?</parent>"),
    ("kotlin/pom.xml", rf"(?m)^  <version>({SEMVER})</version>"),
    ("examples/*/pom.xml", rf"<ojs\.version>({SEMVER})</ojs\.version>"),
    ("java/README.md", rf"<version>({SEMVER})</version>"),
    ("java/adapters/*/README.md", rf"<version>({SEMVER})</version>"),
    ("kotlin/README.md", rf"<version>({SEMVER})</version>|org\.openjobspec:ojs-kotlin:({SEMVER})"),
    ("docs/guide/from-a-clone.md", rf"org\.openjobspec:ojs:({SEMVER})"),
]


def version(root: Path = ROOT) -> str:
    """The version of the workspace."""
    return re.search(PLACES[0][1], (root / "Cargo.toml").read_text())[1]  # type: ignore[index]


def differing(root: Path = ROOT) -> tuple[int, list[str]]:
    """How many places there are, and those that differ from Cargo.toml. A pattern without a place is a mistake, too."""
    wanted, seen, wrong = version(root), 0, []
    for pattern, expression in PLACES:
        files = sorted(root.glob(pattern))
        found = [(file, next(filter(None, match.groups()))) for file in files
                 for match in re.finditer(expression, file.read_text())]
        if not found:
            wrong.append(f"{pattern}: no version there; mend its pattern in scripts/packages/versions.py")
        seen += len(found)
        wrong += [f"{file.relative_to(root)}: {there}, Cargo.toml has {wanted}; versions.py set {wanted} writes it"
                  for file, there in found if there != wanted]
    log = (root / "CHANGELOG.md").read_text()
    if not re.search(rf"(?m)^## {re.escape(wanted)}\b", log):
        wrong.append(f"CHANGELOG.md: no heading '## {wanted}'")
    return seen + 1, wrong


def write(new: str, root: Path = ROOT) -> None:
    """Writes a version into every place."""
    if not re.fullmatch(SEMVER, new):
        raise SystemExit(f"versions.py: {new} is no version: MAJOR.MINOR.PATCH, as 1.4.0 or 2.0.0-rc.1")

    def changed(match: re.Match[str]) -> str:
        number = next(at for at, there in enumerate(match.groups(), 1) if there)
        start, end = (edge - match.start() for edge in match.span(number))
        return f"{match[0][:start]}{new}{match[0][end:]}"

    for pattern, expression in PLACES:
        for file in sorted(root.glob(pattern)):
            file.write_text(re.sub(expression, changed, file.read_text()))
    log = root / "CHANGELOG.md"
    if f"\n## {new}\n" not in log.read_text():
        log.write_text(re.sub(r"(?m)^## Unreleased$", f"## Unreleased\n\n## {new}", log.read_text(), count=1))


def main() -> int:
    match sys.argv[1:]:
        case ["check"]:
            seen, wrong = differing()
            print("\n".join(wrong))
            print(f"{seen - len(wrong)} passed, {len(wrong)} failed")
            return 1 if wrong else 0
        case ["set", new]:
            write(new)
            for folder in (ROOT, ROOT / "fuzz"):
                subprocess.run(["cargo", "update", "--quiet", "--workspace", "--offline"], cwd=folder, check=True)
            return 0
    raise SystemExit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
