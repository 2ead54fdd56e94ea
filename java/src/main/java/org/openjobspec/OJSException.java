package org.openjobspec;

import java.util.Map;

/**
 * Something went wrong. Which class a refusal of a server becomes is decided by the core, the same in every language.
 *
 * <p>{@link Api} and its subclasses: the server answered, and the answer is an error. {@link Connection}: there was no answer.
 * The others: nothing was sent.
 */
public sealed class OJSException extends RuntimeException {
    private final transient About about;

    OJSException(String message, About about, Throwable cause) {
        super(message, cause);
        this.about = about;
    }

    private About about() {
        return about == null ? About.code("internal_error") : about; // after deserialisation
    }

    // gen:java/error.j2 (make gen; do not edit)
    /** What is known about an error besides its message. */
    record About(String code, boolean retryable, int status, Object details, String hint, String requestId, String numeric) {
        static About code(String code) {
            return new About(code, false, 0, null, null, null, null);
        }

        static About of(Map<String, Object> members) {
            return new About(
                    Members.text(members, "code"),
                    Boolean.TRUE.equals(members.get("retryable")),
                    Members.number(members, "status", 0),
                    members.get("details"),
                    Members.text(members, "hint"),
                    Members.text(members, "request_id"),
                    Members.text(members, "numeric"));
        }
    }

    /** Machine-readable, as the server wrote it, such as {@code not_found}. */
    public String code() {
        return about().code();
    }

    /** Whether the same call may succeed later. */
    public boolean retryable() {
        return about().retryable();
    }

    /** The HTTP status; 0 when there was no answer. */
    public int status() {
        return about().status();
    }

    /** More about the error, in the forms of JSON; null when there is no more. */
    public Object details() {
        return about().details();
    }

    /** What to do next, in the server's words; null when the server gave no hint. */
    public String hint() {
        return about().hint();
    }

    /** The name of the request in the server's log; null when the server gave none. */
    public String requestId() {
        return about().requestId();
    }

    /** The number of the code in the catalogue of OJS errors, such as {@code OJS-3000}; null when it has none. */
    public String numeric() {
        return about().numeric();
    }

    // gen:end

    private static String text(Object details, String name) {
        return details instanceof Map<?, ?> members && members.get(name) instanceof String text ? text : null;
    }

    // gen:java/classes.j2 (make gen; do not edit)
    /** The server answered, and the answer is an error. */
    public static sealed class Api extends OJSException {
        Api(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** The job's present state or another job is in the way. */
    public static sealed class Conflict extends Api {
        Conflict(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** The job exists already: same id, or a unique policy said so. */
    public static final class Duplicate extends Conflict {
        Duplicate(String message, About about, Throwable cause) {
            super(message, about, cause);
        }

        /** The id of the job that was there first; may be null. */
        public String existingJobId() {
            return text(details(), "existing_job_id");
        }
    }

    /** The state of the job, schema, workflow or other thing does not allow the operation; for a job, current_state in the details names it. */
    public static final class InvalidStateTransition extends Conflict {
        InvalidStateTransition(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** There is no such job, queue, workflow or schedule (any more). */
    public static final class NotFound extends Api {
        NotFound(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** The queue is paused and refuses jobs. */
    public static final class QueuePaused extends Api {
        QueuePaused(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** The request came too fast, or the queue is full. */
    public static final class RateLimited extends Api {
        RateLimited(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** The job, its metadata, its result or the batch is larger than the server takes. */
    public static final class PayloadTooLarge extends Api {
        PayloadTooLarge(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** The server found the request wrong; field in the details names the place. */
    public static sealed class InvalidRequest extends Api {
        InvalidRequest(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** The server does not have an extension that the request needs, such as job trains; extension in the details names it. Nothing was done. */
    public static final class UnsupportedExtension extends InvalidRequest {
        UnsupportedExtension(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** The token is missing, wrong, or not allowed to do this. */
    public static final class Authentication extends Api {
        Authentication(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** There was no OJS answer. */
    public static sealed class Connection extends OJSException {
        Connection(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** There was no answer in time; the server may have acted. */
    public static final class Timeout extends Connection {
        Timeout(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** The request, an argument or a setting was found wrong before anything was sent. */
    public static final class Validation extends OJSException {
        Validation(String message, About about, Throwable cause) {
            super(message, about, cause);
        }

        Validation(String message) {
            this(message, About.code("invalid_argument"), null);
        }

        Validation(String message, String code) {
            this(message, code, null);
        }

        Validation(String message, String code, Throwable cause) {
            this(message, About.code(code), cause);
        }
    }

    /** An enqueue middleware did not call next: the job was dropped on purpose. */
    public static final class NotEnqueued extends OJSException {
        NotEnqueued(String message, About about, Throwable cause) {
            super(message, about, cause);
        }

        NotEnqueued(String message) {
            this(message, About.code("not_enqueued"), null);
        }
    }

    /** A chain was used wrongly: unknown name, name taken, changed while in use, next called twice. */
    public static final class Middleware extends OJSException {
        Middleware(String message, About about, Throwable cause) {
            super(message, about, cause);
        }

        Middleware(String message) {
            this(message, About.code("middleware"), null);
        }
    }

    /** The outbox cannot be used as it is set up, or not here: the message says what to do. */
    public static final class Outbox extends OJSException {
        Outbox(String message, About about, Throwable cause) {
            super(message, about, cause);
        }

        /** For adapters: {@code code} names the fault for programs; {@code cause} may be null. */
        public Outbox(String message, String code, Throwable cause) {
            this(message, About.code(code), cause);
        }
    }

    /** A request of a webhook is not to be trusted: a header is missing, the signature is old, or no secret fits. reason in the details is a word for it. */
    public static final class UntrustedWebhook extends OJSException {
        UntrustedWebhook(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** The client, worker or server was closed. */
    public static final class Closed extends OJSException {
        Closed(String message, About about, Throwable cause) {
            super(message, about, cause);
        }

        Closed(String message) {
            this(message, About.code("closed"), null);
        }
    }

    /** A bug in OJS. Please report it. */
    public static final class Internal extends OJSException {
        Internal(String message, About about, Throwable cause) {
            super(message, about, cause);
        }
    }

    /** By number of the core's table, {@code enum ojs_class} of the header. */
    static OJSException of(int number, String message, About about) {
        return switch (number) {
            case 1 -> new Api(message, about, null);
            case 2 -> new Duplicate(message, about, null);
            case 3 -> new NotFound(message, about, null);
            case 4 -> new QueuePaused(message, about, null);
            case 5 -> new RateLimited(message, about, null);
            case 6 -> new InvalidStateTransition(message, about, null);
            case 7 -> new PayloadTooLarge(message, about, null);
            case 8 -> new InvalidRequest(message, about, null);
            case 9 -> new Authentication(message, about, null);
            case 11 -> new UnsupportedExtension(message, about, null);
            case 20 -> new Connection(message, about, null);
            case 21 -> new Timeout(message, about, null);
            case 30 -> new Validation(message, about, null);
            case 31 -> new NotEnqueued(message, about, null);
            case 34 -> new UntrustedWebhook(message, about, null);
            case 40 -> new Closed(message, about, null);
            default -> new Internal(message, about, null);
        };
    }
    // gen:end
}
