# Made from xtask/operations by make gen; do not edit.
"""The operations of a server as methods, plain and for asyncio. The clients inherit them; what they send is in xtask/operations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Iterable, Literal, Mapping, Sequence, TypeVar

from . import _operations as ops
from ._operations import Call
from .bulk import Target
from .job import JobPage
from .policies import Duration, When
from .records import BulkResult, Job, JobResult, WorkflowStatus

T = TypeVar("T")


class Operations(ABC):
    """The methods of :class:`openjobspec.Client` that are one request each."""

    @abstractmethod
    def _run(self, call: Call[T]) -> T:
        """Sends the request and reads the answer."""

    def bulk_cancel(
        self,
        job_ids: Iterable[str] | None = None,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        states: Sequence[str] | None = None,
        enqueued_after: When | None = None,
        enqueued_before: When | None = None,
        priority: int | None = None,
        meta: Mapping[str, Any] | None = None,
        atomic: bool = False,
    ) -> BulkResult:
        """Cancels many jobs.

        By ids: every job that has not ended. By a filter: the jobs that wait, unless the filter names other states.
        Jobs that cannot be cancelled are skipped, and their items say why; with ``atomic`` one such job keeps the
        others from being cancelled.

        * ``job_ids``: The ids of the jobs.
        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``states``: Only jobs in one of these states.
        * ``enqueued_after``: Only jobs enqueued after this time.
        * ``enqueued_before``: Only jobs enqueued before this time.
        * ``priority``: Only jobs of this priority.
        * ``meta``: Only jobs whose metadata has these members.
        * ``atomic``: All of the jobs, or none.

        Raises InvalidStateTransitionError, PayloadTooLargeError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("report.build", queue="reports")
        ...     client.bulk_cancel(queue="reports").succeeded
        1
        """
        target = Target.of(job_ids, queue, job_type, states, enqueued_after, enqueued_before, priority, meta).to_dict()
        return self._run(Call(
            "POST",
            ops.at("jobs", "bulk", "cancel"),
            {**target, "atomicity": ops.atomicity(atomic)},
            BulkResult.of,
        ))

    def bulk_retry(
        self,
        job_ids: Iterable[str] | None = None,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        states: Sequence[str] | None = None,
        enqueued_after: When | None = None,
        enqueued_before: When | None = None,
        priority: int | None = None,
        meta: Mapping[str, Any] | None = None,
        atomic: bool = False,
    ) -> BulkResult:
        """Runs many jobs again: discarded jobs with all their attempts, retryable jobs at once instead of after their
        pause.

        Jobs that cannot be retried are skipped, and their items say why; with ``atomic`` one such job keeps the
        others from being retried.

        * ``job_ids``: The ids of the jobs.
        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``states``: Only jobs in one of these states.
        * ``enqueued_after``: Only jobs enqueued after this time.
        * ``enqueued_before``: Only jobs enqueued before this time.
        * ``priority``: Only jobs of this priority.
        * ``meta``: Only jobs whose metadata has these members.
        * ``atomic``: All of the jobs, or none.

        Raises InvalidStateTransitionError, PayloadTooLargeError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.bulk_retry([job.id]).succeeded
        1
        """
        target = Target.of(job_ids, queue, job_type, states, enqueued_after, enqueued_before, priority, meta).to_dict()
        return self._run(Call(
            "POST",
            ops.at("jobs", "bulk", "retry"),
            {**target, "atomicity": ops.atomicity(atomic)},
            BulkResult.of,
        ))

    def bulk_delete(
        self,
        job_ids: Iterable[str] | None = None,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        states: Sequence[str] | None = None,
        enqueued_after: When | None = None,
        enqueued_before: When | None = None,
        priority: int | None = None,
        meta: Mapping[str, Any] | None = None,
        atomic: bool = False,
    ) -> BulkResult:
        """Deletes many jobs that have ended. A deleted job cannot be brought back.

        Jobs that cannot be deleted are skipped, and their items say why; with ``atomic`` one such job keeps the
        others from being deleted.

        * ``job_ids``: The ids of the jobs.
        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``states``: Only jobs in one of these states.
        * ``enqueued_after``: Only jobs enqueued after this time.
        * ``enqueued_before``: Only jobs enqueued before this time.
        * ``priority``: Only jobs of this priority.
        * ``meta``: Only jobs whose metadata has these members.
        * ``atomic``: All of the jobs, or none.

        Raises InvalidStateTransitionError, PayloadTooLargeError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", "ada@example.com")
        ...     _ = client.cancel_job(job.id)
        ...     client.bulk_delete([job.id]).succeeded
        1
        """
        target = Target.of(job_ids, queue, job_type, states, enqueued_after, enqueued_before, priority, meta).to_dict()
        return self._run(Call(
            "POST",
            ops.at("jobs", "bulk", "delete"),
            {**target, "atomicity": ops.atomicity(atomic)},
            BulkResult.of,
        ))

    def get_job(
        self,
        job_id: str,
    ) -> Job:
        """The job with this id.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", "ada@example.com")
        ...     job = client.get_job(job.id)
        ...     job.args, job.state
        (['ada@example.com'], 'available')
        """
        return self._run(Call(
            "GET",
            ops.at("jobs", job_id),
            None,
            ops.job,
        ))

    def explain_job(
        self,
        job_id: str,
    ) -> dict[str, Any]:
        """Why a job is not running: a ``summary``, and ``reasons`` in the order in which they have to end.

        Each reason has ``code`` and ``message``, and where they are known ``since``, ``until``, ``link`` (a path of
        the API that shows what holds the job), ``command`` (one of the tool ``ojs`` that helps) and ``details``. A
        job that runs, has ended, or is handed out by the next fetch has no reasons. The answer reads a bounded
        number of rows, however many jobs there are.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", delay=3600)
        ...     [reason["code"] for reason in client.explain_job(job.id)["reasons"]]
        ['scheduled']
        """
        return self._run(Call(
            "GET",
            ops.at("jobs", job_id, "explain"),
            None,
            ops.whole,
        ))

    def list_jobs(
        self,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        state: str | None = None,
        since: When | float | None = None,
        until: When | float | None = None,
        sort: Literal["created_at", "scheduled_at", "priority"] | None = None,
        order: Literal["asc", "desc"] | None = None,
        page: int = 1,
        per_page: int = 100,
    ) -> JobPage:
        """One page of the jobs that the filter finds, the newest first unless the list is sorted otherwise.

        There is another page while the page says that it has more. Jobs that come and go between two pages move the
        others, but not after a ``cursor``, which is the ``next_cursor`` of the page before. With a cursor, or with
        ``count=false``, a page looks at 5,000 rows at most and has no total: it may be short, or empty, say
        ``complete: false``, and have a ``next_cursor`` all the same. Pages with numbers look at a million rows at
        most, count what is in the first 20,000, and begin at most 10,000 jobs behind the first. With ``q``, a page
        compares 1,000 jobs at most and always goes on by cursors; the guide of the dashboard has the words of the
        language.

        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``state``: Only jobs in this state.
        * ``since``: Only jobs created at this time or later. Seconds and a timedelta count back from now.
        * ``until``: Only jobs created before this time. Seconds and a timedelta count back from now.
        * ``sort``: What the list is sorted by; ``created_at`` without it. It is ``created_at``, ``scheduled_at`` or
          ``priority``.
        * ``order``: The direction of the sort; ``desc`` without it: the newest or the highest priority first. It is
          ``asc`` or ``desc``.
        * ``page``: The number of the page. The first page is 1.
        * ``per_page``: The most jobs on one page, 1 to 100.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue_batch([("email.send", [n]) for n in range(3)])
        ...     page = client.list_jobs(job_type="email.*", state="available", per_page=2)
        >>> [job.args for job in page], page.total, page.has_more
        ([[2], [1]], 3, True)
        """
        ops.from_one(page=page, per_page=per_page)
        return self._run(Call(
            "GET",
            ops.query(ops.at("admin", "jobs"), {"queue": queue, "type": job_type, "state": state, "since": ops.moment(since), "until": ops.moment(until), "sort": sort, "order": order, "page": page, "per_page": per_page}),
            None,
            ops.job_page,
        ))

    def cancel_job(
        self,
        job_id: str,
    ) -> Job:
        """Cancels the job. A worker that runs it is told to stop.

        * ``job_id``: The job's id.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", "ada@example.com")
        ...     client.cancel_job(job.id).state
        'cancelled'
        """
        return self._run(Call(
            "DELETE",
            ops.at("jobs", job_id),
            None,
            ops.job,
        ))

    def set_priority(
        self,
        job_id: str,
        priority: int,
    ) -> Job:
        """Changes the priority of a job that waits.

        * ``job_id``: The job's id.
        * ``priority``: The new priority. Higher runs earlier.

        Raises InvalidStateTransitionError, JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", "ada@example.com")
        ...     client.set_priority(job.id, 5).priority
        5
        """
        return self._run(Call(
            "PATCH",
            ops.at("jobs", job_id),
            ops.given({"priority": priority}),
            ops.job,
        ))

    def activate_job(
        self,
        job_id: str,
    ) -> Job:
        """Makes a job available that was enqueued as pending.

        * ``job_id``: The job's id.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", extra={"pending": True})
        ...     job.state, client.activate_job(job.id).state
        ('pending', 'available')
        """
        return self._run(Call(
            "POST",
            ops.at("jobs", job_id, "activate"),
            {},
            ops.job,
        ))

    def retry_job(
        self,
        job_id: str,
    ) -> Job:
        """Runs a discarded job again, with all its attempts. A cancelled job stays cancelled.

        * ``job_id``: The job's id.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.retry_job(job.id).state
        'available'
        """
        return self._run(Call(
            "POST",
            ops.at("admin", "jobs", job_id, "retry"),
            {},
            ops.bare_job,
        ))

    def result(
        self,
        job_id: str,
    ) -> JobResult:
        """How the job ended, and what its handler returned.

        The request is refused with status 408 while the job has not ended, and with 410 when its result is no
        longer kept.

        * ``job_id``: The job's id.

        Raises OJSAPIError, JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("add", lambda ctx: sum(ctx.args))
        ...     job = client.enqueue("add", [1, 2])
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.result(job.id).result
        3
        """
        return self._run(Call(
            "GET",
            ops.at("jobs", job_id, "result"),
            None,
            JobResult,
            # Sent once: a refusal with 408 is an answer here.
            wait=0.0,
        ))

    def results(
        self,
        job_ids: Sequence[str],
    ) -> list[JobResult | None]:
        """How up to 1,000 jobs ended, in the order of the ids.

        Nothing stands for a job that is unknown, that has not ended, or whose result is no longer kept.

        * ``job_ids``: The ids of the jobs.

        Raises PayloadTooLargeError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("add", lambda ctx: sum(ctx.args))
        ...     job = client.enqueue("add", [1, 2])
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     [one.result for one in client.results([job.id])]
        [3]
        """
        return self._run(Call(
            "POST",
            ops.at("jobs", "results"),
            ops.given({"ids": list(job_ids)}),
            ops.results,
        ))

    def get_workflow(
        self,
        workflow_id: str,
    ) -> WorkflowStatus:
        """The state of the workflow and of its steps.

        * ``workflow_id``: The workflow's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     etl = client.workflow(openjobspec.chain("data.fetch", "data.load"))
        ...     client.get_workflow(etl.id).state
        'running'
        """
        return self._run(Call(
            "GET",
            ops.at("workflows", workflow_id),
            None,
            ops.workflow,
        ))

    def cancel_workflow(
        self,
        workflow_id: str,
    ) -> WorkflowStatus:
        """Cancels the jobs of the workflow that have not begun. Jobs that run may finish.

        * ``workflow_id``: The workflow's id.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     etl = client.workflow(openjobspec.chain("data.fetch", "data.load"))
        ...     client.cancel_workflow(etl.id).state
        'cancelled'
        """
        return self._run(Call(
            "DELETE",
            ops.at("workflows", workflow_id),
            None,
            ops.workflow,
        ))

    def list_workflows(
        self,
        *,
        state: Literal["pending", "running", "completed", "failed", "cancelled"] | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> list[dict[str, Any]]:
        """Workflows without their steps, the newest first. A workflow inside another one is a step of it, and not
        listed.

        * ``state``: Only workflows in this state. It is ``pending``, ``running``, ``completed``, ``failed`` or
          ``cancelled``.
        * ``page``: The number of the page. The first page is 1.
        * ``per_page``: The most workflows on one page, 1 to 100; 20 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     etl = client.workflow(openjobspec.chain("data.fetch", "data.load"))
        ...     [workflow["steps_total"] for workflow in client.list_workflows(state="running")]
        [2]
        """
        ops.from_one(page=page, per_page=per_page)
        return self._run(Call(
            "GET",
            ops.query(ops.at("admin", "workflows"), {"state": state, "page": page, "per_page": per_page}),
            None,
            ops.items("items"),
        ))

    def list_queues(self) -> list[dict[str, Any]]:
        """All queues with their status.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     [queue["name"] for queue in client.list_queues()]
        ['default', 'reports']
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("queues"), {"pages": "all"}),
            None,
            ops.items("queues"),
        ))

    def queue_stats(
        self,
        name: str,
    ) -> dict[str, Any]:
        """How many jobs of the queue are in which state.

        * ``name``: The name of the queue.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     client.queue_stats("reports")["available"]
        1
        """
        return self._run(Call(
            "GET",
            ops.at("queues", name, "stats"),
            None,
            ops.member("queue"),
        ))

    def pause_queue(
        self,
        name: str,
    ) -> dict[str, Any]:
        """Stops handing out jobs of the queue until :meth:`resume_queue`. Jobs can still be enqueued. A queue that
        does not exist is made, paused: the protocol answers 200 for every name. ``ojs queues pause`` asks first.

        * ``name``: The name of the queue.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.pause_queue("reports")["status"]
        'paused'
        """
        return self._run(Call(
            "POST",
            ops.at("queues", name, "pause"),
            {},
            ops.member("queue"),
        ))

    def resume_queue(
        self,
        name: str,
    ) -> dict[str, Any]:
        """Hands out jobs of the queue again, and accepts new ones.

        * ``name``: The name of the queue.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.pause_queue("reports")
        ...     client.resume_queue("reports")["status"]
        'active'
        """
        return self._run(Call(
            "POST",
            ops.at("queues", name, "resume"),
            {},
            ops.member("queue"),
        ))

    def create_queue(
        self,
        name: str,
        config: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        """Creates a queue with settings, such as ``concurrency``, ``max_size``, ``rate_limit`` and ``retention``.

        * ``name``: The name of the queue.
        * ``config``: The settings, by their names on the wire.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises InvalidStateTransitionError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.create_queue("mail", concurrency=20)
        ...     client.configure_queue("mail", max_size=1000)["config"]
        {'concurrency': 20, 'max_size': 1000}
        """
        return self._run(Call(
            "POST",
            ops.at("queues"),
            ops.given({"name": name, "config": {**(config or {}), **settings}}),
            ops.whole,
        ))

    def get_queue(
        self,
        name: str,
    ) -> dict[str, Any]:
        """A queue with its settings and counts.

        * ``name``: The name of the queue.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     client.get_queue("reports")["counts"]["available"]
        1
        """
        return self._run(Call(
            "GET",
            ops.at("queues", name),
            None,
            ops.whole,
        ))

    def configure_queue(
        self,
        name: str,
        config: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        """Changes the settings that are named and leaves the others. A setting of null goes back to the template, the
        queue ``_default``.

        * ``name``: The name of the queue.
        * ``config``: The settings, by their names on the wire.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.create_queue("mail", concurrency=20)
        ...     client.configure_queue("mail", concurrency=None, max_size=1000)["config"]
        {'max_size': 1000}
        """
        return self._run(Call(
            "PUT",
            ops.at("queues", name, "config"),
            {**(config or {}), **settings},
            ops.whole,
        ))

    def delete_queue(
        self,
        name: str,
        *,
        strategy: Literal["reject", "discard", "move"] = "reject",
        target_queue: str | None = None,
    ) -> dict[str, Any]:
        """Deletes the queue. A queue that holds jobs is deleted only if they may be discarded or moved.

        * ``name``: The name of the queue.
        * ``strategy``: What happens to the jobs of the queue. It is ``reject``, ``discard`` or ``move``. Without
          it: ``reject``.
        * ``target_queue``: Where the jobs go, for the strategy ``move``.

        Raises InvalidStateTransitionError, JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     client.delete_queue("reports", strategy="discard")["jobs_discarded"]
        1
        """
        return self._run(Call(
            "DELETE",
            ops.query(ops.at("queues", name), {"strategy": strategy, "target_queue": target_queue}),
            None,
            ops.whole,
        ))

    def drain_queue(
        self,
        name: str,
    ) -> dict[str, Any]:
        """Accepts no more jobs for the queue and hands out those that are in it, until :meth:`resume_queue`.

        * ``name``: The name of the queue.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     client.drain_queue("reports")["status"]
        'draining'
        """
        return self._run(Call(
            "POST",
            ops.at("queues", name, "drain"),
            {},
            ops.whole,
        ))

    def purge_queue(
        self,
        name: str,
        states: Sequence[str],
        *,
        older_than: When | float | None = None,
    ) -> int:
        """Removes the jobs of the queue that are in one of these states, and returns how many. They cannot be brought
        back.

        Jobs that wait are cancelled first, so that workflows go on. Active jobs are never removed.

        * ``name``: The name of the queue.
        * ``states``: The states of the jobs to remove.
        * ``older_than``: Only jobs older than this: a time, or a length of time before now. A length of time is
          seconds, a timedelta or text.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     client.purge_queue("reports", ["available"])
        1
        """
        call = Call(
            "DELETE",
            ops.at("admin", "queues", name, "jobs"),
            ops.given({"states": list(states), "older_than": ops.age(older_than), "confirm": True, "limit": 10000}),
            ops.part("purged_count", "has_more"),
        )
        found, more = 0, True
        while more:
            count, more = self._run(call)
            found += count
        return found

    def get_fairness(
        self,
        name: str,
    ) -> dict[str, Any]:
        """How the jobs of a queue are shared: by tenant or by key, and with which weights.

        * ``name``: The name of the queue.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.set_fairness("default", weights={"acme": 3})
        ...     client.get_fairness("default")["weights"]
        {'acme': 3}
        """
        return self._run(Call(
            "GET",
            ops.at("admin", "queues", name, "fairness"),
            None,
            ops.whole,
        ))

    def set_fairness(
        self,
        name: str,
        sharing: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        """Shares the jobs of a queue, those that wait included: among jobs of one priority, keys get jobs handed out
        in turn, in proportion to their weights.

        The settings are ``by`` (``tenant``, the default, or ``key``: the ``fairness_key`` of a job, and its tenant
        where it names none), ``weights`` by id of the tenant or by key (1 to 1000, at most 100), and
        ``default_weight`` for all others (1). A tenant without a weight has the ``fairness_weight`` of its limits.
        What is left out has its default, and ``enabled`` of ``false`` ends the sharing. The answer is 201 when the
        queue was not shared before.

        * ``name``: The name of the queue. It is made when there is none.
        * ``sharing``: The settings, by their names on the wire.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.set_fairness("mail", weights={"acme": 4})["weights"]
        {'acme': 4}
        """
        return self._run(Call(
            "PUT",
            ops.at("admin", "queues", name, "fairness"),
            {**(sharing or {}), **settings},
            ops.whole,
        ))

    def delete_fairness(
        self,
        name: str,
    ) -> None:
        """Ends the sharing of a queue: its jobs are handed out in their order again.

        * ``name``: The name of the queue.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.set_fairness("default", weights={"acme": 3})
        ...     client.delete_fairness("default")
        ...     try:
        ...         _ = client.get_fairness("default")
        ...     except openjobspec.JobNotFoundError:
        ...         print("jobs run in the order of their priority again")
        jobs run in the order of their priority again
        """
        return self._run(Call(
            "DELETE",
            ops.at("admin", "queues", name, "fairness"),
            None,
            ops.nothing,
        ))

    def list_rate_limits(self) -> list[dict[str, Any]]:
        """The keys that have limits, with how much of each limit is used.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("charge.card", rate_limit={"key": "stripe", "concurrency": 5})
        ...     [limit["key"] for limit in client.list_rate_limits()]
        ['stripe']
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("rate-limits"), {"limit": 200, "pages": "all"}),
            None,
            ops.items("items"),
        ))

    def get_rate_limit(
        self,
        key: str,
    ) -> dict[str, Any]:
        """The limits of a key, with how much of each is used.

        * ``key``: The key.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("charge.card", rate_limit={"key": "stripe", "concurrency": 5})
        ...     client.get_rate_limit("stripe")["concurrency"]["limit"]
        5
        """
        return self._run(Call(
            "GET",
            ops.at("rate-limits", key),
            None,
            ops.whole,
        ))

    def override_rate_limit(
        self,
        key: str,
        limits: Mapping[str, Any],
        *,
        expires_at: When | None = None,
    ) -> dict[str, Any]:
        """Gives a key other limits until a time, for example ``concurrency`` 2. Without any limit the override ends.

        * ``key``: The key.
        * ``limits``: The limits, by their names on the wire.
        * ``expires_at``: When the override ends.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> from datetime import timedelta
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("charge.card", rate_limit={"key": "stripe", "concurrency": 5})
        ...     limit = client.override_rate_limit("stripe", {"concurrency": 2}, expires_at=timedelta(hours=1))
        ...     limit["concurrency"]["limit"]
        2
        """
        return self._run(Call(
            "PUT",
            ops.at("rate-limits", key),
            {**dict(limits), **ops.given({"expires_at": ops.time(expires_at)})},
            ops.whole,
        ))

    def dead_letters(
        self,
        queue: str | None = None,
        *,
        job_type: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[Job]:
        """Jobs that failed for good and were kept, the newest first.

        Where more than 20,000 dead letters are kept, a filter is compared with 20,000 of them at a time. The answer
        says so: ``total_relation`` is ``gte``, and ``total`` counts what was found among the newest 20,000. A page
        may be short then, or empty; ``next_cursor`` leads on while it is there.

        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type.
        * ``limit``: The most jobs in the answer, 1 to 200; 50 without it.
        * ``offset``: How many jobs are passed over.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     [letter.id == job.id for letter in client.dead_letters(queue="default")]
        [True]
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("dead-letter"), {"queue": queue, "type": job_type, "limit": limit, "offset": offset}),
            None,
            ops.jobs,
        ))

    def get_dead_letter(
        self,
        job_id: str,
    ) -> Job:
        """The dead letter with this id.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.get_dead_letter(job.id).state
        'discarded'
        """
        return self._run(Call(
            "GET",
            ops.at("dead-letter", job_id),
            None,
            ops.job,
        ))

    def retry_dead_letter(
        self,
        job_id: str,
    ) -> Job:
        """Runs a dead letter again, with all its attempts.

        * ``job_id``: The job's id.

        Raises InvalidStateTransitionError, JobNotFoundError, PayloadTooLargeError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.retry_dead_letter(job.id).state
        'available'
        """
        return self._run(Call(
            "POST",
            ops.at("dead-letter", job_id, "retry"),
            {},
            ops.job,
        ))

    def discard_dead_letter(
        self,
        job_id: str,
    ) -> None:
        """Deletes a dead letter. It cannot be brought back.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.discard_dead_letter(job.id)
        ...     client.dead_letters()
        []
        """
        return self._run(Call(
            "DELETE",
            ops.at("dead-letter", job_id),
            None,
            ops.nothing,
        ))

    def retry_dead_letters(
        self,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        error_type: str | None = None,
        since: When | None = None,
        until: When | None = None,
    ) -> int:
        """Runs all dead letters again that the filter finds, and returns how many. Without a filter it is all of them.

        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``error_type``: Only jobs whose last error is of this type.
        * ``since``: Only jobs discarded at this time or later.
        * ``until``: Only jobs discarded before this time.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.retry_dead_letters(queue="default")
        1
        """
        return self._run(Call(
            "POST",
            ops.at("dead-letter", "retry"),
            ops.given({"filter": ops.given({"queue": queue, "type": job_type, "error_type": error_type, "since": ops.time(since), "until": ops.time(until)}), "confirm": True}),
            ops.number("retried"),
        ))

    def discard_dead_letters(
        self,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        error_type: str | None = None,
        since: When | None = None,
        until: When | None = None,
    ) -> int:
        """Deletes all dead letters that the filter finds, and returns how many. Without a filter it is all of them.

        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``error_type``: Only jobs whose last error is of this type.
        * ``since``: Only jobs discarded at this time or later.
        * ``until``: Only jobs discarded before this time.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.discard_dead_letters(job_type="email.*")
        1
        """
        return self._run(Call(
            "DELETE",
            ops.query(ops.at("dead-letter"), {"queue": queue, "type": job_type, "error_type": error_type, "since": ops.time(since), "until": ops.time(until), "confirm": True}),
            None,
            ops.number("deleted"),
        ))

    def dead_letter_stats(self) -> dict[str, Any]:
        """How many dead letters there are, by queue and by type of error, and since when.

        Where more than 20,000 are kept, the numbers in ``by_error_type`` are those of the newest 20,000:
        ``by_error_type_relation`` is ``gte``. A caller of a tenant gets all numbers so, with ``total_relation`` and
        ``by_queue_relation``.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.dead_letter_stats()["total"]
        0
        """
        return self._run(Call(
            "GET",
            ops.at("dead-letter", "stats"),
            None,
            ops.whole,
        ))

    def preview_dead_letters(
        self,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        error_type: str | None = None,
        since: When | None = None,
        until: When | None = None,
        jobs: str | None = None,
    ) -> dict[str, Any]:
        """What would come of running dead letters again: which would be refused, which would wait and for what, and
        which would run although an enqueue of the same job would be refused. Nothing is changed.

        ``matched`` dead letters are meant (at least so many where ``matched_relation`` is ``gte``: a filter is
        compared with 20,000), of which the newest 500 are looked at (``looked_at``, ``complete``). Of these
        ``would_run``, ``would_wait`` and ``would_be_refused`` say how many; ``with_warnings`` run or wait beside
        that. Each of ``reasons`` has ``code``, ``effect`` (``refused``, ``waits`` or ``warning``), ``message``, the
        number of ``jobs``, the first of them as ``job_id`` and, where there is one, the ``command`` that helps.
        ``jobs`` has the first 20 jobs that meet one. Limits that free themselves as jobs end (full workers,
        concurrency, rates) are no reason.

        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``error_type``: Only jobs whose last error is of this type.
        * ``since``: Only jobs discarded at this time or later.
        * ``until``: Only jobs discarded before this time.
        * ``jobs``: These jobs instead: their ids with commas between them, 100 at most.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     found = client.preview_dead_letters(queue="default")
        ...     found["matched"], found["would_be_refused"]
        (1, 0)
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("dead-letter", "preview"), {"queue": queue, "type": job_type, "error_type": error_type, "since": ops.time(since), "until": ops.time(until), "job_ids": jobs}),
            None,
            ops.whole,
        ))

    def list_cron(self) -> list[dict[str, Any]]:
        """All cron entries.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_cron("digest", "0 7 * * *", "digest.send")
        ...     [(cron["name"], cron["expression"]) for cron in client.list_cron()]
        [('digest', '0 7 * * *')]
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("cron"), {"pages": "all"}),
            None,
            ops.crons,
        ))

    def get_cron(
        self,
        name: str,
    ) -> dict[str, Any]:
        """The cron entry of this name.

        * ``name``: The name of the entry.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_cron("digest", "0 7 * * *", "digest.send")
        ...     client.get_cron("digest")["enabled"]
        True
        """
        return self._run(Call(
            "GET",
            ops.at("cron", name),
            None,
            ops.cron,
        ))

    def enable_cron(
        self,
        name: str,
        enabled: bool,
    ) -> dict[str, Any]:
        """Enables the cron entry, or disables it. A disabled entry enqueues no jobs.

        * ``name``: The name of the entry.
        * ``enabled``: Whether the entry enqueues jobs.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_cron("digest", "0 7 * * *", "digest.send")
        ...     client.enable_cron("digest", False)["enabled"]
        False
        """
        return self._run(Call(
            "PATCH",
            ops.at("cron", name),
            ops.given({"enabled": enabled}),
            ops.cron,
        ))

    def run_cron(
        self,
        name: str,
    ) -> Job:
        """Enqueues a job of the cron entry now, whether the entry is enabled or not. Its schedule stays.

        The overlap policy holds: while the latest job of the entry goes on, ``skip`` and ``enqueue`` answer with
        409 ``conflict``, and ``cancel_previous`` cancels that job.

        * ``name``: The name of the entry.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_cron("digest", "0 7 * * *", "digest.send")
        ...     client.run_cron("digest").type
        'digest.send'
        """
        return self._run(Call(
            "POST",
            ops.at("cron", name, "run"),
            {},
            ops.job,
            # Sent once: a refusal with 408 is an answer here.
            wait=0.0,
        ))

    def delete_cron(
        self,
        name: str,
    ) -> None:
        """Deletes the cron entry. The jobs that it has enqueued stay.

        * ``name``: The name of the entry.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_cron("digest", "0 7 * * *", "digest.send")
        ...     client.delete_cron("digest")
        ...     client.list_cron()
        []
        """
        return self._run(Call(
            "DELETE",
            ops.at("cron", name),
            None,
            ops.nothing,
        ))

    def list_workers(
        self,
        *,
        state: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> list[dict[str, Any]]:
        """The workers that the server knows, with what each of them does.

        * ``state``: Only workers in this state.
        * ``page``: The number of the page. The first page is 1.
        * ``per_page``: The most workers on one page, 1 to 100; 20 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.list_workers()
        []
        """
        ops.from_one(page=page, per_page=per_page)
        return self._run(Call(
            "GET",
            ops.query(ops.at("admin", "workers"), {"state": state, "page": page, "per_page": per_page}),
            None,
            ops.items("items"),
        ))

    def get_worker(
        self,
        worker_id: str,
    ) -> dict[str, Any]:
        """The worker with this id.

        * ``worker_id``: The worker's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client, worker_id="mail-1", heartbeat_interval=0.1)
        ...     _ = worker.register("email.send", lambda ctx: None)
        ...     with worker:
        ...         started = next(iter(client.events(types=["worker.started"], after="")))
        ...         client.get_worker("mail-1")["state"]
        'running'
        """
        return self._run(Call(
            "GET",
            ops.at("admin", "workers", worker_id),
            None,
            ops.whole,
        ))

    def direct_worker(
        self,
        worker_id: str,
        directive: Literal["quiet", "terminate", "resume"],
    ) -> dict[str, Any]:
        """Tells a worker to take no more jobs (``quiet``), to stop (``terminate``), or to take jobs again
        (``resume``).

        The worker hears of it with its next heartbeat.

        * ``worker_id``: The worker's id.
        * ``directive``: What the worker shall do. It is ``quiet``, ``terminate`` or ``resume``.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client, worker_id="mail-1", heartbeat_interval=0.1)
        ...     _ = worker.register("email.send", lambda ctx: None)
        ...     with worker:
        ...         started = next(iter(client.events(types=["worker.started"], after="")))
        ...         client.direct_worker("mail-1", "quiet")["directive"]
        'quiet'
        """
        return self._run(Call(
            "POST",
            ops.at("admin", "workers", worker_id, directive),
            {},
            ops.whole,
        ))

    def remove_worker(
        self,
        worker_id: str,
    ) -> dict[str, Any]:
        """Removes a worker that no longer sends heartbeats. Its jobs go back to their queues.

        * ``worker_id``: The worker's id.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client, worker_id="mail-1", heartbeat_interval=0.1)
        ...     _ = worker.register("email.send", lambda ctx: None)
        ...     with worker:
        ...         started = next(iter(client.events(types=["worker.started"], after="")))
        ...         try:
        ...             _ = client.remove_worker("mail-1")
        ...         except openjobspec.InvalidStateTransitionError:
        ...             print("it still sends heartbeats")
        it still sends heartbeats
        """
        return self._run(Call(
            "DELETE",
            ops.at("admin", "workers", worker_id),
            None,
            ops.whole,
        ))

    def health(self) -> dict[str, Any]:
        """Whether the server works, with its version, its store and how long it has run.

        Raises OJSAPIError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.health()["status"]
        'ok'
        """
        return self._run(Call(
            "GET",
            ops.at("health"),
            None,
            ops.whole,
        ))

    def manifest(self) -> dict[str, Any]:
        """What the server is, and what it can do.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.manifest()["conformance_level"]
        4
        """
        return self._run(Call(
            "GET",
            "/ojs/manifest",
            None,
            ops.whole,
        ))

    def server_stats(self) -> dict[str, Any]:
        """Jobs by state, throughput, latency and workers of the whole server.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     client.server_stats()["jobs"]["available"]
        1
        """
        return self._run(Call(
            "GET",
            ops.at("admin", "stats"),
            None,
            ops.whole,
        ))

    def stats_history(
        self,
        *,
        period: Literal["1m", "5m", "1h", "1d"] | None = None,
        queue: str | None = None,
        since: When | None = None,
        until: When | None = None,
    ) -> list[dict[str, Any]]:
        """Throughput and latency over time, oldest first. Periods in which nothing ran are left out.

        * ``period``: The length of each period; ``1m`` without it. It is ``1m``, ``5m``, ``1h`` or ``1d``.
        * ``queue``: Only this queue.
        * ``since``: From this time on.
        * ``until``: Up to this time.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("email.send", queue="mail")
        ...     [period["enqueued"] for period in client.stats_history(period="1h", queue="mail")]
        [1]
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("admin", "stats", "history"), {"period": period, "queue": queue, "since": ops.time(since), "until": ops.time(until)}),
            None,
            ops.items("items"),
        ))

    def type_stats(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        sort: str | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """What happened to the jobs of each type over a length of time: how many, how long they ran and waited.

        An item has ``type``, ``enqueued``, ``processed``, ``failed``, ``discarded``, ``busy_ms`` (the time that
        completed attempts have taken), ``latency_ms`` and ``wait_ms`` with ``p50``, ``p95`` and ``p99``. In a
        minute and in an hour 200 types are told apart; the others are the type ``_other``. Figures are kept by
        minutes for two hours and by hours for 30 days, so an earlier ``since`` counts from the beginning of its
        hour.

        * ``since``: From this time on; an hour ago without it.
        * ``until``: Up to this time, at most 7 days later; now without it.
        * ``sort``: What comes first, the largest: ``processed`` (the default), ``enqueued``, ``failed``,
          ``discarded``, ``busy``, ``latency`` or ``wait``.
        * ``limit``: The most types in the answer, 1 to 200; 50 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("email.send")
        ...     [(figures["type"], figures["enqueued"]) for figures in client.type_stats()]
        [('email.send', 1)]
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("admin", "stats", "types"), {"since": ops.time(since), "until": ops.time(until), "sort": sort, "limit": limit}),
            None,
            ops.items("items"),
        ))

    def maintenance(self) -> dict[str, Any]:
        """Whether the server is in maintenance, since when and why.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.maintenance()["maintenance"]
        False
        """
        return self._run(Call(
            "GET",
            ops.at("admin", "system", "maintenance"),
            None,
            ops.whole,
        ))

    def set_maintenance(
        self,
        enabled: bool,
        *,
        reason: str | None = None,
        estimated_duration: Duration | None = None,
    ) -> dict[str, Any]:
        """Begins or ends maintenance. During it jobs are accepted, and none is handed out.

        * ``enabled``: Whether the server is in maintenance.
        * ``reason``: Why, for those who ask.
        * ``estimated_duration``: How long it will take, such as ``PT30M``.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.set_maintenance(True, reason="moving")
        ...     client.maintenance()["reason"]
        'moving'
        """
        return self._run(Call(
            "POST",
            ops.at("admin", "system", "maintenance"),
            ops.given({"enabled": enabled, "reason": reason, "estimated_duration": ops.period(estimated_duration)}),
            ops.whole,
        ))

    def audit(self) -> dict[str, Any]:
        """Compares the rows of the server's store with each other and changes nothing: counts with jobs, jobs with
        their bodies, workflows with their steps, and so on.

        ``sound`` is true when nothing contradicts anything. ``findings`` has the first 1,000 contradictions, each
        with the check, the row, what was compared, and both values; ``total`` counts them all. The time grows with
        the number of jobs. It takes one of the two connections for lists and searches; everything else goes on, but
        for a store in memory, where all wait.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.audit()["sound"]
        True
        """
        return self._run(Call(
            "GET",
            ops.at("admin", "system", "audit"),
            None,
            ops.whole,
        ))

    def server_config(self) -> dict[str, Any]:
        """The settings that the server runs with. There are no secrets among them.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.server_config()["limits"]["max_meta_bytes"]
        65536
        """
        return self._run(Call(
            "GET",
            ops.at("admin", "system", "config"),
            None,
            ops.whole,
        ))

    def list_schemas(self) -> list[dict[str, Any]]:
        """The registered schemas of all job types, without their texts, in order of job type and version.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}})
        ...     [(schema["job_type"], schema["version"]) for schema in client.list_schemas()]
        [('email.send', '1.0.0')]
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("schemas"), {"limit": 200, "pages": "all"}),
            None,
            ops.items("schemas"),
        ))

    def register_schema(
        self,
        job_type: str,
        version: str,
        schema: Mapping[str, Any],
        *,
        mode: Literal["strict", "warn", "off"] | None = None,
    ) -> dict[str, Any]:
        """Registers the JSON Schema of the arguments of a job type. A registered version never changes.

        With ``mode`` ``strict`` jobs that do not match are refused, with ``warn``, the default, they are accepted
        with warnings, with ``off`` they are not compared. Within a major version, a schema that refuses what the
        version before accepted is refused itself.

        * ``job_type``: The job type.
        * ``version``: The version: ``2``, ``2.1`` or ``2.1.0``.
        * ``schema``: A JSON Schema, draft 2020-12, for the array of arguments.
        * ``mode``: What happens to jobs that do not match. It is ``strict``, ``warn`` or ``off``.

        Raises InvalidStateTransitionError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}}, mode="strict")
        ...     client.get_schema("email.send")["version"]
        '1.0.0'
        """
        return self._run(Call(
            "POST",
            ops.at("schemas"),
            ops.given({"job_type": job_type, "version": version, "schema": schema, "mode": mode}),
            ops.member("schema"),
        ))

    def get_schema(
        self,
        job_type: str,
    ) -> dict[str, Any]:
        """The schema of the highest version of a job type.

        * ``job_type``: The job type, or the URI of a schema.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}})
        ...     client.get_schema("email.send")["version"]
        '1.0.0'
        """
        return self._run(Call(
            "GET",
            ops.at("schemas", job_type),
            None,
            ops.member("schema"),
        ))

    def get_schema_version(
        self,
        job_type: str,
        version: str,
    ) -> dict[str, Any]:
        """The schema of a version of a job type.

        * ``job_type``: The job type.
        * ``version``: The version.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}})
        ...     client.get_schema_version("email.send", "1.0.0")["schema"]
        {'items': {'type': 'string'}}
        """
        return self._run(Call(
            "GET",
            ops.at("schemas", job_type, version),
            None,
            ops.member("schema"),
        ))

    def list_schema_versions(
        self,
        job_type: str,
    ) -> list[dict[str, Any]]:
        """The versions of a job type, highest first.

        * ``job_type``: The job type.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}})
        ...     [version["version"] for version in client.list_schema_versions("email.send")]
        ['1.0.0']
        """
        return self._run(Call(
            "GET",
            ops.at("schemas", job_type, "versions"),
            None,
            ops.items("versions"),
        ))

    def set_schema_mode(
        self,
        job_type: str,
        version: str,
        mode: Literal["strict", "warn", "off"],
    ) -> dict[str, Any]:
        """Changes what happens to jobs that do not match a version. Jobs that are stored are not looked at again.

        * ``job_type``: The job type.
        * ``version``: The version.
        * ``mode``: ``strict``, ``warn`` or ``off``. It is ``strict``, ``warn`` or ``off``.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}})
        ...     client.set_schema_mode("email.send", "1.0.0", "strict")["mode"]
        'strict'
        """
        return self._run(Call(
            "PATCH",
            ops.at("schemas", job_type, version),
            ops.given({"mode": mode}),
            ops.member("schema"),
        ))

    def delete_schema(
        self,
        job_type: str,
        version: str,
    ) -> None:
        """Deletes a version. Jobs that were stored under it stay.

        * ``job_type``: The job type.
        * ``version``: The version.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}})
        ...     client.delete_schema("email.send", "1.0.0")
        ...     client.list_schemas()
        []
        """
        return self._run(Call(
            "DELETE",
            ops.at("schemas", job_type, version),
            None,
            ops.nothing,
        ))

    def list_trains(
        self,
        *,
        state: str | None = None,
    ) -> list[dict[str, Any]]:
        """The trains that have jobs, in the order of their ids, or only those in one state; the one that was held
        first comes first.

        * ``state``: Only trains in this state: ``running``, ``draining`` or ``held``.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     jobs = [client.enqueue("file.copy", [name], train="dest_7") for name in ("a", "b")]
        ...     [train["id"] for train in client.list_trains()]
        ['dest_7']
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("trains"), {"state": state, "limit": 200, "pages": "all"}),
            None,
            ops.items("trains"),
        ))

    def get_train(
        self,
        train_id: str,
    ) -> dict[str, Any]:
        """A train: its state, its locomotive, which is the one job that may run, and its jobs in the order in which
        they run.

        * ``train_id``: The id of the train.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     jobs = [client.enqueue("file.copy", [name], train="dest_7") for name in ("a", "b")]
        ...     client.get_train("dest_7")["locomotive"] == jobs[0].id
        True
        """
        return self._run(Call(
            "GET",
            ops.at("trains", train_id),
            None,
            ops.whole,
        ))

    def advance_train(
        self,
        train_id: str,
        *,
        job_id: str | None = None,
    ) -> dict[str, Any]:
        """Ends the hold of a train: a locomotive that has ended leaves it, and the next job may run.

        * ``train_id``: The id of the train.
        * ``job_id``: Only if this job is the locomotive.

        Raises InvalidStateTransitionError, JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     jobs = [client.enqueue("file.copy", [name], train="dest_7") for name in ("a", "b")]
        ...     _ = client.hold_train("dest_7")
        ...     client.advance_train("dest_7")["state"]
        'running'
        """
        return self._run(Call(
            "POST",
            ops.at("trains", train_id, "advance"),
            ops.given({"job_id": job_id, "confirm": True}),
            ops.whole,
        ))

    def hold_train(
        self,
        train_id: str,
    ) -> dict[str, Any]:
        """Holds a train: a job of it that runs may end, and no further one starts until :meth:`advance_train`.

        * ``train_id``: The id of the train.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     jobs = [client.enqueue("file.copy", [name], train="dest_7") for name in ("a", "b")]
        ...     client.hold_train("dest_7")["state"]
        'held'
        """
        return self._run(Call(
            "POST",
            ops.at("trains", train_id, "hold"),
            {},
            ops.whole,
        ))

    def list_tenants(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
    ) -> list[dict[str, Any]]:
        """The tenants of the server by id, with the number of their jobs and their limits.

        * ``page``: The page, from 1.
        * ``per_page``: The most tenants on the page, 1 to 100; 20 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.put_tenant("acme", name="Acme Ltd.")
        ...     [(tenant["id"], tenant["name"]) for tenant in client.list_tenants()]
        [('acme', 'Acme Ltd.')]
        """
        ops.from_one(page=page, per_page=per_page)
        return self._run(Call(
            "GET",
            ops.query(ops.at("admin", "tenants"), {"page": page, "per_page": per_page}),
            None,
            ops.items("items"),
        ))

    def get_tenant(
        self,
        tenant_id: str,
    ) -> dict[str, Any]:
        """A tenant with its status, its limits and the number of its jobs by state.

        * ``tenant_id``: The id of the tenant.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.put_tenant("acme", name="Acme Ltd.")
        ...     client.get_tenant("acme")["status"]
        'active'
        """
        return self._run(Call(
            "GET",
            ops.at("admin", "tenants", tenant_id),
            None,
            ops.whole,
        ))

    def put_tenant(
        self,
        tenant_id: str,
        changes: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        """Makes a tenant, or changes what the body names of one. A job that names a new tenant makes it as well.

        * ``tenant_id``: The id of the tenant.
        * ``changes``: Its members: ``name`` (for people), ``limits`` (as in ``PUT /admin/tenants/{id}/limits``),
          ``fairness_weight`` (which leaves the other limits as they are) and ``status`` (``active`` or
          ``suspended``).
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.put_tenant("acme", name="Acme Ltd.", limits={"max_concurrency": 10})["limits"]["max_concurrency"]
        10
        """
        return self._run(Call(
            "PUT",
            ops.at("admin", "tenants", tenant_id),
            {**(changes or {}), **settings},
            ops.whole,
        ))

    def delete_tenant(
        self,
        tenant_id: str,
    ) -> dict[str, Any]:
        """Deletes a tenant with its ended jobs. It is refused while the tenant has jobs that have not ended.

        * ``tenant_id``: The id of the tenant.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.put_tenant("acme", name="Acme Ltd.")
        ...     _ = client.delete_tenant("acme")
        ...     [tenant["id"] for tenant in client.list_tenants()]
        []
        """
        return self._run(Call(
            "DELETE",
            ops.at("admin", "tenants", tenant_id),
            None,
            ops.whole,
        ))

    def set_tenant_limits(
        self,
        tenant_id: str,
        limits: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        """Sets what a tenant may use: ``max_concurrency``, ``max_enqueue_rate``, ``max_queue_depth`` and
        ``max_scheduled``; and ``fairness_weight``, its weight in shared queues.

        What the body leaves out is not limited any more. Jobs that have more than the new limits allow stay.

        * ``tenant_id``: The id of the tenant.
        * ``limits``: Its members: ``max_concurrency`` (jobs that are active at a time), ``max_enqueue_rate``
          (``limit`` jobs in each ``period``, an ISO 8601 duration), ``max_queue_depth`` (jobs that wait, in all
          queues together), ``max_scheduled``, and ``fairness_weight`` (jobs that it gets while a tenant of weight 1
          gets one, in queues that tenants share: 1 to 1,000); and ``reason``, a text for the log of the server.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.put_tenant("acme", name="Acme Ltd.")
        ...     client.set_tenant_limits("acme", max_queue_depth=10000)["limits"]["max_queue_depth"]
        10000
        """
        return self._run(Call(
            "PUT",
            ops.at("admin", "tenants", tenant_id, "limits"),
            {**(limits or {}), **settings},
            ops.whole,
        ))

    def suspend_tenant(
        self,
        tenant_id: str,
    ) -> dict[str, Any]:
        """Stops a tenant: its jobs are refused with 403, and those that wait are not handed out. Active jobs go on.

        * ``tenant_id``: The id of the tenant.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.put_tenant("acme", name="Acme Ltd.")
        ...     client.suspend_tenant("acme")["status"]
        'suspended'
        """
        return self._run(Call(
            "POST",
            ops.at("admin", "tenants", tenant_id, "suspend"),
            {},
            ops.whole,
        ))

    def resume_tenant(
        self,
        tenant_id: str,
    ) -> dict[str, Any]:
        """Ends the suspension of a tenant: its jobs are taken and handed out again.

        * ``tenant_id``: The id of the tenant.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.put_tenant("acme", name="Acme Ltd.")
        ...     _ = client.suspend_tenant("acme")
        ...     client.resume_tenant("acme")["status"]
        'active'
        """
        return self._run(Call(
            "POST",
            ops.at("admin", "tenants", tenant_id, "resume"),
            {},
            ops.whole,
        ))

    def tenant_stats(
        self,
        tenant_id: str,
    ) -> dict[str, Any]:
        """What a tenant has: jobs by state and queue, how much of its limits is used, and what was done so far.

        * ``tenant_id``: The id of the tenant, or ``_default``.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.of_tenant("acme").enqueue("email.send")
        ...     client.tenant_stats("acme")["jobs"]["available"]
        1
        """
        return self._run(Call(
            "GET",
            ops.at("admin", "tenants", tenant_id, "stats"),
            None,
            ops.whole,
        ))

    def tenant_jobs(
        self,
        tenant_id: str,
        *,
        queue: str | None = None,
        state: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> JobPage:
        """The jobs of a tenant, newest first; with the filters of ``GET /admin/jobs``.

        * ``tenant_id``: The id of the tenant, or ``_default``.
        * ``queue``: Only this queue.
        * ``state``: Only this state.
        * ``page``: The page, from 1.
        * ``per_page``: The most jobs on the page, 1 to 100; 20 without it.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.of_tenant("acme").enqueue("email.send")
        ...     [job.type for job in client.tenant_jobs("acme", queue="default")]
        ['email.send']
        """
        ops.from_one(page=page, per_page=per_page)
        return self._run(Call(
            "GET",
            ops.query(ops.at("admin", "tenants", tenant_id, "jobs"), {"queue": queue, "state": state, "page": page, "per_page": per_page}),
            None,
            ops.job_page,
        ))

    def noisy_tenants(
        self,
        *,
        depth_factor: int | None = None,
        rate_factor: int | None = None,
        active_percent: int | None = None,
        error_factor: int | None = None,
        min_jobs: int | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """Tenants that use far more than the others do, those with the most signals first.

        Each tenant that has jobs, or had some in the last five minutes, is compared with the others. An item has
        ``tenant_id``, ``signals``, ``queue_depth``, ``active``, ``error_rate``, and jobs per minute; a signal has
        ``signal`` (``queue_depth_ratio``, ``enqueue_rate_ratio``, ``active_job_ratio`` or ``error_rate``),
        ``value``, ``compared_with``, ``ratio`` (null where the others have none) and ``threshold``. The default
        tenant is left out. Nothing is read of jobs.

        * ``depth_factor``: The signal is more waiting jobs than so many times the median of the others; 10 without
          it.
        * ``rate_factor``: The signal is more jobs enqueued lately than so many times the average of the others; 5
          without it.
        * ``active_percent``: The signal is a larger share of the active jobs of all tenants, 1 to 100; 50 without
          it.
        * ``error_factor``: The signal is a larger share of failed attempts than so many times that of the others; 3
          without it.
        * ``min_jobs``: With fewer jobs that wait or were enqueued lately there is no signal, nor with fewer than a
          tenth of it that are active or failed; 100 without it.
        * ``limit``: The most tenants in the answer, 1 to 1,000; 100 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.of_tenant("acme").enqueue("email.send")
        ...     client.noisy_tenants(min_jobs=50)
        []
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("admin", "stats", "tenants", "noisy"), {"depth_factor": depth_factor, "rate_factor": rate_factor, "active_percent": active_percent, "error_factor": error_factor, "min_jobs": min_jobs, "limit": limit}),
            None,
            ops.items("items"),
        ))

    def list_webhooks(self) -> list[dict[str, Any]]:
        """The subscriptions, the oldest first, without their secrets.

        ``dropped`` says how many events became no delivery because too many deliveries waited for the subscription;
        ``dropped_since`` when the first of them happened, or null.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     hook = client.create_webhook({"url": "https://example.com/hook", "events": ["job.failed"]})
        ...     [one["url"] for one in client.list_webhooks()]
        ['https://example.com/hook']
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("webhooks", "subscriptions"), {"limit": 200, "pages": "all"}),
            None,
            ops.items("subscriptions"),
        ))

    def create_webhook(
        self,
        subscription: Mapping[str, Any],
        **settings: Any,
    ) -> dict[str, Any]:
        """Creates a subscription: events are sent to ``url`` as signed POST requests. Only this answer has the secret.

        Events that happen from then on become deliveries, which are sent until the endpoint answers with 2xx: eight
        attempts within 41 hours. ``filter`` is an object with ``queues`` and ``job_types``. The URL must begin with
        https:// and lead to a public address, unless the server allows others.

        * ``subscription``: Its members: ``url`` and ``events`` (such as ``job.completed``, ``job.*`` or ``*``); if
          wanted ``secret`` (8 to 255 characters; without it the server makes one), ``filter``, ``metadata`` (an
          object of at most 4096 bytes), ``active`` and ``format`` (``ojs``, ``cloudevents`` or
          ``cloudevents-binary``).
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises InvalidStateTransitionError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     webhook = client.create_webhook({"url": "https://example.com/hook", "events": ["job.failed"]})
        ...     webhook["events"], webhook["secret"][:6]
        (['job.failed'], 'whsec_')
        """
        return self._run(Call(
            "POST",
            ops.at("webhooks", "subscriptions"),
            {**(subscription or {}), **settings},
            ops.member("subscription"),
        ))

    def get_webhook(
        self,
        id: str,
    ) -> dict[str, Any]:
        """A subscription, without its secret.

        ``dropped`` says how many events became no delivery because too many deliveries waited for it;
        ``dropped_since`` when the first of them happened, or null.

        * ``id``: The id of the subscription, ``sub_…``.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     hook = client.create_webhook({"url": "https://example.com/hook", "events": ["job.failed"]})
        ...     client.get_webhook(hook["id"])["events"]
        ['job.failed']
        """
        return self._run(Call(
            "GET",
            ops.at("webhooks", "subscriptions", id),
            None,
            ops.member("subscription"),
        ))

    def update_webhook(
        self,
        id: str,
        changes: Mapping[str, Any],
        **settings: Any,
    ) -> dict[str, Any]:
        """Changes a subscription; what is left out stays. Deliveries that wait go to the new URL.

        A subscription that is not active gets no new deliveries, and those that wait are not sent until it is
        active again.

        * ``id``: The id of the subscription.
        * ``changes``: The members that change: ``url``, ``events``, ``active``, ``filter``, ``metadata``,
          ``format``.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     hook = client.create_webhook({"url": "https://example.com/hook", "events": ["job.failed"]})
        ...     client.update_webhook(hook["id"], {"events": ["job.*"]})["events"]
        ['job.*']
        """
        return self._run(Call(
            "PATCH",
            ops.at("webhooks", "subscriptions", id),
            {**(changes or {}), **settings},
            ops.member("subscription"),
        ))

    def delete_webhook(
        self,
        id: str,
    ) -> None:
        """Deletes a subscription and its deliveries: nothing more is sent to it.

        * ``id``: The id of the subscription.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     hook = client.create_webhook({"url": "https://example.com/hook", "events": ["job.failed"]})
        ...     client.delete_webhook(hook["id"])
        ...     client.list_webhooks()
        []
        """
        return self._run(Call(
            "DELETE",
            ops.at("webhooks", "subscriptions", id),
            None,
            ops.nothing,
        ))

    def test_webhook(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Sends an event ``webhook.test`` now, once, and answers with what the endpoint said: ``success``,
        ``status_code``, ``response_time_ms``, ``response_body``.

        * ``id``: The id of the subscription.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     hook = client.create_webhook({"url": "https://hooks.invalid", "events": ["job.failed"]})
        ...     client.test_webhook(hook["id"])["success"]
        False
        """
        return self._run(Call(
            "POST",
            ops.at("webhooks", "subscriptions", id, "test"),
            {},
            ops.whole,
        ))

    def rotate_webhook_secret(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Gives a subscription a new secret. For 24 hours requests are signed with both; only this answer has the new
        one.

        * ``id``: The id of the subscription.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     hook = client.create_webhook({"url": "https://example.com/hook", "events": ["job.failed"]})
        ...     client.rotate_webhook_secret(hook["id"])["secret"] != hook["secret"]
        True
        """
        return self._run(Call(
            "POST",
            ops.at("webhooks", "subscriptions", id, "rotate-secret"),
            {},
            ops.member("subscription"),
        ))

    def list_webhook_deliveries(
        self,
        *,
        subscription_id: str | None = None,
        status: Literal["pending", "sending", "delivered", "dead"] | None = None,
        limit: int = 50,
    ) -> list[dict[str, Any]]:
        """Deliveries, the newest first, without the events that they carry.

        Delivered ones are kept for a day, dead ones for 30 days. ``total`` counts at most 10000.

        * ``subscription_id``: Only of this subscription.
        * ``status``: Only in this state. It is ``pending``, ``sending``, ``delivered`` or ``dead``.
        * ``limit``: The most deliveries in the answer, 1 to 200.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.create_webhook({"url": "https://hooks.invalid", "events": ["job.enqueued"]})
        ...     job = client.enqueue("email.send")
        ...     [delivery["event_type"] for delivery in client.list_webhook_deliveries()]
        ['job.enqueued']
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("webhooks", "deliveries"), {"subscription_id": subscription_id, "status": status, "limit": limit}),
            None,
            ops.items("deliveries"),
        ))

    def get_webhook_delivery(
        self,
        id: str,
    ) -> dict[str, Any]:
        """A delivery with its event, and how its latest attempt ended.

        * ``id``: The id of the delivery, ``del_…``.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.create_webhook({"url": "https://hooks.invalid", "events": ["job.enqueued"]})
        ...     job = client.enqueue("email.send")
        ...     [delivery] = client.list_webhook_deliveries()
        ...     client.get_webhook_delivery(delivery["id"])["event"]["subject"] == job.id
        True
        """
        return self._run(Call(
            "GET",
            ops.at("webhooks", "deliveries", id),
            None,
            ops.member("delivery"),
        ))

    def retry_webhook_delivery(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Sends a delivery again now, with the same id and the attempts of a new one. It may be dead, delivered or
        waiting.

        * ``id``: The id of the delivery.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.create_webhook({"url": "https://hooks.invalid", "events": ["job.enqueued"]})
        ...     job = client.enqueue("email.send")
        ...     [delivery] = client.list_webhook_deliveries()
        ...     try:
        ...         delivery = client.retry_webhook_delivery(delivery["id"])
        ...     except openjobspec.InvalidStateTransitionError:
        ...         pass  # It is being sent at this moment.
        ...     delivery["event_type"]
        'job.enqueued'
        """
        return self._run(Call(
            "POST",
            ops.at("webhooks", "deliveries", id, "retry"),
            {},
            ops.member("delivery"),
        ))

    def get_progress(
        self,
        job_id: str,
    ) -> dict[str, Any]:
        """How far the latest attempt of a job has come: ``progress`` from 0 to 1, ``data``, ``message`` and
        ``updated_at``, which are null when nothing was reported.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("report.build")
        ...     client.get_progress(job.id)["progress"] is None
        True
        """
        return self._run(Call(
            "GET",
            ops.at("jobs", job_id, "progress"),
            None,
            ops.whole,
        ))

    def get_workflow_progress(
        self,
        workflow_id: str,
    ) -> dict[str, Any]:
        """How far a workflow has come: ``progress`` from 0 to 1, and the progress of each of its ``steps``.

        Of a chain it is the completed steps and the fraction of the current one, of a group the mean of its steps,
        of a batch the share of its jobs that have ended.

        * ``workflow_id``: The workflow's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     etl = client.workflow(openjobspec.chain("data.fetch", "data.load"))
        ...     [step["state"] for step in client.get_workflow_progress(etl.id)["steps"]]
        ['available', 'waiting']
        """
        return self._run(Call(
            "GET",
            ops.at("workflows", workflow_id, "progress"),
            None,
            ops.whole,
        ))

    def save_checkpoint(
        self,
        job_id: str,
        state: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Saves the checkpoint of a job, in place of the one before. It is on disk when the request has been answered,
        and the next attempt of the job is delivered with it.

        The handler of a job saves its own checkpoint, under its lease. This method is for other programs, which
        have no lease: it is refused while a worker with lease tokens holds the job, and when the job has ended.

        * ``job_id``: The job's id.
        * ``state``: JSON of at most 1 MiB.

        Raises InvalidStateTransitionError, JobNotFoundError, PayloadTooLargeError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("report.build")
        ...     _ = client.save_checkpoint(job.id, {"rows": 750})
        ...     client.save_checkpoint(job.id, {"rows": 900})["sequence"]
        2
        """
        return self._run(Call(
            "PUT",
            ops.at("jobs", job_id, "checkpoint"),
            ops.given({"state": state}),
            ops.whole,
        ))

    def get_checkpoint(
        self,
        job_id: str,
    ) -> dict[str, Any]:
        """The checkpoint of a job: ``state``, ``sequence`` and ``created_at``. It can be read as long as the job.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("report.build")
        ...     _ = client.save_checkpoint(job.id, {"rows": 750})
        ...     client.get_checkpoint(job.id)["state"]
        {'rows': 750}
        """
        return self._run(Call(
            "GET",
            ops.at("jobs", job_id, "checkpoint"),
            None,
            ops.whole,
        ))

    def delete_checkpoint(
        self,
        job_id: str,
    ) -> None:
        """Deletes the checkpoint of a job, if it has one: its next attempt begins from the start.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("report.build")
        ...     _ = client.save_checkpoint(job.id, {"rows": 750})
        ...     client.delete_checkpoint(job.id)
        ...     try:
        ...         _ = client.get_checkpoint(job.id)
        ...     except openjobspec.JobNotFoundError:
        ...         print("it is gone")
        it is gone
        """
        return self._run(Call(
            "DELETE",
            ops.at("jobs", job_id, "checkpoint"),
            None,
            ops.nothing,
        ))

    def list_push_endpoints(self) -> list[dict[str, Any]]:
        """The endpoints that jobs are sent to, the oldest first, without their secrets.

        ``status`` is ``active``, ``failing``, ``open`` (sent nothing for a minute after five failures),
        ``probing``, ``waiting`` (it has asked for a pause), ``disabled`` (it answered 401, 403, 404 or 410) or
        ``paused``; ``last_failure`` says why.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://example.com/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     [one["endpoint"] for one in client.list_push_endpoints()]
        ['https://example.com/jobs']
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("push", "endpoints"), {"limit": 200, "pages": "all"}),
            None,
            ops.items("endpoints"),
        ))

    def create_push_endpoint(
        self,
        endpoint: Mapping[str, Any],
        **settings: Any,
    ) -> dict[str, Any]:
        """Registers an endpoint: jobs of its types are sent to it as signed POST requests. Only this answer has the
        secret.

        A job is active under a lease before it is sent, and the answer settles it. The address must begin with
        https:// and be public, unless the server allows others.

        * ``endpoint``: Its members: ``endpoint`` (the URL, or ``sqs:`` and the URL of a queue of Amazon SQS) and
          ``job_types`` (``*`` stands for any characters); if wanted ``queues``, ``config`` (``max_concurrency``,
          ``timeout_ms``, ``signing_secret``, ``weight``, ``retry_429``), ``routing``, ``provider`` and ``active``.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises InvalidStateTransitionError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://example.com/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     endpoint["status"], endpoint["config"]["signing_secret"][:6]
        ('active', 'whsec_')
        """
        return self._run(Call(
            "POST",
            ops.at("push", "endpoints"),
            {**(endpoint or {}), **settings},
            ops.member("push_endpoint"),
        ))

    def get_push_endpoint(
        self,
        id: str,
    ) -> dict[str, Any]:
        """An endpoint, without its secret.

        * ``id``: The id of the endpoint, ``push_…``.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://example.com/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     client.get_push_endpoint(endpoint["id"])["job_types"]
        ['email.send']
        """
        return self._run(Call(
            "GET",
            ops.at("push", "endpoints", id),
            None,
            ops.member("push_endpoint"),
        ))

    def update_push_endpoint(
        self,
        id: str,
        changes: Mapping[str, Any],
        **settings: Any,
    ) -> dict[str, Any]:
        """Changes an endpoint; what is left out stays. One that failures have closed or disabled is sent jobs again.

        With ``active`` false it is sent nothing; its jobs stay available for workers that fetch.

        * ``id``: The id of the endpoint.
        * ``changes``: The members that change: ``endpoint``, ``job_types``, ``queues``, ``config``, ``routing``,
          ``provider``, ``active``.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://example.com/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     client.update_push_endpoint(endpoint["id"], {"active": False})["status"]
        'paused'
        """
        return self._run(Call(
            "PATCH",
            ops.at("push", "endpoints", id),
            {**(changes or {}), **settings},
            ops.member("push_endpoint"),
        ))

    def delete_push_endpoint(
        self,
        id: str,
    ) -> None:
        """Deletes an endpoint. Deliveries that are under way are settled; its other jobs stay available.

        * ``id``: The id of the endpoint.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://example.com/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     client.delete_push_endpoint(endpoint["id"])
        ...     client.list_push_endpoints()
        []
        """
        return self._run(Call(
            "DELETE",
            ops.at("push", "endpoints", id),
            None,
            ops.nothing,
        ))

    def test_push_endpoint(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Sends a job of the type ``push.test`` now, once, and explains the answer: ``success``, ``outcome``,
        ``explanation``, ``status_code``, ``response_time_ms``, ``response_body``.

        * ``id``: The id of the endpoint.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://functions.invalid/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     client.test_push_endpoint(endpoint["id"])["outcome"]
        'undelivered'
        """
        return self._run(Call(
            "POST",
            ops.at("push", "endpoints", id, "test"),
            {},
            ops.whole,
        ))

    def rotate_push_secret(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Gives an endpoint a new secret. For 24 hours requests are signed with both; only this answer has the new
        one.

        * ``id``: The id of the endpoint.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://example.com/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     client.rotate_push_secret(endpoint["id"])["config"]["signing_secret"] != endpoint["config"]["signing_secret"]
        True
        """
        return self._run(Call(
            "POST",
            ops.at("push", "endpoints", id, "rotate-secret"),
            {},
            ops.member("push_endpoint"),
        ))

    def get_history(
        self,
        job_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> dict[str, Any]:
        """What happened to a job: its events, the oldest first, and its attempts with worker, wait, duration and
        error.

        It is read from the job and from the event log, so it is there for as long as the job. ``fingerprint`` of a
        failed attempt is the same for errors that differ only in numbers, ids and quoted text. The history of a job
        has at most the newest 50 failures.

        * ``job_id``: The job's id.
        * ``limit``: The most events in the answer, 1 to 1,000; 50 without it.
        * ``cursor``: The ``next_cursor`` of the page before.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", "ada@example.com")
        ...     [event["event_type"] for event in client.get_history(job.id)["events"]]
        ['job.created', 'job.state_changed']
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("jobs", job_id, "history"), {"limit": limit, "cursor": cursor}),
            None,
            ops.whole,
        ))

    def get_lineage(
        self,
        job_id: str,
    ) -> dict[str, Any]:
        """The workflow that a job is part of, with all its steps as a ``tree``; a job without a workflow is a tree of
        its own.

        ``root_id`` is the outermost workflow. ``parent_id`` and ``root_id`` of a job without a workflow are what
        its client has sent under these names. A tree has at most 1,000 nodes; ``truncated`` says that there are
        more.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     etl = client.workflow(openjobspec.chain("data.fetch", "data.load"))
        ...     [job] = client.list_jobs(job_type="data.fetch")
        ...     client.get_lineage(job.id)["root_id"] == etl.id
        True
        """
        return self._run(Call(
            "GET",
            ops.at("jobs", job_id, "lineage"),
            None,
            ops.whole,
        ))

    def delete_history(
        self,
        job_id: str,
    ) -> dict[str, Any]:
        """Deletes the history of a job: what happened up to now is not shown any more. The job stays as it is.

        The errors and the result of the job are parts of the job: they go when the job is deleted.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send")
        ...     _ = client.delete_history(job.id)
        ...     client.get_history(job.id)["events"]
        []
        """
        return self._run(Call(
            "DELETE",
            ops.at("jobs", job_id, "history"),
            None,
            ops.whole,
        ))

    def history_stats(
        self,
        *,
        since: When | None = None,
        before: When | None = None,
        queues: str | None = None,
        group_by: Literal["minute", "hour", "day"] | None = None,
    ) -> list[dict[str, Any]]:
        """How many events happened in each minute, hour or day, with average and 95th percentile of the durations, the
        oldest first. Periods in which nothing happened are left out.

        Figures are kept for a day by minutes and for a month by hours. Durations come from classes, so they are off
        by 10 % at most. Figures are kept by queue, not by job type: ``job_types`` is answered with 501.

        * ``since``: From this time on; without it an hour, a day or a month back.
        * ``before``: Before this time.
        * ``queues``: Only events of jobs of these queues, with commas between them.
        * ``group_by``: The length of each period; ``hour`` without it. It is ``minute``, ``hour`` or ``day``.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("email.send", queue="mail")
        ...     [bucket["events"]["job.created"] for bucket in client.history_stats(group_by="day", queues="mail")]
        [1]
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("history", "stats"), {"start": ops.time(since), "end": ops.time(before), "queues": queues, "group_by": group_by}),
            None,
            ops.items("buckets"),
        ))

    def list_error_groups(
        self,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        error_type: str | None = None,
        tenant: str | None = None,
        since: When | None = None,
        sort: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> list[dict[str, Any]]:
        """Failed attempts put together by their fingerprint, which is the same for errors that differ only in ids,
        numbers and quoted text.

        A group has ``fingerprint``, ``error_type``, ``message`` (the last one), ``count``, ``first_seen_at``,
        ``last_seen_at``, ``queues``, ``types`` and ``job_ids``, the newest jobs of each queue and type, 50 at most.
        The server keeps the 2,000 groups of a queue and type that failed last, for 30 days after their last
        failure. Failures of the last five seconds before a crash may be missing.

        * ``queue``: Only failures of jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``error_type``: Only errors of this type.
        * ``tenant``: Only failures of jobs of this tenant.
        * ``since``: Only groups with a failure at this time or later.
        * ``sort``: What comes first: ``last_seen_at`` (the default), ``first_seen_at`` or ``count``, the latest or
          the largest.
        * ``page``: The page, from 1.
        * ``per_page``: The most groups on the page, 1 to 100; 20 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     [(group["error_type"], group["count"]) for group in client.list_error_groups()]
        [('ZeroDivisionError', 1)]
        """
        ops.from_one(page=page, per_page=per_page)
        return self._run(Call(
            "GET",
            ops.query(ops.at("admin", "errors"), {"queue": queue, "type": job_type, "error_type": error_type, "tenant": tenant, "since": ops.time(since), "sort": sort, "page": page, "per_page": per_page}),
            None,
            ops.items("items"),
        ))

    def get_error_group(
        self,
        fingerprint: str,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        tenant: str | None = None,
    ) -> dict[str, Any]:
        """One group of errors, with its ``places`` (the failures by queue and type) and those of its ``jobs`` that
        there still are.

        * ``fingerprint``: The fingerprint, as the history of a job has it.
        * ``queue``: Only failures of jobs of this queue.
        * ``job_type``: Only this job type.
        * ``tenant``: Only failures of jobs of this tenant.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     group = client.list_error_groups()[0]
        ...     client.get_error_group(group["fingerprint"])["jobs"][0]["id"] == job.id
        True
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("admin", "errors", fingerprint), {"queue": queue, "type": job_type, "tenant": tenant}),
            None,
            ops.whole,
        ))

    def start_bulk_operation(
        self,
        action: str,
        filter: Mapping[str, Any],
        *,
        reason: str | None = None,
        dry_run: bool | None = None,
    ) -> dict[str, Any]:
        """Begins to retry, cancel or delete all jobs that a filter finds, and answers at once with the operation.

        The server carries it out in slices of 500 jobs, each in a transaction of its own that also keeps the place
        which the operation has reached: after a crash it goes on there, on any node. Jobs that were enqueued or
        have ended since the request are not meant. Those that cannot be changed are counted by reason. With
        ``dry_run`` nothing is changed: the answer has ``matched``, the number of jobs (``relation`` is ``eq``,
        ``about`` or ``gte``; at most 50,000 rows are looked at), the numbers by state, queue and type, and a
        ``sample``. To delete needs the permission to administer. At most 100 operations of a tenant, and 100 of
        operators, may be under way.

        * ``action``: ``retry``, ``cancel`` or ``delete``.
        * ``filter``: Which jobs: ``queue``, ``type``, ``state`` (one or a list), ``since``, ``until``,
          ``priority``, ``meta``, ``error_type`` (of the latest error), ``dead_letters`` (true: only dead letters)
          and ``q`` (a search, as lists of jobs have it). An empty one means all that the action can reach.
        * ``reason``: Why, at most 500 characters; it is kept with the operation.
        * ``dry_run``: Say what would be found, and change nothing.

        Raises InvalidStateTransitionError, InvalidRequestError, AuthenticationError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue_batch([("email.send", [n]) for n in range(3)])
        ...     found = client.start_bulk_operation("cancel", {"queue": "default"}, dry_run=True)
        ...     operation = client.start_bulk_operation("cancel", {"queue": "default"})
        ...     operation = client.get_bulk_operation(operation["id"], wait_ms=60000)
        >>> found["matched"], operation["state"], operation["counts"]["changed"]
        (3, 'completed', 3)
        """
        return self._run(Call(
            "POST",
            ops.at("admin", "bulk"),
            ops.given({"action": action, "filter": filter, "reason": reason, "dry_run": dry_run, "confirm": True}),
            ops.whole,
            # Sent once: a refusal with 408 is an answer here.
            wait=0.0,
        ))

    def list_bulk_operations(
        self,
        *,
        state: str | None = None,
        cursor: str | None = None,
        per_page: int | None = None,
    ) -> list[dict[str, Any]]:
        """Bulk operations, the newest first. They are kept for 30 days after their end, and the last 1,000 of them.

        * ``state``: Only those in this state: ``running``, ``paused``, ``completed``, ``cancelled`` or ``failed``.
        * ``cursor``: Only those before this one: the id of the last one on the page before.
        * ``per_page``: The most on the page, 1 to 100; 20 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue_batch([("email.send", [n]) for n in range(3)])
        ...     started = client.start_bulk_operation("cancel", {"queue": "default"})
        ...     _ = client.get_bulk_operation(started["id"], wait_ms=60000)
        ...     [(one["action"], one["state"]) for one in client.list_bulk_operations()]
        [('cancel', 'completed')]
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("admin", "bulk"), {"state": state, "cursor": cursor, "per_page": per_page}),
            None,
            ops.items("items"),
        ))

    def get_bulk_operation(
        self,
        operation_id: str,
        *,
        wait_ms: int | None = None,
    ) -> dict[str, Any]:
        """A bulk operation: its state, how far it is, how many jobs were changed, and how many were refused and why.

        ``counts`` has ``seen``, ``changed`` and ``refused``; ``refusals`` has ``count``, the first ``job_id`` and
        its ``message`` for each ``reason``; ``progress`` has the number of jobs that is ``expected`` and the
        ``fraction`` that is done, where it can be said.

        * ``operation_id``: The id of the operation.
        * ``wait_ms``: Answer as soon as it does not run any more, at the latest after so many milliseconds: 60,000
          at most.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue_batch([("email.send", [n]) for n in range(3)])
        ...     started = client.start_bulk_operation("cancel", {"queue": "default"})
        ...     client.get_bulk_operation(started["id"], wait_ms=60000)["counts"]["changed"]
        3
        """
        return self._run(Call(
            "GET",
            ops.query(ops.at("admin", "bulk", operation_id), {"wait_ms": wait_ms}),
            None,
            ops.whole,
        ))

    def pause_bulk_operation(
        self,
        operation_id: str,
    ) -> dict[str, Any]:
        """Stops a bulk operation until it is resumed. The slice that is under way is finished.

        * ``operation_id``: The id of the operation.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     started = client.start_bulk_operation("cancel", {"queue": "default"})
        ...     _ = client.get_bulk_operation(started["id"], wait_ms=60000)
        ...     try:
        ...         _ = client.pause_bulk_operation(started["id"])
        ...     except openjobspec.InvalidStateTransitionError as error:
        ...         print(error.details["state"])
        completed
        """
        return self._run(Call(
            "POST",
            ops.at("admin", "bulk", operation_id, "pause"),
            {},
            ops.whole,
        ))

    def resume_bulk_operation(
        self,
        operation_id: str,
    ) -> dict[str, Any]:
        """Goes on with a bulk operation that was paused, or that has failed, where it stopped.

        * ``operation_id``: The id of the operation.

        Raises InvalidStateTransitionError, JobNotFoundError, AuthenticationError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     started = client.start_bulk_operation("cancel", {"queue": "default"})
        ...     _ = client.get_bulk_operation(started["id"], wait_ms=60000)
        ...     try:
        ...         _ = client.resume_bulk_operation(started["id"])
        ...     except openjobspec.InvalidStateTransitionError as error:
        ...         print(error.details["state"])
        completed
        """
        return self._run(Call(
            "POST",
            ops.at("admin", "bulk", operation_id, "resume"),
            {},
            ops.whole,
        ))

    def cancel_bulk_operation(
        self,
        operation_id: str,
    ) -> dict[str, Any]:
        """Ends a bulk operation for good. Jobs that it has changed stay changed.

        * ``operation_id``: The id of the operation.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     started = client.start_bulk_operation("cancel", {"queue": "default"})
        ...     _ = client.get_bulk_operation(started["id"], wait_ms=60000)
        ...     try:
        ...         _ = client.cancel_bulk_operation(started["id"])
        ...     except openjobspec.InvalidStateTransitionError as error:
        ...         print(error.details["state"])
        completed
        """
        return self._run(Call(
            "POST",
            ops.at("admin", "bulk", operation_id, "cancel"),
            {},
            ops.whole,
        ))

    def list_relays(
        self,
        *,
        state: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> list[dict[str, Any]]:
        """The relays that send rows of outboxes to this server, with what each of them said last.

        An item has ``id``, ``name``, ``tenant_id``, ``database`` (its kind), ``outbox`` (the table), ``state``
        (``running``; ``stuck`` while a row has waited for more than a minute; ``silent`` after 20 seconds without a
        heartbeat), ``leading`` (whether it is the one that sends), ``waiting`` (rows, with ``waiting_relation``:
        ``gte`` when there are more than were counted), ``oldest_waiting_ms``, ``parked`` (rows that the server has
        refused for good), ``sent`` since its start, ``sent_per_minute``, ``error`` (what holds it up),
        ``first_heartbeat_at`` and ``last_heartbeat_at``. ``summary`` counts the relays by state. A relay that stops
        is forgotten at once, a silent one after 15 minutes. At most 200 of a tenant are kept, and 1,000 in all.

        * ``state``: Only relays in this state: ``running``, ``stuck`` or ``silent``.
        * ``page``: The page, from 1.
        * ``per_page``: The most relays on the page, 1 to 100; 20 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.list_relays(state="stuck")
        []
        """
        ops.from_one(page=page, per_page=per_page)
        return self._run(Call(
            "GET",
            ops.query(ops.at("admin", "relays"), {"state": state, "page": page, "per_page": per_page}),
            None,
            ops.items("items"),
        ))


class AsyncOperations(ABC):
    """The same methods of :class:`openjobspec.AsyncClient`, as coroutines."""

    @abstractmethod
    async def _run(self, call: Call[T]) -> T:
        """Sends the request and reads the answer."""

    async def bulk_cancel(
        self,
        job_ids: Iterable[str] | None = None,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        states: Sequence[str] | None = None,
        enqueued_after: When | None = None,
        enqueued_before: When | None = None,
        priority: int | None = None,
        meta: Mapping[str, Any] | None = None,
        atomic: bool = False,
    ) -> BulkResult:
        """Cancels many jobs.

        By ids: every job that has not ended. By a filter: the jobs that wait, unless the filter names other states.
        Jobs that cannot be cancelled are skipped, and their items say why; with ``atomic`` one such job keeps the
        others from being cancelled.

        * ``job_ids``: The ids of the jobs.
        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``states``: Only jobs in one of these states.
        * ``enqueued_after``: Only jobs enqueued after this time.
        * ``enqueued_before``: Only jobs enqueued before this time.
        * ``priority``: Only jobs of this priority.
        * ``meta``: Only jobs whose metadata has these members.
        * ``atomic``: All of the jobs, or none.

        Raises InvalidStateTransitionError, PayloadTooLargeError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("report.build", queue="reports")
        ...     client.bulk_cancel(queue="reports").succeeded
        1
        """
        target = Target.of(job_ids, queue, job_type, states, enqueued_after, enqueued_before, priority, meta).to_dict()
        return await self._run(Call(
            "POST",
            ops.at("jobs", "bulk", "cancel"),
            {**target, "atomicity": ops.atomicity(atomic)},
            BulkResult.of,
        ))

    async def bulk_retry(
        self,
        job_ids: Iterable[str] | None = None,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        states: Sequence[str] | None = None,
        enqueued_after: When | None = None,
        enqueued_before: When | None = None,
        priority: int | None = None,
        meta: Mapping[str, Any] | None = None,
        atomic: bool = False,
    ) -> BulkResult:
        """Runs many jobs again: discarded jobs with all their attempts, retryable jobs at once instead of after their
        pause.

        Jobs that cannot be retried are skipped, and their items say why; with ``atomic`` one such job keeps the
        others from being retried.

        * ``job_ids``: The ids of the jobs.
        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``states``: Only jobs in one of these states.
        * ``enqueued_after``: Only jobs enqueued after this time.
        * ``enqueued_before``: Only jobs enqueued before this time.
        * ``priority``: Only jobs of this priority.
        * ``meta``: Only jobs whose metadata has these members.
        * ``atomic``: All of the jobs, or none.

        Raises InvalidStateTransitionError, PayloadTooLargeError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.bulk_retry([job.id]).succeeded
        1
        """
        target = Target.of(job_ids, queue, job_type, states, enqueued_after, enqueued_before, priority, meta).to_dict()
        return await self._run(Call(
            "POST",
            ops.at("jobs", "bulk", "retry"),
            {**target, "atomicity": ops.atomicity(atomic)},
            BulkResult.of,
        ))

    async def bulk_delete(
        self,
        job_ids: Iterable[str] | None = None,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        states: Sequence[str] | None = None,
        enqueued_after: When | None = None,
        enqueued_before: When | None = None,
        priority: int | None = None,
        meta: Mapping[str, Any] | None = None,
        atomic: bool = False,
    ) -> BulkResult:
        """Deletes many jobs that have ended. A deleted job cannot be brought back.

        Jobs that cannot be deleted are skipped, and their items say why; with ``atomic`` one such job keeps the
        others from being deleted.

        * ``job_ids``: The ids of the jobs.
        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``states``: Only jobs in one of these states.
        * ``enqueued_after``: Only jobs enqueued after this time.
        * ``enqueued_before``: Only jobs enqueued before this time.
        * ``priority``: Only jobs of this priority.
        * ``meta``: Only jobs whose metadata has these members.
        * ``atomic``: All of the jobs, or none.

        Raises InvalidStateTransitionError, PayloadTooLargeError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", "ada@example.com")
        ...     _ = client.cancel_job(job.id)
        ...     client.bulk_delete([job.id]).succeeded
        1
        """
        target = Target.of(job_ids, queue, job_type, states, enqueued_after, enqueued_before, priority, meta).to_dict()
        return await self._run(Call(
            "POST",
            ops.at("jobs", "bulk", "delete"),
            {**target, "atomicity": ops.atomicity(atomic)},
            BulkResult.of,
        ))

    async def get_job(
        self,
        job_id: str,
    ) -> Job:
        """The job with this id.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", "ada@example.com")
        ...     job = client.get_job(job.id)
        ...     job.args, job.state
        (['ada@example.com'], 'available')
        """
        return await self._run(Call(
            "GET",
            ops.at("jobs", job_id),
            None,
            ops.job,
        ))

    async def explain_job(
        self,
        job_id: str,
    ) -> dict[str, Any]:
        """Why a job is not running: a ``summary``, and ``reasons`` in the order in which they have to end.

        Each reason has ``code`` and ``message``, and where they are known ``since``, ``until``, ``link`` (a path of
        the API that shows what holds the job), ``command`` (one of the tool ``ojs`` that helps) and ``details``. A
        job that runs, has ended, or is handed out by the next fetch has no reasons. The answer reads a bounded
        number of rows, however many jobs there are.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", delay=3600)
        ...     [reason["code"] for reason in client.explain_job(job.id)["reasons"]]
        ['scheduled']
        """
        return await self._run(Call(
            "GET",
            ops.at("jobs", job_id, "explain"),
            None,
            ops.whole,
        ))

    async def list_jobs(
        self,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        state: str | None = None,
        since: When | float | None = None,
        until: When | float | None = None,
        sort: Literal["created_at", "scheduled_at", "priority"] | None = None,
        order: Literal["asc", "desc"] | None = None,
        page: int = 1,
        per_page: int = 100,
    ) -> JobPage:
        """One page of the jobs that the filter finds, the newest first unless the list is sorted otherwise.

        There is another page while the page says that it has more. Jobs that come and go between two pages move the
        others, but not after a ``cursor``, which is the ``next_cursor`` of the page before. With a cursor, or with
        ``count=false``, a page looks at 5,000 rows at most and has no total: it may be short, or empty, say
        ``complete: false``, and have a ``next_cursor`` all the same. Pages with numbers look at a million rows at
        most, count what is in the first 20,000, and begin at most 10,000 jobs behind the first. With ``q``, a page
        compares 1,000 jobs at most and always goes on by cursors; the guide of the dashboard has the words of the
        language.

        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``state``: Only jobs in this state.
        * ``since``: Only jobs created at this time or later. Seconds and a timedelta count back from now.
        * ``until``: Only jobs created before this time. Seconds and a timedelta count back from now.
        * ``sort``: What the list is sorted by; ``created_at`` without it. It is ``created_at``, ``scheduled_at`` or
          ``priority``.
        * ``order``: The direction of the sort; ``desc`` without it: the newest or the highest priority first. It is
          ``asc`` or ``desc``.
        * ``page``: The number of the page. The first page is 1.
        * ``per_page``: The most jobs on one page, 1 to 100.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue_batch([("email.send", [n]) for n in range(3)])
        ...     page = client.list_jobs(job_type="email.*", state="available", per_page=2)
        >>> [job.args for job in page], page.total, page.has_more
        ([[2], [1]], 3, True)
        """
        ops.from_one(page=page, per_page=per_page)
        return await self._run(Call(
            "GET",
            ops.query(ops.at("admin", "jobs"), {"queue": queue, "type": job_type, "state": state, "since": ops.moment(since), "until": ops.moment(until), "sort": sort, "order": order, "page": page, "per_page": per_page}),
            None,
            ops.job_page,
        ))

    async def cancel_job(
        self,
        job_id: str,
    ) -> Job:
        """Cancels the job. A worker that runs it is told to stop.

        * ``job_id``: The job's id.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", "ada@example.com")
        ...     client.cancel_job(job.id).state
        'cancelled'
        """
        return await self._run(Call(
            "DELETE",
            ops.at("jobs", job_id),
            None,
            ops.job,
        ))

    async def set_priority(
        self,
        job_id: str,
        priority: int,
    ) -> Job:
        """Changes the priority of a job that waits.

        * ``job_id``: The job's id.
        * ``priority``: The new priority. Higher runs earlier.

        Raises InvalidStateTransitionError, JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", "ada@example.com")
        ...     client.set_priority(job.id, 5).priority
        5
        """
        return await self._run(Call(
            "PATCH",
            ops.at("jobs", job_id),
            ops.given({"priority": priority}),
            ops.job,
        ))

    async def activate_job(
        self,
        job_id: str,
    ) -> Job:
        """Makes a job available that was enqueued as pending.

        * ``job_id``: The job's id.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", extra={"pending": True})
        ...     job.state, client.activate_job(job.id).state
        ('pending', 'available')
        """
        return await self._run(Call(
            "POST",
            ops.at("jobs", job_id, "activate"),
            {},
            ops.job,
        ))

    async def retry_job(
        self,
        job_id: str,
    ) -> Job:
        """Runs a discarded job again, with all its attempts. A cancelled job stays cancelled.

        * ``job_id``: The job's id.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.retry_job(job.id).state
        'available'
        """
        return await self._run(Call(
            "POST",
            ops.at("admin", "jobs", job_id, "retry"),
            {},
            ops.bare_job,
        ))

    async def result(
        self,
        job_id: str,
    ) -> JobResult:
        """How the job ended, and what its handler returned.

        The request is refused with status 408 while the job has not ended, and with 410 when its result is no
        longer kept.

        * ``job_id``: The job's id.

        Raises OJSAPIError, JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("add", lambda ctx: sum(ctx.args))
        ...     job = client.enqueue("add", [1, 2])
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.result(job.id).result
        3
        """
        return await self._run(Call(
            "GET",
            ops.at("jobs", job_id, "result"),
            None,
            JobResult,
            # Sent once: a refusal with 408 is an answer here.
            wait=0.0,
        ))

    async def results(
        self,
        job_ids: Sequence[str],
    ) -> list[JobResult | None]:
        """How up to 1,000 jobs ended, in the order of the ids.

        Nothing stands for a job that is unknown, that has not ended, or whose result is no longer kept.

        * ``job_ids``: The ids of the jobs.

        Raises PayloadTooLargeError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("add", lambda ctx: sum(ctx.args))
        ...     job = client.enqueue("add", [1, 2])
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     [one.result for one in client.results([job.id])]
        [3]
        """
        return await self._run(Call(
            "POST",
            ops.at("jobs", "results"),
            ops.given({"ids": list(job_ids)}),
            ops.results,
        ))

    async def get_workflow(
        self,
        workflow_id: str,
    ) -> WorkflowStatus:
        """The state of the workflow and of its steps.

        * ``workflow_id``: The workflow's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     etl = client.workflow(openjobspec.chain("data.fetch", "data.load"))
        ...     client.get_workflow(etl.id).state
        'running'
        """
        return await self._run(Call(
            "GET",
            ops.at("workflows", workflow_id),
            None,
            ops.workflow,
        ))

    async def cancel_workflow(
        self,
        workflow_id: str,
    ) -> WorkflowStatus:
        """Cancels the jobs of the workflow that have not begun. Jobs that run may finish.

        * ``workflow_id``: The workflow's id.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     etl = client.workflow(openjobspec.chain("data.fetch", "data.load"))
        ...     client.cancel_workflow(etl.id).state
        'cancelled'
        """
        return await self._run(Call(
            "DELETE",
            ops.at("workflows", workflow_id),
            None,
            ops.workflow,
        ))

    async def list_workflows(
        self,
        *,
        state: Literal["pending", "running", "completed", "failed", "cancelled"] | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> list[dict[str, Any]]:
        """Workflows without their steps, the newest first. A workflow inside another one is a step of it, and not
        listed.

        * ``state``: Only workflows in this state. It is ``pending``, ``running``, ``completed``, ``failed`` or
          ``cancelled``.
        * ``page``: The number of the page. The first page is 1.
        * ``per_page``: The most workflows on one page, 1 to 100; 20 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     etl = client.workflow(openjobspec.chain("data.fetch", "data.load"))
        ...     [workflow["steps_total"] for workflow in client.list_workflows(state="running")]
        [2]
        """
        ops.from_one(page=page, per_page=per_page)
        return await self._run(Call(
            "GET",
            ops.query(ops.at("admin", "workflows"), {"state": state, "page": page, "per_page": per_page}),
            None,
            ops.items("items"),
        ))

    async def list_queues(self) -> list[dict[str, Any]]:
        """All queues with their status.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     [queue["name"] for queue in client.list_queues()]
        ['default', 'reports']
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("queues"), {"pages": "all"}),
            None,
            ops.items("queues"),
        ))

    async def queue_stats(
        self,
        name: str,
    ) -> dict[str, Any]:
        """How many jobs of the queue are in which state.

        * ``name``: The name of the queue.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     client.queue_stats("reports")["available"]
        1
        """
        return await self._run(Call(
            "GET",
            ops.at("queues", name, "stats"),
            None,
            ops.member("queue"),
        ))

    async def pause_queue(
        self,
        name: str,
    ) -> dict[str, Any]:
        """Stops handing out jobs of the queue until :meth:`resume_queue`. Jobs can still be enqueued. A queue that
        does not exist is made, paused: the protocol answers 200 for every name. ``ojs queues pause`` asks first.

        * ``name``: The name of the queue.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.pause_queue("reports")["status"]
        'paused'
        """
        return await self._run(Call(
            "POST",
            ops.at("queues", name, "pause"),
            {},
            ops.member("queue"),
        ))

    async def resume_queue(
        self,
        name: str,
    ) -> dict[str, Any]:
        """Hands out jobs of the queue again, and accepts new ones.

        * ``name``: The name of the queue.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.pause_queue("reports")
        ...     client.resume_queue("reports")["status"]
        'active'
        """
        return await self._run(Call(
            "POST",
            ops.at("queues", name, "resume"),
            {},
            ops.member("queue"),
        ))

    async def create_queue(
        self,
        name: str,
        config: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        """Creates a queue with settings, such as ``concurrency``, ``max_size``, ``rate_limit`` and ``retention``.

        * ``name``: The name of the queue.
        * ``config``: The settings, by their names on the wire.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises InvalidStateTransitionError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.create_queue("mail", concurrency=20)
        ...     client.configure_queue("mail", max_size=1000)["config"]
        {'concurrency': 20, 'max_size': 1000}
        """
        return await self._run(Call(
            "POST",
            ops.at("queues"),
            ops.given({"name": name, "config": {**(config or {}), **settings}}),
            ops.whole,
        ))

    async def get_queue(
        self,
        name: str,
    ) -> dict[str, Any]:
        """A queue with its settings and counts.

        * ``name``: The name of the queue.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     client.get_queue("reports")["counts"]["available"]
        1
        """
        return await self._run(Call(
            "GET",
            ops.at("queues", name),
            None,
            ops.whole,
        ))

    async def configure_queue(
        self,
        name: str,
        config: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        """Changes the settings that are named and leaves the others. A setting of null goes back to the template, the
        queue ``_default``.

        * ``name``: The name of the queue.
        * ``config``: The settings, by their names on the wire.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.create_queue("mail", concurrency=20)
        ...     client.configure_queue("mail", concurrency=None, max_size=1000)["config"]
        {'max_size': 1000}
        """
        return await self._run(Call(
            "PUT",
            ops.at("queues", name, "config"),
            {**(config or {}), **settings},
            ops.whole,
        ))

    async def delete_queue(
        self,
        name: str,
        *,
        strategy: Literal["reject", "discard", "move"] = "reject",
        target_queue: str | None = None,
    ) -> dict[str, Any]:
        """Deletes the queue. A queue that holds jobs is deleted only if they may be discarded or moved.

        * ``name``: The name of the queue.
        * ``strategy``: What happens to the jobs of the queue. It is ``reject``, ``discard`` or ``move``. Without
          it: ``reject``.
        * ``target_queue``: Where the jobs go, for the strategy ``move``.

        Raises InvalidStateTransitionError, JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     client.delete_queue("reports", strategy="discard")["jobs_discarded"]
        1
        """
        return await self._run(Call(
            "DELETE",
            ops.query(ops.at("queues", name), {"strategy": strategy, "target_queue": target_queue}),
            None,
            ops.whole,
        ))

    async def drain_queue(
        self,
        name: str,
    ) -> dict[str, Any]:
        """Accepts no more jobs for the queue and hands out those that are in it, until :meth:`resume_queue`.

        * ``name``: The name of the queue.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     client.drain_queue("reports")["status"]
        'draining'
        """
        return await self._run(Call(
            "POST",
            ops.at("queues", name, "drain"),
            {},
            ops.whole,
        ))

    async def purge_queue(
        self,
        name: str,
        states: Sequence[str],
        *,
        older_than: When | float | None = None,
    ) -> int:
        """Removes the jobs of the queue that are in one of these states, and returns how many. They cannot be brought
        back.

        Jobs that wait are cancelled first, so that workflows go on. Active jobs are never removed.

        * ``name``: The name of the queue.
        * ``states``: The states of the jobs to remove.
        * ``older_than``: Only jobs older than this: a time, or a length of time before now. A length of time is
          seconds, a timedelta or text.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     client.purge_queue("reports", ["available"])
        1
        """
        call = Call(
            "DELETE",
            ops.at("admin", "queues", name, "jobs"),
            ops.given({"states": list(states), "older_than": ops.age(older_than), "confirm": True, "limit": 10000}),
            ops.part("purged_count", "has_more"),
        )
        found, more = 0, True
        while more:
            count, more = await self._run(call)
            found += count
        return found

    async def get_fairness(
        self,
        name: str,
    ) -> dict[str, Any]:
        """How the jobs of a queue are shared: by tenant or by key, and with which weights.

        * ``name``: The name of the queue.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.set_fairness("default", weights={"acme": 3})
        ...     client.get_fairness("default")["weights"]
        {'acme': 3}
        """
        return await self._run(Call(
            "GET",
            ops.at("admin", "queues", name, "fairness"),
            None,
            ops.whole,
        ))

    async def set_fairness(
        self,
        name: str,
        sharing: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        """Shares the jobs of a queue, those that wait included: among jobs of one priority, keys get jobs handed out
        in turn, in proportion to their weights.

        The settings are ``by`` (``tenant``, the default, or ``key``: the ``fairness_key`` of a job, and its tenant
        where it names none), ``weights`` by id of the tenant or by key (1 to 1000, at most 100), and
        ``default_weight`` for all others (1). A tenant without a weight has the ``fairness_weight`` of its limits.
        What is left out has its default, and ``enabled`` of ``false`` ends the sharing. The answer is 201 when the
        queue was not shared before.

        * ``name``: The name of the queue. It is made when there is none.
        * ``sharing``: The settings, by their names on the wire.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.set_fairness("mail", weights={"acme": 4})["weights"]
        {'acme': 4}
        """
        return await self._run(Call(
            "PUT",
            ops.at("admin", "queues", name, "fairness"),
            {**(sharing or {}), **settings},
            ops.whole,
        ))

    async def delete_fairness(
        self,
        name: str,
    ) -> None:
        """Ends the sharing of a queue: its jobs are handed out in their order again.

        * ``name``: The name of the queue.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.set_fairness("default", weights={"acme": 3})
        ...     client.delete_fairness("default")
        ...     try:
        ...         _ = client.get_fairness("default")
        ...     except openjobspec.JobNotFoundError:
        ...         print("jobs run in the order of their priority again")
        jobs run in the order of their priority again
        """
        return await self._run(Call(
            "DELETE",
            ops.at("admin", "queues", name, "fairness"),
            None,
            ops.nothing,
        ))

    async def list_rate_limits(self) -> list[dict[str, Any]]:
        """The keys that have limits, with how much of each limit is used.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("charge.card", rate_limit={"key": "stripe", "concurrency": 5})
        ...     [limit["key"] for limit in client.list_rate_limits()]
        ['stripe']
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("rate-limits"), {"limit": 200, "pages": "all"}),
            None,
            ops.items("items"),
        ))

    async def get_rate_limit(
        self,
        key: str,
    ) -> dict[str, Any]:
        """The limits of a key, with how much of each is used.

        * ``key``: The key.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("charge.card", rate_limit={"key": "stripe", "concurrency": 5})
        ...     client.get_rate_limit("stripe")["concurrency"]["limit"]
        5
        """
        return await self._run(Call(
            "GET",
            ops.at("rate-limits", key),
            None,
            ops.whole,
        ))

    async def override_rate_limit(
        self,
        key: str,
        limits: Mapping[str, Any],
        *,
        expires_at: When | None = None,
    ) -> dict[str, Any]:
        """Gives a key other limits until a time, for example ``concurrency`` 2. Without any limit the override ends.

        * ``key``: The key.
        * ``limits``: The limits, by their names on the wire.
        * ``expires_at``: When the override ends.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> from datetime import timedelta
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("charge.card", rate_limit={"key": "stripe", "concurrency": 5})
        ...     limit = client.override_rate_limit("stripe", {"concurrency": 2}, expires_at=timedelta(hours=1))
        ...     limit["concurrency"]["limit"]
        2
        """
        return await self._run(Call(
            "PUT",
            ops.at("rate-limits", key),
            {**dict(limits), **ops.given({"expires_at": ops.time(expires_at)})},
            ops.whole,
        ))

    async def dead_letters(
        self,
        queue: str | None = None,
        *,
        job_type: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[Job]:
        """Jobs that failed for good and were kept, the newest first.

        Where more than 20,000 dead letters are kept, a filter is compared with 20,000 of them at a time. The answer
        says so: ``total_relation`` is ``gte``, and ``total`` counts what was found among the newest 20,000. A page
        may be short then, or empty; ``next_cursor`` leads on while it is there.

        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type.
        * ``limit``: The most jobs in the answer, 1 to 200; 50 without it.
        * ``offset``: How many jobs are passed over.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     [letter.id == job.id for letter in client.dead_letters(queue="default")]
        [True]
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("dead-letter"), {"queue": queue, "type": job_type, "limit": limit, "offset": offset}),
            None,
            ops.jobs,
        ))

    async def get_dead_letter(
        self,
        job_id: str,
    ) -> Job:
        """The dead letter with this id.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.get_dead_letter(job.id).state
        'discarded'
        """
        return await self._run(Call(
            "GET",
            ops.at("dead-letter", job_id),
            None,
            ops.job,
        ))

    async def retry_dead_letter(
        self,
        job_id: str,
    ) -> Job:
        """Runs a dead letter again, with all its attempts.

        * ``job_id``: The job's id.

        Raises InvalidStateTransitionError, JobNotFoundError, PayloadTooLargeError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.retry_dead_letter(job.id).state
        'available'
        """
        return await self._run(Call(
            "POST",
            ops.at("dead-letter", job_id, "retry"),
            {},
            ops.job,
        ))

    async def discard_dead_letter(
        self,
        job_id: str,
    ) -> None:
        """Deletes a dead letter. It cannot be brought back.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.discard_dead_letter(job.id)
        ...     client.dead_letters()
        []
        """
        return await self._run(Call(
            "DELETE",
            ops.at("dead-letter", job_id),
            None,
            ops.nothing,
        ))

    async def retry_dead_letters(
        self,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        error_type: str | None = None,
        since: When | None = None,
        until: When | None = None,
    ) -> int:
        """Runs all dead letters again that the filter finds, and returns how many. Without a filter it is all of them.

        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``error_type``: Only jobs whose last error is of this type.
        * ``since``: Only jobs discarded at this time or later.
        * ``until``: Only jobs discarded before this time.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.retry_dead_letters(queue="default")
        1
        """
        return await self._run(Call(
            "POST",
            ops.at("dead-letter", "retry"),
            ops.given({"filter": ops.given({"queue": queue, "type": job_type, "error_type": error_type, "since": ops.time(since), "until": ops.time(until)}), "confirm": True}),
            ops.number("retried"),
        ))

    async def discard_dead_letters(
        self,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        error_type: str | None = None,
        since: When | None = None,
        until: When | None = None,
    ) -> int:
        """Deletes all dead letters that the filter finds, and returns how many. Without a filter it is all of them.

        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``error_type``: Only jobs whose last error is of this type.
        * ``since``: Only jobs discarded at this time or later.
        * ``until``: Only jobs discarded before this time.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     client.discard_dead_letters(job_type="email.*")
        1
        """
        return await self._run(Call(
            "DELETE",
            ops.query(ops.at("dead-letter"), {"queue": queue, "type": job_type, "error_type": error_type, "since": ops.time(since), "until": ops.time(until), "confirm": True}),
            None,
            ops.number("deleted"),
        ))

    async def dead_letter_stats(self) -> dict[str, Any]:
        """How many dead letters there are, by queue and by type of error, and since when.

        Where more than 20,000 are kept, the numbers in ``by_error_type`` are those of the newest 20,000:
        ``by_error_type_relation`` is ``gte``. A caller of a tenant gets all numbers so, with ``total_relation`` and
        ``by_queue_relation``.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.dead_letter_stats()["total"]
        0
        """
        return await self._run(Call(
            "GET",
            ops.at("dead-letter", "stats"),
            None,
            ops.whole,
        ))

    async def preview_dead_letters(
        self,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        error_type: str | None = None,
        since: When | None = None,
        until: When | None = None,
        jobs: str | None = None,
    ) -> dict[str, Any]:
        """What would come of running dead letters again: which would be refused, which would wait and for what, and
        which would run although an enqueue of the same job would be refused. Nothing is changed.

        ``matched`` dead letters are meant (at least so many where ``matched_relation`` is ``gte``: a filter is
        compared with 20,000), of which the newest 500 are looked at (``looked_at``, ``complete``). Of these
        ``would_run``, ``would_wait`` and ``would_be_refused`` say how many; ``with_warnings`` run or wait beside
        that. Each of ``reasons`` has ``code``, ``effect`` (``refused``, ``waits`` or ``warning``), ``message``, the
        number of ``jobs``, the first of them as ``job_id`` and, where there is one, the ``command`` that helps.
        ``jobs`` has the first 20 jobs that meet one. Limits that free themselves as jobs end (full workers,
        concurrency, rates) are no reason.

        * ``queue``: Only jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``error_type``: Only jobs whose last error is of this type.
        * ``since``: Only jobs discarded at this time or later.
        * ``until``: Only jobs discarded before this time.
        * ``jobs``: These jobs instead: their ids with commas between them, 100 at most.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     found = client.preview_dead_letters(queue="default")
        ...     found["matched"], found["would_be_refused"]
        (1, 0)
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("dead-letter", "preview"), {"queue": queue, "type": job_type, "error_type": error_type, "since": ops.time(since), "until": ops.time(until), "job_ids": jobs}),
            None,
            ops.whole,
        ))

    async def list_cron(self) -> list[dict[str, Any]]:
        """All cron entries.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_cron("digest", "0 7 * * *", "digest.send")
        ...     [(cron["name"], cron["expression"]) for cron in client.list_cron()]
        [('digest', '0 7 * * *')]
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("cron"), {"pages": "all"}),
            None,
            ops.crons,
        ))

    async def get_cron(
        self,
        name: str,
    ) -> dict[str, Any]:
        """The cron entry of this name.

        * ``name``: The name of the entry.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_cron("digest", "0 7 * * *", "digest.send")
        ...     client.get_cron("digest")["enabled"]
        True
        """
        return await self._run(Call(
            "GET",
            ops.at("cron", name),
            None,
            ops.cron,
        ))

    async def enable_cron(
        self,
        name: str,
        enabled: bool,
    ) -> dict[str, Any]:
        """Enables the cron entry, or disables it. A disabled entry enqueues no jobs.

        * ``name``: The name of the entry.
        * ``enabled``: Whether the entry enqueues jobs.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_cron("digest", "0 7 * * *", "digest.send")
        ...     client.enable_cron("digest", False)["enabled"]
        False
        """
        return await self._run(Call(
            "PATCH",
            ops.at("cron", name),
            ops.given({"enabled": enabled}),
            ops.cron,
        ))

    async def run_cron(
        self,
        name: str,
    ) -> Job:
        """Enqueues a job of the cron entry now, whether the entry is enabled or not. Its schedule stays.

        The overlap policy holds: while the latest job of the entry goes on, ``skip`` and ``enqueue`` answer with
        409 ``conflict``, and ``cancel_previous`` cancels that job.

        * ``name``: The name of the entry.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_cron("digest", "0 7 * * *", "digest.send")
        ...     client.run_cron("digest").type
        'digest.send'
        """
        return await self._run(Call(
            "POST",
            ops.at("cron", name, "run"),
            {},
            ops.job,
            # Sent once: a refusal with 408 is an answer here.
            wait=0.0,
        ))

    async def delete_cron(
        self,
        name: str,
    ) -> None:
        """Deletes the cron entry. The jobs that it has enqueued stay.

        * ``name``: The name of the entry.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_cron("digest", "0 7 * * *", "digest.send")
        ...     client.delete_cron("digest")
        ...     client.list_cron()
        []
        """
        return await self._run(Call(
            "DELETE",
            ops.at("cron", name),
            None,
            ops.nothing,
        ))

    async def list_workers(
        self,
        *,
        state: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> list[dict[str, Any]]:
        """The workers that the server knows, with what each of them does.

        * ``state``: Only workers in this state.
        * ``page``: The number of the page. The first page is 1.
        * ``per_page``: The most workers on one page, 1 to 100; 20 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.list_workers()
        []
        """
        ops.from_one(page=page, per_page=per_page)
        return await self._run(Call(
            "GET",
            ops.query(ops.at("admin", "workers"), {"state": state, "page": page, "per_page": per_page}),
            None,
            ops.items("items"),
        ))

    async def get_worker(
        self,
        worker_id: str,
    ) -> dict[str, Any]:
        """The worker with this id.

        * ``worker_id``: The worker's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client, worker_id="mail-1", heartbeat_interval=0.1)
        ...     _ = worker.register("email.send", lambda ctx: None)
        ...     with worker:
        ...         started = next(iter(client.events(types=["worker.started"], after="")))
        ...         client.get_worker("mail-1")["state"]
        'running'
        """
        return await self._run(Call(
            "GET",
            ops.at("admin", "workers", worker_id),
            None,
            ops.whole,
        ))

    async def direct_worker(
        self,
        worker_id: str,
        directive: Literal["quiet", "terminate", "resume"],
    ) -> dict[str, Any]:
        """Tells a worker to take no more jobs (``quiet``), to stop (``terminate``), or to take jobs again
        (``resume``).

        The worker hears of it with its next heartbeat.

        * ``worker_id``: The worker's id.
        * ``directive``: What the worker shall do. It is ``quiet``, ``terminate`` or ``resume``.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client, worker_id="mail-1", heartbeat_interval=0.1)
        ...     _ = worker.register("email.send", lambda ctx: None)
        ...     with worker:
        ...         started = next(iter(client.events(types=["worker.started"], after="")))
        ...         client.direct_worker("mail-1", "quiet")["directive"]
        'quiet'
        """
        return await self._run(Call(
            "POST",
            ops.at("admin", "workers", worker_id, directive),
            {},
            ops.whole,
        ))

    async def remove_worker(
        self,
        worker_id: str,
    ) -> dict[str, Any]:
        """Removes a worker that no longer sends heartbeats. Its jobs go back to their queues.

        * ``worker_id``: The worker's id.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client, worker_id="mail-1", heartbeat_interval=0.1)
        ...     _ = worker.register("email.send", lambda ctx: None)
        ...     with worker:
        ...         started = next(iter(client.events(types=["worker.started"], after="")))
        ...         try:
        ...             _ = client.remove_worker("mail-1")
        ...         except openjobspec.InvalidStateTransitionError:
        ...             print("it still sends heartbeats")
        it still sends heartbeats
        """
        return await self._run(Call(
            "DELETE",
            ops.at("admin", "workers", worker_id),
            None,
            ops.whole,
        ))

    async def health(self) -> dict[str, Any]:
        """Whether the server works, with its version, its store and how long it has run.

        Raises OJSAPIError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.health()["status"]
        'ok'
        """
        return await self._run(Call(
            "GET",
            ops.at("health"),
            None,
            ops.whole,
        ))

    async def manifest(self) -> dict[str, Any]:
        """What the server is, and what it can do.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.manifest()["conformance_level"]
        4
        """
        return await self._run(Call(
            "GET",
            "/ojs/manifest",
            None,
            ops.whole,
        ))

    async def server_stats(self) -> dict[str, Any]:
        """Jobs by state, throughput, latency and workers of the whole server.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("report.build", queue="reports")
        ...     client.server_stats()["jobs"]["available"]
        1
        """
        return await self._run(Call(
            "GET",
            ops.at("admin", "stats"),
            None,
            ops.whole,
        ))

    async def stats_history(
        self,
        *,
        period: Literal["1m", "5m", "1h", "1d"] | None = None,
        queue: str | None = None,
        since: When | None = None,
        until: When | None = None,
    ) -> list[dict[str, Any]]:
        """Throughput and latency over time, oldest first. Periods in which nothing ran are left out.

        * ``period``: The length of each period; ``1m`` without it. It is ``1m``, ``5m``, ``1h`` or ``1d``.
        * ``queue``: Only this queue.
        * ``since``: From this time on.
        * ``until``: Up to this time.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("email.send", queue="mail")
        ...     [period["enqueued"] for period in client.stats_history(period="1h", queue="mail")]
        [1]
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("admin", "stats", "history"), {"period": period, "queue": queue, "since": ops.time(since), "until": ops.time(until)}),
            None,
            ops.items("items"),
        ))

    async def type_stats(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        sort: str | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """What happened to the jobs of each type over a length of time: how many, how long they ran and waited.

        An item has ``type``, ``enqueued``, ``processed``, ``failed``, ``discarded``, ``busy_ms`` (the time that
        completed attempts have taken), ``latency_ms`` and ``wait_ms`` with ``p50``, ``p95`` and ``p99``. In a
        minute and in an hour 200 types are told apart; the others are the type ``_other``. Figures are kept by
        minutes for two hours and by hours for 30 days, so an earlier ``since`` counts from the beginning of its
        hour.

        * ``since``: From this time on; an hour ago without it.
        * ``until``: Up to this time, at most 7 days later; now without it.
        * ``sort``: What comes first, the largest: ``processed`` (the default), ``enqueued``, ``failed``,
          ``discarded``, ``busy``, ``latency`` or ``wait``.
        * ``limit``: The most types in the answer, 1 to 200; 50 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("email.send")
        ...     [(figures["type"], figures["enqueued"]) for figures in client.type_stats()]
        [('email.send', 1)]
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("admin", "stats", "types"), {"since": ops.time(since), "until": ops.time(until), "sort": sort, "limit": limit}),
            None,
            ops.items("items"),
        ))

    async def maintenance(self) -> dict[str, Any]:
        """Whether the server is in maintenance, since when and why.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.maintenance()["maintenance"]
        False
        """
        return await self._run(Call(
            "GET",
            ops.at("admin", "system", "maintenance"),
            None,
            ops.whole,
        ))

    async def set_maintenance(
        self,
        enabled: bool,
        *,
        reason: str | None = None,
        estimated_duration: Duration | None = None,
    ) -> dict[str, Any]:
        """Begins or ends maintenance. During it jobs are accepted, and none is handed out.

        * ``enabled``: Whether the server is in maintenance.
        * ``reason``: Why, for those who ask.
        * ``estimated_duration``: How long it will take, such as ``PT30M``.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.set_maintenance(True, reason="moving")
        ...     client.maintenance()["reason"]
        'moving'
        """
        return await self._run(Call(
            "POST",
            ops.at("admin", "system", "maintenance"),
            ops.given({"enabled": enabled, "reason": reason, "estimated_duration": ops.period(estimated_duration)}),
            ops.whole,
        ))

    async def audit(self) -> dict[str, Any]:
        """Compares the rows of the server's store with each other and changes nothing: counts with jobs, jobs with
        their bodies, workflows with their steps, and so on.

        ``sound`` is true when nothing contradicts anything. ``findings`` has the first 1,000 contradictions, each
        with the check, the row, what was compared, and both values; ``total`` counts them all. The time grows with
        the number of jobs. It takes one of the two connections for lists and searches; everything else goes on, but
        for a store in memory, where all wait.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.audit()["sound"]
        True
        """
        return await self._run(Call(
            "GET",
            ops.at("admin", "system", "audit"),
            None,
            ops.whole,
        ))

    async def server_config(self) -> dict[str, Any]:
        """The settings that the server runs with. There are no secrets among them.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.server_config()["limits"]["max_meta_bytes"]
        65536
        """
        return await self._run(Call(
            "GET",
            ops.at("admin", "system", "config"),
            None,
            ops.whole,
        ))

    async def list_schemas(self) -> list[dict[str, Any]]:
        """The registered schemas of all job types, without their texts, in order of job type and version.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}})
        ...     [(schema["job_type"], schema["version"]) for schema in client.list_schemas()]
        [('email.send', '1.0.0')]
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("schemas"), {"limit": 200, "pages": "all"}),
            None,
            ops.items("schemas"),
        ))

    async def register_schema(
        self,
        job_type: str,
        version: str,
        schema: Mapping[str, Any],
        *,
        mode: Literal["strict", "warn", "off"] | None = None,
    ) -> dict[str, Any]:
        """Registers the JSON Schema of the arguments of a job type. A registered version never changes.

        With ``mode`` ``strict`` jobs that do not match are refused, with ``warn``, the default, they are accepted
        with warnings, with ``off`` they are not compared. Within a major version, a schema that refuses what the
        version before accepted is refused itself.

        * ``job_type``: The job type.
        * ``version``: The version: ``2``, ``2.1`` or ``2.1.0``.
        * ``schema``: A JSON Schema, draft 2020-12, for the array of arguments.
        * ``mode``: What happens to jobs that do not match. It is ``strict``, ``warn`` or ``off``.

        Raises InvalidStateTransitionError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}}, mode="strict")
        ...     client.get_schema("email.send")["version"]
        '1.0.0'
        """
        return await self._run(Call(
            "POST",
            ops.at("schemas"),
            ops.given({"job_type": job_type, "version": version, "schema": schema, "mode": mode}),
            ops.member("schema"),
        ))

    async def get_schema(
        self,
        job_type: str,
    ) -> dict[str, Any]:
        """The schema of the highest version of a job type.

        * ``job_type``: The job type, or the URI of a schema.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}})
        ...     client.get_schema("email.send")["version"]
        '1.0.0'
        """
        return await self._run(Call(
            "GET",
            ops.at("schemas", job_type),
            None,
            ops.member("schema"),
        ))

    async def get_schema_version(
        self,
        job_type: str,
        version: str,
    ) -> dict[str, Any]:
        """The schema of a version of a job type.

        * ``job_type``: The job type.
        * ``version``: The version.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}})
        ...     client.get_schema_version("email.send", "1.0.0")["schema"]
        {'items': {'type': 'string'}}
        """
        return await self._run(Call(
            "GET",
            ops.at("schemas", job_type, version),
            None,
            ops.member("schema"),
        ))

    async def list_schema_versions(
        self,
        job_type: str,
    ) -> list[dict[str, Any]]:
        """The versions of a job type, highest first.

        * ``job_type``: The job type.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}})
        ...     [version["version"] for version in client.list_schema_versions("email.send")]
        ['1.0.0']
        """
        return await self._run(Call(
            "GET",
            ops.at("schemas", job_type, "versions"),
            None,
            ops.items("versions"),
        ))

    async def set_schema_mode(
        self,
        job_type: str,
        version: str,
        mode: Literal["strict", "warn", "off"],
    ) -> dict[str, Any]:
        """Changes what happens to jobs that do not match a version. Jobs that are stored are not looked at again.

        * ``job_type``: The job type.
        * ``version``: The version.
        * ``mode``: ``strict``, ``warn`` or ``off``. It is ``strict``, ``warn`` or ``off``.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}})
        ...     client.set_schema_mode("email.send", "1.0.0", "strict")["mode"]
        'strict'
        """
        return await self._run(Call(
            "PATCH",
            ops.at("schemas", job_type, version),
            ops.given({"mode": mode}),
            ops.member("schema"),
        ))

    async def delete_schema(
        self,
        job_type: str,
        version: str,
    ) -> None:
        """Deletes a version. Jobs that were stored under it stay.

        * ``job_type``: The job type.
        * ``version``: The version.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.register_schema("email.send", "1.0.0", {"items": {"type": "string"}})
        ...     client.delete_schema("email.send", "1.0.0")
        ...     client.list_schemas()
        []
        """
        return await self._run(Call(
            "DELETE",
            ops.at("schemas", job_type, version),
            None,
            ops.nothing,
        ))

    async def list_trains(
        self,
        *,
        state: str | None = None,
    ) -> list[dict[str, Any]]:
        """The trains that have jobs, in the order of their ids, or only those in one state; the one that was held
        first comes first.

        * ``state``: Only trains in this state: ``running``, ``draining`` or ``held``.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     jobs = [client.enqueue("file.copy", [name], train="dest_7") for name in ("a", "b")]
        ...     [train["id"] for train in client.list_trains()]
        ['dest_7']
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("trains"), {"state": state, "limit": 200, "pages": "all"}),
            None,
            ops.items("trains"),
        ))

    async def get_train(
        self,
        train_id: str,
    ) -> dict[str, Any]:
        """A train: its state, its locomotive, which is the one job that may run, and its jobs in the order in which
        they run.

        * ``train_id``: The id of the train.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     jobs = [client.enqueue("file.copy", [name], train="dest_7") for name in ("a", "b")]
        ...     client.get_train("dest_7")["locomotive"] == jobs[0].id
        True
        """
        return await self._run(Call(
            "GET",
            ops.at("trains", train_id),
            None,
            ops.whole,
        ))

    async def advance_train(
        self,
        train_id: str,
        *,
        job_id: str | None = None,
    ) -> dict[str, Any]:
        """Ends the hold of a train: a locomotive that has ended leaves it, and the next job may run.

        * ``train_id``: The id of the train.
        * ``job_id``: Only if this job is the locomotive.

        Raises InvalidStateTransitionError, JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     jobs = [client.enqueue("file.copy", [name], train="dest_7") for name in ("a", "b")]
        ...     _ = client.hold_train("dest_7")
        ...     client.advance_train("dest_7")["state"]
        'running'
        """
        return await self._run(Call(
            "POST",
            ops.at("trains", train_id, "advance"),
            ops.given({"job_id": job_id, "confirm": True}),
            ops.whole,
        ))

    async def hold_train(
        self,
        train_id: str,
    ) -> dict[str, Any]:
        """Holds a train: a job of it that runs may end, and no further one starts until :meth:`advance_train`.

        * ``train_id``: The id of the train.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     jobs = [client.enqueue("file.copy", [name], train="dest_7") for name in ("a", "b")]
        ...     client.hold_train("dest_7")["state"]
        'held'
        """
        return await self._run(Call(
            "POST",
            ops.at("trains", train_id, "hold"),
            {},
            ops.whole,
        ))

    async def list_tenants(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
    ) -> list[dict[str, Any]]:
        """The tenants of the server by id, with the number of their jobs and their limits.

        * ``page``: The page, from 1.
        * ``per_page``: The most tenants on the page, 1 to 100; 20 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.put_tenant("acme", name="Acme Ltd.")
        ...     [(tenant["id"], tenant["name"]) for tenant in client.list_tenants()]
        [('acme', 'Acme Ltd.')]
        """
        ops.from_one(page=page, per_page=per_page)
        return await self._run(Call(
            "GET",
            ops.query(ops.at("admin", "tenants"), {"page": page, "per_page": per_page}),
            None,
            ops.items("items"),
        ))

    async def get_tenant(
        self,
        tenant_id: str,
    ) -> dict[str, Any]:
        """A tenant with its status, its limits and the number of its jobs by state.

        * ``tenant_id``: The id of the tenant.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.put_tenant("acme", name="Acme Ltd.")
        ...     client.get_tenant("acme")["status"]
        'active'
        """
        return await self._run(Call(
            "GET",
            ops.at("admin", "tenants", tenant_id),
            None,
            ops.whole,
        ))

    async def put_tenant(
        self,
        tenant_id: str,
        changes: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        """Makes a tenant, or changes what the body names of one. A job that names a new tenant makes it as well.

        * ``tenant_id``: The id of the tenant.
        * ``changes``: Its members: ``name`` (for people), ``limits`` (as in ``PUT /admin/tenants/{id}/limits``),
          ``fairness_weight`` (which leaves the other limits as they are) and ``status`` (``active`` or
          ``suspended``).
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.put_tenant("acme", name="Acme Ltd.", limits={"max_concurrency": 10})["limits"]["max_concurrency"]
        10
        """
        return await self._run(Call(
            "PUT",
            ops.at("admin", "tenants", tenant_id),
            {**(changes or {}), **settings},
            ops.whole,
        ))

    async def delete_tenant(
        self,
        tenant_id: str,
    ) -> dict[str, Any]:
        """Deletes a tenant with its ended jobs. It is refused while the tenant has jobs that have not ended.

        * ``tenant_id``: The id of the tenant.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.put_tenant("acme", name="Acme Ltd.")
        ...     _ = client.delete_tenant("acme")
        ...     [tenant["id"] for tenant in client.list_tenants()]
        []
        """
        return await self._run(Call(
            "DELETE",
            ops.at("admin", "tenants", tenant_id),
            None,
            ops.whole,
        ))

    async def set_tenant_limits(
        self,
        tenant_id: str,
        limits: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        """Sets what a tenant may use: ``max_concurrency``, ``max_enqueue_rate``, ``max_queue_depth`` and
        ``max_scheduled``; and ``fairness_weight``, its weight in shared queues.

        What the body leaves out is not limited any more. Jobs that have more than the new limits allow stay.

        * ``tenant_id``: The id of the tenant.
        * ``limits``: Its members: ``max_concurrency`` (jobs that are active at a time), ``max_enqueue_rate``
          (``limit`` jobs in each ``period``, an ISO 8601 duration), ``max_queue_depth`` (jobs that wait, in all
          queues together), ``max_scheduled``, and ``fairness_weight`` (jobs that it gets while a tenant of weight 1
          gets one, in queues that tenants share: 1 to 1,000); and ``reason``, a text for the log of the server.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.put_tenant("acme", name="Acme Ltd.")
        ...     client.set_tenant_limits("acme", max_queue_depth=10000)["limits"]["max_queue_depth"]
        10000
        """
        return await self._run(Call(
            "PUT",
            ops.at("admin", "tenants", tenant_id, "limits"),
            {**(limits or {}), **settings},
            ops.whole,
        ))

    async def suspend_tenant(
        self,
        tenant_id: str,
    ) -> dict[str, Any]:
        """Stops a tenant: its jobs are refused with 403, and those that wait are not handed out. Active jobs go on.

        * ``tenant_id``: The id of the tenant.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.put_tenant("acme", name="Acme Ltd.")
        ...     client.suspend_tenant("acme")["status"]
        'suspended'
        """
        return await self._run(Call(
            "POST",
            ops.at("admin", "tenants", tenant_id, "suspend"),
            {},
            ops.whole,
        ))

    async def resume_tenant(
        self,
        tenant_id: str,
    ) -> dict[str, Any]:
        """Ends the suspension of a tenant: its jobs are taken and handed out again.

        * ``tenant_id``: The id of the tenant.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.put_tenant("acme", name="Acme Ltd.")
        ...     _ = client.suspend_tenant("acme")
        ...     client.resume_tenant("acme")["status"]
        'active'
        """
        return await self._run(Call(
            "POST",
            ops.at("admin", "tenants", tenant_id, "resume"),
            {},
            ops.whole,
        ))

    async def tenant_stats(
        self,
        tenant_id: str,
    ) -> dict[str, Any]:
        """What a tenant has: jobs by state and queue, how much of its limits is used, and what was done so far.

        * ``tenant_id``: The id of the tenant, or ``_default``.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.of_tenant("acme").enqueue("email.send")
        ...     client.tenant_stats("acme")["jobs"]["available"]
        1
        """
        return await self._run(Call(
            "GET",
            ops.at("admin", "tenants", tenant_id, "stats"),
            None,
            ops.whole,
        ))

    async def tenant_jobs(
        self,
        tenant_id: str,
        *,
        queue: str | None = None,
        state: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> JobPage:
        """The jobs of a tenant, newest first; with the filters of ``GET /admin/jobs``.

        * ``tenant_id``: The id of the tenant, or ``_default``.
        * ``queue``: Only this queue.
        * ``state``: Only this state.
        * ``page``: The page, from 1.
        * ``per_page``: The most jobs on the page, 1 to 100; 20 without it.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.of_tenant("acme").enqueue("email.send")
        ...     [job.type for job in client.tenant_jobs("acme", queue="default")]
        ['email.send']
        """
        ops.from_one(page=page, per_page=per_page)
        return await self._run(Call(
            "GET",
            ops.query(ops.at("admin", "tenants", tenant_id, "jobs"), {"queue": queue, "state": state, "page": page, "per_page": per_page}),
            None,
            ops.job_page,
        ))

    async def noisy_tenants(
        self,
        *,
        depth_factor: int | None = None,
        rate_factor: int | None = None,
        active_percent: int | None = None,
        error_factor: int | None = None,
        min_jobs: int | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """Tenants that use far more than the others do, those with the most signals first.

        Each tenant that has jobs, or had some in the last five minutes, is compared with the others. An item has
        ``tenant_id``, ``signals``, ``queue_depth``, ``active``, ``error_rate``, and jobs per minute; a signal has
        ``signal`` (``queue_depth_ratio``, ``enqueue_rate_ratio``, ``active_job_ratio`` or ``error_rate``),
        ``value``, ``compared_with``, ``ratio`` (null where the others have none) and ``threshold``. The default
        tenant is left out. Nothing is read of jobs.

        * ``depth_factor``: The signal is more waiting jobs than so many times the median of the others; 10 without
          it.
        * ``rate_factor``: The signal is more jobs enqueued lately than so many times the average of the others; 5
          without it.
        * ``active_percent``: The signal is a larger share of the active jobs of all tenants, 1 to 100; 50 without
          it.
        * ``error_factor``: The signal is a larger share of failed attempts than so many times that of the others; 3
          without it.
        * ``min_jobs``: With fewer jobs that wait or were enqueued lately there is no signal, nor with fewer than a
          tenth of it that are active or failed; 100 without it.
        * ``limit``: The most tenants in the answer, 1 to 1,000; 100 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.of_tenant("acme").enqueue("email.send")
        ...     client.noisy_tenants(min_jobs=50)
        []
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("admin", "stats", "tenants", "noisy"), {"depth_factor": depth_factor, "rate_factor": rate_factor, "active_percent": active_percent, "error_factor": error_factor, "min_jobs": min_jobs, "limit": limit}),
            None,
            ops.items("items"),
        ))

    async def list_webhooks(self) -> list[dict[str, Any]]:
        """The subscriptions, the oldest first, without their secrets.

        ``dropped`` says how many events became no delivery because too many deliveries waited for the subscription;
        ``dropped_since`` when the first of them happened, or null.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     hook = client.create_webhook({"url": "https://example.com/hook", "events": ["job.failed"]})
        ...     [one["url"] for one in client.list_webhooks()]
        ['https://example.com/hook']
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("webhooks", "subscriptions"), {"limit": 200, "pages": "all"}),
            None,
            ops.items("subscriptions"),
        ))

    async def create_webhook(
        self,
        subscription: Mapping[str, Any],
        **settings: Any,
    ) -> dict[str, Any]:
        """Creates a subscription: events are sent to ``url`` as signed POST requests. Only this answer has the secret.

        Events that happen from then on become deliveries, which are sent until the endpoint answers with 2xx: eight
        attempts within 41 hours. ``filter`` is an object with ``queues`` and ``job_types``. The URL must begin with
        https:// and lead to a public address, unless the server allows others.

        * ``subscription``: Its members: ``url`` and ``events`` (such as ``job.completed``, ``job.*`` or ``*``); if
          wanted ``secret`` (8 to 255 characters; without it the server makes one), ``filter``, ``metadata`` (an
          object of at most 4096 bytes), ``active`` and ``format`` (``ojs``, ``cloudevents`` or
          ``cloudevents-binary``).
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises InvalidStateTransitionError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     webhook = client.create_webhook({"url": "https://example.com/hook", "events": ["job.failed"]})
        ...     webhook["events"], webhook["secret"][:6]
        (['job.failed'], 'whsec_')
        """
        return await self._run(Call(
            "POST",
            ops.at("webhooks", "subscriptions"),
            {**(subscription or {}), **settings},
            ops.member("subscription"),
        ))

    async def get_webhook(
        self,
        id: str,
    ) -> dict[str, Any]:
        """A subscription, without its secret.

        ``dropped`` says how many events became no delivery because too many deliveries waited for it;
        ``dropped_since`` when the first of them happened, or null.

        * ``id``: The id of the subscription, ``sub_…``.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     hook = client.create_webhook({"url": "https://example.com/hook", "events": ["job.failed"]})
        ...     client.get_webhook(hook["id"])["events"]
        ['job.failed']
        """
        return await self._run(Call(
            "GET",
            ops.at("webhooks", "subscriptions", id),
            None,
            ops.member("subscription"),
        ))

    async def update_webhook(
        self,
        id: str,
        changes: Mapping[str, Any],
        **settings: Any,
    ) -> dict[str, Any]:
        """Changes a subscription; what is left out stays. Deliveries that wait go to the new URL.

        A subscription that is not active gets no new deliveries, and those that wait are not sent until it is
        active again.

        * ``id``: The id of the subscription.
        * ``changes``: The members that change: ``url``, ``events``, ``active``, ``filter``, ``metadata``,
          ``format``.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     hook = client.create_webhook({"url": "https://example.com/hook", "events": ["job.failed"]})
        ...     client.update_webhook(hook["id"], {"events": ["job.*"]})["events"]
        ['job.*']
        """
        return await self._run(Call(
            "PATCH",
            ops.at("webhooks", "subscriptions", id),
            {**(changes or {}), **settings},
            ops.member("subscription"),
        ))

    async def delete_webhook(
        self,
        id: str,
    ) -> None:
        """Deletes a subscription and its deliveries: nothing more is sent to it.

        * ``id``: The id of the subscription.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     hook = client.create_webhook({"url": "https://example.com/hook", "events": ["job.failed"]})
        ...     client.delete_webhook(hook["id"])
        ...     client.list_webhooks()
        []
        """
        return await self._run(Call(
            "DELETE",
            ops.at("webhooks", "subscriptions", id),
            None,
            ops.nothing,
        ))

    async def test_webhook(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Sends an event ``webhook.test`` now, once, and answers with what the endpoint said: ``success``,
        ``status_code``, ``response_time_ms``, ``response_body``.

        * ``id``: The id of the subscription.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     hook = client.create_webhook({"url": "https://hooks.invalid", "events": ["job.failed"]})
        ...     client.test_webhook(hook["id"])["success"]
        False
        """
        return await self._run(Call(
            "POST",
            ops.at("webhooks", "subscriptions", id, "test"),
            {},
            ops.whole,
        ))

    async def rotate_webhook_secret(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Gives a subscription a new secret. For 24 hours requests are signed with both; only this answer has the new
        one.

        * ``id``: The id of the subscription.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     hook = client.create_webhook({"url": "https://example.com/hook", "events": ["job.failed"]})
        ...     client.rotate_webhook_secret(hook["id"])["secret"] != hook["secret"]
        True
        """
        return await self._run(Call(
            "POST",
            ops.at("webhooks", "subscriptions", id, "rotate-secret"),
            {},
            ops.member("subscription"),
        ))

    async def list_webhook_deliveries(
        self,
        *,
        subscription_id: str | None = None,
        status: Literal["pending", "sending", "delivered", "dead"] | None = None,
        limit: int = 50,
    ) -> list[dict[str, Any]]:
        """Deliveries, the newest first, without the events that they carry.

        Delivered ones are kept for a day, dead ones for 30 days. ``total`` counts at most 10000.

        * ``subscription_id``: Only of this subscription.
        * ``status``: Only in this state. It is ``pending``, ``sending``, ``delivered`` or ``dead``.
        * ``limit``: The most deliveries in the answer, 1 to 200.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.create_webhook({"url": "https://hooks.invalid", "events": ["job.enqueued"]})
        ...     job = client.enqueue("email.send")
        ...     [delivery["event_type"] for delivery in client.list_webhook_deliveries()]
        ['job.enqueued']
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("webhooks", "deliveries"), {"subscription_id": subscription_id, "status": status, "limit": limit}),
            None,
            ops.items("deliveries"),
        ))

    async def get_webhook_delivery(
        self,
        id: str,
    ) -> dict[str, Any]:
        """A delivery with its event, and how its latest attempt ended.

        * ``id``: The id of the delivery, ``del_…``.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.create_webhook({"url": "https://hooks.invalid", "events": ["job.enqueued"]})
        ...     job = client.enqueue("email.send")
        ...     [delivery] = client.list_webhook_deliveries()
        ...     client.get_webhook_delivery(delivery["id"])["event"]["subject"] == job.id
        True
        """
        return await self._run(Call(
            "GET",
            ops.at("webhooks", "deliveries", id),
            None,
            ops.member("delivery"),
        ))

    async def retry_webhook_delivery(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Sends a delivery again now, with the same id and the attempts of a new one. It may be dead, delivered or
        waiting.

        * ``id``: The id of the delivery.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.create_webhook({"url": "https://hooks.invalid", "events": ["job.enqueued"]})
        ...     job = client.enqueue("email.send")
        ...     [delivery] = client.list_webhook_deliveries()
        ...     try:
        ...         delivery = client.retry_webhook_delivery(delivery["id"])
        ...     except openjobspec.InvalidStateTransitionError:
        ...         pass  # It is being sent at this moment.
        ...     delivery["event_type"]
        'job.enqueued'
        """
        return await self._run(Call(
            "POST",
            ops.at("webhooks", "deliveries", id, "retry"),
            {},
            ops.member("delivery"),
        ))

    async def get_progress(
        self,
        job_id: str,
    ) -> dict[str, Any]:
        """How far the latest attempt of a job has come: ``progress`` from 0 to 1, ``data``, ``message`` and
        ``updated_at``, which are null when nothing was reported.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("report.build")
        ...     client.get_progress(job.id)["progress"] is None
        True
        """
        return await self._run(Call(
            "GET",
            ops.at("jobs", job_id, "progress"),
            None,
            ops.whole,
        ))

    async def get_workflow_progress(
        self,
        workflow_id: str,
    ) -> dict[str, Any]:
        """How far a workflow has come: ``progress`` from 0 to 1, and the progress of each of its ``steps``.

        Of a chain it is the completed steps and the fraction of the current one, of a group the mean of its steps,
        of a batch the share of its jobs that have ended.

        * ``workflow_id``: The workflow's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     etl = client.workflow(openjobspec.chain("data.fetch", "data.load"))
        ...     [step["state"] for step in client.get_workflow_progress(etl.id)["steps"]]
        ['available', 'waiting']
        """
        return await self._run(Call(
            "GET",
            ops.at("workflows", workflow_id, "progress"),
            None,
            ops.whole,
        ))

    async def save_checkpoint(
        self,
        job_id: str,
        state: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Saves the checkpoint of a job, in place of the one before. It is on disk when the request has been answered,
        and the next attempt of the job is delivered with it.

        The handler of a job saves its own checkpoint, under its lease. This method is for other programs, which
        have no lease: it is refused while a worker with lease tokens holds the job, and when the job has ended.

        * ``job_id``: The job's id.
        * ``state``: JSON of at most 1 MiB.

        Raises InvalidStateTransitionError, JobNotFoundError, PayloadTooLargeError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("report.build")
        ...     _ = client.save_checkpoint(job.id, {"rows": 750})
        ...     client.save_checkpoint(job.id, {"rows": 900})["sequence"]
        2
        """
        return await self._run(Call(
            "PUT",
            ops.at("jobs", job_id, "checkpoint"),
            ops.given({"state": state}),
            ops.whole,
        ))

    async def get_checkpoint(
        self,
        job_id: str,
    ) -> dict[str, Any]:
        """The checkpoint of a job: ``state``, ``sequence`` and ``created_at``. It can be read as long as the job.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("report.build")
        ...     _ = client.save_checkpoint(job.id, {"rows": 750})
        ...     client.get_checkpoint(job.id)["state"]
        {'rows': 750}
        """
        return await self._run(Call(
            "GET",
            ops.at("jobs", job_id, "checkpoint"),
            None,
            ops.whole,
        ))

    async def delete_checkpoint(
        self,
        job_id: str,
    ) -> None:
        """Deletes the checkpoint of a job, if it has one: its next attempt begins from the start.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("report.build")
        ...     _ = client.save_checkpoint(job.id, {"rows": 750})
        ...     client.delete_checkpoint(job.id)
        ...     try:
        ...         _ = client.get_checkpoint(job.id)
        ...     except openjobspec.JobNotFoundError:
        ...         print("it is gone")
        it is gone
        """
        return await self._run(Call(
            "DELETE",
            ops.at("jobs", job_id, "checkpoint"),
            None,
            ops.nothing,
        ))

    async def list_push_endpoints(self) -> list[dict[str, Any]]:
        """The endpoints that jobs are sent to, the oldest first, without their secrets.

        ``status`` is ``active``, ``failing``, ``open`` (sent nothing for a minute after five failures),
        ``probing``, ``waiting`` (it has asked for a pause), ``disabled`` (it answered 401, 403, 404 or 410) or
        ``paused``; ``last_failure`` says why.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://example.com/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     [one["endpoint"] for one in client.list_push_endpoints()]
        ['https://example.com/jobs']
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("push", "endpoints"), {"limit": 200, "pages": "all"}),
            None,
            ops.items("endpoints"),
        ))

    async def create_push_endpoint(
        self,
        endpoint: Mapping[str, Any],
        **settings: Any,
    ) -> dict[str, Any]:
        """Registers an endpoint: jobs of its types are sent to it as signed POST requests. Only this answer has the
        secret.

        A job is active under a lease before it is sent, and the answer settles it. The address must begin with
        https:// and be public, unless the server allows others.

        * ``endpoint``: Its members: ``endpoint`` (the URL, or ``sqs:`` and the URL of a queue of Amazon SQS) and
          ``job_types`` (``*`` stands for any characters); if wanted ``queues``, ``config`` (``max_concurrency``,
          ``timeout_ms``, ``signing_secret``, ``weight``, ``retry_429``), ``routing``, ``provider`` and ``active``.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises InvalidStateTransitionError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://example.com/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     endpoint["status"], endpoint["config"]["signing_secret"][:6]
        ('active', 'whsec_')
        """
        return await self._run(Call(
            "POST",
            ops.at("push", "endpoints"),
            {**(endpoint or {}), **settings},
            ops.member("push_endpoint"),
        ))

    async def get_push_endpoint(
        self,
        id: str,
    ) -> dict[str, Any]:
        """An endpoint, without its secret.

        * ``id``: The id of the endpoint, ``push_…``.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://example.com/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     client.get_push_endpoint(endpoint["id"])["job_types"]
        ['email.send']
        """
        return await self._run(Call(
            "GET",
            ops.at("push", "endpoints", id),
            None,
            ops.member("push_endpoint"),
        ))

    async def update_push_endpoint(
        self,
        id: str,
        changes: Mapping[str, Any],
        **settings: Any,
    ) -> dict[str, Any]:
        """Changes an endpoint; what is left out stays. One that failures have closed or disabled is sent jobs again.

        With ``active`` false it is sent nothing; its jobs stay available for workers that fetch.

        * ``id``: The id of the endpoint.
        * ``changes``: The members that change: ``endpoint``, ``job_types``, ``queues``, ``config``, ``routing``,
          ``provider``, ``active``.
        * ``settings``: The same settings by name: ``concurrency=20``.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://example.com/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     client.update_push_endpoint(endpoint["id"], {"active": False})["status"]
        'paused'
        """
        return await self._run(Call(
            "PATCH",
            ops.at("push", "endpoints", id),
            {**(changes or {}), **settings},
            ops.member("push_endpoint"),
        ))

    async def delete_push_endpoint(
        self,
        id: str,
    ) -> None:
        """Deletes an endpoint. Deliveries that are under way are settled; its other jobs stay available.

        * ``id``: The id of the endpoint.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://example.com/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     client.delete_push_endpoint(endpoint["id"])
        ...     client.list_push_endpoints()
        []
        """
        return await self._run(Call(
            "DELETE",
            ops.at("push", "endpoints", id),
            None,
            ops.nothing,
        ))

    async def test_push_endpoint(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Sends a job of the type ``push.test`` now, once, and explains the answer: ``success``, ``outcome``,
        ``explanation``, ``status_code``, ``response_time_ms``, ``response_body``.

        * ``id``: The id of the endpoint.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://functions.invalid/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     client.test_push_endpoint(endpoint["id"])["outcome"]
        'undelivered'
        """
        return await self._run(Call(
            "POST",
            ops.at("push", "endpoints", id, "test"),
            {},
            ops.whole,
        ))

    async def rotate_push_secret(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Gives an endpoint a new secret. For 24 hours requests are signed with both; only this answer has the new
        one.

        * ``id``: The id of the endpoint.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     wanted = {"endpoint": "https://example.com/jobs", "job_types": ["email.send"]}
        ...     endpoint = client.create_push_endpoint(wanted)
        ...     client.rotate_push_secret(endpoint["id"])["config"]["signing_secret"] != endpoint["config"]["signing_secret"]
        True
        """
        return await self._run(Call(
            "POST",
            ops.at("push", "endpoints", id, "rotate-secret"),
            {},
            ops.member("push_endpoint"),
        ))

    async def get_history(
        self,
        job_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> dict[str, Any]:
        """What happened to a job: its events, the oldest first, and its attempts with worker, wait, duration and
        error.

        It is read from the job and from the event log, so it is there for as long as the job. ``fingerprint`` of a
        failed attempt is the same for errors that differ only in numbers, ids and quoted text. The history of a job
        has at most the newest 50 failures.

        * ``job_id``: The job's id.
        * ``limit``: The most events in the answer, 1 to 1,000; 50 without it.
        * ``cursor``: The ``next_cursor`` of the page before.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send", "ada@example.com")
        ...     [event["event_type"] for event in client.get_history(job.id)["events"]]
        ['job.created', 'job.state_changed']
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("jobs", job_id, "history"), {"limit": limit, "cursor": cursor}),
            None,
            ops.whole,
        ))

    async def get_lineage(
        self,
        job_id: str,
    ) -> dict[str, Any]:
        """The workflow that a job is part of, with all its steps as a ``tree``; a job without a workflow is a tree of
        its own.

        ``root_id`` is the outermost workflow. ``parent_id`` and ``root_id`` of a job without a workflow are what
        its client has sent under these names. A tree has at most 1,000 nodes; ``truncated`` says that there are
        more.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     etl = client.workflow(openjobspec.chain("data.fetch", "data.load"))
        ...     [job] = client.list_jobs(job_type="data.fetch")
        ...     client.get_lineage(job.id)["root_id"] == etl.id
        True
        """
        return await self._run(Call(
            "GET",
            ops.at("jobs", job_id, "lineage"),
            None,
            ops.whole,
        ))

    async def delete_history(
        self,
        job_id: str,
    ) -> dict[str, Any]:
        """Deletes the history of a job: what happened up to now is not shown any more. The job stays as it is.

        The errors and the result of the job are parts of the job: they go when the job is deleted.

        * ``job_id``: The job's id.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     job = client.enqueue("email.send")
        ...     _ = client.delete_history(job.id)
        ...     client.get_history(job.id)["events"]
        []
        """
        return await self._run(Call(
            "DELETE",
            ops.at("jobs", job_id, "history"),
            None,
            ops.whole,
        ))

    async def history_stats(
        self,
        *,
        since: When | None = None,
        before: When | None = None,
        queues: str | None = None,
        group_by: Literal["minute", "hour", "day"] | None = None,
    ) -> list[dict[str, Any]]:
        """How many events happened in each minute, hour or day, with average and 95th percentile of the durations, the
        oldest first. Periods in which nothing happened are left out.

        Figures are kept for a day by minutes and for a month by hours. Durations come from classes, so they are off
        by 10 % at most. Figures are kept by queue, not by job type: ``job_types`` is answered with 501.

        * ``since``: From this time on; without it an hour, a day or a month back.
        * ``before``: Before this time.
        * ``queues``: Only events of jobs of these queues, with commas between them.
        * ``group_by``: The length of each period; ``hour`` without it. It is ``minute``, ``hour`` or ``day``.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue("email.send", queue="mail")
        ...     [bucket["events"]["job.created"] for bucket in client.history_stats(group_by="day", queues="mail")]
        [1]
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("history", "stats"), {"start": ops.time(since), "end": ops.time(before), "queues": queues, "group_by": group_by}),
            None,
            ops.items("buckets"),
        ))

    async def list_error_groups(
        self,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        error_type: str | None = None,
        tenant: str | None = None,
        since: When | None = None,
        sort: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> list[dict[str, Any]]:
        """Failed attempts put together by their fingerprint, which is the same for errors that differ only in ids,
        numbers and quoted text.

        A group has ``fingerprint``, ``error_type``, ``message`` (the last one), ``count``, ``first_seen_at``,
        ``last_seen_at``, ``queues``, ``types`` and ``job_ids``, the newest jobs of each queue and type, 50 at most.
        The server keeps the 2,000 groups of a queue and type that failed last, for 30 days after their last
        failure. Failures of the last five seconds before a crash may be missing.

        * ``queue``: Only failures of jobs of this queue.
        * ``job_type``: Only this job type; ``email.*`` is all types that start with ``email.``.
        * ``error_type``: Only errors of this type.
        * ``tenant``: Only failures of jobs of this tenant.
        * ``since``: Only groups with a failure at this time or later.
        * ``sort``: What comes first: ``last_seen_at`` (the default), ``first_seen_at`` or ``count``, the latest or
          the largest.
        * ``page``: The page, from 1.
        * ``per_page``: The most groups on the page, 1 to 100; 20 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     [(group["error_type"], group["count"]) for group in client.list_error_groups()]
        [('ZeroDivisionError', 1)]
        """
        ops.from_one(page=page, per_page=per_page)
        return await self._run(Call(
            "GET",
            ops.query(ops.at("admin", "errors"), {"queue": queue, "type": job_type, "error_type": error_type, "tenant": tenant, "since": ops.time(since), "sort": sort, "page": page, "per_page": per_page}),
            None,
            ops.items("items"),
        ))

    async def get_error_group(
        self,
        fingerprint: str,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        tenant: str | None = None,
    ) -> dict[str, Any]:
        """One group of errors, with its ``places`` (the failures by queue and type) and those of its ``jobs`` that
        there still are.

        * ``fingerprint``: The fingerprint, as the history of a job has it.
        * ``queue``: Only failures of jobs of this queue.
        * ``job_type``: Only this job type.
        * ``tenant``: Only failures of jobs of this tenant.

        Raises JobNotFoundError, InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     worker = openjobspec.Worker(client)
        ...     _ = worker.register("email.send", lambda ctx: 1 / 0)
        ...     job = client.enqueue("email.send", retry={"max_attempts": 1, "on_exhaustion": "dead_letter"})
        ...     with worker:
        ...         _ = client.wait_for_result(job.id)
        ...     group = client.list_error_groups()[0]
        ...     client.get_error_group(group["fingerprint"])["jobs"][0]["id"] == job.id
        True
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("admin", "errors", fingerprint), {"queue": queue, "type": job_type, "tenant": tenant}),
            None,
            ops.whole,
        ))

    async def start_bulk_operation(
        self,
        action: str,
        filter: Mapping[str, Any],
        *,
        reason: str | None = None,
        dry_run: bool | None = None,
    ) -> dict[str, Any]:
        """Begins to retry, cancel or delete all jobs that a filter finds, and answers at once with the operation.

        The server carries it out in slices of 500 jobs, each in a transaction of its own that also keeps the place
        which the operation has reached: after a crash it goes on there, on any node. Jobs that were enqueued or
        have ended since the request are not meant. Those that cannot be changed are counted by reason. With
        ``dry_run`` nothing is changed: the answer has ``matched``, the number of jobs (``relation`` is ``eq``,
        ``about`` or ``gte``; at most 50,000 rows are looked at), the numbers by state, queue and type, and a
        ``sample``. To delete needs the permission to administer. At most 100 operations of a tenant, and 100 of
        operators, may be under way.

        * ``action``: ``retry``, ``cancel`` or ``delete``.
        * ``filter``: Which jobs: ``queue``, ``type``, ``state`` (one or a list), ``since``, ``until``,
          ``priority``, ``meta``, ``error_type`` (of the latest error), ``dead_letters`` (true: only dead letters)
          and ``q`` (a search, as lists of jobs have it). An empty one means all that the action can reach.
        * ``reason``: Why, at most 500 characters; it is kept with the operation.
        * ``dry_run``: Say what would be found, and change nothing.

        Raises InvalidStateTransitionError, InvalidRequestError, AuthenticationError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue_batch([("email.send", [n]) for n in range(3)])
        ...     found = client.start_bulk_operation("cancel", {"queue": "default"}, dry_run=True)
        ...     operation = client.start_bulk_operation("cancel", {"queue": "default"})
        ...     operation = client.get_bulk_operation(operation["id"], wait_ms=60000)
        >>> found["matched"], operation["state"], operation["counts"]["changed"]
        (3, 'completed', 3)
        """
        return await self._run(Call(
            "POST",
            ops.at("admin", "bulk"),
            ops.given({"action": action, "filter": filter, "reason": reason, "dry_run": dry_run, "confirm": True}),
            ops.whole,
            # Sent once: a refusal with 408 is an answer here.
            wait=0.0,
        ))

    async def list_bulk_operations(
        self,
        *,
        state: str | None = None,
        cursor: str | None = None,
        per_page: int | None = None,
    ) -> list[dict[str, Any]]:
        """Bulk operations, the newest first. They are kept for 30 days after their end, and the last 1,000 of them.

        * ``state``: Only those in this state: ``running``, ``paused``, ``completed``, ``cancelled`` or ``failed``.
        * ``cursor``: Only those before this one: the id of the last one on the page before.
        * ``per_page``: The most on the page, 1 to 100; 20 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue_batch([("email.send", [n]) for n in range(3)])
        ...     started = client.start_bulk_operation("cancel", {"queue": "default"})
        ...     _ = client.get_bulk_operation(started["id"], wait_ms=60000)
        ...     [(one["action"], one["state"]) for one in client.list_bulk_operations()]
        [('cancel', 'completed')]
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("admin", "bulk"), {"state": state, "cursor": cursor, "per_page": per_page}),
            None,
            ops.items("items"),
        ))

    async def get_bulk_operation(
        self,
        operation_id: str,
        *,
        wait_ms: int | None = None,
    ) -> dict[str, Any]:
        """A bulk operation: its state, how far it is, how many jobs were changed, and how many were refused and why.

        ``counts`` has ``seen``, ``changed`` and ``refused``; ``refusals`` has ``count``, the first ``job_id`` and
        its ``message`` for each ``reason``; ``progress`` has the number of jobs that is ``expected`` and the
        ``fraction`` that is done, where it can be said.

        * ``operation_id``: The id of the operation.
        * ``wait_ms``: Answer as soon as it does not run any more, at the latest after so many milliseconds: 60,000
          at most.

        Raises JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     _ = client.enqueue_batch([("email.send", [n]) for n in range(3)])
        ...     started = client.start_bulk_operation("cancel", {"queue": "default"})
        ...     client.get_bulk_operation(started["id"], wait_ms=60000)["counts"]["changed"]
        3
        """
        return await self._run(Call(
            "GET",
            ops.query(ops.at("admin", "bulk", operation_id), {"wait_ms": wait_ms}),
            None,
            ops.whole,
        ))

    async def pause_bulk_operation(
        self,
        operation_id: str,
    ) -> dict[str, Any]:
        """Stops a bulk operation until it is resumed. The slice that is under way is finished.

        * ``operation_id``: The id of the operation.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     started = client.start_bulk_operation("cancel", {"queue": "default"})
        ...     _ = client.get_bulk_operation(started["id"], wait_ms=60000)
        ...     try:
        ...         _ = client.pause_bulk_operation(started["id"])
        ...     except openjobspec.InvalidStateTransitionError as error:
        ...         print(error.details["state"])
        completed
        """
        return await self._run(Call(
            "POST",
            ops.at("admin", "bulk", operation_id, "pause"),
            {},
            ops.whole,
        ))

    async def resume_bulk_operation(
        self,
        operation_id: str,
    ) -> dict[str, Any]:
        """Goes on with a bulk operation that was paused, or that has failed, where it stopped.

        * ``operation_id``: The id of the operation.

        Raises InvalidStateTransitionError, JobNotFoundError, AuthenticationError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     started = client.start_bulk_operation("cancel", {"queue": "default"})
        ...     _ = client.get_bulk_operation(started["id"], wait_ms=60000)
        ...     try:
        ...         _ = client.resume_bulk_operation(started["id"])
        ...     except openjobspec.InvalidStateTransitionError as error:
        ...         print(error.details["state"])
        completed
        """
        return await self._run(Call(
            "POST",
            ops.at("admin", "bulk", operation_id, "resume"),
            {},
            ops.whole,
        ))

    async def cancel_bulk_operation(
        self,
        operation_id: str,
    ) -> dict[str, Any]:
        """Ends a bulk operation for good. Jobs that it has changed stay changed.

        * ``operation_id``: The id of the operation.

        Raises InvalidStateTransitionError, JobNotFoundError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     started = client.start_bulk_operation("cancel", {"queue": "default"})
        ...     _ = client.get_bulk_operation(started["id"], wait_ms=60000)
        ...     try:
        ...         _ = client.cancel_bulk_operation(started["id"])
        ...     except openjobspec.InvalidStateTransitionError as error:
        ...         print(error.details["state"])
        completed
        """
        return await self._run(Call(
            "POST",
            ops.at("admin", "bulk", operation_id, "cancel"),
            {},
            ops.whole,
        ))

    async def list_relays(
        self,
        *,
        state: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> list[dict[str, Any]]:
        """The relays that send rows of outboxes to this server, with what each of them said last.

        An item has ``id``, ``name``, ``tenant_id``, ``database`` (its kind), ``outbox`` (the table), ``state``
        (``running``; ``stuck`` while a row has waited for more than a minute; ``silent`` after 20 seconds without a
        heartbeat), ``leading`` (whether it is the one that sends), ``waiting`` (rows, with ``waiting_relation``:
        ``gte`` when there are more than were counted), ``oldest_waiting_ms``, ``parked`` (rows that the server has
        refused for good), ``sent`` since its start, ``sent_per_minute``, ``error`` (what holds it up),
        ``first_heartbeat_at`` and ``last_heartbeat_at``. ``summary`` counts the relays by state. A relay that stops
        is forgotten at once, a silent one after 15 minutes. At most 200 of a tenant are kept, and 1,000 in all.

        * ``state``: Only relays in this state: ``running``, ``stuck`` or ``silent``.
        * ``page``: The page, from 1.
        * ``per_page``: The most relays on the page, 1 to 100; 20 without it.

        Raises InvalidRequestError.

        >>> import openjobspec
        >>> with openjobspec.Client("memory:") as client:
        ...     client.list_relays(state="stuck")
        []
        """
        ops.from_one(page=page, per_page=per_page)
        return await self._run(Call(
            "GET",
            ops.query(ops.at("admin", "relays"), {"state": state, "page": page, "per_page": per_page}),
            None,
            ops.items("items"),
        ))

