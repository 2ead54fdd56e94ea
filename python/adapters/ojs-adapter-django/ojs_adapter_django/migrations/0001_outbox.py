"""Makes the outbox in every database that has one; safe where the table is there already."""

from __future__ import annotations

from typing import Any

from django.db import migrations

from openjobspec.outbox import migration

from ojs_adapter_django import conf, databases


def make(_apps: Any, schema_editor: Any) -> None:
    """Runs the statements of this database's dialect."""
    if schema_editor.connection.vendor in databases.VENDORS:
        for statement in migration(schema_editor.connection.vendor, conf.read().table):
            with schema_editor.connection.cursor() as cursor:
                cursor.execute(statement)


def drop(_apps: Any, schema_editor: Any) -> None:
    """Deletes the tables, with what is in them."""
    if schema_editor.connection.vendor in databases.VENDORS:
        table = conf.read().table
        for name in (f"{table}_gate", f"{table}_relay", table):
            schema_editor.execute(f"DROP TABLE IF EXISTS {name}")


class Migration(migrations.Migration):
    """The outbox."""

    initial = True
    operations = [migrations.RunPython(make, drop)]
