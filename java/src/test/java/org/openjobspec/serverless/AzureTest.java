package org.openjobspec.serverless;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.openjobspec.serverless.Jobs.delivery;
import static org.openjobspec.serverless.Jobs.leased;
import static org.openjobspec.serverless.Jobs.plain;

import com.microsoft.azure.functions.HttpMethod;
import com.microsoft.azure.functions.HttpRequestMessage;
import com.microsoft.azure.functions.HttpResponseMessage;
import com.microsoft.azure.functions.HttpStatus;
import com.microsoft.azure.functions.HttpStatusType;
import java.net.URI;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Functions of Azure, with the types of Azure's own library. */
class AzureTest {
    private final AtomicInteger calls = new AtomicInteger();

    private AzureHandler handler(PushHandler.Settings settings) {
        AzureHandler handler = new AzureHandler(settings);
        handler.register("email.send", _ -> calls.incrementAndGet());
        handler.register("email.fail", _ -> {
            throw new IllegalStateException("SMTP connection refused");
        });
        return handler;
    }

    /** A request, as the host hands it over. */
    private record Request<T>(HttpMethod getHttpMethod, Map<String, String> getHeaders, T getBody)
            implements HttpRequestMessage<T> {
        @Override
        public URI getUri() {
            return URI.create("https://example.azurewebsites.net/api/push");
        }

        @Override
        public Map<String, String> getQueryParameters() {
            return Map.of();
        }

        @Override
        public HttpResponseMessage.Builder createResponseBuilder(HttpStatus status) {
            return new Response(status, new HashMap<>(), null);
        }

        @Override
        public HttpResponseMessage.Builder createResponseBuilder(HttpStatusType status) {
            return new Response(status, new HashMap<>(), null);
        }
    }

    private record Response(HttpStatusType getStatus, Map<String, String> headers, Object getBody)
            implements HttpResponseMessage, HttpResponseMessage.Builder {
        @Override
        public Builder status(HttpStatusType status) {
            return new Response(status, headers, getBody);
        }

        @Override
        public Builder header(String name, String value) {
            headers.put(name, value);
            return this;
        }

        @Override
        public Builder body(Object body) {
            return new Response(getStatus, headers, body);
        }

        @Override
        public HttpResponseMessage build() {
            return this;
        }

        @Override
        public String getHeader(String name) {
            return headers.get(name);
        }
    }

    private static Map<String, String> signed(String body) throws Exception {
        Map<String, String> headers = new HashMap<>();
        PushTest.signed(body, Instant.now(), PushTest.SECRET)
                .forEach((name, values) -> headers.put(name.toLowerCase(), values.getFirst()));
        return headers;
    }

    @Test
    void pushDeliveriesAreAnswered() throws Exception {
        AzureHandler handler = handler(PushHandler.builder().signingSecrets(PushTest.SECRET));
        for (boolean bytes : List.of(false, true)) {
            String body = delivery(plain("email.send"));
            Object given = bytes ? body.getBytes(UTF_8) : Optional.of(body);
            HttpResponseMessage answer = handler.handleHttp(new Request<>(HttpMethod.POST, signed(body), given));
            assertEquals(200, answer.getStatusCode());
            assertEquals("{\"status\":\"completed\",\"result\":" + calls.get() + "}", answer.getBody());
            assertEquals("application/json", answer.getHeader("content-type"));
        }
        assertEquals(2, calls.get());
        String body = delivery(plain("email.send"));
        Request<Object> forged = new Request<>(HttpMethod.POST, Map.of(), Optional.of(body));
        assertEquals(401, handler.handleHttp(forged).getStatusCode());
        Request<Object> empty = new Request<>(HttpMethod.POST, signed(""), Optional.empty());
        assertEquals(400, handler.handleHttp(empty).getStatusCode());
        HttpResponseMessage got = handler.handleHttp(new Request<>(HttpMethod.GET, Map.of(), Optional.empty()));
        assertEquals(List.of(405, "POST"), List.of(got.getStatusCode(), got.getHeader("allow")));
        Request<Object> other = new Request<>(HttpMethod.POST, Map.of(), Map.of());
        assertThrows(IllegalArgumentException.class, () -> handler.handleHttp(other));
        assertEquals(2, calls.get());
    }

    @Test
    void messagesOfQueuesReportToTheServer() {
        AzureHandler handler = handler(PushHandler.builder().ojsUrl(Jobs.SERVER));
        Jobs.Leased done = leased("email.send");
        handler.handleQueue(done.body(), 1);
        Jobs.Leased failed = leased("email.fail");
        handler.handleQueue(failed.body(), 1);
        assertEquals(List.of("completed", "retryable"), List.of(done.state(), failed.state()));
        handler.handleQueue(failed.body(), 2);
        assertEquals(1, failed.now().attempt(), "the server has moved on");
        assertThrows(InvalidDeliveryException.class, () -> handler.handleQueue("no job", 1));
        AzureHandler alone = handler(PushHandler.builder());
        assertThrows(DeliveryFailedException.class, () -> alone.handleQueue(plain("email.fail"), 1));
    }
}
