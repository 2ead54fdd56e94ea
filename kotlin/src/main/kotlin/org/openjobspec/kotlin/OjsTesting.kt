package org.openjobspec.kotlin

import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.openjobspec.kotlin.core.CoreClient
import org.openjobspec.kotlin.core.fakeMatching
import org.openjobspec.kotlin.core.fakeRecorded

/**
 * Tests without a server: a private engine in memory takes the place of every client's server.
 *
 * ```kotlin
 * OjsTesting.fake().use { fake ->
 *     signUp("ada@example.com")
 *     fake.assertEnqueued("email.send", "args" to listOf("ada@example.com"), "queue" to "mail")
 *     fake.drain(worker) // runs the handlers here
 * }
 * ```
 */
public object OjsTesting {
    /** The newest one gets the jobs. */
    private val all = CopyOnWriteArrayList<Fake>()

    /** Keeps the jobs of all clients in memory, until it is closed. */
    public fun fake(): Fake = begin(emptyList())

    /**
     * Runs jobs with the handlers of these workers as soon as they are enqueued; what they throw reaches the caller of
     * enqueue.
     */
    public fun inline(vararg workers: OjsWorker): Fake = begin(workers.asList())

    private fun begin(inline: List<OjsWorker>): Fake = Fake(inline) { all -= it }.also { all += it }

    /** What takes the place of connections; null when nothing does. */
    internal fun active(): Fake? = all.lastOrNull()
}

/** What was enqueued while it is active: [OjsTesting.fake]. */
public class Fake internal constructor(
    private val inline: List<OjsWorker>,
    private val end: (Fake) -> Unit,
) : AutoCloseable {
    private val recorded = CopyOnWriteArrayList<Job>()

    @Volatile
    private var engine = engine()

    /** Marks what runs inside of [drain]: jobs that handlers enqueue wait for their turn. */
    private class Draining : AbstractCoroutineContextElement(Key) {
        companion object Key : CoroutineContext.Key<Draining>
    }

    /** Every job as it goes over the wire, oldest first: `type`, `args`, `options`. */
    public val requests: List<Job> get() = recorded.toList()

    internal suspend fun request(method: String, path: String, body: ByteArray?): ByteArray {
        val answer = Core.call { engine.call(method, path, body, null) }
        val sent = itemsOf(plain(parsed(fakeRecorded(method, path, direct(body ?: ByteArray(0))))))
        sent.forEach { recorded += Job(membersOf(it)) }
        if (
            sent.isNotEmpty() && inline.isNotEmpty() && coroutineContext[Draining] == null
        ) drain(*inline.toTypedArray())
        return answer
    }

    /**
     * The jobs of this type that match: `args`, `id` and `schema` are equal, `meta` is a part of the job's, other
     * members are options in the forms that [job] takes or that the wire has.
     */
    public fun enqueued(type: String, vararg wanted: Pair<String, Any?>): List<Job> =
        matching(mapOf("type" to type) + wanted)

    /** The core decides what matches, as in every language. */
    internal fun matching(wanted: Map<String, Any?>): List<Job> {
        val jobs = requests
        return Core.call { fakeMatching(jsonText(jobs), jsonText(wanted)) }.map { jobs[it.toInt()] }
    }

    /** Fails unless such a job was enqueued; with [count] unless so many were. Returns them. */
    public fun assertEnqueued(type: String, vararg wanted: Pair<String, Any?>, count: Int? = null): List<Job> {
        val found = enqueued(type, *wanted)
        if (if (count == null) found.isNotEmpty() else found.size == count) return found
        val what = "'$type'" + if (wanted.isEmpty()) "" else " with " + jsonText(wanted.toMap())
        val all = recorded.joinToString { it.type + jsonText(it.args) }.ifEmpty { "none" }
        throw AssertionError("expected ${count ?: "at least one"} $what, found ${found.size}; enqueued were: $all")
    }

    /** Fails when such a job was enqueued. */
    public fun assertNotEnqueued(type: String, vararg wanted: Pair<String, Any?>) {
        assertEnqueued(type, *wanted, count = 0)
    }

    /** Forgets all jobs. */
    public suspend fun clear() {
        recorded.clear()
        val old = engine
        engine = engine()
        Core.call { old.release() }
    }

    /**
     * Runs the handlers of the workers on everything that is available, jobs enqueued on the way included; returns how
     * many ran. What a handler throws is thrown here, after its job was marked as failed.
     */
    public suspend fun drain(vararg workers: OjsWorker): Int = withContext(Draining()) {
        var ran = 0
        for (worker in workers) {
            while (true) {
                perform(worker, next(worker) ?: break)
                ran++
            }
        }
        ran
    }

    private suspend fun next(worker: OjsWorker): Job? {
        val answer =
            call("POST", "/workers/fetch", mapOf("queues" to worker.queues, "count" to 1, "worker_id" to "drain"))
        return Reply.list(answer, "jobs").firstOrNull()?.let { Job(membersOf(it)) }
    }

    private suspend fun perform(worker: OjsWorker, job: Job) {
        val link = object : Link {
            override val client = worker.client
        }
        val ctx =
            JobContext(link, Entry(0, job.id, job.type, job.queue, job.attempt, jsonText(job).encodeToByteArray()))
        var thrown: Throwable? = null
        val outcome = try {
            val calls = worker.calls()
            val call = calls[job.type] ?: calls["*"] ?: throw noHandler(job.type, calls.keys)
            Outcome.success(ctx, call(ctx))
        } catch (e: Throwable) {
            thrown = e
            Outcome.failure(ctx, e)
        }
        val about =
            given("job_id" to job.id, "lease_token" to job["lease_token"], "worker_id" to "drain") + outcome.members()
        call("POST", outcome.path, about)
        if (thrown != null && outcome.kind == Kind.FAILED) throw thrown
    }

    private fun noHandler(type: String, known: Set<String>) = OjsException.Validation(
        "No handler is registered for job type '$type'. Registered are: ${known.sorted().joinToString()}; " +
            "'*' stands for every other type.",
        OjsException.About("no_handler"),
    )

    private suspend fun call(method: String, path: String, body: Any?): Any? =
        plain(Core.call { engine.call(method, path, jsonText(body).encodeToByteArray(), null) })

    /** Ends it: clients reach their servers again. */
    override fun close() {
        end(this)
        runBlocking(Dispatchers.IO) { Core.call { engine.release() } }
    }

    private companion object {
        val engines = AtomicInteger()

        fun engine() = CoreClient("memory:ojs-testing-kotlin-${engines.incrementAndGet()}", "{}")
    }
}
