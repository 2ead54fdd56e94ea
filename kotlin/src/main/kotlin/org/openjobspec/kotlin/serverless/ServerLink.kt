package org.openjobspec.kotlin.serverless

import java.lang.System.Logger.Level
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.Job
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import org.openjobspec.kotlin.CancelReason
import org.openjobspec.kotlin.LOG
import org.openjobspec.kotlin.Link
import org.openjobspec.kotlin.OjsClient
import org.openjobspec.kotlin.OjsException
import org.openjobspec.kotlin.at
import org.openjobspec.kotlin.given
import org.openjobspec.kotlin.items
import org.openjobspec.kotlin.membersOf
import org.openjobspec.kotlin.parsed
import org.openjobspec.kotlin.plain
import org.openjobspec.kotlin.whole

/**
 * What a context asks of the server, where no worker runs its job.
 *
 * @param client what the handler enqueues with
 * @param hasServer whether it leads to the server that has leased the job
 */
internal class ServerLink(
    private val delivery: Delivery,
    override val client: OjsClient,
    hasServer: Boolean,
) : Link {
    override val workerId: String? get() = delivery.lease["worker_id"] as? String
    private val id = delivery.jobId
    private val server = client.takeIf { hasServer }
    private val saving = Mutex()

    @Volatile
    private var state: JsonElement?

    @Volatile
    private var steps: Map<String, JsonElement>

    /** Reports of progress: of those that wait the latest is kept. */
    private val reports = Channel<String>(Channel.CONFLATED)
    private val over = Job()

    init {
        val said = (delivery.json["checkpoint"] as? JsonObject)?.get("state")?.takeIf { it !is JsonNull }
        val kept = (said as? JsonObject)?.get(STEPS) as? JsonObject
        steps = kept.orEmpty()
        state = if (kept == null) said else said[STATE]
    }

    override suspend fun heartbeat(token: Long): CancelReason? {
        val worker = delivery.lease["worker_id"]
        if (server == null || worker == null) return null
        val tokens = delivery.lease["lease_token"]?.let { mapOf(id to it) }
        val beat = given(
            "worker_id" to worker,
            "state" to "running",
            "active_jobs" to listOf(id),
            "lease_tokens" to tokens,
        )
        return try {
            val answer = membersOf(server.request("POST", "/workers/heartbeat", beat))
            when {
                id in answer.items("cancelled_jobs") -> CancelReason.CANCELLED
                "jobs_extended" in answer && id !in answer.items("jobs_extended") -> CancelReason.LEASE_LOST
                else -> null
            }
        } catch (e: OjsException) {
            LOG.log(Level.WARNING, "the heartbeat of job $id was not taken: ${e.message}")
            null
        }
    }

    override fun progress(token: Long, report: String) {
        if (server != null) reports.trySend(report)
    }

    /** Sends reports of progress, a few a second, until [close]; the last one is sent then. */
    suspend fun sendReports() {
        for (report in reports) {
            try {
                put("progress", membersOf(plain(parsed(report))))
            } catch (e: OjsException) { // the job does not depend on it
                LOG.log(Level.DEBUG, "a report of progress of job $id was not taken: ${e.message}")
            }
            withTimeoutOrNull(PAUSE) { over.join() }
        }
    }

    /** The run is over. */
    fun close() {
        reports.close()
        over.complete()
    }

    override suspend fun save(token: Long, step: String?, state: String): Pair<Long, CancelReason?> = saving.withLock {
        if (server == null) throw OjsException.Validation(
            "checkpoints are kept by the server: give the function its URL, ojsUrl or OJS_URL",
        )
        val value = parsed(state)
        if (step == null && value is JsonNull) {
            throw OjsException.Validation("a checkpoint must not be null: delete it instead")
        }
        step?.let(::checkName)
        val next = if (step == null) steps else steps + (step to value)
        val kept = if (step == null) value else this.state
        try {
            val answer = membersOf(put("checkpoint", mapOf("state" to document(kept, next))))
            this.state = kept
            steps = next
            (answer.whole("sequence") ?: 0) to null
        } catch (e: OjsException.Conflict) {
            0L to lost(e)
        }
    }

    override fun saved(token: Long, step: String?): String? = (if (step == null) state else steps[step])?.toString()

    private suspend fun put(what: String, members: Map<String, Any?>): Any? =
        client.request("PUT", at("jobs", id, what), members + delivery.lease)

    private companion object {
        /** Members of the document that the server keeps for a job, where steps were run: the same in all languages. */
        const val STATE = "\$ojs.state"
        const val STEPS = "\$ojs.steps"

        /** The longest name of a step, in bytes. */
        const val LONGEST = 255

        /** The least time between two reports of progress. */
        val PAUSE = 250.milliseconds

        fun checkName(step: String) {
            if (step.encodeToByteArray().size !in 1..LONGEST) {
                throw OjsException.Validation("the name of a step has 1 to $LONGEST bytes")
            }
        }

        fun lost(e: OjsException.Conflict): CancelReason {
            val state = (e.details as? Map<*, *>)?.get("current_state")
            return if (state == "cancelled") CancelReason.CANCELLED else CancelReason.LEASE_LOST
        }

        /** A document of the handler that looks like one with steps is put into one, or it would be read as one. */
        fun document(state: JsonElement?, steps: Map<String, JsonElement>): JsonElement {
            val isReserved = state is JsonObject && (STATE in state || STEPS in state)
            if (state != null && steps.isEmpty() && !isReserved) return state
            return JsonObject(buildMap {
                if (state != null) put(STATE, state)
                put(STEPS, JsonObject(steps))
            })
        }
    }
}
