package com.example.shop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.catalina.startup.Tomcat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjobspec.serverless.PushHandler;

/** A servlet that takes push deliveries, in Tomcat. */
class ServletTest {
    private static final String SECRET = "whsec_test_secret";
    private static final String DELIVERY = """
            {"job":{"specversion":"1.0","id":"01234567-89ab-7cde-8000-000000000001","type":"email.send","queue":"default",
            "args":["ada"],"attempt":1},"worker_id":"push_worker_1","delivery_id":"del_01234567-89ab-7cde-8000-000000000001"}""";

    /** The servlet of the guide. */
    static class Deliveries extends HttpServlet {
        private final transient PushHandler handler;

        Deliveries(PushHandler handler) {
            this.handler = handler;
        }

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
            Map<String, List<String>> headers = new HashMap<>();
            for (String name : Collections.list(request.getHeaderNames())) {
                headers.put(name, Collections.list(request.getHeaders(name)));
            }
            var answer = handler.answer(request.getMethod(), headers, request.getInputStream().readAllBytes());
            response.setStatus(answer.status());
            answer.headers().forEach(response::setHeader);
            response.getOutputStream().write(answer.body());
        }
    }

    private static HttpResponse<String> send(URI address, String secret) throws Exception {
        String time = String.valueOf(Instant.now().getEpochSecond());
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
        String code = HexFormat.of().formatHex(mac.doFinal((time + "." + DELIVERY).getBytes(UTF_8)));
        HttpRequest request = HttpRequest.newBuilder(address).header("X-OJS-Signature", "sha256=" + code)
                .header("X-OJS-Timestamp", time).POST(HttpRequest.BodyPublishers.ofString(DELIVERY)).build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        }
    }

    @Test
    void aServletTakesSignedDeliveries(@TempDir Path folder) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        PushHandler handler = new PushHandler(PushHandler.builder().signingSecrets(SECRET));
        handler.register("email.send", ctx -> "sent " + calls.incrementAndGet());
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        Tomcat.addServlet(tomcat.addContext("", null), "jobs", new Deliveries(handler)).addMapping("/jobs");
        tomcat.getConnector();
        tomcat.start();
        try {
            URI address = URI.create("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/jobs");
            assertEquals(401, send(address, "whsec_other").statusCode());
            HttpResponse<String> answer = send(address, SECRET);
            assertEquals("{\"status\":\"completed\",\"result\":\"sent 1\"}", answer.body());
            assertEquals(List.of(200, 1), List.of(answer.statusCode(), calls.get()));
        } finally {
            tomcat.stop();
            tomcat.destroy();
        }
    }
}
