package org.openjobspec.serverless;

import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The answers to push deliveries of late, bounded in number, size and time: a delivery that arrives twice gets its
 * first answer, and runs once.
 */
final class Deliveries {
    static final int MOST = 4096;
    /** Bytes of all answers that are kept. */
    private static final long BYTES = 8L * 1024 * 1024;

    private record Known(Instant since, CompletableFuture<Answer> answer) {
        int size() {
            return answer.isDone() && !answer.isCompletedExceptionally() ? answer.join().body().length : 0;
        }
    }

    private final Map<String, Known> known = new LinkedHashMap<>();
    private final Duration keep;
    private final int most;
    private long bytes;

    /** {@code keep} is how long a signature counts. */
    Deliveries(Duration keep, int most) {
        this.keep = keep;
        this.most = most;
    }

    /** The answer that {@code run} gives the first time, for every time. */
    Answer once(String key, Instant now, Supplier<Answer> run) {
        Known mine = new Known(now, new CompletableFuture<>());
        Known first;
        synchronized (this) {
            first = known.get(key);
            if (first == null) {
                forget(now);
                known.put(key, mine);
            }
        }
        if (first != null) return first.answer().join();
        try {
            Answer answer = run.get();
            synchronized (this) {
                mine.answer().complete(answer);
                if (known.get(key) == mine) bytes += mine.size();
            }
            return answer;
        } catch (RuntimeException | Error e) {
            synchronized (this) {
                mine.answer().completeExceptionally(e);
                known.remove(key, mine);
            }
            throw e;
        }
    }

    /** Drops what is too old to have a valid signature, and the oldest of what is too much. */
    private void forget(Instant now) {
        for (Iterator<Known> each = known.values().iterator(); each.hasNext(); ) {
            Known oldest = each.next();
            boolean old = Duration.between(oldest.since(), now).compareTo(keep) > 0;
            if (!old && known.size() < most && bytes <= BYTES) return;
            bytes -= oldest.size();
            each.remove();
        }
    }
}
