package org.openjobspec.kotlin

import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.condition.DisabledOnOs
import org.junit.jupiter.api.condition.OS

/** What happens to jobs when processes get signals and end. */
@DisabledOnOs(OS.WINDOWS)
class ProcessTest {
    private val queue = unique("process")
    private val client = OjsClient(server.url)
    private val programs = ArrayList<Program>()

    @AfterEach
    fun end() {
        programs.forEach { it.process.destroyForcibly() }
        client.close()
    }

    /** A program, and the lines that it says. */
    internal class Program(options: List<String>, vararg args: String) {
        private val lines = CopyOnWriteArrayList<String>()

        /** What it wrote to stderr. */
        val errors = CopyOnWriteArrayList<String>()
        val process: Process
        private val readers: List<Thread>

        init {
            val classes = System.getProperty("surefire.test.class.path") ?: System.getProperty("java.class.path")
            val java = System.getProperty("java.home") + "/bin/java"
            val command = listOf(java, "--enable-native-access=ALL-UNNAMED", "-Xmx64m", "-cp", classes) + options +
                Programs::class.java.name + args
            val builder = ProcessBuilder(command)
            builder.environment()["OJS_URL"] = server.url
            process = builder.start()
            readers = listOf(
                thread(isDaemon = true) { process.inputStream.bufferedReader().forEachLine(lines::add) },
                thread(isDaemon = true) {
                    process.errorStream.bufferedReader().forEachLine {
                        errors += it
                        System.err.println(it)
                    }
                },
            )
        }

        suspend fun line(beginning: String): String =
            eventually { lines.firstOrNull { it.startsWith(beginning) } }

        fun signal(name: String) =
            assertEquals(0, ProcessBuilder("kill", "-$name", "${process.pid()}").start().waitFor())

        /** How it ended, and all that it said. */
        fun exit(): Pair<Int, List<String>> {
            assertTrue(process.waitFor(PATIENCE.inWholeSeconds, TimeUnit.SECONDS), "it has not ended: $lines")
            readers.forEach { it.join() }
            return process.exitValue() to lines
        }
    }

    private suspend fun started(name: String): Program =
        Program(emptyList(), name, queue).also { programs += it }.also { it.line("now RUNNING") }

    private suspend fun begun(program: Program, vararg args: Any?): String {
        val id = client.enqueue("hold", *args, queue = queue).id
        program.line("begun $id")
        return id
    }

    /** Before the server would miss the silent worker. */
    private suspend fun comesBack(id: String) = withTimeout(20.seconds) {
        while (client.getJob(id).state != "available") delay(2)
    }

    @Test
    fun onTermRunningJobsFinishAndRunReturns() = patiently {
        val program = started("run")
        val id = begun(program, 300)
        program.signal("TERM")
        val (status, lines) = program.exit()
        assertEquals(0 to "over", status to lines.last { !it.startsWith("now") })
        assertEquals("held", client.getJob(id).result)
    }

    @Test
    fun aSecondInterruptEndsTheGracePeriod() = patiently {
        val program = started("run")
        val id = begun(program)
        program.signal("INT")
        // Two that come before the process runs again are one to it: signals are not counted.
        program.line("now TERMINATE")
        program.signal("INT")
        assertEquals(0, program.exit().first)
        comesBack(id)
    }

    @Test
    fun tstpMakesItQuietAndContResumes() = patiently {
        val program = started("run")
        program.signal("TSTP")
        program.line("now QUIET")
        program.signal("CONT")
        client.enqueue("say", "after", queue = queue)
        program.line("said after")
        program.signal("TERM")
        assertEquals(0, program.exit().first)
    }

    @Test
    fun whatStillRunsAtTheExitGoesBack() = patiently {
        val program = started("exit")
        val id = begun(program)
        program.process.outputStream.close()
        assertEquals(3, program.exit().first)
        comesBack(id)
    }
}
