package org.openjobspec;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * What a request hands on to the jobs it makes: who, which request, which trace, which tenant, which language (framework adapters,
 * section 7.1).
 *
 * <p>A framework's adapter binds it around a request; jobs enqueued through an {@link Outbox} or an adapter meanwhile carry it in their
 * metadata, and {@link #restored}, a worker's middleware, binds it again around the handler. It belongs to a thread: work handed to
 * another thread is wrapped by {@link #propagated}.
 *
 * {@snippet :
 * try (var scope = RequestContext.bind(Map.of("tenant_id", "acme"))) {
 *     executor.execute(RequestContext.propagated(() -> outbox.enqueueAfterCommit(connection, "invoice.send", 7)));
 * }
 * }
 */
public final class RequestContext {
    /** The names in metadata. */
    public static final List<String> KEYS =
            List.of("ojs.context.user_id", "ojs.context.request_id", "traceparent", "tenant_id", "ojs.context.locale");

    private static final ThreadLocal<Map<String, Object>> CURRENT = new ThreadLocal<>();

    private RequestContext() {}

    /** Ends a binding; on the thread that began it. */
    @FunctionalInterface
    public interface Scope extends AutoCloseable {
        @Override
        void close();
    }

    /** The metadata of the present request; empty outside of one. */
    public static Map<String, Object> current() {
        Map<String, Object> bound = CURRENT.get();
        return bound == null ? Map.of() : bound;
    }

    /** Jobs of this thread carry this metadata until the scope is closed, instead of what was bound before. Empty values are left out. */
    public static Scope bind(Map<String, ?> meta) {
        Map<String, Object> before = CURRENT.get();
        Map<String, Object> bound = new LinkedHashMap<>();
        meta.forEach((name, value) -> {
            if (value != null && !value.equals("")) bound.put(name, value);
        });
        set(bound);
        return () -> set(before);
    }

    private static void set(Map<String, Object> bound) {
        if (bound == null || bound.isEmpty()) CURRENT.remove();
        else CURRENT.set(Map.copyOf(bound));
    }

    /** The task, with this thread's context wherever it will run. */
    public static Runnable propagated(Runnable task) {
        Map<String, Object> here = current();
        return () -> {
            try (Scope scope = bind(here)) {
                task.run();
            }
        };
    }

    /**
     * The metadata of a request.
     *
     * @param header gives a header by its name, or null
     * @param userId what authentication found, or null
     * @param tenantId what authentication found; null takes the header {@code X-OJS-Tenant}
     */
    public static Map<String, Object> ofRequest(UnaryOperator<String> header, Object userId, Object tenantId) {
        Map<String, Object> meta = new LinkedHashMap<>();
        put(meta, "ojs.context.user_id", userId);
        put(meta, "ojs.context.request_id", header.apply("X-Request-ID"));
        put(meta, "traceparent", header.apply("traceparent"));
        put(meta, "tenant_id", tenantId == null ? header.apply("X-OJS-Tenant") : tenantId);
        String languages = header.apply("Accept-Language");
        String locale = languages == null ? "" : languages.split(",", 2)[0].split(";", 2)[0].strip();
        put(meta, "ojs.context.locale", locale.equals("*") ? null : locale);
        return meta;
    }

    private static void put(Map<String, Object> meta, String name, Object value) {
        if (value != null && !value.toString().isEmpty()) meta.put(name, value.toString());
    }

    /** Adds the present request's metadata; what the job says itself stays. */
    public static JobRequest completed(JobRequest request) {
        current().forEach((name, value) -> {
            boolean said = name.equals("tenant_id") && request.options().containsKey("tenant");
            if (!said) request.meta().putIfAbsent(name, value);
        });
        return request;
    }

    /** Worker middleware, {@code worker.use("request-context", RequestContext::restored)}: binds what the job carries around its handler. */
    public static Object restored(JobContext ctx, JobHandler next) throws Exception {
        Map<String, Object> carried = new LinkedHashMap<>(ctx.meta());
        carried.keySet().retainAll(KEYS);
        try (Scope scope = bind(carried)) {
            return next.handle(ctx);
        }
    }
}
