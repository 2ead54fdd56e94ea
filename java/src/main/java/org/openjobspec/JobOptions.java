package org.openjobspec;

import static org.openjobspec.Given.some;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What may be said about a job besides its type and arguments.
 *
 * @param <S> what the methods return: the object itself
 */
public abstract sealed class JobOptions<S extends JobOptions<S>> permits JobRequest, PendingJob {
    /** What is sent only where it stands against a default of the type. */
    private static final Map<String, Object> USUAL = Map.of("queue", "default", "priority", 0, "tags", List.of());

    private final String type;
    private List<Object> args;
    private Map<String, Object> meta = new LinkedHashMap<>();
    private String id;
    private String schema;
    private final Map<String, Object> options = new LinkedHashMap<>();

    JobOptions(String type, List<?> args) {
        if (type == null || type.isEmpty()) throw new OJSException.Validation("a job needs a type", "invalid_payload");
        this.type = type;
        this.args = new ArrayList<>(some("args", args));
    }

    abstract S self();

    /** Takes over what was said about another job. */
    S copy(JobOptions<?> other) {
        meta = new LinkedHashMap<>(other.meta);
        options.clear();
        options.putAll(other.options);
        id = other.id;
        schema = other.schema;
        return self();
    }

    /** The job type. */
    public String type() {
        return type;
    }

    /** The arguments. */
    public List<Object> args() {
        return args;
    }

    /** Replaces the arguments. */
    public S args(List<?> args) {
        this.args = new ArrayList<>(some("args", args));
        return self();
    }

    /** The metadata, to be changed. */
    public Map<String, Object> meta() {
        return meta;
    }

    /** Replaces the metadata. */
    public S meta(Map<String, ?> meta) {
        this.meta = new LinkedHashMap<>(some("meta", meta));
        return self();
    }

    /** Adds to the metadata. */
    public S meta(String name, Object value) {
        meta.put(name, value);
        return self();
    }

    /** The options so far, by their names on the wire. */
    public Map<String, Object> options() {
        return options;
    }

    // gen:java/options.j2 (make gen; do not edit)
    /** The queue; {@code default} when it is not said. */
    public S queue(String queue) {
        return option("queue", some("queue", queue));
    }

    /** −100 to 100, higher first. */
    public S priority(int priority) {
        return option("priority", priority);
    }

    /** The most one run may take. */
    public S timeout(Duration timeout) {
        return option("timeout_ms", Durations.wireMillis("timeout", timeout));
    }

    /** How long a worker may be silent before the job is given to another. */
    public S visibilityTimeout(Duration visibilityTimeout) {
        return option("visibility_timeout_ms", Durations.wireMillis("visibilityTimeout", visibilityTimeout));
    }

    /** How long the result is kept (0 keeps none). */
    public S resultTtl(Duration resultTtl) {
        return option("result_ttl", Durations.wireSeconds("resultTtl", resultTtl));
    }

    /** Run after this long. */
    public S delay(Duration delay) {
        return delayUntil(Instant.now().plus(Durations.notNegative("delay", delay)));
    }

    /** Do not run before this time. */
    public S delayUntil(Instant delayUntil) {
        return option("delay_until", some("delayUntil", delayUntil).toString());
    }

    /** Do not run before this time. */
    public S delayUntil(OffsetDateTime delayUntil) {
        return option("delay_until", text(some("delayUntil", delayUntil)));
    }

    /** Throw the job away when it has not started by then. */
    public S expiresAt(Instant expiresAt) {
        return option("expires_at", some("expiresAt", expiresAt).toString());
    }

    /** Throw the job away when it has not started by then. */
    public S expiresAt(OffsetDateTime expiresAt) {
        return option("expires_at", text(some("expiresAt", expiresAt)));
    }

    /** How long the job's whole life may take. */
    public S totalTimeout(Duration totalTimeout) {
        return option("total_timeout", Durations.text(Durations.longerThanNone("totalTimeout", totalTimeout)));
    }

    /** What happens when it fails. */
    public S retry(RetryPolicy retry) {
        return option("retry", some("retry", retry).toJson());
    }

    /** What makes it a duplicate. */
    public S unique(UniquePolicy unique) {
        return option("unique", some("unique", unique).toJson());
    }

    /** How many of its kind may start or run at a time. */
    public S rateLimit(Map<String, ?> rateLimit) {
        return option("rate_limit", some("rateLimit", rateLimit));
    }

    /** The train that it joins: jobs of one train run one after the other. */
    public S train(String id) {
        return train(Train.of(some("train", id)));
    }

    /** The train that it joins: jobs of one train run one after the other. */
    public S train(Train train) {
        return option("train", some("train", train).toJson());
    }

    /** Words to find it by. */
    public S tags(String... tags) {
        return option("tags", Given.all("tags", tags));
    }

    /** The version of the arguments: `2`, `2.1` or `2.1.0`. */
    public S version(String version) {
        return option("version", some("version", version));
    }

    /** The tenant that it belongs to: `meta.tenant_id`. */
    public S tenant(String tenant) {
        return option("tenant", some("tenant", tenant));
    }

    /** The key of its line in a queue that is shared by keys: keys get jobs handed out in turn. */
    public S fairnessKey(String fairnessKey) {
        return option("fairness_key", some("fairnessKey", fairnessKey));
    }

    // gen:end

    /** So many runs in all, the first included; the rest as the server decides. */
    public S retry(int attempts) {
        return retry(RetryPolicy.attempts(attempts));
    }

    /** An id of your own, a UUIDv7; without it one is made. */
    public S id(String id) {
        this.id = some("id", id);
        return self();
    }

    /** The name of the schema that the arguments follow. */
    public S schema(String schema) {
        this.schema = some("schema", schema);
        return self();
    }

    /** An option by its name on the wire, for those that have no method here. */
    public S option(String name, Object value) {
        options.put(name, value);
        return self();
    }

    private static String text(OffsetDateTime time) {
        return DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(time); // toString() leaves zero seconds out
    }

    /** The request as the core gets it, which adds the defaults of its type. */
    public Map<String, Object> toJson() {
        if (Defaults.has(type)) return body(options);
        Map<String, Object> said = options;
        for (Map.Entry<String, Object> usual : USUAL.entrySet()) {
            if (!usual.getValue().equals(options.get(usual.getKey()))) continue;
            if (said == options) said = new LinkedHashMap<>(options);
            said.remove(usual.getKey());
        }
        return body(said);
    }

    Map<String, Object> body(Map<String, Object> options) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("type", type);
        body.put("args", args);
        if (id != null) body.put("id", id);
        if (!meta.isEmpty()) body.put("meta", meta);
        if (schema != null) body.put("schema", schema);
        if (!options.isEmpty()) body.put("options", options);
        return body;
    }
}
