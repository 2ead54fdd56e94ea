package org.openjobspec.kotlin.serverless

import com.standardwebhooks.Webhook
import com.sun.net.httpserver.HttpServer
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.time.Clock
import java.time.Duration
import java.time.Instant
import java.time.ZoneOffset
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicInteger
import java.util.logging.Handler
import java.util.logging.Level
import java.util.logging.LogRecord
import java.util.logging.Logger
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.openjobspec.kotlin.LOG
import org.openjobspec.kotlin.NonRetryableException
import org.openjobspec.kotlin.OjsException
import org.openjobspec.kotlin.SnoozeException
import org.openjobspec.kotlin.patiently
import org.openjobspec.kotlin.thrownBy

class PushTest {
    private val calls = AtomicInteger()

    private fun handler(settings: Settings): PushHandler = PushHandler(settings)
        .register("email.send") { mapOf("message_id" to calls.incrementAndGet()) }
        .register("email.fail") { error("SMTP connection refused") }
        .register("email.never") { throw NonRetryableException("no such customer") }
        .register("email.later") { throw SnoozeException(90.seconds) }

    private fun trusting(vararg secrets: String) = handler(
        Settings(signingSecrets = secrets.asList(), clock = Clock.fixed(NOW, ZoneOffset.UTC)),
    )

    private suspend fun post(handler: PushHandler, headers: Map<String, List<String>>, body: String): Answer =
        handler.answer("POST", headers, body.toByteArray())

    private suspend fun push(handler: PushHandler, body: String): Answer =
        post(handler, signed(body, NOW, SECRET), body)

    @Test
    fun `a push delivery is answered as the document prints it`() = patiently {
        val handler = trusting(SECRET)
        val done = push(handler, delivery(plainJob("email.send")))
        assertEquals("""{"status":"completed","result":{"message_id":1}}""", done.text)
        val wanted = mapOf(
            "email.fail" to listOf("handler_error", "SMTP connection refused", true),
            "email.never" to listOf("non_retryable", "no such customer", false),
            "email.no" to listOf("no_handler", "No handler is registered for job type 'email.no'.", false),
        )
        for ((type, error) in wanted) {
            val answer = push(handler, delivery(plainJob(type)))
            assertEquals(listOf(200, "failed"), listOf(answer.status, members(answer.text)["status"]))
            val told = members(answer.text)["error"]
            assertEquals(error, listOf("code", "message", "retryable").map { dig(told, it) })
        }
        val later = members(push(handler, delivery(plainJob("email.later"))).text)
        assertEquals(listOf(90_000L, true), listOf(later["delay_ms"], later["requeue"]))
        assertEquals("snooze", dig(later, "error", "code"))
        assertEquals(90_000L, dig(later, "error", "details", "snooze_ms"))
    }

    // 401 would end the job and disable the endpoint, although only a setting is missing.
    @Test
    fun `a handler without a secret answers what is tried again and logs what to set`() = patiently {
        val body = delivery(plainJob("email.send"))
        val records = CopyOnWriteArrayList<LogRecord>()
        val keeping = object : Handler() {
            override fun publish(record: LogRecord) {
                records += record
            }

            override fun flush() = Unit

            override fun close() = Unit
        }
        val logger = Logger.getLogger(LOG.name)
        logger.addHandler(keeping)
        try {
            val answer = post(trusting(""), signed(body, NOW, SECRET), body)
            val error = members(answer.text)["error"]
            val told = listOf(answer.status, dig(error, "code"), dig(error, "retryable"))
            assertEquals(listOf(500, "internal_error", true), told)
        } finally {
            logger.removeHandler(keeping)
        }
        assertEquals(0, calls.get())
        assertTrue(records.any { it.level == Level.SEVERE && "OJS_SIGNING_SECRET" in it.message })
    }

    @Test
    fun `a request that is not signed runs nothing`() = patiently {
        val body = delivery(plainJob("email.send"))
        val good = signed(body, NOW, SECRET)
        val wrong = mapOf(
            "missing_header" to emptyMap(),
            "signature_mismatch" to signed(body, NOW, "whsec_of_another_endpoint"),
            "stale_timestamp" to signed(body, NOW.minusSeconds(301), SECRET),
            "invalid_header" to good + ("x-ojs-timestamp" to listOf("soon")),
        )
        for ((reason, headers) in wrong) {
            val answer = post(trusting(SECRET), headers, body)
            assertEquals(401, answer.status)
            assertEquals(reason, dig(members(answer.text), "error", "details", "reason"))
        }
        assertEquals(401, post(trusting(SECRET), good, "$body ").status)
        assertEquals(0, calls.get())
        // While a secret is being replaced, a request has two signatures, or a receiver two secrets.
        for (headers in listOf(signed(body, NOW, "whsec_old"), signed(body, NOW, "whsec_old", "whsec_x"), good)) {
            assertEquals(200, post(trusting("whsec_old", SECRET), headers, body).status)
        }
        thrownBy<OjsException.Validation> { Settings(signingSecrets = listOf("x"), unsigned = true) }
        thrownBy<OjsException.Validation> { Settings(tolerance = 0.seconds) }
        thrownBy<OjsException.Validation> { Settings(worker = trusting().worker, ojsUrl = "http://localhost") }
    }

    /** The library of Standard Webhooks signs what we verify, and verifies what is signed by the same rules. */
    @Test
    fun `the library of Standard Webhooks agrees`() = patiently {
        val theirs = Webhook(SECRET)
        val body = delivery(plainJob("email.send"))
        val time = Instant.now().epochSecond
        val headers = mapOf(
            "webhook-id" to listOf("del_1"),
            "webhook-timestamp" to listOf("$time"),
            "webhook-signature" to listOf(theirs.sign("del_1", time, body)),
        )
        val handler = handler(Settings(signingSecrets = listOf(SECRET)))
        assertEquals(200, post(handler, headers, body).status)
        theirs.verify(body, headers)
        assertEquals(401, post(handler, headers + ("webhook-id" to listOf("del_2")), body).status)
        assertEquals(1, calls.get())
    }

    @Test
    fun `what is no delivery is refused`() = patiently {
        val handler = trusting(SECRET)
        val bodies = listOf(
            "", "[]", "{}", """{"job":{}}""", """{"job":{"id":"1"}}""", "{", """{"id":"1","type":"a","args":{}}""",
            """{"id":"1","type":"a","args":[soon]}""",
        )
        for (body in bodies) {
            val answer = push(handler, body)
            assertEquals(400, answer.status, body)
            assertEquals("invalid_request", dig(members(answer.text), "error", "code"))
        }
        assertEquals(413, post(handler, emptyMap(), " ".repeat(PushHandler.MAX_BODY + 1)).status)
        val got = handler.answer("GET", emptyMap(), ByteArray(0))
        assertEquals(listOf(405, "POST"), listOf(got.status, got.headers["allow"]))
        assertEquals(0, calls.get())
    }

    @Test
    fun `a delivery that arrives twice runs once`() = patiently {
        val handler = trusting(SECRET)
        val body = delivery(plainJob("email.send"))
        repeat(3) { assertEquals(1L, dig(members(push(handler, body).text), "result", "message_id")) }

        val began = CompletableDeferred<Unit>()
        val end = CompletableDeferred<Unit>()
        val slow = PushHandler(Settings(unsigned = true)).register("slow") {
            began.complete(Unit)
            end.await()
            calls.incrementAndGet()
        }
        val one = delivery(plainJob("slow"))
        coroutineScope {
            val gone = launch { post(slow, emptyMap(), one) }
            began.await()
            gone.cancelAndJoin() // the run goes on: its caller asks again
            val first = async { post(slow, emptyMap(), one) }
            val second = async { post(slow, emptyMap(), one) }
            end.complete(Unit)
            assertArrayEquals(first.await().body, second.await().body)
        }
        assertEquals(2, calls.get())
    }

    @Test
    fun `the memory of deliveries is bounded`() = patiently {
        val seen = Deliveries(CoroutineScope(Dispatchers.Default), Duration.ofSeconds(600), 2)
        var runs = 0
        val asked = listOf("a" to 0, "a" to 1, "b" to 2, "b" to 3, "c" to 4, "a" to 5, "a" to 700, "b" to 701)
        val answers = asked.map { (key, second) ->
            seen.once(key, NOW.plusSeconds(second.toLong())) { Answer.json(200, ++runs) }.text
        }
        assertEquals(listOf("1", "1", "2", "2", "3", "4", "4", "5"), answers)
        thrownBy<IllegalStateException> { seen.once("d", NOW) { error("given up") } }
        assertEquals("6", seen.once("d", NOW) { Answer.json(200, ++runs) }.text)
    }

    @Test
    fun `the server of Java can serve it`() = patiently {
        val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0)
        server.createContext("/", handler(Settings(signingSecrets = listOf(SECRET))).httpHandler())
        server.start()
        try {
            val client = HttpClient.newHttpClient()
            val body = delivery(plainJob("email.send"))
            val request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:${server.address.port}/"))
                .POST(HttpRequest.BodyPublishers.ofString(body))
            assertEquals(401, client.send(request.build(), HttpResponse.BodyHandlers.ofString()).statusCode())
            signed(body, Instant.now(), SECRET).forEach { (name, values) -> request.header(name, values.first()) }
            val answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString())
            assertEquals("""{"status":"completed","result":{"message_id":1}}""", answer.body())
            assertEquals("application/json", answer.headers().firstValue("content-type").orElseThrow())
        } finally {
            server.stop(0)
        }
    }

    private companion object {
        val NOW: Instant = Instant.ofEpochSecond(1_708_030_665)
    }
}
