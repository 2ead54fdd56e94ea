package org.openjobspec;

import java.util.Map;

/** Throw it in a handler: the job fails for good, whatever its retry policy says. */
public class NonRetryableException extends RuntimeException {
    private final String code;
    private final transient Map<String, ?> details;

    /** Why. */
    public NonRetryableException(String message) {
        this(message, "non_retryable", null, null);
    }

    /** Why, and what was behind it. */
    public NonRetryableException(String message, Throwable cause) {
        this(message, "non_retryable", null, cause);
    }

    /** Why; a code for programs; more in the form of {@link Json}, or null. */
    public NonRetryableException(String message, String code, Map<String, ?> details) {
        this(message, code, details, null);
    }

    private NonRetryableException(String message, String code, Map<String, ?> details, Throwable cause) {
        super(message, cause);
        this.code = code;
        this.details = details;
    }

    /** The machine-readable code. */
    public String code() {
        return code;
    }

    /** More about it; may be null. */
    public Map<String, ?> details() {
        return details;
    }
}
