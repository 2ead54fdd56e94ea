package org.openjobspec.serverless;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.serverless.Jobs.delivery;
import static org.openjobspec.serverless.Jobs.dig;
import static org.openjobspec.serverless.Jobs.parsed;
import static org.openjobspec.serverless.Jobs.plain;

import com.standardwebhooks.Webhook;
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.openjobspec.NonRetryableException;
import org.openjobspec.SnoozeException;

class PushTest {
    static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    private static final Instant NOW = Instant.ofEpochSecond(1_708_030_665);
    private final AtomicInteger calls = new AtomicInteger();

    private PushHandler handler(PushHandler.Settings settings) {
        return new PushHandler(settings)
                .register("email.send", _ -> Map.of("message_id", calls.incrementAndGet()))
                .register("email.fail", _ -> {
                    throw new IllegalStateException("SMTP connection refused");
                })
                .register("email.never", _ -> {
                    throw new NonRetryableException("no such customer");
                })
                .register("email.later", _ -> {
                    throw new SnoozeException(Duration.ofSeconds(90));
                });
    }

    private PushHandler signedHandler() {
        return handler(PushHandler.builder().signingSecrets(SECRET));
    }

    private PushHandler atNow(String... secrets) {
        return handler(PushHandler.builder().signingSecrets(secrets).clock(Clock.fixed(NOW, ZoneOffset.UTC)));
    }

    /** The headers of the document. */
    static Map<String, List<String>> signed(String body, Instant at, String... secrets) throws Exception {
        String stamp = String.valueOf(at.getEpochSecond());
        List<String> values = new ArrayList<>();
        for (String secret : secrets) {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
            values.add("sha256=" + HexFormat.of().formatHex(mac.doFinal((stamp + "." + body).getBytes(UTF_8))));
        }
        return Map.of("x-ojs-timestamp", List.of(stamp), "X-OJS-Signature", List.of(String.join(", ", values)));
    }

    private static Answer post(PushHandler handler, Map<String, List<String>> headers, String body) {
        return handler.answer("POST", headers, body.getBytes(UTF_8));
    }

    private static Answer push(PushHandler handler, String body) throws Exception {
        return post(handler, signed(body, Instant.now(), SECRET), body);
    }

    @Test
    void aPushDeliveryIsAnsweredAsTheDocumentPrintsIt() throws Exception {
        PushHandler handler = signedHandler();
        Answer done = push(handler, delivery(plain("email.send")));
        assertEquals(Map.of("status", "completed", "result", Map.of("message_id", 1L)), parsed(done));
        Map<String, List<Object>> wanted = Map.of(
                "email.fail", List.of("handler_error", "SMTP connection refused", true),
                "email.never", List.of("non_retryable", "no such customer", false),
                "email.no", List.of("no_handler", "No handler is registered for job type 'email.no'.", false));
        for (String type : wanted.keySet()) {
            Answer answer = push(handler, delivery(plain(type)));
            Map<?, ?> error = (Map<?, ?>) parsed(answer).get("error");
            assertEquals("failed", parsed(answer).get("status"));
            assertEquals(wanted.get(type), List.of(error.get("code"), error.get("message"), error.get("retryable")));
        }
        Map<?, ?> later = parsed(push(handler, delivery(plain("email.later"))));
        assertEquals(90_000L, later.get("delay_ms"));
        assertEquals("snooze", dig(later, "error", "code"));
        assertEquals(90_000L, dig(later, "error", "details", "snooze_ms"));
    }

    @Test
    void aRequestThatIsNotSignedRunsNothing() throws Exception {
        String body = delivery(plain("email.send"));
        Map<String, List<String>> good = signed(body, NOW, SECRET);
        Map<String, Map<String, List<String>>> wrong = Map.of(
                "missing_header", Map.of(),
                "signature_mismatch", signed(body, NOW, "whsec_of_another_endpoint"),
                "stale_timestamp", signed(body, NOW.minusSeconds(301), SECRET),
                "invalid_header", Map.of("X-OJS-Timestamp", List.of("soon"), "X-OJS-Signature",
                        good.get("X-OJS-Signature")));
        for (String reason : wrong.keySet()) {
            Answer answer = post(atNow(SECRET), wrong.get(reason), body);
            assertEquals(401, answer.status());
            assertEquals(reason, dig(parsed(answer), "error", "details", "reason"));
        }
        assertEquals(401, post(atNow(SECRET), good, body + " ").status());
        assertEquals(0, calls.get());
        // While a secret is being replaced, a request has two signatures, or a receiver two secrets.
        for (var headers : List.of(signed(body, NOW, "whsec_old"), signed(body, NOW, "whsec_old", "whsec_x"), good)) {
            assertEquals(200, post(atNow("whsec_old", SECRET), headers, body).status());
        }
        assertThrows(IllegalArgumentException.class,
                () -> new PushHandler(PushHandler.builder().signingSecrets("x").unsigned()));
        assertThrows(IllegalArgumentException.class, () -> PushHandler.builder().tolerance(Duration.ZERO));
    }

    /** 401 would end the job and disable the endpoint, although only a setting is missing. */
    @Test
    void aHandlerWithoutASecretAnswersWhatIsTriedAgainAndLogsWhatToSet() throws Exception {
        String body = delivery(plain("email.send"));
        List<LogRecord> records = Collections.synchronizedList(new ArrayList<>());
        Handler keeping = new Handler() {
            @Override
            public void publish(LogRecord record) {
                records.add(record);
            }

            @Override
            public void flush() {
            }

            @Override
            public void close() {
            }
        };
        Logger logger = Logger.getLogger("org.openjobspec");
        logger.addHandler(keeping);
        try {
            Answer answer = post(atNow(""), signed(body, NOW, SECRET), body);
            assertEquals(500, answer.status());
            assertEquals("internal_error", dig(parsed(answer), "error", "code"));
            assertEquals(true, dig(parsed(answer), "error", "retryable"));
        } finally {
            logger.removeHandler(keeping);
        }
        assertEquals(0, calls.get());
        assertTrue(records.stream().anyMatch(record -> record.getLevel() == Level.SEVERE
                && record.getMessage().contains("OJS_SIGNING_SECRET")));
    }

    /** The library of Standard Webhooks signs what we verify, and verifies what is signed by the same rules. */
    @Test
    void theLibraryOfStandardWebhooksAgrees() throws Exception {
        Webhook theirs = new Webhook(SECRET);
        String body = delivery(plain("email.send"));
        long time = Instant.now().getEpochSecond();
        String value = theirs.sign("del_1", time, body);
        Map<String, List<String>> headers = Map.of("webhook-id", List.of("del_1"), "webhook-timestamp",
                List.of(String.valueOf(time)),
                "webhook-signature", List.of(value));
        assertEquals(200, post(signedHandler(), headers, body).status());
        theirs.verify(body, HttpHeaders.of(headers, (_, _) -> true));
        Map<String, List<String>> other = new java.util.HashMap<>(headers);
        other.put("webhook-id", List.of("del_2"));
        assertEquals(401, post(signedHandler(), other, body).status());
        assertEquals(1, calls.get());
    }

    @Test
    void whatIsNoDeliveryIsRefused() throws Exception {
        PushHandler handler = signedHandler();
        for (String body : List.of("", "[]", "{}", "{\"job\":{}}", "{\"job\":{\"id\":\"1\"}}", "{",
                "{\"id\":\"1\",\"type\":\"a\",\"args\":{}}")) {
            Answer answer = push(handler, body);
            assertEquals(400, answer.status(), body);
            assertEquals("invalid_request", dig(parsed(answer), "error", "code"));
        }
        assertEquals(413, post(handler, Map.of(), " ".repeat(PushHandler.MAX_BODY + 1)).status());
        assertEquals(405, handler.answer("GET", Map.of(), new byte[0]).status());
        assertEquals(0, calls.get());
    }

    @Test
    void aDeliveryThatArrivesTwiceRunsOnce() throws Exception {
        PushHandler handler = signedHandler();
        String body = delivery(plain("email.send"));
        for (int i = 0; i < 3; i++) assertEquals(1L, dig(parsed(push(handler, body)), "result", "message_id"));

        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        PushHandler slow = new PushHandler(PushHandler.builder().unsigned()).register("slow", _ -> {
            began.countDown();
            end.await();
            return calls.incrementAndGet();
        });
        String one = delivery(plain("slow"));
        var first = CompletableFuture.supplyAsync(() -> post(slow, Map.of(), one));
        began.await();
        var second = CompletableFuture.supplyAsync(() -> post(slow, Map.of(), one));
        end.countDown();
        assertArrayEquals(first.join().body(), second.join().body());
        assertEquals(2, calls.get());
    }

    @Test
    void theMemoryOfDeliveriesIsBounded() {
        Deliveries seen = new Deliveries(Duration.ofSeconds(600), 2);
        List<String> answers = new ArrayList<>();
        int[] runs = {0};
        Object[][] asked = {{"a", 0}, {"a", 1}, {"b", 2}, {"b", 3}, {"c", 4}, {"a", 5}, {"a", 700}, {"b", 701}};
        for (Object[] one : asked) {
            Instant at = NOW.plusSeconds((Integer) one[1]);
            answers.add(seen.once((String) one[0], at, () -> Answer.json(200, ++runs[0])).text());
        }
        assertEquals(List.of("1", "1", "2", "2", "3", "4", "4", "5"), answers);
        assertThrows(IllegalStateException.class, () -> seen.once("d", NOW, () -> {
            throw new IllegalStateException("given up");
        }));
        assertEquals("6", seen.once("d", NOW, () -> Answer.json(200, ++runs[0])).text());
    }

    @Test
    void theServerOfJavaCanServeIt() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", signedHandler().httpHandler());
        server.start();
        try (HttpClient client = HttpClient.newHttpClient()) {
            String body = delivery(plain("email.send"));
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:"
                    + server.getAddress().getPort() + "/"))
                    .POST(HttpRequest.BodyPublishers.ofString(body));
            assertEquals(401, client.send(request.build(), HttpResponse.BodyHandlers.ofString()).statusCode());
            signed(body, Instant.now(), SECRET).forEach((name, values) -> request.header(name, values.getFirst()));
            HttpResponse<String> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            assertEquals("{\"status\":\"completed\",\"result\":{\"message_id\":1}}", answer.body());
            assertEquals("application/json", answer.headers().firstValue("content-type").orElseThrow());
        } finally {
            server.stop(0);
        }
    }
}
