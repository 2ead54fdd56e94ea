package org.openjobspec.kotlin

import java.util.concurrent.CancellationException
import org.openjobspec.kotlin.core.HostAnswer
import org.openjobspec.kotlin.core.HostException
import org.openjobspec.kotlin.core.HostTransport

/** Carries requests to an OJS server and answers back, in place of the one that a URL names. */
public fun interface Transport {
    /**
     * Sends one request: [path] is relative to `/ojs/v1`, or begins with `/ojs/`; [body] is JSON. An answer of any
     * status is an answer; an exception means that there was none.
     */
    public suspend fun send(method: String, path: String, body: ByteArray?): Answer

    /** What came back. */
    public class Answer(
        /** The status of HTTP. */
        public val status: Int,
        /** The body, JSON. */
        public val body: ByteArray,
    ) {
        public companion object {
            /** An answer with a value that has a JSON form. */
            public fun of(status: Int, value: Any?): Answer = Answer(status, jsonText(value).encodeToByteArray())
        }
    }
}

/** The same as the core sees it. */
internal class Carried(private val transport: Transport) : HostTransport {
    override suspend fun send(method: String, path: String, body: ByteArray?): HostAnswer = try {
        val answer = transport.send(method, path, body)
        HostAnswer(answer.status.toUShort(), answer.body)
    } catch (e: CancellationException) {
        throw e
    } catch (e: Exception) {
        throw HostException.NoAnswer("${e.javaClass.simpleName}: ${e.message}")
    }
}
