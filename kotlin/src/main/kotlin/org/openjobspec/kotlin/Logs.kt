package org.openjobspec.kotlin

import java.lang.System.Logger.Level
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.concurrent.thread
import org.openjobspec.kotlin.core.logsLevel
import org.openjobspec.kotlin.core.logsPull

internal val LOG: System.Logger = System.getLogger("org.openjobspec")

/** The engine's log records, in the system logger `org.openjobspec.core`. */
internal object Logs {
    private val log = System.getLogger("org.openjobspec.core")

    /** By number of the library. Its infos are details here: java.util.logging prints infos unasked. */
    private val levels = listOf(Level.OFF, Level.ERROR, Level.WARNING, Level.DEBUG, Level.TRACE, Level.TRACE)
    private const val WAIT_MS = 60_000
    private const val MOST = 256
    private val carried = AtomicBoolean()

    /** Starts the thread that carries records over, once per process; takes over the logger's level each time. */
    fun start() {
        logsLevel((levels.size - 1 downTo 1).firstOrNull { log.isLoggable(levels[it]) }?.toUByte() ?: 0u)
        if (!carried.getAndSet(true)) thread(isDaemon = true, name = "ojs-logs") { while (true) carry() }
    }

    private fun carry() {
        logsPull(0u, WAIT_MS.toULong()) // waits for a record and takes none
        flush()
    }

    /** Hands on what the engine has said so far: a process may end now. */
    @Synchronized
    fun flush() {
        do {
            val records =
                membersOf(plain(parsed(logsPull(MOST.toUInt(), 0u)))).also(::tellLost).items("records").map(::membersOf)
            for (record in records) {
                val level = levels[(record.number("level") ?: 2).coerceIn(1, levels.size - 1)]
                // Where it was said in the engine is for those who look at details.
                val place = if (level.severity < Level.WARNING.severity) "${record.text("target")}: " else ""
                log.log(level, place + record.text("text"))
            }
        } while (records.size == MOST)
    }

    private fun tellLost(pulled: Map<String, Any?>) {
        val lost = pulled.number("lost") ?: 0
        if (lost > 0) log.log(Level.WARNING, "$lost log records were lost: the logger is too slow")
    }
}
