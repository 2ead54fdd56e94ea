package org.openjobspec.kotlin.serverless

import java.lang.System.Logger.Level
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.DelicateCoroutinesApi
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.sync.Semaphore
import kotlinx.coroutines.sync.withPermit
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.serialization.json.JsonObject
import org.openjobspec.kotlin.CancelReason
import org.openjobspec.kotlin.Core
import org.openjobspec.kotlin.Entry
import org.openjobspec.kotlin.JobContext
import org.openjobspec.kotlin.Kind
import org.openjobspec.kotlin.LOG
import org.openjobspec.kotlin.OjsException
import org.openjobspec.kotlin.OjsWorker
import org.openjobspec.kotlin.Outcome
import org.openjobspec.kotlin.direct
import org.openjobspec.kotlin.jsonOf

/**
 * An outcome, and whether the server has taken note of it: then the server decides what comes next. Without a server,
 * completed jobs alone count as taken.
 */
internal class Settled(val outcome: Outcome, val isTaken: Boolean)

/** What the failure of an outcome says: `code`, `message`, `retryable`; null when the job was completed. */
internal val Outcome.error: Map<*, *>? get() = members()["error"] as? Map<*, *>

/**
 * Runs single jobs with the handlers and the middleware of a worker that is never started, and reports the outcomes of
 * those that a queue has brought.
 *
 * @param hasServer whether the worker's server has leased the jobs: then heartbeats, checkpoints and outcomes go there
 */
internal class Runs(private val worker: OjsWorker, private val hasServer: Boolean) {
    /** Handlers that did not stop in time end here, not in the coroutine of the caller, which has its answer. */
    val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default + CoroutineName("ojs-function"))

    /** Where handlers run, which may block. How many run at a time is for the platform to say. */
    private val place = worker.dispatcher ?: Dispatchers.IO
    private val client get() = worker.client

    /** Asks the same of each item, as many at a time as a worker runs jobs; the answers in the order of the items. */
    suspend fun <T> each(items: List<T>, ask: suspend (T) -> Boolean): List<Boolean> = coroutineScope {
        val places = Semaphore(worker.concurrency)
        items.map { item -> async { places.withPermit { ask(item) } } }.awaitAll()
    }

    /** Runs the handler of a job. */
    suspend fun run(delivery: Delivery, deadline: Deadline): Outcome {
        val outcome = try {
            val clear = Core.call { client.core.decrypted(direct(delivery.json.toString())) }
            attempted(delivery, clear, deadline.left(delivery.timeout))
        } catch (e: OjsException) {
            Outcome.refused(e.code, "DecryptionError", e.message.orEmpty(), e.retryable)
        }
        outcome.error?.let { error ->
            val name = "${delivery.type} ${delivery.jobId}"
            LOG.log(Level.WARNING, "job $name was not completed: ${error["code"]}: ${error["message"]}")
        }
        return outcome
    }

    private suspend fun attempted(delivery: Delivery, clear: ByteArray, limit: Duration?): Outcome {
        val link = ServerLink(delivery, client, hasServer)
        val entry = Entry(0, delivery.jobId, delivery.type, delivery.queue, delivery.attempt, clear)
        val reports = scope.launch { link.sendReports() }
        return try {
            within(limit, JobContext(link, entry))
        } finally {
            link.close()
            // The last report is sent before the platform may freeze the process.
            withTimeoutOrNull(WIND_UP) { reports.join() }
        }
    }

    /** Ends with the handler, or when its time is up: then it is asked to stop, and its coroutine is cancelled. */
    @OptIn(DelicateCoroutinesApi::class)
    private suspend fun within(limit: Duration?, ctx: JobContext): Outcome {
        val ended = CompletableDeferred<Outcome>()
        // Its body begins also when it is cancelled before: every run has an outcome.
        scope.launch(place, CoroutineStart.ATOMIC) {
            ctx.enter(coroutineContext.job)
            ended.complete(handled(ctx))
        }
        try {
            if (limit == null) return ended.await()
            withTimeoutOrNull(limit) { ended.await() }?.let { return it }
            ctx.cancel(CancelReason.TIMED_OUT)
            // What a handler has completed counts, all else is its lack of time.
            withTimeoutOrNull(WIND_UP) { ended.await() }?.takeIf { it.kind == Kind.COMPLETED }?.let { return it }
            val message = "The attempt took longer than its timeout_ms, or than the platform allows."
            return Outcome.refused("timeout", "timeout", message, true)
        } catch (e: CancellationException) {
            ctx.cancel(CancelReason.SHUTDOWN)
            throw e
        }
    }

    private suspend fun handled(ctx: JobContext): Outcome {
        var thrown: Throwable? = null
        val outcome = try {
            val calls = worker.calls()
            val call = calls[ctx.type] ?: calls["*"] ?: return unknown(ctx.type)
            ctx.throwIfCancelled()
            Outcome.success(ctx, call(ctx))
        } catch (e: Throwable) { // a handler ends its job, not the function
            thrown = e
            Outcome.failure(ctx, e)
        }
        worker.listeners.tell(ctx, thrown)
        return outcome
    }

    private fun unknown(type: String): Outcome {
        if (worker.releasesUnknownTypes) return Outcome(0, Kind.RELEASED, ByteArray(0))
        val message = "No handler is registered for job type '$type'."
        return Outcome.refused("no_handler", "NoHandler", message, false)
    }

    /**
     * Runs a job that a queue has brought, and reports its outcome. A job that the server does not have any more is not
     * run, and counts as taken.
     */
    suspend fun settle(delivery: Delivery, deadline: Deadline): Settled {
        val whole = try {
            if (delivery.isWhole) delivery else read(delivery)
        } catch (e: OjsException.NotFound) {
            LOG.log(Level.WARNING, "job ${delivery.jobId} is gone: it is not run")
            return Settled(Outcome.refused(e.code, "JobGone", e.message.orEmpty(), false), true)
        }
        if (whole == null) {
            val message = "the message of job ${delivery.jobId} has no args, and the server could not be asked"
            return Settled(Outcome.refused("invalid_job", "InvalidJob", message, true), false)
        }
        val outcome = run(whole, deadline)
        return Settled(outcome, if (hasServer) report(delivery, outcome) else outcome.kind == Kind.COMPLETED)
    }

    /**
     * The delivery with the whole job, read from the server; null where that is not possible.
     *
     * @throws OjsException.NotFound the server does not have the job any more
     */
    private suspend fun read(delivery: Delivery): Delivery? {
        if (!hasServer) return null
        return try {
            val found = jsonOf(asked { client.getJob(delivery.jobId) }) as JsonObject
            delivery.completed(found, if (delivery.refersToCheckpoint) saved(delivery) else null)
        } catch (e: OjsException.NotFound) {
            throw e
        } catch (e: OjsException) {
            LOG.log(Level.ERROR, "job ${delivery.jobId} cannot be read from the server: ${e.message}")
            null
        }
    }

    /**
     * The checkpoint that the server has. A server without checkpoints answers 404, in a form of its own: the job is
     * there, and runs without one.
     */
    private suspend fun saved(delivery: Delivery): JsonObject? = try {
        jsonOf(asked { client.getCheckpoint(delivery.jobId) }) as JsonObject
    } catch (e: OjsException) {
        if (e.status != 404) throw e
        LOG.log(Level.WARNING, "the server has no checkpoint of job ${delivery.jobId}: the job runs without it")
        null
    }

    /**
     * Whether the server has moved on since a message was sent that a queue delivers again: the job has ended, or is at
     * a later attempt. A server that does not answer has not moved on.
     */
    suspend fun isStale(delivery: Delivery): Boolean {
        if (!hasServer) return false
        return try {
            val job = asked { client.getJob(delivery.jobId) }
            val isRunnable = job.state == "active" || job.state == "available" && !delivery.isFenced
            !isRunnable || job.attempt > delivery.attempt
        } catch (e: OjsException.NotFound) {
            true
        } catch (e: OjsException) {
            val why = "the server cannot be asked about it: ${e.message}"
            LOG.log(Level.WARNING, "job ${delivery.jobId} came again, and $why")
            false
        }
    }

    /** The answer to a call. A server that hangs does not hold up a function until the platform ends it. */
    private suspend fun <T> asked(call: suspend () -> T): T {
        val answer = withTimeoutOrNull(CALL) { listOf(call()) }
        if (answer != null) return answer.single()
        val about = OjsException.About("timeout", retryable = true)
        throw OjsException.Timeout("the server has not answered within $CALL", about)
    }

    /** A server that says that the job is settled, or another worker's by now, has taken note. */
    private suspend fun report(delivery: Delivery, outcome: Outcome): Boolean {
        val about = delivery.lease + outcome.members() + ("job_id" to delivery.jobId)
        return try {
            send(outcome.path, about)
            true
        } catch (e: OjsException.Api) {
            val isRefusedResult = e is OjsException.InvalidRequest || e is OjsException.PayloadTooLarge
            when {
                e is OjsException.Conflict || e is OjsException.NotFound -> {
                    LOG.log(Level.WARNING, "the outcome of job ${delivery.jobId} was not taken: ${e.message}")
                    true
                }
                outcome.kind == Kind.COMPLETED && isRefusedResult -> {
                    // The same result would be refused again.
                    val message = "the result was not accepted: ${e.message}"
                    report(delivery, Outcome.refused("serialization_error", "ResultRefused", message, false))
                }
                else -> unreported(delivery, e)
            }
        } catch (e: OjsException) {
            unreported(delivery, e)
        }
    }

    private fun unreported(delivery: Delivery, e: OjsException): Boolean {
        LOG.log(Level.ERROR, "the outcome of job ${delivery.jobId} did not reach the server: ${e.message}")
        return false
    }

    private suspend fun send(path: String, about: Map<String, Any?>) {
        for (left in SENDS - 1 downTo 0) {
            try {
                asked { client.request("POST", path, about) }
                return
            } catch (e: OjsException.Connection) {
                if (left == 0) throw e
            }
        }
    }

    private companion object {
        /** What a handler that was asked to stop gets to end in order. */
        val WIND_UP = 1.seconds

        /** How often an outcome is sent while no clear answer comes. The server takes it once. */
        const val SENDS = 2

        /** The longest wait for an answer of the server: all sends fit into the margin before the platform's limit. */
        val CALL = 2.seconds
    }
}
