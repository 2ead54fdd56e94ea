package org.openjobspec.serverless;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.serverless.Jobs.again;
import static org.openjobspec.serverless.Jobs.delivery;
import static org.openjobspec.serverless.Jobs.dig;
import static org.openjobspec.serverless.Jobs.fifo;
import static org.openjobspec.serverless.Jobs.leased;
import static org.openjobspec.serverless.Jobs.plain;
import static org.openjobspec.serverless.Jobs.sqs;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.openjobspec.CancelReason;
import org.openjobspec.Json;
import org.openjobspec.JobCancelledException;
import org.openjobspec.NonRetryableException;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSException;
import org.openjobspec.OJSWorker;
import org.openjobspec.Transport;

class LambdaTest {
    private final AtomicInteger calls = new AtomicInteger();

    private LambdaHandler handler(PushHandler.Settings settings) {
        LambdaHandler handler = new LambdaHandler(settings);
        handler.register("email.send", _ -> Map.of("message_id", calls.incrementAndGet()));
        handler.register("email.fail", _ -> {
            throw new IllegalStateException("SMTP connection refused");
        });
        handler.register("email.never", _ -> {
            throw new NonRetryableException("no such customer");
        });
        return handler;
    }

    private LambdaHandler alone() {
        return handler(PushHandler.builder());
    }

    private LambdaHandler withServer() {
        return handler(PushHandler.builder().ojsUrl(Jobs.SERVER));
    }

    @SuppressWarnings("unchecked") // the reader makes such maps
    private static Map<String, Object> object(String text) {
        return (Map<String, Object>) Json.parse(text);
    }

    /** After the first failure of a group, the rest of that group is reported as failed too; other groups go on. */
    @Test
    void inAFifoQueueAFailureEndsTheWorkOnItsGroup() {
        String send = "email.send";
        List<Object> names = again(alone(), fifo("m1", "a", plain(send)), fifo("m2", "b", plain(send)),
                fifo("m3", "a", plain("email.fail")), fifo("m4", "a", plain(send)), fifo("m5", "b", plain(send)),
                fifo("m6", "c", "no job"), fifo("m7", "c", plain(send)));
        assertEquals(List.of("m3", "m4", "m6", "m7"), names);
        assertEquals(3, calls.get());
    }

    /** Each job waits for the other one. */
    @Test
    void jobsOfAStandardQueueRunSideBySide() {
        LambdaHandler handler = alone();
        CountDownLatch both = new CountDownLatch(2);
        handler.register("meet", _ -> {
            both.countDown();
            both.await();
            return null;
        });
        List<Object> names =
                again(handler, sqs("m1", plain("meet")), sqs("m2", plain("meet")), sqs("m3", plain("email.fail")));
        assertEquals(List.of("m3"), names);
        assertEquals(List.of(), again(handler));
    }

    @Test
    void theServerLearnsTheOutcomesOfABatch() {
        LambdaHandler handler = withServer();
        Jobs.Leased done = leased("email.send");
        Jobs.Leased failed = leased("email.fail");
        Jobs.Leased over = leased("email.never");
        List<Object> names = again(handler, sqs("m1", done.body()), sqs("m2", failed.body()), sqs("m3", over.body()),
                sqs("m4", "{}"));
        assertEquals(List.of("m4"), names);
        assertEquals(List.of("completed", "retryable", "discarded"), List.of(done.state(), failed.state(),
                over.state()));
        assertEquals(Map.of("message_id", 1L), done.now().result());

        // In order: the server's retry does not overtake the group. A message that comes again after that runs nothing.
        Jobs.Leased first = leased("email.fail");
        Map<String, Object> behind = fifo("m2", "a", plain("email.send"));
        assertEquals(List.of("m1", "m2"), again(handler, fifo("m1", "a", first.body()), behind));
        Map<String, Object> old = new LinkedHashMap<>(fifo("m1", "a", first.body()));
        old.put("attributes", Map.of("MessageGroupId", "a", "ApproximateReceiveCount", "2"));
        assertEquals(List.of(), again(handler, old));
        assertEquals(1, first.now().attempt());
        assertEquals(1, calls.get());
    }

    @Test
    void aReferenceIsNotRunWhereNoServerIsNamed() {
        Map<String, Object> reference = Map.of("id", "1", "type", "email.send");
        assertEquals(List.of("m1"), again(alone(), sqs("m1", Json.write(reference))));
        assertEquals("invalid_job", dig(alone().handleDirect(reference, null), "error", "code"));
        assertEquals(0, calls.get());
    }

    @Test
    void aReferenceToAJobThatIsGoneIsDone() {
        Map<String, Object> reference = Map.of("id", "019539a4-0000-7000-8000-00000000dead", "type", "email.send");
        assertEquals(List.of(), again(withServer(), sqs("m1", Json.write(reference))));
        Map<String, Object> answer = withServer().handleEventBridge(Map.of("detail", reference), null);
        assertEquals("not_found", dig(answer, "error", "code"));
        assertEquals(0, calls.get());
    }

    @Test
    void theIdOfAMessageIsOneSegmentOfAPath() {
        List<String> asked = new ArrayList<>();
        OJSClient server = OJSClient.builder().transport((method, path, _) -> {
            asked.add(method + " " + path);
            String job = "{\"job\": " + plain("email.send") + "}";
            String found = path.endsWith("checkpoint") ? "{\"state\": 1, \"sequence\": 2}" : job;
            return new Transport.Answer(200, found.getBytes(UTF_8));
        }).build();
        LambdaHandler handler = new LambdaHandler(PushHandler.builder().worker(OJSWorker.of(server)));
        handler.register("email.send", ctx -> ctx.checkpoint(1));
        Map<String, Object> reference = Map.of("id", "../a?b/c", "type", "email.send", "checkpoint_ref", true);
        assertEquals(List.of(), again(handler, sqs("m1", Json.write(reference))));
        String place = "/jobs/..%2Fa%3Fb%2Fc";
        assertEquals(List.of("GET " + place, "GET " + place + "/checkpoint", "PUT " + place + "/checkpoint",
                "POST /workers/ack"), asked);
    }

    @Test
    void whatTheServerDoesNotLearnComesAgain() {
        OJSClient away = OJSClient.builder().transport((_, _, _) -> {
            throw new IllegalStateException("away");
        }).build();
        LambdaHandler handler = handler(PushHandler.builder().worker(OJSWorker.of(away)));
        Map<String, Object> sent = sqs("m1", plain("email.send"));
        assertEquals(List.of("m1", "m2"), again(handler, sent, sqs("m2", plain("email.fail"))));
        Map<String, Object> event = Map.of("source", "x", "detail", object(plain("email.fail")));
        DeliveryFailedException failed = assertThrows(DeliveryFailedException.class, () -> handler.handle(event, null));
        assertEquals("handler_error", failed.code());
        assertTrue(failed.retryable());
        assertEquals(List.of("m2"), again(alone(), sqs("m1", plain("email.send")), sqs("m2", plain("email.fail"))));
    }

    @Test
    void aServerThatHangsDoesNotHoldUpAFunction() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            LambdaHandler handler = handler(PushHandler.builder().ojsUrl("http://127.0.0.1:" + silent.getLocalPort()));
            long began = System.nanoTime();
            assertEquals(List.of("m1"), again(handler, sqs("m1", plain("email.send"))));
            Duration taken = Duration.ofNanos(System.nanoTime() - began);
            assertTrue(taken.toSeconds() < 20, "one call alone would wait for 30 s");
        }
    }

    @Test
    void aLargeJobIsReadFromTheServer() {
        AtomicInteger got = new AtomicInteger();
        LambdaHandler handler = withServer();
        handler.register("blob.keep", ctx -> {
            got.set(ctx.arg(0, String.class).length());
            return null;
        });
        Jobs.Leased job = leased("blob.keep", "x".repeat(300_000));
        String name = delivery(Json.write(Map.of("id", job.id(), "type", "blob.keep")));
        assertEquals(List.of(), again(handler, sqs("m1", name)));
        assertEquals(300_000, got.get());
        assertEquals("completed", job.state());
    }

    @Test
    void aFunctionUrlAndApiGateway() throws Exception {
        LambdaHandler handler = handler(PushHandler.builder().signingSecrets(PushTest.SECRET));
        String body = delivery(plain("email.send"));
        Map<String, List<String>> headers = PushTest.signed(body, Instant.now(), PushTest.SECRET);
        Map<String, Object> flat = new LinkedHashMap<>();
        headers.forEach((name, values) -> flat.put(name, values.getFirst()));
        String encoded = Base64.getEncoder().encodeToString(body.getBytes(UTF_8));
        Map<String, Object> context = Map.of("http", Map.of("method", "POST"));
        assertEquals(200, status(handler, Map.of("requestContext", context, "headers", flat, "body", encoded,
                "isBase64Encoded", true)));
        assertEquals(200, status(handler, Map.of("httpMethod", "POST", "multiValueHeaders", headers, "body", body)));
        assertEquals(405, status(handler, Map.of("httpMethod", "GET", "headers", flat)));
        assertEquals(400, status(handler, Map.of("httpMethod", "POST", "headers", flat, "body", "%", "isBase64Encoded",
                true)));
        assertEquals(401, status(handler, Map.of("httpMethod", "POST", "headers", Map.of(), "body", body)));
    }

    private static Object status(LambdaHandler handler, Map<String, Object> event) {
        return handler.handle(event, null).get("statusCode");
    }

    @Test
    void directCallsAndEventBridge() {
        LambdaHandler handler = withServer();
        Jobs.Leased done = leased("email.send");
        Map<String, Object> told = handler.handle(Map.of("detail-type", "job", "detail", object(done.body())),
                Duration.ofSeconds(30));
        assertEquals(List.of("completed", done.id()), List.of(told.get("status"), told.get("job_id")));
        assertEquals("completed", done.state());
        Jobs.Leased failed = leased("email.fail");
        assertEquals("failed", handler.handle(object(failed.body()), null).get("status"));
        assertEquals("retryable", failed.state());
        assertThrows(InvalidDeliveryException.class, () -> handler.handle(Map.of(), null));
    }

    @Test
    void googleAndAzureFunctions() {
        LambdaHandler handler = withServer();
        Jobs.Leased first = leased("email.send");
        String data = Base64.getEncoder().encodeToString(first.body().getBytes(UTF_8));
        handler.handlePubSub(Json.write(Map.of("message", Map.of("data", data))).getBytes(UTF_8));
        assertEquals("completed", first.state());
        handler.handlePubSub(plain("email.send").getBytes(UTF_8));
        assertThrows(DeliveryFailedException.class, () -> alone().handlePubSub(plain("email.fail").getBytes(UTF_8)));
        assertThrows(InvalidDeliveryException.class,
                () -> handler.handlePubSub("{\"message\":{\"data\":\"%\"}}".getBytes(UTF_8)));

        Jobs.Leased second = leased("email.send");
        assertEquals("completed", handler.deliver(second.body(), 1).get("status"));
        assertEquals("stale", handler.deliver(second.body(), 2).get("status"));
        assertEquals("completed", second.state());
        assertEquals(3, calls.get());
    }

    @Test
    void aHandlerDoesNotKnowHowItWasCalled() {
        List<Object> seen = new ArrayList<>();
        OJSWorker worker = OJSWorker.of(Jobs.CLIENT);
        worker.use("loud", (ctx, next) -> {
            seen.add("before");
            return next.handle(ctx);
        });
        worker.register("mail", ctx -> {
            seen.add(ctx.args().getFirst() + " " + ctx.attempt());
            return ctx.args().getFirst();
        });
        LambdaHandler handler = new LambdaHandler(PushHandler.builder().worker(worker));
        Jobs.Leased job = leased("mail", "ada");
        assertEquals("ada", handler.handle(object(job.body()), null).get("result"));
        try (var jobs = org.openjobspec.OJSTesting.fake()) {
            Jobs.CLIENT.enqueue("mail", "bob");
            jobs.drain(worker);
        }
        assertEquals(List.of("before", "ada 1", "before", "bob 1"), seen);
    }

    @Test
    void encryptedArgumentsArriveInTheClear() {
        String keys = "k-1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
        String body;
        try (OJSClient hidden = OJSClient.builder().url(Jobs.SERVER).encryptionKeys(keys).build()) {
            body = leased(hidden, Map.of(), "card.charge", "4111 1111").body();
        }
        assertFalse(body.contains("4111 1111"));
        assertEquals(List.of("4111 1111"), charged(keys, body).get("result"));
        Object unknown = dig(charged("other:" + "00".repeat(32), body), "error");
        assertEquals(List.of("x_codec_unknown_key", true), List.of(dig(unknown, "code"), dig(unknown, "retryable")));
        Object changed = dig(charged("k-1:" + "00".repeat(32), body), "error");
        assertEquals(List.of("x_codec_auth_failed", false), List.of(dig(changed, "code"), dig(changed, "retryable")));
    }

    private static Map<String, Object> charged(String keys, String body) {
        OJSClient.Builder connection = OJSClient.builder().url(Jobs.SERVER).encryptionKeys(keys);
        LambdaHandler handler = new LambdaHandler(PushHandler.builder().connection(connection));
        handler.register("card.charge", ctx -> ctx.args());
        return handler.handle(object(body), null);
    }

    @Test
    void aContextReachesTheServer() {
        LambdaHandler handler = withServer();
        handler.register("import", ctx -> {
            assertTrue(ctx.heartbeat());
            ctx.progress(0.1, "a tenth");
            ctx.progress(0.5, "half");
            ctx.step("charge", () -> "ch_1");
            ctx.checkpoint(Map.of("page", 7));
            throw new IllegalStateException("later");
        });
        Map<String, Object> retry = Map.of("retry", Map.of("max_attempts", 3, "backoff_strategy", "none"));
        Jobs.Leased job = leased(Jobs.CLIENT, retry, "import");
        assertEquals(List.of(), again(handler, sqs("m1", job.body())));
        assertEquals("half", dig(Jobs.CLIENT.request("GET", "/jobs/" + job.id() + "/progress", null), "message"));
        AtomicReference<Object> found = new AtomicReference<>();
        try (OJSWorker worker = OJSWorker.builder().client(Jobs.CLIENT).queues(job.now().queue()).build()) {
            worker.register("import", ctx -> {
                found.set(List.of(ctx.step("charge", () -> "again"), ctx.loadCheckpoint()));
                worker.shutdown();
                return null;
            });
            worker.start().await();
        }
        assertEquals(List.of("ch_1", Map.of("page", 7L)), found.get());

        String state = "{\"$ojs.state\":1,\"$ojs.steps\":{\"charge\":\"ch_1\"}}";
        LambdaHandler alone = alone();
        alone.register("find", ctx -> {
            assertThrows(OJSException.Validation.class, () -> ctx.checkpoint(2));
            return List.of(ctx.step("charge", () -> "again"), ctx.loadCheckpoint());
        });
        String delivered = "{\"id\":\"1\",\"type\":\"find\",\"args\":[],\"checkpoint\":{\"state\":" + state + "}}";
        assertEquals(List.of("ch_1", 1L), alone.handle(object(delivered), null).get("result"));
    }

    @Test
    void aHandlerLearnsThatItsJobIsCancelled() {
        LambdaHandler handler = withServer();
        handler.register("import", ctx -> {
            Jobs.CLIENT.cancelJob(ctx.id());
            assertFalse(ctx.heartbeat());
            assertEquals(CancelReason.CANCELLED, ctx.cancelReason());
            assertThrows(JobCancelledException.class, () -> ctx.checkpoint(1));
            ctx.throwIfCancelled();
            return null;
        });
        Jobs.Leased job = leased("import");
        assertEquals(List.of(), again(handler, sqs("m1", job.body())));
        assertEquals("cancelled", job.state());
    }

    /** Lambda ends a function at its limit: the job is given up before, and the server knows. */
    @Test
    void aJobIsGivenUpBeforeTheLimitOfTheFunction() {
        CountDownLatch never = new CountDownLatch(1);
        AtomicReference<CancelReason> reason = new AtomicReference<>();
        LambdaHandler handler = withServer();
        handler.register("slow", ctx -> {
            try {
                never.await();
            } catch (InterruptedException e) {
                reason.set(ctx.cancelReason());
                throw e;
            }
            return null;
        });
        Jobs.Leased job = leased("slow");
        handler.handle(Map.of("Records", List.of(sqs("m1", job.body()))), Duration.ofMillis(100));
        assertEquals("retryable", job.state());
        assertEquals("timeout", job.now().error().get("code"));
        assertEquals(CancelReason.TIMED_OUT, reason.get());
        Map<String, Object> own = object("{\"id\":\"1\",\"type\":\"slow\",\"args\":[],\"timeout_ms\":20}");
        assertEquals("timeout", dig(handler.handle(own, null), "error", "code"));
    }
}
