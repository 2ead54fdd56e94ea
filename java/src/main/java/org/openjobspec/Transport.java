package org.openjobspec;

/**
 * How requests reach a server, when it is not by the engine: {@link OJSClient.Builder#transport}. What it throws means that there was no
 * answer; a worker asks again.
 */
@FunctionalInterface
public interface Transport {
    /**
     * An answer.
     *
     * @param status the HTTP status
     * @param body JSON, or empty
     */
    record Answer(int status, byte[] body) {
        /** An answer with a value in the forms of {@link Json}. */
        public static Answer json(int status, Object body) {
            return new Answer(status, Json.bytes(body));
        }
    }

    /** One request: {@code path} is relative to {@code /ojs/v1} (or is {@code /ojs/manifest}), {@code body} is JSON or empty. */
    Answer request(String method, String path, byte[] body);
}
