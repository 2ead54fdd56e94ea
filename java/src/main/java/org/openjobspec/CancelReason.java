package org.openjobspec;

/** Why a handler should stop. */
public enum CancelReason {
    // gen:java/cancel_reasons.j2 (make gen; do not edit)
    /** The job was cancelled on the server. */
    CANCELLED,
    /** Another worker has the job by now, or it was answered before. */
    LEASE_LOST,
    /** The attempt's time is up. */
    TIMED_OUT,
    /** The worker stops and its grace period is over. */
    SHUTDOWN;

    /** By number of {@code enum ojs_cancel}; null of 0. */
    static CancelReason of(int number) {
        return switch (number) {
            case 0 -> null;
            case 2 -> LEASE_LOST;
            case 3 -> TIMED_OUT;
            case 4 -> SHUTDOWN;
            default -> CANCELLED;
        };
    }
    // gen:end
}
