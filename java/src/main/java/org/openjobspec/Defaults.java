package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** What jobs of a type are sent with in this process, where they do not say otherwise: by the names on the wire. */
final class Defaults {
    /** Options that belong to one job, and not to all of a type. */
    private static final List<String> OF_ONE_JOB = List.of("delay_until", "expires_at", "tenant");
    private static final ConcurrentHashMap<String, Map<String, Object>> BY_TYPE = new ConcurrentHashMap<>();

    private static final MethodHandle SET =
            Native.function("ojs_job_defaults_set", ADDRESS, Native.SLICE, Native.SLICE);

    private Defaults() {}

    static Map<String, Object> of(String type) {
        return BY_TYPE.getOrDefault(type, Map.of());
    }

    /** Keeps what is said about a job of this type. */
    static void set(String type, Consumer<JobRequest> defaults) {
        if (type.equals("*")) throw wrong("'*' stands for types without a name, and defaults belong to one type: register that type");
        Map<String, Object> before = BY_TYPE.remove(type);
        try {
            JobRequest said = JobRequest.of(type);
            defaults.accept(said);
            Map<String, Object> body = said.toJson();
            for (String name : List.of("id", "meta", "schema")) if (body.containsKey(name)) throw ofOneJob(name, type);
            if (!said.args().isEmpty()) throw ofOneJob("args", type);
            for (String name : OF_ONE_JOB) if (said.options().containsKey(name)) throw ofOneJob(name, type);
            Map<String, Object> options = new LinkedHashMap<>(said.options());
            // The core fills in the train: it merges the members with those of a job, and an id may name arguments.
            Object train = options.remove("train");
            setInCore(type, train == null ? Map.of() : Map.of("train", train));
            before = options;
        } finally {
            if (before != null) BY_TYPE.put(type, before);
        }
    }

    private static void setInCore(String type, Map<String, Object> options) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment name = Native.slice(memory, type.getBytes(StandardCharsets.UTF_8));
            MemorySegment text = Native.slice(memory, Json.bytes(options));
            Native.raise(() -> (MemorySegment) SET.invokeExact(name, text));
        }
    }

    private static OJSException ofOneJob(String name, String type) {
        return wrong("'" + name + "' belongs to one job, and register() sets defaults for all of '" + type + "': say it when you enqueue");
    }

    private static OJSException wrong(String message) {
        return new OJSException.Validation(message);
    }
}
