package org.openjobspec.kotlin

import java.lang.System.Logger.Level
import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.LongAdder
import java.util.concurrent.locks.LockSupport
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.thread
import kotlin.concurrent.withLock

/**
 * Outcomes on their way to the core, as many in one call as there are: a call by JNA costs more than a short handler.
 * Who has run the last job that is there hands in; a thread does so for those who have more jobs to run, any of which
 * may take long.
 *
 * @param handedIn told how many outcomes were handed in
 * @param broken told that outcomes cannot be handed in
 */
internal class Completions(
    private val passage: Passage,
    private val handedIn: (Int) -> Unit,
    private val broken: (Throwable) -> Unit,
) {
    private val done = ConcurrentLinkedQueue<Outcome>()
    private val busy = LongAdder()
    private val handing = ReentrantLock()
    private var buffer = ByteBuffer.allocateDirect(4096)

    /** Whether the thread sleeps, or is about to: it must be woken. */
    private val idle = AtomicBoolean()

    @Volatile
    private var closed = false
    private lateinit var carrier: Thread

    fun start(worker: String) {
        // A daemon: the thread that pulls keeps the process alive.
        carrier = thread(name = "ojs-outcomes-$worker", isDaemon = true, block = ::carry)
    }

    /** Keeps an outcome, and how long its handler took, until [handIn] or [handInSoon] is called. */
    fun add(outcome: Outcome, nanos: Long) {
        busy.add(nanos)
        done.add(outcome)
    }

    /** Hands in what there is now. */
    fun handIn() {
        if (done.isEmpty()) return
        // Another one may have taken what there was before the last of it came.
        if (!handing.tryLock()) return wake()
        try {
            flush()
        } finally {
            handing.unlock()
        }
    }

    /** The thread hands in what is still there a moment later. */
    fun handInSoon() {
        if (!done.isEmpty()) wake()
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
        while (!closed) {
            sleep()
            if (!closed) LockSupport.parkNanos(this, MOMENT_NANOS)
            handing.withLock(::flush)
        }
    }

    private fun sleep() {
        idle.set(true)
        // Looks once more: what came before it was idle has not woken it.
        while (idle.get() && done.isEmpty() && !closed) LockSupport.park(this)
        idle.set(false)
    }

    /** Under the lock. */
    private fun flush() {
        try {
            val batch = ArrayList<Outcome>()
            while (true) batch += done.poll() ?: break
            if (batch.isNotEmpty()) handIn(batch)
        } catch (e: Throwable) {
            broken(e)
        }
    }

    private fun handIn(batch: List<Outcome>) {
        buffer = Frames.outcomes(batch, buffer) // it may have grown
        try {
            passage.complete(buffer, busy.sumThenReset() / 1000)
        } catch (e: OjsException) {
            // One of them is wrong, and nothing was done: only that one fails.
            batch.forEach(::alone)
        }
        handedIn(batch.size)
    }

    private fun alone(outcome: Outcome) {
        try {
            passage.complete(Frames.outcomes(listOf(outcome)), 0)
        } catch (refusal: OjsException) {
            try {
                passage.complete(Frames.outcomes(listOf(Outcome.unreadable(outcome.token, refusal))), 0)
            } catch (e: OjsException) {
                LOG.log(Level.ERROR, "an outcome was not accepted; the job comes back when its lease ends", e)
            }
        }
    }

    private companion object {
        /** Short handlers are over by then, and have handed in themselves. */
        const val MOMENT_NANOS = 200_000L
    }
}
