package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static org.openjobspec.Functions.Outbox.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** {@code ojs_outbox}: rows and tables, as statements for the application's connection. */
final class NativeOutbox {
    /** JDBC writes parameters as question marks. */
    private static final String STYLE = "qmark";

    private NativeOutbox() {}

    /** A call that gives an error, and puts a buffer into its last parameter. */
    private interface Call {
        MemorySegment make(Arena memory, MemorySegment out) throws Throwable;
    }

    private static byte[] bytes(Call call) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            Native.raise(() -> call.make(memory, out));
            return Native.taken(memory, out.get(ADDRESS, 0));
        }
    }

    private static Object json(Call call) {
        return Json.parse(bytes(call));
    }

    /** The request as a row shall hold it: with its arguments encrypted, where the client does so. */
    static byte[] encrypted(NativeClient client, byte[] request) {
        MemorySegment connection = client.handle();
        return bytes((memory, out) ->
                (MemorySegment) ENCRYPTED.invokeExact(connection, Native.slice(memory, request), out));
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

    /** The query that lists the jobs which are not sent yet, each with four texts: id, type, args, options. */
    static String stagedQuery(String database, String table, boolean inEngine) {
        byte[] query = bytes((memory, out) -> (MemorySegment) STAGED_QUERY.invokeExact(
                Native.slice(memory, database), Native.slice(memory, table), inEngine, out));
        return new String(query, StandardCharsets.UTF_8);
    }

    /** One step of finding out whether the server shares the database. */
    static Object sameDatabase(Object event) {
        return json((memory, out) ->
                (MemorySegment) SAME_DATABASE.invokeExact(Native.slice(memory, Json.bytes(event)), out));
    }

    /** Tells the nodes of a server in the same database, after a commit. */
    static String notification() {
        try (Arena memory = Arena.ofConfined()) {
            return Native.text(Native.plain(() -> (MemorySegment) NOTIFY.invokeExact((SegmentAllocator) memory)));
        }
    }

    /** What a fake records of a request: the jobs that it enqueues, in the form in which they go over the wire. */
    static List<?> recorded(String method, String path, byte[] body) {
        byte[] sent = body == null ? new byte[0] : body;
        return (List<?>) json((memory, out) -> (MemorySegment) RECORDED.invokeExact(
                Native.slice(memory, method), Native.slice(memory, path), Native.slice(memory, sent), out));
    }

    /** The places of those recorded jobs that a test asks for. */
    static List<?> matching(List<Job> jobs, Map<String, ?> wanted) {
        return (List<?>) json((memory, out) -> (MemorySegment) MATCHING.invokeExact(
                Native.slice(memory, Json.bytes(jobs)), Native.slice(memory, Json.bytes(wanted)), out));
    }
}
