package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static org.openjobspec.Functions.Mailbox.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;

/** {@code ojs_transport}: the library puts requests in, a thread of Java takes them out and has them answered. */
final class NativeMailbox {
    private static final StructLayout REQUEST = Functions.REQUEST;

    private static final System.Logger LOG = System.getLogger("org.openjobspec");
    private static final long WAIT_MS = 60_000;

    /** One request as it came. */
    private record Request(long ticket, String method, String path, byte[] body) {}

    private final MemorySegment handle;
    private final Thread thread;

    /** Has requests answered by the transport, on the executor. */
    NativeMailbox(String name, Transport transport, Executor executor) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            Native.raise(() -> (MemorySegment) NEW.invokeExact(out));
            handle = Native.owned(out.get(ADDRESS, 0), FREE);
        }
        thread = Thread.ofPlatform().daemon().name(name).start(() -> serve(transport, executor));
    }

    MemorySegment handle() {
        return handle;
    }

    private void serve(Transport transport, Executor executor) {
        try {
            while (true) {
                Request request = pull();
                if (request != null) executor.execute(() -> answer(transport, request));
            }
        } catch (OJSException.Closed e) {
            // The end.
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "requests of the engine are not answered any more", e);
            close();
        }
    }

    private Request pull() {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment request = memory.allocate(REQUEST);
            Native.raise(() -> (MemorySegment) PULL.invokeExact(handle, WAIT_MS, request));
            long ticket = (long) Native.member(REQUEST, "ticket").get(request, 0L);
            if (ticket == 0) return null;
            return new Request(ticket, text(memory, request, "method"), text(memory, request, "path"), bytes(memory, request, "body"));
        }
    }

    private static byte[] bytes(Arena memory, MemorySegment request, String member) {
        return Native.taken(memory, (MemorySegment) Native.member(REQUEST, member).get(request, 0L));
    }

    private static String text(Arena memory, MemorySegment request, String member) {
        return new String(bytes(memory, request, member), StandardCharsets.UTF_8);
    }

    private void answer(Transport transport, Request request) {
        try (Arena memory = Arena.ofConfined()) {
            try {
                Transport.Answer answer = transport.request(request.method(), request.path(), request.body());
                MemorySegment body = Native.slice(memory, answer.body());
                Native.raise(() -> (MemorySegment) REPLY.invokeExact(handle, request.ticket(), (short) answer.status(), body));
            } catch (Throwable e) {
                MemorySegment message = Native.slice(memory, e.toString());
                Native.raise(() -> (MemorySegment) FAIL.invokeExact(handle, request.ticket(), message));
            }
        }
    }

    /** Requests that wait fail, and so do those to come. */
    void close() {
        Native.plain(() -> {
            CLOSE.invokeExact(handle);
            return null;
        });
    }

    /** Closes it, and returns when nothing is being answered any more, at the latest after five seconds. */
    void end() {
        close();
        try {
            thread.join(5_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
