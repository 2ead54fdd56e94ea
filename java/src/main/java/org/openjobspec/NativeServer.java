package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static org.openjobspec.Functions.Server.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;

/** {@code ojs_server}. */
final class NativeServer {
    private static final StructLayout LAYOUT = Functions.SERVER_OPTIONS;

    private final MemorySegment handle;

    NativeServer(String store, String listen, boolean testMode, String keys, boolean insecure) {
        Logs.start();
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment options = Native.options(memory, LAYOUT, OPTIONS_INIT);
            Native.set(options, LAYOUT, "store", memory, store);
            Native.set(options, LAYOUT, "listen", memory, listen);
            Native.set(options, LAYOUT, "keys", memory, keys);
            Native.member(LAYOUT, "test_mode").set(options, 0L, testMode);
            Native.member(LAYOUT, "insecure").set(options, 0L, insecure);
            Native.raise(() -> (MemorySegment) START_WITH.invokeExact(options, out));
            handle = Native.owned(out.get(ADDRESS, 0), FREE);
        }
    }

    /** What the library takes for the size of the options. For tests. */
    static int optionsSize() {
        return Native.optionsSize(LAYOUT, OPTIONS_INIT);
    }

    String url() {
        try (Arena memory = Arena.ofConfined()) {
            return Native.text(Native.plain(() -> (MemorySegment) URL.invokeExact((SegmentAllocator) memory, handle)));
        }
    }

    void stop() {
        Native.raise(() -> (MemorySegment) STOP.invokeExact(handle));
    }
}
