package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.Support.eventually;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openjobspec.Support.Bench;
import org.openjobspec.Support.Kind;

/** Where two memories and two sets of threads meet. */
@Timeout(600)
class BoundaryTest {
    @Test
    void garbageCollectionsWhileEverythingRuns() {
        AtomicBoolean on = new AtomicBoolean(true);
        Thread collector = Thread.ofPlatform().start(() -> {
            while (on.get()) {
                System.gc();
                LockSupport.parkNanos(5_000_000); // two processors have other work as well
            }
        });
        try (Bench bench = new Bench(Kind.MEMORY)) {
            OJSWorker worker = bench.worker().register("a", ctx -> ctx.args()).start();
            List<CompletableFuture<Job>> sent = IntStream.range(0, 100).mapToObj(n -> bench.job("a", n, "x".repeat(1000)).enqueueAsync()).toList();
            for (int n = 0; n < 15; n++) {
                // Dropped, never closed: freed when the collector finds them.
                OJSClient dropped = OJSClient.connect("memory:" + Support.unique("dropped"));
                dropped.enqueue("a", n);
                OJSWorker.builder().client(dropped).build().register("a", ctx -> null);
            }
            sent.forEach(job -> bench.completed(job.join()));
            worker.stop();
        } finally {
            on.set(false);
        }
        eventually(() -> NativeClient.underWay() == 0);
        eventually(() -> !collector.isAlive());
    }

    @Test
    void oneSlotHandlersThatUseTheClientAndCancellationsOnEverything() throws Exception {
        try (Bench bench = new Bench(Kind.HTTP); var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            AtomicInteger ran = new AtomicInteger();
            OJSWorker worker = bench.keep(bench.builder().concurrency(1).heartbeatInterval(Duration.ofMillis(10)).build());
            worker.use("reads", (ctx, next) -> {
                ctx.heartbeat();
                return next.handle(ctx);
            });
            worker.register("parent", ctx -> {
                ran.incrementAndGet();
                bench.job("child", ctx.id()).enqueue();
                return bench.client.getJob(ctx.id()).state();
            }).register("child", ctx -> ctx.heartbeat()).start();
            List<Job> parents = new ArrayList<>();
            for (int n = 0; n < 60; n++) parents.add(bench.job("parent", n).enqueue());
            for (Job job : parents.subList(20, 60)) {
                threads.submit(() -> {
                    try {
                        bench.client.cancelJob(job.id());
                    } catch (OJSException.Conflict e) {
                        // It was faster.
                    }
                });
            }
            parents.forEach(job -> bench.ended(job, "completed", "cancelled"));
            eventually(() -> bench.client.queues().stats(bench.queue).get("available").equals(0L) && worker.activeJobs() == 0);
            assertTrue(ran.get() >= 20);
        }
    }

    @Test
    void manyWaitOnFewCarriers() throws Exception {
        // Virtual threads that wait in the library must not hold their carriers: there are as few as processors.
        try (Bench bench = new Bench(Kind.MEMORY); var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Job job = bench.job("later").enqueue();
            var waiting = IntStream.range(0, 40).mapToObj(_ -> threads.submit(() -> bench.client.result(job.id(), Support.PATIENCE).result())).toList();
            bench.worker().register("later", ctx -> "now").start();
            for (var one : waiting) assertEquals("now", one.get());
        }
    }

    /** All of the heap is there from the beginning, and the compiler is the frugal one: what grows then is what the library holds. */
    private static final List<String> SOAK = List.of("-Xms64m", "-XX:+AlwaysPreTouch", "-XX:TieredStopAtLevel=1");

    @Test
    void memoryDoesNotGrowWithTheJobs() throws Exception {
        int jobs = Integer.parseInt(System.getenv().getOrDefault("OJS_SOAK_JOBS", "20000"));
        Process process = ProcessTest.start(SOAK, "soak", Support.unique("soak"), Integer.toString(jobs));
        List<String> lines = process.inputReader().lines().toList();
        assertEquals(0, process.waitFor(), lines.toString());
        List<int[]> seen = lines.stream().map(line -> IntStream.of(1, 2, 3, 4).map(part -> Integer.parseInt(line.split(" ")[part])).toArray()).toList();
        assertEquals(4, seen.size(), lines.toString());
        // The first quarter fills caches and pools; from then on there is no slope. Megabytes.
        int growth = seen.get(3)[0] - seen.get(1)[0];
        assertTrue(growth <= 24, "grew by " + growth + " MB in half of " + jobs + " jobs: " + lines);
        int heap = seen.get(3)[3] - seen.get(1)[3];
        assertTrue(heap <= 8, "the heap grew by " + heap + " MB: " + lines);
        assertEquals(0, seen.get(3)[2], "calls that were not ended: " + lines);
    }
}
