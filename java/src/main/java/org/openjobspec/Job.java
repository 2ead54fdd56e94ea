package org.openjobspec;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;

/**
 * A job as the server describes it.
 *
 * @param members everything the server said, by the names on the wire, in the forms of {@link Json}
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

    /** UUIDv7, the same in every attempt and redelivery. */
    public String id() {
        return Members.text(members, "id");
    }

    /** The dot-separated job type. */
    public String type() {
        return Members.text(members, "type");
    }

    /** The queue it is in. */
    public String queue() {
        return members.get("queue") instanceof String queue ? queue : "default";
    }

    /** The arguments. */
    public List<Object> args() {
        return Members.list(members, "args");
    }

    /** The metadata. */
    public Map<String, Object> meta() {
        return members.get("meta") == null ? Map.of() : Members.of(members.get("meta"));
    }

    /** The state, in the server's word; null in a job that no server has seen. */
    public String state() {
        return Members.text(members, "state");
    }

    /** Higher first. */
    public int priority() {
        return Members.number(members, "priority", 0);
    }

    /** Runs so far; 1 during the first. */
    public int attempt() {
        return Members.number(members, "attempt", 0);
    }

    /** Runs allowed; 0 when the server did not say. */
    public int maxAttempts() {
        return Members.number(members, "max_attempts", 0);
    }

    /** What the handler returned; null when there is nothing. */
    public Object result() {
        return members.get("result");
    }

    /** The latest failure; null when there is none. */
    public Map<String, Object> error() {
        return members.get("error") == null ? null : Members.of(members.get("error"));
    }

    /** All failures, oldest first. */
    public List<Object> errors() {
        return Members.list(members, "errors");
    }

    /** Words to find it by. */
    public List<Object> tags() {
        return Members.list(members, "tags");
    }

    /** Results of the steps before it, in a workflow. */
    public List<Object> parentResults() {
        return Members.list(members, "parent_results");
    }

    /** The workflow it belongs to; null when it belongs to none. */
    public String workflowId() {
        return Members.text(members, "workflow_id");
    }

    /** When it was created; null when the server did not say. */
    public Instant createdAt() {
        return time("created_at");
    }

    /** When it may run; null when it need not wait. */
    public Instant scheduledAt() {
        return time("scheduled_at");
    }

    /** When it was completed; null when it was not. */
    public Instant completedAt() {
        return time("completed_at");
    }

    private Instant time(String name) {
        String text = Members.text(members, name);
        try {
            return text == null ? null : OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException e) {
            throw Members.unexpected("'" + name + "' of the job is no time: " + text, e);
        }
    }
}
