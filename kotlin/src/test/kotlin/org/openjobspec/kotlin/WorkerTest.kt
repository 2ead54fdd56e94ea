package org.openjobspec.kotlin

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeout
import kotlinx.serialization.Serializable
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

class WorkerTest {
    @Serializable
    data class Email(val to: String, val copies: Int = 1)

    @ParameterizedTest
    @EnumSource
    internal fun aSuspendHandlerRunsAJobAndReturnsItsResult(place: Place) = bench(place) {
        worker().register("sum") { ctx ->
            delay(1)
            mapOf("sum" to ctx.args.sumOf { (it as Long) }, "attempt" to ctx.attempt)
        }.start()
        val job = client.enqueue("sum", 1, 2, 39, queue = queue)
        assertEquals(mapOf("sum" to 42L, "attempt" to 1L), completed(job).result)
        assertEquals(42L, membersOf(client.waitForResult(job.id, PATIENCE).result)["sum"])
    }

    @Test
    fun argumentsAreReadAsSerializableClasses() = bench {
        val seen = CompletableDeferred<Email>()
        worker().register("mail") { ctx -> seen.complete(ctx.arg<Email>(0)) }.start()
        client.enqueue("mail", Email("ada@example.com", 2), queue = queue)
        assertEquals(Email("ada@example.com", 2), withTimeout(PATIENCE) { seen.await() })
    }

    @Test
    fun asManyHandlersRunAtATimeAsConcurrencySaysAlsoWhenTheyBlock() = bench {
        val all = CountDownLatch(8)
        val most = AtomicInteger()
        val now = AtomicInteger()
        worker(concurrency = 8).register("block") {
            most.accumulateAndGet(now.incrementAndGet(), ::maxOf)
            all.countDown()
            // On a thread, in a monitor: all eight wait at the same time, on however few processors.
            synchronized(Any()) { all.await() }
            now.decrementAndGet()
        }.start()
        val jobs = client.enqueueBatch(List(24) { job("block", it, queue = queue) })
        jobs.forEach { completed(it) }
        assertEquals(8, most.get())
    }

    @Test
    fun failuresRetryAndEndAsTheirExceptionsSay() = bench {
        val runs = AtomicInteger()
        worker()
            .register("twice") { if (runs.incrementAndGet() == 1) error("first time") else "second time" }
            .register("never") { throw NonRetryableException("no such address", "bad_address", mapOf("field" to "to")) }
            .register("later") { ctx ->
                if (
                    ctx.meta["seen"] == null && runs.incrementAndGet() < 4
                ) throw SnoozeException(Duration.ZERO) else null
            }
            .start()
        val retry = RetryPolicy(maxAttempts = 3, initialInterval = 0.01.seconds)
        assertEquals(2, completed(client.enqueue("twice", queue = queue, retry = retry)).attempt)
        val never = ended(client.enqueue("never", queue = queue), "discarded")
        assertEquals("bad_address", never.error?.get("code"))
        assertEquals("to", never.error?.inner("details")?.get("field"))
        completed(client.enqueue("later", queue = queue))
    }

    @Test
    fun aCancelledJobCancelsTheCoroutineOfItsHandler() = bench(Place.HTTP) {
        val began = CompletableDeferred<Unit>()
        val reason = CompletableDeferred<CancelReason?>()
        val worker = OjsWorker(client, queues = listOf(queue), heartbeatInterval = 0.02.seconds)
        worker.register("wait") { ctx ->
            began.complete(Unit)
            try {
                awaitCancellation()
            } finally {
                reason.complete(ctx.cancelReason)
            }
        }.start()
        val job = client.enqueue("wait", queue = queue)
        withTimeout(PATIENCE) { began.await() }
        client.cancelJob(job.id)
        assertEquals(CancelReason.CANCELLED, withTimeout(PATIENCE) { reason.await() })
        assertEquals("cancelled", ended(job, "cancelled").state)
        worker.stop()
    }

    @ParameterizedTest
    @EnumSource
    internal fun aTimeoutFailsTheAttemptAndCancelsTheCoroutine(place: Place) = bench(place) {
        val reason = CompletableDeferred<CancelReason?>()
        val began = CompletableDeferred<Unit>()
        worker().register("slow") { ctx ->
            began.complete(Unit)
            try {
                awaitCancellation()
            } finally {
                reason.complete(ctx.cancelReason)
            }
        }.start()
        // On a busy machine the time may be up before the handler begins: another job is tried then.
        eventually {
            val job = client.enqueue("slow", queue = queue, timeout = 0.5.seconds, retry = RetryPolicy(maxAttempts = 1))
            assertEquals("timeout", ended(job, "discarded").error?.get("code"))
            began.takeIf { it.isCompleted }
        }
        assertEquals(CancelReason.TIMED_OUT, withTimeout(PATIENCE) { reason.await() })
    }

    @ParameterizedTest
    @EnumSource
    internal fun bigPayloads(place: Place) = bench(place) {
        worker().register("echo") { ctx -> ctx.args }.start()
        val args = listOf("ž馬🐎".repeat(20_000), List(5_000) { it.toLong() })
        assertEquals(args, completed(client.enqueue("echo", *args.toTypedArray(), queue = queue)).result)
    }

    @Test
    fun stopLetsHandlersFinishAndCancelsThemWhenTheGracePeriodIsOver() = bench {
        val began = CompletableDeferred<Unit>()
        val go = CompletableDeferred<Unit>()
        val ended = CompletableDeferred<CancelReason?>()
        val patient = worker(gracePeriod = 10.minutes).register("finish") { began.complete(Unit); go.await() }.start()
        val job = client.enqueue("finish", queue = queue)
        withTimeout(PATIENCE) { began.await() }
        patient.shutdown()
        go.complete(Unit)
        patient.join()
        completed(job)
        assertEquals(WorkerState.STOPPED, patient.state)

        val hurried = CompletableDeferred<Unit>()
        val second = worker().register("hang") { ctx ->
            hurried.complete(Unit)
            try {
                awaitCancellation()
            } finally {
                ended.complete(ctx.cancelReason)
            }
        }.start()
        val left = client.enqueue("hang", queue = queue)
        withTimeout(PATIENCE) { hurried.await() }
        second.stop(Duration.ZERO)
        assertEquals(CancelReason.SHUTDOWN, withTimeout(PATIENCE) { ended.await() })
        val back = client.getJob(left.id)
        assertEquals("available" to 0, back.state to (back["failures"] as? Number ?: 0).toInt())
    }

    @Test
    fun theEndOfTheCoroutineThatRunsAWorkerStopsIt() = bench {
        val began = CompletableDeferred<Unit>()
        val cancelled = CompletableDeferred<Unit>()
        val worker = worker(gracePeriod = Duration.ZERO).register("hang") {
            began.complete(Unit)
            try {
                awaitCancellation()
            } finally {
                cancelled.complete(Unit)
            }
        }
        coroutineScope {
            val running = launch(Dispatchers.Default) { worker.run() }
            client.enqueue("hang", queue = queue)
            withTimeout(PATIENCE) { began.await() }
            running.cancelAndJoin()
        }
        assertTrue(cancelled.isCompleted)
        assertEquals(WorkerState.STOPPED, worker.state)
    }

    @Test
    fun middlewareStandsAroundHandlersAndEnqueues() = bench {
        val order = ArrayList<String>()
        client.use("stamp") { request, next -> next(request.copy(meta = request.meta + ("by" to "ada"))) }
        worker()
            .use("outer") { ctx, next -> order += "outer"; ctx.metadata["x"] = 1; next(ctx).also { order += "/outer" } }
            .use("inner") { ctx, next -> order += "inner ${ctx.metadata["x"]}"; next(ctx) }
            .register("a") { ctx -> order += "handler ${ctx.meta["by"]}"; "done" }
            .start()
        assertEquals("done", completed(client.enqueue("a", queue = queue)).result)
        assertEquals(listOf("outer", "inner 1", "handler ada", "/outer"), order)
    }

    @Test
    fun listenersHearOfEveryRun() = bench {
        val good = CompletableDeferred<String>()
        val bad = CompletableDeferred<String?>()
        worker().register("good") {}.register("bad") { error("broken") }
            .onCompleted { good.complete(it.id) }.onFailed { _, thrown -> bad.complete(thrown.message) }.start()
        assertEquals(client.enqueue("good", queue = queue).id, withTimeout(PATIENCE) { good.await() })
        client.enqueue("bad", queue = queue)
        assertEquals("broken", withTimeout(PATIENCE) { bad.await() })
    }

    @Test
    fun aWorkerTakesJobsOfSeveralQueues() = bench {
        val second = unique("queue")
        val worker = OjsWorker(client, queues = listOf(queue, second)).register("where") { it.queue }.start()
        val jobs = listOf(queue, second).map { client.enqueue("where", queue = it) }
        assertEquals(listOf<Any?>(queue, second), jobs.map { completed(it).result })
        worker.stop()
    }

    @Test
    fun checkpointsAndStepsLastFromOneAttemptToTheNext() = bench(Place.HTTP) {
        val charges = AtomicInteger()
        val attempts = AtomicInteger()
        worker().register("pay") { ctx ->
            val receipt = ctx.step("charge") { Email("bank", charges.incrementAndGet()) }
            ctx.progress(0.5, "charged")
            if (ctx.loadCheckpoint() == null) ctx.checkpoint(mapOf("row" to 7))
            if (attempts.incrementAndGet() == 1) error("after the charge")
            mapOf("copies" to receipt.copies, "row" to membersOf(ctx.loadCheckpoint())["row"])
        }.start()
        val job =
            client.enqueue("pay", queue = queue, retry = RetryPolicy(maxAttempts = 2, initialInterval = 0.01.seconds))
        assertEquals(mapOf("copies" to 1L, "row" to 7L), completed(job).result)
        assertEquals(1, charges.get())
    }

    @Test
    fun aHandlerEnqueuesForTheTenantOfItsJob() = bench {
        worker().register("outer") { ctx -> ctx.client.enqueue("inner", queue = "elsewhere").meta["tenant_id"] }.start()
        assertEquals("acme", completed(client.ofTenant("acme").enqueue("outer", queue = queue)).result)
    }

    @Test
    fun jobsOfATrainRunOneAfterTheOther() = bench {
        val now = AtomicInteger()
        val most = AtomicInteger()
        worker().register("car") { ctx ->
            most.accumulateAndGet(now.incrementAndGet(), ::maxOf)
            delay(1)
            now.decrementAndGet()
            ctx.train?.id
        }.start()
        val jobs = List(6) { client.enqueue("car", it, queue = queue, train = Train("dest_1")) }
        jobs.forEach { assertEquals("dest_1", completed(it).result) }
        assertEquals(1, most.get())
    }

    @Test
    fun oldArgumentsAreChangedToTheVersionOfTheHandler() = bench {
        val type = unique("greet")
        worker().register(type, version = "2.0") { ctx -> ctx.arg<Map<String, String>>(0)["name"] }
            .transform(type, "1.0", "2.0") { args -> listOf(mapOf("name" to args[0])) }.start()
        assertEquals("ada", completed(client.enqueue(type, "ada", queue = queue, version = "1.0")).result)
    }

    @Test
    fun defaultsOfATypeCountWhereAJobSaysNothing() = bench {
        val type = unique("typed")
        worker().register(
            type,
            queue = queue,
            priority = 7,
            retry = RetryPolicy(maxAttempts = 9),
        ) { ctx -> ctx.job.priority }
        assertEquals(queue to 9, client.enqueue(type).let { it.queue to it.maxAttempts })
        assertEquals("default", client.enqueue(type, queue = "default").queue)
    }

    @Test
    fun wrongUseIsRefusedWithWhatToDo() = bench {
        val worker = worker()
        assertTrue("register some" in thrownBy<OjsException.Validation> { worker.start() }.message.orEmpty())
        worker.register("a") {}
        assertTrue("already" in thrownBy<OjsException.Validation> { worker.register("a") {} }.message.orEmpty())
        assertTrue(
            "at least 1" in thrownBy<OjsException.Validation> { OjsWorker(client, concurrency = 0) }.message.orEmpty(),
        )
        assertTrue(
            "queues" in thrownBy<OjsException.Validation> { OjsWorker(client, queues = emptyList()) }.message.orEmpty(),
        )
        thrownBy<OjsException.Validation> { OjsClient("jobs.db") }
        thrownBy<OjsException.NotFound> { client.getJob("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f") }
        thrownBy<OjsException.Validation> { client.enqueue("a", Any()) }
        assertFalse(worker.state == WorkerState.RUNNING)
    }

    @Test
    fun aCallOfACancelledCoroutineEndsAtOnce() = bench(Place.HTTP) {
        coroutineScope {
            val job = client.enqueue("never", queue = queue)
            val waiting = async { client.waitForResult(job.id) }
            delay(1)
            waiting.cancelAndJoin()
            assertTrue(waiting.isCancelled)
        }
    }
}
