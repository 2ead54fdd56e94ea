package org.openjobspec;

/** Thrown by {@link JobContext#throwIfCancelled()}; a handler that lets it through ends its job quietly. */
public final class JobCancelledException extends RuntimeException {
    private final CancelReason reason;

    JobCancelledException(CancelReason reason) {
        super("the job should stop: " + reason.name().toLowerCase(java.util.Locale.ROOT));
        this.reason = reason;
    }

    /** Why it should stop. */
    public CancelReason reason() {
        return reason;
    }
}
