package org.openjobspec;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Jobs that failed for good and were kept: {@link OJSClient#deadLetters()}. */
public final class DeadLetters extends Operations.OfDeadLetters {
    DeadLetters(OJSClient client) {
        super(client);
    }

    /**
     * Which are meant. What is null does not matter.
     *
     * @param queue those of this queue
     * @param type those of this job type
     * @param errorType those that this type of error ended
     * @param since those that ended at this time or later
     * @param until those that ended before this time
     */
    public record Filter(String queue, String type, String errorType, Instant since, Instant until) {
        /** All of them. */
        public static final Filter ALL = new Filter(null, null, null, null, null);

        /** Those of a queue. */
        public static Filter ofQueue(String queue) {
            return new Filter(queue, null, null, null, null);
        }

        /** Those of a job type. */
        public static Filter ofType(String type) {
            return new Filter(null, type, null, null, null);
        }

        private Map<String, Object> wire() {
            return Operation.members("queue", queue, "type", type, "error_type", errorType, "since", since == null ? null : since.toString(),
                    "until", until == null ? null : until.toString());
        }
    }

    /** All, newest first, as many as the server gives in one answer. */
    public List<Job> list() {
        return list(Filter.ALL, 0, 0);
    }

    /** Those of a queue or type, newest first: at most {@code limit} (0: as the server likes), after the first {@code offset}. */
    public List<Job> list(Filter filter, int limit, int offset) {
        Map<String, Object> parameters = new LinkedHashMap<>(filter.wire());
        if (limit > 0) parameters.put("limit", limit);
        if (offset > 0) parameters.put("offset", offset);
        return client.run(Operation.jobs("GET", Operation.query("/dead-letter", parameters), null));
    }

    /** Runs all again that the filter finds; returns how many. */
    public int retryAll(Filter filter) {
        return client.run(Operation.number("POST", "/dead-letter/retry", Map.of("filter", filter.wire(), "confirm", true), "retried"));
    }

    /** Deletes all that the filter finds; returns how many. */
    public int discardAll(Filter filter) {
        Map<String, Object> parameters = new LinkedHashMap<>(filter.wire());
        parameters.put("confirm", "true");
        return client.run(Operation.number("DELETE", Operation.query("/dead-letter", parameters), null, "deleted"));
    }
}
