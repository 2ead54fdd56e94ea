"""A transaction that is simply there: `async with db.transaction() as tx`, and jobs enqueued inside belong to it."""

from __future__ import annotations

import contextlib
import contextvars
import re
from typing import TYPE_CHECKING, Any, AsyncIterator, Iterable

from openjobspec import Job, JobRequest
from openjobspec.client import RequestLike
from openjobspec.outbox import Staged

from .outbox import OjsOutbox

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine


class Transaction:
    """An open transaction, or a savepoint in one."""

    def __init__(self, connection: AsyncConnection, in_engine: bool) -> None:
        #: SQLAlchemy's connection.
        self.connection = connection
        #: The server keeps its jobs in this database.
        self._in_engine = in_engine
        self._staged: list[Staged] = []

    async def execute(self, sql: str, *values: Any) -> Any:
        """Runs a statement with parameters ``$1``, ``$2``, …; returns the first row, None when there is none."""
        if self.connection.dialect.name == "sqlite":
            sql = re.sub(r"\$(\d+)", r"?\1", sql)
        # Those of MySQL, and all of SQLAlchemy 1.4.
        elif self.connection.dialect.paramstyle in ("format", "pyformat"):
            places = [int(place) for place in re.findall(r"\$(\d+)", sql)]
            sql, values = re.sub(r"\$\d+", "%s", sql.replace("%", "%%")), tuple(values[place - 1] for place in places)
        result = await self.connection.exec_driver_sql(sql, values)
        return result.first() if result.returns_rows else None


class AsyncDatabase:
    """An asyncio engine whose transactions jobs join by themselves. PostgreSQL with asyncpg, MySQL with aiomysql, or SQLite."""

    def __init__(self, ojs: OjsOutbox, engine: AsyncEngine) -> None:
        self.ojs = ojs
        self._engine = engine
        self._current: contextvars.ContextVar[Transaction | None] = contextvars.ContextVar("ojs_transaction", default=None)

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """A transaction; inside another one a savepoint, whose jobs are dropped when it is rolled back."""
        outer = self._current.get()
        if outer is not None:
            async with outer.connection.begin_nested():
                inner = Transaction(outer.connection, outer._in_engine)
                with self._within(inner):
                    yield inner
            outer._staged += inner._staged
            return
        async with self._engine.begin() as connection:
            transaction = Transaction(connection, await connection.run_sync(self.ojs.shares_database))
            with self._within(transaction):
                yield transaction
            for staged in transaction._staged:
                await connection.run_sync(lambda plain: self.ojs.write(plain, staged, in_engine=transaction._in_engine))

    def enqueue(self, job_type: str | JobRequest, args: Any = None, **options: Any) -> Job:
        """Sends a job now."""
        return self.ojs.enqueue(job_type, args, **options)

    def enqueue_bulk(self, jobs: Iterable[RequestLike]) -> list[Job]:
        """Sends many jobs now, in one request."""
        return self.ojs.enqueue_bulk(jobs)

    def enqueue_after_commit(self, job_type: str | JobRequest, args: Any = None, **options: Any) -> Job:
        """Sends a job if, and only if, the outermost transaction commits. Outside of one: now.

        Middleware runs now, and what is wrong with the job is raised now. The row is written at the end of the transaction.
        """
        transaction = self._current.get()
        if transaction is None:
            return self.enqueue(job_type, args, **options)
        outbox = self.ojs.outbox(transaction.connection.dialect, in_engine=transaction._in_engine)
        staged = outbox.stage(JobRequest.made(job_type, args, options))
        transaction._staged.append(staged)
        return staged.job

    @contextlib.contextmanager
    def _within(self, transaction: Transaction) -> Any:
        token = self._current.set(transaction)
        try:
            yield
        finally:
            self._current.reset(token)
