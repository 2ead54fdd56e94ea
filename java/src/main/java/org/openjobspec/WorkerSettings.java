package org.openjobspec;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;

/** What a worker was built with. Null is the default. */
record WorkerSettings(OJSClient client, OJSClient.Builder connection, List<String> queues, int concurrency, Executor executor,
                      Duration heartbeatInterval, Duration visibilityTimeout, Duration gracePeriod, Duration pollInterval, String workerId,
                      List<String> labels, boolean releaseOnShutdown, boolean handleSignals) {

    /** The form of the core. Without types it runs all. */
    NativeWorker.Options options(List<String> types) {
        return new NativeWorker.Options(concurrency, queues, types, workerId, Durations.millis("heartbeatInterval", heartbeatInterval),
                Durations.millis("visibilityTimeout", visibilityTimeout),
                // To the engine, zero means that nothing was said.
                gracePeriod == null ? 0 : Math.max(1, Durations.millis("gracePeriod", gracePeriod)),
                Durations.millis("pollInterval", pollInterval), !releaseOnShutdown, labels);
    }

    static String environment(String name, String otherwise) {
        String value = System.getenv(name);
        return value == null || value.isBlank() ? otherwise : value.strip();
    }

    static int number(String name, int otherwise) {
        String value = environment(name, null);
        if (value == null) return otherwise;
        try {
            int number = Integer.parseInt(value);
            if (number > 0) return number;
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new OJSException.Validation(name + " must be a number, 1 or more, got '" + value + "'");
    }

    static Duration seconds(String name) {
        String value = environment(name, null);
        try {
            double seconds = value == null ? -1 : Double.parseDouble(value);
            if (value == null) return null;
            if (seconds >= 0) return Duration.ofMillis((long) (seconds * 1000));
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new OJSException.Validation(name + " must be a number of seconds, 0 or more, got '" + value + "'");
    }
}
