// Made from xtask/schema.toml by make gen; do not edit.
package org.openjobspec;

import java.util.Locale;

/** Through which proxy requests go. Those to a loopback address go through none. */
public enum Proxy {
    /** The one that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names. */
    ENVIRONMENT,
    /** None: those variables are not read. */
    NONE;

    /** The word of the core. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
