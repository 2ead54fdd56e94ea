package org.openjobspec.kotlin

import java.lang.System.Logger.Level
import kotlin.time.Duration
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.openjobspec.kotlin.core.CoreWorker
import org.openjobspec.kotlin.core.versionChanges

/** Changes the arguments of one version into those of another. */
public fun interface ArgsTransform {
    /** The new arguments. */
    public suspend fun change(args: List<Any?>): List<Any?>
}

/** Fetches jobs and runs their handlers, each in a coroutine of its own. The function of the same name makes one. */
public class OjsWorker private constructor(
    internal val client: OjsClient,
    internal val dispatcher: CoroutineDispatcher?,
    private val settings: Map<String, Any?>,
) : Registering<OjsWorker>(), AutoCloseable {
    /** The layers around every handler, to be arranged before the start. */
    public val middleware: MiddlewareChain<ExecutionMiddleware> = MiddlewareChain(emptyList())

    /** The queues, in order of preference. */
    public val queues: List<String> = itemsOf(settings["queues"]).map { it as String }
    internal val concurrency = (settings["concurrency"] as Number).toInt()

    /** Whether jobs of types without a handler go back to their queue. */
    internal val releasesUnknownTypes: Boolean get() = settings["unknown_types"] == UnknownTypes.RELEASE.word
    private val handlers = HashMap<String, JobHandler>()
    private val versions = HashMap<String, Versions>()
    internal val listeners = Listeners()
    private var composed: Map<String, JobHandler>? = null

    @Volatile
    private var core: CoreWorker? = null

    @Volatile
    private var loop: WorkerLoop? = null

    // --- before the start ---

    @Synchronized
    override fun registered(type: String, defaults: Map<String, Any?>, handler: JobHandler): OjsWorker {
        checkNew("register handlers")
        if (type.isEmpty()) throw OjsException.Validation("register needs a job type")
        if (type in handlers) throw OjsException.Validation("a handler for '$type' is registered already")
        setDefaults(type, defaults)
        handlers[type] = handler
        (defaults["version"] as? String)?.let { versionsOf(type).version = it }
        val queue = defaults["queue"] as? String
        if (queue != null && queue !in queues) {
            LOG.log(
                Level.WARNING,
                "jobs of type '$type' go to the queue '$queue' by default, and this worker asks for $queues only",
            )
        }
        return this
    }

    /**
     * Names the ranges of versions that the handler of a job type runs, such as `>=2.0 <4.0`, in place of those that
     * follow from the `version` among its defaults.
     */
    @Synchronized
    public fun versions(type: String, vararg ranges: String): OjsWorker {
        checkNew("name versions")
        versionsOf(type).ranges = ranges.asList()
        return this
    }

    /**
     * Registers how arguments of version [from] become those of version [to]; changes are made one after the other,
     * before the middleware and the handler see the job. One that throws ends the job with the code
     * `version_transform`.
     */
    @Synchronized
    public fun transform(type: String, from: String, to: String, change: ArgsTransform): OjsWorker {
        checkNew("register transforms")
        versionsOf(type).changes += Versions.Change(from, to, change)
        return this
    }

    private fun versionsOf(type: String) = versions.getOrPut(type) { Versions() }

    /** Adds a layer around every handler; the first one added is the outermost. */
    public fun use(name: String, layer: ExecutionMiddleware): OjsWorker {
        middleware.add(name, layer)
        return this
    }

    /** Calls back after every job that a handler finished. What it throws is logged, and harms nothing else. */
    public fun onCompleted(listener: suspend (JobContext) -> Unit): OjsWorker {
        listeners.completed += listener
        return this
    }

    /** Calls back after every run that a handler ended by throwing. */
    public fun onFailed(listener: suspend (JobContext, Throwable) -> Unit): OjsWorker {
        listeners.failed += listener
        return this
    }

    private fun checkNew(what: String) {
        if (composed != null) throw OjsException.Validation("$what before the worker starts")
    }

    /** One handler per job type, with the middleware around it. */
    @Synchronized
    internal fun calls(): Map<String, JobHandler> = composed ?: run {
        val layers = middleware.freeze()
        handlers.mapValues { (type, handler) ->
            composed(layers, handler).let { versions[type]?.around(type, it) ?: it }
        }
    }.also { composed = it }

    // --- running ---

    /** Connects and begins to work. Returns when it does; the process stays alive until the worker is over. */
    public suspend fun start(): OjsWorker = begin {}

    /** [attach] runs before the state says that the worker runs: a signal that is sent then finds its handler. */
    private suspend fun begin(attach: () -> Unit): OjsWorker {
        if (handlers.isEmpty()) throw OjsException.Validation(
            "the worker has no handlers: register some before it starts",
        )
        val calls = calls()
        val types = given("types" to (calls.keys - "*").toList(), "fallback" to ("*" in calls))
        val said = if (versions.isEmpty()) emptyMap() else mapOf("versions" to versions.mapValues { it.value.said() })
        val made = synchronized(this) {
            if (core != null) throw OjsException.Validation("a worker can be started once; make another one")
            Core.call { CoreWorker(client.core, jsonText(settings + types + said)) }.also { core = it }
        }
        // A call that is cancelled half way would leave a worker that runs and is not listened to.
        withContext(NonCancellable) { Core.call { made.start() } }
        val place = dispatcher ?: placeOfHandlers(concurrency)
        val begun = WorkerLoop(made, client, calls, concurrency, place, listeners)
        loop = begun
        attach()
        begun.start()
        return this
    }

    /**
     * Works until SIGTERM, SIGINT, [shutdown], or a directive of the server; SIGTSTP makes it [quiet], SIGCONT
     * [resume]s it. When the coroutine is cancelled it stops the worker and returns when that is over: running handlers
     * may finish for the grace period, then they are cancelled and their jobs go back.
     */
    public suspend fun run() {
        var signals: AutoCloseable? = null
        try {
            begin { signals = Interrupts.attach(this) }
            join()
        } finally {
            withContext(NonCancellable) { stop() }
            signals?.close()
        }
    }

    /**
     * Stops gracefully: running handlers may finish for [grace] (without it as the settings say), then they are
     * cancelled and their jobs go back to the queue. Returns when it is over.
     */
    public suspend fun stop(grace: Duration? = null) {
        if (loop == null) return
        if (state < WorkerState.TERMINATE) shutdown(grace)
        join()
    }

    /** Begins to stop. A second call ends the grace period. */
    public fun shutdown(grace: Duration? = null): Unit =
        Core.call { running().stop(grace?.let { notNegative("grace", it).inWholeMilliseconds.toULong() }) }

    /** Fetches no more; what runs goes on. */
    public fun quiet(): Unit = Core.call { running().quiet() }

    /** Fetches again after [quiet]. */
    public fun resume(): Unit = Core.call { running().resume() }

    /** Returns when the worker is over. */
    public suspend fun join() {
        running()
        loop?.over?.await()
    }

    /** As [stop], on the calling thread, for `use { }`. */
    override fun close(): Unit = runBlocking { stop() }

    private fun running(): CoreWorker =
        loop?.let { core } ?: throw OjsException.Validation("the worker has not been started")

    /** The worker's name on the server. */
    public val id: String get() = running().id()

    /** Where it is in its life. */
    public val state: WorkerState
        get() = if (loop?.started == true) WorkerState.entries[running().phase().toInt()] else WorkerState.NEW

    /** Handlers that run now. */
    public val activeJobs: Int get() = loop?.active ?: 0

    override fun toString(): String = "OjsWorker(queues ${queues.joinToString()}, $state)"

    internal companion object {
        fun made(client: OjsClient, dispatcher: CoroutineDispatcher?, settings: Map<String, Any?>): OjsWorker {
            if (itemsOf(settings["queues"]).isEmpty()) throw OjsException.Validation(
                "queues must not be empty: leave it out for the default",
            )
            return OjsWorker(client, dispatcher, settings)
        }
    }
}

/**
 * What a worker says about the versions of one job type. Which changes are made is decided by the core; here the
 * functions are called.
 */
internal class Versions {
    class Change(val from: String, val to: String, val run: ArgsTransform)

    var version: String? = null
    var ranges: List<String>? = null
    val changes = ArrayList<Change>()

    /** As the core reads it. */
    fun said(): Map<String, Any?> =
        given("version" to version, "versions" to ranges, "transforms" to changes.map { listOf(it.from, it.to) })

    /** The call of the type, with the arguments changed before it runs. */
    fun around(type: String, call: JobHandler): JobHandler {
        if (changes.isEmpty()) return call
        val said = jsonText(said())
        return JobHandler { ctx ->
            val path = Core.call { itemsOf(plain(parsed(versionChanges(type, said, direct(ctx.envelope))))) }
            for (number in path) change(ctx, changes[(number as Number).toInt()])
            call(ctx)
        }
    }

    private suspend fun change(ctx: JobContext, change: Change) {
        try {
            ctx.change(change.run.change(ctx.args), change.to)
        } catch (e: java.util.concurrent.CancellationException) {
            throw e
        } catch (e: Exception) {
            val message = "The arguments cannot become those of version ${change.to}: ${e.message}"
            throw NonRetryableException(message, "version_transform", cause = e)
        }
    }
}
