package org.openjobspec.serverless;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.openjobspec.serverless.Jobs.again;
import static org.openjobspec.serverless.Jobs.dig;
import static org.openjobspec.serverless.Jobs.sqs;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.openjobspec.Json;

/** The vectors of all languages: what the server sends for a job that is too large for a queue, and what runs. */
@SuppressWarnings("unchecked") // the reader makes maps and lists of them
class ReferenceTest {
    private static Map<String, Object> vectors(String name) throws IOException {
        Path file = Path.of("..", "tests", "vectors", name + ".json");
        return (Map<String, Object>) Json.parse(Files.readAllBytes(file));
    }

    private static List<Map<String, Object>> all(String name) throws IOException {
        return (List<Map<String, Object>>) vectors("serverless_reference").get(name);
    }

    @Test
    void referencesAreThoseOfTheVectors() throws IOException {
        for (Map<String, Object> vector : all("cases")) {
            String name = (String) vector.get("name");
            Delivery delivery = Delivery.of(vector.get("message"));
            Map<String, Object> checkpoint = (Map<String, Object>) vector.get("checkpoint");
            assertFalse(delivery.isWhole(), name);
            assertEquals(checkpoint != null, delivery.refersToCheckpoint(), name);
            Delivery whole = delivery.completed((Map<String, Object>) vector.get("job"), checkpoint);
            assertEquals(vector.get("runs"), whole.job().members(), name);
            assertEquals(delivery.lease(), whole.lease(), name);
        }
    }

    @Test
    void referencesEndAsTheAnswersOfTheVectorsSay() throws IOException {
        Map<String, Object> given = all("cases").stream().filter(one -> one.get("checkpoint") != null).findFirst()
                .orElseThrow();
        for (Map<String, Object> answer : all("answers")) {
            String name = (String) answer.get("name");
            List<String> reported = Collections.synchronizedList(new ArrayList<>());
            List<Object> saved = Collections.synchronizedList(new ArrayList<>());
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", exchange -> say(exchange, given, answer, reported));
            server.start();
            String url = "http://127.0.0.1:" + server.getAddress().getPort();
            LambdaHandler handler = new LambdaHandler(PushHandler.builder().ojsUrl(url));
            handler.register("email.send", ctx -> {
                saved.add(ctx.loadCheckpoint());
                return null;
            });
            boolean comesAgain = !again(handler, sqs("m1", Json.write(given.get("message")))).isEmpty();
            server.stop(0);
            String ends = comesAgain ? "again" : saved.isEmpty() ? "gone" : "runs";
            assertEquals(answer.get("ends"), ends, name);
            assertEquals(ends.equals("runs") ? List.of("/ojs/v1/workers/ack") : List.of(), reported, name);
            Object state = answer.get("checkpoint") == null ? dig(given, "checkpoint", "state") : null;
            if (ends.equals("runs")) assertEquals(state, saved.getFirst(), name);
        }
    }

    private static void say(HttpExchange exchange, Map<String, Object> given, Map<String, Object> answer,
            List<String> reported) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            String path = exchange.getRequestURI().getPath();
            Object said = null;
            Object found = Map.of();
            if (!exchange.getRequestMethod().equals("GET")) {
                reported.add(path);
            } else if (path.endsWith("/checkpoint")) {
                said = answer.get("checkpoint");
                found = given.get("checkpoint");
            } else {
                said = answer.get("job");
                found = Map.of("job", given.get("job"));
            }
            byte[] body = (said == null ? Json.write(found) : (String) dig(said, "body")).getBytes(UTF_8);
            exchange.sendResponseHeaders(said == null ? 200 : ((Number) dig(said, "status")).intValue(), body.length);
            exchange.getResponseBody().write(body);
        }
    }

    @Test
    void aTimeoutHasTheErrorOfTheVectors() throws IOException {
        Map<String, Object> wanted = (Map<String, Object>) vectors("serverless_timeout").get("error");
        CountDownLatch end = new CountDownLatch(1);
        LambdaHandler handler = new LambdaHandler(PushHandler.builder());
        handler.register("slow", _ -> {
            end.await();
            return null;
        });
        Map<String, Object> slow = Map.of("id", "1", "type", "slow", "args", List.of(), "timeout_ms", 10);
        Map<String, Object> error = (Map<String, Object>) handler.handleDirect(slow, null).get("error");
        end.countDown();
        wanted.forEach((name, value) -> assertEquals(value, error.get(name), name));
    }
}
