package org.openjobspec;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Many jobs in one request, each with an outcome of its own: {@link OJSClient#bulk()}. */
public final class Bulk extends Operations.OfBulk {
    Bulk(OJSClient client) {
        super(client);
    }

    // gen:java/record.j2:BulkItem (make gen; do not edit)
    /**
     * What happened to one job of a bulk enqueue.
     *
     * @param index the place of the job in the request, from 0
     * @param status {@code created}; {@code duplicate}, with the job that existed before; or {@code failed}
     * @param job the job; null when it was refused
     * @param error why the job was refused; null when it was not
     */
    public record Item(int index, String status, Job job, OJSException error) {
        static Item of(Object value) {
            Map<String, Object> members = Members.of(value);
            return new Item(
                    Members.number(members, "index", 0),
                    Members.text(members, "status"),
                    members.get("job") == null ? null : Job.of(members.get("job")),
                    Members.error(members, "error"));
        }

        /** Whether the server has the job. */
        public boolean ok() {
            return error == null;
        }
    }
    // gen:end

    // gen:java/record.j2:BulkChange (make gen; do not edit)
    /**
     * What happened to one job of a bulk cancel, retry or delete.
     *
     * @param jobId the job's id
     * @param status {@code cancelled}, {@code retried}, {@code deleted} or {@code skipped}
     * @param error why the job was skipped; null when it was not
     */
    public record Change(String jobId, String status, OJSException error) {
        static Change of(Object value) {
            Map<String, Object> members = Members.of(value);
            return new Change(
                    Members.text(members, "job_id"),
                    Members.text(members, "status"),
                    Members.error(members, "error"));
        }
    }
    // gen:end

    // gen:java/record.j2:BulkResult (make gen; do not edit)
    /**
     * What a bulk cancel, retry or delete did.
     *
     * @param matched how many jobs were named or found
     * @param skipped how many jobs were left as they are; their items say why
     * @param items one for each job, in the order of the ids; of a filter the first 1,000
     */
    public record Result(int matched, int skipped, List<Change> items) {
        static Result of(Object value) {
            Map<String, Object> members = Members.of(value);
            return new Result(
                    Members.number(members, "total_matched", 0),
                    Members.number(members, "skipped", 0),
                    Operation.items(members, "items").stream().map(Change::of).toList());
        }

        /** How many jobs were changed. */
        public int succeeded() {
            return matched - skipped;
        }
    }
    // gen:end

    /** Which jobs are meant: ids, or a filter. */
    public static final class Target {
        private final Map<String, Object> wire;

        private Target(Map<String, Object> wire) {
            this.wire = wire;
        }

        /** These. */
        public static Target ids(List<String> ids) {
            return new Target(Map.of("job_ids", ids));
        }

        /** Those that a filter finds. */
        public static Target where(Filter filter) {
            Map<String, Object> members = filter.members();
            if (members.isEmpty()) {
                throw new OJSException.Validation("the filter of a bulk call needs a queue, a type, states or more");
            }
            return new Target(Map.of("filter", members));
        }

        Map<String, Object> wire() {
            return wire;
        }
    }

    // gen:java/filter.j2:BulkTarget (make gen; do not edit)
    /**
     * Which jobs a bulk operation changes: ids, or a filter of the other members, and not both. What is null does not matter.
     *
     * @param queue only jobs of this queue
     * @param type only this job type; {@code email.*} is all types that start with {@code email.}
     * @param states only jobs in one of these states
     * @param enqueuedAfter only jobs enqueued after this time
     * @param enqueuedBefore only jobs enqueued before this time
     * @param priority only jobs of this priority
     * @param meta only jobs whose metadata has these members
     */
    public record Filter(
            String queue,
            String type,
            List<String> states,
            Instant enqueuedAfter,
            Instant enqueuedBefore,
            Integer priority,
            Map<String, ?> meta) {
        /** The filter that leaves everything out. */
        public static final Filter ALL = new Filter(null, null, null, null, null, null, null);

        /** Only jobs of this queue. */
        public static Filter ofQueue(String queue) {
            return new Filter(queue, null, null, null, null, null, null);
        }

        /** Only this job type; {@code email.*} is all types that start with {@code email.}. */
        public static Filter ofType(String type) {
            return new Filter(null, type, null, null, null, null, null);
        }

        /** Only jobs of this queue. */
        public Filter withQueue(String queue) {
            return new Filter(queue, type, states, enqueuedAfter, enqueuedBefore, priority, meta);
        }

        /** Only this job type; {@code email.*} is all types that start with {@code email.}. */
        public Filter withType(String type) {
            return new Filter(queue, type, states, enqueuedAfter, enqueuedBefore, priority, meta);
        }

        /** Only jobs in one of these states. */
        public Filter withStates(String... states) {
            return new Filter(queue, type, List.of(states), enqueuedAfter, enqueuedBefore, priority, meta);
        }

        /** Only jobs enqueued after this time. */
        public Filter withEnqueuedAfter(Instant enqueuedAfter) {
            return new Filter(queue, type, states, enqueuedAfter, enqueuedBefore, priority, meta);
        }

        /** Only jobs enqueued before this time. */
        public Filter withEnqueuedBefore(Instant enqueuedBefore) {
            return new Filter(queue, type, states, enqueuedAfter, enqueuedBefore, priority, meta);
        }

        /** Only jobs of this priority. */
        public Filter withPriority(Integer priority) {
            return new Filter(queue, type, states, enqueuedAfter, enqueuedBefore, priority, meta);
        }

        /** Only jobs whose metadata has these members. */
        public Filter withMeta(Map<String, ?> meta) {
            return new Filter(queue, type, states, enqueuedAfter, enqueuedBefore, priority, meta);
        }

        /** What is given, by the names on the wire. */
        Map<String, Object> members() {
            return Operation.members(
                    "queue", queue,
                    "type", type,
                    "state", states,
                    "enqueued_after", enqueuedAfter == null ? null : enqueuedAfter.toString(),
                    "enqueued_before", enqueuedBefore == null ? null : enqueuedBefore.toString(),
                    "priority", priority,
                    "meta", meta);
        }
    }
    // gen:end

    /** Sends jobs; those that are wrong do not hinder the others. Middleware runs for each; dropped jobs are left out. */
    public List<Item> enqueue(List<JobRequest> requests) {
        return enqueue(requests, false, null);
    }

    /** The same; all or none when {@code atomic}. Another call with the same key changes nothing and gives the answer of the first. */
    public List<Item> enqueue(List<JobRequest> requests, boolean atomic, String idempotencyKey) {
        List<JobRequest> kept = client.kept(requests);
        if (kept.isEmpty()) return List.of();
        // A key is made here when the caller has none: the request may be sent twice.
        String key = idempotencyKey == null ? UUID.randomUUID().toString() : idempotencyKey;
        Map<String, Object> body = Operation.members("jobs", kept.stream().map(JobRequest::toJson).toList(),
                "atomicity", atomic ? "atomic" : "partial", "idempotency_key", key);
        return client.run(Operation.list("POST", "/jobs/bulk", body, "items", Item::of));
    }

    /** {@code cancel}, {@code retry} or {@code delete}, by name; all or none when {@code atomic}. */
    public Result change(String verb, Target target, boolean atomic) {
        return switch (verb) {
            case "cancel" -> cancel(target, atomic);
            case "retry" -> retry(target, atomic);
            case "delete" -> delete(target, atomic);
            default -> throw new OJSException.Validation("a bulk call is cancel, retry or delete, not " + verb);
        };
    }
}
