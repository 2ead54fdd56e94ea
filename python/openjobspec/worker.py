"""The consumer's side: register handlers, run them."""

from __future__ import annotations

import asyncio
import atexit
import logging
import re
import threading
import weakref
from datetime import timedelta
from types import TracebackType
from typing import Any, Callable, Concatenate, Iterable, Literal, Mapping, ParamSpec, TypeVar, overload

from . import _logs, _native
from ._json import dumps
from ._lanes import EventLane, Plans, run_thread
from ._plan import Bridges, plan
from ._portal import LoopThread, Threads, run_on
from ._signals import Signals, on_loop
from ._signature import Signature
from ._versions import Change, Versions
from ._producers import Producers
from .aio import AsyncClient
from .client import Client
from .context import JobContext
from .errors import ForkedError, OJSValidationError
from .middleware import Chain
from .policies import Duration
from .task import Registration, Task, defaults_of
from .transport import CONNECTION_OPTIONS, TransportThreads, environment, native_connection, unknown_option

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=Change)

logger = logging.getLogger("openjobspec.worker")

#: Longer than a program waits; the wait itself looks for signals all the time.
_LONG = 86_400.0
#: What a process that ends gives its workers.
_EXIT_SECONDS = 2.0
#: Keyword arguments beside those of a connection.
_WORKER_OPTIONS = (
    # gen:python/worker_options.j2:names (make gen; do not edit)
    "queues",
    "concurrency",
    "worker_id",
    "heartbeat_interval",
    "visibility_timeout_ms",
    "grace_period",
    "flush_timeout",
    "poll_interval",
    "labels",
    "release_on_shutdown",
    "unknown_types",
    "only_registered_types",
    # gen:end
    "transport",
)
# gen:python/worker_states.j2 (make gen; do not edit)
#: By number of the core.
_STATES = ("running", "quiet", "terminate", "stopped")
# gen:end


class Worker:
    """Fetches jobs and runs their handlers, plain functions in threads and coroutines on an event loop.

    ``url`` is one a :class:`~openjobspec.Client` takes, or a client whose connection is shared. A whole worker::

        worker = ojs.Worker("sqlite:jobs.db", queues=["mail", "default"])

        @worker.register("email.send")
        async def handle_email(ctx: ojs.JobContext):
            await send_email(ctx.args[0])
            return {"sent": True}

        if __name__ == "__main__":
            worker.run()

    ``run()`` ends on SIGTERM or SIGINT: running handlers may finish for ``grace_period`` seconds (a second signal ends that
    at once), then they are cancelled and their jobs go back to the queue. Inside an application use ``start()`` and ``stop()``,
    or ``await run_async()``.

    Every job ends in exactly one outcome: the handler's return value is the result; any exception is a failure that the
    server retries by the job's policy; :class:`~openjobspec.NonRetryableError` fails for good; :class:`~openjobspec.Snooze` runs it
    again later. Delivery is at least once, so handlers must bear running twice.

    A job of a type without a handler becomes a dead letter (``unknown_types="fail"``). Where workers with other
    handlers share the queue, ``unknown_types="release"`` gives it back uncounted, and ``only_registered_types=True``
    asks the server for jobs of the registered types only. Outcomes that do not reach the server are sent again for
    ``flush_timeout`` seconds after the grace period.
    """

    def __init__(
        self,
        url: str | Client | AsyncClient | None = None,
        *,
        # gen:python/worker_options.j2:parameters (make gen; do not edit)
        queues: Iterable[str] | str | None = None,
        concurrency: int | None = None,
        worker_id: str | None = None,
        heartbeat_interval: Duration | None = None,
        visibility_timeout_ms: int | None = 30_000,
        grace_period: Duration | None = None,
        flush_timeout: Duration | None = None,
        poll_interval: Duration | None = None,
        labels: Iterable[str] = (),
        release_on_shutdown: bool = True,
        unknown_types: Literal["fail", "release"] = "fail",
        only_registered_types: bool = False,
        # gen:end
        transport: Any = None,
        **connection: Any,
    ) -> None:
        for name in sorted(set(connection) - set(CONNECTION_OPTIONS)):
            raise unknown_option(name, (*_WORKER_OPTIONS, *CONNECTION_OPTIONS))
        self._url = url
        self._custom = transport
        self._connection_options = connection
        if not isinstance(url, (Client, AsyncClient)) and transport is None:
            native_connection(url, connection)  # a wrong option is reported here, not at start
        said = environment()
        #: The queues, in order of preference.
        self.queues = _names(queues if queues is not None else said["queues"])
        # Of the code alone: where a task's jobs go must not depend on the process that enqueues them.
        self._home = "default" if queues is None or "default" in _names(queues) else _names(queues)[0]
        #: Handlers that run at a time.
        self.concurrency = _slots(concurrency if concurrency is not None else said["concurrency"])
        self._options: dict[str, Any] = {
            # gen:python/worker_options.j2:settings (make gen; do not edit)
            "worker_id": worker_id,
            "heartbeat_interval": _seconds(heartbeat_interval),
            "visibility_timeout": None if visibility_timeout_ms is None else visibility_timeout_ms / 1000,
            "grace_period": said.get("grace_period") if grace_period is None else _seconds(grace_period),
            "flush_timeout": _seconds(flush_timeout),
            "poll_interval": _seconds(poll_interval),
            "labels": _listed(labels),
            "release_on_shutdown": release_on_shutdown,
            "unknown_types": unknown_types,
            "only_registered_types": only_registered_types,
            # gen:end
        }
        #: Runs around every handler. A decorator, and a :class:`~openjobspec.middleware.Chain` to arrange.
        self.middleware = Chain()
        self._handlers: dict[str, Callable[[JobContext], Any]] = {}
        self._tasks: dict[str, Task[..., Any]] = {}
        self._versions: dict[str, Versions] = {}
        self._producers = Producers()
        self._native: _native.Worker | None = None
        self._stop_at_start = False
        self._threads: list[threading.Thread] = []
        self._loop_thread: LoopThread | None = None
        self._bridges = Bridges()
        self._lane: EventLane | None = None
        self._transport_threads: TransportThreads | None = None

    # --- before the start ---

    @overload
    def register(self, job_type: Callable[[JobContext], R], /) -> Task[..., R]: ...
    @overload
    def register(self, job_type: Callable[Concatenate[JobContext, P], R], /) -> Task[P, R]: ...  # type: ignore[overload-cannot-match]
    @overload
    def register(self, job_type: str | None = None, handler: None = None, **defaults: Any) -> Registration: ...
    @overload
    def register(self, job_type: str, handler: Callable[[JobContext], R], **defaults: Any) -> Task[..., R]: ...
    @overload
    def register(self, job_type: str, handler: Callable[Concatenate[JobContext, P], R], **defaults: Any) -> Task[P, R]: ...  # type: ignore[overload-cannot-match]
    def register(self, job_type: Any = None, handler: Any = None, **defaults: Any) -> Any:
        """Registers the handler of a job type, as a decorator or directly, and returns it as a :class:`~openjobspec.Task`.

        Without a type, and without parentheses too, the type is the function's name. ``*`` stands for every other type.

        The handler takes the context, and may take the job's arguments behind it: ``def send(ctx, to, subject="Hello")``. One that can be
        called neither way raises OJSValidationError.

        ``defaults`` are options of :meth:`openjobspec.Client.enqueue` for all jobs of the type that this process enqueues: ``queue="mail"``,
        ``retry=5``, ``timeout="30s"``. What a call says itself wins.

        ``version="2.1"`` is one of them, and says for which version of the arguments the handler is written as well:
        where the server has job versioning, it gives this worker jobs of version 2, those without a version, and those
        whose arguments a :meth:`transform` brings to version 2. ``versions=[">=2.0 <4.0"]`` names other ranges.
        """
        if callable(job_type) and handler is None:
            return self._registered(None, job_type, defaults)
        if handler is not None:
            return self._registered(job_type, handler, defaults)
        return lambda function: self._registered(job_type, function, defaults)

    @overload
    def transform(self, job_type: str, since: str, to: str, function: None = None) -> Callable[[C], C]: ...
    @overload
    def transform(self, job_type: str, since: str, to: str, function: C) -> C: ...
    def transform(self, job_type: str, since: str, to: str, function: Any = None) -> Any:
        """Registers how arguments of version ``since`` become those of version ``to``, as a decorator or directly::

            @worker.transform("user.welcome", "1", "2")
            def named(args):
                return [{"name": args[0]}]

        The function gets the list of arguments and returns one. Changes are made one after the other, before the
        middleware and the handler see the job, as long as there is one for the version that the arguments have then.
        One that raises ends the job with the code ``version_transform``. A job that no change brings to a version of
        its handler fails with the code ``unsupported_version``, or goes back to its queue
        (``unknown_types="release"``).
        """
        if self._native is not None:
            raise OJSValidationError("register transforms before the worker starts")
        if function is None:
            return lambda decorated: self.transform(job_type, since, to, decorated)
        self._versions.setdefault(job_type, Versions()).add(job_type, since, to, function)
        return function

    def handler(self, job_type: str, handler: Callable[..., Any]) -> None:
        """Registers the handler of a job type. Raises OJSValidationError for one that cannot be called as a handler."""
        self._registered(job_type, handler, {})

    def _registered(self, job_type: str | None, handler: Any, defaults: Mapping[str, Any]) -> Task[..., Any]:
        if self._native is not None:
            raise OJSValidationError("register handlers before the worker starts")
        function = handler.function if isinstance(handler, Task) else handler
        named = _named(function) if job_type is None else job_type
        if not isinstance(named, str):
            raise OJSValidationError(f"register() needs a job type such as 'email.send', got {named!r}")
        if not callable(function):
            raise OJSValidationError(f"the handler of '{named}' must be callable, and {type(function).__name__} is not")
        if named in self._handlers:
            raise OJSValidationError(f"a handler for '{named}' is registered already")
        signature = Signature(named, function)
        said = dict(defaults)
        ranges = said.pop("versions", None)
        options = defaults_of(named, said)
        if ranges is not None or options.get("version") is not None:
            self._versions.setdefault(named, Versions()).take(options.get("version"), ranges)
        self._handlers[named] = signature.caller()
        task: Task[..., Any] = Task(self, named, function, signature, options)
        self._tasks[named] = task
        return task

    def configure(
        self, *, url: str | None = None, queues: Iterable[str] | str | None = None, concurrency: int | None = None
    ) -> None:
        """Changes what was given at creation, before the start: what a command line overrides."""
        if self._native is not None:
            raise OJSValidationError("configure the worker before it starts")
        if url is not None:
            self._url, self._custom = url, None
            self._producers = Producers()
        if queues is not None:
            self.queues = _names(queues)
        if concurrency is not None:
            self.concurrency = _slots(concurrency)

    @property
    def job_types(self) -> list[str]:
        """The types that have a handler."""
        return list(self._handlers)

    @property
    def client(self) -> Client:
        """What :meth:`Task.enqueue <openjobspec.Task.enqueue>` sends with: the client the worker was made with, else one to the same server.

        Its ``enqueue_middleware`` runs for tasks too.
        """
        return self._producers.plain(self._url, self._custom, self._connection_options)

    @property
    def async_client(self) -> AsyncClient:
        """The same for coroutines: what :meth:`Task.enqueue_async <openjobspec.Task.enqueue_async>` sends with."""
        return self._producers.asyncio(self._url, self._custom, self._connection_options)

    # --- running ---

    def start(self) -> Worker:
        """Starts working in the background and returns. Not for a worker that has been started before."""
        loop = None
        if self._native is None and self._needs_loop():
            self._loop_thread = LoopThread("openjobspec-loop")
            loop = self._loop_thread.loop
        try:
            native = self._prepare(loop)
            if loop is not None:
                run_on(loop, self._open_lane(loop))
            native.start()
        except BaseException:
            self._clean_up()
            raise
        self._after_start(native)
        return self

    def run(self) -> None:
        """Works until SIGTERM, SIGINT, :meth:`stop` from another thread, or a directive of the server."""
        with Signals(self):
            self.start()
            try:
                self.wait()
            finally:
                self.stop()

    async def run_async(self, *, signals: bool = True) -> None:
        """The same on the running event loop, where the coroutine handlers run too. Cancel it to stop gracefully."""
        loop = asyncio.get_running_loop()
        waiter = Threads(2, "openjobspec-waiter")
        with on_loop(self, loop, signals):
            try:
                native = self._prepare(loop)
                await self._open_lane(loop)
                await waiter.run(native.start)
            except BaseException:
                waiter.close()
                self._clean_up()
                raise
            self._after_start(native)
            over = asyncio.ensure_future(waiter.run(native.wait, _LONG))
            try:
                await asyncio.shield(over)
            except asyncio.CancelledError:
                native.stop(None)
                await over
                raise
            finally:
                waiter.close()
                self._clean_up()

    def stop(self, grace: float | None = None) -> None:
        """Stops gracefully and waits until it is over. ``grace`` seconds instead of ``grace_period``. May be called again."""
        native = self._native
        if native is None or not native.is_own or native.id is None:
            return
        if native.phase < 2:
            native.stop(grace)
        self.wait()
        self._clean_up()

    def shutdown(self, grace: float | None = None) -> None:
        """Begins to stop and returns at once. A second call ends the grace period."""
        self._running().stop(grace)

    def _on_signal(self) -> None:
        # A signal may come while the worker still starts.
        if self._native is None or self._native.id is None:
            self._stop_at_start = True
        else:
            self._native.stop(None)

    def quiet(self) -> None:
        """Fetches no more; what runs goes on."""
        self._running().quiet()

    def resume(self) -> None:
        """Fetches again after :meth:`quiet`."""
        self._running().resume()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the worker is over; False when it was not in time."""
        native = self._running()
        if timeout is not None:
            return native.wait(timeout)
        while not native.wait(_LONG):
            pass
        return True

    @property
    def id(self) -> str | None:
        """The worker's name on the server, once started."""
        return None if self._native is None else self._native.id

    @property
    def state(self) -> str:
        """``new``, ``running``, ``quiet``, ``terminate`` or ``stopped``."""
        if self._native is None:
            return "new"
        return _STATES[self._native.phase]

    def __repr__(self) -> str:
        return f"<Worker of {', '.join(self._handlers) or 'no types yet'}: queues {', '.join(self.queues)}, {self.state}>"

    def __enter__(self) -> Worker:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    # --- inside ---

    def _plans(self, bridges: Bridges | None = None) -> Plans:
        layers = self.middleware.freeze()
        across = self._bridges if bridges is None else bridges
        plans = {job_type: plan(handler, layers, across) for job_type, handler in self._handlers.items()}
        plans.update({name: versions.around(plans[name]) for name, versions in self._versions.items() if name in plans})
        return Plans(plans, self)

    def _needs_loop(self) -> bool:
        layers = list(self.middleware)
        return any(plan(handler, layers, self._bridges).needs_loop for handler in self._handlers.values())

    def _prepare(self, loop: asyncio.AbstractEventLoop | None) -> _native.Worker:
        """Everything up to the first fetch."""
        if self._native is not None:
            self._running()  # says so when this is a fork
            raise OJSValidationError("a worker can be started once; make another one")
        if not self._handlers:
            raise OJSValidationError("the worker has no handlers: register some before it starts")
        plans = self._plans()
        everything = [*plans.items(), *([("*", plans.fallback)] if plans.fallback else [])]
        self._bridges.loop = loop
        self._bridges.threads = Threads(self.concurrency, "openjobspec-handler")
        colours = sorted({which.on_loop for _, which in everything})
        lane_of = {colour: lane for lane, colour in enumerate(colours)}
        self._warn_of_queues()
        # Before the first job: what fails at once is a record already.
        _logs.start()
        native = self._native = _native.Worker(
            self._connection(),
            {job_type: lane_of[which.on_loop] for job_type, which in plans.items()},
            colours,
            fallback=None if plans.fallback is None else lane_of[plans.fallback.on_loop],
            settings=dumps({**self._options, **self._scope()}).decode(),
        )
        self._all_plans = plans
        self._lane_of = lane_of
        return native

    def _scope(self) -> dict[str, Any]:
        """Which jobs this worker takes, as the core reads it."""
        versions = {name: said for name, versions in self._versions.items() if (said := versions.said())}
        return {"queues": self.queues, "concurrency": self.concurrency, "versions": versions}

    def _warn_of_queues(self) -> None:
        for job_type, task in self._tasks.items():
            queue = task.queue
            if "queue" in task._options and queue not in self.queues:
                logger.warning("jobs of type '%s' go to the queue '%s', and this worker asks for %s only", job_type, queue, ", ".join(self.queues))

    async def _open_lane(self, loop: asyncio.AbstractEventLoop) -> None:
        lane = self._lane_of.get(True)
        if lane is not None and self._native is not None:
            self._lane = EventLane(self._native, lane, self._all_plans, self.concurrency, loop)

    def _after_start(self, native: _native.Worker) -> None:
        _live.add(self)
        if self._stop_at_start:
            native.stop(None)
        lane = self._lane_of.get(False)
        if lane is None:
            return
        for number in range(self.concurrency):
            thread = threading.Thread(
                target=run_thread, args=(native, lane, self._all_plans), name=f"openjobspec-worker-{number}", daemon=True
            )
            thread.start()
            self._threads.append(thread)

    def _connection(self) -> _native.Connection:
        if self._custom is None and isinstance(self._url, (Client, AsyncClient)):
            shared = self._url._connection
            if shared is not None:
                return shared
            self._custom = self._url._transport.custom
        if self._custom is not None:
            self._transport_threads = TransportThreads(self._custom)
            return self._transport_threads.connection
        assert self._url is None or isinstance(self._url, str)
        return native_connection(self._url, self._connection_options)

    def _clean_up(self) -> None:
        """After the end. Threads stuck in a handler are left behind: their jobs went back to the queue."""
        _live.discard(self)
        if self._lane is not None:
            self._lane.abandon()
        if self._bridges.threads is not None:
            self._bridges.threads.close()
        if self._loop_thread is not None:
            self._loop_thread.stop(timeout=_EXIT_SECONDS)
        if self._transport_threads is not None:
            self._transport_threads.close()
        _logs.flush()

    def _running(self) -> _native.Worker:
        if self._native is None:
            raise OJSValidationError("the worker has not been started")
        if not self._native.is_own:
            raise ForkedError("this worker was started in the parent process; start one after the fork", code="forked")
        return self._native


def _named(function: Any) -> str:
    """The job type of a handler that is registered without one."""
    name = getattr(function, "__name__", "")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise OJSValidationError(f"'{name}' cannot be a job type: name one, as in @worker.register('email.send')")
    return str(name)


def _names(queues: Iterable[str] | str) -> list[str]:
    given = queues.split(",") if isinstance(queues, str) else _listed(queues)
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise OJSValidationError(f"queues must be a list of names, or text such as 'mail,default', got {queues!r}")
    names = [name.strip() for name in given if name.strip()]
    if not names:
        raise OJSValidationError("a worker needs at least one queue")
    return names


def _slots(concurrency: int | str) -> int:
    if isinstance(concurrency, str) and concurrency.strip().isdecimal():
        concurrency = int(concurrency)
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        raise OJSValidationError(f"concurrency must be at least 1, got {concurrency!r}")
    return concurrency


def _listed(given: Any) -> Any:
    """A list of what is given. What is no list of words stays as it is: the core says what is wrong with it."""
    return list(given) if isinstance(given, Iterable) and not isinstance(given, (str, Mapping)) else given


def _seconds(length: Duration | None) -> float | str | None:
    return length.total_seconds() if isinstance(length, timedelta) else length


#: Workers that run in this process.
_live: weakref.WeakSet[Worker] = weakref.WeakSet()


def _at_exit() -> None:
    """Gives jobs back that still run when the process ends, within bounds."""
    running = [worker._native for worker in list(_live) if worker._native is not None and worker._native.is_own]
    for native in running:
        native.stop(0.0)
    for native in running:
        native.wait(_EXIT_SECONDS)
    if running:
        _logs.flush()


atexit.register(_at_exit)

