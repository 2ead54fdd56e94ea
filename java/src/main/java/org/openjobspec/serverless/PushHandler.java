package org.openjobspec.serverless;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openjobspec.ExecutionMiddleware;
import org.openjobspec.JobHandler;
import org.openjobspec.JobRunner;
import org.openjobspec.JobRunner.Ended;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSException;
import org.openjobspec.OJSWorker;
import org.openjobspec.Webhooks;

/**
 * Answers push deliveries behind any HTTP server, and runs jobs that platforms hand over.
 *
 * {@snippet :
 * static final PushHandler HANDLER = new PushHandler(PushHandler.builder().signingSecrets(secret));
 *
 * HANDLER.register("email.send", ctx -> send(ctx.arg(0, String.class)));
 * var answer = HANDLER.answer(request.getMethod(), headers, request.getInputStream().readAllBytes());
 * }
 *
 * <p>It is made once, and keeps nothing between calls but connections and the answers to push deliveries of late.
 */
public class PushHandler {
    /** The most that the body of a push delivery may have, in bytes: AWS Lambda takes no more. */
    public static final int MAX_BODY = 6 * 1024 * 1024;
    /** The variable with the secrets that no setting gives, with commas between several. */
    public static final String VARIABLE = "OJS_SIGNING_SECRET";
    /** Name the server, where no setting does. */
    private static final List<String> URL_VARIABLES = List.of("OJS_URL", "OJS_BACKEND_URL");
    private static final System.Logger LOG = System.getLogger("org.openjobspec");
    private static final String NO_SECRET = "a push endpoint needs its signing secret: set signingSecrets or "
            + VARIABLE + "; unsigned trusts every request";

    private final Settings settings;
    private final OJSWorker worker;
    private final Deliveries deliveries;
    /** Runs single jobs. */
    final Runs runs;

    /** A handler with settings. */
    public PushHandler(Settings settings) {
        if (settings.unsigned && !settings.secrets.isEmpty()) {
            throw new IllegalArgumentException("unsigned checks no signature, and there are secrets: leave one out");
        }
        this.settings = settings;
        boolean named = settings.url != null
                || URL_VARIABLES.stream().anyMatch(name -> !System.getenv().getOrDefault(name, "").isBlank());
        boolean server = settings.worker != null || named;
        worker = settings.worker != null ? settings.worker : settings.newWorker();
        runs = new Runs(new JobRunner(worker, server));
        // A signature from the future is valid for twice the tolerance.
        deliveries = new Deliveries(settings.tolerance.multipliedBy(2), Deliveries.MOST);
    }

    /** Settings. */
    public static Settings builder() {
        return new Settings();
    }

    /** Settings of a handler. Each method returns the object itself. */
    public static final class Settings {
        private OJSWorker worker;
        private String url;
        private OJSClient.Builder connection = OJSClient.builder();
        private List<String> secrets = secretsOf(System.getenv().getOrDefault(VARIABLE, "").split(","));
        private boolean unsigned;
        private Duration tolerance = Webhooks.TOLERANCE;
        private Duration timeout;
        private Duration margin = Duration.ofSeconds(5);
        private Clock clock = Clock.systemUTC();

        private Settings() {}

        private static List<String> secretsOf(String... secrets) {
            return Arrays.stream(secrets).map(String::strip).filter(secret -> !secret.isEmpty()).toList();
        }

        private OJSWorker newWorker() {
            return OJSWorker.builder().connection(url == null ? connection : connection.url(url)).build();
        }

        /** The worker whose handlers, middleware and connection are used. It is never started. */
        public Settings worker(OJSWorker worker) {
            this.worker = worker;
            return this;
        }

        /**
         * The server that has leased the jobs: outcomes of jobs from queues are reported there. Without it {@code
         * OJS_URL}.
         */
        public Settings ojsUrl(String url) {
            this.url = url;
            return this;
        }

        /** The settings of the connection: a token, encryption keys and so on. */
        public Settings connection(OJSClient.Builder connection) {
            this.connection = connection;
            return this;
        }

        /** The secrets of the push endpoint: two while one is being replaced. Without it {@code OJS_SIGNING_SECRET}. */
        public Settings signingSecrets(String... secrets) {
            this.secrets = secretsOf(secrets);
            return this;
        }

        /** Trusts every request: right only where the platform has checked the caller. */
        public Settings unsigned() {
            unsigned = true;
            return this;
        }

        /** How long ago a request may have been signed; 300 seconds without it. */
        public Settings tolerance(Duration tolerance) {
            this.tolerance = positive("tolerance", tolerance);
            return this;
        }

        /**
         * What the platform allows for one request. Without it there is no limit besides the job's own; Lambda says it
         * itself.
         */
        public Settings timeout(Duration timeout) {
            this.timeout = positive("timeout", timeout);
            return this;
        }

        /** How long before that a run ends, with a failure that is tried again; 5 seconds without it. */
        public Settings safetyMargin(Duration margin) {
            this.margin = positive("safetyMargin", margin);
            return this;
        }

        /** What time it is, for tests. */
        public Settings clock(Clock clock) {
            this.clock = clock;
            return this;
        }

        private static Duration positive(String name, Duration given) {
            if (given.isPositive()) return given;
            throw new IllegalArgumentException(name + ": must be longer than 0, got " + given);
        }
    }

    /** Registers the handler of a job type; {@code *} stands for every other type. */
    public PushHandler register(String type, JobHandler handler) {
        worker.register(type, handler);
        return this;
    }

    /** Adds a layer around every handler; the first one added is the outermost. */
    public PushHandler use(String name, ExecutionMiddleware layer) {
        worker.use(name, layer);
        return this;
    }

    /** The worker whose handlers run. It is never started. */
    public OJSWorker worker() {
        return worker;
    }

    /** The time by which a run must have ended; {@code left} is what the platform allows, or null. */
    final Deadline deadline(Duration left) {
        return new Deadline(left != null ? left : settings.timeout, settings.margin);
    }

    /**
     * The answer to one request: 200 with the outcome of its job, 401 without a valid signature, 400, 405 or 413 for
     * what is no push delivery, and 500 where the handler has no signing secret.
     *
     * @param method the method of the request
     * @param headers all headers: names in any case, each with its values
     * @param body the body byte for byte as it arrived
     */
    public Answer answer(String method, Map<String, List<String>> headers, byte[] body) {
        return answer(method, headers, body, deadline(null));
    }

    final Answer answer(String method, Map<String, List<String>> headers, byte[] body, Deadline deadline) {
        if (!"POST".equals(method)) {
            Answer refusal = Answer.refusal(405, "method_not_allowed", "a push delivery is a POST request", null);
            return refusal.with("allow", "POST");
        }
        if (body.length > MAX_BODY) {
            return Answer.refusal(413, "payload_too_large", "a push delivery has at most " + MAX_BODY + " bytes", null);
        }
        if (settings.secrets.isEmpty() && !settings.unsigned) {
            // 401 would end the job and disable the endpoint, although only a setting is missing.
            LOG.log(System.Logger.Level.ERROR, NO_SECRET);
            String why = "the function has no signing secret: its log says what to set";
            return Answer.refusal(500, "internal_error", why, null);
        }
        try {
            Instant now = settings.clock.instant();
            if (!settings.unsigned) Webhooks.verify(body, headers, settings.secrets, settings.tolerance, now);
            Delivery delivery = Delivery.read(body);
            // The header with the delivery's id is not signed, the body is.
            String key = delivery.id() != null ? delivery.id() : digest(body);
            return deliveries.once(key, now, () -> Answer.json(200, told(runs.run(delivery, deadline), null)));
        } catch (OJSException.UntrustedWebhook e) {
            return Answer.refusal(401, "unauthenticated", e.getMessage(), e.details());
        } catch (InvalidDeliveryException e) {
            return Answer.refusal(400, e.code(), e.getMessage(), null);
        }
    }

    private static String digest(byte[] body) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body));
        } catch (NoSuchAlgorithmException e) { // every Java has it
            throw new IllegalStateException(e);
        }
    }

    /** A handler for the HTTP server that comes with Java. */
    public com.sun.net.httpserver.HttpHandler httpHandler() {
        return exchange -> {
            try (exchange) {
                byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY + 1);
                Answer answer = answer(exchange.getRequestMethod(), exchange.getRequestHeaders(), body);
                answer.headers().forEach((name, value) -> exchange.getResponseHeaders().set(name, value));
                exchange.sendResponseHeaders(answer.status(), answer.body().length);
                exchange.getResponseBody().write(answer.body());
            } catch (IOException e) {
                LOG.log(System.Logger.Level.DEBUG, "the caller has gone", e);
            }
        };
    }

    /**
     * Runs one job for a platform that takes an exception as a failure, and returns {@code status}, {@code job_id}, and
     * {@code result} or {@code error}. For Azure's queue triggers, and for what else hands over messages.
     *
     * @param job a job, or the body of a push delivery
     * @param count how often the platform has delivered it, 1 the first time
     * @throws DeliveryFailedException when the job has failed and no server knows: the platform shall deliver it again
     * @throws InvalidDeliveryException when it is no job
     */
    public Map<String, Object> deliver(String job, int count) {
        return deliver(Delivery.read(job.getBytes(StandardCharsets.UTF_8)), count, deadline(null));
    }

    final Map<String, Object> deliver(Delivery delivery, int count, Deadline deadline) {
        String id = delivery.job().id();
        if (count > 1 && runs.isStale(delivery)) return Map.of("status", "stale", "job_id", id);
        Runs.Settled settled = runs.settle(delivery, deadline);
        Ended ended = settled.ended();
        if (settled.taken()) return told(ended, id);
        if (ended.members().get("error") instanceof Map<?, ?> error) {
            boolean retryable = Boolean.TRUE.equals(error.get("retryable"));
            String message = String.valueOf(error.get("message"));
            throw new DeliveryFailedException(message, String.valueOf(error.get("code")), retryable);
        }
        throw new DeliveryFailedException("the job is done, and the server could not be told", "not_reported", true);
    }

    /**
     * Runs the job in the data of a CloudEvent of Google Pub/Sub, or the job that is the data itself, and reports its
     * outcome.
     *
     * @param data the data of the event, JSON
     * @throws DeliveryFailedException when the job has failed and no server knows: the event comes again
     * @throws InvalidDeliveryException when there is no job in it
     */
    public void handlePubSub(byte[] data) {
        Object value = Delivery.parsed("the data of the event", data);
        Map<String, Object> event = Delivery.object(value, "the data of the event must be an object");
        if (!(event.get("message") instanceof Map<?, ?> message)) {
            deliver(Delivery.of(event), 1, deadline(null));
            return;
        }
        byte[] job;
        try {
            job = Base64.getDecoder().decode(String.valueOf(message.get("data")));
        } catch (IllegalArgumentException e) {
            throw new InvalidDeliveryException("'data' of the Pub/Sub message is not base64");
        }
        int count = event.get("deliveryAttempt") instanceof Number number ? number.intValue() : 1;
        deliver(Delivery.read(job), count, deadline(null));
    }

    /** What callers learn of an outcome; {@code id} may be null. */
    static Map<String, Object> told(Ended ended, String id) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("status", ended.completed() ? "completed" : "failed");
        if (id != null) told.put("job_id", id);
        told.putAll(ended.members());
        return told;
    }
}
