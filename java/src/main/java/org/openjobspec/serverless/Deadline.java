package org.openjobspec.serverless;

import java.time.Duration;

/**
 * The time by which runs must have ended: a platform's limit less a margin for the answer. Of a short limit at most
 * half is the margin: a function with three seconds works one and a half.
 */
final class Deadline {
    private final long end;
    private final boolean limited;

    /** Without {@code limit} there is none. */
    Deadline(Duration limit, Duration margin) {
        limited = limit != null;
        if (!limited) {
            end = 0;
            return;
        }
        Duration half = limit.dividedBy(2);
        end = System.nanoTime() + limit.minus(margin.compareTo(half) < 0 ? margin : half).toNanos();
    }

    /** What is left, {@code most} at most; null without a limit. */
    Duration left(Duration most) {
        if (!limited) return most;
        Duration left = Duration.ofNanos(Math.max(end - System.nanoTime(), 0));
        return most == null || left.compareTo(most) < 0 ? left : most;
    }

    /** Whether there is no time left. */
    boolean passed() {
        return limited && end - System.nanoTime() <= 0;
    }
}
