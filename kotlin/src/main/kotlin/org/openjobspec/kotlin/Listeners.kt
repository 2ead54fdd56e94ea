package org.openjobspec.kotlin

import java.lang.System.Logger.Level
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.withContext

/** What a worker calls back after a job. */
internal class Listeners {
    val completed = CopyOnWriteArrayList<suspend (JobContext) -> Unit>()
    val failed = CopyOnWriteArrayList<suspend (JobContext, Throwable) -> Unit>()

    /** Whether one of them wants to know. */
    fun want(thrown: Throwable?): Boolean = if (thrown == null) completed.isNotEmpty() else failed.isNotEmpty()

    /** Tells them, also where the handler's coroutine is cancelled. */
    suspend fun tell(ctx: JobContext, thrown: Throwable?) {
        if (!want(thrown)) return
        withContext(NonCancellable) {
            try {
                if (thrown == null) completed.forEach { it(ctx) } else failed.forEach { it(ctx, thrown) }
            } catch (e: Exception) {
                LOG.log(Level.WARNING, "a listener of the worker failed", e)
            }
        }
    }
}
