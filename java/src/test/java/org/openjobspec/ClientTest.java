package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.Support.eventually;

import java.math.BigInteger;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.Support.Bench;
import org.openjobspec.Support.Kind;

class ClientTest {
    @ParameterizedTest
    @EnumSource
    void whatIsSentComesBack(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            List<Object> treasure = Arrays.asList("žluťoučký kůň 馬 🐎 \u0000", Long.MAX_VALUE, new BigInteger("-123456789012345678901234567890"),
                    null, Map.of("nested", List.of(true, "")));
            Job sent = bench.client.job("email.send", treasure).queue(bench.queue).priority(7).tags("a", "ü").meta("tenant", Map.of("id", 7L))
                    .retry(RetryPolicy.attempts(4).withMaxInterval(Duration.ofMinutes(10))).delay(Duration.ofHours(1)).enqueue();
            Job job = bench.client.getJob(sent.id());
            assertEquals(treasure, job.args());
            assertEquals(List.of("email.send", bench.queue, 7, 4, "scheduled"), List.of(job.type(), job.queue(), job.priority(), job.maxAttempts(), job.state()));
            assertEquals(List.of("a", "ü"), job.tags());
            assertEquals(Map.of("tenant", Map.of("id", 7L)), job.meta());
            assertTrue(job.scheduledAt().isAfter(Instant.now().plus(Duration.ofMinutes(59))));
            assertTrue(Duration.between(job.createdAt(), Instant.now()).abs().toMinutes() < 5);
            assertNull(job.completedAt());
            assertEquals(0, job.attempt());
        }
    }

    @ParameterizedTest
    @EnumSource
    void argumentsAreAList(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            assertEquals(List.of(), bench.client.enqueue("a").args());
            assertEquals(List.of(1L, "b"), bench.client.enqueue("a", 1, "b").args());
            assertEquals(List.of(1L, "b"), bench.client.enqueue("a", List.of(1, "b")).args());
            assertEquals(List.of(Map.of("url", "x")), bench.client.enqueue("a", Map.of("url", "x")).args());
            assertThrows(OJSException.Validation.class, () -> bench.client.enqueue(""));
            assertThrows(OJSException.Validation.class, () -> bench.client.enqueue("a", new Object()));
            assertThrows(OJSException.InvalidRequest.class, () -> bench.client.enqueue("Not A Type"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void errorsHaveTheClassAndTheCodeOfTheCore(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            OJSException.NotFound missing = assertThrows(OJSException.NotFound.class, () -> bench.client.getJob("0190a0a0-0000-7000-8000-000000000000"));
            assertEquals(404, missing.status());
            assertEquals("not_found", missing.code());
            assertFalse(missing.retryable());
            UniquePolicy once = UniquePolicy.by("type", "queue").withPeriod(Duration.ofHours(1));
            Job first = bench.job("cache.warm").unique(once).enqueue();
            OJSException.Duplicate twice = assertThrows(OJSException.Duplicate.class, () -> bench.job("cache.warm").unique(once).enqueue());
            assertEquals(first.id(), twice.existingJobId());
            assertInstanceOf(OJSException.Conflict.class, twice);
            assertEquals("cancelled", bench.client.cancelJob(first.id()).state());
            assertThrows(OJSException.InvalidStateTransition.class, () -> bench.client.cancelJob(first.id()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void batchIsAllOrNothing(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            List<Job> jobs = bench.client.enqueueBatch(IntStream.range(0, 100).mapToObj(n -> JobRequest.of("a", n).queue(bench.queue)).toList());
            assertEquals(IntStream.range(0, 100).mapToObj(n -> List.<Object>of((long) n)).toList(), jobs.stream().map(Job::args).toList());
            assertThrows(OJSException.InvalidRequest.class, () -> bench.client.enqueueBatch(List.of(JobRequest.of("a"), JobRequest.of("Bad Type"))));
            assertEquals(100L, bench.client.queues().stats(bench.queue).get("available"));
            assertEquals(List.of(), bench.client.enqueueBatch(List.of()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void bulkTellsOfEach(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            List<Bulk.Item> items = bench.client.bulk().enqueue(List.of(JobRequest.of("a", 1).queue(bench.queue), JobRequest.of("Bad Type"), JobRequest.of("b").queue(bench.queue)));
            assertEquals(List.of(true, false, true), items.stream().map(Bulk.Item::ok).toList());
            assertInstanceOf(OJSException.InvalidRequest.class, items.get(1).error());
            Bulk.Result result = bench.client.bulk().cancel(Bulk.Target.ids(List.of(items.get(0).job().id(), "0190a0a0-0000-7000-8000-000000000000")));
            assertEquals(1, result.succeeded());
            assertInstanceOf(OJSException.NotFound.class, result.items().get(1).error());
            assertEquals(1, bench.client.bulk().cancel(Bulk.Target.where(Bulk.Filter.ofQueue(bench.queue))).succeeded());
            assertThrows(OJSException.Validation.class, () -> Bulk.Target.where(Bulk.Filter.ofQueue(null)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aListIsLongerThanAPage(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            List<String> many = IntStream.range(0, 51).mapToObj(n -> bench.queue + "-" + n).toList();
            bench.client.enqueueBatch(many.stream().map(queue -> JobRequest.of("a").queue(queue)).toList());
            List<Object> listed = bench.client.queues().list().stream().map(queue -> queue.get("name")).toList();
            assertTrue(listed.containsAll(many), listed.toString());
        }
    }

    @ParameterizedTest
    @EnumSource
    void queuesAndDeadLetters(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            assertEquals(true, bench.client.queues().pause(bench.queue).get("paused") instanceof Boolean paused ? paused : true);
            Job job = bench.job("fail").retry(RetryPolicy.attempts(1).withOnExhaustion(RetryPolicy.OnExhaustion.DEAD_LETTER)).enqueue();
            bench.worker().register("fail", ctx -> {
                throw new IllegalStateException("always");
            }).start();
            bench.client.queues().resume(bench.queue);
            bench.ended(job, "discarded");
            DeadLetters.Filter mine = DeadLetters.Filter.ofQueue(bench.queue);
            assertEquals(List.of(job.id()), bench.client.deadLetters().list(mine, 10, 0).stream().map(Job::id).toList());
            assertEquals(job.id(), bench.client.deadLetters().get(job.id()).id());
            assertEquals(1, bench.client.deadLetters().retryAll(mine));
            bench.ended(job, "discarded");
            eventually(() -> bench.client.deadLetters().discardAll(mine) == 1);
            assertEquals(List.of(), bench.client.deadLetters().list(mine, 0, 0));
            assertTrue(bench.client.queues().list().stream().anyMatch(queue -> bench.queue.equals(queue.get("name"))));
        }
    }

    @ParameterizedTest
    @EnumSource
    void queueSettingsAndPurge(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            bench.client.queues().create(bench.queue, Map.of("concurrency", 20));
            assertEquals(1000L, Members.of(bench.client.queues().configure(bench.queue, Map.of("max_size", 1000)).get("config")).get("max_size"));
            bench.client.enqueueBatch(List.of(JobRequest.of("a").queue(bench.queue), JobRequest.of("b").queue(bench.queue)));
            assertThrows(OJSException.Conflict.class, () -> bench.client.queues().delete(bench.queue));
            assertEquals(2, bench.client.queues().purge(bench.queue, "available"));
            bench.client.queues().delete(bench.queue);
        }
    }

    @ParameterizedTest
    @EnumSource
    void cronIsKept(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            String name = Support.unique("nightly");
            bench.client.cron().register(name, "0 3 * * *", java.time.ZoneId.of("Europe/Prague"), JobRequest.of("report.make", 1).queue(bench.queue));
            Map<String, Object> entry = bench.client.cron().list().stream().filter(one -> name.equals(one.get("name"))).findFirst().orElseThrow();
            assertEquals("Europe/Prague", entry.get("timezone"));
            bench.client.cron().delete(name);
            assertFalse(bench.client.cron().list().stream().anyMatch(one -> name.equals(one.get("name"))));
        }
    }

    @ParameterizedTest
    @EnumSource
    void resultsAreWaitedFor(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            Job job = bench.job("sum", 1, 2).enqueue();
            OJSException early = assertThrows(OJSException.class, () -> bench.client.result(job.id()));
            assertEquals(408, early.status());
            CompletableFuture<JobResult> waiting =
                    Async.supply(() -> bench.client.waitForResult(job.id(), Support.PATIENCE));
            OJSException.Timeout over = assertThrows(OJSException.Timeout.class,
                    () -> bench.client.waitForResult(job.id(), Duration.ofMillis(20)));
            assertEquals(List.of("timeout", true), List.of(over.code(), over.retryable()));
            bench.worker().register("sum", ctx -> ctx.arg(0, int.class) + ctx.arg(1, int.class)).start();
            JobResult result = waiting.join();
            assertEquals(List.of(true, 3L, job.id(), 1), List.of(result.ok(), result.result(), result.jobId(), result.attempt()));
            assertEquals(3L, bench.client.results(List.of(job.id())).getFirst().result());
        }
    }

    @ParameterizedTest
    @EnumSource
    void eventsAreFollowed(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            Job before = bench.job("a").enqueue();
            var events = bench.client.events().queues(bench.queue).types("job.*").after("").iterator();
            Event first = events.next();
            assertEquals(List.of("job.enqueued", before.id()), List.of(first.type(), first.subject()));
            CompletableFuture<Event> next = Async.supply(events::next);
            Job after = bench.job("b").enqueue();
            assertEquals(after.id(), next.join().subject());
        }
    }

    @ParameterizedTest
    @EnumSource
    void futuresAndVirtualThreads(Kind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            List<CompletableFuture<Job>> many = IntStream.range(0, 200).mapToObj(n -> bench.job("a", n).enqueueAsync()).toList();
            assertEquals(200, many.stream().map(CompletableFuture::join).map(Job::id).distinct().count());
            assertEquals(2, bench.client.enqueueBatchAsync(List.of(JobRequest.of("a"), JobRequest.of("b"))).join().size());
            assertEquals("a", bench.client.getJobAsync(many.getFirst().join().id()).thenApply(Job::type).join());
            CompletionException failed = assertThrows(CompletionException.class, () -> bench.client.getJobAsync("missing").join());
            assertInstanceOf(OJSException.NotFound.class, failed.getCause());
            assertEquals("cancelled", bench.client.cancelJobAsync(many.getFirst().join().id()).join().state());
            try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                var jobs = IntStream.range(0, 200).mapToObj(n -> threads.submit(() -> bench.client.enqueue("a", n))).toList();
                for (var job : jobs) assertEquals("available", job.get().state());
                assertInstanceOf(OJSException.NotFound.class, assertThrows(java.util.concurrent.ExecutionException.class,
                        () -> threads.submit(() -> bench.client.getJob("missing")).get()).getCause());
            }
            eventually(() -> NativeClient.underWay() == 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void workflows(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            Workflow etl = Workflow.chain(JobRequest.of("data.fetch", Map.of("url", "x")).queue(bench.queue),
                    Workflow.group(JobRequest.of("data.clean").queue(bench.queue), JobRequest.of("data.check").queue(bench.queue)),
                    JobRequest.of("data.load", "warehouse").queue(bench.queue)).named("nightly");
            WorkflowStatus started = bench.client.workflow(etl);
            assertEquals(List.of("chain", "nightly"), List.of(started.type(), started.name()));
            assertEquals("cancelled", bench.client.cancelWorkflow(started.id()).state());
            WorkflowStatus batch = bench.client.workflowAsync(Workflow.batch(JobRequest.of("email.send", "a@example.com").queue(bench.queue))
                    .onComplete(JobRequest.of("batch.report").queue(bench.queue)).onFailure(JobRequest.of("batch.alert").queue(bench.queue))).join();
            assertEquals("batch", batch.type());
            assertThrows(OJSException.Validation.class, Workflow::chain);
            assertThrows(OJSException.Validation.class, () -> Workflow.chain(Workflow.node("a", JobRequest.of("a"))));
            assertThrows(OJSException.Validation.class, () -> Workflow.group(JobRequest.of("a")).onComplete(JobRequest.of("b")));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aGraphInTheWordsOfTheWire(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            bench.worker().register("*", ctx -> ctx.type()).start();
            Map<String, Object> options = Map.of("queue", bench.queue);
            WorkflowStatus started = bench.client.workflow(Map.of("name", "diamond", "steps", List.of(
                    Map.of("id", "a", "type", "first", "args", List.of(), "options", options),
                    Map.of("id", "b", "type", "second", "args", List.of(), "options", options, "depends_on", List.of("a")))));
            eventually(() -> bench.client.getWorkflow(started.id()).state().equals("completed"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void limitsOfKeys(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            String key = Support.unique("key");
            bench.job("a").option("rate_limit", Map.of("key", key, "concurrency", 3)).enqueue();
            assertTrue(bench.client.rateLimits().list().stream().anyMatch(one -> key.equals(one.get("key"))));
            bench.client.rateLimits().override(key, Map.of("concurrency", 2), Instant.now().plus(Duration.ofHours(1)));
            assertEquals(2L, Members.of(bench.client.rateLimits().get(key).get("concurrency")).get("limit"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClosedClientSaysSo(Kind kind) {
        OJSClient client = OJSClient.connect(kind.url());
        client.health();
        assertTrue(client.manifest().containsKey("specversion"));
        client.close();
        client.close();
        assertThrows(OJSException.Closed.class, client::health);
        assertThrows(OJSException.Closed.class, () -> client.enqueueAsync("a"));
        assertThrows(OJSException.Closed.class, () -> OJSWorker.of(client).register("a", ctx -> 1).start());
    }

    @Test
    void aServerThatIsNotThereAndOneThatDoesNotAnswer() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
             OJSClient client = OJSClient.builder().url("http://127.0.0.1:" + silent.getLocalPort()).timeout(Duration.ofMillis(200)).maxSends(1).build()) {
            OJSException.Timeout late = assertThrows(OJSException.Timeout.class, client::health);
            assertTrue(late.retryable());
            assertEquals(0, late.status());
            silent.close();
            OJSException none = assertThrows(OJSException.Connection.class, () -> OJSClient.builder().url("http://127.0.0.1:1").maxSends(1).build().health());
            assertFalse(none instanceof OJSException.Timeout);
        }
        assertThrows(OJSException.Validation.class, () -> OJSClient.connect("ftp://x"));
        OJSException path = assertThrows(OJSException.Validation.class, () -> OJSClient.connect("jobs.db"));
        assertTrue(path.getMessage().contains("write sqlite:jobs.db"), path.getMessage());
        assertThrows(OJSException.Validation.class, () -> OJSClient.builder().timeout(Duration.ofSeconds(-1)));
        assertThrows(OJSException.Validation.class, () -> OJSClient.builder().maxSends(0));
    }

    @Test
    void jobsInAFileOutliveTheClient(@TempDir Path folder) {
        String url = "sqlite:" + folder.resolve("jobs.db");
        String id;
        try (OJSClient client = OJSClient.connect(url)) {
            id = client.enqueue("a", 1).id();
        }
        try (OJSClient client = OJSClient.connect(url)) {
            assertEquals(List.of(1L), client.getJob(id).args());
        }
    }

    @Test
    void aTransportOfTheProgramsOwnSeesWhatTheWireWouldCarry() {
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        Transport recording = (method, path, body) -> {
            seen.add(method + " " + path + " " + new String(body));
            return Transport.Answer.json(200, Map.of("job", Map.of("id", "test-id", "type", "email.send", "state", "available")));
        };
        try (OJSClient client = OJSClient.builder().transport(recording).build()) {
            assertEquals("test-id", client.enqueue("email.send", "test").id());
            assertEquals("test-id", client.enqueueAsync("email.send").join().id());
            client.getJob("a/b c");
            assertEquals(List.of("POST /jobs {\"type\":\"email.send\",\"args\":[\"test\"]}", "POST /jobs {\"type\":\"email.send\",\"args\":[]}",
                    "GET /jobs/a%2Fb%20c "), seen);
        }
        OJSClient proxy = OJSClient.builder().transport((_, _, _) -> new Transport.Answer(502, "<html>".getBytes())).build();
        assertEquals(502, assertThrows(OJSException.Connection.class, proxy::health).status());
        OJSClient odd = OJSClient.builder().transport((_, _, _) -> Transport.Answer.json(200, List.of())).build();
        assertEquals("unexpected_answer", assertThrows(OJSException.class, () -> odd.getJob("x")).code());
    }

    @Test
    void theCoreSaysWhatAReaderOfEventsAsksAndWhenItEnds() {
        Transport.Answer busy = Transport.Answer.json(503, Map.of("error", Map.of("code", "x", "message", "m")));
        Transport.Answer refused = Transport.Answer.json(401, Map.of("error", Map.of("code", "x", "message", "m")));
        Map<String, Object> event = Map.of("id", "evt_2", "type", "job.enqueued", "subject", "1", "data", Map.of());
        Transport.Answer none = Transport.Answer.json(200, Map.of("events", List.of(), "cursor", "1"));
        Transport.Answer one = Transport.Answer.json(200, Map.of("events", List.of(event), "cursor", "2"));
        List<Transport.Answer> answers = List.of(none, busy, one, refused);
        List<String> asked = new ArrayList<>();
        try (OJSClient client = OJSClient.builder().transport((_, path, _) -> {
            asked.add(path);
            return answers.get(asked.size() - 1);
        }).build()) {
            var events = client.events().types("job.*").queues("q").iterator();
            assertEquals("1", events.next().subject());
            assertThrows(OJSException.Authentication.class, events::next);
        }
        List<String> steps = List.of("latest 0", "1 20000", "1 20000", "2 20000");
        assertEquals(steps.stream().map(step -> "/events?after=%s&types=job.%%2A&queues=q&limit=500&wait_ms=%s"
                .formatted((Object[]) step.split(" "))).toList(), asked);
    }

    @Test
    void headersAndTokensAreSent() throws Exception {
        try (OJSServer server = OJSServer.start()) {
            assertTrue(server.url().startsWith("http://127.0.0.1:"));
            try (OJSClient client = OJSClient.builder().url(server.url()).authToken("secret").headers(Map.of("x-tenant", "acme")).build()) {
                assertEquals("ok", client.health().get("status"));
            }
        }
        assertThrows(OJSException.class, () -> OJSServer.start("nonsense:", "127.0.0.1:0"));
    }

    @Test
    void aServerAsksForTheKeysOfAFile(@TempDir Path folder) throws Exception {
        assertTrue(assertThrows(OJSException.Validation.class, () -> OJSServer.builder().listen("0.0.0.0:0").insecure(false).start())
                .getMessage().contains("ojs keys add"));
        Path keys = Files.writeString(folder.resolve("keys.json"), """
                {"keys": [{"name": "shop", "roles": ["producer"], "created_at": "2026-01-01T00:00:00Z",
                           "sha256": "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"}]}
                """); // of "secret"
        try (OJSServer server = OJSServer.builder().keys(keys.toString()).insecure(false).start();
             OJSClient stranger = OJSClient.connect(server.url());
             OJSClient client = OJSClient.builder().url(server.url()).authToken("secret").build()) {
            assertEquals("unauthenticated", assertThrows(OJSException.Authentication.class, () -> stranger.enqueue("a")).code());
            assertEquals("available", client.enqueue("a").state());
        }
    }
}
