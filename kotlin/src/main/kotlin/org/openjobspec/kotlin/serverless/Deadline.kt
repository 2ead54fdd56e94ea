package org.openjobspec.kotlin.serverless

import kotlin.time.Duration
import kotlin.time.TimeSource

/**
 * The time by which runs must have ended: a platform's limit less a margin for the answer. Of a short limit at most
 * half is the margin: a function with three seconds works one and a half. Without [limit] there is none.
 */
internal class Deadline(limit: Duration?, margin: Duration) {
    private val end = limit?.let { TimeSource.Monotonic.markNow() + (it - minOf(margin, it / 2)) }

    /** Whether there is no time left. */
    val hasPassed: Boolean get() = end?.hasPassedNow() == true

    /** What is left, [most] at most; null without a limit. */
    fun left(most: Duration?): Duration? {
        val left = end?.let { (-it.elapsedNow()).coerceAtLeast(Duration.ZERO) } ?: return most
        return if (most == null) left else minOf(left, most)
    }
}
