package org.openjobspec.kotlin

import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.openjobspec.kotlin.core.CoreClient
import org.openjobspec.kotlin.core.completedJob

/** How long the server may hold back an answer: below the time-outs of common proxies. */
internal val HELD_BACK: Duration = 20.seconds

/** Talks to an OJS server, or to an engine in this process. The function of the same name makes one. */
public class OjsClient private constructor(
    internal val core: CoreClient,
    internal val url: String,
    private val tenant: String?,
    private val own: Boolean,
    /** The enqueue middleware, to be arranged. */
    public val middleware: MiddlewareChain<EnqueueMiddleware>,
) : Enqueueing(), AutoCloseable {
    /** Queues: counts, pause and resume, settings. */
    public val queues: Queues = Queues(this)

    /** Jobs that failed for good and were kept. */
    public val deadLetters: DeadLetters = DeadLetters(this)

    /** Schedules. */
    public val cron: Cron = Cron(this)

    /** Many jobs in one request, each with an outcome of its own. */
    public val bulk: Bulk = Bulk(this)

    /** Job trains. */
    public val trains: Trains = Trains(this)

    /** Tenants of the server, for operators. */
    public val tenants: Tenants = Tenants(this)

    /** Limits of keys. */
    public val rateLimits: RateLimits = RateLimits(this)

    /** Workers: what they do, and directives to them. */
    public val workers: Workers = Workers(this)

    /** Adds enqueue middleware; the first one added is the outermost. */
    public fun use(name: String, layer: EnqueueMiddleware): OjsClient {
        middleware.add(name, layer)
        return this
    }

    /**
     * The same client with the requests of one tenant: they see and change what belongs to it, and the jobs are the
     * tenant's. It shares connection and middleware; closing it leaves them open.
     */
    public fun ofTenant(tenant: String): OjsClient =
        OjsClient(Core.call { core.ofTenant(tenant) }, url, tenant, false, middleware)

    // --- enqueue ---

    override suspend fun enqueue(request: JobRequest): Job = through(request) { changed ->
        run("POST", "/jobs", changed.toJson(), Reply.job)
    }

    /** Runs the middleware around whatever is done with the job. */
    internal suspend fun through(request: JobRequest, inside: Enqueue): Job =
        composed(middleware.freeze(), inside)(tenanted(completed(request))) ?: throw OjsException.NotEnqueued(
            "a middleware dropped the job",
        )

    /** A request with the tenant of this client, unless it names one. */
    private fun tenanted(request: JobRequest): JobRequest {
        if (tenant == null || "tenant" in request.options || "tenant_id" in request.meta) return request
        return request.copy(meta = request.meta + ("tenant_id" to tenant))
    }

    /** A request with the defaults of its type, so that middleware sees them. */
    private fun completed(request: JobRequest, name: String = ""): JobRequest {
        if (!hasDefaults(request.type)) return request
        val text = jsonText(request, name)
        val whole = Core.call { membersOf(plain(parsed(completedJob(text)))) }
        return request.copy(options = whole.inner("options").orEmpty(), meta = whole.inner("meta").orEmpty())
    }

    /** Sends many jobs in one request: all are stored or none. Middleware runs for each; dropped jobs are left out. */
    public suspend fun enqueueBatch(requests: List<JobRequest>): List<Job> {
        val kept = kept(requests)
        return if (kept.isEmpty()) emptyList() else run("POST", "/jobs/batch", mapOf("jobs" to kept), Reply.jobs)
    }

    /** The jobs that middleware lets through. */
    internal suspend fun kept(requests: List<JobRequest>): List<JobRequest> {
        val kept = ArrayList<JobRequest>()
        var name = ""
        val call = composed(middleware.freeze()) { changed ->
            kept += changed
            Job(membersOf(plain(jsonOf(changed, name))))
        }
        for ((index, request) in requests.withIndex()) {
            name = "jobs[$index]"
            call(tenanted(completed(request, name)))
        }
        return kept
    }

    // --- workflows, results, events ---

    /** Starts a workflow made by [chain], [group] or [batch]. */
    public suspend fun workflow(definition: Workflow): WorkflowStatus =
        run("POST", "/workflows", definition.toJson(), Reply.workflow)

    /** Starts a workflow described in the words of the wire. */
    public suspend fun workflow(definition: Map<String, Any?>): WorkflowStatus =
        run("POST", "/workflows", definition, Reply.workflow)

    /**
     * How a job ended, once it has. Waits at most [timeout]; without it as long as it takes.
     *
     * @throws OjsException.Timeout the job has not ended by then
     */
    public suspend fun waitForResult(id: String, timeout: Duration? = null): JobResult {
        val end = timeout?.let { TimeSource.Monotonic.markNow() + notNegative("timeout", it) }
        while (true) {
            val left = end?.let { (-it.elapsedNow()).coerceAtLeast(Duration.ZERO) } ?: HELD_BACK
            val wait = minOf(left, HELD_BACK)
            val path =
                query(
                    at("jobs", id, "result"),
                    mapOf("wait" to "true", "timeout" to (wait.inWholeMilliseconds + 999) / 1000),
                )
            try {
                return run("GET", path, null, Reply.result, wait)
            } catch (e: OjsException.Api) {
                if (e.status != 408) throw e
                if (end != null && end.hasPassedNow()) {
                    val about = OjsException.About("timeout", retryable = true)
                    throw OjsException.Timeout("job $id has not ended within $timeout", about, e)
                }
            }
        }
    }

    /**
     * Events as they happen, without an end: from now on, or after the event with the id [after] (the empty text is the
     * oldest that is kept). When the connection is lost it asks again from where it was, so none is missed and none
     * comes twice. A refusal, and a fault of the first request, is thrown.
     *
     * ```kotlin
     * client.events(types = listOf("job.*"), after = "").collect { println("${it.type} ${it.subject}") }
     * ```
     */
    public fun events(
        types: List<String>? = null,
        queues: List<String>? = null,
        jobTypes: List<String>? = null,
        after: String = "latest",
    ): Flow<Event> {
        val names = mapOf("types" to types, "queues" to queues, "job_types" to jobTypes)
        return eventsOf(this, names.filterValues { it != null } + ("after" to after))
    }

    /**
     * Any call of the protocol: [path] is relative to `/ojs/v1` (or is `/ojs/manifest`), [body] a value with a JSON
     * form, or null. What comes back is the body of a 2xx answer, or null when it has none.
     */
    public suspend fun request(method: String, path: String, body: Any? = null): Any? =
        run(method, path, body, Reply.any)

    // --- inside ---

    override suspend fun <T> run(method: String, path: String, body: Any?, read: Reply<T>, wait: Duration?): T {
        val sent = body?.let { jsonText(it).encodeToByteArray() }
        val answer = plain(send(method, path, sent, wait))
        return try {
            read.read(answer)
        } catch (e: ClassCastException) {
            throw unexpected("the answer cannot be read: ${e.message}", e)
        }
    }

    private suspend fun send(method: String, path: String, body: ByteArray?, wait: Duration?): ByteArray {
        OjsTesting.active()?.let { return it.request(method, path, body) }
        return Core.call { core.call(method, path, body, wait?.inWholeMilliseconds?.toULong()) }
    }

    /** Releases the connection; an embedded engine is flushed. Later calls throw [OjsException.Closed]. */
    public suspend fun shutdown(): Unit = withContext(NonCancellable) { if (own) Core.call { core.release() } }

    /** The same, on the calling thread, for `use { }`. */
    override fun close(): Unit = runBlocking(Dispatchers.IO) { shutdown() }

    /** Where it leads; never a password, a token or a key. */
    override fun toString(): String = "OjsClient(${redacted(url)})"

    internal companion object {
        fun made(url: String, transport: Transport?, tenant: String?, settings: Map<String, Any?>): OjsClient {
            Logs.start()
            val core =
                Core.call { transport?.let { CoreClient.over(Carried(it)) } ?: CoreClient(url, jsonText(settings)) }
            val chain = MiddlewareChain<EnqueueMiddleware>(ENQUEUE_ORDER)
            return OjsClient(core, if (transport == null) url else "transport", tenant?.ifEmpty { null }, true, chain)
        }
    }
}

/** A URL without user, password and parameters, any of which may hold a secret. */
internal fun redacted(url: String): String {
    val shown = url.substringBefore('?').substringBefore('#')
    val place = shown.indexOf("://")
    val at = shown.lastIndexOf('@')
    return if (place < 0 || at < place) shown else shown.substring(0, place + 3) + "***" + shown.substring(at)
}
