"""The work: hash a source file, count its lines and words, add the figures up."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

SOURCES = {".rs", ".py", ".pyi", ".md", ".toml", ".sql", ".sh", ".h", ".c", ".json"}
SKIPPED = {"target", ".venv", ".git", "node_modules", "__pycache__"}


def source_files(root: Path) -> Iterator[Path]:
    """The source files below a folder, in order of their names."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith(".mypy"))
        yield from (Path(folder, name) for name in sorted(files) if Path(name).suffix in SOURCES)


def measure(path: Path) -> dict[str, str | int]:
    """Hash and counts of one file."""
    content = path.read_bytes()
    return {
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "lines": content.count(b"\n"),
        "words": len(content.split()),
    }


def total(results: list[dict[str, int]]) -> dict[str, int]:
    """The sums over many files."""
    return {"files": len(results)} | {key: sum(result[key] for result in results) for key in ("bytes", "lines", "words")}
