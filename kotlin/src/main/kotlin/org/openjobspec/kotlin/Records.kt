// Made from xtask/records.toml by make gen; do not edit.
package org.openjobspec.kotlin

import java.time.Instant

/**
 * Something that a server describes. [members] are all that it said, by their names on the wire: those that this package does not know
 * are there, too.
 */
public sealed class Record(
    /** What the server said. Objects are maps, lists are lists, whole numbers are `Long` where they fit. */
    public val members: Map<String, Any?>,
) {
    /** One member by its name on the wire. */
    public operator fun get(name: String): Any? = members[name]

    override fun equals(other: Any?): Boolean = other is Record && other::class == this::class && other.members == members

    override fun hashCode(): Int = members.hashCode()
}

/** A job as the server describes it. */
public class Job internal constructor(members: Map<String, Any?>) : Record(members) {
    /** A UUIDv7, the same in every attempt and redelivery. */
    public val id: String get() = members.text("id") ?: ""

    /** The job type, with dots between its parts. */
    public val type: String get() = members.text("type") ?: ""

    /** The queue that the job is in. */
    public val queue: String get() = members.text("queue") ?: "default"

    /** Where the job is in its life; null in a job that no server has seen. */
    public val state: String? get() = members.text("state")

    /** The arguments. */
    public val args: List<Any?> get() = members.items("args")

    /** What travels with the job besides its arguments. */
    public val meta: Map<String, Any?> get() = members.inner("meta").orEmpty()

    /** Higher runs earlier. */
    public val priority: Int get() = members.number("priority") ?: 0

    /** The number of the attempt, 1 during the first run. */
    public val attempt: Int get() = members.number("attempt") ?: 0

    /** How many attempts there may be; null when the server did not say. */
    public val maxAttempts: Int? get() = members.number("max_attempts")

    /** Words to find the job by. */
    public val tags: List<String> get() = members.items("tags").map(::textOf)

    /** What the handler returned; null when there is no result. */
    public val result: Any? get() = members["result"]

    /** The latest failure; null when no attempt has failed. */
    public val error: Map<String, Any?>? get() = members.inner("error")

    /** All failures, the oldest first. */
    public val errors: List<Map<String, Any?>> get() = members.items("errors").map(::membersOf)

    /** The results of the steps before this one, in a workflow. */
    public val parentResults: List<Any?> get() = members.items("parent_results")

    /** The workflow that the job belongs to; null when it belongs to none. */
    public val workflowId: String? get() = members.text("workflow_id")

    /** The job's place in its train; null when it runs in none. */
    public val train: JobTrain? get() = members.inner("train")?.let(::JobTrain)

    /** When the job was created. */
    public val createdAt: Instant? get() = members.time("created_at")

    /** When the job was enqueued. */
    public val enqueuedAt: Instant? get() = members.time("enqueued_at")

    /** When the job may run; null when it need not wait. */
    public val scheduledAt: Instant? get() = members.time("scheduled_at")

    /** When the latest attempt began. */
    public val startedAt: Instant? get() = members.time("started_at")

    /** When the job was completed; null when it was not. */
    public val completedAt: Instant? get() = members.time("completed_at")

    /** When the job is thrown away unless it has started. */
    public val expiresAt: Instant? get() = members.time("expires_at")

    /** The most that one run may take, in milliseconds. */
    public val timeoutMs: Int? get() = members.number("timeout_ms")

    /** Never the arguments: they may be secret, and logs are not. */
    override fun toString(): String = "Job(id=$id, type=$type, queue=$queue, state=$state)"
}

/** Where a job stands in its train. The server decides all of it. */
public class JobTrain internal constructor(members: Map<String, Any?>) : Record(members) {
    /** The train's id. */
    public val id: String get() = members.text("id") ?: ""

    /** The job's number in the train, from 1, in the order in which jobs joined it. */
    public val position: Int get() = members.number("position") ?: 0

    /** `locomotive`: the one job of the train that may run; `car`: it waits; `left`: its turn is over. */
    public val role: String get() = members.text("role") ?: ""

    /** How many jobs of the train run before it. */
    public val ahead: Int get() = members.number("ahead") ?: 0

    /** The state of the train: `running`, `draining` (a cancelled job still runs) or `held`. */
    public val state: String get() = members.text("state") ?: ""

    /** A number that grows with every delivery of a job of this train. A resource that remembers the largest
     * one can refuse what the handler of an earlier delivery still sends: a fencing token. Only the locomotive
     * has it. */
    public val epoch: Long get() = members.whole("epoch") ?: 0

    override fun toString(): String = "JobTrain(id=$id, position=$position, role=$role, ahead=$ahead, state=$state)"
}

/** How a job ended, and what its handler returned. */
public class JobResult internal constructor(members: Map<String, Any?>) : Record(members) {
    /** The job's id. */
    public val jobId: String get() = members.text("job_id") ?: ""

    /** Completed, discarded or cancelled. */
    public val state: String get() = members.text("state") ?: ""

    /** Whether the job was completed. */
    public val ok: Boolean get() = members["state"] == "completed"

    /** What the handler returned; null when it returned nothing, or when its result is not kept. */
    public val result: Any? get() = members["result"]

    /** The failure that ended the job; null when none did. */
    public val error: Map<String, Any?>? get() = members.inner("error")

    /** How many attempts were begun. */
    public val attempt: Int get() = members.number("attempt") ?: 0

    /** When the result was stored. */
    public val storedAt: Instant? get() = members.time("result_stored_at")

    /** When the result is removed; null when it is kept. */
    public val expiresAt: Instant? get() = members.time("result_expires_at")

    override fun toString(): String = "JobResult(jobId=$jobId, state=$state)"
}

/** A workflow as the server describes it. */
public class WorkflowStatus internal constructor(members: Map<String, Any?>) : Record(members) {
    /** The workflow's id. */
    public val id: String get() = members.text("id") ?: ""

    /** The name that it was given; null without one. */
    public val name: String? get() = members.text("name")

    /** `chain`, `group`, `batch` or `graph`. */
    public val type: String get() = members.text("type") ?: ""

    /** The state, in the server's word. */
    public val state: String get() = members.text("state") ?: ""

    /** The steps or jobs of the workflow. */
    public val steps: List<Map<String, Any?>> get() = (members["steps"] ?: members["jobs"]).let(::itemsOf).map(::membersOf)

    override fun toString(): String = "WorkflowStatus(id=$id, type=$type, state=$state)"
}

/** An event: a change of a job, queue, workflow or worker. */
public class Event internal constructor(members: Map<String, Any?>) : Record(members) {
    /** The id of the event, for reading on from it. */
    public val id: String get() = members.text("id") ?: ""

    /** What happened, such as `job.completed`. */
    public val type: String get() = members.text("type") ?: ""

    /** When it happened, in RFC 3339. */
    public val time: Instant? get() = members.time("time")

    /** The id of the job or workflow, or the name of the queue or worker. */
    public val subject: String get() = members.text("subject") ?: ""

    /** Everything else, by type of event. */
    public val data: Map<String, Any?> get() = members.inner("data").orEmpty()

    override fun toString(): String = "Event(type=$type, subject=$subject, time=$time)"
}

/** One page of a list of jobs. */
public class JobPage internal constructor(members: Map<String, Any?>) : Record(members) {
    /** The jobs of this page. */
    public val jobs: List<Job> get() = members.items("jobs").map { Job(membersOf(it)) }

    /** How many jobs the filter finds, on all pages. */
    public val total: Int get() = members.number("total") ?: 0

    /** The number of this page. The first page is 1. */
    public val page: Int get() = members.number("page") ?: 0

    /** The most jobs on one page. */
    public val perPage: Int get() = members.number("per_page") ?: 0

    /** Whether there is a page after this one. */
    public val hasMore: Boolean get() = members["has_more"] == true

    override fun toString(): String = "JobPage(page=$page, jobs=${jobs.size}, total=$total)"
}

/** What happened to one job of a bulk enqueue. */
public class BulkItem internal constructor(members: Map<String, Any?>) : Record(members) {
    /** The place of the job in the request, from 0. */
    public val index: Int get() = members.number("index") ?: 0

    /** `created`; `duplicate`, with the job that existed before; or `failed`. */
    public val status: String get() = members.text("status") ?: ""

    /** The job; null when it was refused. */
    public val job: Job? get() = members.inner("job")?.let(::Job)

    /** Why the job was refused; null when it was not. */
    public val error: OjsException? get() = members.refusal("error")

    /** Whether the server has the job. */
    public val ok: Boolean get() = members["error"] == null

    override fun toString(): String = "BulkItem(status=$status)"
}

/** What happened to one job of a bulk cancel, retry or delete. */
public class BulkChange internal constructor(members: Map<String, Any?>) : Record(members) {
    /** The job's id. */
    public val jobId: String get() = members.text("job_id") ?: ""

    /** `cancelled`, `retried`, `deleted` or `skipped`. */
    public val status: String get() = members.text("status") ?: ""

    /** Why the job was skipped; null when it was not. */
    public val error: OjsException? get() = members.refusal("error")

    override fun toString(): String = "BulkChange(status=$status)"
}

/** What a bulk cancel, retry or delete did. */
public class BulkResult internal constructor(members: Map<String, Any?>) : Record(members) {
    /** How many jobs were named or found. */
    public val matched: Int get() = members.number("total_matched") ?: 0

    /** How many jobs were left as they are; their items say why. */
    public val skipped: Int get() = members.number("skipped") ?: 0

    /** One for each job, in the order of the ids; of a filter the first 1,000. */
    public val items: List<BulkChange> get() = members.items("items").map { BulkChange(membersOf(it)) }

    /** How many jobs were changed. */
    public val succeeded: Int get() = matched - skipped

    override fun toString(): String = "BulkResult(matched=$matched, skipped=$skipped)"
}
