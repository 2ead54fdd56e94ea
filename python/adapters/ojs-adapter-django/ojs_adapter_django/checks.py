"""System checks: what ``manage.py check`` says about jobs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from openjobspec import Client, OJSError
from openjobspec.outbox import same_file
from openjobspec.same_database import IDENTITY

from . import conf, databases


def check_config(**_: Any) -> list[checks.CheckMessage]:
    """Reads ``OJS_CONFIG`` and looks at the databases it means."""
    try:
        config = conf.read()
    except ImproperlyConfigured as error:
        return [checks.Error(str(error), id="ojs.E001")]
    found: list[checks.CheckMessage] = _check_client(config)
    if config.enabled:
        try:
            if databases.vendor(config.database) and _lacks_table(config):
                found.append(checks.Warning(f"there is no table {config.table} in the database '{config.database}'",
                                            hint=f"run 'manage.py {conf.migrate_command(config.database)}'", id="ojs.W002"))  # fmt: skip
        except ImproperlyConfigured as error:
            found.append(checks.Error(str(error), hint="OJS_CONFIG['outbox']['enabled'] = False holds jobs in memory", id="ojs.E002"))
    else:
        found.append(checks.Warning("jobs wait for the commit in memory: a crash in between loses them",
                                    hint="OJS_CONFIG['outbox']['enabled'] = True", id="ojs.W001"))  # fmt: skip
    for alias in settings.DATABASES:
        if connections[alias].vendor == "sqlite" and same_file(config.url or "", str(connections[alias].settings_dict["NAME"])):
            found.append(checks.Error(
                f"OJS_CONFIG['url'] and the database '{alias}' are one SQLite file: two copies of SQLite would open it and destroy it",
                hint="give the jobs a file of their own", id="ojs.E003"))  # fmt: skip
    return found


def _check_client(config: conf.Config) -> list[checks.CheckMessage]:
    """What no client can be made of, the environment included. Making one opens no connection and no file."""
    try:
        Client(config.url, **config.client).close()
    except OJSError as error:
        return [checks.Error(f"no client can be made of OJS_CONFIG and the environment: {error}", id="ojs.E004")]
    return []


def _lacks_table(config: conf.Config) -> bool:
    """Whether the outbox has yet to be made. False where that cannot be seen: a check is no place for a database's own errors."""
    if sys.argv[1:2] in (["migrate"], ["test"]):
        return False  # it makes the table
    connection = connections[config.database]
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite" and not name.startswith((":memory:", "file:")) and not Path(name).exists():
        return True  # to look would make the file
    try:
        if config.same_database or config.table.rpartition(".")[2] in connection.introspection.table_names():
            return False
        # The engine's own table, in a database that it shares.
        return not (connection.vendor == "postgresql" and _first(connection, IDENTITY))
    except Exception:
        return False


def _first(connection: Any, sql: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]
