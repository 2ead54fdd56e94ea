package org.openjobspec.kotlin.serverless

import org.openjobspec.kotlin.given
import org.openjobspec.kotlin.jsonText

/** The answer to a request. */
public class Answer internal constructor(
    /** The HTTP status. */
    public val status: Int,
    /** Its headers. */
    public val headers: Map<String, String>,
    /** JSON. */
    public val body: ByteArray,
) {
    /** The body as text. */
    public val text: String get() = body.decodeToString()

    internal fun with(name: String, value: String): Answer = Answer(status, headers + (name to value), body)

    override fun toString(): String = "Answer($status)"

    internal companion object {
        fun json(status: Int, body: Any?): Answer =
            Answer(status, mapOf("content-type" to "application/json"), jsonText(body).encodeToByteArray())

        /** A refusal, in the form of the protocol. A fault of the function (5xx) is worth another try. */
        fun refusal(status: Int, code: String, message: String, details: Any? = null): Answer {
            val retryable = status >= 500
            val error = given("code" to code, "message" to message, "retryable" to retryable, "details" to details)
            return json(status, mapOf("error" to error))
        }
    }
}
