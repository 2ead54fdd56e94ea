package org.openjobspec;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Tests without a server: a private engine in memory takes the place of every client's server.
 *
 * {@snippet :
 * try (var fake = OJSTesting.fake()) {
 *     signUp("ada@example.com");
 *     fake.assertEnqueuedWith("email.send", "ada@example.com");
 *     fake.drain(worker); // runs the handlers here
 * }
 * }
 */
public final class OJSTesting {
    /** The newest one gets the jobs. */
    private static final List<Fake> ACTIVE = new CopyOnWriteArrayList<>();

    private OJSTesting() {}

    /** Keeps the jobs of all clients in memory, until it is closed. */
    public static Fake fake() {
        return begin(List.of());
    }

    /** Runs jobs with the handlers of these workers as soon as they are enqueued; what they throw reaches who enqueues. */
    public static Fake inline(OJSWorker... workers) {
        return begin(List.of(workers));
    }

    private static Fake begin(List<OJSWorker> inline) {
        Fake fake = new Fake(inline, ACTIVE::remove);
        ACTIVE.add(fake);
        return fake;
    }

    /** What takes the place of connections; null when nothing does. */
    static Fake active() {
        return ACTIVE.isEmpty() ? null : ACTIVE.getLast();
    }
}
