package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.Support.PATIENCE;
import static org.openjobspec.Support.eventually;

import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.Support.Bench;
import org.openjobspec.Support.Kind;

class WorkerTest {
    private static final RetryPolicy ONCE = RetryPolicy.attempts(1);

    record Email(String to, int count, List<Long> ids) {}

    @ParameterizedTest
    @EnumSource
    void runsJobsAndTheReturnValueIsTheResult(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            BigInteger big = new BigInteger("12345678901234567890");
            List<Object> seen = Collections.synchronizedList(new ArrayList<>());
            bench.worker().register("email.send", ctx -> {
                seen.add(List.of(ctx.type(), ctx.attempt(), ctx.args(), ctx.meta(), ctx.job().id().equals(ctx.id()), ctx.queue()));
                return Map.of("n", big);
            }).register("no.result", ctx -> null).start();
            Job job = bench.job("email.send", "馬", Long.MAX_VALUE).meta("a", 1).enqueue();
            Job none = bench.job("no.result").enqueue();
            assertEquals(Map.of("n", big), bench.completed(job).result());
            assertNull(bench.completed(none).result());
            assertEquals(List.of(List.of("email.send", 1, List.of("馬", Long.MAX_VALUE), Map.of("a", 1L), true, bench.queue)), seen);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aThousandJobsAsManyAtATimeAsWasSaid(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            AtomicInteger now = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            Set<Object> ids = ConcurrentHashMap.newKeySet();
            bench.keep(bench.builder().concurrency(7).build()).register("a", ctx -> {
                most.accumulateAndGet(now.incrementAndGet(), Math::max);
                ids.add(ctx.arg(0, int.class));
                Thread.yield();
                now.decrementAndGet();
                return null;
            }).start();
            bench.client.enqueueBatch(IntStream.range(0, 1000).mapToObj(n -> JobRequest.of("a", n).queue(bench.queue)).toList());
            eventually(() -> bench.client.queues().stats(bench.queue).get("completed").equals(1000L));
            assertEquals(1000, ids.size());
            assertEquals(0, now.get());
            assertTrue(most.get() <= 7, "at most 7, was " + most);
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatAHandlerThrowsIsTheFailure(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            class Unreadable extends RuntimeException {
                @Override
                public String getMessage() {
                    throw new IllegalStateException("no message");
                }
            }
            List<Throwable> things = List.of(new IllegalStateException("nö"), new RuntimeException(), new java.io.IOException("checked", new Error("below")),
                    new StackOverflowError(), new AssertionError("assert"), new Unreadable(), new RuntimeException("half \ud83d"));
            bench.worker().register("throw.it", ctx -> {
                throw sneaky(things.get(ctx.arg(0, int.class)));
            }).register("for.good", ctx -> {
                throw new NonRetryableException("declined", "card_declined", Map.of("card", 1));
            }).register("bad.result", ctx -> new Object()).register("half.result", ctx -> "\ud83d").start();
            List<Job> jobs = IntStream.range(0, things.size()).mapToObj(n -> bench.job("throw.it", n).retry(ONCE).enqueue()).toList();
            List<Map<String, Object>> errors = jobs.stream().map(bench::error).toList();
            errors.forEach(error -> assertEquals("handler_error", error.get("code")));
            errors.forEach(error -> assertFalse(((String) error.get("message")).isEmpty()));
            assertEquals("nö", errors.get(0).get("message"));
            assertEquals("IllegalStateException", errors.get(0).get("type"));
            assertTrue(((Map<?, ?>) errors.get(0).get("details")).get("stack").toString().contains("WorkerTest"));
            assertTrue(((Map<?, ?>) errors.get(2).get("details")).get("stack").toString().contains("Caused by: java.lang.Error: below"));
            Job ended = bench.ended(bench.job("for.good").enqueue(), "discarded");
            assertEquals(List.of("card_declined", "declined"), List.of(ended.error().get("code"), ended.error().get("message")));
            assertEquals(1, ended.attempt());
            assertEquals(1L, ((Map<?, ?>) ended.error().get("details")).get("card"));
            for (String type : List.of("bad.result", "half.result")) {
                assertEquals("serialization_error", bench.error(bench.job(type).enqueue()).get("code"), type);
            }
            assertTrue(bench.error(bench.job("nobody.does").enqueue()).get("message").toString().contains("No handler is registered"));
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> RuntimeException sneaky(Throwable thrown) throws T {
        throw (T) thrown;
    }

    @ParameterizedTest
    @EnumSource
    void aFailedJobIsTriedAgainAndListenersHear(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            List<Object> told = Collections.synchronizedList(new ArrayList<>());
            bench.worker().register("flaky", ctx -> {
                // Listeners hear when the outcome is on its way already: the next attempt may be here sooner.
                eventually(() -> told.size() == ctx.attempt() - 1);
                if (ctx.attempt() < 3) throw new IllegalStateException("not yet");
                return ctx.attempt();
            }).onFailed((ctx, thrown) -> told.add(ctx.attempt() + " " + thrown.getMessage())).onCompleted(ctx -> {
                told.add(ctx.attempt());
                throw new IllegalStateException("a listener that throws does no harm");
            }).start();
            RetryPolicy quick = RetryPolicy.attempts(3).withInitialInterval(Duration.ofMillis(1)).withJitter(false);
            assertEquals(3L, bench.completed(bench.job("flaky").retry(quick).enqueue()).result());
            eventually(() -> told.size() == 3);
            assertEquals(List.of("1 not yet", "2 not yet", 3), told);
        }
    }

    @ParameterizedTest
    @EnumSource
    void snoozeAndReleaseCountNoAttempt(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            AtomicInteger naps = new AtomicInteger();
            AtomicInteger releases = new AtomicInteger();
            bench.worker().register("nap", ctx -> {
                if (naps.incrementAndGet() == 1) throw new SnoozeException(Duration.ofMillis(10));
                return naps.get();
            }).register("release", ctx -> {
                if (releases.incrementAndGet() == 1) throw new ReleaseException();
                return releases.get();
            }).start();
            assertEquals(2L, bench.completed(bench.job("nap").retry(ONCE).enqueue()).result());
            assertEquals(2L, bench.completed(bench.job("release").retry(ONCE).enqueue()).result());
        }
    }

    @ParameterizedTest
    @EnumSource
    void aTimeoutFailsTheAttemptAndInterruptsTheHandler(Kind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            CountDownLatch began = new CountDownLatch(1);
            CompletableFuture<CancelReason> why = new CompletableFuture<>();
            bench.worker().register("slow", ctx -> {
                ctx.onCancel(why::complete);
                began.countDown();
                new CountDownLatch(1).await();
                return null;
            }).start();
            // On a busy machine the time may be up before the handler begins. Then no handler is there to be cancelled,
            // and another job is tried.
            eventually(() -> {
                Job job = bench.job("slow").timeout(Duration.ofMillis(500)).retry(ONCE).enqueue();
                assertEquals("timeout", bench.error(job).get("code"));
                return began.getCount() == 0;
            });
            assertEquals(CancelReason.TIMED_OUT, why.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCancelledJobInterruptsItsHandler(Kind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            CountDownLatch began = new CountDownLatch(1);
            CompletableFuture<CancelReason> ended = new CompletableFuture<>();
            AtomicInteger interrupts = new AtomicInteger();
            bench.keep(bench.builder().heartbeatInterval(Duration.ofMillis(50)).build()).register("long", ctx -> {
                assertTrue(ctx.heartbeat());
                began.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    interrupts.incrementAndGet();
                    ended.complete(ctx.cancelReason());
                }
                assertThrows(JobCancelledException.class, ctx::throwIfCancelled);
                ctx.throwIfCancelled();
                return null;
            }).register("after", ctx -> Thread.currentThread().isInterrupted()).start();
            Job job = bench.job("long").enqueue();
            assertTrue(began.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            bench.client.cancelJob(job.id());
            assertNotNull(ended.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            assertEquals(1, interrupts.get());
            assertEquals("cancelled", bench.client.getJob(job.id()).state());
            assertEquals(false, bench.completed(bench.job("after").enqueue()).result());
        }
    }

    @ParameterizedTest
    @EnumSource
    void stopLetsRunningHandlersFinish(Kind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            CountDownLatch began = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            OJSWorker worker = bench.worker().register("a", ctx -> {
                began.countDown();
                goOn.await();
                return "finished";
            });
            assertEquals(OJSWorker.State.NEW, worker.state());
            worker.start();
            assertEquals(OJSWorker.State.RUNNING, worker.state());
            Job job = bench.job("a").enqueue();
            assertTrue(began.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            worker.shutdown();
            eventually(() -> worker.state() == OJSWorker.State.TERMINATE);
            assertEquals(1, worker.activeJobs());
            goOn.countDown();
            worker.stop();
            assertEquals(OJSWorker.State.STOPPED, worker.state());
            assertEquals("finished", bench.client.getJob(job.id()).result());
            worker.stop();
            assertThrows(OJSException.Validation.class, worker::start);
        }
    }

    @ParameterizedTest
    @EnumSource
    void jobsThatDoNotEndGoBackUncharged(Kind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            CountDownLatch hung = new CountDownLatch(1);
            CompletableFuture<CancelReason> why = new CompletableFuture<>();
            OJSWorker worker = bench.worker().register("b", ctx -> {
                hung.countDown();
                ctx.onCancel(why::complete);
                new CountDownLatch(1).await();
                return null;
            }).start();
            Job job = bench.job("b").enqueue();
            assertTrue(hung.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            worker.stop(Duration.ofMillis(20));
            assertEquals("available", bench.client.getJob(job.id()).state());
            assertEquals(CancelReason.SHUTDOWN, why.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        }
    }

    @ParameterizedTest
    @EnumSource
    void quietFetchesNoMoreAndResumeDoes(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            OJSWorker worker = bench.worker().register("a", ctx -> 1).start();
            worker.quiet();
            eventually(() -> worker.state() == OJSWorker.State.QUIET);
            Job job = bench.job("a").enqueue();
            worker.resume();
            bench.completed(job);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aChainHandsResultsOn(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            bench.worker().register("one", ctx -> Map.of("n", ctx.arg(0, int.class) + 1))
                    .register("two", ctx -> List.of(ctx.parentResults(), ctx.workflowId() != null)).start();
            Workflow chain = Workflow.chain(JobRequest.of("one", 41).queue(bench.queue), JobRequest.of("two").queue(bench.queue)).named("sum");
            WorkflowStatus started = bench.client.workflow(chain);
            assertEquals("chain", started.type());
            WorkflowStatus status = eventually(() -> {
                WorkflowStatus now = bench.client.getWorkflow(started.id());
                return now.state().equals("completed") ? now : null;
            });
            String last = (String) ((Map<?, ?>) status.steps().getLast()).get("job_id");
            assertEquals(List.of(List.of(Map.of("n", 42L)), true), bench.client.getJob(last).result());
        }
    }

    @ParameterizedTest
    @EnumSource
    void typedArguments(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            bench.worker().register("typed", TypedJobHandler.of(Email.class, (email, ctx) -> email))
                    .register("by.place", ctx -> ctx.arg(1, Email.class).ids()).start();
            Email email = new Email("ada@example.com", 3, List.of(Long.MIN_VALUE, 7L));
            Map<String, Object> form = Map.of("to", "ada@example.com", "count", 3L, "ids", List.of(Long.MIN_VALUE, 7L));
            assertEquals(form, bench.completed(bench.job("typed", email).enqueue()).result());
            assertEquals(email.ids(), bench.completed(bench.job("by.place", 1, email).enqueue()).result());
            Map<String, Object> error = bench.error(bench.job("typed", Map.of("to", "x", "count", 1.5)).retry(ONCE).enqueue());
            assertTrue(error.get("message").toString().startsWith("cannot read 1.5 as int"), error.toString());
        }
    }

    /** The shape of Jackson's. */
    static final class Mapper {
        @SuppressWarnings("unchecked")
        <T> T readValue(String json, Class<T> type) throws java.io.IOException {
            return (T) new StringBuilder("read " + json + " as " + type.getSimpleName());
        }

        <T> T readValue(byte[] json, Class<T> type) throws java.io.IOException {
            throw new AssertionError("the other one");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aJsonLibraryPlugsIn(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            Mapper mapper = new Mapper();
            bench.worker().register("typed", TypedJobHandler.of(StringBuilder.class, mapper::readValue, (text, ctx) -> text.reverse().reverse())).start();
            assertEquals("read {\"a\":1} as StringBuilder", bench.completed(bench.job("typed", Map.of("a", 1)).enqueue()).result());
        }
    }

    @ParameterizedTest
    @EnumSource
    void handlersRunOnTheExecutorThatWasGiven(Kind kind) throws Exception {
        try (Bench bench = new Bench(kind); var pool = Executors.newFixedThreadPool(2, task -> new Thread(task, "mine"))) {
            OJSWorker worker = bench.keep(bench.builder().concurrency(2).executor(pool).build());
            worker.register("where", ctx -> Thread.currentThread().getName()).start();
            assertEquals("mine", bench.completed(bench.job("where").enqueue()).result());
            worker.stop();
            // One that refuses: the job goes back, nothing hangs.
            CountDownLatch refused = new CountDownLatch(1);
            OJSWorker hopeless = bench.keep(bench.builder().executor(task -> {
                refused.countDown();
                throw new RejectedExecutionException("full");
            }).build()).register("where", ctx -> null).start();
            Job job = bench.job("where").enqueue();
            assertTrue(refused.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            Job back = bench.ended(job, "scheduled", "available", "retryable");
            assertTrue(back.errors().isEmpty(), back.toString());
            hopeless.stop();
        }
    }

    @ParameterizedTest
    @EnumSource
    void bigPayloads(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            bench.worker().register("echo", ctx -> ctx.args()).start();
            List<Object> args = List.of("ž馬🐎".repeat(20_000), IntStream.range(0, 5_000).boxed().map(Long::valueOf).toList());
            assertEquals(args, bench.completed(bench.client.job("echo", args).queue(bench.queue).enqueue()).result());
        }
    }

    @ParameterizedTest
    @EnumSource
    void directivesOfTheServer(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            OJSWorker worker = bench.keep(bench.builder().heartbeatInterval(Duration.ofMillis(20)).workerId(Support.unique("w")).build());
            worker.register("a", ctx -> 1).start();
            tell(bench, worker, "quiet");
            eventually(() -> worker.state() == OJSWorker.State.QUIET);
            tell(bench, worker, "terminate");
            worker.await();
            assertEquals(OJSWorker.State.STOPPED, worker.state());
        }
    }

    private static void tell(Bench bench, OJSWorker worker, String directive) {
        eventually(() -> {
            try {
                bench.client.request("POST", "/admin/workers/" + worker.id() + "/" + directive, Map.of());
                return true;
            } catch (OJSException.NotFound e) { // before its first heartbeat
                return false;
            }
        });
    }

    @Test
    void aWorkerOverATransportOfTheProgramsOwn() throws Exception {
        AtomicInteger lost = new AtomicInteger();
        try (HttpClient http = HttpClient.newHttpClient(); OJSClient client = OJSClient.builder().transport((method, path, body) -> {
            if (path.startsWith("/workers/") && lost.incrementAndGet() == 1) throw new IllegalStateException("lost on the way");
            return sent(http, method, path, body);
        }).build()) {
            String queue = Support.unique("queue");
            try (OJSWorker worker = OJSWorker.builder().client(client).queues(queue).build()) {
                worker.register("a", ctx -> ctx.arg(0, int.class) + 1).start();
                Job job = client.job("a", 41).queue(queue).enqueue();
                assertEquals(42L, eventually(() -> client.getJob(job.id()).result()));
                assertTrue(lost.get() > 1, "the worker asks again");
            }
        }
    }

    private static Transport.Answer sent(HttpClient http, String method, String path, byte[] body) {
        String where = Support.server() + (path.startsWith("/ojs/") ? path : "/ojs/v1" + path);
        HttpRequest request = HttpRequest.newBuilder(URI.create(where)).header("content-type", "application/openjobspec+json")
                .method(method, HttpRequest.BodyPublishers.ofByteArray(body)).build();
        try {
            HttpResponse<byte[]> answer = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
            return new Transport.Answer(answer.statusCode(), answer.body());
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void wrongUseIsRefusedBeforeAnythingRuns(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            OJSWorker worker = bench.worker();
            assertThrows(OJSException.Validation.class, worker::start);
            worker.register("a", ctx -> 1);
            assertThrows(OJSException.Validation.class, () -> worker.register("a", ctx -> 2));
            assertThrows(OJSException.Validation.class, () -> worker.register("", ctx -> 2));
            assertThrows(OJSException.Validation.class, () -> worker.register("b", null));
            assertThrows(OJSException.Validation.class, worker::await);
            assertThrows(OJSException.Validation.class, () -> bench.builder().concurrency(0));
            assertThrows(OJSException.Validation.class, () -> bench.builder().queues());
            assertThrows(OJSException.Validation.class, () -> bench.builder().gracePeriod(Duration.ofMillis(-1)));
            worker.start();
            assertThrows(OJSException.Validation.class, () -> worker.register("c", ctx -> 1));
            assertThrows(OJSException.Middleware.class, () -> worker.use("late", (ctx, next) -> next.handle(ctx)));
        }
    }
}
