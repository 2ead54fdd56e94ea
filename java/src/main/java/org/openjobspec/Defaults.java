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

/**
 * What jobs of a type are sent with in this process, where they do not say otherwise. The core has it, and fills it in;
 * here is what was said, by the names on the wire.
 */
final class Defaults {
    /** Options that belong to one job, and not to all of a type. */
    private static final List<String> OF_ONE_JOB = List.of("delay_until", "expires_at", "tenant");
    private static final ConcurrentHashMap<String, Map<String, Object>> BY_TYPE = new ConcurrentHashMap<>();

    private static final MethodHandle SET =
            Native.function("ojs_job_defaults_set", ADDRESS, Native.SLICE, Native.SLICE);

    private Defaults() {}

    static boolean has(String type) {
        return BY_TYPE.containsKey(type);
    }

    static Map<String, Object> of(String type) {
        return BY_TYPE.getOrDefault(type, Map.of());
    }

    /** A job with what its type has, in the form in which it goes over the wire. */
    static Map<String, Object> completedJob(byte[] request) {
        return Members.of(NativeOutbox.recorded("POST", "/jobs", request).getFirst());
    }

    /** A request for a transport of the program's own: with what the types of its jobs have. */
    static byte[] completed(byte[] request) {
        if (BY_TYPE.isEmpty() || request == null || request.length == 0) return request;
        return Json.bytes(completed(Json.parse(request)));
    }

    private static Object completed(Object body) {
        if (body instanceof List<?> jobs) return jobs.stream().map(Defaults::completed).toList();
        if (!(body instanceof Map<?, ?>)) return body;
        Map<String, Object> whole = new LinkedHashMap<>(Members.of(body));
        for (String name : List.of("jobs", "steps", "job_template")) {
            whole.computeIfPresent(name, (key, value) -> completed(value));
        }
        if (whole.get("callbacks") instanceof Map<?, ?> callbacks) {
            Map<String, Object> jobs = new LinkedHashMap<>(Members.of(callbacks));
            jobs.replaceAll((name, job) -> completed(job));
            whole.put("callbacks", jobs);
        }
        return whole.get("type") instanceof String type && has(type) ? completedJob(Json.bytes(whole)) : whole;
    }

    /** Keeps what is said about a job of this type. */
    static void set(String type, Consumer<JobRequest> defaults) {
        if (type.equals("*")) throw wrong("'*' stands for types without a name, and defaults belong to one type: register that type");
        JobRequest said = JobRequest.of(type);
        defaults.accept(said);
        Map<String, Object> body = said.body(said.options());
        for (String name : List.of("id", "meta", "schema")) if (body.containsKey(name)) throw ofOneJob(name, type);
        if (!said.args().isEmpty()) throw ofOneJob("args", type);
        for (String name : OF_ONE_JOB) if (said.options().containsKey(name)) throw ofOneJob(name, type);
        setInCore(type, said.options());
        BY_TYPE.put(type, new LinkedHashMap<>(said.options()));
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
