package org.openjobspec;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Outcomes on their way to the core: the first thread hands in its own, and those that other threads bring meanwhile. */
final class Completions {
    private static final System.Logger LOG = System.getLogger("org.openjobspec");

    private final NativeWorker core;
    private final ConcurrentLinkedQueue<Outcome> done = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final LongAdder busy = new LongAdder();

    Completions(NativeWorker core) {
        this.core = core;
    }

    /** Hands in an outcome, and how long its handler took. */
    void add(Outcome outcome, long nanos) {
        busy.add(nanos);
        done.add(outcome);
        if (waiting.getAndIncrement() != 0) return; // another thread does it, and looks again
        int seen = 1;
        while (seen != 0) {
            flush();
            seen = waiting.addAndGet(-seen);
        }
    }

    private void flush() {
        List<Outcome> batch = new ArrayList<>();
        for (Outcome next; (next = done.poll()) != null; ) batch.add(next);
        if (batch.isEmpty()) return;
        try {
            core.complete(Frames.outcomes(batch), busy.sumThenReset() / 1000);
        } catch (OJSException e) {
            // One of them is wrong, and nothing was done: only that one fails.
            batch.forEach(this::alone);
        }
    }

    private void alone(Outcome outcome) {
        try {
            core.complete(Frames.outcomes(List.of(outcome)), 0);
        } catch (OJSException refusal) {
            tell(Outcome.unreadable(outcome.token(), refusal));
        }
    }

    private void tell(Outcome outcome) {
        try {
            core.complete(Frames.outcomes(List.of(outcome)), 0);
        } catch (OJSException e) {
            LOG.log(System.Logger.Level.ERROR, "an outcome was not accepted; the job comes back when its lease ends", e);
        }
    }
}
