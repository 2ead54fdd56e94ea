package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.invoke.MethodHandle;

/** {@code ojs_server}. */
final class NativeServer {
    private static final MethodHandle START =
            Native.function("ojs_server_start", ADDRESS, Native.SLICE, Native.SLICE, JAVA_BOOLEAN, ADDRESS);
    private static final MethodHandle URL = Native.quick("ojs_server_url", Native.SLICE, ADDRESS);
    private static final MethodHandle STOP = Native.function("ojs_server_stop", ADDRESS, ADDRESS);
    private static final MethodHandle FREE = Native.function("ojs_server_free", null, ADDRESS);

    private final MemorySegment handle;

    NativeServer(String store, String listen, boolean testMode) {
        Logs.start();
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment what = Native.slice(memory, store);
            MemorySegment where = Native.slice(memory, listen);
            Native.raise(() -> (MemorySegment) START.invokeExact(what, where, testMode, out));
            handle = Native.owned(out.get(ADDRESS, 0), FREE);
        }
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
