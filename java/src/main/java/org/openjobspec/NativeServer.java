package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;

/** {@code ojs_server}. */
final class NativeServer {
    static final StructLayout OPTIONS = MemoryLayout.structLayout(JAVA_INT.withName("size"), JAVA_BOOLEAN.withName("test_mode"),
            JAVA_BOOLEAN.withName("insecure"), MemoryLayout.paddingLayout(2), Native.SLICE.withName("store"), Native.SLICE.withName("listen"),
            Native.SLICE.withName("keys"));

    private static final MethodHandle INIT = Native.quick("ojs_server_options_init", null, ADDRESS);
    private static final MethodHandle START = Native.function("ojs_server_start_with", ADDRESS, ADDRESS, ADDRESS);
    private static final MethodHandle URL = Native.quick("ojs_server_url", Native.SLICE, ADDRESS);
    private static final MethodHandle STOP = Native.function("ojs_server_stop", ADDRESS, ADDRESS);
    private static final MethodHandle FREE = Native.function("ojs_server_free", null, ADDRESS);

    private final MemorySegment handle;

    NativeServer(String store, String listen, boolean testMode, String keys, boolean insecure) {
        Logs.start();
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment options = Native.options(memory, OPTIONS, INIT);
            Native.set(options, OPTIONS, "store", memory, store);
            Native.set(options, OPTIONS, "listen", memory, listen);
            Native.set(options, OPTIONS, "keys", memory, keys);
            Native.member(OPTIONS, "test_mode").set(options, 0L, testMode);
            Native.member(OPTIONS, "insecure").set(options, 0L, insecure);
            Native.raise(() -> (MemorySegment) START.invokeExact(options, out));
            handle = Native.owned(out.get(ADDRESS, 0), FREE);
        }
    }

    /** What the library takes for the size of the options. For tests. */
    static int optionsSize() {
        return Native.optionsSize(OPTIONS, INIT);
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
