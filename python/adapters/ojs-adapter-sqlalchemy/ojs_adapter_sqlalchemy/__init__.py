"""Open Job Spec for SQLAlchemy: jobs that run if, and only if, the session's transaction commits.

>>> from ojs_adapter_sqlalchemy import OjsOutbox
>>> ojs = OjsOutbox("http://localhost:8080", "sqlite:///shop.db")
>>> ojs.database
'sqlite'
"""

from __future__ import annotations

from .ambient import AsyncDatabase, Transaction
from .outbox import OjsOutbox, sqlite_savepoints

__all__ = ["AsyncDatabase", "OjsOutbox", "Transaction", "sqlite_savepoints"]
