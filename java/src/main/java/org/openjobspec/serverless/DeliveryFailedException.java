package org.openjobspec.serverless;

/**
 * The job has failed, and no server has taken note of it: the platform shall deliver the event again. Thrown to
 * platforms that take an exception as a failure.
 */
public final class DeliveryFailedException extends RuntimeException {
    private final String code;
    private final boolean retryable;

    DeliveryFailedException(String message, String code, boolean retryable) {
        super(message);
        this.code = code;
        this.retryable = retryable;
    }

    /** The code of the failure. */
    public String code() {
        return code;
    }

    /** False when the job has failed for good. */
    public boolean retryable() {
        return retryable;
    }
}
