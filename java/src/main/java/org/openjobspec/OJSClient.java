package org.openjobspec;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Talks to an OJS server, or to an engine in this process. Making a client opens nothing: it connects with its first call.
 * Threads may share one; virtual threads park while they wait.
 *
 * {@snippet :
 * try (var client = OJSClient.connect("sqlite:jobs.db")) {
 *     client.enqueue("email.send", "ada@example.com");
 *     client.job("report.make", 2026).queue("slow").delay(Duration.ofMinutes(5)).enqueue();
 * }
 * }
 */
public final class OJSClient extends Operations.OfClient implements AutoCloseable {
    /** How long the server may hold back an answer: below the time-outs of common proxies. */
    private static final Duration HELD_BACK = Duration.ofSeconds(20);

    private final Connection connection;
    private final MiddlewareChain<EnqueueMiddleware> middleware;
    /** The tenant of all its requests; null for none. */
    private final String tenant;
    private volatile List<EnqueueMiddleware> layers;

    private OJSClient(Connection connection, String tenant, MiddlewareChain<EnqueueMiddleware> middleware) {
        this.connection = connection;
        this.tenant = tenant;
        this.middleware = middleware;
    }

    /** A client for {@code OJS_URL}, else {@code http://localhost:8080}. */
    public static OJSClient connect() {
        return builder().build();
    }

    /** A client for {@code http://host:8080}, {@code https://…}, {@code sqlite:jobs.db}, {@code memory:} or {@code memory:name}. */
    public static OJSClient connect(String url) {
        return builder().url(url).build();
    }

    /** A client with settings. */
    public static Builder builder() {
        return new Builder();
    }

    // --- middleware ---

    /** Adds enqueue middleware; the first one added is the outermost. */
    public OJSClient use(String name, EnqueueMiddleware layer) {
        middleware.add(name, layer);
        return this;
    }

    /** The enqueue middleware, to be arranged. */
    public MiddlewareChain<EnqueueMiddleware> middleware() {
        return middleware;
    }

    private List<EnqueueMiddleware> layers() {
        List<EnqueueMiddleware> frozen = layers;
        if (frozen == null) layers = frozen = middleware.freeze();
        return frozen;
    }

    // --- tenants ---

    /**
     * The same client with the requests of one tenant: they see and change what belongs to it, and the jobs are the
     * tenant's. It shares connection and middleware; closing it leaves them open.
     */
    public OJSClient ofTenant(String tenant) {
        return new OJSClient(connection.ofTenant(tenant), tenant, middleware);
    }

    /** A request with the tenant of this client, unless it names one. */
    private JobRequest tenanted(JobRequest request) {
        if (connection.isCustom() && request.options().containsKey("tenant")) {
            // The core moves the option, and it does not see this request.
            request.meta().put("tenant_id", request.options().remove("tenant"));
        }
        if (tenant != null && !request.options().containsKey("tenant")) request.meta().putIfAbsent("tenant_id", tenant);
        return request;
    }

    // --- enqueue ---

    /** Sends a job; the job as the server stored it. Throws {@link OJSException.NotEnqueued} when a middleware dropped it. */
    public Job enqueue(String type, Object... args) {
        return enqueue(JobRequest.of(type, args));
    }

    /** The same with the arguments in a list. */
    public Job enqueue(String type, List<?> args) {
        return enqueue(JobRequest.of(type, args));
    }

    /** Sends a job. */
    public Job enqueue(JobRequest request) {
        return through(request, changed -> run(Operation.enqueue(changed)));
    }

    /** Runs the middleware around whatever is done with the job. */
    Job through(JobRequest request, EnqueueMiddleware.Next inside) {
        return sent(EnqueueMiddleware.compose(layers(), inside).enqueue(tenanted(request)));
    }

    private static Job sent(Job job) {
        if (job == null) throw new OJSException.NotEnqueued("a middleware dropped the job");
        return job;
    }

    /** Describes a job, which its {@link PendingJob#enqueue()} sends. */
    public PendingJob job(String type, Object... args) {
        return new PendingJob(this, type, Arrays.asList(args));
    }

    /** The same with the arguments in a list. */
    public PendingJob job(String type, List<?> args) {
        return new PendingJob(this, type, args);
    }

    /** Sends many jobs in one request: all are stored or none. Middleware runs for each; dropped jobs are left out. */
    public List<Job> enqueueBatch(List<JobRequest> requests) {
        List<JobRequest> kept = kept(requests);
        return kept.isEmpty() ? List.of() : run(Operation.enqueueBatch(kept));
    }

    /** The jobs that middleware lets through. */
    List<JobRequest> kept(List<JobRequest> requests) {
        requests.forEach(this::tenanted);
        if (layers().isEmpty()) return requests;
        List<JobRequest> kept = new ArrayList<>();
        for (JobRequest request : requests) {
            EnqueueMiddleware.compose(layers(), changed -> {
                kept.add(changed);
                return new Job(changed.toJson());
            }).enqueue(request);
        }
        return kept;
    }

    // --- workflows ---

    /** Starts a workflow made by {@link Workflow#chain}, {@link Workflow#group} or {@link Workflow#batch}. */
    public WorkflowStatus workflow(Workflow definition) {
        return run(Operation.workflow(definition));
    }

    /** Starts a workflow described in the words of the wire. */
    public WorkflowStatus workflow(Map<String, ?> definition) {
        return run(Operation.workflow("POST", "/workflows", definition));
    }

    // --- the rest, by noun ---

    /** Queues: counts, pause and resume, settings. */
    public Queues queues() {
        return new Queues(this);
    }

    /** Jobs that failed for good and were kept. */
    public DeadLetters deadLetters() {
        return new DeadLetters(this);
    }

    /** Schedules. */
    public Cron cron() {
        return new Cron(this);
    }

    /** Many jobs in one request, each with an outcome of its own. */
    public Bulk bulk() {
        return new Bulk(this);
    }

    /** Job trains: which there are, what is in one, holding one and letting it go on. */
    public Trains trains() {
        return new Trains(this);
    }

    /** Tenants of the server: their limits, their jobs, suspending one. For operators. */
    public Tenants tenants() {
        return new Tenants(this);
    }

    /** Limits of keys. */
    public RateLimits rateLimits() {
        return new RateLimits(this);
    }

    /** Workers: what they do, and directives to them. */
    public Workers workers() {
        return new Workers(this);
    }

    /** How a job ended, once it has: waits for the end of the job as long as it takes. */
    public JobResult waitForResult(String id) {
        return waitForResult(id, null);
    }

    /**
     * How a job ended, once it has. Waits at most this long, and throws {@link OJSException.Timeout} when the job has
     * not ended by then.
     *
     * {@snippet :
     * Object sum = client.waitForResult(job.id(), Duration.ofSeconds(30)).result();
     * }
     */
    public JobResult waitForResult(String id, Duration timeout) {
        long end = timeout == null ? 0 : System.nanoTime() + Durations.notNegative("timeout", timeout).toNanos();
        while (true) {
            Duration left = timeout == null ? HELD_BACK : Duration.ofNanos(Math.max(end - System.nanoTime(), 0));
            Duration wait = left.compareTo(HELD_BACK) > 0 ? HELD_BACK : left;
            String path = Operation.query(Operation.at("jobs", id, "result"),
                    Operation.members("wait", "true", "timeout", (wait.toMillis() + 999) / 1000));
            try {
                return run(Operation.read("GET", path, null, JobResult::of).waiting(wait));
            } catch (OJSException.Api e) {
                if (e.status() != 408) throw e;
                if (timeout != null && System.nanoTime() - end >= 0) {
                    OJSException.About about = new OJSException.About("timeout", true, 0, null, null, null, null);
                    String message = "job " + id + " has not ended within " + Durations.text(timeout);
                    throw new OJSException.Timeout(message, about, e);
                }
            }
        }
    }

    /**
     * The same.
     *
     * @deprecated Other languages call it by another name: use {@link #waitForResult}.
     */
    @Deprecated
    public JobResult result(String id, Duration wait) {
        return waitForResult(id, wait);
    }

    /** Events as they happen: from now on, or after one that was seen. */
    public Events events() {
        return new Events(this);
    }

    // --- without waiting ---

    /** As {@link #enqueue(String, Object...)}. */
    public CompletableFuture<Job> enqueueAsync(String type, Object... args) {
        return enqueueAsync(JobRequest.of(type, args));
    }

    /** As {@link #enqueue(JobRequest)}. Middleware may wait for what is inside it: with middleware a virtual thread does so. */
    public CompletableFuture<Job> enqueueAsync(JobRequest request) {
        if (layers().isEmpty()) return runAsync(Operation.enqueue(tenanted(request)));
        return Async.supply(() -> enqueue(request));
    }

    /** As {@link #enqueueBatch}. */
    public CompletableFuture<List<Job>> enqueueBatchAsync(List<JobRequest> requests) {
        if (!layers().isEmpty() || requests.isEmpty()) return Async.supply(() -> enqueueBatch(requests));
        return runAsync(Operation.enqueueBatch(kept(requests)));
    }

    /** As {@link #getJob}. */
    public CompletableFuture<Job> getJobAsync(String id) {
        return runAsync(Operation.getJob(id));
    }

    /** As {@link #cancelJob}. */
    public CompletableFuture<Job> cancelJobAsync(String id) {
        return runAsync(Operation.cancelJob(id));
    }

    /** As {@link #workflow}. */
    public CompletableFuture<WorkflowStatus> workflowAsync(Workflow definition) {
        return runAsync(Operation.workflow(definition));
    }

    /** As {@link #request}. */
    public CompletableFuture<Object> requestAsync(String method, String path, Object body) {
        return runAsync(Operation.any(method, path, body));
    }

    // --- server ---

    /**
     * Any call of the protocol: {@code path} is relative to {@code /ojs/v1} (or is {@code /ojs/manifest}), {@code body} a value that
     * {@link Json} writes, or null. What comes back is the body of a 2xx answer, or null when it has none.
     */
    public Object request(String method, String path, Object body) {
        return run(Operation.any(method, path, body));
    }

    /** Releases the connection; an embedded engine is flushed. Later calls throw {@link OJSException.Closed}. */
    @Override
    public void close() {
        connection.close();
    }

    /** Where it leads; never a password, a token or a key. */
    @Override
    public String toString() {
        String url = connection.url();
        return "OJSClient[" + (url.isEmpty() ? "transport" : Redacted.url(url)) + "]";
    }

    // --- inside ---

    Connection connection() {
        return connection;
    }

    @Override
    <T> T run(Operation<T> operation) {
        return operation.answer(connection.call(operation.method(), operation.path(), operation.bytes(), operation.patience()));
    }

    /** The future is completed on a virtual thread: what hangs on it may wait. */
    <T> CompletableFuture<T> runAsync(Operation<T> operation) {
        return connection.callAsync(operation.method(), operation.path(), operation.bytes())
                .thenApplyAsync(operation::answer, Async.EXECUTOR);
    }

    /** Settings of a client. */
    public static final class Builder {
        private String url;
        private Transport transport;

        private Builder() {
            Environment said = Environment.read();
            url = said.text("url");
            take(said);
        }

        /** Where it leads; never a password, a token or a key. */
        @Override
        public String toString() {
            return "OJSClient.Builder[" + Redacted.url(url) + "]";
        }

        /**
         * Where to: see {@link OJSClient#connect(String)}. Without it, and with an empty text or null, {@code OJS_URL},
         * else {@code http://localhost:8080}.
         */
        public Builder url(String url) {
            if (url != null && !url.isEmpty()) this.url = url;
            return this;
        }

        /** A header of every request. */
        public Builder header(String name, String value) {
            headers.add(name);
            headers.add(value);
            return this;
        }

        // gen:java/settings.j2:client (make gen; do not edit)
        private String authToken;
        private final List<String> headers = new ArrayList<>();
        private String tenant;
        private Duration timeout;
        private Duration connectTimeout;
        private int maxSends;
        private String caFile;
        private String certFile;
        private String keyFile;
        private String encryptionKeys;
        private long maxResponseBytes;
        private String proxy;

        /** Takes what the environment says, before a method says otherwise. */
        private void take(Environment said) {
            authToken = said.text("auth_token");
            caFile = said.text("ca_file");
            List<String> cert = said.texts("client_cert");
            if (!cert.isEmpty()) clientCert(Path.of(cert.get(0)), Path.of(cert.get(1)));
            encryptionKeys = said.text("encryption_keys");
            maxResponseBytes = said.number("max_response_bytes");
            proxy = said.text("proxy");
        }

        /** The bearer token. Without it {@code OJS_AUTH_TOKEN}. */
        public Builder authToken(String authToken) {
            this.authToken = authToken;
            return this;
        }

        /** Further headers of every request. */
        public Builder headers(Map<String, String> more) {
            more.forEach(this::header);
            return this;
        }

        /** The tenant of all requests: the client sees and changes what belongs to it, and its jobs are the tenant's. */
        public Builder tenant(String tenant) {
            this.tenant = tenant;
            return this;
        }

        /** For a whole call; a long poll's wait is added. Without it 30 s. */
        public Builder timeout(Duration timeout) {
            this.timeout = Durations.longerThanNone("timeout", timeout);
            return this;
        }

        /** For connecting. Without it 5 s. */
        public Builder connectTimeout(Duration connectTimeout) {
            this.connectTimeout = Durations.longerThanNone("connectTimeout", connectTimeout);
            return this;
        }

        /** How often a request that did not arrive is sent, the first time included. Without it 5. */
        public Builder maxSends(int maxSends) {
            this.maxSends = atLeastOne("maxSends", maxSends);
            return this;
        }

        /** Certificates to trust, a PEM file. Without it {@code OJS_TLS_CA_FILE}. */
        public Builder caFile(Path caFile) {
            this.caFile = Given.some("caFile", caFile).toString();
            return this;
        }

        /** The client's own certificate and its key, PEM files. Without it {@code OJS_TLS_CERT_FILE} and {@code
         * OJS_TLS_KEY_FILE}. */
        public Builder clientCert(Path certificate, Path key) {
            certFile = Given.some("clientCert", certificate).toString();
            keyFile = Given.some("clientCert", key).toString();
            return this;
        }

        /** Encrypts the arguments of jobs, and decrypts them in workers; the first key is the one for new jobs. {@code
         * name:key,name:key}, where a key is 64 hexadecimal characters, or base64 of 32 bytes. Without it {@code
         * OJS_ENCRYPTION_KEYS}. */
        public Builder encryptionKeys(String encryptionKeys) {
            this.encryptionKeys = encryptionKeys;
            return this;
        }

        /** Most bytes of one answer (256 MiB); a longer one is an error, and what it asked for may have happened.
         * Without it {@code OJS_MAX_RESPONSE_BYTES}, else {@code 268435456}. */
        public Builder maxResponseBytes(long maxResponseBytes) {
            this.maxResponseBytes = atLeastOne("maxResponseBytes", maxResponseBytes);
            return this;
        }

        /** {@code environment}: requests go through the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names; {@code
         * none}: those variables are not read. Requests to a loopback address go through none. Without it {@code
         * OJS_PROXY}, else {@code environment}. */
        public Builder proxy(Proxy proxy) {
            this.proxy = Given.some("proxy", proxy).word();
            return this;
        }

        /** What the core is given. */
        NativeClient.Options options() {
            return new NativeClient.Options(
                    authToken,
                    List.copyOf(headers),
                    tenant,
                    timeout,
                    connectTimeout,
                    maxSends,
                    caFile,
                    certFile, keyFile,
                    encryptionKeys,
                    maxResponseBytes,
                    proxy);
        }

        private static int atLeastOne(String name, int given) {
            if (given < 1) throw new OJSException.Validation(name + " must be at least 1, got " + given);
            return given;
        }

        private static long atLeastOne(String name, long given) {
            if (given < 1) throw new OJSException.Validation(name + " must be at least 1, got " + given);
            return given;
        }
        // gen:end

        /** Replaces the network, for workers and relays with this client, too. Requests come on any thread, and many at a time. */
        public Builder transport(Transport instead) {
            transport = instead;
            return this;
        }

        /** The client. */
        public OJSClient build() {
            Connection connection =
                    transport != null ? new Connection(transport) : new Connection(new NativeClient(url, options()));
            return new OJSClient(connection, tenant, new MiddlewareChain<>(MiddlewareChain.ENQUEUE_ORDER));
        }
    }
}
