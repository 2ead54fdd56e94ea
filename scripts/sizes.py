#!/usr/bin/env python3
"""Files and functions stay short: at most 500 and 60 lines of source, and added lines at most 120 columns.

    sizes.py        prints what is too long, then "N passed, N failed"

Counted are the lines of Rust, Python, JavaScript, TypeScript, Ruby, Go, Java, Kotlin and Swift that people write:
not what stands between `gen:` and `gen:end`, nor files that say in their first lines that they are generated.
Functions are measured in Rust, Python, Go and Ruby, where the line that ends one can be told by its indentation.
EXCEPTIONS names the longer files, and functions as FILE:NAME, with the most lines that each may have; the list only
shrinks, so an entry that is no longer needed fails too.

Long lines that stood in the repository when this script came in may stay, wherever they have been moved since.
rustfmt breaks the code of Rust by its own width (rustfmt.toml), so of Rust only comments are measured. Python 3.10,
standard library only.
"""
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tracked import git, tracked

ROOT = Path(__file__).resolve().parent.parent

MOST_LINES = 500
MOST_LINES_OF_FUNCTION = 60
MOST_COLUMNS = 120
ENDINGS = (".rs", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".rb", ".go", ".java", ".kt", ".swift")
#: Files of other projects, as they were published.
PUBLISHED = ("dashboard/vendor/",)
#: Longer files and functions, and the most lines that each may have. The functions are tables, which have room for more
#: rows, and tests that tell one story.
EXCEPTIONS = {
    "bindings/ruby/src/lib.rs:init": 100,
    "core/engine/src/features/schemas/json_schema/tests.rs:cases": 75,
    "core/engine/src/store/record/tests.rs:exercise": 66,
    "core/engine/tests/store/audit.rs:filled": 100,
    "core/engine/tests/store/isolation.rs:world": 62,
    "core/engine/tests/store/lists.rs:nothing_else_waits": 62,
    "core/engine/tests/store/model.rs:one": 64,
    "core/model/tests/envelope.rs:options_and_their_ranges": 66,
    "go/failures_test.go:TestFailuresAreOnStderr": 81,
    "go/protocol_test.go:TestDirectives": 63,
    "go/serverless/tests/worker_test.go:TestAContextReachesTheServer": 75,
    "go/settings_test.go:TestWrongSettingsAreRefused": 65,
    "go/vectors_test.go:TestVectors": 170,
    "go/vectors_test.go:optionsOf": 120,
    "go/worker_test.go:TestFailures": 67,
    "scripts/check.py:suites": 150,
    "tests/specification/go/implement_an_sdk_test.go:onConnection": 80,
    "tests/tests/wire/fields.rs:wrong_values": 62,
}
#: How a function begins, with its indentation and its name, and the word that ends it there.
FUNCTIONS = {
    ".rs": (re.compile(r"""( *)(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe|extern "C") )*fn (\w+).*"""), "}"),
    ".go": (re.compile(r"()func (?:\([^)]*\) )?(\w+).*\{"), "}"),
    ".rb": (re.compile(r"( *)def ([^\s(;]+)(?!.*;)[^=]*"), "end"),
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


def functions(name: str, text: str, lines: list[tuple[int, str]]) -> Iterator[tuple[str, int]]:
    """The name of each function that people write in a file, and how many lines of it they do."""
    if name.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                end = node.end_lineno or node.lineno
                yield node.name, sum(node.lineno <= number <= end for number, _ in lines)
    form, word = FUNCTIONS.get(Path(name).suffix, (None, ""))
    if form is None:
        return
    for start, (_, line) in enumerate(lines):
        if (found := form.fullmatch(line)) is None or line.endswith((";", "}")):
            continue
        indent = found[1]
        last = next((at for at in range(start + 1, len(lines)) if ends(lines[at][1], indent, word)), start)
        yield found[2], last - start + 1


def ends(line: str, indent: str, word: str) -> bool:
    """Whether a line ends the function with this indentation: by the word, or as a declaration without a body."""
    rest = line.removeprefix(indent)
    return line == indent + word or (rest != line or not indent) and rest.endswith(";") and not rest.startswith(" ")


def too_many_lines(name: str, count: int, exceptions: dict[str, int], most: int = MOST_LINES) -> str | None:
    """What is wrong with the length of a file or a function."""
    bound = exceptions.get(name)
    if bound is None:
        return f"{name}: {count} lines; split it by noun, {most} is the most" if count > most else None
    if count > bound:
        return f"{name}: {count} lines, {bound} were allowed; split it by noun"
    return f"{name}: {count} lines; take it out of EXCEPTIONS in scripts/sizes.py" if count <= most else None


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
    names, known, wrong, seen = sources(root), old_lines(root), [], set()
    for name in names:
        text = (root / name).read_text(errors="replace")
        lines = written(text)
        for function, count in functions(name, text, lines):
            seen.add(f"{name}:{function}")
            if fault := too_many_lines(f"{name}:{function}", count, exceptions, MOST_LINES_OF_FUNCTION):
                wrong.append(fault)
        if fault := too_many_lines(name, len(lines), exceptions):
            wrong.append(fault)
        for number, line in lines:
            is_long = known is not None and len(line) > MOST_COLUMNS and line.strip() not in known
            if is_long and is_measured(name, line):
                wrong.append(f"{name}:{number}: {len(line)} columns, {MOST_COLUMNS} is the most")
    gone = sorted(set(exceptions) - set(names) - seen)
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
