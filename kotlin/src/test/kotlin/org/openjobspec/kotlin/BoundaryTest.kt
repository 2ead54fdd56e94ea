package org.openjobspec.kotlin

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

/** Where two memories and two sets of threads meet. */
@Timeout(600)
class BoundaryTest {
    @Test
    fun garbageCollectionsWhileEverythingRuns() {
        val on = AtomicBoolean(true)
        val collector = thread {
            while (on.get()) {
                System.gc()
                Thread.sleep(5) // two processors have other work as well
            }
        }
        try {
            bench {
                val worker = worker().register("a") { ctx -> ctx.args }.start()
                coroutineScope {
                    val sent = List(100) { async { client.enqueue("a", it, "x".repeat(1000), queue = queue) } }
                    repeat(15) {
                        // Dropped, never closed: freed when the collector finds them.
                        val dropped = OjsClient("memory:${unique("dropped")}")
                        dropped.enqueue("a", it)
                        OjsWorker(dropped).register("a") {}
                    }
                    sent.awaitAll().forEachIndexed { number, job ->
                        assertEquals(listOf<Any?>(number.toLong(), "x".repeat(1000)), completed(job).result)
                    }
                }
                worker.stop()
            }
        } finally {
            on.set(false)
            collector.join()
        }
    }

    @Test
    fun oneSlotHandlersThatUseTheClientAndCancellationsOnEverything() = bench(Place.HTTP) {
        val ran = AtomicInteger()
        val worker =
            OjsWorker(client, queues = listOf(queue), concurrency = 1, heartbeatInterval = 10.milliseconds)
        worker.use("reads") { ctx, next -> ctx.heartbeat(); next(ctx) }
        worker.register("parent") { ctx ->
            ran.incrementAndGet()
            ctx.client.enqueue("child", ctx.id, queue = queue)
            client.getJob(ctx.id).state
        }.register("child") { ctx -> ctx.heartbeat() }.start()
        val parents = List(60) { client.enqueue("parent", it, queue = queue) }
        coroutineScope {
            for (job in parents.drop(20)) launch {
                try {
                    client.cancelJob(job.id)
                } catch (e: OjsException.InvalidStateTransition) {
                    // It was faster.
                }
            }
        }
        parents.forEach { ended(it, "completed", "cancelled") }
        eventually { client.queues.stats(queue).takeIf { it.number("available") == 0 && worker.activeJobs == 0 } }
        assertTrue(ran.get() >= 20, "$ran")
        worker.stop()
    }

    /** The heap is whole from the start, and the compiler is the frugal one: what grows is what the library holds. */
    private val soak = listOf("-Xms64m", "-XX:+AlwaysPreTouch", "-XX:TieredStopAtLevel=1")

    @Test
    fun memoryDoesNotGrowWithTheJobs() {
        val jobs = (System.getenv("OJS_SOAK_JOBS") ?: "20000").toInt()
        val program = ProcessTest.Program(soak, "soak", unique("soak"), "$jobs")
        program.process.waitFor()
        val (status, lines) = program.exit()
        assertEquals(0 to 4, status to lines.size, "$lines")
        val (resident, heap) = lines.map { it.split(" ").drop(1).map(String::toInt) }
            .let { seen -> seen.map { it[0] } to seen.map { it[1] } }
        // The first quarter fills caches and pools; from then on there is no slope. Megabytes.
        assertTrue(resident[3] - resident[1] <= 24, "it grew in half of $jobs jobs: $lines")
        assertTrue(heap[3] - heap[1] <= 8, "the heap grew: $lines")
    }
}
