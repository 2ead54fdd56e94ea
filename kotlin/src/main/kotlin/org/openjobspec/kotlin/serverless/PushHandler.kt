package org.openjobspec.kotlin.serverless

import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpHandler
import java.io.IOException
import java.lang.System.Logger.Level
import java.security.MessageDigest
import java.util.Base64
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.contentOrNull
import kotlinx.serialization.json.intOrNull
import org.openjobspec.kotlin.ExecutionMiddleware
import org.openjobspec.kotlin.JobHandler
import org.openjobspec.kotlin.Kind
import org.openjobspec.kotlin.LOG
import org.openjobspec.kotlin.OjsException
import org.openjobspec.kotlin.OjsWorker
import org.openjobspec.kotlin.Outcome
import org.openjobspec.kotlin.Registering
import org.openjobspec.kotlin.Webhooks
import org.openjobspec.kotlin.given

/**
 * Answers push deliveries behind any HTTP server, and runs jobs that platforms hand over.
 *
 * ```kotlin
 * val handler = PushHandler(Settings(signingSecrets = listOf(secret)))
 * handler.register("email.send") { ctx -> send(ctx.arg<String>(0)) }
 * val answer = handler.answer(request.method, request.headers, request.bytes())
 * ```
 *
 * It is made once, and keeps nothing between calls but connections and the answers to push deliveries of late.
 */
public open class PushHandler(private val settings: Settings = Settings()) : Registering<PushHandler>() {
    /** The worker whose handlers run, with its middleware, versions and listeners. It is never started. */
    public val worker: OjsWorker = settings.worker
    internal val runs = Runs(worker, settings.hasServer)

    // A signature from the future is valid for twice the tolerance.
    private val deliveries = Deliveries(runs.scope, (settings.tolerance * 2).toJavaDuration())

    override fun registered(type: String, defaults: Map<String, Any?>, handler: JobHandler): PushHandler {
        worker.registered(type, defaults, handler)
        return this
    }

    /** Adds a layer around every handler; the first one added is the outermost. */
    public fun use(name: String, layer: ExecutionMiddleware): PushHandler {
        worker.use(name, layer)
        return this
    }

    /** The time by which a run must have ended; [left] is what the platform allows, or null. */
    internal fun deadline(left: Duration? = null) = Deadline(left ?: settings.timeout, settings.safetyMargin)

    /**
     * The answer to one request: 200 with the outcome of its job, 401 without a valid signature, 400, 405 or 413 for
     * what is no push delivery, and 500 where the handler has no signing secret.
     *
     * @param method the method of the request
     * @param headers all headers: names in any case, each with its values
     * @param body the body byte for byte as it arrived
     */
    public suspend fun answer(method: String, headers: Map<String, List<String>>, body: ByteArray): Answer =
        answer(method, headers, body, deadline())

    internal suspend fun answer(
        method: String,
        headers: Map<String, List<String>>,
        body: ByteArray,
        deadline: Deadline,
    ): Answer {
        if (method != "POST") {
            val message = "a push delivery is a POST request"
            return Answer.refusal(405, "method_not_allowed", message).with("allow", "POST")
        }
        if (body.size > MAX_BODY) {
            return Answer.refusal(413, "payload_too_large", "a push delivery has at most $MAX_BODY bytes")
        }
        if (settings.secrets.isEmpty() && !settings.unsigned) {
            // 401 would end the job and disable the endpoint, although only a setting is missing.
            LOG.log(Level.ERROR, NO_SECRET)
            return Answer.refusal(500, "internal_error", "the function has no signing secret: its log says what to set")
        }
        return try {
            val now = settings.clock.instant()
            if (!settings.unsigned) Webhooks.verify(body, headers, settings.secrets, settings.tolerance, now)
            val delivery = Delivery.read(body.decodeToString())
            // The header with the delivery's id is not signed, the body is.
            deliveries.once(delivery.id ?: digest(body), now) { Answer.json(200, told(runs.run(delivery, deadline))) }
        } catch (e: OjsException.UntrustedWebhook) {
            Answer.refusal(401, "unauthenticated", e.message.orEmpty(), e.details)
        } catch (e: InvalidDeliveryException) {
            Answer.refusal(400, e.code, e.message.orEmpty())
        }
    }

    /** A handler for the HTTP server that comes with Java. It answers on the thread of the request. */
    public fun httpHandler(): HttpHandler = HttpHandler { exchange ->
        try {
            exchange.use { serve(it) }
        } catch (e: IOException) {
            LOG.log(Level.DEBUG, "the caller has gone", e)
        }
    }

    private fun serve(exchange: HttpExchange) {
        val body = exchange.requestBody.readNBytes(MAX_BODY + 1)
        val answer = runBlocking { answer(exchange.requestMethod, exchange.requestHeaders, body) }
        answer.headers.forEach { (name, value) -> exchange.responseHeaders.set(name, value) }
        exchange.sendResponseHeaders(answer.status, answer.body.size.toLong())
        exchange.responseBody.write(answer.body)
    }

    /**
     * Runs one job for a platform that takes an exception as a failure, and returns `status`, `job_id`, and `result` or
     * `error`. For the queue triggers of Azure, and for what else hands over messages.
     *
     * @param job a job, or the body of a push delivery, as JSON
     * @param count how often the platform has delivered it, 1 the first time
     * @throws DeliveryFailedException when the job has failed and no server knows: the platform shall deliver it again
     * @throws InvalidDeliveryException when it is no job
     */
    public suspend fun deliver(job: String, count: Int = 1): Map<String, Any?> =
        deliver(Delivery.read(job), count, deadline())

    internal suspend fun deliver(delivery: Delivery, count: Int, deadline: Deadline): Map<String, Any?> {
        if (count > 1 && runs.isStale(delivery)) return mapOf("status" to "stale", "job_id" to delivery.jobId)
        val settled = runs.settle(delivery, deadline)
        if (settled.isTaken) return told(settled.outcome, delivery.jobId)
        val error = settled.outcome.error ?: throw DeliveryFailedException(
            "the job is done, and the server could not be told",
            "not_reported",
            true,
        )
        val retryable = error["retryable"] == true
        throw DeliveryFailedException(error["message"].toString(), error["code"].toString(), retryable)
    }

    /**
     * Runs the job in the data of a CloudEvent of Google Pub/Sub, or the job that is the data itself, and reports its
     * outcome. The acknowledgement deadline of the subscription must be ten seconds longer than the `timeout`.
     *
     * @param data the data of the event, JSON
     * @throws DeliveryFailedException when the job has failed and no server knows: the event comes again
     * @throws InvalidDeliveryException when there is no job in it
     */
    public suspend fun handlePubSub(data: ByteArray) {
        val event = Delivery.json("the data of the event", data.decodeToString()) as? JsonObject
            ?: throw InvalidDeliveryException("the data of the event must be an object")
        val message = event["message"] as? JsonObject
        if (message == null) {
            deliver(Delivery.of(event), 1, deadline())
            return
        }
        val job = try {
            Base64.getDecoder().decode((message["data"] as? JsonPrimitive)?.contentOrNull.orEmpty()).decodeToString()
        } catch (e: IllegalArgumentException) {
            throw InvalidDeliveryException("'data' of the Pub/Sub message is not base64")
        }
        val count = (event["deliveryAttempt"] as? JsonPrimitive)?.intOrNull ?: 1
        deliver(Delivery.read(job), count, deadline())
    }

    public companion object {
        /** The most that the body of a push delivery may have, in bytes: AWS Lambda takes no more. */
        public const val MAX_BODY: Int = 6 * 1024 * 1024

        private const val NO_SECRET = "a push endpoint needs its signing secret: set signingSecrets or " +
            "OJS_SIGNING_SECRET; unsigned trusts every request"

        /** What callers learn of an outcome. */
        internal fun told(outcome: Outcome, id: String? = null): Map<String, Any?> {
            val status = if (outcome.kind == Kind.COMPLETED) "completed" else "failed"
            return given("status" to status, "job_id" to id) + outcome.members()
        }

        private fun digest(body: ByteArray): String =
            MessageDigest.getInstance("SHA-256").digest(body).joinToString("") { "%02x".format(it) }
    }
}

/** Closes the exchange, as `use` does with what is closeable. */
private inline fun HttpExchange.use(body: (HttpExchange) -> Unit) = try {
    body(this)
} finally {
    close()
}
