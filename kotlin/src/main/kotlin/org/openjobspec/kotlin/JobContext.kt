package org.openjobspec.kotlin

import java.util.concurrent.atomic.AtomicReference
import kotlin.reflect.KClass
import kotlinx.coroutines.Job as Coroutine
import kotlinx.serialization.ExperimentalSerializationApi
import kotlinx.serialization.KSerializer
import kotlinx.serialization.MissingFieldException
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.serializer

/** What a context can ask of the worker that runs it. */
internal interface Link {
    val client: OjsClient

    /** The worker's name on the server; null where no worker runs the job. */
    val workerId: String? get() = null

    suspend fun heartbeat(token: Long): CancelReason? = null

    fun progress(token: Long, report: String) {}

    /** Saves the checkpoint, or the result of a step: its sequence, or why the handler should stop. */
    suspend fun save(token: Long, step: String?, state: String): Pair<Long, CancelReason?> = 0L to null

    fun saved(token: Long, step: String?): String? = null
}

/** One run of one job. Its coroutine is cancelled when it should stop. */
public class JobContext internal constructor(private val link: Link, private val entry: Entry) {
    private val cancellation = AtomicReference<CancelReason?>()

    @Volatile
    internal var coroutine: Coroutine? = null

    /** Whether who has begun the job has gone on to the next one: the handler has suspended, and ends elsewhere. */
    @Volatile
    internal var left = false
    private val elements: JsonObject by lazy { parsed(entry.envelope.decodeToString()) as JsonObject }
    private val spans: ArgumentSpans? by lazy { ArgumentSpans.of(entry.envelope) }

    /** Arguments of another version in the place of the job's own, and that version. */
    @Volatile
    private var changed: Pair<JsonArray, String>? = null

    internal val token: Long get() = entry.token
    internal val envelope: ByteArray get() = entry.envelope

    /** The job id: the same in every attempt and redelivery. */
    public val id: String get() = entry.id

    /** The job type. */
    public val type: String get() = entry.type

    /** The queue it came from. */
    public val queue: String get() = entry.queue

    /** 1 on the first run. */
    public val attempt: Int get() = entry.attempt

    @Volatile
    private var read: Job? = null

    /** The whole job; its JSON is read when it is asked for. */
    public val job: Job
        get() = read ?: run {
            val members = membersOf(plain(elements))
            Job(
                changed?.let { (args, version) ->
                    members + mapOf("args" to plain(args), "version" to version)
                } ?: members,
            ).also { read = it }
        }

    /** The arguments: maps, lists, text, `Long`, `Double`, `Boolean`, null. */
    public val args: List<Any?> get() = job.args

    /** What travels with the job besides its arguments. */
    public val meta: Map<String, Any?> get() = job.meta

    /** The results of the steps before, in a workflow. */
    public val parentResults: List<Any?> get() = job.parentResults

    /** The workflow that the job belongs to; null when it belongs to none. */
    public val workflowId: String? get() = job.workflowId

    /** The job's place in its train; null when it runs in none. */
    public val train: JobTrain? get() = job.train

    /** The tenant that the job belongs to; null when it names none. */
    public val tenant: String? get() = meta["tenant_id"] as? String

    /** The worker's client. What it enqueues belongs to the tenant of this job, and so does all that it sees. */
    public val client: OjsClient get() = tenant?.let { link.client.ofTenant(it) } ?: link.client

    /** The worker's name on the server; null where no worker runs the job. */
    public val workerId: String? get() = link.workerId

    /** A place for middleware to leave things for the layers inside; gone after this run. */
    public val metadata: MutableMap<String, Any?> by lazy { LinkedHashMap() }

    /** The job's result; what the handler returns, unless that is null or `Unit`, wins. */
    @Volatile
    public var result: Any? = null

    /**
     * One argument as a number, text, list, map, or an object of a class that is `@Serializable`: `ctx.arg<Email>(0)`.
     */
    public inline fun <reified T> arg(index: Int): T =
        // A number or a text is read without the rest of the job.
        simple(index, T::class) as T? ?: decoded(argument(index), serializer<T>(), "args[$index]")

    /** One argument as it was sent. */
    public fun argument(index: Int): JsonElement {
        val found = if (changed == null) spans else null
        if (found != null && index in 0 until found.size) return parsed(found.text(index))
        val args = changed?.first ?: elements["args"] as? JsonArray ?: JsonArray(emptyList())
        return args.getOrNull(index)
            ?: throw OjsException.Validation("the job has ${args.size} arguments, there is no number $index")
    }

    /** One argument, where it is of this class and in its plainest form; null where more is to be done to read it. */
    @PublishedApi
    internal fun simple(index: Int, type: KClass<*>): Any? {
        val found = if (changed == null) spans else null
        if (found == null || index !in 0 until found.size) return null
        return when (type.javaObjectType) {
            String::class.java -> found.plainText(index)
            Long::class.javaObjectType -> found.wholeNumber(index)
            Int::class.javaObjectType -> found.wholeNumber(index)?.takeIf { it == it.toInt().toLong() }?.toInt()
            else -> null
        }
    }

    /** The value itself is in no message: it may be secret, and what a handler throws is kept with its job. */
    @OptIn(ExperimentalSerializationApi::class)
    @PublishedApi
    internal fun <T> decoded(element: JsonElement, serializer: KSerializer<T>, name: String): T = try {
        json.decodeFromJsonElement(serializer, element)
    } catch (e: IllegalArgumentException) {
        val lacks = (e as? MissingFieldException)?.let { ": it has no ${it.missingFields.joinToString()}" }.orEmpty()
        val wanted = serializer.descriptor.serialName
        throw OjsException.Validation("$name is not what the handler reads it as, a $wanted$lacks")
    }

    /** Arguments of another version in the place of its own; before the handler sees the job. */
    internal fun change(args: List<Any?>, version: String) {
        changed = jsonOf(args, "args") as JsonArray to version
        read = null
    }

    // --- stopping early ---

    /** Whether the handler should stop. Its coroutine is cancelled at that moment, too. */
    public val cancelled: Boolean get() = cancellation.get() != null

    /** Why the handler should stop; null when it should not. */
    public val cancelReason: CancelReason? get() = cancellation.get()

    /** Throws [JobCancelledException] when the handler should stop. */
    public fun throwIfCancelled() {
        cancelReason?.let { throw JobCancelledException(it) }
    }

    internal fun cancel(reason: CancelReason) {
        if (cancellation.compareAndSet(null, reason)) coroutine?.cancel(JobCancelledException(reason))
    }

    /** The handler runs in this coroutine from now on. */
    internal fun enter(running: Coroutine) {
        coroutine = running
        cancelReason?.let { running.cancel(JobCancelledException(it)) }
    }

    /** Extends the lease now; the worker does so every few seconds by itself. False when the handler should stop. */
    public suspend fun heartbeat(): Boolean {
        link.heartbeat(token)?.let(::cancel)
        return !cancelled
    }

    // --- what lasts ---

    /**
     * Says how far the run has come: a [fraction] from 0 to 1, a sentence for people, and data of the application, at
     * most 4,096 bytes as JSON. Returns at once; of many reports the latest is sent, a few a second at most. One that
     * is lost does not harm the job.
     */
    public fun progress(fraction: Double, message: String? = null, data: Any? = null) {
        if (fraction.isFinite()) link.progress(
            token,
            jsonText(given("progress" to fraction, "message" to message, "data" to data)),
        )
    }

    /**
     * Saves the checkpoint of the job in place of the one before, and returns its sequence: it is on the server's disk
     * then, and every later attempt begins with it. At most 1 MiB as JSON.
     *
     * @throws JobCancelledException the lease is lost
     */
    public suspend fun checkpoint(state: Any?): Long = save(null, jsonText(state, "checkpoint"))

    /** What this run, or an attempt before it, has saved; null when there is nothing. */
    public fun loadCheckpoint(): Any? = link.saved(token, null)?.let { plain(parsed(it)) }

    /** The same as an object of a class that is `@Serializable`. */
    public inline fun <reified T : Any> checkpointAs(): T? =
        savedElement(null)?.let { decoded(it, serializer<T>(), "the checkpoint") }

    /**
     * Runs a step once across all attempts of the job, and returns its result. The result is saved with the checkpoint:
     * later attempts get it and do not run the step. A crash between the end of the step and the server's answer runs
     * it again.
     *
     * ```kotlin
     * val paid: String = ctx.step("charge") { charge(ctx.arg(0)) }
     * ```
     */
    public suspend inline fun <reified T> step(name: String, run: () -> T): T {
        val known = savedElement(name) ?: saveStep(name, run())
        if (T::class == Unit::class) return Unit as T
        return decoded(known, serializer<T>(), "the result of step '$name'")
    }

    @PublishedApi
    internal fun savedElement(step: String?): JsonElement? = link.saved(token, step)?.let(::parsed)

    @PublishedApi
    internal suspend fun saveStep(name: String, value: Any?): JsonElement {
        val text =
            if (value == null || value == Unit) JsonNull.toString() else jsonText(value, "result of step '$name'")
        save(name, text)
        return parsed(text)
    }

    private suspend fun save(step: String?, state: String): Long {
        val (sequence, reason) = link.save(token, step, state)
        if (reason == null) return sequence
        cancel(reason)
        throw JobCancelledException(reason)
    }

    override fun toString(): String = "JobContext($type $id, attempt $attempt)"
}
