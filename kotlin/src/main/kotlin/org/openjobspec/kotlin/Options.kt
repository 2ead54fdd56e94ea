// Made from xtask/schema.toml by make gen; do not edit.
package org.openjobspec.kotlin

import java.time.Instant
import kotlin.time.Duration

/** A job with options, to be enqueued: what enqueue middleware sees and may change, a step of a workflow, a job of a batch. */
public data class JobRequest(
    /** The job type, with dots between its parts. */
    public val type: String,
    /** The arguments. */
    public val args: List<Any?> = emptyList(),
    /** The members of the job besides type, arguments and options. */
    public val id: String? = null,
    /** What travels with the job besides its arguments. */
    public val meta: Map<String, Any?> = emptyMap(),
    /** The name of the schema that the arguments follow. */
    public val schema: String? = null,
    /** The options, by their names on the wire. */
    public val options: Map<String, Any?> = emptyMap(),
) : Step {
    init {
        if (type.isEmpty()) throw OjsException.Validation("a job needs a type", OjsException.About("invalid_payload"))
    }

    /** The request as the wire has it. */
    override fun toJson(): Map<String, Any?> = given(
        "type" to type,
        "args" to args,
        "id" to id,
        "meta" to meta.ifEmpty { null },
        "schema" to schema,
        "options" to options.ifEmpty { null },
    )

    /** Never the arguments: they may be secret, and logs are not. */
    override fun toString(): String = "JobRequest($type)"
}

/**
 * A job of this type with these arguments and options.
 *
 * @param queue the queue
 * @param priority −100 to 100, higher first
 * @param timeout the most one run may take
 * @param visibilityTimeout how long a worker may be silent before the job is given to another
 * @param resultTtl how long the result is kept (0 keeps none)
 * @param delay run after this long
 * @param delayUntil do not run before this time
 * @param expiresAt throw the job away when it has not started by then
 * @param totalTimeout how long the job's whole life may take
 * @param retry what happens when it fails
 * @param unique what makes it a duplicate
 * @param rateLimit how many of its kind may start or run at a time
 * @param train the train that it joins: jobs of one train run one after the other
 * @param tags words to find it by
 * @param version the version of the arguments: `2`, `2.1` or `2.1.0`
 * @param tenant the tenant that it belongs to: `meta.tenant_id`
 * @param fairnessKey the key of its line in a queue that is shared by keys: keys get jobs handed out in turn
 * @param id an id of your own (UUIDv7, lower case), so that sending it twice makes one job
 * @param meta any JSON object that travels with the job
 * @param schema URI of the schema its arguments follow
 */
public fun job(
    type: String,
    vararg args: Any?,
    queue: String? = null,
    priority: Int? = null,
    timeout: Duration? = null,
    visibilityTimeout: Duration? = null,
    resultTtl: Duration? = null,
    delay: Duration? = null,
    delayUntil: Instant? = null,
    expiresAt: Instant? = null,
    totalTimeout: Duration? = null,
    retry: RetryPolicy? = null,
    unique: UniquePolicy? = null,
    rateLimit: Map<String, Any?>? = null,
    train: Train? = null,
    tags: List<String>? = null,
    version: String? = null,
    tenant: String? = null,
    fairnessKey: String? = null,
    id: String? = null,
    meta: Map<String, Any?>? = null,
    schema: String? = null,
): JobRequest = JobRequest(type, args.asList(), id, meta.orEmpty(), schema, given(
    "queue" to queue?.takeIf { it != "default" || hasDefaults(type) },
    "priority" to priority?.takeIf { it != 0 || hasDefaults(type) },
    "timeout_ms" to timeout?.let { wireMillis("timeout", it) },
    "visibility_timeout_ms" to visibilityTimeout?.let { wireMillis("visibilityTimeout", it) },
    "result_ttl" to resultTtl?.let { wireSeconds("resultTtl", it) },
    "delay_until" to (delayUntil?.toString() ?: delay?.let { after("delay", it) }),
    "expires_at" to expiresAt?.toString(),
    "total_timeout" to totalTimeout?.let { durationText(longerThanNone("totalTimeout", it)) },
    "retry" to retry?.toJson(),
    "unique" to unique?.toJson(),
    "rate_limit" to rateLimit,
    "train" to train?.toJson(),
    "tags" to tags?.ifEmpty { null },
    "version" to version,
    "tenant" to tenant,
    "fairness_key" to fairnessKey,
))

/** Options that jobs of a type have unless their enqueue says otherwise, by their names on the wire. */
internal fun defaultsOf(
    type: String,
    queue: String? = null,
    priority: Int? = null,
    timeout: Duration? = null,
    visibilityTimeout: Duration? = null,
    resultTtl: Duration? = null,
    totalTimeout: Duration? = null,
    retry: RetryPolicy? = null,
    unique: UniquePolicy? = null,
    rateLimit: Map<String, Any?>? = null,
    train: Train? = null,
    tags: List<String>? = null,
    version: String? = null,
    fairnessKey: String? = null,
): Map<String, Any?> = job(type, queue = queue, priority = priority, timeout = timeout, visibilityTimeout = visibilityTimeout, resultTtl = resultTtl, totalTimeout = totalTimeout, retry = retry, unique = unique, rateLimit = rateLimit, train = train, tags = tags, version = version, fairnessKey = fairnessKey).options

/** The methods of a client that enqueue one job. */
public abstract class Enqueueing internal constructor() : Operations() {
    /** Sends a job. The job as the server stored it. */
    public abstract suspend fun enqueue(request: JobRequest): Job

    /**
     * Sends a job: `client.enqueue("email.send", "ada@example.com", queue = "mail", delay = 5.minutes)`.
     *
     * @param queue the queue
     * @param priority −100 to 100, higher first
     * @param timeout the most one run may take
     * @param visibilityTimeout how long a worker may be silent before the job is given to another
     * @param resultTtl how long the result is kept (0 keeps none)
     * @param delay run after this long
     * @param delayUntil do not run before this time
     * @param expiresAt throw the job away when it has not started by then
     * @param totalTimeout how long the job's whole life may take
     * @param retry what happens when it fails
     * @param unique what makes it a duplicate
     * @param rateLimit how many of its kind may start or run at a time
     * @param train the train that it joins: jobs of one train run one after the other
     * @param tags words to find it by
     * @param version the version of the arguments: `2`, `2.1` or `2.1.0`
     * @param tenant the tenant that it belongs to: `meta.tenant_id`
     * @param fairnessKey the key of its line in a queue that is shared by keys: keys get jobs handed out in turn
     * @param id an id of your own (UUIDv7, lower case), so that sending it twice makes one job
     * @param meta any JSON object that travels with the job
     * @param schema URI of the schema its arguments follow
     * @return the job as the server stored it
     * @throws OjsException.NotEnqueued a middleware dropped it
     */
    public suspend fun enqueue(
        type: String,
        vararg args: Any?,
        queue: String? = null,
        priority: Int? = null,
        timeout: Duration? = null,
        visibilityTimeout: Duration? = null,
        resultTtl: Duration? = null,
        delay: Duration? = null,
        delayUntil: Instant? = null,
        expiresAt: Instant? = null,
        totalTimeout: Duration? = null,
        retry: RetryPolicy? = null,
        unique: UniquePolicy? = null,
        rateLimit: Map<String, Any?>? = null,
        train: Train? = null,
        tags: List<String>? = null,
        version: String? = null,
        tenant: String? = null,
        fairnessKey: String? = null,
        id: String? = null,
        meta: Map<String, Any?>? = null,
        schema: String? = null,
    ): Job = enqueue(
        job(type, *args, queue = queue, priority = priority, timeout = timeout, visibilityTimeout = visibilityTimeout, resultTtl = resultTtl, delay = delay, delayUntil = delayUntil, expiresAt = expiresAt, totalTimeout = totalTimeout, retry = retry, unique = unique, rateLimit = rateLimit, train = train, tags = tags, version = version, tenant = tenant, fairnessKey = fairnessKey, id = id, meta = meta, schema = schema),
    )
}

/** The methods of a worker that register handlers with defaults. */
public abstract class Registering<W> internal constructor() {
    internal abstract fun registered(type: String, defaults: Map<String, Any?>, handler: JobHandler): W

    /**
     * Registers the handler of a job type; `*` stands for every other type. The options are defaults for all jobs of the type that this
     * process enqueues, where a job does not say otherwise.
     *
     * ```kotlin
     * worker.register("email.send", queue = "mail", retry = RetryPolicy(maxAttempts = 5)) { ctx -> send(ctx.arg(0)) }
     * ```
     *
     * @param queue the queue
     * @param priority −100 to 100, higher first
     * @param timeout the most one run may take
     * @param visibilityTimeout how long a worker may be silent before the job is given to another
     * @param resultTtl how long the result is kept (0 keeps none)
     * @param totalTimeout how long the job's whole life may take
     * @param retry what happens when it fails
     * @param unique what makes it a duplicate
     * @param rateLimit how many of its kind may start or run at a time
     * @param train the train that it joins: jobs of one train run one after the other
     * @param tags words to find it by
     * @param version the version of the arguments: `2`, `2.1` or `2.1.0`
     * @param fairnessKey the key of its line in a queue that is shared by keys: keys get jobs handed out in turn
     */
    public fun register(
        type: String,
        queue: String? = null,
        priority: Int? = null,
        timeout: Duration? = null,
        visibilityTimeout: Duration? = null,
        resultTtl: Duration? = null,
        totalTimeout: Duration? = null,
        retry: RetryPolicy? = null,
        unique: UniquePolicy? = null,
        rateLimit: Map<String, Any?>? = null,
        train: Train? = null,
        tags: List<String>? = null,
        version: String? = null,
        fairnessKey: String? = null,
        handler: JobHandler,
    ): W = registered(type, defaultsOf(type, queue = queue, priority = priority, timeout = timeout, visibilityTimeout = visibilityTimeout, resultTtl = resultTtl, totalTimeout = totalTimeout, retry = retry, unique = unique, rateLimit = rateLimit, train = train, tags = tags, version = version, fairnessKey = fairnessKey), handler)
}
