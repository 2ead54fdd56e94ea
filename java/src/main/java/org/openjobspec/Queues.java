package org.openjobspec;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Queues: {@link OJSClient#queues()}. What comes back is what the server says, by the names on the wire. */
public final class Queues extends Operations.OfQueues {
    /** Jobs that one request of a purge removes: it takes a second or two, and a lost answer loses little. */
    private static final int PURGE_SLICE = 10_000;

    Queues(OJSClient client) {
        super(client);
    }

    /** Deletes an empty queue. */
    public void delete(String name) {
        delete(name, "reject", null);
    }

    /** Deletes a queue and the jobs that wait in it. */
    public void deleteAndDiscard(String name) {
        delete(name, "discard", null);
    }

    /** Deletes a queue; the jobs that wait in it move to another. */
    public void deleteAndMove(String name, String target) {
        delete(name, "move", target);
    }

    private void delete(String name, String strategy, String target) {
        String path = Operation.query(Operation.at("queues", name), Operation.members("strategy", strategy, "target_queue", target));
        client.run(Operation.nothing("DELETE", path));
    }

    /** Removes the jobs of a queue for ever that are in one of these states; returns how many. Active jobs are never removed. */
    public int purge(String name, String... states) {
        return purge(name, List.of(states), (String) null);
    }

    /** The same for those that are older than this. */
    public int purge(String name, List<String> states, Duration olderThan) {
        return purge(name, states, Durations.text(olderThan));
    }

    /** The same for those from before this time. */
    public int purge(String name, List<String> states, Instant before) {
        return purge(name, states, before.toString());
    }

    private int purge(String name, List<String> states, String olderThan) {
        String path = "/admin" + Operation.at("queues", name, "jobs");
        Map<String, Object> body =
                Operation.members("states", states, "older_than", olderThan, "confirm", true, "limit", PURGE_SLICE);
        int purged = 0;
        Map<String, Object> answer;
        do {
            answer = client.run(Operation.whole("DELETE", path, body));
            purged += Members.number(answer, "purged_count", 0);
        } while (Boolean.TRUE.equals(answer.get("has_more")));
        return purged;
    }
}
