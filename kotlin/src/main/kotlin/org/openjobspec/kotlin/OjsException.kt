// Made from xtask/schema.toml by make gen; do not edit.
package org.openjobspec.kotlin

/**
 * What this package throws. `when` over its subclasses is complete:
 *
 * ```kotlin
 * when (e) {
 *     is OjsException.Duplicate -> e.existingJobId
 *     is OjsException.Connection -> null // try later
 *     else -> throw e
 * }
 * ```
 */
public sealed class OjsException(message: String, internal val about: About, cause: Throwable? = null) : RuntimeException(message, cause) {
    /** Machine-readable, as the server wrote it, such as `not_found`. */
    public val code: String get() = about.code

    /** Whether the same call may succeed later. */
    public val retryable: Boolean get() = about.retryable

    /** The HTTP status; 0 when there was no answer. */
    public val status: Int get() = about.status

    /** More about the error, in the forms of JSON; null when there is no more. */
    public val details: Any? get() = about.details

    /** What to do next, in the server's words; null when the server gave no hint. */
    public val hint: String? get() = about.hint

    /** The name of the request in the server's log; null when the server gave none. */
    public val requestId: String? get() = about.requestId

    /** The number of the code in the catalogue of OJS errors, such as `OJS-3000`; null when it has none. */
    public val numeric: String? get() = about.numeric

    /** What is known about an error besides its message. */
    internal class About(
        val code: String,
        val retryable: Boolean = false,
        val status: Int = 0,
        val details: Any? = null,
        val hint: String? = null,
        val requestId: String? = null,
        val numeric: String? = null,
    ) {
        companion object {
            fun of(members: Map<String, Any?>): About = About(
                code = members.text("code") ?: "internal_error",
                retryable = members.truth("retryable"),
                status = members.number("status") ?: 0,
                details = members.get("details"),
                hint = members.text("hint"),
                requestId = members.text("request_id"),
                numeric = members.text("numeric"),
            )
        }
    }

    /** The server answered, and the answer is an error. */
    public open class Api internal constructor(message: String, about: About, cause: Throwable? = null) :
        OjsException(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)
    }

    /** The job's present state or another job is in the way. */
    public open class Conflict internal constructor(message: String, about: About, cause: Throwable? = null) :
        Api(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)
    }

    /** The job exists already: same id, or a unique policy said so. */
    public class Duplicate internal constructor(message: String, about: About, cause: Throwable? = null) :
        Conflict(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)

        /** The id of the job that was there first; null where the server does not say it. */
        public val existingJobId: String? get() = (details as? Map<*, *>)?.get("existing_job_id") as? String
    }

    /** The state of the job, schema, workflow or other thing does not allow the operation; for a job, current_state in the details names it. */
    public class InvalidStateTransition internal constructor(message: String, about: About, cause: Throwable? = null) :
        Conflict(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)
    }

    /** There is no such job, queue, workflow or schedule (any more). */
    public class NotFound internal constructor(message: String, about: About, cause: Throwable? = null) :
        Api(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)
    }

    /** The queue is paused and refuses jobs. */
    public class QueuePaused internal constructor(message: String, about: About, cause: Throwable? = null) :
        Api(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)
    }

    /** The request came too fast, or the queue is full. */
    public class RateLimited internal constructor(message: String, about: About, cause: Throwable? = null) :
        Api(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)
    }

    /** The job, its metadata, its result or the batch is larger than the server takes. */
    public class PayloadTooLarge internal constructor(message: String, about: About, cause: Throwable? = null) :
        Api(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)
    }

    /** The server found the request wrong; field in the details names the place. */
    public open class InvalidRequest internal constructor(message: String, about: About, cause: Throwable? = null) :
        Api(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)
    }

    /** The server does not have an extension that the request needs, such as job trains; extension in the details names it. Nothing was done. */
    public class UnsupportedExtension internal constructor(message: String, about: About, cause: Throwable? = null) :
        InvalidRequest(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)
    }

    /** The token is missing, wrong, or not allowed to do this. */
    public class Authentication internal constructor(message: String, about: About, cause: Throwable? = null) :
        Api(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)
    }

    /** There was no OJS answer. */
    public open class Connection internal constructor(message: String, about: About, cause: Throwable? = null) :
        OjsException(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)
    }

    /** There was no answer in time; the server may have acted. */
    public class Timeout internal constructor(message: String, about: About, cause: Throwable? = null) :
        Connection(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)
    }

    /** The request, an argument or a setting was found wrong before anything was sent. */
    public class Validation internal constructor(message: String, about: About, cause: Throwable? = null) :
        OjsException(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("invalid_argument"), cause)
    }

    /** An enqueue middleware did not call next: the job was dropped on purpose. */
    public class NotEnqueued internal constructor(message: String, about: About, cause: Throwable? = null) :
        OjsException(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("not_enqueued"), cause)
    }

    /** A chain was used wrongly: unknown name, name taken, changed while in use, next called twice. */
    public class Middleware internal constructor(message: String, about: About, cause: Throwable? = null) :
        OjsException(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("middleware"), cause)
    }

    /** The outbox cannot be used as it is set up, or not here: the message says what to do. */
    public class Outbox internal constructor(message: String, about: About, cause: Throwable? = null) :
        OjsException(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("outbox"), cause)
    }

    /** A request of a webhook is not to be trusted: a header is missing, the signature is old, or no secret fits. reason in the details is a word for it. */
    public class UntrustedWebhook internal constructor(message: String, about: About, cause: Throwable? = null) :
        OjsException(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("untrusted_webhook"), cause)
    }

    /** The client, worker or server was closed. */
    public class Closed internal constructor(message: String, about: About, cause: Throwable? = null) :
        OjsException(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("closed"), cause)
    }

    /** A bug in OJS. Please report it. */
    public class Internal internal constructor(message: String, about: About, cause: Throwable? = null) :
        OjsException(message, about, cause) {
        internal constructor(message: String, cause: Throwable? = null) : this(message, About("internal_error"), cause)
    }

    public companion object {
        /** By the number of the core's table. */
        internal fun of(number: Int, message: String, about: About, cause: Throwable? = null): OjsException = when (number) {
            1 -> Api(message, about, cause)
            2 -> Duplicate(message, about, cause)
            3 -> NotFound(message, about, cause)
            4 -> QueuePaused(message, about, cause)
            5 -> RateLimited(message, about, cause)
            6 -> InvalidStateTransition(message, about, cause)
            7 -> PayloadTooLarge(message, about, cause)
            8 -> InvalidRequest(message, about, cause)
            9 -> Authentication(message, about, cause)
            11 -> UnsupportedExtension(message, about, cause)
            20 -> Connection(message, about, cause)
            21 -> Timeout(message, about, cause)
            30 -> Validation(message, about, cause)
            31 -> NotEnqueued(message, about, cause)
            34 -> UntrustedWebhook(message, about, cause)
            40 -> Closed(message, about, cause)
            else -> Internal(message, about, cause)
        }
    }
}
