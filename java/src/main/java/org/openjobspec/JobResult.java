package org.openjobspec;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How a job ended, and what came out of it.
 *
 * @param members everything the server said, by the names on the wire
 */
public record JobResult(Map<String, Object> members) implements JsonForm {
    static Operation<JobResult> operation(String id, Duration wait) {
        String path = Operation.at("jobs", id, "result");
        Long seconds = wait == null ? null : (Durations.notNegative("wait", wait).toMillis() + 999) / 1000;
        return Operation.read("GET", Operation.query(path, Operation.members("wait", wait == null ? null : "true", "timeout", seconds)), null,
                answer -> new JobResult(Members.of(answer)));
    }

    static Operation<List<JobResult>> operation(List<String> ids) {
        return Operation.read("POST", "/jobs/results", Map.of("ids", ids), answer -> {
            List<JobResult> results = new ArrayList<>();
            for (Object one : Operation.items(answer, "results")) results.add(one == null ? null : new JobResult(Members.of(one)));
            return results;
        });
    }

    @Override
    public Object toJson() {
        return members;
    }

    /** Which job. */
    public String jobId() {
        return Members.text(members, "job_id");
    }

    /** {@code completed}, {@code discarded} or {@code cancelled}. */
    public String state() {
        return Members.text(members, "state");
    }

    /** Whether it was completed. */
    public boolean ok() {
        return "completed".equals(state());
    }

    /** What the handler returned; null when it returned nothing or nothing is kept. */
    public Object result() {
        return members.get("result");
    }

    /** The failure that ended it; null when none did. */
    public Map<String, Object> error() {
        return members.get("error") == null ? null : Members.of(members.get("error"));
    }

    /** Attempts begun. */
    public int attempt() {
        return Members.number(members, "attempt", 0);
    }
}
