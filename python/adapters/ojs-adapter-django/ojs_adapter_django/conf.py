"""The setting ``OJS_CONFIG``, read and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from openjobspec import OJSValidationError
from openjobspec.adapter_config import spelled
from openjobspec.policies import duration_seconds

KNOWN = {"url", "auth_token", "headers", "timeout", "outbox", "worker"}
KNOWN_OUTBOX = {"enabled", "table", "relay", "poll_interval", "batch_size", "retention", "database", "same_database"}

#: What settings of the outbox must be; lengths of time have forms of their own.
OUTBOX_TYPES: Mapping[str, type] = {
    "enabled": bool, "relay": bool, "same_database": bool, "table": str, "database": str, "batch_size": int,
}  # fmt: skip
WORDS: Mapping[type, str] = {bool: "True or False", str: "a text", int: "a whole number"}


@dataclass(frozen=True)
class Config:
    """``OJS_CONFIG``."""

    #: The server; without it ``OJS_URL``.
    url: str | None = field(default=None, repr=False)
    #: More for :class:`openjobspec.Client`.
    client: Mapping[str, Any] = field(default_factory=dict, repr=False)
    #: Whether jobs go through a table. Without it they are held in memory until the commit: a crash in between loses them.
    enabled: bool = True
    #: The table's name.
    table: str = "ojs_outbox"
    #: Whether each web process relays (one at a time does); false where ``manage.py ojs_relay`` runs.
    relay: bool = True
    #: For :class:`openjobspec.outbox.Relay`.
    relay_options: Mapping[str, Any] = field(default_factory=dict)
    #: The alias that is used when a call names none.
    database: str = "default"
    #: Whether the server keeps its jobs in the application's PostgreSQL; None finds out.
    same_database: bool | None = None
    #: ``module:attribute`` of the worker for ``manage.py ojs_worker``.
    worker: str | None = None


def migrate_command(using: str) -> str:
    """What makes the outbox in a database, behind ``manage.py``."""
    return "migrate ojs" + ("" if using == "default" else f" --database {using}")


def read() -> Config:
    """Reads the setting. Raises ImproperlyConfigured, saying what is known."""
    try:
        given = spelled(getattr(settings, "OJS_CONFIG", None) or {})
    except OJSValidationError as error:
        raise ImproperlyConfigured(f"OJS_CONFIG: {error}") from error
    _refuse_unknown("OJS_CONFIG", given, KNOWN)
    outbox = dict(given.get("outbox") or {})
    _refuse_unknown("OJS_CONFIG['outbox']", outbox, KNOWN_OUTBOX)
    _refuse_types("OJS_CONFIG", given, {"url": str, "worker": str})
    _refuse_types("OJS_CONFIG['outbox']", outbox, OUTBOX_TYPES)
    return Config(
        url=given.get("url"),
        client={name: given[name] for name in ("auth_token", "headers", "timeout") if name in given},
        enabled=_said(outbox, "enabled", True),
        table=_said(outbox, "table", "ojs_outbox"),
        relay=_said(outbox, "relay", True),
        relay_options=_relay_options(outbox),
        database=_said(outbox, "database", "default"),
        same_database=outbox.get("same_database"),
        worker=given.get("worker"),
    )


def _relay_options(outbox: Mapping[str, Any]) -> dict[str, Any]:
    """Lengths of time are read now: the relay would find them wrong only after a commit, unseen."""
    options = {name: outbox[name] for name in ("poll_interval", "batch_size", "retention") if name in outbox}
    for name in {"poll_interval", "retention"} & options.keys():
        try:
            options[name] = duration_seconds(options[name])
        except (TypeError, ValueError) as error:
            raise ImproperlyConfigured(f"OJS_CONFIG['outbox']['{name}']: seconds, a timedelta, or text such as 'PT1S'; {error}") from error
    return options


def _said(given: Mapping[str, Any], name: str, otherwise: Any) -> Any:
    """A setting; None is as if it were left out."""
    value = given.get(name)
    return otherwise if value is None else value


def _refuse_types(where: str, given: Mapping[str, Any], types: Mapping[str, type]) -> None:
    """A text such as ``"false"``, out of a variable of the environment, would count as true."""
    for name, wanted in types.items():
        value = given.get(name)
        if value is not None and type(value) is not wanted:
            raise ImproperlyConfigured(f"{where}['{name}']: {WORDS[wanted]}, not {value!r}")


def _refuse_unknown(where: str, given: Mapping[str, Any], known: set[str]) -> None:
    unknown = sorted(set(given) - known)
    if unknown:
        raise ImproperlyConfigured(f"{where} has no {', '.join(map(repr, unknown))}; there is {', '.join(sorted(known))}")
