package org.openjobspec;

import java.util.concurrent.atomic.AtomicBoolean;

/** Lets a layer call {@code next} once: a second run of what is inside would be a second job. */
final class Once {
    private final AtomicBoolean called = new AtomicBoolean();

    void check() {
        if (called.getAndSet(true)) throw new OJSException.Middleware("a middleware called next twice");
    }
}
