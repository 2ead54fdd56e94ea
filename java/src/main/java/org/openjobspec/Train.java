package org.openjobspec;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

// gen:java/policy.j2:Train (make gen; do not edit)
/**
 * The train of a job: jobs of one train run one after the other, in the order in which they were stored. What is null is decided by the server.
 *
 * @param id the train, such as dest_123; dest_{destination_id} is filled in with an argument of the job
 * @param onCancelled what the train does when the job is cancelled: without it the next job runs
 * @param onDiscarded what the train does when the job has failed for good: without it the next job runs
 * @param cancelActive when a job that is cancelled while it runs leaves the train: without it when its worker has let go of it
 */
public record Train(
        String id,
        TrainAction onCancelled,
        TrainAction onDiscarded,
        CancelActive cancelActive) implements JsonForm {

    /** What a train does when a job has ended without success: the next job runs, or none. */
    public enum TrainAction { ADVANCE, HOLD }

    /** When a job that is cancelled while it runs leaves its train: when its worker has let go of it, or at once. */
    public enum CancelActive { DRAIN, IMMEDIATE }

    /** All as the server decides. */
    public static final Train DEFAULT = new Train(null, null, null, null);

    /** The same with this {@code id}. The train, such as dest_123; dest_{destination_id} is filled in with an argument of the job. */
    public Train withId(String id) {
        return new Train(id, onCancelled, onDiscarded, cancelActive);
    }

    /** The same with this {@code onCancelled}. What the train does when the job is cancelled: without it the next job runs. */
    public Train withOnCancelled(TrainAction onCancelled) {
        return new Train(id, onCancelled, onDiscarded, cancelActive);
    }

    /** The same with this {@code onDiscarded}. What the train does when the job has failed for good: without it the next job runs. */
    public Train withOnDiscarded(TrainAction onDiscarded) {
        return new Train(id, onCancelled, onDiscarded, cancelActive);
    }

    /** The same with this {@code cancelActive}. When a job that is cancelled while it runs leaves the train: without it when its worker has let go of it. */
    public Train withCancelActive(CancelActive cancelActive) {
        return new Train(id, onCancelled, onDiscarded, cancelActive);
    }

    @Override
    public Map<String, Object> toJson() {
        Map<String, Object> wire = new LinkedHashMap<>();
        wire.put("id", id);
        wire.put("on_cancelled", onCancelled == null ? null : onCancelled.name().toLowerCase(Locale.ROOT));
        wire.put("on_discarded", onDiscarded == null ? null : onDiscarded.name().toLowerCase(Locale.ROOT));
        wire.put("cancel_active", cancelActive == null ? null : cancelActive.name().toLowerCase(Locale.ROOT));
        wire.values().removeIf(value -> value == null);
        return wire;
    }
    // gen:end

    /** The train with this id: {@code of("dest_123")}. */
    public static Train of(String id) {
        return DEFAULT.withId(id);
    }
}
