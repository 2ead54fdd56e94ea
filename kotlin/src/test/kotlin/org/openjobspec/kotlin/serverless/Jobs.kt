package org.openjobspec.kotlin.serverless

import java.time.Instant
import java.util.HexFormat
import java.util.concurrent.atomic.AtomicInteger
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec
import org.openjobspec.kotlin.Job
import org.openjobspec.kotlin.OjsClient
import org.openjobspec.kotlin.given
import org.openjobspec.kotlin.jsonText
import org.openjobspec.kotlin.membersOf
import org.openjobspec.kotlin.parsed
import org.openjobspec.kotlin.plain
import org.openjobspec.kotlin.server
import org.openjobspec.kotlin.unique

internal const val SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

/** Of the server that ends with the tests. */
internal val CLIENT: OjsClient by lazy { OjsClient(server.url) }

/** A job that a push endpoint has been leased, and the body of its delivery. */
internal class Leased(val id: String, val body: String) {
    suspend fun now(): Job = CLIENT.getJob(id)

    suspend fun state(): String? = now().state
}

/** Enqueues a job, and takes it as the sender of a push endpoint takes it. */
internal suspend fun leased(
    type: String,
    vararg args: Any?,
    by: OjsClient = CLIENT,
    // A failed job stays where a test looks for it.
    retry: Map<String, Any?> = mapOf("initial_interval" to "PT1H"),
    version: String? = null,
): Leased {
    val queue = unique("push")
    val options = given("queue" to queue, "retry" to retry, "version" to version)
    val sent = by.request("POST", "/jobs", mapOf("type" to type, "args" to args, "options" to options))
    val fetch = mapOf("queues" to listOf(queue), "count" to 1, "worker_id" to "push_worker_1")
    val job = (dig(CLIENT.request("POST", "/workers/fetch", fetch), "jobs") as List<*>).single()
    return Leased(dig(sent, "job", "id") as String, delivery(jsonText(job)))
}

private val numbers = AtomicInteger()

internal fun delivery(job: String): String =
    """{"job":$job,"worker_id":"push_worker_1","delivery_id":"del_${numbers.incrementAndGet()}"}"""

/** A job that no server knows. */
internal fun plainJob(type: String): String {
    val id = "01234567-89ab-7cde-8000-%012d".format(numbers.incrementAndGet())
    val members = mapOf("specversion" to "1.0", "id" to id, "type" to type, "args" to listOf(1), "attempt" to 1)
    return jsonText(members + ("queue" to "default"))
}

internal fun sqs(id: String, body: String): Map<String, Any?> = message(id, body, "ojs-default", emptyMap())

internal fun fifo(id: String, group: String, body: String, count: Int = 1): Map<String, Any?> {
    val attributes = mapOf("MessageGroupId" to group, "ApproximateReceiveCount" to "$count")
    return message(id, body, "ojs-default.fifo", attributes)
}

private fun message(id: String, body: String, queue: String, attributes: Map<String, Any?>): Map<String, Any?> {
    val arn = "arn:aws:sqs:eu-central-1:1:$queue"
    return mapOf("messageId" to id, "body" to body, "eventSourceARN" to arn, "attributes" to attributes)
}

/** The messages of a batch that SQS shall deliver again. */
internal suspend fun again(handler: LambdaHandler, vararg messages: Map<String, Any?>): List<Any?> {
    val answer = handler.handle(mapOf("Records" to messages.asList()))
    return (answer["batchItemFailures"] as List<*>).map { dig(it, "itemIdentifier") }
}

/** The headers of the document. */
internal fun signed(body: String, at: Instant, vararg secrets: String): Map<String, List<String>> {
    val stamp = at.epochSecond.toString()
    val values = secrets.map { secret ->
        val mac = Mac.getInstance("HmacSHA256").apply { init(SecretKeySpec(secret.toByteArray(), "HmacSHA256")) }
        "sha256=" + HexFormat.of().formatHex(mac.doFinal("$stamp.$body".toByteArray()))
    }
    return mapOf("x-ojs-timestamp" to listOf(stamp), "X-OJS-Signature" to listOf(values.joinToString()))
}

internal fun members(text: String): Map<String, Any?> = membersOf(plain(parsed(text)))

/** A member below others. */
internal fun dig(value: Any?, vararg names: String): Any? =
    names.fold(value) { at, name -> (at as? Map<*, *>)?.get(name) }
