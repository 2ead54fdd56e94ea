package org.openjobspec;

import java.util.List;
import java.util.Map;

/**
 * A workflow as the server describes it.
 *
 * @param members everything the server said, by the names on the wire
 */
public record WorkflowStatus(Map<String, Object> members) implements JsonForm {
    @Override
    public Object toJson() {
        return members;
    }

    /** Its id. */
    public String id() {
        return Members.text(members, "id");
    }

    /** {@code chain}, {@code group} or {@code batch}. */
    public String type() {
        return Members.text(members, "type");
    }

    /** Its name; null when it has none. */
    public String name() {
        return Members.text(members, "name");
    }

    /** The state, in the server's word. */
    public String state() {
        return Members.text(members, "state");
    }

    /** Its steps or jobs. */
    public List<Object> steps() {
        return Members.list(members, "steps");
    }
}
