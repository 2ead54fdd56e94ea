package org.openjobspec;

/** Limits of keys: {@link OJSClient#rateLimits()}. What comes back is what the server says, by the names on the wire. */
public final class RateLimits extends Operations.OfRateLimits {
    RateLimits(OJSClient client) {
        super(client);
    }
}
