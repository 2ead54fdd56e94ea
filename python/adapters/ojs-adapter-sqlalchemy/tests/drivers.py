"""The drivers of the databases."""

from __future__ import annotations

import sqlalchemy
from sqlalchemy.engine import URL, make_url

#: SQLAlchemy 2 brought the newer driver.
POSTGRES = "psycopg" if sqlalchemy.__version__ >= "2" else "psycopg2"
_ASYNCIO = {"sqlite": "aiosqlite", "postgresql": "asyncpg", "mysql": "aiomysql"}


def asyncio_url(database: str) -> URL:
    """The same database by the driver of asyncio.

    >>> asyncio_url("sqlite:///app.db").drivername
    'sqlite+aiosqlite'
    """
    url = make_url(database)
    backend = url.get_backend_name()
    return url.set(drivername=f"{backend}+{_ASYNCIO[backend]}")
