"""``from openjobspec.django import ojs``: the client of a Django project. Needs the package ``ojs-adapter-django``."""

from __future__ import annotations

try:
    from ojs_adapter_django import Ojs, ojs  # type: ignore[import-not-found, import-untyped, unused-ignore]
except ModuleNotFoundError as error:
    if error.name != "ojs_adapter_django":
        raise
    raise ModuleNotFoundError("openjobspec.django needs another package: pip install ojs-adapter-django", name=error.name) from error

__all__ = ["Ojs", "ojs"]
