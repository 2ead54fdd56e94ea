package org.openjobspec;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Limits of keys: {@link OJSClient#rateLimits()}. What comes back is what the server says, by the names on the wire. */
public final class RateLimits {
    private final OJSClient client;

    RateLimits(OJSClient client) {
        this.client = client;
    }

    /** Keys with limits, and what is going on with them. */
    public List<Map<String, Object>> list() {
        return client.run(Operation.list("GET", "/rate-limits?limit=200", null, "items", Members::of));
    }

    /** A key with its limits, and how much of them is used. */
    public Map<String, Object> get(String key) {
        return client.run(Operation.whole("GET", Operation.at("rate-limits", key), null));
    }

    /** Gives a key other limits, {@code Map.of("concurrency", 2)}, until a time, or for good when it is null; without any the override ends. */
    public Map<String, Object> override(String key, Map<String, ?> limits, Instant expiresAt) {
        Map<String, Object> body = new LinkedHashMap<>(limits);
        if (expiresAt != null) body.put("expires_at", expiresAt.toString());
        return client.run(Operation.whole("PUT", Operation.at("rate-limits", key), body));
    }
}
