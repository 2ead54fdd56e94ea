package org.openjobspec;

import java.time.ZoneId;
import java.util.List;
import java.util.Map;

/** Schedules: {@link OJSClient#cron()}. What comes back is what the server says, by the names on the wire. */
public final class Cron extends Operations.OfCron {
    Cron(OJSClient client) {
        super(client);
    }

    /** Enqueues the job whenever the expression matches, in UTC; replaces a schedule of the same name. */
    public Map<String, Object> register(String name, String expression, JobRequest job) {
        return register(name, expression, null, job);
    }

    /** The same in a time zone. */
    public Map<String, Object> register(String name, String expression, ZoneId zone, JobRequest job) {
        Map<String, Object> body = Operation.members("name", name, "expression", expression, "job_template", job.toJson(), "timezone",
                zone == null ? null : zone.getId());
        return client.run(Operation.read("POST", "/cron", body, Cron::entry));
    }

    /** The entries of an answer, under the names that servers have for them. */
    static List<Map<String, Object>> entries(Object answer) {
        Map<String, Object> members = Members.of(answer);
        String name = members.containsKey("crons") ? "crons" : "cron_jobs";
        return Members.list(members, name).stream().map(Members::of).toList();
    }

    /** The entry of an answer. */
    static Map<String, Object> entry(Object answer) {
        Map<String, Object> members = Members.of(answer);
        return members.containsKey("cron") ? Members.of(members.get("cron")) : members;
    }
}
