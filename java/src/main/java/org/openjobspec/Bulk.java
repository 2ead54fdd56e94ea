package org.openjobspec;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Many jobs in one request, each with an outcome of its own: {@link OJSClient#bulk()}. */
public final class Bulk {
    private final OJSClient client;

    Bulk(OJSClient client) {
        this.client = client;
    }

    /**
     * What became of one job of an {@link #enqueue}.
     *
     * @param index its place in the request
     * @param status {@code created}, {@code duplicate} ({@code job} is the one that was there), {@code failed}
     * @param job the job; null when it failed
     * @param error why it failed; null when it did not
     */
    public record Item(int index, String status, Job job, OJSException error) {
        private static Item of(Object value) {
            Map<String, Object> item = Members.of(value);
            Object job = item.get("job");
            return new Item(Members.number(item, "index", 0), Members.text(item, "status"), job == null ? null : Job.of(job), failure(item));
        }

        /** Whether the job is stored. */
        public boolean ok() {
            return error == null;
        }
    }

    /**
     * What became of one job of a cancel, retry or delete.
     *
     * @param jobId its id
     * @param status {@code cancelled}, {@code retried}, {@code deleted}, or {@code skipped}
     * @param error why it was skipped; null when it was not
     */
    public record Change(String jobId, String status, OJSException error) {
        private static Change of(Object value) {
            Map<String, Object> item = Members.of(value);
            return new Change(Members.text(item, "job_id"), Members.text(item, "status"), failure(item));
        }
    }

    /**
     * What came of a cancel, retry or delete.
     *
     * @param matched jobs that were named or found
     * @param skipped jobs that were left as they are; their items say why
     * @param items in the order of the ids; of a filter the first 1,000
     */
    public record Result(int matched, int skipped, List<Change> items) {
        /** Jobs that were changed. */
        public int succeeded() {
            return matched - skipped;
        }
    }

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
            return new Target(Map.of("filter", filter.wire()));
        }
    }

    /**
     * Which jobs are meant. What is null does not matter; one thing must.
     *
     * @param queue those of this queue
     * @param type those of this job type
     * @param states those in one of these states
     * @param enqueuedAfter those enqueued after this time
     * @param enqueuedBefore those enqueued before this time
     * @param priority those of this priority
     * @param meta those with these members in their metadata
     */
    public record Filter(String queue, String type, List<String> states, Instant enqueuedAfter, Instant enqueuedBefore, Integer priority,
                         Map<String, ?> meta) {
        /** Those of a queue. */
        public static Filter ofQueue(String queue) {
            return new Filter(queue, null, null, null, null, null, null);
        }

        /** Those of a job type. */
        public static Filter ofType(String type) {
            return new Filter(null, type, null, null, null, null, null);
        }

        private Map<String, Object> wire() {
            Map<String, Object> wire = Operation.members("queue", queue, "type", type, "state", states, "priority", priority,
                    "enqueued_after", enqueuedAfter == null ? null : enqueuedAfter.toString(),
                    "enqueued_before", enqueuedBefore == null ? null : enqueuedBefore.toString(), "meta", meta);
            if (wire.isEmpty()) throw new OJSException.Validation("a filter of a bulk call must say something: a queue, a type, states, …");
            return wire;
        }
    }

    /** Sends jobs; those that are wrong do not hinder the others. Middleware runs for each; dropped jobs are left out. */
    public List<Item> enqueue(List<JobRequest> requests) {
        return enqueue(requests, false, null);
    }

    /** The same; all or none when {@code atomic}. Another call with the same key changes nothing and gives the answer of the first. */
    public List<Item> enqueue(List<JobRequest> requests, boolean atomic, String idempotencyKey) {
        List<JobRequest> kept = client.kept(requests);
        if (kept.isEmpty()) return List.of();
        // A key is made here when the caller has none: the request may be sent twice.
        Map<String, Object> body = Operation.members("jobs", kept.stream().map(JobRequest::toJson).toList(), "atomicity", atomicity(atomic),
                "idempotency_key", idempotencyKey == null ? UUID.randomUUID().toString() : idempotencyKey);
        return client.run(Operation.list("POST", "/jobs/bulk", body, "items", Item::of));
    }

    /** Cancels jobs that are not over. */
    public Result cancel(Target target) {
        return change("cancel", target, false);
    }

    /** Runs jobs again that failed for good. */
    public Result retry(Target target) {
        return change("retry", target, false);
    }

    /** Deletes jobs that are over. */
    public Result delete(Target target) {
        return change("delete", target, false);
    }

    /** {@code cancel}, {@code retry} or {@code delete}; all or none when {@code atomic}. */
    public Result change(String verb, Target target, boolean atomic) {
        Map<String, Object> body = new java.util.LinkedHashMap<>(target.wire);
        body.put("atomicity", atomicity(atomic));
        return client.run(Operation.read("POST", "/jobs/bulk/" + verb, body, answer -> new Result(
                Members.number(Members.of(answer), "total_matched", 0), Members.number(Members.of(answer), "skipped", 0),
                Operation.items(answer, "items").stream().map(Change::of).toList())));
    }

    private static String atomicity(boolean atomic) {
        return atomic ? "atomic" : "partial";
    }

    /** The error of an item, by the core's own rules; null when it has none. */
    private static OJSException failure(Map<String, Object> item) {
        Object error = item.get("error");
        return error == null ? null : Native.refusal(0, Json.bytes(error));
    }
}
