package org.openjobspec;

import java.util.HashMap;
import java.util.Map;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/** Signals of a worker process: TERM and INT stop it (the second one at once), TSTP makes it quiet, CONT resumes it. */
final class Signals {
    private static final System.Logger LOG = System.getLogger("org.openjobspec");

    private Signals() {}

    /** Listens until the worker is over. */
    static void attach(OJSWorker worker) {
        Map<Signal, SignalHandler> before = new HashMap<>();
        handle(before, "TERM", worker::shutdown);
        handle(before, "INT", worker::shutdown);
        handle(before, "TSTP", worker::quiet);
        handle(before, "CONT", worker::resume);
        worker.over().thenRun(() -> before.forEach(Signal::handle));
    }

    private static void handle(Map<Signal, SignalHandler> before, String name, Runnable action) {
        try {
            Signal signal = new Signal(name);
            before.put(signal, Signal.handle(signal, _ -> action.run()));
        } catch (IllegalArgumentException | LinkageError e) { // -Xrs, a system or a runtime image without it: the exit hook of the worker gives its jobs back
            LOG.log(System.Logger.Level.DEBUG, "no handler for the signal " + name, e);
        }
    }
}
