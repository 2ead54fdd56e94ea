package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;

/** {@code ojs_relay}. */
final class NativeRelay {
    static final StructLayout OPTIONS = MemoryLayout.structLayout(
            JAVA_INT.withName("size"), JAVA_INT.withName("batch_size"), JAVA_LONG.withName("poll_interval_ms"),
            JAVA_LONG.withName("retention_ms"), Native.SLICE.withName("table"), Native.SLICE.withName("url"), ADDRESS.withName("host"),
            Native.SLICE.withName("database"), JAVA_BOOLEAN.withName("migrate"), MemoryLayout.paddingLayout(7));

    private static final MethodHandle INIT = Native.quick("ojs_relay_options_init", null, ADDRESS);
    private static final MethodHandle START = Native.function("ojs_relay_start", ADDRESS, ADDRESS, ADDRESS, ADDRESS);
    private static final MethodHandle WAKE = Native.function("ojs_relay_wake", null, ADDRESS);
    private static final MethodHandle STATUS = Native.function("ojs_relay_status", ADDRESS, ADDRESS, ADDRESS);
    private static final MethodHandle STOP = Native.function("ojs_relay_stop", ADDRESS, ADDRESS, JAVA_LONG);
    private static final MethodHandle FREE = Native.function("ojs_relay_free", null, ADDRESS);

    /** How it works; null and 0 are the defaults. */
    record Options(String table, int batchSize, long pollMs, long retentionMs, boolean migrate) {}

    private final MemorySegment handle;

    /** Reads PostgreSQL, MySQL or MariaDB by {@code url}, or, when that is null, the SQLite database behind the mailbox. */
    NativeRelay(NativeClient client, String url, NativeMailbox host, Options given) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment options = Native.options(memory, OPTIONS, INIT);
            Native.member(OPTIONS, "batch_size").set(options, 0L, given.batchSize());
            Native.member(OPTIONS, "poll_interval_ms").set(options, 0L, given.pollMs());
            Native.member(OPTIONS, "retention_ms").set(options, 0L, given.retentionMs());
            Native.member(OPTIONS, "migrate").set(options, 0L, given.migrate());
            Native.set(options, OPTIONS, "table", memory, given.table());
            Native.set(options, OPTIONS, "url", memory, url);
            if (host != null) {
                Native.member(OPTIONS, "host").set(options, 0L, host.handle());
                Native.set(options, OPTIONS, "database", memory, "sqlite");
            }
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment connection = client.handle();
            Native.raise(() -> (MemorySegment) START.invokeExact(connection, options, out));
            handle = Native.owned(out.get(ADDRESS, 0), FREE);
        }
    }

    /** What the library takes for the size of the options. For tests. */
    static int optionsSize() {
        return Native.optionsSize(OPTIONS, INIT);
    }

    void wake() {
        Native.plain(() -> {
            WAKE.invokeExact(handle);
            return null;
        });
    }

    /** An object, or null when it is stopped. */
    Object status() {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            Native.raise(() -> (MemorySegment) STATUS.invokeExact(handle, out));
            return Json.parse(Native.taken(memory, out.get(ADDRESS, 0)));
        }
    }

    void stop(long graceMs) {
        Native.raise(() -> (MemorySegment) STOP.invokeExact(handle, graceMs));
    }
}
