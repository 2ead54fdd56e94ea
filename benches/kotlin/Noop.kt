import com.sun.management.OperatingSystemMXBean
import java.lang.management.ManagementFactory
import java.util.Locale
import java.util.concurrent.atomic.AtomicIntegerArray
import java.util.concurrent.CountDownLatch
import kotlinx.coroutines.runBlocking
import org.openjobspec.kotlin.OjsClient
import org.openjobspec.kotlin.OjsWorker
import org.openjobspec.kotlin.job

/**
 * Handlers that do nothing, in one process: `noop URL`, compared with Java's in languages.py; `calls URL`, what one
 * call of a client costs. Prints one line of JSON. The jobs are enqueued before the clock starts; it runs from the
 * start of the worker to the last handler, and every run ends with an exact check: each number once.
 */
private val jobs = Integer.getInteger("jobs", 20_000)
private val text = "x".repeat(Integer.getInteger("payload", 150))

private fun noop(url: String) = runBlocking {
    OjsClient(url).use { client ->
        val worker = OjsWorker(client, concurrency = Integer.getInteger("threads", 10))
        for (part in (0 until jobs).chunked(1000)) client.enqueueBatch(part.map { job("bench.noop", it, text) })
        val seen = AtomicIntegerArray(jobs)
        val left = CountDownLatch(jobs)
        worker.register("bench.noop") { ctx ->
            val number = ctx.arg<Int>(0)
            check(seen.incrementAndGet(number) == 1) { "$number ran twice" }
            left.countDown()
        }
        val system = ManagementFactory.getOperatingSystemMXBean() as OperatingSystemMXBean
        val cpu = system.processCpuTime
        val began = System.nanoTime()
        worker.start()
        left.await()
        val seconds = (System.nanoTime() - began) / 1e9
        val micros = (system.processCpuTime - cpu) / 1e3
        println("{\"jobs_per_second\": %.0f, \"cpu_us\": %.3f}".format(Locale.ROOT, jobs / seconds, micros / jobs))
        worker.stop()
        val completed = client.queues.stats("default")["completed"]
        check(completed == jobs.toLong()) { "$completed completed" }
    }
}

private fun calls(url: String) = runBlocking {
    OjsClient(url).use { client ->
        val id = client.enqueue("bench.noop").id
        repeat(2_000) { client.getJob(id) }
        val began = System.nanoTime()
        repeat(jobs) { client.getJob(id) }
        println("{\"call_us\": %.1f}".format(Locale.ROOT, (System.nanoTime() - began) / 1e3 / jobs))
    }
}

fun main(args: Array<String>) = if (args[0] == "calls") calls(args[1]) else noop(args[1])
