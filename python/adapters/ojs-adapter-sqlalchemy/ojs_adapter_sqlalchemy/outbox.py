"""The outbox of a SQLAlchemy engine: rows written by sessions and connections, sent by a relay."""

from __future__ import annotations

import logging
import sqlite3
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping

from sqlalchemy import event
from sqlalchemy.engine import URL, Connection, Dialect, Engine, create_engine, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.future import Connection as ConnectionOf2
from sqlalchemy.orm import Session, scoped_session

from openjobspec import Client, Job, JobRequest, OJSValidationError, outbox_context
from openjobspec.adapter_config import spelled
from openjobspec.client import RequestLike
from openjobspec.outbox import TABLE, Outbox, Relay, Staged, explain, migration, mysql_url, postgres_url, same_file
from openjobspec.policies import duration_seconds
from openjobspec.same_database import NOTIFY, SameDatabase

if TYPE_CHECKING:
    # Wants greenlet, which plain applications need not have.
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession


logger = logging.getLogger("openjobspec.outbox")
#: Settings of the relay.
_RELAY = ("poll_interval", "batch_size", "retention", "migrate")


class OjsOutbox:
    """Enqueues jobs with the transactions of one database, and relays them.

    ``client`` is a client or the server's URL; ``database`` an engine, plain or async, or its URL. The relay starts with the
    first commit, or with :meth:`start`; ``relay=False`` leaves it to ``ojs relay`` or to another process. Where the server keeps its
    jobs in the same PostgreSQL, transactions insert them there and no relay is needed; ``same_database`` says whether it does, and is
    found out when it is left out.
    """

    #: How the table is made, for the error of an application that has none.
    migrate_command = "ojs.create_table(connection)"

    def __init__(
        self,
        client: Client | str | None,
        database: Engine | AsyncEngine | URL | str,
        *,
        table: str = TABLE,
        relay: bool = True,
        same_database: bool | None = None,
        **options: Any,
    ) -> None:
        for unknown in sorted(set(options) - set(_RELAY)):
            raise OJSValidationError(f"unknown setting '{unknown}'; there are table, relay, same_database, {', '.join(_RELAY)}")
        self.client = client if isinstance(client, Client) else Client(client)
        self._owns_client = not isinstance(client, Client)
        self._url = make_url(database) if isinstance(database, (str, URL)) else database.url
        backend = self._url.get_backend_name()
        self.database = "mysql" if backend == "mariadb" else backend
        if self.database not in ("postgresql", "mysql", "sqlite"):
            raise OJSValidationError(f"no outbox in '{self.database}': the database must be postgresql, mysql or sqlite")
        if self.database == "sqlite" and isinstance(client, str) and same_file(client, self._url.database or ""):
            raise OJSValidationError("jobs and application share one SQLite file: two copies of SQLite would open it, and destroy it")
        self.table = table
        self._same = SameDatabase(self.client, same_database if self.database == "postgresql" else False)
        self._relay_wanted = relay
        # Read now: a relay would find them wrong only after a commit, when no caller sees the error.
        self._options = {name: duration_seconds(value) if name in ("poll_interval", "retention") else value for name, value in options.items()}
        self._relay: Relay | None = None
        self._lock = threading.Lock()
        self._watched: weakref.WeakSet[Any] = weakref.WeakSet()

    @classmethod
    def from_config(cls, config: Mapping[str, Any], database: Engine | AsyncEngine | URL | str) -> OjsOutbox:
        """By settings from a file, as "Framework Adapters", section 5.2, prints them, with or without ``adapter`` around::

            {"ojs_url": "http://localhost:8080", "backend_type": "external",
             "outbox": {"enabled": true, "table_name": "ojs_outbox", "poll_interval": "PT1S", "batch_size": 100}}
        """
        given = spelled(config)
        outbox = dict(given.pop("outbox", {}))
        url = given.pop("url", None)
        for unknown in sorted(given):
            raise OJSValidationError(f"unknown setting '{unknown}'; there are ojs_url, backend_type, outbox")
        if not outbox.pop("enabled", True):
            raise OJSValidationError("jobs of SQLAlchemy's transactions are always rows of the outbox: leave 'enabled' out, or enqueue after the commit")
        return cls(url, database, **outbox)

    # --- enqueue ---

    def enqueue(self, job_type: str | JobRequest, args: Any = None, **options: Any) -> Job:
        """Sends a job now, whatever becomes of any transaction. Options as for :meth:`openjobspec.Client.enqueue`."""
        return self.client.enqueue_request(outbox_context.completed(JobRequest.made(job_type, args, options)))

    def enqueue_bulk(self, jobs: Iterable[RequestLike]) -> list[Job]:
        """Sends many jobs now, in one request: all are stored or none."""
        return self.client.enqueue_batch([outbox_context.completed(JobRequest.of(job)) for job in jobs])

    def enqueue_after_commit(self, transaction: Session | Connection | scoped_session[Any], job_type: str | JobRequest, args: Any = None, **options: Any) -> Job:
        """Sends a job if, and only if, the outermost transaction of this session or connection commits.

        The row is written at once, behind what the session has flushed so far. A connection in autocommit has no transaction: the
        job is sent now. The job that is returned has its id already.
        """
        return self.stage(transaction, JobRequest.made(job_type, args, options))

    async def enqueue_after_commit_async(
        self, transaction: AsyncSession | AsyncConnection, job_type: str | JobRequest, args: Any = None, **options: Any
    ) -> Job:
        """The same for the asyncio classes."""
        request = JobRequest.made(job_type, args, options)
        return await transaction.run_sync(lambda plain: self.stage(plain, request))

    def stage(self, transaction: Session | Connection | scoped_session[Any], job: RequestLike) -> Job:
        """The same as :meth:`enqueue_after_commit` for a request made before."""
        if isinstance(transaction, scoped_session):
            transaction = transaction()
        if isinstance(transaction, Session):
            transaction.flush()
            connection = transaction.connection()
        else:
            connection = transaction
        if _is_autocommit(connection) or _commits_each_statement(connection):
            return self.client.enqueue_request(outbox_context.completed(JobRequest.of(job)))
        in_engine = self.shares_database(connection)
        staged = self.outbox(connection.dialect, in_engine=in_engine).stage(job)
        self.write(connection, staged, in_engine=in_engine)
        return staged.job

    def shares_database(self, connection: Connection) -> bool:
        """Whether the server keeps its jobs in this connection's database."""

        def query(sql: str) -> Any:
            with connection.begin_nested():
                return connection.exec_driver_sql(sql).scalar()

        return self._same(query)

    def outbox(self, dialect: Dialect, *, in_engine: bool = False) -> Outbox:
        """Makes rows for the driver of this dialect."""
        return Outbox(self.client, database=self.database, table=self.table, paramstyle=str(dialect.paramstyle), in_engine=in_engine)

    def write(self, connection: Connection, staged: Staged, *, in_engine: bool = False) -> None:
        """Writes a row that was made before."""
        try:
            connection.exec_driver_sql(staged.sql, staged.params)
        except DBAPIError as error:
            explain(error, self.table, self.migrate_command)
            raise
        self._watch(connection.engine)
        connection.info["ojs_inserted" if in_engine else "ojs_staged"] = True

    def staged(self, transaction: Session | Connection) -> list[dict[str, Any]]:
        """The jobs in the outbox that are not sent yet, as this transaction sees them: for tests."""
        connection = transaction.connection() if isinstance(transaction, Session) else transaction
        raw = connection.connection.dbapi_connection
        assert raw is not None
        in_engine = self.shares_database(connection)
        return Outbox(self.client, database=self.database, table=self.table, in_engine=in_engine).waiting(raw)

    # --- the table ---

    def create_table(self, connection: Connection) -> None:
        """Makes the table, or adds what it lacks: in a migration (``ojs.create_table(op.get_bind())``) or beside ``create_all``."""
        for statement in migration(self.database, self.table):
            connection.exec_driver_sql(statement.replace("%", "%%") if connection.dialect.paramstyle in ("format", "pyformat") else statement)

    def migrate(self) -> None:
        """The same on a connection of its own, for scripts; with an asyncio driver use ``await connection.run_sync(ojs.create_table)``."""
        engine = create_engine(self._url)
        try:
            with engine.begin() as connection:
                self.create_table(connection)
        finally:
            engine.dispose()

    # --- the relay ---

    @property
    def relay(self) -> Relay:
        """This process's relay."""
        with self._lock:
            if self._relay is None:
                self._relay = Relay(self.client, self._for_relay(), table=self.table, **self._options)
            return self._relay

    def start(self) -> None:
        """Starts the relay, unless it was not wanted: rows that an earlier process left are sent then."""
        if self._relay_wanted:
            self.relay.start()

    def close(self, grace: float = 5.0) -> None:
        """Flushes the outbox, stops the relay, closes the client if it was made here."""
        with self._lock:
            relay, self._relay = self._relay, None
        if relay is not None:
            relay.stop(grace)
        if self._owns_client:
            self.client.close()

    def _for_relay(self) -> str | Callable[[], Any]:
        url = self._url
        if self.database == "postgresql":
            host = url.host or (url.query.get("host") if isinstance(url.query.get("host"), str) else None)
            return postgres_url(host=host, port=url.port, user=url.username, password=url.password, name=url.database or "", options=url.query)  # type: ignore[arg-type]
        if self.database == "mysql":
            return mysql_url(host=url.host, port=url.port, user=url.username, password=url.password, name=url.database or "", options=url.query)  # type: ignore[arg-type]
        path = url.database
        if not path or path == ":memory:":
            raise OJSValidationError("an SQLite database in memory has no outbox: the relay needs a connection of its own")
        return lambda: sqlite3.connect(path, timeout=10, isolation_level=None)

    def _watch(self, engine: Engine) -> None:
        """Wakes the relay after commits.

        SQLAlchemy tells of a commit just before it happens. The connection comes back to its pool right after it, in sessions and in
        ``with engine.begin()``: that is the moment. A savepoint that is released is neither.
        """
        with self._lock:
            if engine in self._watched:
                return
            self._watched.add(engine)
        event.listen(engine, "commit", self._committing)
        event.listen(engine, "rollback", self._rolled_back)
        event.listen(engine, "checkin", self._returned)

    def _committing(self, connection: Connection) -> None:
        # A driver of asyncio cannot be asked when its connection comes back: the nodes find the rows by themselves.
        if connection.info.pop("ojs_inserted", False) and not connection.dialect.is_async:
            connection.info["ojs_notify"] = True
        if connection.info.pop("ojs_staged", False) and self._relay_wanted:
            connection.info["ojs_committed"] = True
            # A connection that is kept is not seen to come back: then the relay's own looks find the row.
            self.relay.start()

    def _rolled_back(self, connection: Connection) -> None:
        connection.info.pop("ojs_staged", None)
        connection.info.pop("ojs_inserted", None)

    def _returned(self, raw: Any, record: Any) -> None:
        if record.info.pop("ojs_notify", False) and raw is not None:
            try:
                with raw.cursor() as cursor:
                    cursor.execute(NOTIFY)
                raw.commit()
            except Exception as error:  # the jobs are committed, and found a moment later
                logger.info("the server could not be told of new jobs: %s", error)
        if record.info.pop("ojs_committed", False):
            self.relay.wake()


def sqlite_savepoints(engine: Engine) -> None:
    """Has SQLite begin a transaction where SQLAlchemy does. Python's driver begins it with the first INSERT, UPDATE or DELETE: a
    savepoint before that is a transaction of its own, and releasing it commits.
    """

    @event.listens_for(engine, "connect")
    def connect(raw: Any, _record: Any) -> None:
        raw.isolation_level = None

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if not _is_autocommit(connection):
            connection.exec_driver_sql("BEGIN")


def _is_autocommit(connection: Connection) -> bool:
    level = connection.get_execution_options().get("isolation_level") or getattr(connection.dialect, "_on_connect_isolation_level", None)
    return level == "AUTOCOMMIT"


def _commits_each_statement(connection: Connection) -> bool:
    """Whether it has begun no transaction and belongs to an engine of SQLAlchemy 1.4 without ``future=True``."""
    return not isinstance(connection, ConnectionOf2) and not connection.in_transaction()
