package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static org.openjobspec.Functions.Client.*;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** {@code ojs_client}: a connection. Threads may share one. */
final class NativeClient {

    /** Calls under way without a thread that waits, by the number that stands for them on the other side. */
    private static final ConcurrentHashMap<Long, CompletableFuture<byte[]>> UNDER_WAY = new ConcurrentHashMap<>();
    private static final AtomicLong LAST = new AtomicLong();
    private static final MemorySegment DONE = done();

    private static final StructLayout LAYOUT = Functions.CLIENT_OPTIONS;

    // gen:java/settings.j2:native_client (make gen; do not edit)
    /** Settings of a client; null, 0 and nothing are the defaults. */
    record Options(
            String authToken,
            List<String> headers,
            String tenant,
            Duration timeout,
            Duration connectTimeout,
            int maxSends,
            String caFile,
            String certFile, String keyFile,
            String encryptionKeys,
            long maxResponseBytes,
            String proxy) {
        /** The defaults. */
        static final Options DEFAULT = new Options(null, List.of(), null, null, null, 0, null, null, null, null, 0, null);

        /** Writes them into the structure of the core. */
        void write(Arena memory, MemorySegment options) {
            Native.set(options, LAYOUT, "auth_token", memory, authToken);
            member("headers").set(options, 0L, Native.slices(memory, headers));
            member("header_slices").set(options, 0L, (long) headers.size());
            Native.set(options, LAYOUT, "tenant", memory, tenant);
            member("timeout_ms").set(options, 0L, Durations.millis("timeout", timeout));
            member("connect_timeout_ms").set(options, 0L, Durations.millis("connectTimeout", connectTimeout));
            member("max_sends").set(options, 0L, maxSends);
            Native.set(options, LAYOUT, "ca_file", memory, caFile);
            // One without the other is nothing.
            Native.set(options, LAYOUT, "cert_file", memory, keyFile == null ? null : certFile);
            Native.set(options, LAYOUT, "key_file", memory, certFile == null ? null : keyFile);
            Native.set(options, LAYOUT, "encryption_keys", memory, encryptionKeys);
            member("max_response_bytes").set(options, 0L, maxResponseBytes);
            Native.set(options, LAYOUT, "proxy", memory, proxy);
        }
    }
    // gen:end

    private final MemorySegment handle;
    private final String url;

    NativeClient(String url, Options given) {
        this.url = url;
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment options = Native.options(memory, LAYOUT, OPTIONS_INIT);
            given.write(memory, options);
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment address = Native.slice(memory, url);
            Native.raise(() -> (MemorySegment) NEW.invokeExact(address, options, out));
            handle = Native.owned(out.get(ADDRESS, 0), FREE);
        }
    }

    /** A client whose requests go into the mailbox. */
    NativeClient(NativeMailbox mailbox) {
        url = "";
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment box = mailbox.handle();
            Native.raise(() -> (MemorySegment) OVER.invokeExact(box, out));
            handle = Native.owned(out.get(ADDRESS, 0), FREE);
        }
    }

    private NativeClient(MemorySegment handle, String url) {
        this.handle = handle;
        this.url = url;
    }

    /** A client on this connection, with the requests of one tenant. */
    NativeClient ofTenant(String tenant) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment name = Native.slice(memory, tenant);
            Native.raise(() -> (MemorySegment) OF_TENANT.invokeExact(handle, name, out));
            return new NativeClient(Native.owned(out.get(ADDRESS, 0), FREE), url);
        }
    }

    /** What the library takes for the size of the options. For tests. */
    static int optionsSize() {
        return Native.optionsSize(LAYOUT, OPTIONS_INIT);
    }

    private static VarHandle member(String name) {
        return Native.member(LAYOUT, name);
    }

    String url() {
        return url;
    }

    MemorySegment handle() {
        return handle;
    }

    /** A delivered job with its arguments in the clear. */
    byte[] decrypted(byte[] job) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment given = Native.slice(memory, job);
            Native.raise(() -> (MemorySegment) DECRYPTED.invokeExact(handle, given, out));
            return Native.taken(memory, out.get(ADDRESS, 0));
        }
    }

    /** One request; the body of a 2xx answer. A virtual thread parks while it waits: it must not hold its carrier in native code. */
    byte[] call(String method, String path, byte[] body) {
        if (Thread.currentThread().isVirtual()) return await(callAsync(method, path, body));
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment verb = Native.slice(memory, method);
            MemorySegment where = Native.slice(memory, path);
            MemorySegment what = Native.slice(memory, body);
            Native.raise(() -> (MemorySegment) CALL.invokeExact(handle, verb, where, what, out));
            return Native.taken(memory, out.get(ADDRESS, 0));
        }
    }

    /** The same when the server may hold back its answer; it is sent once. */
    byte[] callWaiting(String method, String path, byte[] body, long waitMs) {
        return await(begin(method, path, body, (verb, where, what, number) ->
                (MemorySegment) CALL_WAITING.invokeExact(handle, verb, where, what, waitMs, DONE, number)));
    }

    private static byte[] await(CompletableFuture<byte[]> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof OJSException ours) throw ours;
            throw e;
        }
    }

    /** The same without waiting. The future is completed on a thread of the library: what hangs on it belongs on another. */
    CompletableFuture<byte[]> callAsync(String method, String path, byte[] body) {
        return begin(method, path, body, (verb, where, what, number) ->
                (MemorySegment) CALL_ASYNC.invokeExact(handle, verb, where, what, DONE, number));
    }

    /** Begins a call; gives an error, or NULL when {@link #done} will be called. */
    private interface Beginning {
        MemorySegment make(MemorySegment verb, MemorySegment where, MemorySegment what, MemorySegment number) throws Throwable;
    }

    private CompletableFuture<byte[]> begin(String method, String path, byte[] body, Beginning call) {
        long number = LAST.incrementAndGet();
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        UNDER_WAY.put(number, answer);
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment verb = Native.slice(memory, method);
            MemorySegment where = Native.slice(memory, path);
            MemorySegment what = Native.slice(memory, body);
            Native.raise(() -> call.make(verb, where, what, MemorySegment.ofAddress(number)));
        } catch (Throwable e) {
            UNDER_WAY.remove(number);
            throw e;
        }
        return answer;
    }

    /** Calls from now on fail with {@link OJSException.Closed}; an embedded engine is flushed. */
    void close() {
        Native.raise(() -> (MemorySegment) CLOSE.invokeExact(handle));
    }

    private static MemorySegment done() {
        try {
            MethodHandle target = MethodHandles.lookup().findStatic(NativeClient.class, "done",
                    MethodType.methodType(void.class, MemorySegment.class, MemorySegment.class, MemorySegment.class));
            return Native.callback(target, FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, ADDRESS));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Called by the library. Nothing may be thrown through it: that would end the process. */
    private static void done(MemorySegment number, MemorySegment error, MemorySegment buf) {
        CompletableFuture<byte[]> answer = UNDER_WAY.remove(number.address());
        try (Arena memory = Arena.ofConfined()) {
            if (!error.equals(MemorySegment.NULL)) {
                answer.completeExceptionally(Native.taken(error));
            } else {
                answer.complete(Native.taken(memory, buf));
            }
        } catch (Throwable e) {
            if (answer != null) answer.completeExceptionally(e);
        }
    }

    /** How many calls are under way without a thread that waits. For tests. */
    static int underWay() {
        return UNDER_WAY.size();
    }
}
