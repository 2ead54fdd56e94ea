package org.openjobspec;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** An OJS server in this process: for tests and small tools. Its jobs go with it, unless the store is a file. */
public final class OJSServer implements AutoCloseable {
    /** Those that run: one that nobody refers to goes on listening. */
    private static final Set<OJSServer> LIVE = ConcurrentHashMap.newKeySet();

    private final NativeServer core;
    private final String url;

    private OJSServer(String store, String listen, boolean testMode) {
        core = new NativeServer(store, listen, testMode);
        url = core.url();
        LIVE.add(this);
    }

    /** In memory, on a free port of this machine. */
    public static OJSServer start() {
        return start("memory:", "127.0.0.1:0");
    }

    /** On a store ({@code sqlite:jobs.db}, {@code memory:}) and an address; port 0 takes a free one. */
    public static OJSServer start(String store, String listen) {
        return new OJSServer(store, listen, false);
    }

    /** The same in test mode: anyone who can connect can delete all jobs. */
    public static OJSServer startForTests(String store, String listen) {
        return new OJSServer(store, listen, true);
    }

    /** Where it listens: {@code http://127.0.0.1:8080}. */
    public String url() {
        return url;
    }

    /** Answers requests under way and closes the store. A second call does nothing. */
    @Override
    public void close() {
        LIVE.remove(this);
        core.stop();
    }
}
