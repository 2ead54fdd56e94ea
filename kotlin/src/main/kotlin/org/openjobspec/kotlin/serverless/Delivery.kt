package org.openjobspec.kotlin.serverless

import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import org.openjobspec.kotlin.OjsException
import org.openjobspec.kotlin.membersOf
import org.openjobspec.kotlin.number
import org.openjobspec.kotlin.parsed
import org.openjobspec.kotlin.plain
import org.openjobspec.kotlin.text

/** What a platform has handed over is no job: the message names the wrong member. */
public class InvalidDeliveryException internal constructor(message: String) : RuntimeException(message) {
    /** The machine-readable code. */
    public val code: String get() = "invalid_request"
}

/**
 * The job has failed, and no server has taken note of it: the platform shall deliver the event again. Thrown to
 * platforms that take an exception as a failure.
 */
public class DeliveryFailedException internal constructor(
    message: String,
    /** The code of the failure. */
    public val code: String,
    /** False when the job has failed for good. */
    public val retryable: Boolean,
) : RuntimeException(message)

/**
 * A job as it reaches a function.
 *
 * @param json the job, with numbers as they were written
 * @param lease what its delivery says about the lease: `worker_id`, `lease_token`
 * @param id new for every attempt to push a job; null where a queue has brought it
 */
internal class Delivery private constructor(val json: JsonObject, val lease: Map<String, Any?>, val id: String?) {
    private val job = readable("the job", json)

    val jobId: String get() = job.text("id").orEmpty()
    val type: String get() = job.text("type").orEmpty()
    val queue: String get() = job.text("queue") ?: "default"

    /** The number of the attempt, 1 where the delivery does not say. */
    val attempt: Int get() = (job.number("attempt") ?: 1).coerceAtLeast(1)

    /** The most that one run may take; null without a limit of the job's own. */
    val timeout: Duration?
        get() = limit("timeout_ms") { it.milliseconds } ?: limit("timeout") { it.seconds }

    private fun limit(name: String, length: (Double) -> Duration): Duration? =
        (job[name] as? Number)?.toDouble()?.takeIf { it > 0 }?.let(length)

    /**
     * Whether the message has the job itself. A queue of a cloud takes 256 KiB: of a larger job it has the name only.
     */
    val isWhole: Boolean get() = "args" in job

    /** Whether the server has a checkpoint of the job that is too large for the message as well. */
    val refersToCheckpoint: Boolean get() = job["checkpoint_ref"] == true

    /** Whether the delivery proves the lease by a token. */
    val isFenced: Boolean get() = "lease_token" in lease

    /**
     * The same delivery with the whole job, as the server has it. Members of the message count: its lease and its
     * attempt are those of this delivery.
     */
    fun completed(found: JsonObject, checkpoint: JsonObject?): Delivery {
        val saved = checkpoint?.let { mapOf("checkpoint" to JsonObject(it.filterKeys { name -> name in CHECKPOINT })) }
        return Delivery(JsonObject(found + json - "checkpoint_ref" + saved.orEmpty()), lease, id)
    }

    companion object {
        private val CHECKPOINT = setOf("state", "sequence")
        private val LEASE = listOf("worker_id", "lease_token")

        /** Reads the body of a push delivery, `{"job": …, "worker_id", "delivery_id"}`, or a job alone. */
        fun read(body: String): Delivery = of(json("the body", body))

        /** JSON of a platform, named so in the error when it cannot be read. */
        fun json(what: String, text: String): JsonElement = readable(what) { parsed(text) }

        /** The same of JSON that has been read. */
        fun of(value: JsonElement?): Delivery {
            val data = value as? JsonObject ?: throw InvalidDeliveryException(
                "the body must be a JSON object with a job",
            )
            val json = if ("job" in data) objectIn(data, "job") else data
            val around = readable("the body", data)
            val job = readable("the job", json)
            for (name in listOf("id", "type")) {
                if (job.text(name).isNullOrEmpty()) {
                    throw InvalidDeliveryException("'$name' of the job must be a text that is not empty")
                }
            }
            if ("args" in job && job["args"] !is List<*>) {
                throw InvalidDeliveryException("'args' of the job must be an array")
            }
            val lease = LEASE.mapNotNull { name -> (around[name] ?: job[name])?.let { name to it } }.toMap()
            return Delivery(json, lease, around["delivery_id"] as? String)
        }

        private fun objectIn(data: JsonObject, name: String): JsonObject =
            data[name] as? JsonObject ?: throw InvalidDeliveryException("'$name' must be an object")

        private fun readable(what: String, json: JsonObject): Map<String, Any?> =
            readable(what) { membersOf(plain(json)) }

        private fun <T> readable(what: String, read: () -> T): T = try {
            read()
        } catch (e: OjsException) {
            throw InvalidDeliveryException("$what cannot be read as JSON: ${e.message?.removePrefix("the answer ")}")
        }
    }
}
