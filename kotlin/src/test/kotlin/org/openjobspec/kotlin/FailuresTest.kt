package org.openjobspec.kotlin

import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.delay
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.condition.DisabledOnOs
import org.junit.jupiter.api.condition.OS

/** What goes wrong is on stderr, by java.util.logging, without any set-up: read from a worker process. */
@DisabledOnOs(OS.WINDOWS)
class FailuresTest {
    private val queue = unique("loud")
    private val once = RetryPolicy(maxAttempts = 1)

    private suspend fun ProcessTest.Program.seen(vararg texts: String) {
        val all = texts.asList()
        try {
            eventually { errors.firstOrNull { line -> all.all { it in line } } }
        } catch (e: kotlinx.coroutines.TimeoutCancellationException) {
            throw AssertionError("$all is not in:\n${errors.joinToString("\n")}", e)
        }
    }

    @Test
    fun failuresAreOnStderr() = patiently {
        OjsClient(server.url).use { client ->
            val program = ProcessTest.Program(emptyList(), "loud", queue)
            try {
                attemptsAndTypes(client, program)
                aLostLease(client, program)
                // What was said before the end is written before the end.
                val last = client.enqueue("mail.fails", queue = queue, retry = once)
                eventually { client.getJob(last.id).takeIf { it.state == "discarded" } }
                program.signal("TERM")
                assertEquals(0, program.exit().first)
                program.seen("SEVERE", last.id)
            } finally {
                program.process.destroyForcibly()
            }
        }
    }

    private suspend fun attemptsAndTypes(client: OjsClient, program: ProcessTest.Program) {
        val twice = RetryPolicy(maxAttempts = 2, initialInterval = 1.milliseconds, jitter = false)
        val failing = client.enqueue("mail.fails", queue = queue, retry = twice)
        program.seen("WARNING", "job failed", "mail.fails", failing.id, "1 of 2", "no mail today")
        program.seen("SEVERE", "for good", "mail.fails", failing.id, "2 of 2", "no mail today")
        program.seen("Programs.kt") // the trace
        val misspelt = client.enqueue("mail.fials", queue = queue)
        program.seen("SEVERE", "mail.fials", misspelt.id, "no_handler")
        val slow = client.enqueue("mail.waits", queue = queue, timeout = 100.milliseconds, retry = once)
        program.seen("SEVERE", "mail.waits", slow.id, "timeout")
    }

    private suspend fun aLostLease(client: OjsClient, program: ProcessTest.Program) {
        val held = client.enqueue("mail.waits", queue = queue)
        program.line("waiting ${held.id}")
        // A process that is stopped is silent: the server gives its job to another worker.
        program.signal("STOP")
        val fetch = mapOf("queues" to listOf(queue), "count" to 1, "worker_id" to "thief")
        while (true) {
            val answer = membersOf(client.request("POST", "/workers/fetch", fetch))
            if (answer.items("jobs").isNotEmpty()) break
            delay(2)
        }
        program.signal("CONT")
        program.seen("WARNING", "mail.waits", held.id, "lease_lost")
        assertTrue(program.process.isAlive)
    }
}
