package org.openjobspec;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

/** Engines and servers of the tests, and waiting for conditions. */
final class Support {
    /** Longest time a test waits for something that takes milliseconds, or the start of a process, on a busy machine. Reached only by failures. */
    static final Duration PATIENCE = Duration.ofSeconds(90);
    /** The root of the repository: the tests run in java/. */
    static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    private static final AtomicInteger NAMES = new AtomicInteger();
    private static String server;

    private Support() {}

    /** What tests run against: an engine in this process, and a server over HTTP. */
    enum Kind {
        MEMORY, HTTP;

        String url() {
            return this == MEMORY ? "memory:" + unique("test") : Support.server();
        }
    }

    static String unique(String kind) {
        return kind + "-" + ProcessHandle.current().pid() + "-" + NAMES.incrementAndGet();
    }

    /** The server program when there is one, else the server in this process. It ends with the tests. */
    static synchronized String server() {
        if (server != null) return server;
        Path program = program();
        if (program == null) {
            server = OJSServer.start().url();
            return server;
        }
        try {
            Process process = new ProcessBuilder(program.toString(), "server", "--store", "memory:", "--listen", "127.0.0.1:0", "--log-level", "error")
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
            BufferedReader out = process.inputReader();
            server = out.readLine().replace("listening on ", "").strip();
            Thread.ofPlatform().daemon().start(() -> out.lines().forEach(_ -> {}));
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path program() {
        String named = System.getenv("OJS_BIN");
        if (named != null && !named.isEmpty()) return Path.of(named);
        String target = System.getenv().getOrDefault("CARGO_TARGET_DIR", ROOT.resolve("target").toString());
        for (String profile : List.of("release", "debug")) {
            Path program = Path.of(target, profile, "ojs");
            if (Files.isExecutable(program)) return program;
        }
        return null;
    }

    /** The first value that is neither null nor false. */
    static <T> T eventually(Callable<T> probe) {
        return within(PATIENCE, probe);
    }

    /** The same for what must not take as long as that. */
    static <T> T within(Duration patience, Callable<T> probe) {
        long until = System.nanoTime() + patience.toNanos();
        while (true) {
            try {
                T value = probe.call();
                if (value != null && !Boolean.FALSE.equals(value)) return value;
                if (System.nanoTime() > until) throw new AssertionError("not within " + patience);
                Thread.sleep(2);
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    /** A client, and workers on a queue of their own; all end with the test. */
    static final class Bench implements AutoCloseable {
        final OJSClient client;
        final String queue = unique("queue");
        private final List<OJSWorker> workers = new ArrayList<>();

        Bench(Kind kind) {
            client = OJSClient.connect(kind.url());
        }

        OJSWorker.Builder builder() {
            return OJSWorker.builder().client(client).queues(queue);
        }

        OJSWorker worker() {
            return keep(builder().build());
        }

        OJSWorker keep(OJSWorker worker) {
            workers.add(worker);
            return worker;
        }

        PendingJob job(String type, Object... args) {
            return client.job(type, args).queue(queue);
        }

        /** The job, once it is in one of these states. */
        Job ended(Job job, String... states) {
            return eventually(() -> {
                Job now = client.getJob(job.id());
                return Arrays.asList(states).contains(now.state()) ? now : null;
            });
        }

        Job completed(Job job) {
            Job over = ended(job, "completed", "discarded", "cancelled");
            if (!over.state().equals("completed")) throw new AssertionError(over.toString());
            return over;
        }

        Map<String, Object> error(Job job) {
            return ended(job, "discarded").error();
        }

        @Override
        public void close() {
            workers.forEach(worker -> worker.stop(Duration.ZERO));
            client.close();
        }
    }
}
