package org.openjobspec;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;

/** What a worker was built with. Null is the default. */
record WorkerSettings(OJSClient client, OJSClient.Builder connection, List<String> queues, int concurrency, Executor executor,
                      Duration heartbeatInterval, Duration visibilityTimeout, Duration gracePeriod,
                      Duration flushTimeout, Duration pollInterval, String workerId, List<String> labels,
                      boolean releaseOnShutdown, boolean handleSignals,
                      UnknownTypes unknownTypes, boolean onlyRegisteredTypes) {

    /** The form of the core. Without types it runs all. */
    NativeWorker.Options options(List<String> types) {
        return new NativeWorker.Options(concurrency, queues, types, workerId, Durations.millis("heartbeatInterval", heartbeatInterval),
                Durations.millis("visibilityTimeout", visibilityTimeout),
                evenNone("gracePeriod", gracePeriod), evenNone("flushTimeout", flushTimeout),
                Durations.millis("pollInterval", pollInterval), !releaseOnShutdown, labels, unknownTypes.word(),
                onlyRegisteredTypes);
    }

    /** To the engine, zero means that nothing was said. */
    private static long evenNone(String name, Duration length) {
        return length == null ? 0 : Math.max(1, Durations.millis(name, length));
    }
}
