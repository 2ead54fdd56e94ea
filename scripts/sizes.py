#!/usr/bin/env python3
"""Files stay short: at most 500 lines of source, and added lines at most 120 columns.

    sizes.py        prints what is too long, then "N passed, N failed"

Counted are the lines of Rust, Python, JavaScript, TypeScript, Ruby, Go, Java, Kotlin and Swift that people write:
not what stands between `gen:` and `gen:end`, nor files that say in their first lines that they are generated.
EXCEPTIONS names the longer files with the most lines that each may have; the list only shrinks, so a file that no
longer needs its entry fails too.

Long lines that stood in the repository when this script came in may stay, wherever they have been moved since.
rustfmt breaks the code of Rust by its own width (rustfmt.toml), so of Rust only comments are measured. Python 3.10,
standard library only.
"""
import re
import sys
from pathlib import Path

from tracked import git, tracked

ROOT = Path(__file__).resolve().parent.parent

MOST_LINES = 500
MOST_COLUMNS = 120
ENDINGS = (".rs", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".rb", ".go", ".java", ".kt", ".swift")
#: Files of other projects, as they were published.
PUBLISHED = ("dashboard/vendor/",)
#: Longer files, and the most lines that each may have.
EXCEPTIONS = {
    "core/engine/src/features/queue_config/records.rs": 600,
    "core/sdk/src/encryption/codec.rs": 525,
    "core/sdk/tests/embedded.rs": 525,
    "python/tests/test_worker.py": 575,
}
GENERATED = re.compile(r"(?i)^\W*(code generated|generated (by|from)|made (by|of|from) .*do not edit)")
#: What cannot be broken: an address, a row of a table in a comment, one long word.
UNBREAKABLE = re.compile(r"https?://\S{60}|^\s*(//[/!]?|#|\*|--)\s*\||\S{100}")


def sources(root: Path) -> list[str]:
    """The files that are measured."""
    return [name for name in tracked(root) if name.endswith(ENDINGS) and not name.startswith(PUBLISHED)]


def written(text: str) -> list[tuple[int, str]]:
    """The numbered lines of a file that people write."""
    lines = list(enumerate(text.splitlines(), 1))
    if any(GENERATED.match(line) and "gen:" not in line for _, line in lines[:3]):
        return []
    kept, generated = [], False
    for number, line in lines:
        if re.search(r"\bgen:\S+\.j2\b", line):
            generated = True
        if not generated:
            kept.append((number, line))
        if "gen:end" in line:
            generated = False
    return kept


def too_many_lines(name: str, count: int, exceptions: dict[str, int]) -> str | None:
    """What is wrong with the length of a file."""
    bound = exceptions.get(name)
    if bound is None:
        return f"{name}: {count} lines; split it by noun, {MOST_LINES} is the most" if count > MOST_LINES else None
    if count > bound:
        return f"{name}: {count} lines, {bound} were allowed; split it by noun"
    return f"{name}: {count} lines; take it out of EXCEPTIONS in scripts/sizes.py" if count <= MOST_LINES else None


def is_measured(name: str, line: str) -> bool:
    """Whether a long line is one that its author can break."""
    if UNBREAKABLE.search(line):
        return False
    return not name.endswith(".rs") or line.lstrip().startswith("//")


def old_lines(root: Path) -> set[str] | None:
    """The long lines that stood in the repository when this script came in; None where its history is unknown."""
    born = (git("log", "--diff-filter=A", "--format=%H", "--", "scripts/sizes.py", root=root) or "").split()
    commit = born[-1] if born else "HEAD"
    pattern = "^.{%d,}$" % (MOST_COLUMNS + 1)
    found = git("grep", "-hIE", pattern, commit, "--", *(f"*{ending}" for ending in ENDINGS), root=root)
    return None if found is None else {line.strip() for line in found.splitlines()}


def check(root: Path, exceptions: dict[str, int]) -> tuple[list[str], int]:
    """What is wrong, and how many files were measured."""
    names, known, wrong = sources(root), old_lines(root), []
    for name in names:
        lines = written((root / name).read_text(errors="replace"))
        if fault := too_many_lines(name, len(lines), exceptions):
            wrong.append(fault)
        for number, line in lines:
            is_long = known is not None and len(line) > MOST_COLUMNS and line.strip() not in known
            if is_long and is_measured(name, line):
                wrong.append(f"{name}:{number}: {len(line)} columns, {MOST_COLUMNS} is the most")
    gone = sorted(set(exceptions) - set(names))
    wrong += [f"{name} is in EXCEPTIONS of scripts/sizes.py and does not exist" for name in gone]
    return wrong, len(names)


def main() -> int:
    wrong, files = check(ROOT, EXCEPTIONS)
    print("\n".join(wrong))
    print(f"{files} files measured, {len(EXCEPTIONS)} exceptions")
    print(f"{int(not wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
