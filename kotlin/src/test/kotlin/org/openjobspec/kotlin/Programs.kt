package org.openjobspec.kotlin

import java.nio.file.Files
import java.nio.file.Path
import kotlin.concurrent.thread
import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking

/** Programs of their own for [ProcessTest], [FailuresTest] and [BoundaryTest]: `Programs NAME QUEUE`, with OJS_URL. */
internal object Programs {
    @JvmStatic
    fun main(args: Array<String>): Unit = runBlocking {
        val queue = args[1]
        when (args[0]) {
            "run" -> {
                holding(queue).run()
                say("over")
            }
            "exit" -> {
                holding(queue).start()
                System.`in`.read()
                exitProcess(3)
            }
            "loud" -> loud(queue)
            "soak" -> soak(queue, args[2].toInt())
            else -> throw IllegalArgumentException(args[0])
        }
    }

    private fun say(line: String) {
        println(line)
        System.out.flush()
    }

    /**
     * Its jobs say that they have begun. One with an argument ends after so many milliseconds, one without never: only
     * a test ends it, for neither the grace period nor the lease does.
     */
    private fun holding(queue: String): OjsWorker {
        val worker =
            OjsWorker(OjsClient(), queues = listOf(queue), gracePeriod = 30.minutes, visibilityTimeout = 30.minutes)
        thread(isDaemon = true) {
            var before = WorkerState.NEW
            while (true) {
                val seen = before
                before = runBlocking { eventually { worker.state.takeIf { it != seen } } }
                say("now $before")
            }
        }
        return worker.register("hold") { ctx ->
            say("begun ${ctx.id}")
            if (ctx.args.isEmpty()) awaitCancellation()
            delay(ctx.arg<Int>(0).milliseconds)
            "held"
        }.register("say") { ctx -> say("said ${ctx.arg<String>(0)}") }
    }

    /** A worker as a new user writes it: nothing about logs. The lease is short, for one of the jobs loses it. */
    private suspend fun loud(queue: String) {
        val worker = OjsWorker(
            OjsClient(),
            queues = listOf(queue),
            visibilityTimeout = 1.seconds,
            heartbeatInterval = 100.milliseconds,
        )
        worker.register("mail.fails") { error("no mail today") }
        worker.register("mail.waits") { ctx ->
            say("waiting ${ctx.id}")
            awaitCancellation()
        }
        worker.run()
    }

    /** Works jobs, a quarter at a time, and says what the process holds after each. */
    private suspend fun soak(queue: String, jobs: Int) {
        OjsClient().use { client ->
            OjsWorker(client, queues = listOf(queue), concurrency = 64).use { worker ->
                worker.register("soak") { ctx ->
                    mapOf("args" to ctx.args, "again" to membersOf(client.request("GET", "/health"))["status"])
                }.start()
                var done = 0
                repeat(4) {
                    repeat(jobs / 2000) {
                        client.enqueueBatch(List(500) { number -> job("soak", number, "x".repeat(200), queue = queue) })
                        done += 500
                        val reached = eventually {
                            client.queues.stats(queue).number("completed")?.takeIf { it >= done }
                        }
                        check(reached == done) { "$reached of $done" }
                    }
                    System.gc()
                    say("resident ${resident()} ${heap()}")
                }
            }
        }
    }

    /** Megabytes that are still in use after a collection. */
    private fun heap(): Long = (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) shr 20

    /** Megabytes. */
    private fun resident(): Long {
        val line = Files.readAllLines(Path.of("/proc/self/status")).first { it.startsWith("VmRSS:") }
        return line.filter(Char::isDigit).toLong() / 1024
    }
}
