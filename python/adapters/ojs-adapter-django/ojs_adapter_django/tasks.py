"""Django's own tasks (``django.tasks`` of Django 6.0, the package ``django-tasks`` before) as jobs of Open Job Spec.

A task is a job of its own type, ``django_task.shop.tasks.welcome``; its function is named in the metadata, where it can be read when
the arguments are encrypted. It is written in the open transaction, so it runs if, and only if, that commits.
"""

from __future__ import annotations

import re
import traceback
from datetime import datetime
from typing import Any, Iterable

from django.core import checks
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.module_loading import import_string

from openjobspec import Job, JobCancelledError, JobContext, JobNotFoundError, JobRequest, NonRetryableError, OJSError, Snooze, Worker

from .facade import ojs

try:
    from django.tasks import task_backends
    from django.tasks.backends.base import BaseTaskBackend
    from django.tasks.base import Task, TaskContext, TaskError, TaskResult, TaskResultStatus
    from django.tasks.exceptions import TaskResultDoesNotExist
    from django.tasks.signals import task_enqueued, task_finished, task_started
    from django.utils.json import normalize_json
except ModuleNotFoundError:  # before Django 6.0
    from django_tasks import task_backends
    from django_tasks.backends.base import BaseTaskBackend
    from django_tasks.base import Task, TaskContext, TaskError, TaskResult, TaskResultStatus
    from django_tasks.exceptions import TaskResultDoesNotExist
    from django_tasks.signals import task_enqueued, task_finished, task_started
    from django_tasks.utils import normalize_json

#: The function, and the alias of the backend, in a job's metadata.
FUNCTION, BACKEND = "django.task", "django.task_backend"
#: Options of the backend that are not options of the job.
_OWN = {"database"}
_STATES = {"active": TaskResultStatus.RUNNING, "completed": TaskResultStatus.SUCCESSFUL,
           "cancelled": TaskResultStatus.FAILED, "discarded": TaskResultStatus.FAILED}  # fmt: skip


class OJSBackend(BaseTaskBackend):  # type: ignore[misc]
    """Enqueues tasks with the transaction. ``OPTIONS``: ``database``, whose transaction counts, and whatever every job is to have
    (``timeout_ms``, ``retry``, ``tags`` …). Without ``retry`` a task that raises has failed for good, as with Django's other backends."""

    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def __init__(self, alias: str, params: dict[str, Any]) -> None:
        super().__init__(alias, params)
        options = dict(params.get("OPTIONS") or {})
        self.database: str | None = options.get("database")
        self.job_options = {name: value for name, value in options.items() if name not in _OWN}

    def enqueue(self, task: Task, args: Any, kwargs: Any) -> TaskResult:
        """Writes the task in the open transaction, or sends it where there is none. What cannot be a job raises here."""
        self.validate_task(task)
        result = self._result_of(task, args, kwargs)
        job = ojs._after_commit(self._request(task, result), self.database)
        object.__setattr__(result, "id", job.id)
        object.__setattr__(result, "enqueued_at", timezone.now())
        task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> TaskResult:
        """What has become of a task: from the server, or, before the relay has sent it, from the outbox."""
        # In between the relay may have sent it.
        job = _on_server(result_id) or self._in_outbox(result_id) or _on_server(result_id)
        if job is None or job.meta.get(BACKEND) != self.alias:
            raise TaskResultDoesNotExist(result_id)
        return self.result_of_job(job)

    def check(self, **kwargs: Any) -> Iterable[checks.CheckMessage]:
        """For ``manage.py check``."""
        yield from super().check(**kwargs)
        try:
            JobRequest("django_task", **self.job_options).to_dict()
        except (OJSError, TypeError, ValueError) as error:
            yield checks.Error(f"TASKS['{self.alias}']['OPTIONS']: {error}", id="ojs.E004")
        for queue in sorted(self.queues):
            if not re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,127}", queue):
                yield checks.Error(f"TASKS['{self.alias}']['QUEUES']: '{queue}' is no name for a queue",
                                   hint="lowercase letters, digits, '-' and '.'", id="ojs.E005")  # fmt: skip

    # --- jobs and tasks ---

    def _in_outbox(self, job_id: str) -> Job | None:
        rows = ojs.staged(self.database) if ojs.config.enabled else []
        return next((Job.from_dict({**row, **row["options"]}) for row in rows if row["id"] == job_id), None)

    def _request(self, task: Task, result: TaskResult) -> JobRequest:
        options = dict(self.job_options)
        meta = {**(options.pop("meta", None) or {}), FUNCTION: task.module_path, BACKEND: self.alias}
        if task.run_after is not None:
            options["delay_until"] = task.run_after
        return JobRequest(type_of(task.module_path), [result.args, result.kwargs], queue=task.queue_name, priority=task.priority,
                          meta=meta, **options)  # fmt: skip

    def _result_of(self, task: Task, args: Any, kwargs: Any, **known: Any) -> TaskResult:
        nothing = {"id": "", "status": TaskResultStatus.READY, "enqueued_at": None, "started_at": None, "last_attempted_at": None,
                   "finished_at": None, "errors": [], "worker_ids": []}  # fmt: skip
        return TaskResult(task=task, args=list(args), kwargs=dict(kwargs), backend=self.alias, **{**nothing, **known})

    def result_of_job(self, job: Job) -> TaskResult:
        """A job as Django sees it. Arguments that are encrypted stay on the server: they are shown as none."""
        task = task_of(job)
        after = _time(job.scheduled_at)
        task = task.using(priority=job.priority, queue_name=job.queue, backend=self.alias, run_after=after)
        args, kwargs = job.args if len(job.args) == 2 else ([], {})
        ended = next((job.get(name) for name in ("completed_at", "discarded_at", "cancelled_at") if job.get(name)), None)
        workers = [str(job.get("worker_id") or "")] * job.attempt
        result = self._result_of(
            task, args, kwargs, id=job.id, status=_STATES.get(job.state or "", TaskResultStatus.READY),
            enqueued_at=_time(job.get("enqueued_at") or job.created_at), started_at=_time(job.get("started_at")),
            last_attempted_at=_time(job.get("started_at")), finished_at=_time(ended), errors=_errors(job), worker_ids=workers,
        )  # fmt: skip
        object.__setattr__(result, "_return_value", job.result)
        return result


def type_of(path: str) -> str:
    """The job type of a function: words of lowercase letters, digits and ``_``, each with a letter first.

    >>> type_of("shop.Tasks._send")
    'django_task.shop.tasks.x_send'
    """
    plain = re.sub(r"[^a-z0-9_.]", "-", path.lower())
    return ("django_task." + re.sub(r"(^|\.)([^a-z])", r"\1x\2", plain))[:255]


def task_of(job: Job) -> Task:
    """The task that a job names. Raises TaskResultDoesNotExist when there is none of that name any more."""
    path = str(job.meta.get(FUNCTION))
    try:
        task = import_string(path)
    except ImportError as error:
        raise TaskResultDoesNotExist(f"{job.id}: there is no task {path}") from error
    if not isinstance(task, Task):
        raise TaskResultDoesNotExist(f"{job.id}: {path} is no task")
    return task


def _on_server(job_id: str) -> Job | None:
    try:
        return ojs.client.get_job(job_id)
    except JobNotFoundError:
        return None
    except OJSError as error:
        if error.code not in ("invalid_payload", "invalid_request"):
            raise
        return None  # no id of ours


def _time(text: Any) -> datetime | None:
    return parse_datetime(text) if text else None


def _errors(job: Job) -> list[TaskError]:
    found = job.errors or ([job.error] if job.error else [])
    about = [(error, error.get("details") or {}) for error in found]
    return [
        TaskError(exception_class_path=str(details.get("error_class") or error.get("type") or "builtins.Exception"),
                  traceback=str(details.get("stack") or error.get("message") or ""))
        for error, details in about
    ]  # fmt: skip


# --- running ---


def backends() -> list[OJSBackend]:
    """The backends of ``TASKS`` that are ours."""
    return [backend for backend in task_backends.all() if isinstance(backend, OJSBackend)]


def register(worker: Worker) -> None:
    """Has a worker run tasks: it handles what no other handler does."""
    if "*" not in worker.job_types:
        worker.handler("*", run)


def run(ctx: JobContext) -> Any:
    """The handler of every task."""
    if FUNCTION not in ctx.meta:
        raise NonRetryableError(f"No handler is registered for job type '{ctx.type}'.", code="no_handler")
    try:
        task = task_of(ctx.job)
        backend = task_backends[str(ctx.meta.get(BACKEND))]
    except (TaskResultDoesNotExist, KeyError, ValueError) as error:
        raise NonRetryableError(str(error), code="no_handler") from error
    return _Run(ctx, task, backend).go()


class _Run:
    """One run of one task, with the signals that Django sends around it."""

    def __init__(self, ctx: JobContext, task: Task, backend: OJSBackend) -> None:
        self.ctx, self.task, self.backend = ctx, task, backend
        self.result = backend.result_of_job(ctx.job)
        self._set(status=TaskResultStatus.RUNNING, started_at=timezone.now(), last_attempted_at=timezone.now())

    def go(self) -> Any:
        """Runs the function; what it returns is the job's result."""
        task_started.send(type(self.backend), task_result=self.result)
        first = [TaskContext(task_result=self.result)] if self.task.takes_context else []
        try:
            value = normalize_json(self.task.call(*first, *self.result.args, **self.result.kwargs))
        except (Snooze, JobCancelledError):
            raise
        except Exception as error:
            self._failed(error)
        self._set(status=TaskResultStatus.SUCCESSFUL, finished_at=timezone.now(), _return_value=value)
        task_finished.send(type(self.backend), task_result=self.result)
        return value

    def _failed(self, error: Exception) -> None:
        cls = type(error)
        path, stack = f"{cls.__module__}.{cls.__qualname__}", "".join(traceback.format_exception(error))
        final = isinstance(error, NonRetryableError) or "retry" not in self.backend.job_options
        if final or self.ctx.attempt >= (self.ctx.job.max_attempts or 1):
            self.result.errors.append(TaskError(exception_class_path=path, traceback=stack))
            self._set(status=TaskResultStatus.FAILED, finished_at=timezone.now())
            task_finished.send(type(self.backend), task_result=self.result)
        if not final or isinstance(error, NonRetryableError):
            raise error
        raise NonRetryableError(str(error), code="handler_error", details={"error_class": path, "stack": stack}) from error

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self.result, name, value)
