package org.openjobspec;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** Work that may wait, away from the threads of the library. */
final class Async {
    private static final Thread.Builder THREADS = Thread.ofVirtual().name("ojs-async-", 0);

    static final Executor EXECUTOR = task -> THREADS.start(task);

    /** A thread per task, for waits in native code that would hold the carrier of a virtual one. */
    static final Executor PLATFORM = task -> Thread.ofPlatform().daemon().name("ojs-wait").start(task);

    private Async() {}

    static <T> CompletableFuture<T> supply(Supplier<T> supplier) {
        return CompletableFuture.supplyAsync(supplier, EXECUTOR);
    }
}
