package org.openjobspec;

/** Through which proxy requests go. Those to a loopback address go through none. */
public enum Proxy {
    /** The one that {@code HTTP_PROXY}, {@code HTTPS_PROXY} or {@code ALL_PROXY} names. */
    ENVIRONMENT,
    /** None: those variables are not read. */
    NONE;

    /** The word of the core. */
    String word() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
