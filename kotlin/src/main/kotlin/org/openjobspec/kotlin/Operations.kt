// Made from xtask/operations by make gen; do not edit.
package org.openjobspec.kotlin

import java.time.Instant
import kotlin.time.Duration

/** The methods of a client that are one request each. What they send is in xtask/operations. */
public abstract class Operations internal constructor() : Requests() {
    /**
     * The job with this id.
     *
     * ```
     * client.getJob(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException NotFound
     */
    public suspend fun getJob(jobId: String): Job =
        run("GET", at("jobs", jobId), null, Reply.job)

    /**
     * Why a job is not running: a `summary`, and `reasons` in the order in which they have to end. Each reason has `code` and
     * `message`, and where they are known `since`, `until`, `link` (a path of the API that shows what holds the job),
     * `command` (one of the tool `ojs` that helps) and `details`. A job that runs, has ended, or is handed out by the next
     * fetch has no reasons. The answer reads a bounded number of rows, however many jobs there are.
     *
     * ```
     * client.explainJob(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException NotFound
     */
    public suspend fun explainJob(jobId: String): Map<String, Any?> =
        run("GET", at("jobs", jobId, "explain"), null, Reply.whole)

    /**
     * One page of the jobs that the filter finds, the newest first unless the list is sorted otherwise. There is another page
     * while the page says that it has more. Jobs that come and go between two pages move the others, but not after a `cursor`,
     * which is the `next_cursor` of the page before. With a cursor, or with `count=false`, a page looks at 5,000 rows at most
     * and has no total: it may be short, or empty, say `complete: false`, and have a `next_cursor` all the same. Pages with
     * numbers look at a million rows at most, count what is in the first 20,000, and begin at most 10,000 jobs behind the
     * first. With `q`, a page compares 1,000 jobs at most and always goes on by cursors; the guide of the dashboard has the
     * words of the language.
     *
     * ```
     * client.listJobs(queue = "mail", jobType = "email.*", state = "available", page = 2, perPage = 50)
     * ```
     *
     * @param queue only jobs of this queue
     * @param jobType only this job type; `email.*` is all types that start with `email.`
     * @param state only jobs in this state
     * @param since only jobs created at this time or later
     * @param until only jobs created before this time
     * @param sort what the list is sorted by; `created_at` without it; one of created_at, scheduled_at, priority
     * @param order the direction of the sort; `desc` without it: the newest or the highest priority first; one of asc, desc
     * @param page the number of the page. The first page is 1
     * @param perPage the most jobs on one page, 1 to 100
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun listJobs(queue: String? = null, jobType: String? = null, state: String? = null, since: Instant? = null, until: Instant? = null, sort: String? = null, order: String? = null, page: Int = 1, perPage: Int = 100): JobPage =
        run("GET", query(at("admin", "jobs"), given("queue" to queue, "type" to jobType, "state" to state, "since" to since?.toString(), "until" to until?.toString(), "sort" to sort, "order" to order, "page" to page, "per_page" to perPage)), null, Reply.jobPage)

    /**
     * Cancels the job. A worker that runs it is told to stop.
     *
     * ```
     * client.cancelJob(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException InvalidStateTransition, NotFound
     */
    public suspend fun cancelJob(jobId: String): Job =
        run("DELETE", at("jobs", jobId), null, Reply.job)

    /**
     * Changes the priority of a job that waits.
     *
     * ```
     * client.setPriority(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", priority = 5)
     * ```
     *
     * @param jobId the job's id
     * @param priority the new priority. Higher runs earlier
     * @throws OjsException InvalidStateTransition, NotFound, InvalidRequest
     */
    public suspend fun setPriority(jobId: String, priority: Int): Job =
        run("PATCH", at("jobs", jobId), given("priority" to priority), Reply.job)

    /**
     * Makes a job available that was enqueued as pending.
     *
     * ```
     * client.activateJob(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException InvalidStateTransition, NotFound
     */
    public suspend fun activateJob(jobId: String): Job =
        run("POST", at("jobs", jobId, "activate"), emptyMap<String, Any?>(), Reply.job)

    /**
     * Runs a discarded job again, with all its attempts. A cancelled job stays cancelled.
     *
     * ```
     * client.retryJob(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException InvalidStateTransition, NotFound
     */
    public suspend fun retryJob(jobId: String): Job =
        run("POST", at("admin", "jobs", jobId, "retry"), emptyMap<String, Any?>(), Reply.bareJob)

    /**
     * How the job ended, and what its handler returned. The request is refused with status 408 while the job has not ended,
     * and with 410 when its result is no longer kept.
     *
     * ```
     * client.result(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException Api, NotFound, InvalidRequest
     */
    public suspend fun result(jobId: String): JobResult =
        run("GET", at("jobs", jobId, "result"), null, Reply.result, wait = Duration.ZERO)

    /**
     * How up to 1,000 jobs ended, in the order of the ids. Nothing stands for a job that is unknown, that has not ended, or
     * whose result is no longer kept.
     *
     * ```
     * client.results(jobIds = listOf("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e10"))
     * ```
     *
     * @param jobIds the ids of the jobs
     * @throws OjsException PayloadTooLarge, InvalidRequest
     */
    public suspend fun results(jobIds: List<String>): List<JobResult?> =
        run("POST", at("jobs", "results"), given("ids" to jobIds), Reply.results)

    /**
     * The state of the workflow and of its steps.
     *
     * ```
     * client.getWorkflow(workflowId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param workflowId the workflow's id
     * @throws OjsException NotFound
     */
    public suspend fun getWorkflow(workflowId: String): WorkflowStatus =
        run("GET", at("workflows", workflowId), null, Reply.workflow)

    /**
     * Cancels the jobs of the workflow that have not begun. Jobs that run may finish.
     *
     * ```
     * client.cancelWorkflow(workflowId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param workflowId the workflow's id
     * @throws OjsException InvalidStateTransition, NotFound
     */
    public suspend fun cancelWorkflow(workflowId: String): WorkflowStatus =
        run("DELETE", at("workflows", workflowId), null, Reply.workflow)

    /**
     * Workflows without their steps, the newest first. A workflow inside another one is a step of it, and not listed.
     *
     * ```
     * client.listWorkflows(state = "running", perPage = 50)
     * ```
     *
     * @param state only workflows in this state; one of pending, running, completed, failed, cancelled
     * @param page the number of the page. The first page is 1
     * @param perPage the most workflows on one page, 1 to 100; 20 without it
     * @throws OjsException InvalidRequest
     */
    public suspend fun listWorkflows(state: String? = null, page: Int? = null, perPage: Int? = null): List<Map<String, Any?>> =
        run("GET", query(at("admin", "workflows"), given("state" to state, "page" to page, "per_page" to perPage)), null, Reply.list("items"))

    /**
     * Whether the server works, with its version, its store and how long it has run.
     *
     * ```
     * client.health()
     * ```
     * @throws OjsException Api
     */
    public suspend fun health(): Map<String, Any?> =
        run("GET", at("health"), null, Reply.whole)

    /**
     * What the server is, and what it can do.
     *
     * ```
     * client.manifest()
     * ```
     */
    public suspend fun manifest(): Map<String, Any?> =
        run("GET", "/ojs/manifest", null, Reply.whole)

    /**
     * Jobs by state, throughput, latency and workers of the whole server.
     *
     * ```
     * client.serverStats()
     * ```
     */
    public suspend fun serverStats(): Map<String, Any?> =
        run("GET", at("admin", "stats"), null, Reply.whole)

    /**
     * Throughput and latency over time, oldest first. Periods in which nothing ran are left out.
     *
     * ```
     * client.statsHistory(period = "1h", queue = "mail", since = Instant.parse("2031-01-01T00:00:00Z"))
     * ```
     *
     * @param period the length of each period; `1m` without it; one of 1m, 5m, 1h, 1d
     * @param queue only this queue
     * @param since from this time on
     * @param until up to this time
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun statsHistory(period: String? = null, queue: String? = null, since: Instant? = null, until: Instant? = null): List<Map<String, Any?>> =
        run("GET", query(at("admin", "stats", "history"), given("period" to period, "queue" to queue, "since" to since?.toString(), "until" to until?.toString())), null, Reply.list("items"))

    /**
     * What happened to the jobs of each type over a length of time: how many, how long they ran and waited. An item has
     * `type`, `enqueued`, `processed`, `failed`, `discarded`, `busy_ms` (the time that completed attempts have taken),
     * `latency_ms` and `wait_ms` with `p50`, `p95` and `p99`. In a minute and in an hour 200 types are told apart; the others
     * are the type `_other`. Figures are kept by minutes for two hours and by hours for 30 days, so an earlier `since` counts
     * from the beginning of its hour.
     *
     * ```
     * client.typeStats(since = Instant.parse("2031-01-01T00:00:00Z"), sort = "failed", limit = 20)
     * ```
     *
     * @param since from this time on; an hour ago without it
     * @param until up to this time, at most 7 days later; now without it
     * @param sort what comes first, the largest: `processed` (the default), `enqueued`, `failed`, `discarded`, `busy`,
     *   `latency` or `wait`
     * @param limit the most types in the answer, 1 to 200; 50 without it
     * @throws OjsException InvalidRequest
     */
    public suspend fun typeStats(since: Instant? = null, until: Instant? = null, sort: String? = null, limit: Int? = null): List<Map<String, Any?>> =
        run("GET", query(at("admin", "stats", "types"), given("since" to since?.toString(), "until" to until?.toString(), "sort" to sort, "limit" to limit)), null, Reply.list("items"))

    /**
     * Whether the server is in maintenance, since when and why.
     *
     * ```
     * client.maintenance()
     * ```
     */
    public suspend fun maintenance(): Map<String, Any?> =
        run("GET", at("admin", "system", "maintenance"), null, Reply.whole)

    /**
     * Begins or ends maintenance. During it jobs are accepted, and none is handed out.
     *
     * ```
     * client.setMaintenance(enabled = true, reason = "moving the database", estimatedDuration = Duration.parseIsoString("PT30M"))
     * ```
     *
     * @param enabled whether the server is in maintenance
     * @param reason why, for those who ask
     * @param estimatedDuration how long it will take, such as `PT30M`
     * @throws OjsException InvalidRequest
     */
    public suspend fun setMaintenance(enabled: Boolean, reason: String? = null, estimatedDuration: Duration? = null): Map<String, Any?> =
        run("POST", at("admin", "system", "maintenance"), given("enabled" to enabled, "reason" to reason, "estimated_duration" to estimatedDuration?.let(::durationText)), Reply.whole)

    /**
     * Compares the rows of the server's store with each other and changes nothing: counts with jobs, jobs with their bodies,
     * workflows with their steps, and so on. `sound` is true when nothing contradicts anything. `findings` has the first 1,000
     * contradictions, each with the check, the row, what was compared, and both values; `total` counts them all. The time
     * grows with the number of jobs. It takes one of the two connections for lists and searches; everything else goes on, but
     * for a store in memory, where all wait.
     *
     * ```
     * client.audit()
     * ```
     */
    public suspend fun audit(): Map<String, Any?> =
        run("GET", at("admin", "system", "audit"), null, Reply.whole)

    /**
     * The settings that the server runs with. There are no secrets among them.
     *
     * ```
     * client.serverConfig()
     * ```
     */
    public suspend fun serverConfig(): Map<String, Any?> =
        run("GET", at("admin", "system", "config"), null, Reply.whole)

    /**
     * The registered schemas of all job types, without their texts, in order of job type and version.
     *
     * ```
     * client.listSchemas()
     * ```
     */
    public suspend fun listSchemas(): List<Map<String, Any?>> =
        run("GET", query(at("schemas"), given("limit" to 200, "pages" to "all")), null, Reply.list("schemas"))

    /**
     * Registers the JSON Schema of the arguments of a job type. A registered version never changes. With `mode` `strict` jobs
     * that do not match are refused, with `warn`, the default, they are accepted with warnings, with `off` they are not
     * compared. Within a major version, a schema that refuses what the version before accepted is refused itself.
     *
     * ```
     * client.registerSchema(jobType = "email.send", version = "1.0.0", schema = mapOf("items" to mapOf("type" to "string"), "minItems" to 1), mode = "strict")
     * ```
     *
     * @param jobType the job type
     * @param version the version: `2`, `2.1` or `2.1.0`
     * @param schema a JSON Schema, draft 2020-12, for the array of arguments
     * @param mode what happens to jobs that do not match; one of strict, warn, off
     * @throws OjsException InvalidStateTransition, InvalidRequest
     */
    public suspend fun registerSchema(jobType: String, version: String, schema: Map<String, Any?>, mode: String? = null): Map<String, Any?> =
        run("POST", at("schemas"), given("job_type" to jobType, "version" to version, "schema" to schema, "mode" to mode), Reply.member("schema"))

    /**
     * The schema of the highest version of a job type.
     *
     * ```
     * client.getSchema(jobType = "email.send")
     * ```
     *
     * @param jobType the job type, or the URI of a schema
     * @throws OjsException NotFound
     */
    public suspend fun getSchema(jobType: String): Map<String, Any?> =
        run("GET", at("schemas", jobType), null, Reply.member("schema"))

    /**
     * The schema of a version of a job type.
     *
     * ```
     * client.getSchemaVersion(jobType = "email.send", version = "1.0.0")
     * ```
     *
     * @param jobType the job type
     * @param version the version
     * @throws OjsException NotFound
     */
    public suspend fun getSchemaVersion(jobType: String, version: String): Map<String, Any?> =
        run("GET", at("schemas", jobType, version), null, Reply.member("schema"))

    /**
     * The versions of a job type, highest first.
     *
     * ```
     * client.listSchemaVersions(jobType = "email.send")
     * ```
     *
     * @param jobType the job type
     * @throws OjsException NotFound
     */
    public suspend fun listSchemaVersions(jobType: String): List<Map<String, Any?>> =
        run("GET", at("schemas", jobType, "versions"), null, Reply.list("versions"))

    /**
     * Changes what happens to jobs that do not match a version. Jobs that are stored are not looked at again.
     *
     * ```
     * client.setSchemaMode(jobType = "email.send", version = "1.0.0", mode = "strict")
     * ```
     *
     * @param jobType the job type
     * @param version the version
     * @param mode `strict`, `warn` or `off`; one of strict, warn, off
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun setSchemaMode(jobType: String, version: String, mode: String): Map<String, Any?> =
        run("PATCH", at("schemas", jobType, version), given("mode" to mode), Reply.member("schema"))

    /**
     * Deletes a version. Jobs that were stored under it stay.
     *
     * ```
     * client.deleteSchema(jobType = "email.send", version = "1.0.0")
     * ```
     *
     * @param jobType the job type
     * @param version the version
     * @throws OjsException NotFound
     */
    public suspend fun deleteSchema(jobType: String, version: String): Unit =
        run("DELETE", at("schemas", jobType, version), null, Reply.nothing)

    /**
     * The subscriptions, the oldest first, without their secrets. `dropped` says how many events became no delivery because
     * too many deliveries waited for the subscription; `dropped_since` when the first of them happened, or null.
     *
     * ```
     * client.listWebhooks()
     * ```
     */
    public suspend fun listWebhooks(): List<Map<String, Any?>> =
        run("GET", query(at("webhooks", "subscriptions"), given("limit" to 200, "pages" to "all")), null, Reply.list("subscriptions"))

    /**
     * Creates a subscription: events are sent to `url` as signed POST requests. Only this answer has the secret. Events that
     * happen from then on become deliveries, which are sent until the endpoint answers with 2xx: eight attempts within 41
     * hours. `filter` is an object with `queues` and `job_types`. The URL must begin with https:// and lead to a public
     * address, unless the server allows others.
     *
     * ```
     * client.createWebhook(subscription = mapOf("events" to listOf("job.completed", "job.failed"), "secret" to "whsec_test_secret", "url" to "https://example.com/hooks/ojs"))
     * ```
     *
     * @param subscription its members: `url` and `events` (such as `job.completed`, `job.*` or `*`); if wanted `secret` (8 to
     *   255 characters; without it the server makes one), `filter`, `metadata` (an object of at most 4096 bytes), `active` and
     *   `format` (`ojs`, `cloudevents` or `cloudevents-binary`)
     * @throws OjsException InvalidStateTransition, InvalidRequest
     */
    public suspend fun createWebhook(subscription: Map<String, Any?>): Map<String, Any?> =
        run("POST", at("webhooks", "subscriptions"), subscription, Reply.member("subscription"))

    /**
     * A subscription, without its secret. `dropped` says how many events became no delivery because too many deliveries waited
     * for it; `dropped_since` when the first of them happened, or null.
     *
     * ```
     * client.getWebhook(id = "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param id the id of the subscription, `sub_…`
     * @throws OjsException NotFound
     */
    public suspend fun getWebhook(id: String): Map<String, Any?> =
        run("GET", at("webhooks", "subscriptions", id), null, Reply.member("subscription"))

    /**
     * Changes a subscription; what is left out stays. Deliveries that wait go to the new URL. A subscription that is not
     * active gets no new deliveries, and those that wait are not sent until it is active again.
     *
     * ```
     * client.updateWebhook(id = "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", changes = mapOf("events" to listOf("job.*")))
     * ```
     *
     * @param id the id of the subscription
     * @param changes the members that change: `url`, `events`, `active`, `filter`, `metadata`, `format`
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun updateWebhook(id: String, changes: Map<String, Any?>): Map<String, Any?> =
        run("PATCH", at("webhooks", "subscriptions", id), changes, Reply.member("subscription"))

    /**
     * Deletes a subscription and its deliveries: nothing more is sent to it.
     *
     * ```
     * client.deleteWebhook(id = "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param id the id of the subscription
     * @throws OjsException NotFound
     */
    public suspend fun deleteWebhook(id: String): Unit =
        run("DELETE", at("webhooks", "subscriptions", id), null, Reply.nothing)

    /**
     * Sends an event `webhook.test` now, once, and answers with what the endpoint said: `success`, `status_code`,
     * `response_time_ms`, `response_body`.
     *
     * ```
     * client.testWebhook(id = "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param id the id of the subscription
     * @throws OjsException NotFound
     */
    public suspend fun testWebhook(id: String): Map<String, Any?> =
        run("POST", at("webhooks", "subscriptions", id, "test"), emptyMap<String, Any?>(), Reply.whole)

    /**
     * Gives a subscription a new secret. For 24 hours requests are signed with both; only this answer has the new one.
     *
     * ```
     * client.rotateWebhookSecret(id = "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param id the id of the subscription
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun rotateWebhookSecret(id: String): Map<String, Any?> =
        run("POST", at("webhooks", "subscriptions", id, "rotate-secret"), emptyMap<String, Any?>(), Reply.member("subscription"))

    /**
     * Deliveries, the newest first, without the events that they carry. Delivered ones are kept for a day, dead ones for 30
     * days. `total` counts at most 10000.
     *
     * ```
     * client.listWebhookDeliveries(status = "dead", limit = 50)
     * ```
     *
     * @param subscriptionId only of this subscription
     * @param status only in this state; one of pending, sending, delivered, dead
     * @param limit the most deliveries in the answer, 1 to 200
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun listWebhookDeliveries(subscriptionId: String? = null, status: String? = null, limit: Int = 50): List<Map<String, Any?>> =
        run("GET", query(at("webhooks", "deliveries"), given("subscription_id" to subscriptionId, "status" to status, "limit" to limit)), null, Reply.list("deliveries"))

    /**
     * A delivery with its event, and how its latest attempt ended.
     *
     * ```
     * client.getWebhookDelivery(id = "del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param id the id of the delivery, `del_…`
     * @throws OjsException NotFound
     */
    public suspend fun getWebhookDelivery(id: String): Map<String, Any?> =
        run("GET", at("webhooks", "deliveries", id), null, Reply.member("delivery"))

    /**
     * Sends a delivery again now, with the same id and the attempts of a new one. It may be dead, delivered or waiting.
     *
     * ```
     * client.retryWebhookDelivery(id = "del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param id the id of the delivery
     * @throws OjsException InvalidStateTransition, NotFound
     */
    public suspend fun retryWebhookDelivery(id: String): Map<String, Any?> =
        run("POST", at("webhooks", "deliveries", id, "retry"), emptyMap<String, Any?>(), Reply.member("delivery"))

    /**
     * How far the latest attempt of a job has come: `progress` from 0 to 1, `data`, `message` and `updated_at`, which are null
     * when nothing was reported.
     *
     * ```
     * client.getProgress(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException NotFound
     */
    public suspend fun getProgress(jobId: String): Map<String, Any?> =
        run("GET", at("jobs", jobId, "progress"), null, Reply.whole)

    /**
     * How far a workflow has come: `progress` from 0 to 1, and the progress of each of its `steps`. Of a chain it is the
     * completed steps and the fraction of the current one, of a group the mean of its steps, of a batch the share of its jobs
     * that have ended.
     *
     * ```
     * client.getWorkflowProgress(workflowId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param workflowId the workflow's id
     * @throws OjsException NotFound
     */
    public suspend fun getWorkflowProgress(workflowId: String): Map<String, Any?> =
        run("GET", at("workflows", workflowId, "progress"), null, Reply.whole)

    /**
     * Saves the checkpoint of a job, in place of the one before. It is on disk when the request has been answered, and the
     * next attempt of the job is delivered with it. The handler of a job saves its own checkpoint, under its lease. This
     * method is for other programs, which have no lease: it is refused while a worker with lease tokens holds the job, and
     * when the job has ended.
     *
     * ```
     * client.saveCheckpoint(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", state = mapOf("cursor" to "abc-750", "rows" to 750))
     * ```
     *
     * @param jobId the job's id
     * @param state JSON of at most 1 MiB
     * @throws OjsException InvalidStateTransition, NotFound, PayloadTooLarge, InvalidRequest
     */
    public suspend fun saveCheckpoint(jobId: String, state: Map<String, Any?>): Map<String, Any?> =
        run("PUT", at("jobs", jobId, "checkpoint"), given("state" to state), Reply.whole)

    /**
     * The checkpoint of a job: `state`, `sequence` and `created_at`. It can be read as long as the job.
     *
     * ```
     * client.getCheckpoint(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException NotFound
     */
    public suspend fun getCheckpoint(jobId: String): Map<String, Any?> =
        run("GET", at("jobs", jobId, "checkpoint"), null, Reply.whole)

    /**
     * Deletes the checkpoint of a job, if it has one: its next attempt begins from the start.
     *
     * ```
     * client.deleteCheckpoint(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException NotFound
     */
    public suspend fun deleteCheckpoint(jobId: String): Unit =
        run("DELETE", at("jobs", jobId, "checkpoint"), null, Reply.nothing)

    /**
     * The endpoints that jobs are sent to, the oldest first, without their secrets. `status` is `active`, `failing`, `open`
     * (sent nothing for a minute after five failures), `probing`, `waiting` (it has asked for a pause), `disabled` (it
     * answered 401, 403, 404 or 410) or `paused`; `last_failure` says why.
     *
     * ```
     * client.listPushEndpoints()
     * ```
     */
    public suspend fun listPushEndpoints(): List<Map<String, Any?>> =
        run("GET", query(at("push", "endpoints"), given("limit" to 200, "pages" to "all")), null, Reply.list("endpoints"))

    /**
     * Registers an endpoint: jobs of its types are sent to it as signed POST requests. Only this answer has the secret. A job
     * is active under a lease before it is sent, and the answer settles it. The address must begin with https:// and be
     * public, unless the server allows others.
     *
     * ```
     * client.createPushEndpoint(endpoint = mapOf("config" to mapOf("max_concurrency" to 100, "signing_secret" to "whsec_test_secret", "timeout_ms" to 30000), "endpoint" to "https://example.com/functions/jobs", "job_types" to listOf("email.send", "report.*"), "queues" to listOf("default")))
     * ```
     *
     * @param endpoint its members: `endpoint` (the URL, or `sqs:` and the URL of a queue of Amazon SQS) and `job_types` (`*`
     *   stands for any characters); if wanted `queues`, `config` (`max_concurrency`, `timeout_ms`, `signing_secret`, `weight`,
     *   `retry_429`), `routing`, `provider` and `active`
     * @throws OjsException InvalidStateTransition, InvalidRequest
     */
    public suspend fun createPushEndpoint(endpoint: Map<String, Any?>): Map<String, Any?> =
        run("POST", at("push", "endpoints"), endpoint, Reply.member("push_endpoint"))

    /**
     * An endpoint, without its secret.
     *
     * ```
     * client.getPushEndpoint(id = "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param id the id of the endpoint, `push_…`
     * @throws OjsException NotFound
     */
    public suspend fun getPushEndpoint(id: String): Map<String, Any?> =
        run("GET", at("push", "endpoints", id), null, Reply.member("push_endpoint"))

    /**
     * Changes an endpoint; what is left out stays. One that failures have closed or disabled is sent jobs again. With `active`
     * false it is sent nothing; its jobs stay available for workers that fetch.
     *
     * ```
     * client.updatePushEndpoint(id = "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", changes = mapOf("active" to false))
     * ```
     *
     * @param id the id of the endpoint
     * @param changes the members that change: `endpoint`, `job_types`, `queues`, `config`, `routing`, `provider`, `active`
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun updatePushEndpoint(id: String, changes: Map<String, Any?>): Map<String, Any?> =
        run("PATCH", at("push", "endpoints", id), changes, Reply.member("push_endpoint"))

    /**
     * Deletes an endpoint. Deliveries that are under way are settled; its other jobs stay available.
     *
     * ```
     * client.deletePushEndpoint(id = "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param id the id of the endpoint
     * @throws OjsException NotFound
     */
    public suspend fun deletePushEndpoint(id: String): Unit =
        run("DELETE", at("push", "endpoints", id), null, Reply.nothing)

    /**
     * Sends a job of the type `push.test` now, once, and explains the answer: `success`, `outcome`, `explanation`,
     * `status_code`, `response_time_ms`, `response_body`.
     *
     * ```
     * client.testPushEndpoint(id = "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param id the id of the endpoint
     * @throws OjsException NotFound
     */
    public suspend fun testPushEndpoint(id: String): Map<String, Any?> =
        run("POST", at("push", "endpoints", id, "test"), emptyMap<String, Any?>(), Reply.whole)

    /**
     * Gives an endpoint a new secret. For 24 hours requests are signed with both; only this answer has the new one.
     *
     * ```
     * client.rotatePushSecret(id = "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param id the id of the endpoint
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun rotatePushSecret(id: String): Map<String, Any?> =
        run("POST", at("push", "endpoints", id, "rotate-secret"), emptyMap<String, Any?>(), Reply.member("push_endpoint"))

    /**
     * What happened to a job: its events, the oldest first, and its attempts with worker, wait, duration and error. It is read
     * from the job and from the event log, so it is there for as long as the job. `fingerprint` of a failed attempt is the
     * same for errors that differ only in numbers, ids and quoted text. The history of a job has at most the newest 50
     * failures.
     *
     * ```
     * client.getHistory(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @param limit the most events in the answer, 1 to 1,000; 50 without it
     * @param cursor the `next_cursor` of the page before
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun getHistory(jobId: String, limit: Int? = null, cursor: String? = null): Map<String, Any?> =
        run("GET", query(at("jobs", jobId, "history"), given("limit" to limit, "cursor" to cursor)), null, Reply.whole)

    /**
     * The workflow that a job is part of, with all its steps as a `tree`; a job without a workflow is a tree of its own.
     * `root_id` is the outermost workflow. `parent_id` and `root_id` of a job without a workflow are what its client has sent
     * under these names. A tree has at most 1,000 nodes; `truncated` says that there are more.
     *
     * ```
     * client.getLineage(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException NotFound
     */
    public suspend fun getLineage(jobId: String): Map<String, Any?> =
        run("GET", at("jobs", jobId, "lineage"), null, Reply.whole)

    /**
     * Deletes the history of a job: what happened up to now is not shown any more. The job stays as it is. The errors and the
     * result of the job are parts of the job: they go when the job is deleted.
     *
     * ```
     * client.deleteHistory(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException NotFound
     */
    public suspend fun deleteHistory(jobId: String): Map<String, Any?> =
        run("DELETE", at("jobs", jobId, "history"), null, Reply.whole)

    /**
     * How many events happened in each minute, hour or day, with average and 95th percentile of the durations, the oldest
     * first. Periods in which nothing happened are left out. Figures are kept for a day by minutes and for a month by hours.
     * Durations come from classes, so they are off by 10 % at most. Figures are kept by queue, not by job type: `job_types` is
     * answered with 501.
     *
     * ```
     * client.historyStats(since = Instant.parse("2031-01-01T00:00:00Z"), queues = "mail", groupBy = "day")
     * ```
     *
     * @param since from this time on; without it an hour, a day or a month back
     * @param before before this time
     * @param queues only events of jobs of these queues, with commas between them
     * @param groupBy the length of each period; `hour` without it; one of minute, hour, day
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun historyStats(since: Instant? = null, before: Instant? = null, queues: String? = null, groupBy: String? = null): List<Map<String, Any?>> =
        run("GET", query(at("history", "stats"), given("start" to since?.toString(), "end" to before?.toString(), "queues" to queues, "group_by" to groupBy)), null, Reply.list("buckets"))

    /**
     * Failed attempts put together by their fingerprint, which is the same for errors that differ only in ids, numbers and
     * quoted text. A group has `fingerprint`, `error_type`, `message` (the last one), `count`, `first_seen_at`,
     * `last_seen_at`, `queues`, `types` and `job_ids`, the newest jobs of each queue and type, 50 at most. The server keeps
     * the 2,000 groups of a queue and type that failed last, for 30 days after their last failure. Failures of the last five
     * seconds before a crash may be missing.
     *
     * ```
     * client.listErrorGroups(queue = "mail", jobType = "email.*", errorType = "Timeout", tenant = "acme", since = Instant.parse("2031-01-01T00:00:00Z"), sort = "count", page = 2, perPage = 50)
     * ```
     *
     * @param queue only failures of jobs of this queue
     * @param jobType only this job type; `email.*` is all types that start with `email.`
     * @param errorType only errors of this type
     * @param tenant only failures of jobs of this tenant
     * @param since only groups with a failure at this time or later
     * @param sort what comes first: `last_seen_at` (the default), `first_seen_at` or `count`, the latest or the largest
     * @param page the page, from 1
     * @param perPage the most groups on the page, 1 to 100; 20 without it
     * @throws OjsException InvalidRequest
     */
    public suspend fun listErrorGroups(queue: String? = null, jobType: String? = null, errorType: String? = null, tenant: String? = null, since: Instant? = null, sort: String? = null, page: Int? = null, perPage: Int? = null): List<Map<String, Any?>> =
        run("GET", query(at("admin", "errors"), given("queue" to queue, "type" to jobType, "error_type" to errorType, "tenant" to tenant, "since" to since?.toString(), "sort" to sort, "page" to page, "per_page" to perPage)), null, Reply.list("items"))

    /**
     * One group of errors, with its `places` (the failures by queue and type) and those of its `jobs` that there still are.
     *
     * ```
     * client.getErrorGroup(fingerprint = "1f0c5f9d2a7be643", queue = "mail")
     * ```
     *
     * @param fingerprint the fingerprint, as the history of a job has it
     * @param queue only failures of jobs of this queue
     * @param jobType only this job type
     * @param tenant only failures of jobs of this tenant
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun getErrorGroup(fingerprint: String, queue: String? = null, jobType: String? = null, tenant: String? = null): Map<String, Any?> =
        run("GET", query(at("admin", "errors", fingerprint), given("queue" to queue, "type" to jobType, "tenant" to tenant)), null, Reply.whole)

    /**
     * Begins to retry, cancel or delete all jobs that a filter finds, and answers at once with the operation. The server
     * carries it out in slices of 500 jobs, each in a transaction of its own that also keeps the place which the operation has
     * reached: after a crash it goes on there, on any node. Jobs that were enqueued or have ended since the request are not
     * meant. Those that cannot be changed are counted by reason. With `dry_run` nothing is changed: the answer has `matched`,
     * the number of jobs (`relation` is `eq`, `about` or `gte`; at most 50,000 rows are looked at), the numbers by state,
     * queue and type, and a `sample`. To delete needs the permission to administer. At most 100 operations of a tenant, and
     * 100 of operators, may be under way.
     *
     * ```
     * client.startBulkOperation(action = "retry", filter = mapOf("queue" to "mail", "state" to "discarded"), reason = "the mail server was down")
     * ```
     *
     * @param action `retry`, `cancel` or `delete`
     * @param filter which jobs: `queue`, `type`, `state` (one or a list), `since`, `until`, `priority`, `meta`, `error_type`
     *   (of the latest error), `dead_letters` (true: only dead letters) and `q` (a search, as lists of jobs have it). An empty
     *   one means all that the action can reach
     * @param reason why, at most 500 characters; it is kept with the operation
     * @param dryRun say what would be found, and change nothing
     * @throws OjsException InvalidStateTransition, InvalidRequest, Authentication
     */
    public suspend fun startBulkOperation(action: String, filter: Map<String, Any?>, reason: String? = null, dryRun: Boolean? = null): Map<String, Any?> =
        run("POST", at("admin", "bulk"), given("action" to action, "filter" to filter, "reason" to reason, "dry_run" to dryRun, "confirm" to true), Reply.whole, wait = Duration.ZERO)

    /**
     * Bulk operations, the newest first. They are kept for 30 days after their end, and the last 1,000 of them.
     *
     * ```
     * client.listBulkOperations(state = "running", perPage = 50)
     * ```
     *
     * @param state only those in this state: `running`, `paused`, `completed`, `cancelled` or `failed`
     * @param cursor only those before this one: the id of the last one on the page before
     * @param perPage the most on the page, 1 to 100; 20 without it
     * @throws OjsException InvalidRequest
     */
    public suspend fun listBulkOperations(state: String? = null, cursor: String? = null, perPage: Int? = null): List<Map<String, Any?>> =
        run("GET", query(at("admin", "bulk"), given("state" to state, "cursor" to cursor, "per_page" to perPage)), null, Reply.list("items"))

    /**
     * A bulk operation: its state, how far it is, how many jobs were changed, and how many were refused and why. `counts` has
     * `seen`, `changed` and `refused`; `refusals` has `count`, the first `job_id` and its `message` for each `reason`;
     * `progress` has the number of jobs that is `expected` and the `fraction` that is done, where it can be said.
     *
     * ```
     * client.getBulkOperation(operationId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", waitMs = 30000)
     * ```
     *
     * @param operationId the id of the operation
     * @param waitMs answer as soon as it does not run any more, at the latest after so many milliseconds: 60,000 at most
     * @throws OjsException NotFound
     */
    public suspend fun getBulkOperation(operationId: String, waitMs: Int? = null): Map<String, Any?> =
        run("GET", query(at("admin", "bulk", operationId), given("wait_ms" to waitMs)), null, Reply.whole)

    /**
     * Stops a bulk operation until it is resumed. The slice that is under way is finished.
     *
     * ```
     * client.pauseBulkOperation(operationId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param operationId the id of the operation
     * @throws OjsException InvalidStateTransition, NotFound
     */
    public suspend fun pauseBulkOperation(operationId: String): Map<String, Any?> =
        run("POST", at("admin", "bulk", operationId, "pause"), emptyMap<String, Any?>(), Reply.whole)

    /**
     * Goes on with a bulk operation that was paused, or that has failed, where it stopped.
     *
     * ```
     * client.resumeBulkOperation(operationId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param operationId the id of the operation
     * @throws OjsException InvalidStateTransition, NotFound, Authentication
     */
    public suspend fun resumeBulkOperation(operationId: String): Map<String, Any?> =
        run("POST", at("admin", "bulk", operationId, "resume"), emptyMap<String, Any?>(), Reply.whole)

    /**
     * Ends a bulk operation for good. Jobs that it has changed stay changed.
     *
     * ```
     * client.cancelBulkOperation(operationId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param operationId the id of the operation
     * @throws OjsException InvalidStateTransition, NotFound
     */
    public suspend fun cancelBulkOperation(operationId: String): Map<String, Any?> =
        run("POST", at("admin", "bulk", operationId, "cancel"), emptyMap<String, Any?>(), Reply.whole)

    /**
     * The relays that send rows of outboxes to this server, with what each of them said last. An item has `id`, `name`,
     * `tenant_id`, `database` (its kind), `outbox` (the table), `state` (`running`; `stuck` while a row has waited for more
     * than a minute; `silent` after 20 seconds without a heartbeat), `leading` (whether it is the one that sends), `waiting`
     * (rows, with `waiting_relation`: `gte` when there are more than were counted), `oldest_waiting_ms`, `parked` (rows that
     * the server has refused for good), `sent` since its start, `sent_per_minute`, `error` (what holds it up),
     * `first_heartbeat_at` and `last_heartbeat_at`. `summary` counts the relays by state. A relay that stops is forgotten at
     * once, a silent one after 15 minutes. At most 200 of a tenant are kept, and 1,000 in all.
     *
     * ```
     * client.listRelays(state = "stuck", page = 2, perPage = 50)
     * ```
     *
     * @param state only relays in this state: `running`, `stuck` or `silent`
     * @param page the page, from 1
     * @param perPage the most relays on the page, 1 to 100; 20 without it
     * @throws OjsException InvalidRequest
     */
    public suspend fun listRelays(state: String? = null, page: Int? = null, perPage: Int? = null): List<Map<String, Any?>> =
        run("GET", query(at("admin", "relays"), given("state" to state, "page" to page, "per_page" to perPage)), null, Reply.list("items"))

}

/** The generated methods of `client.bulk`. */
public abstract class BulkOperations internal constructor(internal val client: OjsClient) : Requests() {
    override suspend fun <T> run(method: String, path: String, body: Any?, read: Reply<T>, wait: Duration?): T = client.run(method, path, body, read, wait)

    /**
     * Cancels many jobs. By ids: every job that has not ended. By a filter: the jobs that wait, unless the filter names other
     * states. Jobs that cannot be cancelled are skipped, and their items say why; with `atomic` one such job keeps the others
     * from being cancelled.
     *
     * ```
     * client.bulk.cancel(queue = "reports")
     * ```
     *
     * @param jobIds the ids of the jobs
     * @param queue only jobs of this queue
     * @param jobType only this job type; `email.*` is all types that start with `email.`
     * @param states only jobs in one of these states
     * @param enqueuedAfter only jobs enqueued after this time
     * @param enqueuedBefore only jobs enqueued before this time
     * @param priority only jobs of this priority
     * @param meta only jobs whose metadata has these members
     * @param atomic all of the jobs, or none
     * @throws OjsException InvalidStateTransition, PayloadTooLarge, InvalidRequest
     */
    public suspend fun cancel(jobIds: List<String>? = null, queue: String? = null, jobType: String? = null, states: List<String>? = null, enqueuedAfter: Instant? = null, enqueuedBefore: Instant? = null, priority: Int? = null, meta: Map<String, Any?>? = null, atomic: Boolean = false): BulkResult =
        run("POST", at("jobs", "bulk", "cancel"), target(jobIds, given("queue" to queue, "type" to jobType, "state" to states, "enqueued_after" to enqueuedAfter?.toString(), "enqueued_before" to enqueuedBefore?.toString(), "priority" to priority, "meta" to meta)) + given("atomicity" to if (atomic) "atomic" else "partial"), Reply.bulkResult)

    /**
     * Runs many jobs again: discarded jobs with all their attempts, retryable jobs at once instead of after their pause. Jobs
     * that cannot be retried are skipped, and their items say why; with `atomic` one such job keeps the others from being
     * retried.
     *
     * ```
     * client.bulk.retry(jobIds = listOf("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), atomic = true)
     * ```
     *
     * @param jobIds the ids of the jobs
     * @param queue only jobs of this queue
     * @param jobType only this job type; `email.*` is all types that start with `email.`
     * @param states only jobs in one of these states
     * @param enqueuedAfter only jobs enqueued after this time
     * @param enqueuedBefore only jobs enqueued before this time
     * @param priority only jobs of this priority
     * @param meta only jobs whose metadata has these members
     * @param atomic all of the jobs, or none
     * @throws OjsException InvalidStateTransition, PayloadTooLarge, InvalidRequest
     */
    public suspend fun retry(jobIds: List<String>? = null, queue: String? = null, jobType: String? = null, states: List<String>? = null, enqueuedAfter: Instant? = null, enqueuedBefore: Instant? = null, priority: Int? = null, meta: Map<String, Any?>? = null, atomic: Boolean = false): BulkResult =
        run("POST", at("jobs", "bulk", "retry"), target(jobIds, given("queue" to queue, "type" to jobType, "state" to states, "enqueued_after" to enqueuedAfter?.toString(), "enqueued_before" to enqueuedBefore?.toString(), "priority" to priority, "meta" to meta)) + given("atomicity" to if (atomic) "atomic" else "partial"), Reply.bulkResult)

    /**
     * Deletes many jobs that have ended. A deleted job cannot be brought back. Jobs that cannot be deleted are skipped, and
     * their items say why; with `atomic` one such job keeps the others from being deleted.
     *
     * ```
     * client.bulk.delete(jobType = "email.*", states = listOf("completed", "cancelled"))
     * ```
     *
     * @param jobIds the ids of the jobs
     * @param queue only jobs of this queue
     * @param jobType only this job type; `email.*` is all types that start with `email.`
     * @param states only jobs in one of these states
     * @param enqueuedAfter only jobs enqueued after this time
     * @param enqueuedBefore only jobs enqueued before this time
     * @param priority only jobs of this priority
     * @param meta only jobs whose metadata has these members
     * @param atomic all of the jobs, or none
     * @throws OjsException InvalidStateTransition, PayloadTooLarge, InvalidRequest
     */
    public suspend fun delete(jobIds: List<String>? = null, queue: String? = null, jobType: String? = null, states: List<String>? = null, enqueuedAfter: Instant? = null, enqueuedBefore: Instant? = null, priority: Int? = null, meta: Map<String, Any?>? = null, atomic: Boolean = false): BulkResult =
        run("POST", at("jobs", "bulk", "delete"), target(jobIds, given("queue" to queue, "type" to jobType, "state" to states, "enqueued_after" to enqueuedAfter?.toString(), "enqueued_before" to enqueuedBefore?.toString(), "priority" to priority, "meta" to meta)) + given("atomicity" to if (atomic) "atomic" else "partial"), Reply.bulkResult)

}

/** The generated methods of `client.queues`. */
public abstract class QueuesOperations internal constructor(internal val client: OjsClient) : Requests() {
    override suspend fun <T> run(method: String, path: String, body: Any?, read: Reply<T>, wait: Duration?): T = client.run(method, path, body, read, wait)

    /**
     * All queues with their status.
     *
     * ```
     * client.queues.list()
     * ```
     */
    public suspend fun list(): List<Map<String, Any?>> =
        run("GET", query(at("queues"), given("pages" to "all")), null, Reply.list("queues"))

    /**
     * How many jobs of the queue are in which state.
     *
     * ```
     * client.queues.stats(name = "mail")
     * ```
     *
     * @param name the name of the queue
     */
    public suspend fun stats(name: String): Map<String, Any?> =
        run("GET", at("queues", name, "stats"), null, Reply.member("queue"))

    /**
     * Stops handing out jobs of the queue until `resume_queue`. Jobs can still be enqueued. A queue that does not exist is
     * made, paused: the protocol answers 200 for every name. `ojs queues pause` asks first.
     *
     * ```
     * client.queues.pause(name = "mail")
     * ```
     *
     * @param name the name of the queue
     */
    public suspend fun pause(name: String): Map<String, Any?> =
        run("POST", at("queues", name, "pause"), emptyMap<String, Any?>(), Reply.member("queue"))

    /**
     * Hands out jobs of the queue again, and accepts new ones.
     *
     * ```
     * client.queues.resume(name = "mail")
     * ```
     *
     * @param name the name of the queue
     */
    public suspend fun resume(name: String): Map<String, Any?> =
        run("POST", at("queues", name, "resume"), emptyMap<String, Any?>(), Reply.member("queue"))

    /**
     * Creates a queue with settings, such as `concurrency`, `max_size`, `rate_limit` and `retention`.
     *
     * ```
     * client.queues.create(name = "mail", config = mapOf("concurrency" to 20, "rate_limit" to mapOf("limit" to 100, "period" to "PT1M")))
     * ```
     *
     * @param name the name of the queue
     * @param config the settings, by their names on the wire
     * @throws OjsException InvalidStateTransition, InvalidRequest
     */
    public suspend fun create(name: String, config: Map<String, Any?> = emptyMap()): Map<String, Any?> =
        run("POST", at("queues"), given("name" to name, "config" to config), Reply.whole)

    /**
     * A queue with its settings and counts.
     *
     * ```
     * client.queues.get(name = "mail")
     * ```
     *
     * @param name the name of the queue
     * @throws OjsException NotFound
     */
    public suspend fun get(name: String): Map<String, Any?> =
        run("GET", at("queues", name), null, Reply.whole)

    /**
     * Changes the settings that are named and leaves the others. A setting of null goes back to the template, the queue
     * `_default`.
     *
     * ```
     * client.queues.configure(name = "mail", config = mapOf("max_size" to 1000))
     * ```
     *
     * @param name the name of the queue
     * @param config the settings, by their names on the wire
     * @throws OjsException InvalidRequest
     */
    public suspend fun configure(name: String, config: Map<String, Any?> = emptyMap()): Map<String, Any?> =
        run("PUT", at("queues", name, "config"), config, Reply.whole)

    /**
     * Deletes the queue. A queue that holds jobs is deleted only if they may be discarded or moved.
     *
     * ```
     * client.queues.delete(name = "mail", strategy = "move", targetQueue = "letters")
     * ```
     *
     * @param name the name of the queue
     * @param strategy what happens to the jobs of the queue; one of reject, discard, move
     * @param targetQueue where the jobs go, for the strategy `move`
     * @throws OjsException InvalidStateTransition, NotFound, InvalidRequest
     */
    public suspend fun delete(name: String, strategy: String = "reject", targetQueue: String? = null): Map<String, Any?> =
        run("DELETE", query(at("queues", name), given("strategy" to strategy, "target_queue" to targetQueue)), null, Reply.whole)

    /**
     * Accepts no more jobs for the queue and hands out those that are in it, until `resume_queue`.
     *
     * ```
     * client.queues.drain(name = "mail")
     * ```
     *
     * @param name the name of the queue
     */
    public suspend fun drain(name: String): Map<String, Any?> =
        run("POST", at("queues", name, "drain"), emptyMap<String, Any?>(), Reply.whole)

    /**
     * Removes the jobs of the queue that are in one of these states, and returns how many. They cannot be brought back. Jobs
     * that wait are cancelled first, so that workflows go on. Active jobs are never removed.
     *
     * ```
     * client.queues.purge(name = "reports", states = listOf("completed", "cancelled"), olderThan = Duration.parseIsoString("PT1H"))
     * ```
     *
     * @param name the name of the queue
     * @param states the states of the jobs to remove
     * @param olderThan only jobs older than this: a time, or a length of time before now
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun purge(name: String, states: List<String>, olderThan: Duration? = null): Int {
        var total = 0
        do {
            val answer = run("DELETE", at("admin", "queues", name, "jobs"), given("states" to states, "older_than" to olderThan?.let(::durationText), "confirm" to true, "limit" to 10000), Reply.whole)
            total += answer.number("purged_count") ?: 0
        } while (answer["has_more"] == true)
        return total
    }

    /**
     * How the jobs of a queue are shared: by tenant or by key, and with which weights.
     *
     * ```
     * client.queues.getFairness(name = "mail")
     * ```
     *
     * @param name the name of the queue
     * @throws OjsException NotFound
     */
    public suspend fun getFairness(name: String): Map<String, Any?> =
        run("GET", at("admin", "queues", name, "fairness"), null, Reply.whole)

    /**
     * Shares the jobs of a queue, those that wait included: among jobs of one priority, keys get jobs handed out in turn, in
     * proportion to their weights. The settings are `by` (`tenant`, the default, or `key`: the `fairness_key` of a job, and
     * its tenant where it names none), `weights` by id of the tenant or by key (1 to 1000, at most 100), and `default_weight`
     * for all others (1). A tenant without a weight has the `fairness_weight` of its limits. What is left out has its default,
     * and `enabled` of `false` ends the sharing. The answer is 201 when the queue was not shared before.
     *
     * ```
     * client.queues.setFairness(name = "mail", sharing = mapOf("by" to "tenant", "weights" to mapOf("acme" to 4)))
     * ```
     *
     * @param name the name of the queue. It is made when there is none
     * @param sharing the settings, by their names on the wire
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun setFairness(name: String, sharing: Map<String, Any?> = emptyMap()): Map<String, Any?> =
        run("PUT", at("admin", "queues", name, "fairness"), sharing, Reply.whole)

    /**
     * Ends the sharing of a queue: its jobs are handed out in their order again.
     *
     * ```
     * client.queues.deleteFairness(name = "mail")
     * ```
     *
     * @param name the name of the queue
     * @throws OjsException NotFound
     */
    public suspend fun deleteFairness(name: String): Unit =
        run("DELETE", at("admin", "queues", name, "fairness"), null, Reply.nothing)

}

/** The generated methods of `client.rateLimits`. */
public abstract class RateLimitsOperations internal constructor(internal val client: OjsClient) : Requests() {
    override suspend fun <T> run(method: String, path: String, body: Any?, read: Reply<T>, wait: Duration?): T = client.run(method, path, body, read, wait)

    /**
     * The keys that have limits, with how much of each limit is used.
     *
     * ```
     * client.rateLimits.list()
     * ```
     * @throws OjsException InvalidRequest
     */
    public suspend fun list(): List<Map<String, Any?>> =
        run("GET", query(at("rate-limits"), given("limit" to 200, "pages" to "all")), null, Reply.list("items"))

    /**
     * The limits of a key, with how much of each is used.
     *
     * ```
     * client.rateLimits.get(key = "stripe")
     * ```
     *
     * @param key the key
     * @throws OjsException NotFound
     */
    public suspend fun get(key: String): Map<String, Any?> =
        run("GET", at("rate-limits", key), null, Reply.whole)

    /**
     * Gives a key other limits until a time, for example `concurrency` 2. Without any limit the override ends.
     *
     * ```
     * client.rateLimits.override(key = "stripe", limits = mapOf("concurrency" to 2), expiresAt = Instant.parse("2031-01-01T00:00:00Z"))
     * ```
     *
     * @param key the key
     * @param limits the limits, by their names on the wire
     * @param expiresAt when the override ends
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun override(key: String, limits: Map<String, Any?>, expiresAt: Instant? = null): Map<String, Any?> =
        run("PUT", at("rate-limits", key), limits + given("expires_at" to expiresAt?.toString()), Reply.whole)

}

/** The generated methods of `client.deadLetters`. */
public abstract class DeadLettersOperations internal constructor(internal val client: OjsClient) : Requests() {
    override suspend fun <T> run(method: String, path: String, body: Any?, read: Reply<T>, wait: Duration?): T = client.run(method, path, body, read, wait)

    /**
     * Jobs that failed for good and were kept, the newest first. Where more than 20,000 dead letters are kept, a filter is
     * compared with 20,000 of them at a time. The answer says so: `total_relation` is `gte`, and `total` counts what was found
     * among the newest 20,000. A page may be short then, or empty; `next_cursor` leads on while it is there.
     *
     * ```
     * client.deadLetters.list(queue = "mail", limit = 10, offset = 20)
     * ```
     *
     * @param queue only jobs of this queue
     * @param jobType only this job type
     * @param limit the most jobs in the answer, 1 to 200; 50 without it
     * @param offset how many jobs are passed over
     * @throws OjsException InvalidRequest
     */
    public suspend fun list(queue: String? = null, jobType: String? = null, limit: Int? = null, offset: Int? = null): List<Job> =
        run("GET", query(at("dead-letter"), given("queue" to queue, "type" to jobType, "limit" to limit, "offset" to offset)), null, Reply.jobs)

    /**
     * The dead letter with this id.
     *
     * ```
     * client.deadLetters.get(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException NotFound
     */
    public suspend fun get(jobId: String): Job =
        run("GET", at("dead-letter", jobId), null, Reply.job)

    /**
     * Runs a dead letter again, with all its attempts.
     *
     * ```
     * client.deadLetters.retry(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException InvalidStateTransition, NotFound, PayloadTooLarge, InvalidRequest
     */
    public suspend fun retry(jobId: String): Job =
        run("POST", at("dead-letter", jobId, "retry"), emptyMap<String, Any?>(), Reply.job)

    /**
     * Deletes a dead letter. It cannot be brought back.
     *
     * ```
     * client.deadLetters.discard(jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param jobId the job's id
     * @throws OjsException NotFound
     */
    public suspend fun discard(jobId: String): Unit =
        run("DELETE", at("dead-letter", jobId), null, Reply.nothing)

    /**
     * Runs all dead letters again that the filter finds, and returns how many. Without a filter it is all of them.
     *
     * ```
     * client.deadLetters.retryAll(queue = "mail", errorType = "Timeout", since = Instant.parse("2031-01-01T00:00:00Z"))
     * ```
     *
     * @param queue only jobs of this queue
     * @param jobType only this job type; `email.*` is all types that start with `email.`
     * @param errorType only jobs whose last error is of this type
     * @param since only jobs discarded at this time or later
     * @param until only jobs discarded before this time
     * @throws OjsException InvalidRequest
     */
    public suspend fun retryAll(queue: String? = null, jobType: String? = null, errorType: String? = null, since: Instant? = null, until: Instant? = null): Int =
        run("POST", at("dead-letter", "retry"), given("filter" to given("queue" to queue, "type" to jobType, "error_type" to errorType, "since" to since?.toString(), "until" to until?.toString()), "confirm" to true), Reply.count("retried"))

    /**
     * Deletes all dead letters that the filter finds, and returns how many. Without a filter it is all of them.
     *
     * ```
     * client.deadLetters.discardAll(jobType = "email.*", until = Instant.parse("2031-01-01T00:00:00Z"))
     * ```
     *
     * @param queue only jobs of this queue
     * @param jobType only this job type; `email.*` is all types that start with `email.`
     * @param errorType only jobs whose last error is of this type
     * @param since only jobs discarded at this time or later
     * @param until only jobs discarded before this time
     * @throws OjsException InvalidRequest
     */
    public suspend fun discardAll(queue: String? = null, jobType: String? = null, errorType: String? = null, since: Instant? = null, until: Instant? = null): Int =
        run("DELETE", query(at("dead-letter"), given("queue" to queue, "type" to jobType, "error_type" to errorType, "since" to since?.toString(), "until" to until?.toString(), "confirm" to true)), null, Reply.count("deleted"))

    /**
     * How many dead letters there are, by queue and by type of error, and since when. Where more than 20,000 are kept, the
     * numbers in `by_error_type` are those of the newest 20,000: `by_error_type_relation` is `gte`. A caller of a tenant gets
     * all numbers so, with `total_relation` and `by_queue_relation`.
     *
     * ```
     * client.deadLetters.stats()
     * ```
     */
    public suspend fun stats(): Map<String, Any?> =
        run("GET", at("dead-letter", "stats"), null, Reply.whole)

    /**
     * What would come of running dead letters again: which would be refused, which would wait and for what, and which would
     * run although an enqueue of the same job would be refused. Nothing is changed. `matched` dead letters are meant (at least
     * so many where `matched_relation` is `gte`: a filter is compared with 20,000), of which the newest 500 are looked at
     * (`looked_at`, `complete`). Of these `would_run`, `would_wait` and `would_be_refused` say how many; `with_warnings` run
     * or wait beside that. Each of `reasons` has `code`, `effect` (`refused`, `waits` or `warning`), `message`, the number of
     * `jobs`, the first of them as `job_id` and, where there is one, the `command` that helps. `jobs` has the first 20 jobs
     * that meet one. Limits that free themselves as jobs end (full workers, concurrency, rates) are no reason.
     *
     * ```
     * client.deadLetters.preview(queue = "mail", errorType = "Timeout")
     * ```
     *
     * @param queue only jobs of this queue
     * @param jobType only this job type; `email.*` is all types that start with `email.`
     * @param errorType only jobs whose last error is of this type
     * @param since only jobs discarded at this time or later
     * @param until only jobs discarded before this time
     * @param jobs these jobs instead: their ids with commas between them, 100 at most
     * @throws OjsException InvalidRequest
     */
    public suspend fun preview(queue: String? = null, jobType: String? = null, errorType: String? = null, since: Instant? = null, until: Instant? = null, jobs: String? = null): Map<String, Any?> =
        run("GET", query(at("dead-letter", "preview"), given("queue" to queue, "type" to jobType, "error_type" to errorType, "since" to since?.toString(), "until" to until?.toString(), "job_ids" to jobs)), null, Reply.whole)

}

/** The generated methods of `client.cron`. */
public abstract class CronOperations internal constructor(internal val client: OjsClient) : Requests() {
    override suspend fun <T> run(method: String, path: String, body: Any?, read: Reply<T>, wait: Duration?): T = client.run(method, path, body, read, wait)

    /**
     * All cron entries.
     *
     * ```
     * client.cron.list()
     * ```
     * @throws OjsException InvalidRequest
     */
    public suspend fun list(): List<Map<String, Any?>> =
        run("GET", query(at("cron"), given("pages" to "all")), null, Reply.crons)

    /**
     * The cron entry of this name.
     *
     * ```
     * client.cron.get(name = "digest")
     * ```
     *
     * @param name the name of the entry
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun get(name: String): Map<String, Any?> =
        run("GET", at("cron", name), null, Reply.cron)

    /**
     * Enables the cron entry, or disables it. A disabled entry enqueues no jobs.
     *
     * ```
     * client.cron.enable(name = "digest", enabled = false)
     * ```
     *
     * @param name the name of the entry
     * @param enabled whether the entry enqueues jobs
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun enable(name: String, enabled: Boolean): Map<String, Any?> =
        run("PATCH", at("cron", name), given("enabled" to enabled), Reply.cron)

    /**
     * Enqueues a job of the cron entry now, whether the entry is enabled or not. Its schedule stays. The overlap policy holds:
     * while the latest job of the entry goes on, `skip` and `enqueue` answer with 409 `conflict`, and `cancel_previous`
     * cancels that job.
     *
     * ```
     * client.cron.run(name = "digest")
     * ```
     *
     * @param name the name of the entry
     * @throws OjsException NotFound
     */
    public suspend fun run(name: String): Job =
        run("POST", at("cron", name, "run"), emptyMap<String, Any?>(), Reply.job, wait = Duration.ZERO)

    /**
     * Deletes the cron entry. The jobs that it has enqueued stay.
     *
     * ```
     * client.cron.delete(name = "digest")
     * ```
     *
     * @param name the name of the entry
     * @throws OjsException NotFound
     */
    public suspend fun delete(name: String): Unit =
        run("DELETE", at("cron", name), null, Reply.nothing)

}

/** The generated methods of `client.workers`. */
public abstract class WorkersOperations internal constructor(internal val client: OjsClient) : Requests() {
    override suspend fun <T> run(method: String, path: String, body: Any?, read: Reply<T>, wait: Duration?): T = client.run(method, path, body, read, wait)

    /**
     * The workers that the server knows, with what each of them does.
     *
     * ```
     * client.workers.list(state = "running", page = 1, perPage = 100)
     * ```
     *
     * @param state only workers in this state
     * @param page the number of the page. The first page is 1
     * @param perPage the most workers on one page, 1 to 100; 20 without it
     * @throws OjsException InvalidRequest
     */
    public suspend fun list(state: String? = null, page: Int? = null, perPage: Int? = null): List<Map<String, Any?>> =
        run("GET", query(at("admin", "workers"), given("state" to state, "page" to page, "per_page" to perPage)), null, Reply.list("items"))

    /**
     * The worker with this id.
     *
     * ```
     * client.workers.get(workerId = "mail-1")
     * ```
     *
     * @param workerId the worker's id
     * @throws OjsException NotFound
     */
    public suspend fun get(workerId: String): Map<String, Any?> =
        run("GET", at("admin", "workers", workerId), null, Reply.whole)

    /**
     * Tells a worker to take no more jobs (`quiet`), to stop (`terminate`), or to take jobs again (`resume`). The worker hears
     * of it with its next heartbeat.
     *
     * ```
     * client.workers.direct(workerId = "mail-1", directive = "quiet")
     * ```
     *
     * @param workerId the worker's id
     * @param directive what the worker shall do; one of quiet, terminate, resume
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun direct(workerId: String, directive: String): Map<String, Any?> =
        run("POST", at("admin", "workers", workerId, directive), emptyMap<String, Any?>(), Reply.whole)

    /**
     * Removes a worker that no longer sends heartbeats. Its jobs go back to their queues.
     *
     * ```
     * client.workers.remove(workerId = "mail-1")
     * ```
     *
     * @param workerId the worker's id
     * @throws OjsException InvalidStateTransition, NotFound
     */
    public suspend fun remove(workerId: String): Map<String, Any?> =
        run("DELETE", at("admin", "workers", workerId), null, Reply.whole)

}

/** The generated methods of `client.trains`. */
public abstract class TrainsOperations internal constructor(internal val client: OjsClient) : Requests() {
    override suspend fun <T> run(method: String, path: String, body: Any?, read: Reply<T>, wait: Duration?): T = client.run(method, path, body, read, wait)

    /**
     * The trains that have jobs, in the order of their ids, or only those in one state; the one that was held first comes
     * first.
     *
     * ```
     * client.trains.list(state = "held")
     * ```
     *
     * @param state only trains in this state: `running`, `draining` or `held`
     * @throws OjsException InvalidRequest
     */
    public suspend fun list(state: String? = null): List<Map<String, Any?>> =
        run("GET", query(at("trains"), given("state" to state, "limit" to 200, "pages" to "all")), null, Reply.list("trains"))

    /**
     * A train: its state, its locomotive, which is the one job that may run, and its jobs in the order in which they run.
     *
     * ```
     * client.trains.get(trainId = "dest_7")
     * ```
     *
     * @param trainId the id of the train
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun get(trainId: String): Map<String, Any?> =
        run("GET", at("trains", trainId), null, Reply.whole)

    /**
     * Ends the hold of a train: a locomotive that has ended leaves it, and the next job may run.
     *
     * ```
     * client.trains.advance(trainId = "dest_7", jobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
     * ```
     *
     * @param trainId the id of the train
     * @param jobId only if this job is the locomotive
     * @throws OjsException InvalidStateTransition, NotFound, InvalidRequest
     */
    public suspend fun advance(trainId: String, jobId: String? = null): Map<String, Any?> =
        run("POST", at("trains", trainId, "advance"), given("job_id" to jobId, "confirm" to true), Reply.whole)

    /**
     * Holds a train: a job of it that runs may end, and no further one starts until `advance_train`.
     *
     * ```
     * client.trains.hold(trainId = "dest_7")
     * ```
     *
     * @param trainId the id of the train
     * @throws OjsException NotFound
     */
    public suspend fun hold(trainId: String): Map<String, Any?> =
        run("POST", at("trains", trainId, "hold"), emptyMap<String, Any?>(), Reply.whole)

}

/** The generated methods of `client.tenants`. */
public abstract class TenantsOperations internal constructor(internal val client: OjsClient) : Requests() {
    override suspend fun <T> run(method: String, path: String, body: Any?, read: Reply<T>, wait: Duration?): T = client.run(method, path, body, read, wait)

    /**
     * The tenants of the server by id, with the number of their jobs and their limits.
     *
     * ```
     * client.tenants.list(page = 2, perPage = 50)
     * ```
     *
     * @param page the page, from 1
     * @param perPage the most tenants on the page, 1 to 100; 20 without it
     * @throws OjsException InvalidRequest
     */
    public suspend fun list(page: Int? = null, perPage: Int? = null): List<Map<String, Any?>> =
        run("GET", query(at("admin", "tenants"), given("page" to page, "per_page" to perPage)), null, Reply.list("items"))

    /**
     * A tenant with its status, its limits and the number of its jobs by state.
     *
     * ```
     * client.tenants.get(tenantId = "acme")
     * ```
     *
     * @param tenantId the id of the tenant
     * @throws OjsException NotFound
     */
    public suspend fun get(tenantId: String): Map<String, Any?> =
        run("GET", at("admin", "tenants", tenantId), null, Reply.whole)

    /**
     * Makes a tenant, or changes what the body names of one. A job that names a new tenant makes it as well.
     *
     * ```
     * client.tenants.put(tenantId = "acme", changes = mapOf("limits" to mapOf("max_concurrency" to 10), "name" to "Acme Ltd.", "status" to "active"))
     * ```
     *
     * @param tenantId the id of the tenant
     * @param changes its members: `name` (for people), `limits` (as in `PUT /admin/tenants/{id}/limits`), `fairness_weight`
     *   (which leaves the other limits as they are) and `status` (`active` or `suspended`)
     * @throws OjsException InvalidRequest
     */
    public suspend fun put(tenantId: String, changes: Map<String, Any?> = emptyMap()): Map<String, Any?> =
        run("PUT", at("admin", "tenants", tenantId), changes, Reply.whole)

    /**
     * Deletes a tenant with its ended jobs. It is refused while the tenant has jobs that have not ended.
     *
     * ```
     * client.tenants.delete(tenantId = "acme")
     * ```
     *
     * @param tenantId the id of the tenant
     * @throws OjsException InvalidStateTransition, NotFound
     */
    public suspend fun delete(tenantId: String): Map<String, Any?> =
        run("DELETE", at("admin", "tenants", tenantId), null, Reply.whole)

    /**
     * Sets what a tenant may use: `max_concurrency`, `max_enqueue_rate`, `max_queue_depth` and `max_scheduled`; and
     * `fairness_weight`, its weight in shared queues. What the body leaves out is not limited any more. Jobs that have more
     * than the new limits allow stay.
     *
     * ```
     * client.tenants.setLimits(tenantId = "acme", limits = mapOf("max_concurrency" to 10, "max_enqueue_rate" to mapOf("limit" to 100, "period" to "PT1S"), "max_queue_depth" to 10000, "max_scheduled" to 500))
     * ```
     *
     * @param tenantId the id of the tenant
     * @param limits its members: `max_concurrency` (jobs that are active at a time), `max_enqueue_rate` (`limit` jobs in each
     *   `period`, an ISO 8601 duration), `max_queue_depth` (jobs that wait, in all queues together), `max_scheduled`, and
     *   `fairness_weight` (jobs that it gets while a tenant of weight 1 gets one, in queues that tenants share: 1 to 1,000); and
     *   `reason`, a text for the log of the server
     * @throws OjsException InvalidRequest
     */
    public suspend fun setLimits(tenantId: String, limits: Map<String, Any?> = emptyMap()): Map<String, Any?> =
        run("PUT", at("admin", "tenants", tenantId, "limits"), limits, Reply.whole)

    /**
     * Stops a tenant: its jobs are refused with 403, and those that wait are not handed out. Active jobs go on.
     *
     * ```
     * client.tenants.suspend(tenantId = "acme")
     * ```
     *
     * @param tenantId the id of the tenant
     * @throws OjsException NotFound
     */
    public suspend fun suspend(tenantId: String): Map<String, Any?> =
        run("POST", at("admin", "tenants", tenantId, "suspend"), emptyMap<String, Any?>(), Reply.whole)

    /**
     * Ends the suspension of a tenant: its jobs are taken and handed out again.
     *
     * ```
     * client.tenants.resume(tenantId = "acme")
     * ```
     *
     * @param tenantId the id of the tenant
     * @throws OjsException NotFound
     */
    public suspend fun resume(tenantId: String): Map<String, Any?> =
        run("POST", at("admin", "tenants", tenantId, "resume"), emptyMap<String, Any?>(), Reply.whole)

    /**
     * What a tenant has: jobs by state and queue, how much of its limits is used, and what was done so far.
     *
     * ```
     * client.tenants.stats(tenantId = "acme")
     * ```
     *
     * @param tenantId the id of the tenant, or `_default`
     * @throws OjsException NotFound
     */
    public suspend fun stats(tenantId: String): Map<String, Any?> =
        run("GET", at("admin", "tenants", tenantId, "stats"), null, Reply.whole)

    /**
     * The jobs of a tenant, newest first; with the filters of `GET /admin/jobs`.
     *
     * ```
     * client.tenants.jobs(tenantId = "acme", queue = "mail", state = "available", page = 1, perPage = 10)
     * ```
     *
     * @param tenantId the id of the tenant, or `_default`
     * @param queue only this queue
     * @param state only this state
     * @param page the page, from 1
     * @param perPage the most jobs on the page, 1 to 100; 20 without it
     * @throws OjsException NotFound, InvalidRequest
     */
    public suspend fun jobs(tenantId: String, queue: String? = null, state: String? = null, page: Int? = null, perPage: Int? = null): JobPage =
        run("GET", query(at("admin", "tenants", tenantId, "jobs"), given("queue" to queue, "state" to state, "page" to page, "per_page" to perPage)), null, Reply.jobPage)

    /**
     * Tenants that use far more than the others do, those with the most signals first. Each tenant that has jobs, or had some
     * in the last five minutes, is compared with the others. An item has `tenant_id`, `signals`, `queue_depth`, `active`,
     * `error_rate`, and jobs per minute; a signal has `signal` (`queue_depth_ratio`, `enqueue_rate_ratio`, `active_job_ratio`
     * or `error_rate`), `value`, `compared_with`, `ratio` (null where the others have none) and `threshold`. The default
     * tenant is left out. Nothing is read of jobs.
     *
     * ```
     * client.tenants.noisy(depthFactor = 20, minJobs = 50, limit = 10)
     * ```
     *
     * @param depthFactor the signal is more waiting jobs than so many times the median of the others; 10 without it
     * @param rateFactor the signal is more jobs enqueued lately than so many times the average of the others; 5 without it
     * @param activePercent the signal is a larger share of the active jobs of all tenants, 1 to 100; 50 without it
     * @param errorFactor the signal is a larger share of failed attempts than so many times that of the others; 3 without it
     * @param minJobs with fewer jobs that wait or were enqueued lately there is no signal, nor with fewer than a tenth of it
     *   that are active or failed; 100 without it
     * @param limit the most tenants in the answer, 1 to 1,000; 100 without it
     * @throws OjsException InvalidRequest
     */
    public suspend fun noisy(depthFactor: Int? = null, rateFactor: Int? = null, activePercent: Int? = null, errorFactor: Int? = null, minJobs: Int? = null, limit: Int? = null): List<Map<String, Any?>> =
        run("GET", query(at("admin", "stats", "tenants", "noisy"), given("depth_factor" to depthFactor, "rate_factor" to rateFactor, "active_percent" to activePercent, "error_factor" to errorFactor, "min_jobs" to minJobs, "limit" to limit)), null, Reply.list("items"))

}

/** `client.queues`. */
public class Queues internal constructor(client: OjsClient) : QueuesOperations(client)

/** `client.rateLimits`. */
public class RateLimits internal constructor(client: OjsClient) : RateLimitsOperations(client)

/** `client.deadLetters`. */
public class DeadLetters internal constructor(client: OjsClient) : DeadLettersOperations(client)

/** `client.workers`. */
public class Workers internal constructor(client: OjsClient) : WorkersOperations(client)

/** `client.trains`. */
public class Trains internal constructor(client: OjsClient) : TrainsOperations(client)

/** `client.tenants`. */
public class Tenants internal constructor(client: OjsClient) : TenantsOperations(client)
