// Made from xtask/schema.toml by make gen; do not edit.
package org.openjobspec.kotlin

/** What a handler's run came to, by its number in frames. */
internal object Kind {
    /** Done; the payload is the result as JSON text, or empty. */
    const val COMPLETED = 0
    /** Failed; the payload is a JSON object: message, perhaps code, type, retryable, details, backtrace. */
    const val FAILED = 1
    /** Given back without counting an attempt; no payload. */
    const val RELEASED = 2
    /** To run again after the delay, without counting a failure; no payload. */
    const val SNOOZED = 3
}

/** Why a handler should stop. */
public enum class CancelReason(internal val number: Int, internal val text: String) {
    /** The job was cancelled on the server. */
    CANCELLED(1, "the job was cancelled"),
    /** Another worker has the job by now, or it was answered before. */
    LEASE_LOST(2, "the job's lease is lost"),
    /** The attempt's time is up. */
    TIMED_OUT(3, "the job's time is up"),
    /** The worker stops and its grace period is over. */
    SHUTDOWN(4, "the worker stops");

    internal companion object {
        /** The reason with this number; null for 0, with which the handler goes on. */
        fun of(number: Int): CancelReason? = if (number == 0) null else entries.find { it.number == number } ?: CANCELLED
    }
}

/** Where a worker is in its life. */
public enum class WorkerState {
    /** Not started. */
    NEW,
    /** Fetches and runs. */
    RUNNING,
    /** Runs what it holds, fetches nothing. */
    QUIET,
    /** Finishes what it holds, then stops. */
    TERMINATE,
    /** Over. */
    STOPPED
}

/**
 * The layers around an enqueue whose order the specification fixes, outermost first ("Extension Interactions", section 14). Layers
 * with other names may stand anywhere.
 */
internal val ENQUEUE_ORDER: List<String> = listOf("trace_inject", "auth", "validate", "unique", "rate_limit", "encrypt")

/** Names of those members of a job's metadata that come from the request in which the job was made. */
internal object RequestKeys {
    /** Who the user is. */
    const val USER_ID = "ojs.context.user_id"
    /** The name of the request. */
    const val REQUEST_ID = "ojs.context.request_id"
    /** The W3C trace context. */
    const val TRACEPARENT = "traceparent"
    /** The tenant. */
    const val TENANT_ID = "tenant_id"
    /** The user's language. */
    const val LOCALE = "ojs.context.locale"

    val all: List<String> = listOf(USER_ID, REQUEST_ID, TRACEPARENT, TENANT_ID, LOCALE)
}
