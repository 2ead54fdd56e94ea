package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.openjobspec.Functions.Worker.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** {@code ojs_worker}: jobs come out, outcomes go in. Threads may share one. */
final class NativeWorker {

    /** {@code enum ojs_pull}. */
    private static final int JOBS = 0;
    private static final int CLOSED = 3;

    private static final StructLayout LAYOUT = Functions.WORKER_OPTIONS;

    // gen:java/settings.j2:native_worker (make gen; do not edit)
    /** Settings of a worker; null, 0 and nothing are the defaults. */
    record Options(
            List<String> queues,
            int concurrency,
            String workerId,
            Duration heartbeatInterval,
            Duration visibilityTimeout,
            Duration gracePeriod,
            Duration flushTimeout,
            Duration pollInterval,
            List<String> labels,
            boolean releaseOnShutdown,
            String unknownTypes,
            boolean onlyRegisteredTypes) {
        /** The defaults. */
        static final Options DEFAULT = new Options(List.of(), 0, null, null, null, null, null, null, List.of(), true, null, false);

        /** Writes them into the structure of the core. */
        void write(Arena memory, MemorySegment options) {
            member("queues").set(options, 0L, Native.slices(memory, queues));
            member("queue_count").set(options, 0L, (long) queues.size());
            member("concurrency").set(options, 0L, concurrency);
            Native.set(options, LAYOUT, "worker_id", memory, workerId);
            member("heartbeat_ms").set(options, 0L, Durations.millis("heartbeatInterval", heartbeatInterval));
            member("visibility_ms").set(options, 0L, Durations.millis("visibilityTimeout", visibilityTimeout));
            member("grace_ms").set(options, 0L, Durations.evenNone("gracePeriod", gracePeriod));
            member("flush_ms").set(options, 0L, Durations.evenNone("flushTimeout", flushTimeout));
            member("poll_ms").set(options, 0L, Durations.millis("pollInterval", pollInterval));
            member("labels").set(options, 0L, Native.slices(memory, labels));
            member("label_count").set(options, 0L, (long) labels.size());
            member("keep_on_shutdown").set(options, 0L, !releaseOnShutdown);
            Native.set(options, LAYOUT, "unknown_types", memory, unknownTypes);
            member("only_registered_types").set(options, 0L, onlyRegisteredTypes);
        }
    }
    // gen:end

    /** A running job that should stop. */
    record Cancellation(long token, int why) {}

    private final MemorySegment handle;

    /** Without types it gets the jobs of all types. */
    NativeWorker(NativeClient client, Options given, List<String> types, Map<String, ?> versions) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment options = Native.options(memory, LAYOUT, OPTIONS_INIT);
            given.write(memory, options);
            member("types").set(options, 0L, Native.slices(memory, types));
            member("type_count").set(options, 0L, (long) types.size());
            if (!versions.isEmpty()) Native.set(options, LAYOUT, "versions", memory, Json.write(versions));
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment connection = client.handle();
            Native.raise(() -> (MemorySegment) NEW.invokeExact(connection, options, out));
            handle = Native.owned(out.get(ADDRESS, 0), FREE);
        }
    }

    /** What the library takes for the size of the options. For tests. */
    static int optionsSize() {
        return Native.optionsSize(LAYOUT, OPTIONS_INIT);
    }

    private static VarHandle member(String name) {
        return Native.member(LAYOUT, name);
    }

    void start() {
        Logs.start();
        Native.raise(() -> (MemorySegment) START.invokeExact(handle));
    }

    String id() {
        try (Arena memory = Arena.ofConfined()) {
            return Native.text(Native.plain(() -> (MemorySegment) ID.invokeExact((SegmentAllocator) memory, handle)));
        }
    }

    /** Waits for up to {@code max} jobs: a frame of them, an empty one when there was nothing, null when the worker is over. */
    byte[] pull(int max, long waitMs) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment frame = memory.allocate(ADDRESS);
            MemorySegment status = memory.allocate(JAVA_INT);
            Native.raise(() -> (MemorySegment) PULL.invokeExact(handle, max, waitMs, frame, status));
            if (status.get(JAVA_INT, 0) == CLOSED) return null;
            return Native.taken(memory, frame.get(ADDRESS, 0));
        }
    }

    /** Waits for running jobs that should stop; null when the worker is over. */
    Cancellation[] cancellations(int max) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment list = memory.allocate(Functions.CANCELLATION, max);
            MemorySegment count = memory.allocate(JAVA_LONG);
            MemorySegment status = memory.allocate(JAVA_INT);
            Native.raise(() -> (MemorySegment) CANCELLATIONS.invokeExact(handle, (long) max, -1L, list, count, status));
            if (status.get(JAVA_INT, 0) == CLOSED) return null;
            if (status.get(JAVA_INT, 0) != JOBS) return new Cancellation[0];
            Cancellation[] cancelled = new Cancellation[(int) count.get(JAVA_LONG, 0)];
            for (int i = 0; i < cancelled.length; i++) {
                long at = i * Functions.CANCELLATION.byteSize();
                cancelled[i] = new Cancellation(list.get(JAVA_LONG, at), list.get(JAVA_INT, at + JAVA_LONG.byteSize()));
            }
            return cancelled;
        }
    }

    /** Extends a lease now; why the handler should stop, or 0. */
    int heartbeat(long token) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment verdict = memory.allocate(JAVA_INT);
            Native.raise(() -> (MemorySegment) HEARTBEAT.invokeExact(handle, token, verdict));
            return verdict.get(JAVA_INT, 0);
        }
    }

    /** Reports how far a job has come. */
    void progress(long token, byte[] report) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment slice = Native.slice(memory, report);
            Native.raise(() -> (MemorySegment) PROGRESS.invokeExact(handle, token, slice));
        }
    }

    /** Saves the checkpoint of a job, or the result of a step unless {@code step} is empty. */
    JobContext.Saved save(long token, String step, byte[] state) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment name = Native.slice(memory, step);
            MemorySegment text = Native.slice(memory, state);
            MemorySegment sequence = memory.allocate(JAVA_LONG);
            MemorySegment verdict = memory.allocate(JAVA_INT);
            Native.raise(() -> (MemorySegment) SAVE.invokeExact(handle, token, name, text, sequence, verdict));
            return new JobContext.Saved(sequence.get(JAVA_LONG, 0), CancelReason.of(verdict.get(JAVA_INT, 0)));
        }
    }

    /** The checkpoint of a job, or the result of a step unless {@code step} is empty; null when there is none. */
    byte[] saved(long token, String step) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment name = Native.slice(memory, step);
            MemorySegment found = memory.allocate(ADDRESS);
            Native.raise(() -> (MemorySegment) SAVED.invokeExact(handle, token, name, found));
            MemorySegment buffer = found.get(ADDRESS, 0);
            return buffer.equals(MemorySegment.NULL) ? null : Native.taken(memory, buffer);
        }
    }

    /** Hands in a frame of outcomes. When an entry is wrong nothing is done. */
    void complete(byte[] outcomes, long busyMicros) {
        try (Arena memory = Arena.ofConfined()) {
            // One allocation for both: this is the path of every job.
            MemorySegment block = memory.allocate(Native.SLICE.byteSize() + outcomes.length, JAVA_LONG.byteAlignment());
            MemorySegment slice = block.asSlice(0, Native.SLICE.byteSize());
            MemorySegment bytes = block.asSlice(Native.SLICE.byteSize());
            MemorySegment.copy(outcomes, 0, bytes, JAVA_BYTE, 0, outcomes.length);
            slice.set(ADDRESS, 0, bytes);
            slice.set(JAVA_LONG, ADDRESS.byteSize(), outcomes.length);
            Native.raise(() -> (MemorySegment) COMPLETE.invokeExact(handle, slice, busyMicros, MemorySegment.NULL));
        }
    }

    void quiet() {
        Native.raise(() -> (MemorySegment) QUIET.invokeExact(handle));
    }

    void resume() {
        Native.raise(() -> (MemorySegment) RESUME.invokeExact(handle));
    }

    /** Begins to stop; a negative grace is that of the options. */
    void stop(long graceMs) {
        Native.raise(() -> (MemorySegment) STOP.invokeExact(handle, graceMs));
    }

    /** Waits until it is over, for ever when negative; whether it is. */
    boolean await(long waitMs) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment over = memory.allocate(JAVA_BOOLEAN);
            Native.raise(() -> (MemorySegment) WAIT.invokeExact(handle, waitMs, over));
            return over.get(JAVA_BOOLEAN, 0);
        }
    }

    int phase() {
        return Native.plain(() -> (int) PHASE.invokeExact(handle));
    }
}
