package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Receiving webhooks: whether a request comes from the server that has the secret. The core decides. */
public final class Webhooks {
    /** How far the clocks of sender and receiver may differ unless a call says otherwise. */
    public static final Duration TOLERANCE = Duration.ofSeconds(300);

    private static final MethodHandle VERIFY =
            Native.function("ojs_webhook_verify", ADDRESS, Native.SLICE, Native.SLICE);

    private Webhooks() {}

    /**
     * Checks that one of the secrets signed a request at most five minutes ago; returns when it did.
     *
     * <p>A request may arrive more than once: {@code X-OJS-Delivery-ID} is the same each time. While a secret is being
     * replaced, give the old one and the new one.
     *
     * @param body the body byte for byte as it arrived, before any JSON is read
     * @param headers all headers: names in any case, each with its values (as {@code HttpHeaders.map()} gives them)
     * @param secrets the secrets of the subscription
     * @throws OJSException.UntrustedWebhook when it is not to be trusted; {@code reason} in its details says why
     */
    public static void verify(byte[] body, Map<String, List<String>> headers, List<String> secrets) {
        verify(body, headers, secrets, TOLERANCE, Instant.now());
    }

    /**
     * The same with another tolerance and at another time.
     *
     * @param body the body
     * @param headers all headers
     * @param secrets the secrets of the subscription
     * @param tolerance how long ago the request may have been signed
     * @param now the time
     * @throws OJSException.UntrustedWebhook when it is not to be trusted
     */
    public static void verify(
            byte[] body, Map<String, List<String>> headers, List<String> secrets, Duration tolerance, Instant now) {
        Map<String, Object> request = new LinkedHashMap<>();
        request.put("headers", headers);
        request.put("secrets", secrets);
        request.put("tolerance", tolerance.toSeconds());
        request.put("now", now.getEpochSecond());
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment bytes = Native.slice(memory, body);
            MemorySegment said = Native.slice(memory, Json.bytes(request));
            Native.raise(() -> (MemorySegment) VERIFY.invokeExact(bytes, said));
        }
    }
}
