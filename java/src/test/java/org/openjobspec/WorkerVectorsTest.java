package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The vectors of workers, chains, policies and keys. {@code tests/vectors/judge.py} is the server that workers talk to. */
class WorkerVectorsTest {
    private static final Path FOLDER = Support.ROOT.resolve("tests/vectors");
    private static Process judge;
    private static String address;

    @BeforeAll
    static void start() throws IOException {
        judge = new ProcessBuilder("python3", FOLDER.resolve("judge.py").toString()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        address = judge.inputReader().readLine().replace("listening on ", "");
    }

    @AfterAll
    static void end() throws IOException {
        // It ends with its standard input.
        judge.outputWriter().close();
    }

    private static Map<String, Map<String, Object>> verdicts(String kind) throws Exception {
        Map<String, Map<String, Object>> found = new HashMap<>();
        try (HttpClient http = HttpClient.newHttpClient()) {
            var answer = http.send(HttpRequest.newBuilder(URI.create(address + "/verdicts/" + kind)).build(), HttpResponse.BodyHandlers.ofByteArray());
            for (Object one : (List<?>) Json.parse(answer.body())) found.put(Members.text(Members.of(one), "name"), Members.of(one));
        }
        return found;
    }

    private static void judged(Map<String, Object> verdict) {
        assertEquals(verdict.get("expected"), verdict.get("found"));
    }

    private static OJSWorker.Builder worker(String queue) {
        return OJSWorker.builder().connection(OJSClient.builder().url(address).maxSends(1)).queues(queue).heartbeatInterval(Duration.ofMillis(20));
    }

    /** The handler that does what its argument says. */
    private static Object does(JobContext ctx) throws Exception {
        Map<String, Object> what = Members.of(ctx.args().getFirst());
        if (what.containsKey("fail")) throw new IllegalStateException(Members.text(what, "fail"));
        if (what.containsKey("refuse")) {
            Map<String, Object> details = what.containsKey("details") ? Members.of(what.get("details")) : null;
            throw new NonRetryableException(Members.text(what, "refuse"), (String) what.getOrDefault("code", "non_retryable"), details);
        }
        if (what.containsKey("snooze_ms")) throw new SnoozeException(Duration.ofMillis((Long) what.get("snooze_ms")));
        if (what.containsKey("unserializable")) return new Object();
        if (what.containsKey("wait") || what.containsKey("wait_and_return")) {
            CountDownLatch told = new CountDownLatch(1);
            ctx.onCancel(_ -> told.countDown());
            if (!ctx.cancelled()) {
                try {
                    told.await();
                } catch (InterruptedException e) {
                    // Told by the other way.
                }
            }
            if (what.containsKey("wait")) ctx.throwIfCancelled();
            return what.get("wait_and_return");
        }
        return what.get("return");
    }

    @TestFactory
    Stream<DynamicTest> outcomes() throws Exception {
        OJSWorker worker = worker("outcomes").workerId("vectors").build().register("vector", WorkerVectorsTest::does).start();
        var found = verdicts("outcomes");
        worker.stop(Duration.ZERO);
        List<String> members = List.of("type", "does", "requests", "job", "cancelled", "answers"); // the judge's
        return Vectors.each("outcomes", members, vector -> judged(found.get(Members.text(vector, "name"))));
    }

    @TestFactory
    Stream<DynamicTest> lives() {
        List<String> members = List.of("jobs", "steps", "concurrency", "grace_ms", "requests", "directive");
        return Vectors.each("lives", members, vector -> {
            String name = Members.text(vector, "name");
            OJSWorker worker = worker(name).workerId(name).concurrency(Members.number(vector, "concurrency", 0))
                    .gracePeriod(Duration.ofMillis(Members.number(vector, "grace_ms", 0))).build();
            Semaphore began = new Semaphore(0);
            CountDownLatch go = new CountDownLatch(1);
            worker.register("hold", ctx -> {
                began.release();
                while (!go.await(2, TimeUnit.MILLISECONDS)) ctx.throwIfCancelled();
                return null;
            }).start();
            for (Object step : Members.list(vector, "steps")) {
                switch ((String) step) {
                    case "began" -> assertTrue(began.tryAcquire(Members.list(vector, "jobs").size(), Support.PATIENCE.toSeconds(), TimeUnit.SECONDS));
                    case "go" -> go.countDown();
                    case "quiet" -> worker.quiet();
                    case "stop" -> worker.shutdown();
                    case "stop_now" -> worker.shutdown(Duration.ZERO);
                    case "stopped" -> worker.over().get(Support.PATIENCE.toSeconds(), TimeUnit.SECONDS);
                    default -> throw new AssertionError(step);
                }
            }
            judged(verdicts("lives").get(name));
        });
    }

    /**
     * {@code tests/vectors/published.py}: no exchange, no route for results, attempts from 0, lists that are null,
     * other forms of errors.
     */
    @Test
    void aPublishedServerCostsFeaturesAndNoJobs() throws Exception {
        String url;
        try (HttpClient http = HttpClient.newHttpClient()) {
            var request = HttpRequest.newBuilder(URI.create(address + "/published")).build();
            var answer = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
            url = Members.text(Members.of(Json.parse(answer.body())), "url");
        }
        try (OJSClient client = OJSClient.connect(url)) {
            OJSWorker worker = OJSWorker.builder().client(client).workerId("w")
                    .heartbeatInterval(Duration.ofMillis(20)).build();
            worker.register("email.send", ctx -> {
                if (ctx.attempt() == 1) throw new IllegalStateException("the first attempt fails");
                return ctx.attempt();
            }).start();
            Job job = client.enqueue("email.send", 7);
            assertEquals(2L, client.waitForResult(job.id(), Support.PATIENCE).result());
            worker.stop(Duration.ZERO);
            assertEquals(List.of(), client.queues().list());
            assertEquals(List.of(), client.deadLetters().list());
            assertEquals(List.of(), client.cron().list());
            String unknown = "019461a8-0000-7000-8000-00000000ffff";
            assertThrows(OJSException.NotFound.class, () -> client.getJob(unknown));
            assertThrows(OJSException.NotFound.class, () -> client.cancelJob(unknown));
        }
    }

    @TestFactory
    Stream<DynamicTest> policies() {
        return Vectors.each("policies", List.of("type", "args", "options", "error"), vector -> {
            try (OJSClient client = OJSClient.connect("memory:")) {
                JobRequest request = JobRequest.of(Members.text(vector, "type"), Members.list(vector, "args"));
                Members.of(vector.get("options")).forEach(request::option);
                if (vector.get("error") == null) {
                    client.enqueue(request);
                    return;
                }
                Map<String, Object> expected = Vectors.known(vector.get("error"), List.of("class", "code", "field"));
                OJSException error = assertThrows(OJSException.class, () -> client.enqueue(request));
                assertEquals(OJSException.of(Members.number(expected, "class", 0), "", OJSException.About.code("")).getClass(), error.getClass());
                assertEquals(expected.get("code"), error.code());
                Object field = error.details() instanceof Map<?, ?> details ? details.get("field") : null;
                assertEquals(expected.get("field"), field);
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> keys() {
        return Vectors.each("keys", List.of("type", "args", "options", "unique", "key"), vector -> {
            try (OJSClient client = OJSClient.connect("memory:")) {
                Map<String, Object> unique = new HashMap<>(Members.of(vector.get("unique")));
                unique.put("on_conflict", "reject");
                JobRequest request = JobRequest.of(Members.text(vector, "type"), Members.list(vector, "args")).option("unique", unique);
                Members.of(vector.get("options")).forEach((name, value) -> {
                    if (name.equals("meta")) request.meta(Members.of(value));
                    else request.option(name, value);
                });
                client.enqueue(request);
                OJSException.Duplicate error = assertThrows(OJSException.Duplicate.class, () -> client.enqueue(request));
                assertEquals(vector.get("key"), Members.of(error.details()).get("unique_key"));
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> chains() {
        List<String> members = List.of("chain", "do", "layers", "names", "steps", "trace");
        return Vectors.each("chains", members, vector -> {
            try (OJSClient client = OJSClient.connect("memory:")) {
                OJSWorker worker = OJSWorker.of(client);
                List<String> sent = Collections.synchronizedList(new ArrayList<>());
                List<String> ran = Collections.synchronizedList(new ArrayList<>());
                Map<String, Object> layers = Members.of(vector.get("layers"));
                String which = Members.text(vector, "chain");
                if (!which.equals("execution")) apply(vector, client.middleware(), name -> sender(name, layers.get(name), sent));
                if (!which.equals("enqueue")) apply(vector, worker.middleware(), name -> runner(name, layers.get(name), ran));
                if (vector.containsKey("trace")) assertEquals(vector.get("trace"), oneJob(client, worker, sent, ran));
            }
        });
    }

    /** Changes a chain step by step. */
    private static <L> void apply(Map<String, Object> vector, MiddlewareChain<L> chain, java.util.function.Function<String, L> layer) {
        List<String> steps = new ArrayList<>();
        for (Object step : Members.list(vector, "do")) {
            List<?> words = (List<?>) step;
            String name = (String) words.getLast();
            String other = (String) words.get(1);
            try {
                switch ((String) words.getFirst()) {
                    case "add" -> chain.add(name, layer.apply(name));
                    case "prepend" -> chain.prepend(name, layer.apply(name));
                    case "insert_before" -> chain.insertBefore(other, name, layer.apply(name));
                    case "insert_after" -> chain.insertAfter(other, name, layer.apply(name));
                    case "remove" -> chain.remove(name);
                    default -> throw new AssertionError(step);
                }
                steps.add("ok");
            } catch (OJSException.Middleware e) {
                steps.add("error");
            }
        }
        assertEquals(vector.get("steps"), steps);
        assertEquals(vector.get("names"), chain.names());
    }

    private static EnqueueMiddleware sender(String name, Object act, List<String> trace) {
        return (request, next) -> {
            trace.add(name + ">");
            if ("stop".equals(act)) return null;
            if ("fail_before".equals(act)) throw new IllegalStateException(name);
            if ("change".equals(act)) request.meta(Map.of("by", name));
            Job job = next.enqueue(request);
            if ("fail_after".equals(act)) throw new IllegalStateException(name);
            trace.add("<" + name);
            return job;
        };
    }

    private static ExecutionMiddleware runner(String name, Object act, List<String> trace) {
        return (ctx, next) -> {
            trace.add(name + ">");
            if ("stop".equals(act)) return null;
            if ("fail_before".equals(act)) throw new IllegalStateException(name);
            Object result = next.handle(ctx);
            if ("fail_after".equals(act)) throw new IllegalStateException(name);
            trace.add("<" + name);
            return result;
        };
    }

    /** What a job went through in both chains. */
    private static Map<String, Object> oneJob(OJSClient client, OJSWorker worker, List<String> sent, List<String> ran) {
        worker.register("a", _ -> {
            ran.add("handler");
            return null;
        });
        Job job;
        try {
            job = client.enqueue(JobRequest.of("a").retry(RetryPolicy.DEFAULT.withMaxAttempts(1)));
        } catch (OJSException.NotEnqueued e) {
            return Map.of("enqueue", "dropped", "sent", sent);
        } catch (IllegalStateException e) {
            return Map.of("enqueue", "failed", "sent", sent);
        }
        worker.start();
        Job ended = Support.eventually(() -> {
            Job now = client.getJob(job.id());
            return List.of("completed", "discarded").contains(now.state()) ? now : null;
        });
        worker.stop(Duration.ZERO);
        Map<String, Object> seen = new HashMap<>(Map.of("enqueue", "enqueued", "sent", sent, "ran", ran, "state", ended.state()));
        seen.put("by", ended.meta().get("by"));
        return seen;
    }
}
