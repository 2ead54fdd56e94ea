package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.Support.Bench;
import org.openjobspec.Support.Kind;

/** Settings that cannot be, answers that cannot be read, secrets that must not be shown. */
class SettingsTest {
    private static void refused(String text, Executable call) {
        OJSException.Validation wrong = assertThrows(OJSException.Validation.class, call);
        assertTrue(wrong.getMessage().contains(text), () -> text + " is not in " + wrong.getMessage());
    }

    @Test
    void settingsThatCannotBeAreRefusedByName() {
        Duration none = Duration.ZERO;
        Duration less = Duration.ofSeconds(-5);
        JobRequest job = JobRequest.of("a");
        refused("timeout must be longer than 0", () -> job.timeout(none));
        refused("timeout must be zero or more, got PT-5S", () -> job.timeout(less));
        refused("timeout is null", () -> job.timeout(null));
        refused("visibilityTimeout must be longer than 0", () -> job.visibilityTimeout(none));
        refused("totalTimeout must be longer than 0", () -> job.totalTimeout(none));
        refused("delay must be zero or more", () -> job.delay(less));
        refused("resultTtl must be zero or more", () -> job.resultTtl(less));
        assertEquals(List.of(1L, 1L), List.of(job.timeout(Duration.ofNanos(1)).options().get("timeout_ms"),
                job.resultTtl(Duration.ofMillis(1)).options().get("result_ttl")), "rounded up: 0 would mean something else");
        refused("timeout must be longer than 0", () -> OJSClient.builder().timeout(none));
        refused("connectTimeout must be longer than 0", () -> OJSClient.builder().connectTimeout(none));
        refused("maxSends must be at least 1", () -> OJSClient.builder().maxSends(0));
        refused("concurrency must be at least 1", () -> OJSWorker.builder().concurrency(0));
        refused("heartbeatInterval must be longer than 0", () -> OJSWorker.builder().heartbeatInterval(none));
        refused("visibilityTimeout must be longer than 0", () -> OJSWorker.builder().visibilityTimeout(none));
        refused("pollInterval must be longer than 0", () -> OJSWorker.builder().pollInterval(none));
        refused("gracePeriod must be zero or more", () -> OJSWorker.builder().gracePeriod(less));
    }

    /** Most often it is a variable that was forgotten. */
    @Test
    void nullIsRefusedByName() {
        JobRequest job = JobRequest.of("a");
        Map<String, Executable> calls = new LinkedHashMap<>();
        calls.put("queue", () -> job.queue(null));
        calls.put("delayUntil", () -> job.delayUntil((Instant) null));
        calls.put("expiresAt", () -> job.expiresAt((OffsetDateTime) null));
        calls.put("retry", () -> job.retry(null));
        calls.put("unique", () -> job.unique(null));
        calls.put("rateLimit", () -> job.rateLimit(null));
        calls.put("train", () -> job.train((String) null));
        calls.put("tags", () -> job.tags((String[]) null));
        calls.put("version", () -> job.version(null));
        calls.put("tenant", () -> job.tenant(null));
        calls.put("fairnessKey", () -> job.fairnessKey(null));
        calls.put("id", () -> job.id(null));
        calls.put("schema", () -> job.schema(null));
        calls.put("args", () -> JobRequest.of("a", (List<?>) null));
        calls.put("meta", () -> job.meta(null));
        calls.put("queues", () -> OJSWorker.builder().queues((List<String>) null));
        calls.put("caFile", () -> OJSClient.builder().caFile(null));
        calls.put("clientCert", () -> OJSClient.builder().clientCert(null, null));
        calls.put("unknownTypes", () -> OJSWorker.builder().unknownTypes(null));
        calls.forEach((name, call) -> refused(name + " is null: leave it out for the default", call));
        refused("tags[1] is null", () -> job.tags("a", null));
        refused("queues[0] is null", () -> OJSWorker.builder().queues((String) null));
        assertEquals(Map.of(), job.options());
    }

    /** A transport of the program's own is given them too, and middleware sees the request before it gets them. */
    @Test
    void defaultsOfATypeGoOverATransportOfOnesOwn() {
        List<Object> sent = new ArrayList<>();
        OJSClient client = OJSClient.builder().transport((method, path, body) -> {
            sent.add(Members.of(Members.of(Json.parse(body)).get("options")));
            Map<String, Object> job = Map.of("id", "x", "type", "defaults.far", "args", List.of());
            return Transport.Answer.json(201, Map.of("job", job));
        }).build();
        OJSWorker worker = OJSWorker.of(client);
        worker.register("defaults.far", ctx -> null, job -> job.queue("mail").priority(7));
        client.use("layer", (request, next) -> {
            assertEquals(Map.of(), request.options());
            if (!request.args().isEmpty()) request.queue("default").priority(0);
            return next.enqueue(request);
        });
        client.enqueue("defaults.far");
        client.enqueue("defaults.far", 1);
        List<?> wanted = List.of(Map.of("queue", "mail", "priority", 7L), Map.of("queue", "default", "priority", 0L));
        assertEquals(wanted, sent);
    }

    /** Options by name are checked by the core, which knows them all. */
    @ParameterizedTest
    @EnumSource
    void optionsThatThereAreNotAreRefused(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            refused("a path under /jobs needs an id or a name as text, such as job.id(); got null", () -> bench.client.getJob(null));
            refused("a path under /queues needs an id or a name as text, such as job.id(); got ''", () -> bench.client.queues().pause(""));
            refused("did you mean 'retry'", () -> bench.job("a").option("retries", 5).enqueue());
            refused("max_attempts", () -> bench.job("a").option("retry", Map.of("maxAttempts", 5)).enqueue());
            refused("timeout", () -> bench.job("a").option("timeout_ms", 0).enqueue());
            assertEquals(3, bench.job("a").option("retry", 3).option("timeout", "5m").enqueue().maxAttempts());
            Job limited = bench.job("a").rateLimit(Map.of("key", bench.queue, "concurrency", 5)).enqueue();
            assertEquals(bench.queue, bench.client.rateLimits().get(bench.queue).get("key"), limited.toString());
        }
    }

    @Test
    void handlersThatAreNoneAreRefusedWhenTheyAreRegistered() {
        try (OJSClient client = OJSClient.connect("memory:")) {
            OJSWorker worker = OJSWorker.of(client);
            refused("the handler of 'a' is null", () -> worker.register("a", null));
            refused("register needs a job type", () -> worker.register("", ctx -> null));
            refused("register needs a job type", () -> worker.register(null, ctx -> null));
            refused("needs a type, a codec and a handler", () -> TypedJobHandler.of(String.class, null));
            worker.register("a", ctx -> null);
            refused("a handler for 'a' is registered already", () -> worker.register("a", ctx -> null));
        }
    }

    @ParameterizedTest
    @EnumSource
    void defaultsOfATypeAreSentWithItsJobs(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            String type = "defaults." + kind.name().toLowerCase(java.util.Locale.ROOT);
            OJSWorker worker = OJSWorker.of(bench.client).register(type, ctx -> null,
                    job -> job.queue(bench.queue).priority(7).retry(5).timeout(Duration.ofSeconds(30)).tags("a"));
            Job job = bench.client.enqueue(type, 1);
            assertEquals(List.of(bench.queue, 7, 5, List.of("a"), List.of(1L)), List.of(job.queue(), job.priority(), job.maxAttempts(), job.tags(), job.args()));
            List<Job> jobs = bench.client.enqueueBatch(List.of(JobRequest.of(type), JobRequest.of(type).queue(bench.queue + "-b").retry(2).priority(0)));
            assertEquals(List.of(bench.queue, bench.queue + "-b", 2, 0),
                    List.of(jobs.get(0).queue(), jobs.get(1).queue(), jobs.get(1).maxAttempts(), jobs.get(1).priority()));
            assertEquals(0, bench.client.job(type).queue(bench.queue).priority(0).enqueue().priority(), "what the job says, also when it is the server's default");
            WorkflowStatus chain = bench.client.workflow(Workflow.chain(JobRequest.of(type)));
            assertEquals(bench.queue, bench.client.getJob((String) ((Map<?, ?>) chain.steps().getFirst()).get("job_id")).queue());
            refused("'delay_until' belongs to one job", () -> worker.register("x", ctx -> null, one -> one.delay(Duration.ofHours(1))));
            refused("'id' belongs to one job", () -> worker.register("x", ctx -> null, one -> one.id("a")));
            refused("timeout must be longer than 0", () -> worker.register("x", ctx -> null, one -> one.timeout(Duration.ZERO)));
            refused("'*' stands for", () -> worker.register("*", ctx -> null, one -> one.priority(1)));
            worker.register("x", ctx -> null); // what was refused is not registered
        }
    }

    @Test
    void answersThatCannotBeReadAreErrorsOfThisPackage() {
        String[] answer = new String[1];
        OJSClient client = OJSClient.builder().maxSends(1)
                .transport((method, path, body) -> new Transport.Answer(200, answer[0].getBytes(StandardCharsets.UTF_8))).build();
        Map<String, Executable> calls = new LinkedHashMap<>();
        calls.put("enqueue", () -> client.enqueue("a"));
        calls.put("async", () -> client.enqueueAsync("a").join());
        calls.put("batch", () -> client.enqueueBatch(List.of(JobRequest.of("a"))));
        calls.put("get", () -> client.getJob("x"));
        calls.put("workflow", () -> client.getWorkflow("x"));
        calls.put("stats", () -> client.queues().stats("x"));
        calls.put("list", () -> client.listJobs());
        calls.put("retry", () -> client.deadLetters().retryAll(DeadLetters.Filter.ALL));
        calls.put("health", () -> client.health());
        for (String text : List.of("{", "{\"job\":", "<html>", "[1]", "\"text\"", "{\"job\":{\"id\":" + "9".repeat(100_000) + "}}", "{\"job\":null}", "{\"job\":{}}")) {
            answer[0] = text;
            calls.forEach((name, call) -> {
                if (name.equals("health") && text.startsWith("{\"job\":") && text.endsWith("}") && text.length() < 100) return; // an object is all it asks for
                Throwable thrown = assertThrows(RuntimeException.class, call, name + " of " + text.substring(0, Math.min(40, text.length())));
                if (thrown instanceof java.util.concurrent.CompletionException) thrown = thrown.getCause();
                assertEquals("unexpected_answer", assertInstanceOf(OJSException.Api.class, thrown, name + " of " + text).code());
            });
        }
        answer[0] = "{\"job\":{\"id\":\"x\",\"attempt\":123456789012345678901,\"created_at\":\"yesterday\"}}";
        Job odd = client.getJob("x");
        assertThrows(OJSException.Api.class, odd::attempt);
        assertThrows(OJSException.Api.class, odd::createdAt);
        answer[0] = "{\"jobs\":null}";
        assertEquals(List.of(), client.deadLetters().list());
    }

    @Test
    void secretsAreNotShown() {
        String secret = "swordfish";
        OJSClient.Builder builder = OJSClient.builder().url("http://user:" + secret + "@127.0.0.1:1/").authToken(secret).maxSends(1)
                .header("x-key", secret);
        OJSClient client = builder.build();
        OJSWorker worker = OJSWorker.of(client);
        Relay relay = Relay.postgresql(client, "postgresql://app:" + secret + "@127.0.0.1:1/shop");
        for (Object one : List.of(builder, client, worker, relay, assertThrows(OJSException.class, client::health))) {
            assertFalse(one.toString().contains(secret), one.toString());
        }
        assertEquals("OJSClient[http://***@127.0.0.1:1/]", client.toString());
        List<Executable> wrong = List.of(() -> OJSClient.connect("htp://user:" + secret + "@host").health(),
                () -> OJSClient.connect("http://user:" + secret + "@host/?a=b").health(), () -> Relay.url("jdbc:mysql://app:" + secret + "@ho st/shop", null, null), () -> Relay.url("jdbc:postgresql://ho st/shop?password=" + secret, null, null),
                () -> Relay.postgresql(client, "htp://app:" + secret + "@h/d"), () -> Relay.mysql(client, "htp://app:" + secret + "@h/d"));
        for (Executable call : wrong) {
            Throwable thrown = assertThrows(OJSException.class, call);
            for (; thrown != null; thrown = thrown.getCause()) assertFalse(thrown.toString().contains(secret), thrown.toString());
        }
    }

    @Test
    void anEmptyUrlMeansTheOneOfTheEnvironment() {
        try (OJSClient without = OJSClient.connect();
             OJSClient empty = OJSClient.connect("");
             OJSClient none = OJSClient.connect(null)) {
            assertEquals(List.of(without.toString(), without.toString()), List.of(empty.toString(), none.toString()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void jobsAreListedPageByPage(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            List<String> ids = new java.util.ArrayList<>();
            for (int n = 0; n < 3; n++) ids.add(bench.job("list.a", n).enqueue().id());
            ids.add(bench.job("list.b").delay(Duration.ofHours(1)).enqueue().id());
            JobFilter mine = JobFilter.ALL.withQueue(bench.queue).withOldestFirst(true);
            JobPage all = bench.client.listJobs(mine);
            assertEquals(List.of(ids, 4, 1, false), List.of(ids(all), all.total(), all.page(), all.hasMore()));
            assertEquals(ids.subList(3, 4), ids(bench.client.listJobs(mine.withStates("scheduled"))));
            assertEquals(ids.subList(3, 4), ids(bench.client.listJobs(mine.withType("list.b"))));
            assertEquals(List.of(), ids(bench.client.listJobs(mine.withType("list.*").withUntil(Instant.now().minusSeconds(3600)))));
            JobPage first = bench.client.listJobs(mine.withPerPage(3));
            assertEquals(List.of(ids.subList(0, 3), true), List.of(ids(first), first.hasMore()));
            JobPage second = bench.client.listJobs(mine.withPerPage(3).withPage(2));
            assertEquals(List.of(ids.subList(3, 4), 2, false), List.of(ids(second), second.page(), second.hasMore()));
            assertTrue(bench.client.listJobs().jobs().size() <= 20);
            assertThrows(OJSException.InvalidRequest.class, () -> bench.client.listJobs(mine.withSort("color")));
            refused("page must be at least 1", () -> mine.withPage(0));
        }
    }

    private static List<String> ids(JobPage page) {
        return page.jobs().stream().map(Job::id).toList();
    }
}
