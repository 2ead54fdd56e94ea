"""From one of Django's database aliases to what the outbox wants to know of it."""

from __future__ import annotations

from typing import Any, Callable

from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from openjobspec.outbox import mysql_url, postgres_url

#: Vendors that have an outbox.
VENDORS = ("postgresql", "mysql", "sqlite")


def vendor(using: str) -> str:
    """The dialect of the outbox in this database."""
    name: str = connections[using].vendor
    if name not in VENDORS:
        raise ImproperlyConfigured(f"the database '{using}' is {name}; the outbox is there for {', '.join(VENDORS)}")
    return name


def for_relay(using: str) -> str | Callable[[], Any]:
    """How a relay reaches the database: PostgreSQL and MySQL by URL, SQLite through Django's own driver, in the relay's thread."""
    settings = connections[using].settings_dict
    url = {"postgresql": postgres_url, "mysql": mysql_url}.get(vendor(using))
    if url is not None:
        return url(
            host=settings.get("HOST"), port=settings.get("PORT"), user=settings.get("USER"), password=settings.get("PASSWORD"),
            name=settings["NAME"], options=settings.get("OPTIONS"),
        )  # fmt: skip

    def connect() -> Any:
        # Django's connections belong to one thread each: this is the relay's own.
        django = connections[using].copy()
        django.inc_thread_sharing()
        django.ensure_connection()
        raw = django.connection
        raw.isolation_level = None
        return raw

    return connect
