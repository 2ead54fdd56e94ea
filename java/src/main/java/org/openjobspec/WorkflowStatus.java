// Made from xtask/records.toml by make gen; do not edit.
package org.openjobspec;

import java.util.List;
import java.util.Map;

/**
 * A workflow as the server describes it.
 *
 * @param members everything that the server sent, by the names on the wire, in the forms of {@link Json}
 */
public record WorkflowStatus(Map<String, Object> members) implements JsonForm {
    static WorkflowStatus of(Object value) {
        return new WorkflowStatus(Members.of(value));
    }

    @Override
    public Object toJson() {
        return members;
    }

    /** One attribute by its name on the wire; null when there is none. */
    public Object get(String name) {
        return members.get(name);
    }

    /** The workflow's id. */
    public String id() {
        return Members.text(members, "id");
    }

    /** The name that it was given; null without one. */
    public String name() {
        return Members.text(members, "name");
    }

    /** {@code chain}, {@code group}, {@code batch} or {@code graph}. */
    public String type() {
        return Members.text(members, "type");
    }

    /** The state, in the server's word. */
    public String state() {
        return Members.text(members, "state");
    }

    /** The steps or jobs of the workflow. */
    public List<Object> steps() {
        return Members.list(members, "steps");
    }
}
