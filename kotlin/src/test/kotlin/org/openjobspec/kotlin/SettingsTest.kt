package org.openjobspec.kotlin

import java.util.concurrent.atomic.AtomicReference
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Settings and options that cannot be, jobs of unknown types, answers that cannot be read, secrets. */
class SettingsTest {
    private suspend fun refused(text: String, body: suspend () -> Unit) {
        val message = thrownBy<OjsException.Validation> { body() }.message.orEmpty()
        assertTrue(text in message, "$text is not in: $message")
    }

    @ParameterizedTest
    @EnumSource
    internal fun wrongOptionsAreRefusedBeforeAnythingIsSent(place: Place) = bench(place) {
        refused("timeout") { client.enqueue("a", queue = queue, timeout = Duration.ZERO) }
        refused("delay") { client.enqueue("a", queue = queue, delay = (-5).seconds) }
        refused("did you mean 'retry'") {
            client.enqueue(JobRequest("a", options = mapOf("queue" to queue, "retries" to 5)))
        }
        refused("max_attempts") {
            client.enqueue(JobRequest("a", options = mapOf("queue" to queue, "retry" to mapOf("maxAttempts" to 5))))
        }
        refused("id") { client.getJob("") }
        assertEquals(0, client.listJobs(queue = queue).total)
    }

    @Test
    fun wrongSettingsAreRefused() = patiently {
        refused("maxResponseBytes") { OjsClient(maxResponseBytes = 0) }
        refused("maxSends") { OjsClient(maxSends = 0) }
        refused("timeout") { OjsClient(timeout = Duration.ZERO) }
        OjsClient(server.url, maxResponseBytes = 10, proxy = Proxy.NONE, maxSends = 1).use { client ->
            val error = thrownBy<OjsException.Connection> { client.manifest() }
            assertTrue("10" in error.message.orEmpty(), error.message)
        }
    }

    private fun becomes(place: Place, state: String, make: Bench.() -> OjsWorker) = bench(place) {
        val worker = make().register("own") {}.start()
        val other = client.enqueue("other", queue = queue, retry = RetryPolicy(maxAttempts = 1))
        completed(client.enqueue("own", queue = queue))
        assertEquals(state, ended(other, state).state)
        worker.stop()
    }

    @ParameterizedTest
    @EnumSource
    internal fun byDefaultAJobOfAnUnknownTypeIsDiscarded(place: Place) =
        becomes(place, "discarded") { OjsWorker(client, queues = listOf(queue)) }

    @ParameterizedTest
    @EnumSource
    internal fun withReleaseItGoesBack(place: Place) =
        becomes(place, "retryable") {
            OjsWorker(client, queues = listOf(queue), unknownTypes = UnknownTypes.RELEASE)
        }

    @ParameterizedTest
    @EnumSource
    internal fun withOnlyRegisteredTypesItStaysWhereItIs(place: Place) =
        becomes(place, "available") { OjsWorker(client, queues = listOf(queue), onlyRegisteredTypes = true) }

    private val unreadable = listOf(
        "", "{", "{\"job\":", "<html>", "nul", "[1]", "\"text\"", "[1,]", "{\"job\":null}", "{\"job\":5}",
        "{\"job\":{}}",
        "{\"job\":{\"id\":7}}", "{\"job\":{\"id\":\"x\",\"args\":[${"9".repeat(100_000)}]}}",
        "{\"job\":{\"id\":\"x\",\"n\":1e999999999999}}", "[".repeat(100_000), "{\"job\": {\"id\": \"planted-5ecret\"",
        "{\"job\":{\"id\":\"x\",\"args\":${"[".repeat(1000)}${"]".repeat(1000)}}}",
        "{\"job\":{\"id\":\"x\",\"n\":planted}}",
    )

    @Test
    fun answersThatCannotBeReadAreErrorsOfThisPackage() = patiently {
        val answer = AtomicReference("")
        val client = OjsClient(transport = { _, _, _ -> Transport.Answer(200, answer.get().encodeToByteArray()) })
        val calls = listOf<suspend () -> Any?>(
            { client.enqueue("a") }, { client.getJob("x") }, { client.cancelJob("x") }, { client.listJobs() },
            { client.enqueueBatch(listOf(job("a"))) }, { client.deadLetters.list() }, { client.queues.list() },
        )
        for (text in unreadable) {
            answer.set(text)
            calls.forEachIndexed { place, call ->
                val error = thrownBy<OjsException> { call() }
                assertEquals("unexpected_answer", error.code, "call $place of ${text.take(40)}: $error")
                assertFalse("planted" in error.stackTraceToString(), error.stackTraceToString())
            }
        }
        answer.set("{\"jobs\":null}")
        assertEquals(emptyList<Any>(), client.deadLetters.list(), "what a server in Go writes for an empty list")
    }

    @Test
    fun secretsAreNotShown() = patiently {
        for (password in listOf("hunter2", "hunter2@home", "p@hunter2", "hunter2:y", "hunter2/x")) {
            val url = "http://app:$password@127.0.0.1:1"
            val shown = ArrayList<String>()
            try {
                val client = OjsClient(url, authToken = "hunter2", maxSends = 1, connectTimeout = 200.milliseconds)
                shown += client.toString()
                shown += OjsWorker(client).toString()
                shown += thrownBy<OjsException> { client.getJob("x") }.stackTraceToString()
            } catch (e: OjsException) {
                shown += e.stackTraceToString()
            }
            for (scheme in listOf("gopher", "postgres")) {
                shown += thrownBy<OjsException> {
                    OjsClient("$scheme://app:$password@127.0.0.1:1/x").getJob("x")
                }.stackTraceToString()
            }
            assertFalse(shown.any { "hunter2" in it }, shown.joinToString("\n"))
        }
        val request = job("a", "hunter2", meta = mapOf("k" to "hunter2"))
        assertFalse("hunter2" in "$request ${Job(membersOf(plain(jsonOf(request))))}")
        assertEquals("OjsClient(http://localhost:8080)", OjsClient("http://localhost:8080").toString())
    }
}
