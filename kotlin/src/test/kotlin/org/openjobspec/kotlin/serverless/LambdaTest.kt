package org.openjobspec.kotlin.serverless

import java.net.InetAddress
import java.net.ServerSocket
import java.time.Instant
import java.util.Base64
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.awaitCancellation
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.openjobspec.kotlin.CancelReason
import org.openjobspec.kotlin.JobCancelledException
import org.openjobspec.kotlin.NonRetryableException
import org.openjobspec.kotlin.OjsClient
import org.openjobspec.kotlin.OjsTesting
import org.openjobspec.kotlin.OjsWorker
import org.openjobspec.kotlin.Transport
import org.openjobspec.kotlin.UnknownTypes
import org.openjobspec.kotlin.jsonText
import org.openjobspec.kotlin.patiently
import org.openjobspec.kotlin.server
import org.openjobspec.kotlin.thrownBy

class LambdaTest {
    private val calls = AtomicInteger()

    private fun handler(settings: Settings) = LambdaHandler(settings).apply {
        register("email.send") { mapOf("message_id" to calls.incrementAndGet()) }
        register("email.fail") { error("SMTP connection refused") }
        register("email.never") { throw NonRetryableException("no such customer") }
    }

    private fun alone() = handler(Settings())

    private fun withServer() = handler(Settings(ojsUrl = server.url))

    private fun over(client: OjsClient) = handler(Settings(worker = OjsWorker(client)))

    /** After the first failure of a group, the rest of that group is reported as failed too; other groups go on. */
    @Test
    fun `scenario 41 - in a FIFO queue a failure ends the work on its group`() = patiently {
        val send = "email.send"
        val names = again(
            alone(), fifo("m1", "a", plainJob(send)), fifo("m2", "b", plainJob(send)),
            fifo("m3", "a", plainJob("email.fail")), fifo("m4", "a", plainJob(send)), fifo("m5", "b", plainJob(send)),
            fifo("m6", "c", "no job"), fifo("m7", "c", plainJob(send)),
        )
        assertEquals(listOf("m3", "m4", "m6", "m7"), names)
        assertEquals(3, calls.get())
    }

    /** Each job waits for the other one, and blocks its thread meanwhile. */
    @Test
    fun `jobs of a standard queue run side by side`() = patiently {
        val both = CountDownLatch(2)
        val handler = alone()
        handler.register("meet") {
            both.countDown()
            both.await()
        }
        val meet = listOf("m1", "m2").map { sqs(it, plainJob("meet")) }
        val names = again(handler, meet[0], meet[1], sqs("m3", plainJob("email.fail")))
        assertEquals(listOf("m3"), names)
        assertEquals(emptyList<Any>(), again(handler))
    }

    @Test
    fun `the server learns the outcomes of a batch`() = patiently {
        val handler = withServer()
        val done = leased("email.send")
        val failed = leased("email.fail")
        val over = leased("email.never")
        val names = again(handler, sqs("m1", done.body), sqs("m2", failed.body), sqs("m3", over.body), sqs("m4", "{}"))
        assertEquals(listOf("m4"), names)
        assertEquals(listOf("completed", "retryable", "discarded"), listOf(done.state(), failed.state(), over.state()))
        assertEquals(mapOf("message_id" to 1L), done.now().result)

        // In order: the server's retry does not overtake the group. A message that comes again after that runs nothing.
        val first = leased("email.fail")
        val behind = fifo("m2", "a", plainJob("email.send"))
        assertEquals(listOf("m1", "m2"), again(handler, fifo("m1", "a", first.body), behind))
        assertEquals(emptyList<Any>(), again(handler, fifo("m1", "a", first.body, count = 2)))
        assertEquals(listOf(1, 1), listOf(first.now().attempt, calls.get()))
    }

    @Test
    fun `a reference is not run where no server is named`() = patiently {
        val reference = mapOf("id" to "1", "type" to "email.send")
        assertEquals(listOf("m1"), again(alone(), sqs("m1", jsonText(reference))))
        assertEquals("invalid_job", dig(alone().handleDirect(reference), "error", "code"))
        assertEquals(0, calls.get())
    }

    @Test
    fun `a reference to a job that is gone is done`() = patiently {
        val reference = mapOf("id" to "019539a4-0000-7000-8000-00000000dead", "type" to "email.send")
        assertEquals(emptyList<Any>(), again(withServer(), sqs("m1", jsonText(reference))))
        assertEquals("not_found", dig(withServer().handleEventBridge(mapOf("detail" to reference)), "error", "code"))
        assertEquals(0, calls.get())
    }

    @Test
    fun `the id of a message is one segment of a path`() = patiently {
        val asked = ArrayList<String>()
        val client = OjsClient(transport = { method, path, _ ->
            asked += "$method $path"
            val checkpoint = """{"state": 1, "sequence": 2}"""
            val found = if (path.endsWith("checkpoint")) checkpoint else """{"job": ${plainJob("email.send")}}"""
            Transport.Answer(200, found.toByteArray())
        })
        val handler = LambdaHandler(Settings(worker = OjsWorker(client)))
        handler.register("email.send") { ctx -> ctx.checkpoint(1) }
        val reference = mapOf("id" to "../a?b/c", "type" to "email.send", "checkpoint_ref" to true)
        assertEquals(emptyList<Any>(), again(handler, sqs("m1", jsonText(reference))))
        val place = "/jobs/..%2Fa%3Fb%2Fc"
        assertEquals(listOf("GET $place", "GET $place/checkpoint", "PUT $place/checkpoint", "POST /workers/ack"), asked)
    }

    @Test
    fun `what the server does not learn comes again`() = patiently {
        val handler = over(OjsClient(transport = { _, _, _ -> error("away") }))
        val fail = plainJob("email.fail")
        assertEquals(listOf("m1", "m2"), again(handler, sqs("m1", plainJob("email.send")), sqs("m2", fail)))
        val event = mapOf("source" to "x", "detail" to members(fail))
        val failed = thrownBy<DeliveryFailedException> { handler.handle(event) }
        assertEquals(listOf("handler_error", true), listOf(failed.code, failed.retryable))
        assertEquals(listOf("m2"), again(alone(), sqs("m1", plainJob("email.send")), sqs("m2", fail)))
    }

    @Test
    fun `a server that hangs does not hold up a function`() = patiently {
        ServerSocket(0, 50, InetAddress.getLoopbackAddress()).use { silent ->
            val handler = handler(Settings(ojsUrl = "http://127.0.0.1:${silent.localPort}"))
            val began = TimeSource.Monotonic.markNow()
            assertEquals(listOf("m1"), again(handler, sqs("m1", plainJob("email.send"))))
            assertTrue(began.elapsedNow() < 20.seconds, "one call alone would wait for 30 s")
        }
    }

    @Test
    fun `a result that the server refuses fails the job for good`() = patiently {
        val handler = withServer()
        handler.register("blob.make") { "x".repeat(20 * 1024 * 1024) }
        val job = leased("blob.make")
        assertEquals(emptyList<Any>(), again(handler, sqs("m1", job.body)))
        assertEquals(listOf("discarded", "serialization_error"), listOf(job.state(), job.now().error?.get("code")))
    }

    @Test
    fun `a large job is read from the server`() = patiently {
        val got = CompletableDeferred<Int>()
        val handler = withServer()
        handler.register("blob.keep") { ctx -> got.complete(ctx.arg<String>(0).length) }
        val job = leased("blob.keep", "x".repeat(300_000))
        val name = delivery(jsonText(mapOf("id" to job.id, "type" to "blob.keep")))
        assertEquals(emptyList<Any>(), again(handler, sqs("m1", name)))
        assertEquals(listOf(300_000, "completed"), listOf(got.await(), job.state()))
    }

    @Test
    fun `function URLs and both formats of API Gateway`() = patiently {
        val handler = handler(Settings(signingSecrets = listOf(SECRET)))
        val body = delivery(plainJob("email.send"))
        val headers = signed(body, Instant.now(), SECRET)
        val flat = headers.mapValues { (_, values) -> values.first() }
        val encoded = Base64.getEncoder().encodeToString(body.toByteArray())
        val context = mapOf("http" to mapOf("method" to "POST"))
        suspend fun status(vararg event: Pair<String, Any?>) = handler.handle(mapOf(*event), 30.seconds)["statusCode"]
        val inBase64 = arrayOf("headers" to flat, "body" to encoded, "isBase64Encoded" to true)
        assertEquals(200, status("requestContext" to context, *inBase64))
        assertEquals(200, status("httpMethod" to "POST", "multiValueHeaders" to headers, "body" to body))
        assertEquals(405, status("httpMethod" to "GET", "headers" to flat))
        assertEquals(400, status("httpMethod" to "POST", "headers" to flat, "body" to "%", "isBase64Encoded" to true))
        assertEquals(401, status("httpMethod" to "POST", "headers" to emptyMap<String, Any>(), "body" to body))
        assertEquals(1, calls.get())
    }

    @Test
    fun `direct calls and EventBridge`() = patiently {
        val handler = withServer()
        val done = leased("email.send")
        val told = handler.handle(mapOf("detail-type" to "job", "detail" to members(done.body)), 30.seconds)
        assertEquals(listOf("completed", done.id, "completed"), listOf(told["status"], told["job_id"], done.state()))
        val failed = leased("email.fail")
        val answer = handler.handle(members(failed.body))
        assertEquals(listOf("failed", "retryable"), listOf(answer["status"], failed.state()))
        thrownBy<InvalidDeliveryException> { handler.handle(emptyMap()) }
    }

    @Test
    fun `a handler does not know how it was called`() = patiently {
        val seen = ArrayList<Any?>()
        val worker = OjsWorker(CLIENT)
        worker.use("loud") { ctx, next ->
            seen += "before"
            next(ctx)
        }
        worker.transform("mail", "1.0", "2.0") { args -> args.map { "$it!" } }
        worker.register("mail", version = "2.0") { ctx ->
            seen += "${ctx.args.first()} ${ctx.attempt}"
            ctx.args.first()
        }
        worker.onCompleted { seen += "completed ${it.type}" }
        val handler = LambdaHandler(Settings(worker = worker))
        val job = leased("mail", "ada", version = "1.0")
        assertEquals("ada!", handler.handle(members(job.body))["result"])
        OjsTesting.fake().use { jobs ->
            CLIENT.enqueue("mail", "bob")
            jobs.drain(worker)
        }
        assertEquals(listOf("before", "ada! 1", "completed mail", "before", "bob 1"), seen)
    }

    @Test
    fun `a type without a handler goes where the worker's settings say`() = patiently {
        val unknown = members(plainJob("other"))
        assertEquals("no_handler", dig(alone().handleDirect(unknown), "error", "code"))
        val releasing = handler(Settings(worker = OjsWorker(CLIENT, unknownTypes = UnknownTypes.RELEASE)))
        val job = leased("other")
        assertEquals(true, releasing.handleDirect(members(job.body))["requeue"])
        assertEquals("available", job.state())
    }

    @Test
    fun `encrypted arguments arrive in the clear`() = patiently {
        val keys = "k-1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
        val body = OjsClient(server.url, encryptionKeys = keys).use { leased("card.charge", "4111 1111", by = it).body }
        assertFalse("4111 1111" in body)
        suspend fun charged(keys: String): Map<String, Any?> {
            val handler = LambdaHandler(Settings(ojsUrl = server.url, encryptionKeys = keys))
            handler.register("card.charge") { ctx -> ctx.args }
            return handler.handle(members(body))
        }
        assertEquals(listOf("4111 1111"), charged(keys)["result"])
        val unknown = charged("other:" + "00".repeat(32))["error"]
        assertEquals(listOf("x_codec_unknown_key", true), listOf(dig(unknown, "code"), dig(unknown, "retryable")))
        val changed = charged("k-1:" + "00".repeat(32))["error"]
        assertEquals(listOf("x_codec_auth_failed", false), listOf(dig(changed, "code"), dig(changed, "retryable")))
    }

    @Test
    fun `a context reaches the server`() = patiently {
        val handler = withServer()
        handler.register("import") { ctx ->
            assertEquals("push_worker_1", ctx.workerId)
            assertTrue(ctx.heartbeat())
            ctx.progress(0.1, "a tenth")
            ctx.progress(0.5, "half")
            ctx.step("charge") { "ch_1" }
            ctx.checkpoint(mapOf("page" to 7))
            error("later")
        }
        val job = leased("import", retry = mapOf("max_attempts" to 3, "backoff_strategy" to "none"))
        assertEquals(emptyList<Any>(), again(handler, sqs("m1", job.body)))
        assertEquals("half", dig(CLIENT.request("GET", "/jobs/${job.id}/progress"), "message"))
        val found = CompletableDeferred<Any?>()
        val worker = OjsWorker(CLIENT, queues = listOf(job.now().queue))
        worker.register("import") { ctx ->
            found.complete(listOf(ctx.step("charge") { "again" }, ctx.loadCheckpoint()))
        }
        worker.start()
        assertEquals(listOf("ch_1", mapOf("page" to 7L)), found.await())
        worker.stop()

        val state = """{"${'$'}ojs.state":1,"${'$'}ojs.steps":{"charge":"ch_1"}}"""
        val alone = alone()
        alone.register("find") { ctx -> listOf(ctx.step("charge") { "again" }, ctx.loadCheckpoint()) }
        alone.register("save") { ctx -> ctx.checkpoint(1) }
        val delivered = """{"id":"1","type":"find","args":[],"checkpoint":{"state":$state}}"""
        assertEquals(listOf("ch_1", 1L), alone.handle(members(delivered))["result"])
        val refused = alone.handle(members("""{"id":"1","type":"save","args":[]}"""))
        assertTrue("OJS_URL" in dig(refused, "error", "message") as String)
    }

    @Test
    fun `a handler learns that its job is cancelled`() = patiently {
        val handler = withServer()
        handler.register("import") { ctx ->
            CLIENT.cancelJob(ctx.id)
            thrownBy<JobCancelledException> { ctx.checkpoint(1) }
            assertEquals(CancelReason.CANCELLED, ctx.cancelReason)
            assertFalse(ctx.heartbeat())
            ctx.throwIfCancelled()
        }
        val job = leased("import")
        assertEquals(emptyList<Any>(), again(handler, sqs("m1", job.body)))
        assertEquals("cancelled", job.state())
    }

    /** Lambda ends a function at its limit: the job is given up before, and the server knows. */
    @Test
    fun `a job is given up before the limit of the function`() = patiently {
        val reason = CompletableDeferred<CancelReason?>()
        val never = CountDownLatch(1)
        val handler = withServer()
        handler.register("slow") { ctx ->
            try {
                awaitCancellation()
            } finally {
                reason.complete(ctx.cancelReason)
            }
        }
        handler.register("deaf") { never.await() }
        val job = leased("slow")
        handler.handle(mapOf("Records" to listOf(sqs("m1", job.body))), 2.seconds)
        assertEquals(listOf("retryable", "timeout"), listOf(job.state(), job.now().error?.get("code")))
        assertEquals(CancelReason.TIMED_OUT, reason.await())
        for (type in listOf("slow", "deaf")) {
            val own = members("""{"id":"1","type":"$type","args":[],"timeout_ms":20}""")
            assertEquals("timeout", dig(handler.handle(own), "error", "code"), type)
        }
        never.countDown()
    }
}
