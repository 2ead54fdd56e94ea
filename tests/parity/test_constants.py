"""The numbers that cross the boundary are those of the header in every language. (Go and Java compare themselves with it in their own tests.)"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from openjobspec import _outcome
from openjobspec.errors import _CLASSES

ROOT = Path(__file__).parents[2]


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def classes(source: str) -> dict[int, str]:
    """A table of numbers and classes: ``42: InternalError`` or ``42 => InternalError``."""
    return {int(number): name for number, name in re.findall(r"\b(\d+)(?: =>|:) (?:OJS::)?(\w+Error)\b", source)}


HEADER = {int(number): name for name, number in re.findall(r"OJS_CLASS_(\w+) = (\d+),", text("include/ojs.h")) if number != "0"}
TABLES = {
    "python": {number: cls.__name__ for number, cls in _CLASSES.items()},
    # Nothing forks in Node.js.
    "node": classes(text("node/lib/errors.cjs")) | {41: "OJSForkedError"},
    "ruby": classes(text("ruby/lib/ojs/errors.rb")),
}


@pytest.mark.parametrize("language", TABLES)
def test_error_classes(language: str) -> None:
    table = TABLES[language]
    assert sorted(table) == sorted(HEADER)
    for number, name in HEADER.items():
        # RATE_LIMITED is RateLimitError or RateLimitedError.
        word = name.replace("_", "").lower().removesuffix("ed") if name == "RATE_LIMITED" else name.replace("_", "").lower()
        assert word in table[number].lower(), f"{number} is {name}, and here {table[number]}"


KINDS = {name: int(number) for name, number in re.findall(r"#define OJS_FRAME_(COMPLETED|FAILED|RELEASED|SNOOZED) (\d)u", text("include/ojs_frame.h"))}


@pytest.mark.parametrize("path", ["python/openjobspec/_outcome.py", "node/lib/outcome.cjs", "ruby/lib/ojs/outcome.rb"])
def test_kinds_of_outcomes(path: str) -> None:
    assert len(KINDS) == 4
    if path.startswith("python"):
        found = {name: getattr(_outcome, name) for name in KINDS}
    else:
        found = {name: int(number) for name, number in re.findall(r"\b(COMPLETED|FAILED|RELEASED|SNOOZED) = (\d)\b", text(path))}
    assert found == KINDS
