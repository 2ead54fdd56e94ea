package org.openjobspec.kotlin

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicBoolean
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.DelicateCoroutinesApi
import kotlinx.coroutines.launch

/**
 * Jobs that were pulled and have not begun. A coroutine takes one after the other, and begins it where it runs itself;
 * before each it has another one launched for those that are left. So a handler that blocks holds up no job, and
 * handlers that are short cost no thread of their own.
 *
 * @param begin runs a job until it ends or its handler suspends; throws nothing
 */
internal class Backlog(
    private val scope: CoroutineScope,
    private val completions: Completions,
    private val begin: (JobContext) -> Unit,
) {
    private val jobs = ConcurrentLinkedQueue<JobContext>()

    /** Whether a coroutine was launched that has not looked yet: it launches the next one. */
    private val launched = AtomicBoolean()

    fun add(batch: List<JobContext>) {
        jobs.addAll(batch)
        widen()
    }

    /** It runs also where the scope was cancelled: every job gets an outcome. */
    @OptIn(DelicateCoroutinesApi::class)
    private fun widen() {
        if (jobs.isEmpty() || !launched.compareAndSet(false, true)) return
        scope.launch(start = CoroutineStart.ATOMIC) {
            launched.set(false) // before the look: what is added from now on has another one launched
            take()
        }
    }

    private fun take() {
        while (true) {
            val job = jobs.poll() ?: return completions.handIn()
            widen()
            begin(job)
            Thread.interrupted() // what a handler has left behind is not for the next one
            if (jobs.isEmpty()) completions.handIn() else completions.handInSoon()
        }
    }
}
