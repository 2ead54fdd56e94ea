"""Reads the vectors for the tests of Python, and refuses members that no test compares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent


def known(given: dict[str, Any], members: str, where: str) -> None:
    """Fails when an object has a member that is not among these, because what it says would not be tested."""
    unknown = sorted(set(given) - set(members.split()))
    if unknown:
        raise AssertionError(f"{where}: these tests do not know {', '.join(unknown)}: compare it or remove it")


def vectors(kind: str, members: str, file: str = "vectors.json", **inside: str) -> list[dict[str, Any]]:
    """The vectors of a kind, which have only these members. ``inside`` names those of a member that holds objects."""
    cases: list[dict[str, Any]] = json.loads((FOLDER / file).read_text(encoding="utf-8"))[kind]
    if not cases:
        raise AssertionError(f"there are no vectors of {kind}")
    for case in cases:
        known(case, members, f"{kind}: {case['name']}")
        for member, names in inside.items():
            value = case.get(member) or {}
            for given in value if isinstance(value, list) else [value]:
                known(given, names, f"{kind}: {case['name']}, in {member}")
    return cases


def each(parameter: str, kind: str, members: str, **inside: str) -> pytest.MarkDecorator:
    """Runs a test with each vector of a kind, which is given as this parameter."""
    return pytest.mark.parametrize(parameter, vectors(kind, members, **inside), ids=lambda case: case["name"])
