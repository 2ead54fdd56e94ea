package org.openjobspec;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.HashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Fetches jobs and runs their handlers, by default each on a virtual thread of its own.
 *
 * {@snippet :
 * var worker = OJSWorker.builder().url("sqlite:jobs.db").queues("mail").concurrency(20).build();
 * worker.register("email.send", ctx -> send(ctx.arg(0, String.class)));
 * worker.run(); // until SIGTERM or Ctrl-C
 * }
 */
public final class OJSWorker implements AutoCloseable {
    /** Where a worker is in its life. */
    public enum State {
        // gen:java/worker_states.j2 (make gen; do not edit)
        /** Not started. */
        NEW,
        /** Fetches and runs. */
        RUNNING,
        /** Runs what it holds, fetches nothing. */
        QUIET,
        /** Finishes what it holds, then stops. */
        TERMINATE,
        /** Over. */
        STOPPED
        // gen:end
    }

    private static final System.Logger LOG = System.getLogger("org.openjobspec");

    private final WorkerSettings settings;
    private final MiddlewareChain<ExecutionMiddleware> middleware = new MiddlewareChain<>(List.of());
    private final Map<String, JobHandler> handlers = new HashMap<>();
    private final Map<String, Versions> versions = new HashMap<>();
    private final Listeners listeners = new Listeners();
    private Map<String, JobHandler> calls;
    private OJSClient ownClient;
    private volatile WorkerLoop loop;

    OJSWorker(WorkerSettings settings) {
        this.settings = settings;
    }

    /** A worker with settings. */
    public static Builder builder() {
        return new Builder();
    }

    /** A worker for the queue {@code default} of a client's server or engine. */
    public static OJSWorker of(OJSClient client) {
        return builder().client(client).build();
    }

    // --- before the start ---

    /** Registers the handler of a job type; {@code *} stands for every other type. */
    public synchronized OJSWorker register(String type, JobHandler handler) {
        checkNew("register handlers");
        if (type == null || type.isEmpty()) throw new OJSException.Validation("register needs a job type");
        if (handler == null) throw new OJSException.Validation("the handler of '" + type + "' is null");
        if (handlers.putIfAbsent(type, handler) != null) {
            throw new OJSException.Validation("a handler for '" + type + "' is registered already");
        }
        return this;
    }

    /**
     * The same with defaults for all jobs of the type that this process enqueues, where a job does not say otherwise:
     * {@code worker.register("email.send", handler, job -> job.queue("mail").retry(5).timeout(Duration.ofSeconds(30)))}.
     */
    public synchronized OJSWorker register(String type, JobHandler handler, Consumer<JobRequest> defaults) {
        if (defaults == null) throw new OJSException.Validation("the defaults of '" + type + "' are null: leave them out");
        register(type, handler);
        try {
            Defaults.set(type, defaults);
            Object version = Defaults.of(type).get("version");
            if (version != null) versionsOf(type).version(version.toString());
        } catch (RuntimeException e) {
            handlers.remove(type);
            throw e;
        }
        return this;
    }

    /**
     * Names the ranges of versions that the handler of a job type runs, such as {@code >=2.0 <4.0}, in place of those
     * that follow from the {@code version} among its defaults.
     */
    public synchronized OJSWorker versions(String type, String... ranges) {
        checkNew("name versions");
        versionsOf(type).ranges(List.of(ranges));
        return this;
    }

    /**
     * Registers how arguments of version {@code from} become those of version {@code to}. Changes are made one after
     * the other, before the middleware and the handler see the job, as long as there is one for the version that the
     * arguments have then. One that throws ends the job with the code {@code version_transform}. A job that no change
     * brings to a version of its handler fails with the code {@code unsupported_version}, or goes back to its queue
     * ({@link Builder#unknownTypes}).
     *
     * <pre>{@code
     * worker.register("user.welcome", handler, defaults -> defaults.version("2.0"));
     * worker.transform("user.welcome", "1.0", "2.0", args -> List.of(Map.of("name", args.get(0))));
     * }</pre>
     */
    public synchronized OJSWorker transform(String type, String from, String to, ArgsTransform change) {
        checkNew("register transforms");
        if (change == null) throw new OJSException.Validation("the transform of '" + type + "' is null");
        versionsOf(type).add(from, to, change);
        return this;
    }

    private Versions versionsOf(String type) {
        return versions.computeIfAbsent(type, _ -> new Versions());
    }

    /** What is said about the versions of all types, as the core reads it. */
    private Map<String, Object> saidVersions() {
        Map<String, Object> said = new HashMap<>();
        versions.forEach((type, of) -> said.put(type, of.said()));
        return said;
    }

    /** Adds a layer around every handler; the first one added is the outermost. */
    public OJSWorker use(String name, ExecutionMiddleware layer) {
        middleware.add(name, layer);
        return this;
    }

    /** The layers around every handler, to be arranged. */
    public MiddlewareChain<ExecutionMiddleware> middleware() {
        return middleware;
    }

    /** Calls back after every job that a handler finished. What it throws is logged, and harms nothing else. */
    public OJSWorker onCompleted(Consumer<JobContext> listener) {
        listeners.completed.add(listener);
        return this;
    }

    /** Calls back after every run that a handler ended by throwing. */
    public OJSWorker onFailed(BiConsumer<JobContext, Throwable> listener) {
        listeners.failed.add(listener);
        return this;
    }

    private void checkNew(String what) {
        if (calls != null) throw new OJSException.Validation(what + " before the worker starts");
    }

    /** A worker that does not ask for the queue that jobs of a type go to by default never gets one of them. */
    private void warnOfQueue(String type) {
        if (Defaults.of(type).get("queue") instanceof String queue && !settings.options().queues().contains(queue)) {
            LOG.log(System.Logger.Level.WARNING, "jobs of type ''{0}'' go to the queue ''{1}'' by default, and this worker asks for {2} only",
                    type, queue, settings.options().queues());
        }
    }

    /** One handler per job type, with the middleware around it. */
    synchronized Map<String, JobHandler> calls() {
        if (calls == null) {
            List<ExecutionMiddleware> layers = middleware.freeze();
            calls = new HashMap<>();
            handlers.forEach((type, handler) -> {
                JobHandler call = ExecutionMiddleware.compose(layers, handler);
                Versions of = versions.get(type);
                calls.put(type, of == null ? call : of.around(type, call));
            });
        }
        return calls;
    }

    // --- running ---

    /** Connects and begins to work. The process stays alive until the worker is over. */
    public OJSWorker start() {
        return start(settings.handleSignals());
    }

    private synchronized OJSWorker start(boolean signals) {
        if (loop != null) throw new OJSException.Validation("a worker can be started once; make another one");
        if (handlers.isEmpty()) throw new OJSException.Validation("the worker has no handlers: register some before it starts");
        handlers.keySet().forEach(this::warnOfQueue);
        WorkerLoop started = new WorkerLoop(client(), settings, calls(), saidVersions(), listeners);
        try {
            // A signal that comes as soon as the first job runs is ours already.
            started.start(() -> {
                loop = started;
                if (signals) Signals.attach(this);
            });
        } catch (RuntimeException e) {
            closeOwn();
            throw e;
        }
        started.over().thenRunAsync(this::closeOwn, Async.EXECUTOR);
        return this;
    }

    /** The client that the worker was given, else one of its own. */
    synchronized OJSClient client() {
        if (settings.client() != null) return settings.client();
        if (ownClient == null) ownClient = settings.connection().build();
        return ownClient;
    }

    private void closeOwn() {
        if (ownClient != null) ownClient.close();
    }

    /** Works until SIGTERM, SIGINT, {@link #stop()}, or a directive of the server. */
    public void run() {
        start(true);
        await();
    }

    /** Stops gracefully: running handlers may finish for the grace period, then their jobs go back. Returns when it is over. */
    public void stop() {
        stop(null);
    }

    /** The same with another grace period. */
    public void stop(Duration grace) {
        if (loop == null) return;
        if (loop.phase() < State.TERMINATE.ordinal()) shutdown(grace);
        await();
    }

    /** Begins to stop. A second call ends the grace period. */
    public void shutdown() {
        shutdown(null);
    }

    /** The same with another grace period. */
    public void shutdown(Duration grace) {
        running().stop(grace == null ? -1 : Durations.millis("grace", grace));
    }

    /** Fetches no more; what runs goes on. */
    public void quiet() {
        running().quiet();
    }

    /** Fetches again after {@link #quiet()}. */
    public void resume() {
        running().resume();
    }

    /** Returns when the worker is over. */
    public void await() {
        running().over().join();
    }

    /** Completed when the worker is over. */
    public CompletableFuture<Void> over() {
        return running().over().copy();
    }

    /** As {@link #stop()}; a worker that was not started needs no closing. */
    @Override
    public void close() {
        stop();
    }

    /** What it works, and where it is in its life. */
    @Override
    public String toString() {
        return "OJSWorker[queues " + String.join(", ", settings.options().queues()) + ", " + state() + "]";
    }

    private WorkerLoop running() {
        WorkerLoop started = loop;
        if (started == null) throw new OJSException.Validation("the worker has not been started");
        return started;
    }

    /** The worker's name on the server. */
    public String id() {
        return running().id();
    }

    /** Where it is in its life. */
    public State state() {
        return loop == null ? State.NEW : State.values()[loop.phase()];
    }

    /** The queues, in order of preference. */
    public List<String> queues() {
        return settings.options().queues();
    }

    /** Handlers that run at a time. */
    int concurrency() {
        return settings.options().concurrency();
    }

    /** Handlers that run now. */
    public int activeJobs() {
        return loop == null ? 0 : loop.active();
    }

    /** Settings of a worker. */
    public static final class Builder {
        private OJSClient client;
        private OJSClient.Builder connection = OJSClient.builder();
        private boolean handleSignals;
        private Executor executor;

        private Builder() {
            take(Environment.read());
        }

        /** Shares this client's connection. */
        public Builder client(OJSClient shared) {
            client = shared;
            return this;
        }

        /** Connects to this server or engine: see {@link OJSClient#connect(String)}. */
        public Builder url(String url) {
            connection.url(url);
            return this;
        }

        /** Connects as this says. */
        public Builder connection(OJSClient.Builder settings) {
            connection = settings;
            return this;
        }

        // gen:java/settings.j2:worker (make gen; do not edit)
        private List<String> queues;
        private int concurrency;
        private String workerId;
        private Duration heartbeatInterval;
        private Duration visibilityTimeout;
        private Duration gracePeriod;
        private Duration flushTimeout;
        private Duration pollInterval;
        private List<String> labels = List.of();
        private boolean releaseOnShutdown = true;
        private String unknownTypes;
        private boolean onlyRegisteredTypes;

        /** Takes what the environment says, before a method says otherwise. */
        private void take(Environment said) {
            queues = said.texts("queues");
            concurrency = (int) said.number("concurrency");
            gracePeriod = said.length("grace_period");
        }

        /** In order of preference. Without it {@code OJS_QUEUE}, else {@code default}. */
        public Builder queues(List<String> queues) {
            if (Given.some("queues", queues).isEmpty()) throw new OJSException.Validation("queues must not be empty: leave it out for the default");
            this.queues = List.copyOf(queues);
            return this;
        }


        /** In order of preference. Without it {@code OJS_QUEUE}, else {@code default}. */
        public Builder queues(String... queues) {
            return queues(Given.all("queues", queues));
        }

        /** Handlers at a time. Without it {@code OJS_CONCURRENCY}, else {@code 10}. */
        public Builder concurrency(int concurrency) {
            this.concurrency = atLeastOne("concurrency", concurrency);
            return this;
        }

        /** Its name on the server; without it a random one. */
        public Builder workerId(String workerId) {
            this.workerId = workerId;
            return this;
        }

        /** Between heartbeats. Without it 5 s. */
        public Builder heartbeatInterval(Duration heartbeatInterval) {
            this.heartbeatInterval = Durations.longerThanNone("heartbeatInterval", heartbeatInterval);
            return this;
        }

        /** How long a silent worker keeps a job. Without it 30 s. */
        public Builder visibilityTimeout(Duration visibilityTimeout) {
            this.visibilityTimeout = Durations.longerThanNone("visibilityTimeout", visibilityTimeout);
            return this;
        }

        /** How long running handlers may finish after a stop. With 0 they are cancelled at once. Without it {@code
         * OJS_SHUTDOWN_TIMEOUT}, else {@code 25 s}. */
        public Builder gracePeriod(Duration gracePeriod) {
            this.gracePeriod = Durations.notNegative("gracePeriod", gracePeriod);
            return this;
        }

        /** How long the outcomes of jobs may take to reach the server after the grace period. Without it as long as the
         * visibility timeout, at most 30 s. */
        public Builder flushTimeout(Duration flushTimeout) {
            this.flushTimeout = Durations.notNegative("flushTimeout", flushTimeout);
            return this;
        }

        /** The longest pause between fetches, where a server cannot wake a worker. Without it 2 s. */
        public Builder pollInterval(Duration pollInterval) {
            this.pollInterval = Durations.longerThanNone("pollInterval", pollInterval);
            return this;
        }

        /** Labels of the worker, sent to the server. */
        public Builder labels(List<String> labels) {
            this.labels = List.copyOf(Given.some("labels", labels));
            return this;
        }


        /** Labels of the worker, sent to the server. */
        public Builder labels(String... labels) {
            return labels(Given.all("labels", labels));
        }

        /** Gives unfinished jobs back when it stops; else they wait until their leases end. Without it true. */
        public Builder releaseOnShutdown(boolean releaseOnShutdown) {
            this.releaseOnShutdown = releaseOnShutdown;
            return this;
        }

        /** What happens to a job whose type has no handler: {@code fail} makes it a dead letter whose reason is
         * no_handler; {@code release} gives it back to its queue, and no attempt is counted. Without it fail. */
        public Builder unknownTypes(UnknownTypes unknownTypes) {
            this.unknownTypes = Given.some("unknownTypes", unknownTypes).word();
            return this;
        }

        /** Asks only for jobs of the types that have a handler, where the server's manifest names {@code fetch_types}.
         * Jobs of other types that come all the same are given back. Without it false. */
        public Builder onlyRegisteredTypes(boolean onlyRegisteredTypes) {
            this.onlyRegisteredTypes = onlyRegisteredTypes;
            return this;
        }

        /** What the core is given. */
        NativeWorker.Options options() {
            return new NativeWorker.Options(
                    queues,
                    concurrency,
                    workerId,
                    heartbeatInterval,
                    visibilityTimeout,
                    gracePeriod,
                    flushTimeout,
                    pollInterval,
                    labels,
                    releaseOnShutdown,
                    unknownTypes,
                    onlyRegisteredTypes);
        }

        private static int atLeastOne(String name, int given) {
            if (given < 1) throw new OJSException.Validation(name + " must be at least 1, got " + given);
            return given;
        }
        // gen:end

        /** Where handlers run; without it every job gets a virtual thread. It needs as many threads as jobs run at a time. */
        public Builder executor(Executor handlers) {
            executor = handlers;
            return this;
        }

        /** {@link OJSWorker#start()} listens to SIGTERM and SIGINT, as {@link OJSWorker#run()} does. */
        public Builder handleSignals(boolean listen) {
            handleSignals = listen;
            return this;
        }

        /** The worker; it does nothing before it is started. */
        public OJSWorker build() {
            return new OJSWorker(new WorkerSettings(client, connection, options(), executor, handleSignals));
        }
    }
}
