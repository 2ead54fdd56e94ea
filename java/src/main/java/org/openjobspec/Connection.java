package org.openjobspec;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** How a client's requests get out: over the engine, over a transport of the user's, or, while a test wants that, into its fake. */
final class Connection {
    private final Transport transport;
    private NativeClient engine;
    private NativeMailbox mailbox;
    private volatile boolean closed;

    Connection(NativeClient engine) {
        this.engine = engine;
        this.transport = null;
    }

    Connection(Transport transport) {
        this.engine = null;
        this.transport = transport;
    }

    /**
     * The same connection with the requests of one tenant. A transport of the user's own finds it in the metadata of
     * jobs.
     */
    Connection ofTenant(String tenant) {
        return transport == null ? new Connection(engine.ofTenant(tenant)) : new Connection(transport);
    }

    byte[] call(String method, String path, byte[] body, Duration wait) {
        checkOpen();
        Fake fake = OJSTesting.active();
        if (fake != null) return fake.request(method, path, body);
        return direct(method, path, body, wait);
    }

    CompletableFuture<byte[]> callAsync(String method, String path, byte[] body) {
        checkOpen();
        if (transport != null || OJSTesting.active() != null) return Async.supply(() -> call(method, path, body, null));
        return engine.callAsync(method, path, body);
    }

    /** Whatever takes the place of connections. */
    byte[] direct(String method, String path, byte[] body, Duration wait) {
        if (transport == null) return wait == null ? engine.call(method, path, body) : engine.callWaiting(method, path, body, wait.toMillis());
        Transport.Answer answer = transport.request(method, path, Defaults.completed(body));
        if (answer.status() < 200 || answer.status() > 299) throw Native.refusal(answer.status(), answer.body());
        return answer.body();
    }

    /** Whether requests go to a transport of the user's own. */
    boolean isCustom() {
        return transport != null;
    }

    /** Where it leads; empty with a transport of the user's own. */
    String url() {
        return transport == null ? engine.url() : "";
    }

    /** A request as a row of an outbox shall hold it; a transport of the user's own has no keys. */
    byte[] encrypted(byte[] request) {
        return transport == null ? NativeOutbox.encrypted(engine, request) : request;
    }

    /** A delivered job, as a worker's handler gets it. */
    byte[] decrypted(byte[] job) {
        return transport == null ? engine.decrypted(job) : job;
    }

    /** For a worker or a relay, whose requests the engine makes: over the user's transport they go by way of a mailbox. */
    synchronized NativeClient engine() {
        checkOpen();
        if (engine == null) {
            mailbox = new NativeMailbox("ojs-transport", transport, Async.EXECUTOR);
            engine = new NativeClient(mailbox);
        }
        return engine;
    }

    private void checkOpen() {
        if (closed) throw new OJSException.Closed("the client is closed");
    }

    synchronized void close() {
        if (closed) return;
        closed = true;
        if (engine != null) engine.close();
        if (mailbox != null) mailbox.close();
    }
}
