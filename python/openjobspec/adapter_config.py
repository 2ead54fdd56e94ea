"""Settings of framework adapters by the names that the specification prints (framework adapters, section 5.2)."""

from __future__ import annotations

from typing import Any, Mapping

from .errors import OJSValidationError

#: Whether the server shares the application's database.
_BACKENDS = {"external": False, "database": True}


def spelled(config: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in this package's words; those that are already in them stay as they are.

    >>> spelled({"adapter": {"ojs_url": "http://localhost:8080", "backend_type": "external", "outbox": {"table_name": "staged"}}})
    {'url': 'http://localhost:8080', 'outbox': {'table': 'staged', 'same_database': False}}

    Raises OJSValidationError for a ``backend_type`` that is neither ``external`` nor ``database``, and for a setting with two names.
    """
    given = dict(config)
    if "adapter" in given:
        given = _merged(given, dict(given.pop("adapter") or {}))
    outbox = _renamed(dict(given.pop("outbox", None) or {}), "table_name", "table")
    given = _renamed(given, "ojs_url", "url")
    if "backend_type" in given:
        kind = given.pop("backend_type")
        if kind not in _BACKENDS:
            raise OJSValidationError(
                f"backend_type is 'external' (jobs go through the outbox table) or 'database' (the server shares the application's database), not {kind!r}"
            )
        outbox = _merged(outbox, {"same_database": _BACKENDS[kind]})
    return {**given, "outbox": outbox} if outbox else given


def _renamed(given: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return _merged(given, {new: given.pop(old)}) if old in given else given


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    twice = sorted(set(one) & set(other))
    if twice:
        raise OJSValidationError(f"the setting '{twice[0]}' is given twice, under two names: leave one out")
    return {**one, **other}
