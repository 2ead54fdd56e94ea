package org.openjobspec;

import java.time.Duration;

/** Throw it in a handler: the job runs again after the delay, and no attempt is counted. */
public final class SnoozeException extends RuntimeException {
    private final Duration delay;

    /** Again after this long. */
    public SnoozeException(Duration delay) {
        super("again in " + Durations.text(delay), null, false, false);
        this.delay = delay;
    }

    /** How long. */
    public Duration delay() {
        return delay;
    }
}
