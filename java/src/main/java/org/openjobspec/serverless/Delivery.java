package org.openjobspec.serverless;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openjobspec.Job;
import org.openjobspec.Json;
import org.openjobspec.OJSException;

/**
 * A job as it reaches a function.
 *
 * @param job the job
 * @param lease what its delivery says about the lease: {@code worker_id}, {@code lease_token}
 * @param id new for every attempt to push a job; null where a queue has brought it
 */
record Delivery(Job job, Map<String, Object> lease, String id) {
    /** Reads the body of a push delivery, {@code {"job": …, "worker_id", "delivery_id"}}, or a job alone. */
    static Delivery read(byte[] body) {
        return of(parsed("the body", body));
    }

    /** JSON of a platform, named so in the error when it cannot be read. */
    static Object parsed(String what, byte[] text) {
        try {
            return Json.parse(text);
        } catch (OJSException e) {
            throw new InvalidDeliveryException(what + " cannot be read: " + e.getMessage());
        }
    }

    /** The same of JSON that has been read. */
    static Delivery of(Object value) {
        Map<String, Object> data = object(value, "the body must be a JSON object with a job");
        Map<String, Object> job = data.containsKey("job") ? object(data.get("job"), "'job' must be an object") : data;
        for (String name : List.of("id", "type")) {
            if (!(job.get(name) instanceof String text) || text.isEmpty()) {
                throw new InvalidDeliveryException("'" + name + "' of the job must be a text that is not empty");
            }
        }
        if (job.containsKey("args") && !(job.get("args") instanceof List<?>)) {
            throw new InvalidDeliveryException("'args' of the job must be an array");
        }
        Map<String, Object> lease = new HashMap<>();
        for (String name : List.of("worker_id", "lease_token")) {
            Object said = data.get(name) != null ? data.get(name) : job.get(name);
            if (said != null) lease.put(name, said);
        }
        return new Delivery(new Job(job), lease, data.get("delivery_id") instanceof String id ? id : null);
    }

    @SuppressWarnings("unchecked") // the reader makes such maps
    static Map<String, Object> object(Object value, String otherwise) {
        if (value instanceof Map<?, ?> members) return (Map<String, Object>) members;
        throw new InvalidDeliveryException(otherwise);
    }

    /** The number of the attempt, 1 where the delivery does not say. */
    int attempt() {
        return Math.max(job.attempt(), 1);
    }

    /** The most that one run may take; null without a limit of the job's own. */
    Duration timeout() {
        if (job.get("timeout_ms") instanceof Number ms && ms.longValue() > 0) return Duration.ofMillis(ms.longValue());
        boolean seconds = job.get("timeout") instanceof Number length && length.doubleValue() > 0;
        return seconds ? Duration.ofMillis((long) (((Number) job.get("timeout")).doubleValue() * 1000)) : null;
    }

    /**
     * Whether the message has the job itself. A queue of a cloud takes 256 KiB: of a larger job it has the name only.
     */
    boolean isWhole() {
        return job.members().containsKey("args");
    }

    /** Whether the server has a checkpoint of the job that is too large for the message as well. */
    boolean refersToCheckpoint() {
        return Boolean.TRUE.equals(job.get("checkpoint_ref"));
    }

    /**
     * The same delivery with the whole job, as the server has it. Members of the message count: its lease and its
     * attempt are those of this delivery.
     */
    Delivery completed(Map<String, Object> found, Map<String, Object> checkpoint) {
        Map<String, Object> whole = new LinkedHashMap<>(found);
        whole.putAll(job.members());
        whole.remove("checkpoint_ref");
        if (checkpoint != null) {
            Map<String, Object> saved = new LinkedHashMap<>();
            for (String name : List.of("state", "sequence")) saved.put(name, checkpoint.get(name));
            whole.put("checkpoint", saved);
        }
        return new Delivery(new Job(whole), lease, id);
    }

    /** Whether the delivery proves the lease by a token. */
    boolean isFenced() {
        return lease.containsKey("lease_token");
    }
}
