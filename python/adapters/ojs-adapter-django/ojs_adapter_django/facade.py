"""``ojs``: the client of a Django project."""

from __future__ import annotations

import threading
from typing import Any, Iterable

from django.core.exceptions import ImproperlyConfigured
from django.db import connections, transaction

from openjobspec import Client, Job, JobRequest, outbox_context
from openjobspec.client import RequestLike
from openjobspec.outbox import Outbox, Relay
from openjobspec.same_database import NOTIFY, SameDatabase

from . import conf, databases


class Ojs:
    """Enqueues jobs for a Django project, at once or with the transaction. Settings are read with the first use."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._config: conf.Config | None = None
        self._client: Client | None = None
        self._relays: dict[str, Relay] = {}
        self._same: dict[str, SameDatabase] = {}

    # --- enqueue ---

    def enqueue(self, job_type: str | JobRequest, args: Any = None, **options: Any) -> Job:
        """Sends a job now, whatever becomes of the transaction. Options as for :meth:`openjobspec.Client.enqueue`."""
        return self.client.enqueue_request(outbox_context.completed(JobRequest.made(job_type, args, options)))

    def enqueue_bulk(self, jobs: Iterable[RequestLike]) -> list[Job]:
        """Sends many jobs now, in one request: all are stored or none."""
        return self.client.enqueue_batch([outbox_context.completed(JobRequest.of(job)) for job in jobs])

    def enqueue_after_commit(self, job_type: str | JobRequest, args: Any = None, *, using: str | None = None, **options: Any) -> Job:
        """Sends a job if, and only if, the outermost transaction commits. Outside of a transaction: now.

        The job is written into the outbox in the transaction, so it is sent even when this process dies right after the
        commit. ``using`` names the database whose transaction counts. The job that is returned has its id already.
        """
        return self._after_commit(JobRequest.made(job_type, args, options), using)

    def enqueue_bulk_after_commit(self, jobs: Iterable[RequestLike], *, using: str | None = None) -> list[Job]:
        """The same for many jobs."""
        return [self._after_commit(JobRequest.of(job), using) for job in jobs]

    def _after_commit(self, request: JobRequest, using: str | None) -> Job:
        using = using or self.config.database
        connection = connections[using]
        if connection.get_autocommit() and not connection.in_atomic_block:
            return self.client.enqueue_request(outbox_context.completed(request))
        if not self.config.enabled:
            request = outbox_context.completed(request)
            transaction.on_commit(lambda: self.client.enqueue_request(request), using=using)
            return Job.from_dict(request.to_dict())
        outbox = self.outbox(using)
        job = outbox.write(connection, request)
        if connection.in_atomic_block and (self.config.relay or outbox.in_engine):
            transaction.on_commit(lambda: self._committed(using, outbox.in_engine), using=using, robust=True)
        return job

    def _committed(self, using: str, in_engine: bool) -> None:
        if in_engine:
            with connections[using].cursor() as cursor:
                cursor.execute(NOTIFY)
        else:
            self.relay(using).wake()

    # --- parts ---

    @property
    def config(self) -> conf.Config:
        """``OJS_CONFIG``."""
        if self._config is None:
            self._config = conf.read()
        return self._config

    @property
    def client(self) -> Client:
        """The client, the same for all threads."""
        with self._lock:
            if self._client is None:
                self._client = Client(self.config.url, **self.config.client)
            return self._client

    def outbox(self, using: str | None = None) -> Outbox:
        """The outbox in a database."""
        using = using or self.config.database
        database = databases.vendor(using)
        # Django's cursors take `%s` whatever the driver.
        outbox = Outbox(self.client, database=database, table=self.config.table, paramstyle="format", in_engine=self.shares_database(using))
        outbox.migrate_command = f"manage.py {conf.migrate_command(using)}"
        return outbox

    def shares_database(self, using: str | None = None) -> bool:
        """Whether the server keeps its jobs in this database: then transactions insert them there, without outbox and relay."""
        using = using or self.config.database
        if databases.vendor(using) != "postgresql":
            return False
        with self._lock:
            same = self._same.get(using)
            if same is None:
                same = self._same[using] = SameDatabase(self.client, self.config.same_database)

        def query(sql: str) -> Any:
            with transaction.atomic(using=using), connections[using].cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetchone()[0]

        return same(query)

    def relay(self, using: str | None = None) -> Relay:
        """This process's relay for a database; :meth:`~openjobspec.outbox.Relay.start` it, or let the first commit do so."""
        using = using or self.config.database
        with self._lock:
            relay = self._relays.get(using)
            if relay is None:
                options = dict(self.config.relay_options)
                relay = Relay(self.client, databases.for_relay(using), table=self.config.table, **options)
                self._relays[using] = relay
            return relay

    def staged(self, using: str | None = None) -> list[dict[str, Any]]:
        """The jobs in the outbox that are not sent yet, as the present transaction sees them: for tests."""
        using = using or self.config.database
        return self.outbox(using).waiting(connections[using])

    def on_request(self, **_: Any) -> None:
        """Starts the relay with the first request of a web process: rows that an earlier process left are sent then."""
        if self.config.enabled and self.config.relay:
            try:
                self.relay().start()
            except ImproperlyConfigured:
                pass  # the system checks have said so

    def close(self, grace: float = 5.0) -> None:
        """Flushes the outbox, stops the relays, closes the client; settings are read again by the next use."""
        with self._lock:
            relays, self._relays = self._relays, {}
            client, self._client = self._client, None
            self._config = None
            self._same = {}
        for relay in relays.values():
            relay.stop(grace)
        if client is not None:
            client.close()


#: The client of this project.
ojs = Ojs()
