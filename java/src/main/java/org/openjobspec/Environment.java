package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What the variables {@code OJS_…} say, by the names of settings. The core reads them. */
record Environment(Map<?, ?> settings) {
    private static final MethodHandle READ = Native.function("ojs_environment", ADDRESS, Native.SLICE, ADDRESS);

    /** That of this process. */
    static Environment read() {
        return of(System.getenv());
    }

    /** These variables. */
    static Environment of(Map<String, String> variables) {
        Map<String, String> ours = new HashMap<>(variables);
        ours.keySet().removeIf(name -> !name.startsWith("OJS_"));
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment given = Native.slice(memory, Json.bytes(ours));
            Native.raise(() -> (MemorySegment) READ.invokeExact(given, out));
            return new Environment((Map<?, ?>) Json.parse(Native.taken(memory, out.get(ADDRESS, 0))));
        }
    }

    /** One that is text; null without it. */
    String text(String setting) {
        return (String) settings.get(setting);
    }

    /** One that is a list of texts; without it an empty one. */
    List<String> texts(String setting) {
        List<?> list = settings.get(setting) instanceof List<?> given ? given : List.of();
        return list.stream().map(String.class::cast).toList();
    }

    /** One that is a whole number; 0 without it. */
    long number(String setting) {
        return settings.get(setting) instanceof Number given ? given.longValue() : 0;
    }

    /** One that is a length of time; null without it. */
    Duration length(String setting) {
        if (!(settings.get(setting) instanceof Number seconds)) return null;
        return Duration.ofNanos((long) (seconds.doubleValue() * 1e9));
    }
}
