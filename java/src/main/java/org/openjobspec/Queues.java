package org.openjobspec;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Queues: {@link OJSClient#queues()}. What comes back is what the server says, by the names on the wire. */
public final class Queues extends Operations.OfQueues {
    Queues(OJSClient client) {
        super(client);
    }

    /** Deletes a queue and the jobs that wait in it. */
    public void deleteAndDiscard(String name) {
        delete(name, "discard", null);
    }

    /** Deletes a queue; the jobs that wait in it move to another. */
    public void deleteAndMove(String name, String target) {
        delete(name, "move", target);
    }

    /** Removes the jobs of a queue for ever that are in one of these states; returns how many. Active jobs are never removed. */
    public int purge(String name, String... states) {
        return purge(name, List.of(states));
    }

    /** The same for those that are older than this. */
    public int purge(String name, List<String> states, Duration olderThan) {
        return purge(name, states, Durations.text(olderThan));
    }

    /** The same for those from before this time. */
    public int purge(String name, List<String> states, Instant before) {
        return purge(name, states, before.toString());
    }
}
