package org.openjobspec.kotlin

import java.lang.System.Logger.Level
import java.util.concurrent.CopyOnWriteArrayList
import sun.misc.Signal
import sun.misc.SignalHandler

/**
 * SIGTERM and SIGINT for workers that `run()`: the first one stops them gracefully, the second ends their grace period.
 */
internal object Interrupts {
    private val workers = CopyOnWriteArrayList<OjsWorker>()
    private val before = HashMap<String, SignalHandler>()

    @Synchronized
    fun attach(worker: OjsWorker): AutoCloseable {
        if (workers.isEmpty()) listOf("TERM", "INT").forEach(::take)
        workers += worker
        return AutoCloseable { detach(worker) }
    }

    private fun take(name: String) {
        try {
            before[name] = Signal.handle(Signal(name)) { workers.forEach { it.shutdown() } }
        } catch (e: IllegalArgumentException) { // the JVM was started with -Xrs, or uses the signal itself
            LOG.log(Level.DEBUG, "SIG$name cannot be handled: ${e.message}")
        }
    }

    @Synchronized
    private fun detach(worker: OjsWorker) {
        workers -= worker
        if (workers.isEmpty()) before.forEach { (name, handler) -> Signal.handle(Signal(name), handler) }
    }
}
