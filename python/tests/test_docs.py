"""Examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import openjobspec

MODULES = [module.name for module in pkgutil.walk_packages(openjobspec.__path__, "openjobspec.") if not module.name.endswith(("__main__", "_native", "django"))]


@pytest.mark.parametrize("name", ["openjobspec", *MODULES])
def test_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
