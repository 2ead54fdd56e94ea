package org.openjobspec;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Jobs that failed for good and were kept: {@link OJSClient#deadLetters()}. */
public final class DeadLetters extends Operations.OfDeadLetters {
    DeadLetters(OJSClient client) {
        super(client);
    }

    // gen:java/filter.j2:DeadLetterFilter (make gen; do not edit)
    /**
     * Which dead letters an operation changes. What is null does not matter.
     *
     * @param queue only jobs of this queue
     * @param type only this job type; {@code email.*} is all types that start with {@code email.}
     * @param errorType only jobs whose last error is of this type
     * @param since only jobs discarded at this time or later
     * @param until only jobs discarded before this time
     */
    public record Filter(
            String queue,
            String type,
            String errorType,
            Instant since,
            Instant until) {
        /** The filter that leaves everything out. */
        public static final Filter ALL = new Filter(null, null, null, null, null);

        /** Only jobs of this queue. */
        public static Filter ofQueue(String queue) {
            return new Filter(queue, null, null, null, null);
        }

        /** Only this job type; {@code email.*} is all types that start with {@code email.}. */
        public static Filter ofType(String type) {
            return new Filter(null, type, null, null, null);
        }

        /** Only jobs of this queue. */
        public Filter withQueue(String queue) {
            return new Filter(queue, type, errorType, since, until);
        }

        /** Only this job type; {@code email.*} is all types that start with {@code email.}. */
        public Filter withType(String type) {
            return new Filter(queue, type, errorType, since, until);
        }

        /** Only jobs whose last error is of this type. */
        public Filter withErrorType(String errorType) {
            return new Filter(queue, type, errorType, since, until);
        }

        /** Only jobs discarded at this time or later. */
        public Filter withSince(Instant since) {
            return new Filter(queue, type, errorType, since, until);
        }

        /** Only jobs discarded before this time. */
        public Filter withUntil(Instant until) {
            return new Filter(queue, type, errorType, since, until);
        }

        /** What is given, by the names on the wire. */
        Map<String, Object> members() {
            return Operation.members(
                    "queue", queue,
                    "type", type,
                    "error_type", errorType,
                    "since", since == null ? null : since.toString(),
                    "until", until == null ? null : until.toString());
        }
    }
    // gen:end

    /** All, newest first, as many as the server gives in one answer. */
    public List<Job> list() {
        return list(Filter.ALL, 0, 0);
    }

    /** Those of a queue or type, newest first: at most {@code limit} (0: as the server likes), after the first {@code offset}. */
    public List<Job> list(Filter filter, int limit, int offset) {
        Map<String, Object> parameters = Operation.with(filter.members(),
                Operation.members("limit", limit > 0 ? limit : null, "offset", offset > 0 ? offset : null));
        return client.run(Operation.jobs("GET", Operation.query("/dead-letter", parameters), null));
    }
}
