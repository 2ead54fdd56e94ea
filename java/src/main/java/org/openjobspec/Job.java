// Made from xtask/records.toml by make gen; do not edit.
package org.openjobspec;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A job as the server describes it.
 *
 * @param members everything that the server sent, by the names on the wire, in the forms of {@link Json}
 */
public record Job(Map<String, Object> members) implements JsonForm {
    static Job of(Object value) {
        return new Job(Members.of(value));
    }

    @Override
    public Object toJson() {
        return members;
    }

    /** One attribute by its name on the wire; null when there is none. */
    public Object get(String name) {
        return members.get(name);
    }

    /** A UUIDv7, the same in every attempt and redelivery. */
    public String id() {
        return Members.text(members, "id");
    }

    /** The job type, with dots between its parts. */
    public String type() {
        return Members.text(members, "type");
    }

    /** The queue that the job is in. */
    public String queue() {
        return Members.text(members, "queue", "default");
    }

    /** Where the job is in its life; null in a job that no server has seen. */
    public String state() {
        return Members.text(members, "state");
    }

    /** The arguments. */
    public List<Object> args() {
        return Members.list(members, "args");
    }

    /** What travels with the job besides its arguments. */
    public Map<String, Object> meta() {
        return Members.object(members, "meta", Map.of());
    }

    /** Higher runs earlier. */
    public int priority() {
        return Members.number(members, "priority", 0);
    }

    /** The number of the attempt, 1 during the first run. */
    public int attempt() {
        return Members.number(members, "attempt", 0);
    }

    /** How many attempts there may be; 0 when the server did not say. */
    public int maxAttempts() {
        return Members.number(members, "max_attempts", 0);
    }

    /** Words to find the job by. */
    public List<Object> tags() {
        return Members.list(members, "tags");
    }

    /** What the handler returned; null when there is no result. */
    public Object result() {
        return members.get("result");
    }

    /** The latest failure; null when no attempt has failed. */
    public Map<String, Object> error() {
        return Members.object(members, "error", null);
    }

    /** All failures, the oldest first. */
    public List<Object> errors() {
        return Members.list(members, "errors");
    }

    /** The results of the steps before this one, in a workflow. */
    public List<Object> parentResults() {
        return Members.list(members, "parent_results");
    }

    /** The workflow that the job belongs to; null when it belongs to none. */
    public String workflowId() {
        return Members.text(members, "workflow_id");
    }

    /** The job's place in its train; null when it runs in none. */
    public JobTrain train() {
        return members.get("train") == null ? null : JobTrain.of(members.get("train"));
    }

    /** When the job was created. */
    public Instant createdAt() {
        return Members.time(members, "created_at");
    }

    /** When the job was enqueued. */
    public Instant enqueuedAt() {
        return Members.time(members, "enqueued_at");
    }

    /** When the job may run; null when it need not wait. */
    public Instant scheduledAt() {
        return Members.time(members, "scheduled_at");
    }

    /** When the latest attempt began. */
    public Instant startedAt() {
        return Members.time(members, "started_at");
    }

    /** When the job was completed; null when it was not. */
    public Instant completedAt() {
        return Members.time(members, "completed_at");
    }

    /** When the job is thrown away unless it has started. */
    public Instant expiresAt() {
        return Members.time(members, "expires_at");
    }
}
