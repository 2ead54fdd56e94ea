package org.openjobspec.kotlin

import java.util.concurrent.CancellationException
import kotlin.time.Duration

/** Ends a job for good: it is not tried again, whatever its retry policy says. */
public class NonRetryableException(
    message: String,
    /** For retry policies and programs. */
    public val code: String = "non_retryable",
    /** More about the failure; has to have a JSON form. */
    public val details: Map<String, Any?>? = null,
    cause: Throwable? = null,
) : RuntimeException(message, cause)

/** Runs the job again after [delay]; no failure is counted. */
public class SnoozeException(
    /** Until the next run. */
    public val delay: Duration,
) : RuntimeException("again in $delay") {
    init {
        notNegative("delay", delay)
    }
}

/** Gives the job back to its queue; no attempt is counted. */
public class ReleaseException : RuntimeException("given back by the handler")

/**
 * Cancels the coroutine of a handler that should stop; thrown by its next suspension, and by
 * [JobContext.throwIfCancelled].
 */
public class JobCancelledException internal constructor(
    /** Why. */
    public val reason: CancelReason,
) : CancellationException(reason.text)
