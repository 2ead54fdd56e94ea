package org.openjobspec.kotlin

import java.lang.System.Logger.Level
import java.util.concurrent.CopyOnWriteArrayList
import sun.misc.Signal
import sun.misc.SignalHandler

/**
 * Signals for workers that `run()`: the first SIGTERM or SIGINT stops them gracefully, the second ends their grace
 * period; SIGTSTP makes them quiet, SIGCONT resumes them.
 */
internal object Interrupts {
    private val workers = CopyOnWriteArrayList<OjsWorker>()
    private val before = HashMap<String, SignalHandler>()

    @Synchronized
    fun attach(worker: OjsWorker): AutoCloseable {
        if (workers.isEmpty()) {
            for (name in listOf("TERM", "INT")) take(name) { it.shutdown() }
            take("TSTP") { it.quiet() }
            take("CONT") { it.resume() }
        }
        workers += worker
        return AutoCloseable { detach(worker) }
    }

    private fun take(name: String, action: (OjsWorker) -> Unit) {
        try {
            before[name] = Signal.handle(Signal(name)) { workers.forEach(action) }
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
