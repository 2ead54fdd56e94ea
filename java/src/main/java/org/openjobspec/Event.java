// Made from xtask/records.toml by make gen; do not edit.
package org.openjobspec;

import java.util.Map;

/**
 * An event: a change of a job, queue, workflow or worker.
 *
 * @param members everything that the server sent, by the names on the wire, in the forms of {@link Json}
 */
public record Event(Map<String, Object> members) implements JsonForm {
    static Event of(Object value) {
        return new Event(Members.of(value));
    }

    @Override
    public Object toJson() {
        return members;
    }

    /** One attribute by its name on the wire; null when there is none. */
    public Object get(String name) {
        return members.get(name);
    }

    /** The id of the event, for reading on from it. */
    public String id() {
        return Members.text(members, "id");
    }

    /** What happened, such as {@code job.completed}. */
    public String type() {
        return Members.text(members, "type");
    }

    /** When it happened, in RFC 3339. */
    public String time() {
        return Members.text(members, "time");
    }

    /** The id of the job or workflow, or the name of the queue or worker. */
    public String subject() {
        return Members.text(members, "subject");
    }

    /** Everything else, by type of event. */
    public Map<String, Object> data() {
        return Members.object(members, "data", Map.of());
    }
}
