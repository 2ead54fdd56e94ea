package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.invoke.MethodHandle;
import java.util.List;

/** {@code ojs_outbox}: rows and tables, as statements for the application's connection. */
final class NativeOutbox {
    /** JDBC writes parameters as question marks. */
    private static final String STYLE = "qmark";

    private static final MethodHandle ENCRYPTED = Native.function("ojs_outbox_encrypted", ADDRESS, ADDRESS, Native.SLICE, ADDRESS);
    private static final MethodHandle STAGE = Native.function("ojs_outbox_stage", ADDRESS, Native.SLICE, Native.SLICE, Native.SLICE, Native.SLICE, ADDRESS);
    private static final MethodHandle STAGE_IN_ENGINE = Native.function("ojs_outbox_stage_in_engine", ADDRESS, Native.SLICE, Native.SLICE, ADDRESS);
    private static final MethodHandle MIGRATION = Native.function("ojs_outbox_migration", ADDRESS, Native.SLICE, Native.SLICE, ADDRESS);
    private static final MethodHandle IDENTITY = Native.quick("ojs_outbox_identity", Native.SLICE);

    private NativeOutbox() {}

    /** A call that gives an error, and puts a buffer into its last parameter. */
    private interface Call {
        MemorySegment make(Arena memory, MemorySegment out) throws Throwable;
    }

    private static Object json(Call call) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            Native.raise(() -> call.make(memory, out));
            return Json.parse(Native.taken(memory, out.get(ADDRESS, 0)));
        }
    }

    /** The request as a row shall hold it: with its arguments encrypted, where the client does so. */
    static byte[] encrypted(NativeClient client, byte[] request) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment connection = client.handle();
            Native.raise(() -> (MemorySegment) ENCRYPTED.invokeExact(connection, Native.slice(memory, request), out));
            return Native.taken(memory, out.get(ADDRESS, 0));
        }
    }

    /** The row of an outbox for a request: {@code id}, {@code sql}, {@code params}. */
    static Object stage(byte[] request, String database, String table) {
        return json((memory, out) -> (MemorySegment) STAGE.invokeExact(Native.slice(memory, request), Native.slice(memory, database),
                Native.slice(memory, table), Native.slice(memory, STYLE), out));
    }

    /** The same as a row of the engine's own table. */
    static Object stageInEngine(byte[] request) {
        return json((memory, out) -> (MemorySegment) STAGE_IN_ENGINE.invokeExact(Native.slice(memory, request), Native.slice(memory, STYLE), out));
    }

    static List<String> migration(String database, String table) {
        List<?> statements = (List<?>) json((memory, out) ->
                (MemorySegment) MIGRATION.invokeExact(Native.slice(memory, database), Native.slice(memory, table), out));
        return statements.stream().map(String.class::cast).toList();
    }

    static String identity() {
        try (Arena memory = Arena.ofConfined()) {
            return Native.text(Native.plain(() -> (MemorySegment) IDENTITY.invokeExact((SegmentAllocator) memory)));
        }
    }
}
