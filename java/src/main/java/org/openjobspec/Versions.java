package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a worker says about the versions of one job type. Which jobs the worker takes and which changes are made is
 * decided by the core; here the functions are called.
 */
final class Versions {
    private static final MethodHandle CHANGES =
            Native.function("ojs_version_changes", ADDRESS, Native.SLICE, Native.SLICE, Native.SLICE, ADDRESS);

    private record Change(String from, String to, ArgsTransform run) {}

    private String version;
    private List<String> ranges;
    private final List<Change> changes = new ArrayList<>();

    /** The version that the handler is written for. */
    void version(String said) {
        version = said;
    }

    /** Ranges in place of those that follow from the version. */
    void ranges(List<String> said) {
        ranges = List.copyOf(said);
    }

    /** A further change. The core refuses it when the worker starts, should it contradict the others. */
    void add(String from, String to, ArgsTransform run) {
        changes.add(new Change(from, to, run));
    }

    /** As the core reads it. */
    Map<String, Object> said() {
        Map<String, Object> said = new LinkedHashMap<>();
        if (version != null) said.put("version", version);
        if (ranges != null) said.put("versions", ranges);
        said.put("transforms", changes.stream().map(change -> List.of(change.from(), change.to())).toList());
        return said;
    }

    /** The call of the type, with the arguments changed before it runs. */
    JobHandler around(String type, JobHandler call) {
        if (changes.isEmpty()) return call;
        byte[] name = type.getBytes(StandardCharsets.UTF_8);
        byte[] said = Json.bytes(said());
        return ctx -> {
            for (Object number : path(name, said, ctx.envelope())) {
                change(ctx, changes.get(((Number) number).intValue()));
            }
            return call.handle(ctx);
        };
    }

    private static List<?> path(byte[] type, byte[] said, byte[] job) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment name = Native.slice(memory, type);
            MemorySegment versions = Native.slice(memory, said);
            MemorySegment envelope = Native.slice(memory, job);
            Native.raise(() -> (MemorySegment) CHANGES.invokeExact(name, versions, envelope, out));
            return (List<?>) Json.parse(Native.taken(memory, out.get(ADDRESS, 0)));
        }
    }

    private static void change(JobContext ctx, Change change) {
        List<?> args;
        try {
            args = change.run().apply(ctx.args());
            if (args == null) throw new NullPointerException("the transform returned null");
            ctx.changed(args, change.to());
        } catch (Exception e) {
            String message = "The arguments cannot become those of version " + change.to() + ": " + e.getMessage();
            throw new NonRetryableException(message, "version_transform", null);
        }
    }
}
