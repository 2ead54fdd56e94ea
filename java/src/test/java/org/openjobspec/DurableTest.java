package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.Support.PATIENCE;
import static org.openjobspec.Support.eventually;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.Support.Bench;
import org.openjobspec.Support.Kind;

/** Progress, checkpoints and steps of handlers, against the real engine. */
class DurableTest {
    private static final RetryPolicy AGAIN = RetryPolicy.attempts(5).withInitialInterval(Duration.ofMillis(50));

    private static <T> T within(CompletableFuture<T> future) throws Exception {
        return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource
    void aStepRunsOnceAcrossAttempts(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            AtomicInteger charges = new AtomicInteger();
            List<Object> seen = Collections.synchronizedList(new ArrayList<>());
            bench.worker().register("pay", ctx -> {
                boolean begun = ctx.hasCheckpoint();
                long page = begun ? (long) ctx.loadCheckpoint() : 0;
                Object charge = ctx.step("charge", () -> "ch_" + charges.incrementAndGet());
                seen.add(List.of(ctx.attempt(), begun, charge, page, ctx.checkpoint(page + 1)));
                if (page < 2) throw new IllegalStateException("again");
                return null;
            }).start();
            Job job = bench.job("pay").retry(AGAIN).enqueue();
            bench.completed(job);
            List<Object> first = List.of(1, false, "ch_1", 0L, 2L);
            assertEquals(List.of(first, List.of(2, true, "ch_1", 1L, 3L), List.of(3, true, "ch_1", 2L, 4L)), seen);
            Object state = bench.client.getCheckpoint(job.id()).get("state");
            assertEquals(Map.of("$ojs.state", 3L, "$ojs.steps", Map.of("charge", "ch_1")), state);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHandlerGoesOnWhereAnotherLanguageStopped(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            Job job = bench.job("import").enqueue();
            Map<String, Object> steps = Map.of("open", List.of(1));
            bench.client.saveCheckpoint(job.id(), Map.of("$ojs.state", Map.of("row", 7), "$ojs.steps", steps));
            List<Object> seen = Collections.synchronizedList(new ArrayList<>());
            bench.worker().register("import", ctx -> {
                seen.add(ctx.loadCheckpoint());
                seen.add(ctx.step("open", () -> {
                    throw new AssertionError("run again");
                }));
                OJSException large = assertThrows(OJSException.class, () -> ctx.checkpoint("x".repeat(1_100_000)));
                seen.add(large.code());
                return null;
            }).start();
            bench.completed(job);
            assertEquals(Arrays.asList(Map.of("row", 7L), List.of(1L), "payload_too_large"), seen);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aLostLeaseIsTheTypedError(Kind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            CompletableFuture<Void> began = new CompletableFuture<>();
            CompletableFuture<Void> go = new CompletableFuture<>();
            CompletableFuture<Throwable> refused = new CompletableFuture<>();
            bench.worker().register("import", ctx -> {
                began.complete(null);
                try {
                    within(go);
                    ctx.checkpoint(1);
                } catch (JobCancelledException e) {
                    refused.complete(e);
                }
                return null;
            }).start();
            Job job = bench.job("import").enqueue();
            within(began);
            bench.client.cancelJob(job.id());
            go.complete(null);
            assertTrue(within(refused) instanceof JobCancelledException);
        }
    }

    @ParameterizedTest
    @EnumSource
    void ofManyReportsTheLatestIsSent(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            CompletableFuture<Void> go = new CompletableFuture<>();
            bench.worker().register("import", ctx -> {
                for (int percent = 0; percent <= 50; percent++) {
                    ctx.progress(percent / 100.0, "rows", Map.of("percent", percent));
                }
                within(go);
                return null;
            }).start();
            Job job = bench.job("import").enqueue();
            eventually(() -> "0.5".equals(String.valueOf(bench.client.getProgress(job.id()).get("progress"))));
            assertEquals("rows", bench.client.getProgress(job.id()).get("message"));
            go.complete(null);
            bench.completed(job);
            assertEquals("1.0", String.valueOf(bench.client.getProgress(job.id()).get("progress")));
        }
    }
}
