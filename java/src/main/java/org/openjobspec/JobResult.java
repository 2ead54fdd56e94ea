// Made from xtask/records.toml by make gen; do not edit.
package org.openjobspec;

import java.util.Map;

/**
 * How a job ended, and what its handler returned.
 *
 * @param members everything that the server sent, by the names on the wire, in the forms of {@link Json}
 */
public record JobResult(Map<String, Object> members) implements JsonForm {
    static JobResult of(Object value) {
        return new JobResult(Members.of(value));
    }

    @Override
    public Object toJson() {
        return members;
    }

    /** One attribute by its name on the wire; null when there is none. */
    public Object get(String name) {
        return members.get(name);
    }

    /** The job's id. */
    public String jobId() {
        return Members.text(members, "job_id");
    }

    /** Completed, discarded or cancelled. */
    public String state() {
        return Members.text(members, "state");
    }

    /** Whether the job was completed. */
    public boolean ok() {
        return "completed".equals(members.get("state"));
    }

    /** What the handler returned; null when it returned nothing, or when its result is not kept. */
    public Object result() {
        return members.get("result");
    }

    /** The failure that ended the job; null when none did. */
    public Map<String, Object> error() {
        return Members.object(members, "error", null);
    }

    /** How many attempts were begun. */
    public int attempt() {
        return Members.number(members, "attempt", 0);
    }
}
