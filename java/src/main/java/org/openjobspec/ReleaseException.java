package org.openjobspec;

/** Throw it in a handler: the job goes back to its queue for another worker, and no attempt is counted. */
public final class ReleaseException extends RuntimeException {
    /** Without a reason. */
    public ReleaseException() {
        super("given back by the handler", null, false, false);
    }
}
