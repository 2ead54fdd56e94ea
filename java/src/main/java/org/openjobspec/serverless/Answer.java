package org.openjobspec.serverless;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.openjobspec.Json;

/**
 * The answer to a request.
 *
 * @param status the HTTP status
 * @param headers its headers
 * @param body JSON
 */
public record Answer(int status, Map<String, String> headers, byte[] body) {
    static Answer json(int status, Object body) {
        Map<String, String> headers = Map.of("content-type", "application/json");
        return new Answer(status, headers, Json.write(body).getBytes(StandardCharsets.UTF_8));
    }

    /**
     * A refusal, in the form of the protocol; {@code details} may be null. A fault of the function (5xx) is worth
     * another try.
     */
    static Answer refusal(int status, String code, String message, Object details) {
        Map<String, Object> about = new LinkedHashMap<>();
        about.put("code", code);
        about.put("message", message);
        about.put("retryable", status >= 500);
        if (details != null) about.put("details", details);
        return json(status, Map.of("error", about));
    }

    Answer with(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new Answer(status, more, body);
    }

    /** The body as text. */
    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }
}
