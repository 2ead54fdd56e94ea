package org.openjobspec.kotlin

import java.util.concurrent.CancellationException

/** From what a handler did to what the core gets. */
internal class Outcome(val token: Long, val kind: Int, val payload: ByteArray, val delayMs: Long = 0) {
    /** How the plain protocol reports it: the members beside those that name the job. */
    fun members(): Map<String, Any?> = when (kind) {
        Kind.COMPLETED -> if (payload.isEmpty()) emptyMap() else mapOf("result" to plain(payload))
        Kind.FAILED -> mapOf("error" to plain(payload))
        else -> {
            val code = if (kind == Kind.SNOOZED) "snooze" else "released"
            // Servers without delay_ms read the delay from the details.
            val details = if (kind == Kind.SNOOZED) mapOf("snooze_ms" to delayMs) else null
            val error =
                given(
                    "code" to code,
                    "type" to code,
                    "message" to "given back by the handler",
                    "retryable" to true,
                    "details" to details,
                )
            given("requeue" to true, "error" to error, "delay_ms" to delayMs.takeIf { kind == Kind.SNOOZED })
        }
    }

    /** The path of the plain protocol by which the outcome is reported. */
    val path: String get() = if (kind == Kind.COMPLETED) "/workers/ack" else "/workers/nack"

    companion object {
        private val NOTHING = ByteArray(0)

        /** The server keeps no more frames. */
        private const val FRAMES = 50

        /** The handler returned. */
        fun success(ctx: JobContext, returned: Any?): Outcome {
            val result =
                returned.takeIf { it != Unit } ?: ctx.result ?: return Outcome(ctx.token, Kind.COMPLETED, NOTHING)
            return try {
                Outcome(ctx.token, Kind.COMPLETED, jsonText(result, "result").encodeToByteArray())
            } catch (e: OjsException.Validation) {
                failed(ctx.token, e, "serialization_error", "the handler's ${e.message}", false)
            } catch (e: Exception) { // an object with odd ideas about being looked at
                failed(ctx.token, e, "serialization_error", text(e), false)
            }
        }

        /** The handler threw. */
        fun failure(ctx: JobContext, thrown: Throwable): Outcome = when {
            thrown is SnoozeException -> Outcome(ctx.token, Kind.SNOOZED, NOTHING, thrown.delay.inWholeMilliseconds)
            thrown is ReleaseException -> released(ctx)
            // It stopped because it was told to: the core knows why.
            ctx.cancelled && (thrown is CancellationException || thrown is InterruptedException) -> released(ctx)
            thrown is NonRetryableException -> failed(
                ctx.token,
                thrown,
                thrown.code,
                text(thrown),
                false,
                thrown.details,
            )
            thrown is OjsException.Middleware || thrown is OjsException && thrown.code == "no_handler" ->
                failed(ctx.token, thrown, thrown.code, text(thrown), false)
            else -> failed(ctx.token, thrown, "handler_error", text(thrown), true)
        }

        private fun released(ctx: JobContext) = Outcome(ctx.token, Kind.RELEASED, NOTHING)

        /** What is sent instead of an outcome that the core cannot read. */
        fun unreadable(token: Long, refusal: OjsException): Outcome =
            failed(
                token,
                refusal,
                "serialization_error",
                "the handler's result was not accepted: ${refusal.message}",
                false,
            )

        /** The job fails before a handler of it has run, or because its handler does not end. */
        fun refused(code: String, type: String, message: String, retryable: Boolean): Outcome {
            val about = given("code" to code, "type" to type, "message" to clean(message), "retryable" to retryable)
            return Outcome(0, Kind.FAILED, jsonText(about).encodeToByteArray())
        }

        private fun failed(
            token: Long,
            thrown: Throwable,
            code: String,
            message: String,
            retryable: Boolean,
            details: Map<String, Any?>? = null,
        ): Outcome {
            val frames = thrown.stackTrace.take(FRAMES).map { it.toString() }
            val more = mapOf("error_class" to thrown.javaClass.name, "stack" to clean(stack(thrown, frames)))
            val about = given(
                "code" to clean(code),
                "type" to (thrown.javaClass.simpleName.ifEmpty { thrown.javaClass.name }),
                "message" to clean(message),
                "retryable" to retryable,
                "backtrace" to frames,
                "details" to more,
            )
            val whole = try {
                details?.let { jsonText(about + ("details" to more + it)) }
            } catch (e: Exception) { // details without a JSON form: the failure itself counts
                null
            }
            return Outcome(token, Kind.FAILED, (whole ?: jsonText(about)).encodeToByteArray())
        }

        private fun text(thrown: Throwable): String = try {
            thrown.message?.ifEmpty { null } ?: thrown.javaClass.simpleName
        } catch (e: Exception) {
            "a ${thrown.javaClass.name} whose message cannot be read"
        }

        private fun stack(thrown: Throwable, frames: List<String>): String {
            val out = StringBuilder("${thrown.javaClass.name}: ${text(thrown)}")
            for (frame in frames) out.append("\n\tat ").append(frame)
            for (cause in generateSequence(thrown.cause) { it.cause }.take(5)) {
                out.append("\nCaused by: ${cause.javaClass.name}: ${text(cause)}")
                cause.stackTrace.firstOrNull()?.let { out.append("\n\tat ").append(it) }
            }
            return out.toString()
        }

        /** Text that UTF-8 has a form for. */
        private fun clean(text: String): String = text.encodeToByteArray().decodeToString()
    }
}
