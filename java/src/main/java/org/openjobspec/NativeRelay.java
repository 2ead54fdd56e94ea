package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static org.openjobspec.Functions.Relay.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/** {@code ojs_relay}. */
final class NativeRelay {
    private static final StructLayout LAYOUT = Functions.RELAY_OPTIONS;

    /** How it works; null and 0 are the defaults. */
    record Options(String table, int batchSize, long pollMs, long retentionMs, boolean migrate) {}

    private final MemorySegment handle;

    /** Reads PostgreSQL, MySQL or MariaDB by {@code url}, or, when that is null, the SQLite database behind the mailbox. */
    NativeRelay(NativeClient client, String url, NativeMailbox host, Options given) {
        Logs.start();
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment options = Native.options(memory, LAYOUT, OPTIONS_INIT);
            Native.member(LAYOUT, "batch_size").set(options, 0L, given.batchSize());
            Native.member(LAYOUT, "poll_interval_ms").set(options, 0L, given.pollMs());
            Native.member(LAYOUT, "retention_ms").set(options, 0L, given.retentionMs());
            Native.member(LAYOUT, "migrate").set(options, 0L, given.migrate());
            Native.set(options, LAYOUT, "table", memory, given.table());
            Native.set(options, LAYOUT, "url", memory, url);
            if (host != null) {
                Native.member(LAYOUT, "host").set(options, 0L, host.handle());
                Native.set(options, LAYOUT, "database", memory, "sqlite");
            }
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment connection = client.handle();
            Native.raise(() -> (MemorySegment) START.invokeExact(connection, options, out));
            handle = Native.owned(out.get(ADDRESS, 0), FREE);
        }
    }

    /** What the library takes for the size of the options. For tests. */
    static int optionsSize() {
        return Native.optionsSize(LAYOUT, OPTIONS_INIT);
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
        Logs.flush(); // the process may end now
    }
}
