package org.openjobspec.kotlin

import java.util.Collections
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Progress, checkpoints and steps of handlers, against the real engine. */
class DurableTest {
    @ParameterizedTest
    @EnumSource
    internal fun aStepRunsOnceAcrossAttempts(place: Place) = bench(place) {
        var charges = 0
        val seen = Collections.synchronizedList(ArrayList<List<Any?>>())
        worker().register("pay") { ctx ->
            val page = ctx.loadCheckpoint() as Long?
            val charge = ctx.step<String>("charge") { "ch_${++charges}" }
            seen += listOf(ctx.attempt, charge, page, ctx.checkpoint((page ?: 0) + 1))
            if ((page ?: 0) < 2) error("again")
        }.start()
        val again = RetryPolicy(maxAttempts = 5, initialInterval = 50.milliseconds)
        val job = client.enqueue("pay", queue = queue, retry = again)
        completed(job)
        val first = listOf(1, "ch_1", null, 2L)
        assertEquals(listOf(first, listOf(2, "ch_1", 1L, 3L), listOf(3, "ch_1", 2L, 4L)), seen)
        val state = mapOf("\$ojs.state" to 3L, "\$ojs.steps" to mapOf("charge" to "ch_1"))
        assertEquals(state, client.getCheckpoint(job.id)["state"])
    }

    @ParameterizedTest
    @EnumSource
    internal fun aHandlerGoesOnWhereAnotherLanguageStopped(place: Place) = bench(place) {
        val job = client.enqueue("import", queue = queue)
        val steps = mapOf("open" to listOf(1))
        client.saveCheckpoint(job.id, mapOf("\$ojs.state" to mapOf("row" to 7), "\$ojs.steps" to steps))
        val seen = CompletableDeferred<List<Any?>>()
        worker().register("import") { ctx ->
            val opened = ctx.step<List<Int>>("open") { throw AssertionError("run again") }
            val large = thrownBy<OjsException.PayloadTooLarge> { ctx.checkpoint("x".repeat(1_100_000)) }
            seen.complete(listOf(ctx.loadCheckpoint(), opened, large.code))
        }.start()
        completed(job)
        assertEquals(listOf(mapOf("row" to 7L), listOf(1), "payload_too_large"), seen.await())
    }

    @ParameterizedTest
    @EnumSource
    internal fun aLostLeaseIsTheTypedError(place: Place) = bench(place) {
        val began = CompletableDeferred<Unit>()
        val go = CompletableDeferred<Unit>()
        val refused = CompletableDeferred<CancelReason>()
        worker().register("import") { ctx ->
            // Its coroutine may learn of the end before the checkpoint is asked for.
            withContext(NonCancellable) {
                began.complete(Unit)
                go.await()
                refused.complete(thrownBy<JobCancelledException> { ctx.checkpoint(1) }.reason)
            }
        }.start()
        val job = client.enqueue("import", queue = queue)
        withTimeout(PATIENCE) { began.await() }
        client.cancelJob(job.id)
        go.complete(Unit)
        val reason = withTimeout(PATIENCE) { refused.await() }
        assertEquals(true, reason == CancelReason.CANCELLED || reason == CancelReason.LEASE_LOST, "$reason")
    }

    @ParameterizedTest
    @EnumSource
    internal fun ofManyReportsTheLatestIsSent(place: Place) = bench(place) {
        val go = CompletableDeferred<Unit>()
        worker().register("import") { ctx ->
            for (percent in 0..50) ctx.progress(percent / 100.0, "rows", mapOf("percent" to percent))
            go.await()
        }.start()
        val job = client.enqueue("import", queue = queue)
        val report = eventually { client.getProgress(job.id).takeIf { it["progress"] == 0.5 } }
        assertEquals("rows", report["message"])
        go.complete(Unit)
        completed(job)
        assertEquals("1.0", "${client.getProgress(job.id)["progress"]}")
    }
}
