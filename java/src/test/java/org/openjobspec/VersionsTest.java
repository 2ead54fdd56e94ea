package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.Support.Bench;
import org.openjobspec.Support.Kind;

/** Versions of the arguments of a job type: what a worker takes, and how old arguments become new ones. */
class VersionsTest {
    private static final ArgsTransform ADDRESSED = args -> List.of(Map.of("to", args.get(0)));

    private static List<?> copied(List<Object> args) {
        Map<String, Object> message = new LinkedHashMap<>(Members.of(args.get(0)));
        message.put("copy", true);
        return List.of(message);
    }

    private static Object resultOf(Bench bench, String type, Object argument, String version) {
        return bench.completed(bench.job(type, argument).version(version).enqueue()).result();
    }

    @ParameterizedTest
    @EnumSource
    void aWorkerTakesTheVersionsOfItsHandler(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            Map.of("old ", "1", "new ", ">=2.0 <3.0").forEach((name, ranges) -> {
                OJSWorker worker = bench.worker().register("versions.taken", ctx -> name + ctx.args().get(0));
                worker.versions("versions.taken", ranges).start();
            });
            Job held = bench.job("versions.taken", "3").version("3").enqueue();
            Map.of("1", "old 1", "2.4", "new 2.4", "2", "new 2", "1.0.0", "old 1.0.0").forEach((version, result) ->
                    assertEquals(result, resultOf(bench, "versions.taken", version, version)));
            assertEquals(0, bench.ended(held, "available").attempt());
        }
    }

    @ParameterizedTest
    @EnumSource
    void oldArgumentsBecomeThoseOfTheHandler(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            Queue<List<Object>> seen = new ConcurrentLinkedQueue<>();
            OJSWorker worker = bench.worker().use("outer", (ctx, next) -> {
                seen.add(ctx.args());
                return next.handle(ctx);
            });
            JobHandler handler = ctx -> List.of(ctx.args().get(0), ctx.job().get("version"));
            worker.register("versions.old", handler, defaults -> defaults.version("3.1"))
                    .transform("versions.old", "2", "3.0", VersionsTest::copied)
                    .transform("versions.old", "1.0", "2", ADDRESSED)
                    .start();
            Map<String, Object> ada = Map.of("to", "ada", "copy", true);
            Map<String, Object> eve = Map.of("to", "eve");
            assertEquals(List.of(ada, "3.0"), resultOf(bench, "versions.old", "ada", "1"));
            Map<String, String> bob = Map.of("to", "bob");
            assertEquals(List.of(Map.of("to", "bob", "copy", true), "3.0"),
                    resultOf(bench, "versions.old", bob, "2.0"));
            assertEquals(List.of(eve, "3.9"), resultOf(bench, "versions.old", eve, "3.9"));
            assertEquals(List.of(eve, "3.1"), bench.completed(bench.job("versions.old", eve).enqueue()).result());
            assertEquals(List.of(ada), seen.peek(), "the middleware sees what the handler sees");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aChangeThatFailsEndsTheJob(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            bench.worker().register("versions.note", ctx -> null).transform("versions.note", "1", "2", _ -> {
                throw new IllegalStateException("no address");
            }).start();
            Map<String, Object> error = bench.error(bench.job("versions.note").version("1").enqueue());
            assertEquals("version_transform", error.get("code"));
            String wanted = "cannot become those of version 2: no address";
            assertTrue(error.get("message").toString().contains(wanted), error::toString);
        }
    }

    @Test
    void aVersionThatNoHandlerRunsIsRefusedByTheWorkerToo() throws Exception {
        Map<String, Object> job = Map.of(
                "id", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "type", "versions.mail", "args", List.of(),
                "version", "4.0", "queue", "default", "attempt", 1);
        BlockingQueue<Object> jobs = new LinkedBlockingQueue<>(List.of(job));
        BlockingQueue<Object> asked = new LinkedBlockingQueue<>();
        BlockingQueue<Object> refused = new LinkedBlockingQueue<>();
        // It knows no versions: it hands out what the worker does not run.
        Transport server = (_, path, body) -> {
            if (path.equals("/workers/nack")) refused.add(Json.parse(body));
            if (path.contains("manifest")) return Transport.Answer.json(404, Map.of());
            if (!path.equals("/workers/fetch")) return Transport.Answer.json(200, Map.of());
            asked.add(Json.parse(body));
            Object next = jobs.poll();
            return Transport.Answer.json(200, Map.of("jobs", next == null ? List.of() : List.of(next)));
        };
        OJSWorker worker = OJSWorker.builder()
                .connection(OJSClient.builder().transport(server))
                .pollInterval(Duration.ofMillis(10))
                .build();
        worker.register("versions.mail", ctx -> null, defaults -> defaults.version("2"));
        worker.transform("versions.mail", "1", "2", ADDRESSED);
        try (worker) {
            worker.start();
            Map<String, Object> error = Members.object(Members.of(taken(refused)), "error", Map.of());
            assertEquals("unsupported_version", error.get("code"));
            String wanted = "'versions.mail' in versions >=2.0 <3.0; the arguments have version 4.0.0";
            assertTrue(error.get("message").toString().contains(wanted), error::toString);
            assertEquals(List.of(Map.of("type", "versions.mail", "versions", List.of(">=2.0 <3.0", "1.0.0"))),
                    Members.of(taken(asked)).get("handlers"));
        }
    }

    private static Object taken(BlockingQueue<Object> from) throws InterruptedException {
        return from.poll(Support.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void changesThatContradictEachOtherAreRefusedAtTheStart() {
        Map.of(
                List.of(List.of("1", "2"), List.of("1.0", "3")), "has a transform already",
                List.of(List.of("1", "2"), List.of("2", "1")), "back to it",
                List.of(List.of("1", "two")), "must be a version such as 2 or 2.1, got 'two'",
                List.of(List.of("1", "1.5")), "which transforms change into 1.5.0").forEach((changes, text) -> {
                    OJSWorker worker = OJSWorker.builder().url("memory:").build();
                    worker.register("versions.wrong", ctx -> null, defaults -> defaults.version("2"));
                    changes.forEach(change ->
                            worker.transform("versions.wrong", change.get(0), change.get(1), ADDRESSED));
                    String message = assertThrows(OJSException.Validation.class, worker::start).getMessage();
                    assertTrue(message.contains(text), message);
                });
        OJSWorker worker = OJSWorker.builder().url("memory:").build();
        assertThrows(OJSException.Validation.class, () -> worker.transform("versions.wrong", "1", "2", null));
    }

    @Test
    void aFakeChangesOldArgumentsToo() {
        Queue<Object> seen = new ConcurrentLinkedQueue<>();
        try (Fake fake = OJSTesting.fake(); OJSClient client = OJSClient.connect("memory:")) {
            OJSWorker worker = OJSWorker.of(client);
            worker.register("versions.fake", ctx -> seen.add(ctx.args()), defaults -> defaults.version("2.0.0"));
            worker.transform("versions.fake", "1", "2", ADDRESSED);
            client.job("versions.fake", "ada").version("1").enqueue();
            assertEquals(1, fake.drain(worker));
        }
        assertEquals(List.of(List.of(Map.of("to", "ada"))), List.copyOf(seen));
    }
}
