package org.openjobspec;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** What jobs of a type are sent with in this process, where they do not say otherwise: by the names on the wire. */
final class Defaults {
    /** Options that belong to one job, and not to all of a type. */
    private static final List<String> OF_ONE_JOB = List.of("delay_until", "expires_at");
    private static final ConcurrentHashMap<String, Map<String, Object>> BY_TYPE = new ConcurrentHashMap<>();

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
            before = new LinkedHashMap<>(said.options());
        } finally {
            if (before != null) BY_TYPE.put(type, before);
        }
    }

    private static OJSException ofOneJob(String name, String type) {
        return wrong("'" + name + "' belongs to one job, and register() sets defaults for all of '" + type + "': say it when you enqueue");
    }

    private static OJSException wrong(String message) {
        return new OJSException.Validation(message);
    }
}
