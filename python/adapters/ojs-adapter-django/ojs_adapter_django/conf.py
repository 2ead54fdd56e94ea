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
    return Config(
        url=given.get("url"),
        client={name: given[name] for name in ("auth_token", "headers", "timeout") if name in given},
        enabled=bool(outbox.get("enabled", True)),
        table=outbox.get("table", "ojs_outbox"),
        relay=bool(outbox.get("relay", True)),
        relay_options=_relay_options(outbox),
        database=outbox.get("database", "default"),
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


def _refuse_unknown(where: str, given: Mapping[str, Any], known: set[str]) -> None:
    unknown = sorted(set(given) - known)
    if unknown:
        raise ImproperlyConfigured(f"{where} has no {', '.join(map(repr, unknown))}; there is {', '.join(sorted(known))}")
