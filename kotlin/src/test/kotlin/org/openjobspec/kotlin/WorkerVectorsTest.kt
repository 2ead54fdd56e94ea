package org.openjobspec.kotlin

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.util.Collections
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.sync.Semaphore
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** The vectors of workers, chains, policies and keys. `tests/vectors/judge.py` is the server that workers talk to. */
class WorkerVectorsTest {
    private fun judged(verdict: Map<String, Any?>?) = assertEquals(verdict?.get("expected"), verdict?.get("found"))

    private fun client() = OjsClient(address, maxSends = 1)

    /** The handler that does what its argument says. */
    private suspend fun does(ctx: JobContext): Any? {
        val what = membersOf(ctx.args[0])
        what.text("fail")?.let { throw IllegalStateException(it) }
        what.text("refuse")?.let {
            throw NonRetryableException(it, what.text("code") ?: "non_retryable", what.inner("details"))
        }
        what.whole("snooze_ms")?.let { throw SnoozeException(it.milliseconds) }
        if ("unserializable" in what) return Any()
        if ("wait" in what) awaitCancellation()
        if ("wait_and_return" in what) {
            try {
                awaitCancellation()
            } catch (e: JobCancelledException) {
                return what["wait_and_return"]
            }
        }
        return what["return"]
    }

    @TestFactory
    fun outcomes(): List<DynamicTest> = runBlocking {
        val client = client()
        val worker =
            OjsWorker(client, queues = listOf("outcomes"), workerId = "vectors", heartbeatInterval = 20.milliseconds)
        worker.register("vector", handler = ::does).start()
        val found = verdicts("outcomes")
        worker.stop(Duration.ZERO)
        client.shutdown()
        eachVector("outcomes", "type", "does", "requests", "job", "cancelled", "answers") {
            judged(found[it.text("name")])
        }
    }

    @TestFactory
    fun lives() = eachVector("lives", "jobs", "steps", "concurrency", "grace_ms", "requests", "directive") { vector ->
        val name = vector.text("name").orEmpty()
        val worker = OjsWorker(
            client(), queues = listOf(name), workerId = name, heartbeatInterval = 20.milliseconds,
            concurrency = vector.number("concurrency"), gracePeriod = (vector.whole("grace_ms") ?: 0).milliseconds,
        )
        val jobs = vector.items("jobs").size
        val began = Semaphore(jobs.coerceAtLeast(1), jobs.coerceAtLeast(1))
        val go = CompletableDeferred<Unit>()
        worker.register("hold") {
            began.release()
            go.await()
        }.start()
        for (step in vector.items("steps")) {
            when (step) {
                "began" -> withTimeout(PATIENCE) { repeat(jobs) { began.acquire() } }
                "go" -> go.complete(Unit)
                "quiet" -> worker.quiet()
                "stop" -> worker.shutdown()
                "stop_now" -> worker.shutdown(Duration.ZERO)
                "stopped" -> withTimeout(PATIENCE) { worker.join() }
                else -> throw AssertionError(step)
            }
        }
        judged(verdicts("lives")[name])
    }

    /**
     * `tests/vectors/published.py`: no exchange, no route for results, attempts from 0, lists that are null, other
     * forms of errors.
     */
    @Test
    fun aPublishedServerCostsFeaturesAndNoJobs() = patiently {
        val url = membersOf(plain(asked("/published"))).text("url").orEmpty()
        val client = OjsClient(url)
        val worker = OjsWorker(client, workerId = "w", heartbeatInterval = 20.milliseconds)
        worker.register("email.send") { ctx ->
            check(ctx.attempt > 1) { "the first attempt fails" }
            ctx.attempt
        }.start()
        val job = client.enqueue("email.send", 7)
        assertEquals(2L, client.waitForResult(job.id, PATIENCE).result)
        worker.stop(Duration.ZERO)
        val lists = listOf(client.queues.list(), client.deadLetters.list(), client.cron.list())
        assertEquals(List(3) { emptyList<Any>() }, lists)
        val unknown = "019461a8-0000-7000-8000-00000000ffff"
        thrownBy<OjsException.NotFound> { client.getJob(unknown) }
        thrownBy<OjsException.NotFound> { client.cancelJob(unknown) }
        client.shutdown()
    }

    @TestFactory
    fun policies() = eachVector("policies", "type", "args", "options", "error") { vector ->
        OjsClient("memory:").use { client ->
            val request =
                JobRequest(
                    vector.text("type").orEmpty(),
                    vector.items("args"),
                    options = vector.inner("options").orEmpty(),
                )
            val expected = vector["error"]?.let { known(it, "class", "code", "field") }
            if (expected == null) {
                client.enqueue(request)
            } else {
                val error = thrownBy<OjsException> { client.enqueue(request) }
                assertEquals(VectorsTest.classOf(expected), error::class)
                assertEquals(expected["code"], error.code)
                assertEquals(expected["field"], (error.details as? Map<*, *>)?.get("field"))
            }
        }
    }

    @TestFactory
    fun keys() = eachVector("keys", "type", "args", "options", "unique", "key") { vector ->
        OjsClient("memory:").use { client ->
            val options = vector.inner("options").orEmpty()
            val unique = vector.inner("unique").orEmpty() + ("on_conflict" to "reject")
            val request = JobRequest(
                vector.text("type").orEmpty(), vector.items("args"), meta = options.inner("meta").orEmpty(),
                options = options - "meta" + ("unique" to unique),
            )
            client.enqueue(request)
            val error = thrownBy<OjsException.Duplicate> { client.enqueue(request) }
            assertEquals(vector["key"], membersOf(error.details)["unique_key"])
        }
    }

    @TestFactory
    fun chains() = eachVector("chains", "chain", "do", "layers", "names", "steps", "trace") { vector ->
        OjsClient("memory:").use { client ->
            val worker = OjsWorker(client)
            val sent = Collections.synchronizedList(ArrayList<String>())
            val ran = Collections.synchronizedList(ArrayList<String>())
            val layers = vector.inner("layers").orEmpty()
            val which = vector.text("chain")
            if (which != "execution") apply(vector, client.middleware) { sender(it, layers[it], sent) }
            if (which != "enqueue") apply(vector, worker.middleware) { runner(it, layers[it], ran) }
            if ("trace" in vector) assertEquals(vector["trace"], oneJob(client, worker, sent, ran))
        }
    }

    /** Changes a chain step by step. */
    private fun <L : Any> apply(vector: Map<String, Any?>, chain: MiddlewareChain<L>, layer: (String) -> L) {
        val steps = vector.items("do").map { step ->
            val words = itemsOf(step).map { it as String }
            val name = words.last()
            try {
                when (words[0]) {
                    "add" -> chain.add(name, layer(name))
                    "prepend" -> chain.prepend(name, layer(name))
                    "insert_before" -> chain.insertBefore(words[1], name, layer(name))
                    "insert_after" -> chain.insertAfter(words[1], name, layer(name))
                    "remove" -> chain.remove(name)
                    else -> throw AssertionError(step)
                }
                "ok"
            } catch (e: OjsException.Middleware) {
                "error"
            }
        }
        assertEquals(vector["steps"], steps)
        assertEquals(vector["names"], chain.names)
    }

    private fun sender(name: String, act: Any?, trace: MutableList<String>) = EnqueueMiddleware { request, next ->
        trace += "$name>"
        if (act == "stop") return@EnqueueMiddleware null
        check(act != "fail_before") { name }
        val job = next(if (act == "change") request.copy(meta = mapOf("by" to name)) else request)
        check(act != "fail_after") { name }
        trace += "<$name"
        job
    }

    private fun runner(name: String, act: Any?, trace: MutableList<String>) = ExecutionMiddleware { ctx, next ->
        trace += "$name>"
        if (act == "stop") return@ExecutionMiddleware null
        check(act != "fail_before") { name }
        val result = next(ctx)
        check(act != "fail_after") { name }
        trace += "<$name"
        result
    }

    /** What a job went through in both chains. */
    private suspend fun oneJob(
        client: OjsClient,
        worker: OjsWorker,
        sent: List<String>,
        ran: MutableList<String>,
    ): Map<String, Any?> {
        worker.register("a") { ran += "handler" }
        val job = try {
            client.enqueue("a", retry = RetryPolicy(maxAttempts = 1))
        } catch (e: OjsException.NotEnqueued) {
            return mapOf("enqueue" to "dropped", "sent" to sent)
        } catch (e: IllegalStateException) {
            return mapOf("enqueue" to "failed", "sent" to sent)
        }
        worker.start()
        val ended = eventually { client.getJob(job.id).takeIf { it.state in listOf("completed", "discarded") } }
        worker.stop(Duration.ZERO)
        return mapOf(
            "enqueue" to "enqueued",
            "sent" to sent,
            "ran" to ran,
            "state" to ended.state,
            "by" to ended.meta["by"],
        )
    }

    companion object {
        private lateinit var judge: Process
        private lateinit var address: String

        @BeforeAll
        @JvmStatic
        fun start() {
            judge = ProcessBuilder("python3", ROOT.resolve("tests/vectors/judge.py").toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT).start()
            address = judge.inputReader().readLine().removePrefix("listening on ")
        }

        @AfterAll
        @JvmStatic
        fun end() {
            // It ends with its standard input.
            judge.outputWriter().close()
        }

        private fun asked(path: String): ByteArray {
            val request = HttpRequest.newBuilder(URI.create(address + path)).build()
            return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofByteArray()).body()
        }

        private fun verdicts(kind: String): Map<String, Map<String, Any?>> =
            itemsOf(plain(asked("/verdicts/$kind"))).map(::membersOf).associateBy { it.text("name").orEmpty() }
    }
}
