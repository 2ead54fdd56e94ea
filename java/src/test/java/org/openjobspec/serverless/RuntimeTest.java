package org.openjobspec.serverless;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.serverless.Jobs.leased;
import static org.openjobspec.serverless.Jobs.sqs;

import com.amazonaws.services.lambda.runtime.events.SQSBatchResponse;
import com.amazonaws.services.lambda.runtime.serialization.events.LambdaEventSerializers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openjobspec.Json;

/** A function in a process of its own, under AWS's runtime client, which asks the published Runtime API for events. */
class RuntimeTest {
    private static final String INVOCATION = "/2018-06-01/runtime/invocation/";

    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private HttpServer api;
    private Process function;

    @BeforeEach
    void start() throws IOException {
        api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        api.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        api.createContext(INVOCATION, this::serve);
        api.start();
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        ProcessBuilder program = new ProcessBuilder(java.toString(), "--enable-native-access=ALL-UNNAMED",
                "-cp", System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                "com.amazonaws.services.lambda.runtime.api.client.AWSLambda",
                Function.class.getName() + "::handleRequest").inheritIO();
        program.environment().put("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:" + api.getAddress().getPort());
        program.environment().put("AWS_LAMBDA_FUNCTION_NAME", "ojs");
        program.environment().put("OJS_URL", Jobs.SERVER);
        function = program.start();
    }

    @AfterEach
    void stop() {
        function.destroyForcibly();
        api.stop(0);
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            String what = exchange.getRequestURI().getPath().substring(INVOCATION.length());
            if (!what.equals("next")) {
                answers.add(what.split("/")[1] + " " + new String(exchange.getRequestBody().readAllBytes(),
                        StandardCharsets.UTF_8));
                exchange.sendResponseHeaders(202, -1);
                return;
            }
            byte[] event = events.take().getBytes(StandardCharsets.UTF_8);
            // As the service does: AWS's client reads the address of this header without a look whether there is one.
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.getResponseHeaders().set("Lambda-Runtime-Aws-Request-Id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd");
            exchange.getResponseHeaders().set("Lambda-Runtime-Deadline-Ms",
                    String.valueOf(System.currentTimeMillis() + 30_000));
            exchange.getResponseHeaders().set("Lambda-Runtime-Invoked-Function-Arn",
                    "arn:aws:lambda:eu-central-1:1:function:ojs");
            exchange.sendResponseHeaders(200, event.length);
            exchange.getResponseBody().write(event);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String invoke(Object event) throws InterruptedException {
        events.add(Json.write(event));
        String answer = answers.poll(90, TimeUnit.SECONDS);
        assertTrue(answer != null, "the function did not answer");
        return answer;
    }

    @Test
    void aFunctionAcksToTheServer() throws Exception {
        Jobs.Leased done = leased("email.send", "ada");
        Jobs.Leased failed = leased("email.fail");
        String answer = invoke(Map.of("Records", List.of(sqs("m1", done.body()), sqs("m2", failed.body()), sqs("m3",
                "no job"))));
        assertTrue(answer.startsWith("response "), answer);
        byte[] batch = answer.substring("response ".length()).getBytes(StandardCharsets.UTF_8);
        SQSBatchResponse read = LambdaEventSerializers
                .serializerFor(SQSBatchResponse.class, SQSBatchResponse.class.getClassLoader())
                .fromJson(new ByteArrayInputStream(batch));
        assertEquals(List.of("m3"),
                read.getBatchItemFailures().stream().map(failure -> failure.getItemIdentifier()).toList());
        assertEquals(List.of("completed", "retryable"), List.of(done.state(), failed.state()));
        assertEquals(Map.of("sent_to", "ada"), done.now().result());
        assertTrue(invoke(Map.of("httpMethod", "POST", "headers", Map.of(), "body",
                failed.body())).contains("\"statusCode\":500"), "the function has no signing secret");
        assertTrue(invoke(Map.of("source", "x", "detail", Map.of())).startsWith("error "));
    }
}
