package org.openjobspec.serverless;

/** What a platform has handed over is no job: the message names the wrong member. */
public final class InvalidDeliveryException extends RuntimeException {
    InvalidDeliveryException(String message) {
        super(message);
    }

    /** The machine-readable code. */
    public String code() {
        return "invalid_request";
    }
}
