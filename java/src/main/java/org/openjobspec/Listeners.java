package org.openjobspec;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** Who wants to hear how runs ended. */
final class Listeners {
    private static final System.Logger LOG = System.getLogger("org.openjobspec");

    final List<Consumer<JobContext>> completed = new CopyOnWriteArrayList<>();
    final List<BiConsumer<JobContext, Throwable>> failed = new CopyOnWriteArrayList<>();

    /** Null when it was completed. */
    void tell(JobContext ctx, Throwable thrown) {
        if (thrown == null) completed.forEach(listener -> safely(() -> listener.accept(ctx)));
        else failed.forEach(listener -> safely(() -> listener.accept(ctx, thrown)));
    }

    private static void safely(Runnable call) {
        try {
            call.run();
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.WARNING, "a listener of a worker threw", e);
        }
    }
}
