"""The outbox: a job is sent if, and only if, the transaction that staged it commits.

The row is written by the application's own connection, inside its transaction; a relay sends it afterwards. Framework adapters
(`ojs-adapter-django`, …) do this for you; with a DB-API connection of your own::

    outbox = Outbox(client, database="sqlite")
    relay = Relay(client, lambda: sqlite3.connect("app.db")).start()
    with connection:                        # a transaction
        connection.execute("INSERT INTO users …")
        outbox.add(connection, "email.welcome", [user_id])
    relay.wake()                            # or wait for its next look, a second at most

In this process an SQLite file is read by Python's own SQLite alone, never by the native module's: two copies of SQLite in one
process that open the same file destroy it.
"""

from __future__ import annotations

import atexit
import os
import threading
from dataclasses import dataclass
from typing import Any, Callable, Mapping
from urllib.parse import quote, urlencode

from . import _logs, _native, outbox_context
from ._database_host import DatabaseHost
from ._json import dumps, loads
from ._secrets import redacted
from .client import Client, RequestLike
from .errors import NotEnqueuedError, OJSValidationError, OutboxError
from .job import Job, JobRequest
from .policies import Duration, duration_seconds
from .transport import TransportThreads

#: The name in the specification.
TABLE = "ojs_outbox"


@dataclass(frozen=True, slots=True)
class Staged:
    """A row to be written: run ``sql`` with ``params`` in the transaction the job belongs to."""

    #: The job as it will be sent; it has its id already.
    job: Job
    sql: str
    params: tuple[Any, ...]


def migration(database: str, table: str = TABLE) -> list[str]:
    """The statements that make the tables, or add what a table lacks that was made by the specification's DDL.

    Run them in this order, on one connection. They take a lock, so any number of processes may run them at the same
    time.

    >>> migration("sqlite")[0].split("(")[0]
    'CREATE TABLE IF NOT EXISTS ojs_outbox '
    """
    return _native.outbox_migration(database, table)


class Outbox:
    """Makes rows. ``database`` is ``postgresql``, ``mysql`` (MariaDB too) or ``sqlite``, ``paramstyle`` that of the driver.

    With ``in_engine`` the rows are the engine's own, which shares the application's PostgreSQL: no relay has to send them.
    """

    #: How the table is made, for the error of an application that has none.
    migrate_command = "outbox.migrate(connection)"

    def __init__(
        self, client: Client, *, database: str, table: str = TABLE, paramstyle: str | None = None, in_engine: bool = False
    ) -> None:
        self.client = client
        self.in_engine = in_engine
        self.database = database
        self.table = table
        self.paramstyle = paramstyle or ("qmark" if database == "sqlite" else "format")

    def stage(self, job: RequestLike) -> Staged:
        """Runs the client's enqueue middleware, now, and makes the row of what comes out.

        What is wrong with the job is raised here, inside the transaction. Raises NotEnqueuedError when a middleware dropped it.
        """
        found: list[Staged] = []

        def keep(request: JobRequest) -> Job:
            body = request.to_dict()
            text = self.client._transport.encrypted(dumps(body))
            if self.in_engine:
                job_id, sql, params = _native.outbox_stage_in_engine(text, self.paramstyle)
            else:
                job_id, sql, params = _native.outbox_stage(text, self.database, self.table, self.paramstyle)
            made = Job.from_dict({**body, **body.pop("options", {}), "id": job_id})
            found.append(Staged(made, sql, params))
            return made

        request = outbox_context.completed(JobRequest.of(job))
        if self.client._through(request, keep) is None or not found:
            raise NotEnqueuedError("a middleware dropped the job", code="not_enqueued")
        return found[-1]

    def add(self, connection: Any, job_type: str | JobRequest, args: Any = None, **options: Any) -> Job:
        """Stages a job in the transaction that is open on a DB-API connection.

        Raises OutboxError with the code ``no_outbox_table`` when the table is missing.
        """
        return self.write(connection, JobRequest.made(job_type, args, options))

    def write(self, connection: Any, job: RequestLike) -> Job:
        """The same for a request made before."""
        staged = self.stage(job)
        cursor = connection.cursor()
        try:
            cursor.execute(staged.sql, staged.params)
        except Exception as error:
            explain(error, self.table, self.migrate_command)
            raise
        finally:
            cursor.close()
        return staged.job

    def migrate(self, connection: Any) -> None:
        """Makes the table on a DB-API connection, or adds what it lacks. Safe to run again; commit afterwards.

        >>> import sqlite3
        >>> app = sqlite3.connect(":memory:")
        >>> Outbox(Client("memory:"), database="sqlite").migrate(app)
        """
        cursor = connection.cursor()
        try:
            for statement in migration(self.database, self.table):
                cursor.execute(statement)
        finally:
            cursor.close()

    def waiting(self, connection: Any) -> list[dict[str, Any]]:
        """The rows not sent yet that this connection sees, its own transaction's included: for tests."""
        cursor = connection.cursor()
        try:
            cursor.execute(_native.outbox_staged_query(self.database, self.table, self.in_engine))
            rows = cursor.fetchall()
        finally:
            cursor.close()
        return [
            {"type": job_type, "args": loads(args), "options": loads(options), "id": job_id}
            for job_id, job_type, args, options in rows
        ]


#: How drivers say that there is no such table: PostgreSQL's code, MySQL's number. SQLite has a text.
_NO_TABLE = {"42P01", "1146"}


def explain(error: Exception, table: str, command: str) -> None:
    """Raises OutboxError for what a driver said about writing a row, in words that say what to do; returns where there are none.

    ``command`` is how this framework makes the table.
    """
    codes: set[str] = set()
    texts: list[str] = []
    at: BaseException | None = error
    while at is not None and len(texts) < 10:  # SQLAlchemy and Django wrap the driver's own
        codes |= {str(getattr(at, name, None)) for name in ("sqlstate", "pgcode")} | {str(value) for value in at.args[:1]}
        texts.append(str(at))
        at = getattr(at, "orig", None) or at.__cause__
    if codes & _NO_TABLE or any(f"no such table: {table}" in text for text in texts):
        raise OutboxError(f"there is no table {table}: run '{command}' once, or 'ojs relay migrate'", code="no_outbox_table") from error


class Relay:
    """Sends what is in an outbox, in the order of its rows. Any number may run, in any number of processes: one sends.

    ``database`` is the URL of a PostgreSQL, MySQL or MariaDB database, or a function that opens a connection of ``sqlite3``: the relay's thread calls
    it. ``poll_interval`` and ``retention`` are seconds, timedeltas, or text such as ``PT1S``. A process made by fork starts its own relay with the first :meth:`wake` or :meth:`start`.
    """

    def __init__(
        self,
        client: Client,
        database: str | Callable[[], Any],
        *,
        table: str = TABLE,
        poll_interval: Duration = 1.0,
        batch_size: int = 1000,
        retention: Duration = 24 * 3600,
        migrate: bool = False,
    ) -> None:
        if isinstance(database, str) and not database.startswith(("postgres://", "postgresql://", "mysql://", "mariadb://")):
            raise OJSValidationError(
                f"a relay in this process reads PostgreSQL and MySQL by URL, and SQLite through a function that opens it; got '{redacted(database)}'"
            )
        self._client = client
        self._database = database
        self._table = table
        self._options = {
            "poll_interval": duration_seconds(poll_interval),
            "batch_size": batch_size,
            "retention": duration_seconds(retention),
            "migrate": migrate,
        }
        self._lock = threading.Lock()
        self._native: _native.Relay | None = None
        self._host: DatabaseHost | None = None
        self._transport: TransportThreads | None = None
        self._pid: int | None = None

    def start(self) -> Relay:
        """Starts it, unless it runs in this process. What is committed is flushed when the interpreter ends."""
        with self._lock:
            if self._pid == os.getpid():
                return self
            connection = self._client._connection
            options: dict[str, Any] = dict(self._options)
            try:
                if connection is None:
                    self._transport = TransportThreads(self._client._transport.custom)
                    connection = self._transport.connection
                if isinstance(self._database, str):
                    options["url"] = self._database
                else:
                    self._host = DatabaseHost(self._database)
                    options["host"] = self._host.mailbox
                native = _native.Relay(connection, self._table, **options)
            except BaseException:
                self._close_parts()
                raise
            _logs.start()
            if self._native is None:
                atexit.register(self.stop)
            self._native, self._pid = native, os.getpid()
            return self

    def _close_parts(self) -> None:
        host, self._host = self._host, None
        transport, self._transport = self._transport, None
        if host is not None:
            host.close()
        if transport is not None:
            transport.close()

    def wake(self) -> None:
        """Says that a transaction has committed. Cheap; a relay that is not woken looks by itself."""
        if self._pid != os.getpid():
            self.start()
        if self._native is not None:
            self._native.wake()

    @property
    def running(self) -> bool:
        """Whether it runs in this process."""
        return self._pid == os.getpid()

    def status(self) -> dict[str, Any]:
        """What it has done so far: ``leading``, ``sent``, ``deduplicated``, ``refused``, ``parked``, ``held_up``, ``error``."""
        found = self._native.status() if self._native is not None and self.running else None
        return dict(found or {})

    def stop(self, grace: float = 5.0) -> None:
        """Sends what is committed, for at most ``grace`` seconds, and ends. What is left stays in the table."""
        with self._lock:
            if self._pid != os.getpid():
                return
            native, self._native, self._pid = self._native, None, None
            atexit.unregister(self.stop)
            try:
                if native is not None:
                    native.stop(grace)
            finally:
                self._close_parts()

    def __repr__(self) -> str:
        place = redacted(self._database) if isinstance(self._database, str) else "an SQLite file"
        return f"<Relay of {self._table} in {place}{', running' if self.running else ''}>"

    def __enter__(self) -> Relay:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


def postgres_url(
    *, host: str | None, port: Any, user: str | None, password: str | None, name: str, options: Mapping[str, Any] | None = None
) -> str:
    """The URL of a database given by its parts, as frameworks keep them.

    >>> postgres_url(host="/run/pg", port="", user="app", password="p@ss", name="shop")
    'postgresql://app:p%40ss@%2Frun%2Fpg/shop'
    """
    login = _login(user or os.environ.get("USER", "postgres"), password)
    place = quote(host or "/var/run/postgresql", safe="") + (f":{port}" if port else "")
    known = {key: value for key, value in (options or {}).items() if key in ("sslmode", "sslrootcert") and value}
    return f"postgresql://{login}@{place}/{quote(name, safe='')}" + (f"?{urlencode(known)}" if known else "")


def mysql_url(
    *, host: str | None, port: Any, user: str | None, password: str | None, name: str, options: Mapping[str, Any] | None = None
) -> str:
    """The same for MySQL and MariaDB, with what their drivers call ``unix_socket``, ``ssl_mode`` and ``ssl`` (or ``ssl_ca``).

    >>> mysql_url(host="db", port=3307, user="app", password="p@ss", name="shop", options={"ssl": {"ca": "/ca.pem"}})
    'mysql://app:p%40ss@db:3307/shop?ssl-ca=%2Fca.pem&ssl-mode=VERIFY_CA'
    >>> mysql_url(host="/run/mysqld.sock", port="", user="app", password=None, name="shop")
    'mysql://app@localhost/shop?socket=%2Frun%2Fmysqld.sock'
    """
    options = options or {}
    ssl = options.get("ssl")
    certificates = options.get("ssl_ca") or (ssl.get("ca") if isinstance(ssl, Mapping) else None)
    socket = host if host and host.startswith("/") else options.get("unix_socket")
    # As with the drivers: who names authorities wants the server's certificate checked, and who sets `ssl` wants it encrypted.
    mode = options.get("ssl_mode") or ("VERIFY_CA" if certificates else "REQUIRED" if ssl else None)
    known = {"socket": socket, "ssl-ca": certificates, "ssl-mode": mode}
    place = (host if host and not host.startswith("/") else "localhost") + (f":{port}" if port else "")
    query = urlencode({key: value for key, value in known.items() if value})
    return f"mysql://{_login(user or os.environ.get('USER', 'root'), password)}@{place}/{quote(name, safe='')}" + (f"?{query}" if query else "")


def _login(user: str, password: str | None) -> str:
    return quote(user, safe="") + (":" + quote(str(password), safe="") if password else "")


def same_file(url: str, path: str) -> bool:
    """Whether an engine's URL names this SQLite file: two copies of SQLite would open it, and destroy it."""
    if not url.startswith("sqlite:"):
        return False
    return os.path.realpath(url.removeprefix("sqlite:").split("?")[0]) == os.path.realpath(path)
