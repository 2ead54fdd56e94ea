package org.openjobspec;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** An OJS server in this process: for tests and small tools. Its jobs go with it, unless the store is a file. */
public final class OJSServer implements AutoCloseable {
    /** Those that run: one without references goes on listening. */
    private static final Set<OJSServer> LIVE = ConcurrentHashMap.newKeySet();

    private final NativeServer core;
    private final String url;

    private OJSServer(Builder given) {
        core = new NativeServer(given.store, given.listen, given.testMode, given.keys, given.insecure);
        url = core.url();
        LIVE.add(this);
    }

    /** In memory, on a free port of this machine. */
    public static OJSServer start() {
        return start("memory:", "127.0.0.1:0");
    }

    /** On a store ({@code sqlite:jobs.db}, {@code memory:}) and an address; port 0 takes a free one. */
    public static OJSServer start(String store, String listen) {
        return builder().store(store).listen(listen).start();
    }

    /** The same in test mode: anyone who can connect can delete all jobs. */
    public static OJSServer startForTests(String store, String listen) {
        return builder().store(store).listen(listen).testMode(true).start();
    }

    /** Settings, step by step: {@code OJSServer.builder().listen("0.0.0.0:8080").keys("keys.json").start()}. */
    public static Builder builder() {
        return new Builder();
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

    /** Settings of a server. */
    public static final class Builder {
        private String store = "memory:";
        private String listen = "127.0.0.1:0";
        private boolean testMode;
        private String keys;
        private boolean insecure = true;

        private Builder() {}

        /** {@code sqlite:jobs.db}; {@code memory:}. */
        public Builder store(String url) {
            store = url;
            return this;
        }

        /** An address; a free port of this machine. */
        public Builder listen(String address) {
            listen = address;
            return this;
        }

        /** Whether anyone who can connect can delete all jobs; false. */
        public Builder testMode(boolean on) {
            testMode = on;
            return this;
        }

        /** A file of keys, which {@code ojs keys add} writes: everybody is asked for one. */
        public Builder keys(String file) {
            keys = file;
            return this;
        }

        /** Whether it may listen, without keys, where other machines reach it; true. */
        public Builder insecure(boolean allowed) {
            insecure = allowed;
            return this;
        }

        /** Opens the store and listens. */
        public OJSServer start() {
            return new OJSServer(this);
        }
    }
}
