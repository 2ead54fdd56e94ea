package org.openjobspec.kotlin

import io.opentelemetry.api.baggage.Baggage
import io.opentelemetry.api.common.AttributeKey
import io.opentelemetry.api.trace.Span
import io.opentelemetry.api.trace.StatusCode
import io.opentelemetry.context.Context
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter
import io.opentelemetry.sdk.trace.SdkTracerProvider
import io.opentelemetry.sdk.trace.data.SpanData
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor
import java.nio.file.Files
import java.time.Instant
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.time.Duration
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** OpenTelemetry's own SDK with an exporter in memory. What the spans are: tests/vectors/spans.json. */
class SpansTest {
    private class NotYet : Exception("not yet")

    /** A program with telemetry: a client, and a worker for the queues of the vectors. */
    private class Program(val client: OjsClient = OjsClient("memory:")) {
        val exporter: InMemorySpanExporter = InMemorySpanExporter.create()
        val provider: SdkTracerProvider =
            SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(exporter)).build()
        val tracer = provider["program"]
        val worker = OjsWorker(client, queues = listOf("mail", "default"), workerId = "w")

        init {
            val spans = Spans(provider)
            client.middleware.prepend("trace_inject", spans.enqueue)
            worker.middleware.prepend("trace_extract", spans.process)
        }

        suspend fun ended(job: Job) = client.waitForResult(job.id, PATIENCE)

        fun named(name: String) = exporter.finishedSpanItems.filter { it.name == name }
    }

    private fun program(client: OjsClient = OjsClient("memory:"), test: suspend Program.() -> Unit) = patiently {
        val program = Program(client)
        try {
            program.test()
        } finally {
            program.worker.stop(Duration.ZERO)
            client.shutdown()
        }
    }

    @TestFactory
    fun spansAreThoseOfTheCore(): List<DynamicTest> {
        val text = Files.readString(ROOT.resolve("tests/vectors/spans.json"))
        val cases = membersOf(plain(text.encodeToByteArray())).items("spans").map(::membersOf)
        assertTrue(cases.size >= 7)
        return cases.map { vector -> DynamicTest.dynamicTest(vector.text("name")) { check(vector) } }
    }

    private fun check(vector: Map<String, Any?>) = program {
        val snoozed = AtomicBoolean()
        worker.register("t.ok") {}
            .register("t.mail", queue = "mail") {}
            .register("t.fail") { throw NotYet() }
            .register("t.snooze") { if (!snoozed.getAndSet(true)) throw SnoozeException(Duration.ZERO) }
            .start()
        val job = vector.inner("job").orEmpty()
        val made = client.enqueue(request(job))
        if (vector["runs"] == true) ended(made)
        if ("times" in job) thrownBy<OjsException.Duplicate> { client.enqueue(request(job)) }
        worker.stop()
        // A job may be over before the answer to its enqueue is read.
        val all = exporter.finishedSpanItems.sortedBy { it.startEpochNanos }
        assertEquals(same(vector["spans"]), same(all.map { described(it, all) }))
    }

    private fun request(wanted: Map<String, Any?>) = job(
        wanted.text("type").orEmpty(),
        *wanted.items("args").toTypedArray(),
        queue = wanted.text("queue"),
        priority = wanted.number("priority"),
        retry = wanted.number("max_attempts")?.let { RetryPolicy(maxAttempts = it) },
        delayUntil = wanted.text("delay_until")?.let(Instant::parse),
        meta = wanted.inner("meta").orEmpty(),
    ).copy(id = wanted.text("id"))

    @Test
    fun whatAHandlerDoesIsInsideOfItsSpan() = program {
        val tenant = CompletableDeferred<String?>()
        worker.register("t.outer") { ctx ->
            yield() // to another thread, perhaps
            tenant.complete(Baggage.current().getEntryValue("tenant"))
            tracer.spanBuilder("work").startSpan().end()
            ctx.client.enqueue("t.inner").id
        }.register("t.inner") {}.start()
        val request = tracer.spanBuilder("request").startSpan()
        val baggage = Baggage.builder().put("tenant", "acme").build()
        // Of the thread, as web frameworks have it; the coroutine goes on in it until it is suspended.
        val job = Context.root().with(request).with(baggage).makeCurrent().use { client.enqueue("t.outer") }
        ended(job)
        worker.stop()
        val made = named("default enqueue")
        val outer = named("default process").single { it.attribute("ojs.job.type") == "t.outer" }
        for (span in made) {
            val inner = span.attribute("ojs.job.type") == "t.inner"
            assertEquals(if (inner) outer.spanId else request.spanContext.spanId, span.parentSpanId)
        }
        assertEquals(outer.spanId, named("work").single().parentSpanId)
        // A link and no child: the job may run long after the request, and more than once.
        assertFalse(outer.parentSpanContext.isValid)
        assertEquals(listOf("default enqueue"), links(outer, made))
        assertEquals("acme" to 2, tenant.await() to made.size)
        assertFalse(Span.current().spanContext.isValid)
    }

    @Test
    fun eachJobOfABatchHasASpan() = program {
        val jobs = client.enqueueBatch(listOf(job("t.ok", "a"), job("t.ok", "b")))
        val made = named("default enqueue").map { "00-${it.traceId}-${it.spanId}-01" }
        assertEquals(made, jobs.map { it.meta["traceparent"] })
    }

    @Test
    fun aCancelledJobHasNotFailed() = program {
        val begun = CompletableDeferred<Unit>()
        worker.register("t.long") {
            begun.complete(Unit)
            awaitCancellation()
        }.start()
        val job = client.enqueue("t.long")
        begun.await()
        client.cancelJob(job.id)
        worker.stop()
        val span = named("default process").single()
        assertEquals(StatusCode.OK to emptyList<Any>(), span.status.statusCode to span.events)
    }

    @Test
    fun ei002NeitherPlaintextNorCiphertextIsOnASpan() {
        val keys = "k-1:" + "01".repeat(32)
        program(OjsClient("memory:", encryptionKeys = keys)) {
            worker.register("t.ok") {}.register("t.fail") { throw NotYet() }.start()
            val stored = listOf("t.ok", "t.fail").map { type ->
                client.enqueue(type, "4111 1111", retry = RetryPolicy(maxAttempts = 1)).also { ended(it) }.args
            }.toString()
            worker.stop()
            val all = exporter.finishedSpanItems.toString()
            assertEquals(2, named("default process").size)
            assertFalse("4111 1111" in stored || "4111 1111" in all || "args" in all, all)
            val words = stored.split(Regex("[^A-Za-z0-9+/=_-]+")).filter { it.length > 20 }
            assertTrue(words.isNotEmpty())
            words.forEach { assertFalse(it in all, it) }
        }
    }

    private companion object {
        /** What differs from run to run. */
        val PLACEHOLDERS = mapOf(
            "ojs.job.id" to "@id",
            "messaging.message.id" to "@id",
            "ojs.job.scheduled_at" to "@time",
            "error.message" to "@text",
        )

        fun SpanData.attribute(name: String): String? = attributes[AttributeKey.stringKey(name)]

        fun links(span: SpanData, all: List<SpanData>) = span.links.map { place(it.spanContext.spanId, all) }

        fun place(id: String, all: List<SpanData>) = all.firstOrNull { it.spanId == id }?.name ?: id

        /** A span in the words of the vectors. */
        fun described(span: SpanData, all: List<SpanData>): Map<String, Any?> = mapOf(
            "name" to span.name,
            "kind" to span.kind.name.lowercase(),
            "status" to span.status.statusCode.name.lowercase(),
            "parent" to if (span.parentSpanContext.isValid) place(span.parentSpanId, all) else null,
            "links" to links(span, all),
            "attributes" to span.attributes.asMap().entries.associate { (key, value) ->
                key.key to (PLACEHOLDERS[key.key] ?: value)
            },
            "events" to span.events.map { it.name },
        )
    }
}
