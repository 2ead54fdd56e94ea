package org.openjobspec;

import java.util.Map;

/**
 * Something that happened.
 *
 * @param members everything the server said, by the names on the wire
 */
public record Event(Map<String, Object> members) implements JsonForm {
    @Override
    public Object toJson() {
        return members;
    }

    /** Its id; {@link Events#after} takes it. */
    public String id() {
        return Members.text(members, "id");
    }

    /** What happened: {@code job.completed}. */
    public String type() {
        return Members.text(members, "type");
    }

    /** When, RFC 3339. */
    public String time() {
        return Members.text(members, "time");
    }

    /** The id of the job or workflow, the name of the queue or worker. */
    public String subject() {
        return Members.text(members, "subject");
    }

    /** The rest, by type of event. */
    public Map<String, Object> data() {
        return members.get("data") == null ? Map.of() : Members.of(members.get("data"));
    }
}
