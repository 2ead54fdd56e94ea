// Made from xtask/schema.toml by make gen; do not edit.
package org.openjobspec;

import java.util.Locale;

/** What a worker does with a job whose type has no handler. */
public enum UnknownTypes {
    /** The job becomes a dead letter whose reason is no_handler. */
    FAIL,
    /** The job goes back to its queue, and no attempt is counted: for queues that services share. */
    RELEASE;

    /** The word of the core. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
