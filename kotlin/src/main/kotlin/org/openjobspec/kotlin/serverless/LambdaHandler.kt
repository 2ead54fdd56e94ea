package org.openjobspec.kotlin.serverless

import java.io.InputStream
import java.io.OutputStream
import java.lang.System.Logger.Level
import java.util.Base64
import kotlin.time.Duration
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.booleanOrNull
import kotlinx.serialization.json.contentOrNull
import org.openjobspec.kotlin.LOG
import org.openjobspec.kotlin.jsonOf
import org.openjobspec.kotlin.jsonText

/**
 * Handlers as a function of AWS Lambda: SQS, function URLs, API Gateway, EventBridge, and direct invocations.
 *
 * ```kotlin
 * private val handler = LambdaHandler(Settings(ojsUrl = "https://ojs.example.com")).apply {
 *     register("email.send") { ctx -> send(ctx.arg<String>(0)) }
 * }
 *
 * class Function : RequestStreamHandler {
 *     override fun handleRequest(input: InputStream, output: OutputStream, context: Context) =
 *         handler.handle(input, output, context.remainingTimeInMillis.milliseconds)
 * }
 * ```
 */
public class LambdaHandler(settings: Settings = Settings()) : PushHandler(settings) {
    /**
     * Takes an event of any kind, which it tells by its members, and writes the answer. For AWS's own runtime: the
     * thread waits until handlers have ended.
     *
     * @param input the event
     * @param output gets the answer
     * @param remaining the time of the invocation: `Context.getRemainingTimeInMillis()`
     */
    public fun handle(input: InputStream, output: OutputStream, remaining: Duration) {
        val event = Delivery.json("the event", input.readAllBytes().decodeToString())
        val answer = runBlocking { answered(objectOf(event, "the event"), remaining) }
        output.write(jsonText(answer).encodeToByteArray())
    }

    /** The same of an event that has been read; [left] is the time of the invocation, null where there is no limit. */
    public suspend fun handle(event: Map<String, Any?>, left: Duration? = null): Map<String, Any?> =
        answered(read(event), left)

    private suspend fun answered(event: JsonObject, left: Duration?): Map<String, Any?> = when {
        "Records" in event -> batch(event, left)
        "httpMethod" in event || "http" in part(event, "requestContext") -> http(event, left)
        "detail-type" in event || "source" in event -> deliver(Delivery.of(event["detail"]), 1, deadline(left))
        else -> direct(event, left)
    }

    /**
     * Runs the jobs of a batch of SQS and returns those that SQS shall deliver again, as `batchItemFailures`. The event
     * source mapping needs `ReportBatchItemFailures`.
     *
     * A message comes again when it cannot be read, and when its outcome did not reach the server. Where the server has
     * taken note of a failure, the server decides about the next attempt. In a FIFO queue the first failure that will
     * be tried again ends the work on its message group: that message and those behind it come again, and other groups
     * go on. Jobs of other queues run side by side, as many as a worker would run.
     */
    public suspend fun handleSqs(event: Map<String, Any?>, left: Duration? = null): Map<String, Any?> =
        batch(read(event), left)

    private suspend fun batch(event: JsonObject, left: Duration?): Map<String, Any?> {
        val deadline = deadline(left)
        val records = (event["Records"] as? JsonArray).orEmpty().map { objectOf(it, "a record of the event") }
        val isOrdered = records.any { group(it) != null }
        val done =
            if (isOrdered) inOrder(records, deadline) else runs.each(records) { settled(it, deadline, false) }
        val again = records.zip(done).filter { (_, isDone) -> !isDone }
        return mapOf("batchItemFailures" to again.map { (record, _) -> mapOf("itemIdentifier" to name(record)) })
    }

    private suspend fun inOrder(records: List<JsonObject>, deadline: Deadline): List<Boolean> {
        val stopped = HashSet<String?>()
        return records.map { record ->
            val isDone = group(record) !in stopped && settled(record, deadline, true)
            if (!isDone) stopped += group(record)
            isDone
        }
    }

    /** Runs the job of one message; false when SQS shall deliver it again. */
    private suspend fun settled(record: JsonObject, deadline: Deadline, isOrdered: Boolean): Boolean {
        if (deadline.hasPassed) return false
        val delivery = try {
            Delivery.read(text(record, "body").orEmpty())
        } catch (e: InvalidDeliveryException) {
            LOG.log(Level.ERROR, "message ${name(record)} of SQS has no job: ${e.message}")
            return false
        }
        val count = text(part(record, "attributes"), "ApproximateReceiveCount") ?: "1"
        if (count != "1" && runs.isStale(delivery)) return true
        val settled = runs.settle(delivery, deadline)
        return settled.isTaken && !(isOrdered && settled.outcome.error?.get("retryable") == true)
    }

    /** Answers a push delivery that came by a function URL or API Gateway (payload formats 1.0 and 2.0). */
    public suspend fun handleHttp(event: Map<String, Any?>, left: Duration? = null): Map<String, Any?> =
        http(read(event), left)

    private suspend fun http(event: JsonObject, left: Duration?): Map<String, Any?> {
        val answer = try {
            val text = text(event, "body").orEmpty()
            val isEncoded = (event["isBase64Encoded"] as? JsonPrimitive)?.booleanOrNull == true
            val body = if (isEncoded) Base64.getDecoder().decode(text) else text.encodeToByteArray()
            val method = text(event, "httpMethod") ?: text(part(part(event, "requestContext"), "http"), "method")
            answer(method.orEmpty(), headers(event), body, deadline(left))
        } catch (e: IllegalArgumentException) {
            Answer.refusal(400, "invalid_request", "the body is not base64")
        }
        return mapOf(
            "statusCode" to answer.status,
            "headers" to answer.headers,
            "body" to answer.text,
            "isBase64Encoded" to false,
        )
    }

    /**
     * Runs the job in the `detail` of an event.
     *
     * @throws DeliveryFailedException when the job has failed and no server knows: then Lambda calls the function again
     */
    public suspend fun handleEventBridge(event: Map<String, Any?>, left: Duration? = null): Map<String, Any?> =
        deliver(Delivery.of(read(event)["detail"]), 1, deadline(left))

    /** Runs the job that the event is, and returns `status`, `job_id`, and `result` or `error`. */
    public suspend fun handleDirect(event: Map<String, Any?>, left: Duration? = null): Map<String, Any?> =
        direct(read(event), left)

    private suspend fun direct(event: JsonObject, left: Duration?): Map<String, Any?> {
        val delivery = Delivery.of(event)
        return told(runs.settle(delivery, deadline(left)).outcome, delivery.jobId)
    }

    private companion object {
        fun read(event: Map<String, Any?>): JsonObject = jsonOf(event, "event") as JsonObject

        fun objectOf(value: JsonElement, what: String): JsonObject =
            value as? JsonObject ?: throw InvalidDeliveryException("$what must be an object")

        /** A member that is an object; an empty one where there is none. */
        fun part(of: JsonObject, name: String): JsonObject = of[name] as? JsonObject ?: JsonObject(emptyMap())

        fun text(of: JsonObject, name: String): String? = (of[name] as? JsonPrimitive)?.contentOrNull

        fun name(record: JsonObject): String? = text(record, "messageId")

        /** The message group of a FIFO queue; null in a standard queue, where groups order nothing. */
        fun group(record: JsonObject): String? {
            val isFifo = text(record, "eventSourceARN").orEmpty().endsWith(".fifo")
            return if (isFifo) text(part(record, "attributes"), "MessageGroupId").orEmpty() else null
        }

        fun headers(event: JsonObject): Map<String, List<String>> {
            val many = part(event, "multiValueHeaders").mapValues { (_, values) ->
                (values as? JsonArray).orEmpty().mapNotNull { (it as? JsonPrimitive)?.contentOrNull }
            }
            val single = part(event, "headers").keys.mapNotNull { name ->
                text(part(event, "headers"), name)?.let { name to listOf(it) }
            }
            return many + single
        }
    }
}
