"""Open Job Spec for Flask: jobs that run if, and only if, the transaction commits."""

from __future__ import annotations

import signal
import threading
from typing import Any, Callable, Iterable

import click
from flask import Flask, current_app, g, request
from flask.cli import with_appcontext
from ojs_adapter_sqlalchemy import OjsOutbox

from openjobspec import Job, JobRequest, OJSError, OutboxError, outbox_context
from openjobspec.__main__ import load
from openjobspec.adapter_config import spelled
from openjobspec.client import RequestLike

__all__ = ["Ojs"]

_EXTENSION = "ojs"


class Ojs:
    """The extension. ``app.config``: ``OJS_URL``, ``OJS_DATABASE`` (a URL; else ``SQLALCHEMY_DATABASE_URI``), ``OJS_OUTBOX`` (options of
    :class:`ojs_adapter_sqlalchemy.OjsOutbox`), ``OJS_WORKER`` (``module:attribute``). ``OJS_CONFIG`` in place of ``OJS_URL`` and ``OJS_OUTBOX``: the
    settings as the specification prints them, see :meth:`ojs_adapter_sqlalchemy.OjsOutbox.from_config`.

    ``session`` is what jobs are staged on when a call names nothing: Flask-SQLAlchemy's ``db.session``, or a function that returns the
    present session. ``user_id`` and ``tenant_id`` are functions that say who makes the request.
    """

    def __init__(
        self,
        app: Flask | None = None,
        *,
        session: Any = None,
        user_id: Callable[[], Any] | None = None,
        tenant_id: Callable[[], Any] | None = None,
    ) -> None:
        self._session = session
        self._user_id = user_id
        self._tenant_id = tenant_id
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        """Registers with an application."""
        database = app.config.get("OJS_DATABASE") or _engine(app) or app.config.get("SQLALCHEMY_DATABASE_URI")
        if database is None:
            raise OutboxError("set OJS_DATABASE or SQLALCHEMY_DATABASE_URI: the database whose transactions count")
        config = app.config.get("OJS_CONFIG") or {"url": app.config.get("OJS_URL"), "outbox": app.config.get("OJS_OUTBOX", {})}
        app.config.setdefault("OJS_URL", spelled(config).get("url"))
        outbox = app.extensions[_EXTENSION] = OjsOutbox.from_config(config, database)
        outbox.migrate_command = "flask ojs-migrate"
        app.before_request(self._begin)
        app.teardown_request(self._end)
        app.cli.add_command(_migrate)
        app.cli.add_command(_relay)
        app.cli.add_command(_worker)

    @property
    def outbox(self) -> OjsOutbox:
        """The outbox of the present application."""
        found: OjsOutbox = current_app.extensions[_EXTENSION]
        return found

    def enqueue(self, job_type: str | JobRequest, args: Any = None, **options: Any) -> Job:
        """Sends a job now."""
        return self.outbox.enqueue(job_type, args, **options)

    def enqueue_bulk(self, jobs: Iterable[RequestLike]) -> list[Job]:
        """Sends many jobs now, in one request."""
        return self.outbox.enqueue_bulk(jobs)

    def enqueue_after_commit(self, job_type: str | JobRequest, args: Any = None, *, transaction: Any = None, **options: Any) -> Job:
        """Sends a job if, and only if, the transaction commits: the extension's session, or the one that is named."""
        session = transaction if transaction is not None else self._session
        if session is None:
            raise OutboxError("which transaction? Give Ojs(session=db.session), or enqueue_after_commit(..., transaction=session)")
        if callable(session) and not hasattr(session, "execute"):
            session = session()
        return self.outbox.enqueue_after_commit(session, job_type, args, **options)

    def close(self, app: Flask, grace: float = 5.0) -> None:
        """Flushes the outbox and stops the relay. The end of the process does the same."""
        app.extensions[_EXTENSION].close(grace)

    def _begin(self) -> None:
        self.outbox.start()
        meta = outbox_context.of_request(
            request.headers.get,
            user_id=self._user_id() if self._user_id else None,
            tenant_id=self._tenant_id() if self._tenant_id else None,
        )
        g.ojs_context = outbox_context.bind(meta)

    def _end(self, _error: BaseException | None) -> None:
        token = g.pop("ojs_context", None)
        if token is not None:
            outbox_context.unbind(token)


def _engine(app: Flask) -> Any:
    """The engine of Flask-SQLAlchemy, where it is in use: it resolves paths of SQLite files in its own way."""
    extension = app.extensions.get("sqlalchemy")
    if extension is None:
        return None
    with app.app_context():
        return extension.engine


@click.command("ojs-migrate")
@with_appcontext
def _migrate() -> None:
    """Make the outbox table, or add what it lacks. Safe to run again."""
    outbox: OjsOutbox = current_app.extensions[_EXTENSION]
    outbox.migrate()
    click.echo(f"there is a table {outbox.table}")


@click.command("ojs-relay")
@click.option("--once", is_flag=True, help="Send what is there and end.")
@with_appcontext
def _relay(once: bool) -> None:
    """Send what transactions have put into the outbox. SIGTERM flushes and ends it."""
    stop = threading.Event()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
    outbox: OjsOutbox = current_app.extensions[_EXTENSION]
    outbox.relay.start()
    click.echo("relaying")
    if not once:
        stop.wait()
    outbox.relay.stop()


@click.command("ojs-worker")
@click.argument("app", required=False)
@with_appcontext
def _worker(app: str | None) -> None:
    """Run the handlers of a worker: OJS_WORKER or the argument, as module:attribute."""
    named = app or current_app.config.get("OJS_WORKER")
    if not named:
        raise click.UsageError("name the worker: OJS_WORKER = 'shop.jobs:worker', or flask ojs-worker shop.jobs:worker")
    try:
        worker = load(named)
    except OJSError as error:
        raise click.ClickException(str(error)) from error
    flask_app = current_app._get_current_object()  # type: ignore[attr-defined]

    def in_app(_ctx: Any, next: Callable[[], Any]) -> Any:
        with flask_app.app_context():
            return next()

    if current_app.config.get("OJS_URL"):
        worker.configure(url=current_app.config["OJS_URL"])
    worker.middleware.prepend("flask_context", outbox_context.restored)
    worker.middleware.prepend("flask_app", in_app)
    worker.run()
