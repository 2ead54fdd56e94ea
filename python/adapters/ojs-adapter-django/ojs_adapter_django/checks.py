"""System checks: what ``manage.py check`` says about jobs."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from openjobspec.outbox import same_file

from . import conf, databases


def check_config(**_: Any) -> list[checks.CheckMessage]:
    """Reads ``OJS_CONFIG`` and looks at the databases it means."""
    try:
        config = conf.read()
    except ImproperlyConfigured as error:
        return [checks.Error(str(error), id="ojs.E001")]
    found: list[checks.CheckMessage] = []
    if config.enabled:
        try:
            databases.vendor(config.database)
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
