package org.openjobspec.kotlin

import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Test

/** Handlers run one after the other where one has ended: none waits for another, and none learns of another. */
class BacklogTest {
    @Test
    fun aHandlerThatBlocksHoldsUpNoJobThatCameWithIt() = bench {
        val go = CountDownLatch(1)
        worker(concurrency = 4).register("short") { "done" }.register("block") { go.await() }.start()
        val batch = List(3) { listOf(job("short", queue = queue), job("block", queue = queue)) }.flatten()
        val jobs = client.enqueueBatch(batch + job("short", queue = queue))
        try {
            // Those before, between and after the blocked ones, and their outcomes.
            jobs.filter { it.type == "short" }.forEach { completed(it) }
        } finally {
            go.countDown()
        }
        jobs.forEach { completed(it) }
    }

    @Test
    fun onOneThreadAHandlerThatSuspendsLetsTheOthersRun() = bench {
        val executor = Executors.newSingleThreadExecutor()
        val last = CompletableDeferred<Unit>()
        val here = AtomicInteger()
        val worker = OjsWorker(
            client, queues = listOf(queue), concurrency = 8, dispatcher = executor.asCoroutineDispatcher(),
        )
        worker.register("meet") {
            if (here.incrementAndGet() == 8) last.complete(Unit)
            last.await()
        }.start()
        client.enqueueBatch(List(8) { job("meet", it, queue = queue) }).forEach { completed(it) }
        worker.stop()
        executor.shutdown()
    }

    @Test
    fun aDispatcherThatNeedsNoDispatchRunsHandlersToo() = bench {
        val worker = OjsWorker(client, queues = listOf(queue), dispatcher = Dispatchers.Unconfined)
        worker.register("here") { "done" }.start()
        client.enqueueBatch(List(20) { job("here", it, queue = queue) }).forEach { completed(it) }
        worker.stop()
    }

    @Test
    fun theInterruptOfOneHandlerDoesNotReachTheNext() = bench {
        val seen = CompletableDeferred<Boolean>()
        val ran = AtomicInteger()
        val executor = Executors.newSingleThreadExecutor()
        val worker = OjsWorker(client, queues = listOf(queue), dispatcher = executor.asCoroutineDispatcher())
        worker.register("first") { Thread.currentThread().interrupt() }
            .register("second") { if (ran.incrementAndGet() == 20) seen.complete(Thread.interrupted()) }.start()
        client.enqueueBatch(List(20) { listOf(job("first", queue = queue), job("second", queue = queue)) }.flatten())
        assertFalse(withTimeout(PATIENCE) { seen.await() })
        assertEquals(20, ran.get())
        worker.stop()
        executor.shutdown()
    }
}
