package org.openjobspec.kotlin

import java.lang.System.Logger.Level
import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.LongAdder
import java.util.concurrent.locks.LockSupport
import kotlin.concurrent.thread
import org.openjobspec.kotlin.core.CoreWorker

/**
 * Outcomes on their way to the core. One thread hands them in, as many in one call as there are: a call by JNA costs
 * more than a short handler.
 *
 * @param handedIn told how many outcomes were handed in
 * @param broken told when the thread has ended by an error
 */
internal class Completions(
    private val core: CoreWorker,
    private val handedIn: (Int) -> Unit,
    private val broken: (Throwable) -> Unit,
) {
    private val done = ConcurrentLinkedQueue<Outcome>()
    private val busy = LongAdder()

    /** Whether the thread sleeps, or is about to: it must be woken. */
    private val idle = AtomicBoolean()

    @Volatile
    private var closed = false
    private lateinit var carrier: Thread

    fun start() {
        // A daemon: the thread that pulls keeps the process alive.
        carrier = thread(name = "ojs-outcomes-${core.id()}", isDaemon = true, block = ::carry)
    }

    /** Hands in an outcome soon, and how long its handler took. */
    fun add(outcome: Outcome, nanos: Long) {
        busy.add(nanos)
        done.add(outcome)
        wake()
    }

    /** Ends the thread. Outcomes that come later change nothing: the core is over. */
    fun close() {
        closed = true
        wake()
    }

    private fun wake() {
        if (idle.get() && idle.compareAndSet(true, false)) LockSupport.unpark(carrier)
    }

    private fun carry() {
        try {
            var buffer = ByteBuffer.allocateDirect(4096)
            while (true) {
                val batch = generateSequence(done::poll).toList()
                if (batch.isNotEmpty()) {
                    buffer = handIn(batch, buffer)
                } else if (closed) {
                    return
                } else {
                    sleep()
                }
            }
        } catch (e: Throwable) {
            broken(e)
        }
    }

    private fun sleep() {
        idle.set(true)
        // Looks once more: what came before it was idle has not woken it.
        while (idle.get() && done.isEmpty() && !closed) LockSupport.park(this)
        idle.set(false)
    }

    /** The buffer may have grown. */
    private fun handIn(batch: List<Outcome>, buffer: ByteBuffer): ByteBuffer {
        val frame = Frames.outcomes(batch, buffer)
        try {
            Core.call { core.complete(frame, (busy.sumThenReset() / 1000).toULong()) }
        } catch (e: OjsException) {
            // One of them is wrong, and nothing was done: only that one fails.
            batch.forEach(::alone)
        }
        handedIn(batch.size)
        return frame
    }

    private fun alone(outcome: Outcome) {
        try {
            Core.call { core.complete(Frames.outcomes(listOf(outcome)), 0u) }
        } catch (refusal: OjsException) {
            try {
                Core.call { core.complete(Frames.outcomes(listOf(Outcome.unreadable(outcome.token, refusal))), 0u) }
            } catch (e: OjsException) {
                LOG.log(Level.ERROR, "an outcome was not accepted; the job comes back when its lease ends", e)
            }
        }
    }
}
