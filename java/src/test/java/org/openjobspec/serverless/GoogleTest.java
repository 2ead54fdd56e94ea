package org.openjobspec.serverless;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.openjobspec.serverless.Jobs.delivery;
import static org.openjobspec.serverless.Jobs.dig;
import static org.openjobspec.serverless.Jobs.leased;
import static org.openjobspec.serverless.Jobs.plain;

import com.google.cloud.functions.invoker.runner.Invoker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.openjobspec.Json;

/** Functions of Google Cloud, in Google's own functions framework for Java. */
class GoogleTest {
    @FunctionalInterface
    private interface Calls {
        void run(HttpClient client, HttpRequest.Builder request) throws Exception;
    }

    /** Serves the function in one of its forms, {@code http} or {@code cloudevent}. */
    private static void served(String form, Calls calls) throws Exception {
        int port = freePort();
        ClassLoader loader = GoogleFunction.class.getClassLoader();
        Invoker invoker = new Invoker(port, GoogleFunction.class.getName(), form, loader);
        invoker.startTestServer();
        try (HttpClient client = HttpClient.newHttpClient()) {
            calls.run(client, HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/")));
        } finally {
            invoker.stopServer();
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static HttpResponse<String> sent(HttpClient client, HttpRequest.Builder request, String body)
            throws Exception {
        HttpRequest whole = request.copy().POST(HttpRequest.BodyPublishers.ofString(body)).build();
        return client.send(whole, HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void theFrameworkPassesPushDeliveriesOn() throws Exception {
        served("http", (client, request) -> {
            String body = delivery(plain("email.send"));
            HttpResponse<String> forged = sent(client, request, body);
            assertEquals(401, forged.statusCode());
            assertEquals("unauthenticated", dig(Json.parse(forged.body().getBytes(UTF_8)), "error", "code"));
            HttpRequest.Builder signed = request.copy();
            PushTest.signed(body, Instant.now(), PushTest.SECRET)
                    .forEach((name, values) -> signed.header(name, values.getFirst()));
            HttpResponse<String> answer = sent(client, signed, body);
            assertEquals("{\"status\":\"completed\",\"result\":\"sent to 1\"}", answer.body());
            assertEquals("application/json", answer.headers().firstValue("content-type").orElseThrow());
            HttpRequest got = request.copy().GET().build();
            HttpResponse<String> refused = client.send(got, HttpResponse.BodyHandlers.ofString());
            assertEquals(405, refused.statusCode());
            assertEquals("POST", refused.headers().firstValue("allow").orElseThrow());
        });
    }

    @Test
    void theFrameworkPassesCloudEventsOn() throws Exception {
        served("cloudevent", (client, request) -> {
            Jobs.Leased done = leased("email.send", "ada");
            assertEquals(2, binary(client, request, published(done.body())) / 100);
            assertEquals("completed", done.state());
            assertEquals("sent to ada", done.now().result());
            Jobs.Leased failed = leased("email.fail");
            assertEquals(2, structured(client, request, published(failed.body())) / 100, "the server knows");
            assertEquals("retryable", failed.state());
            Jobs.Leased alone = leased("email.send", "bob");
            assertEquals(2, binary(client, request, Json.parse(alone.body().getBytes(UTF_8))) / 100, "without Pub/Sub");
            assertEquals("completed", alone.state());
            assertEquals(500, binary(client, request, Map.of("message", Map.of("data", "no base64"))));
        });
    }

    /** The data of an event of Pub/Sub. */
    private static Map<String, Object> published(String job) {
        String text = Base64.getEncoder().encodeToString(job.getBytes(UTF_8));
        return Map.of("message", Map.of("data", text, "messageId", "1"), "subscription", "projects/p/subscriptions/s");
    }

    private static int binary(HttpClient client, HttpRequest.Builder request, Object data) throws Exception {
        HttpRequest.Builder event = request.copy().header("content-type", "application/json");
        for (String header : List.of("ce-specversion:1.0", "ce-id:1", "ce-source://pubsub.googleapis.com/topics/ojs",
                "ce-type:google.cloud.pubsub.topic.v1.messagePublished")) {
            event.header(header.substring(0, header.indexOf(':')), header.substring(header.indexOf(':') + 1));
        }
        return sent(client, event, Json.write(data)).statusCode();
    }

    private static int structured(HttpClient client, HttpRequest.Builder request, Object data) throws Exception {
        Map<String, Object> event = Map.of("specversion", "1.0", "id", "2", "source",
                "//pubsub.googleapis.com/topics/ojs", "type", "google.cloud.pubsub.topic.v1.messagePublished",
                "datacontenttype", "application/json", "data", data);
        return sent(client, request.copy().header("content-type", "application/cloudevents+json"), Json.write(event))
                .statusCode();
    }
}
