package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openjobspec.Train.CancelActive;
import org.openjobspec.Train.TrainAction;

/** The train of a job: how it is said, what a type says once, what comes back. A server of this test listens. */
class TrainsTest {
    private static final String TRAINS = "urn:ojs:ext:x:openjobspec:job-trains";
    private static final String REFUSAL =
            "{\"error\":{\"code\":\"EXTENSION_NOT_SUPPORTED\",\"message\":\"no\","
            + "\"details\":{\"extension\":\"" + TRAINS + "\"}}}";
    private static final String JOB =
            "{\"job\":{\"id\":\"x\",\"train\":{\"id\":\"dest_1\",\"position\":3,\"role\":\"locomotive\",\"ahead\":0,"
            + "\"state\":\"held\",\"epoch\":8589934592}}}";
    private HttpServer server;
    private OJSClient client;
    private volatile boolean refuses;
    private volatile byte[] received;
    private volatile String required;

    @BeforeEach
    void listen() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            received = exchange.getRequestBody().readAllBytes();
            required = exchange.getRequestHeaders().getFirst("OJS-Requires-Extension");
            byte[] answer = (refuses ? REFUSAL : JOB).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(refuses ? 422 : 201, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        client = OJSClient.builder().url("http://127.0.0.1:" + server.getAddress().getPort()).maxSends(1).build();
    }

    @AfterEach
    void end() {
        client.close();
        server.stop(0);
    }

    /** The train of the latest request; its metadata says the same, and the request required the extension. */
    private Map<String, Object> train() {
        Map<String, Object> job = Members.of(Json.parse(received));
        Map<String, Object> options = Members.object(job, "options", Map.of());
        Map<String, Object> train = Members.object(options, "train", null);
        assertEquals(train == null ? null : train.get("id"), Members.object(job, "meta", Map.of()).get("train_id"));
        assertEquals(train == null ? null : TRAINS, required);
        return train;
    }

    @Test
    void aTrainIsAnIdOrARecord() {
        Job job = client.job("deploy").train("dest_1").enqueue();
        assertEquals(Map.of("id", "dest_1"), train());
        assertEquals(new JobTrain("dest_1", 3, "locomotive", 0, "held", 8_589_934_592L), job.train());
        Train held = Train.of("x").withOnCancelled(TrainAction.HOLD).withCancelActive(CancelActive.IMMEDIATE);
        client.job("deploy").train(held).enqueue();
        assertEquals(Map.of("id", "x", "on_cancelled", "hold", "cancel_active", "immediate"), train());
        client.job("deploy", 7).train("dest_{0}").enqueue();
        assertEquals(Map.of("id", "dest_7"), train());
        client.enqueue("deploy");
        assertNull(train());
    }

    @Test
    void aWrongTrainIsRefusedByFieldAndRule() {
        refused("train.id: must be 1 to 255 letters", client.job("deploy").train("a b"));
        refused("train.id: is missing", client.job("deploy").train(Train.DEFAULT.withOnCancelled(TrainAction.HOLD)));
        Map<String, String> misspelt = Map.of("id", "a", "on_canceled", "hold");
        refused("did you mean 'on_cancelled'", client.job("deploy").option("train", misspelt));
    }

    private static void refused(String message, PendingJob job) {
        var error = assertThrows(OJSException.Validation.class, job::enqueue);
        assertTrue(error.getMessage().contains(message), error.getMessage());
    }

    @Test
    void aTypeSaysItsTrainOnce() {
        try (var worker = OJSWorker.of(client)) {
            Train policy = Train.DEFAULT.withOnCancelled(TrainAction.HOLD);
            worker.register("trains.policy", ctx -> null, job -> job.train(policy));
            client.enqueue("trains.policy");
            assertNull(train(), "policies alone are no train");
            client.job("trains.policy").train("dest_1").enqueue();
            assertEquals(Map.of("id", "dest_1", "on_cancelled", "hold"), train());
            client.job("trains.policy").train(Train.of("dest_1").withOnCancelled(TrainAction.ADVANCE)).enqueue();
            assertEquals(Map.of("id", "dest_1", "on_cancelled", "advance"), train());
            worker.register("trains.derived", ctx -> null, job -> job.train("dest_{destination_id}"));
            client.enqueue("trains.derived", Map.of("destination_id", 123));
            assertEquals(Map.of("id", "dest_123"), train());
            client.job("trains.derived", Map.of()).option("train", false).enqueue();
            assertNull(train());
        }
    }

    @Test
    void aFakeRunsTheJobsOfATrainInOrder() {
        List<Object> ran = new ArrayList<>();
        var worker = OJSWorker.of(client).register("trains.fake", ctx -> {
            int number = ctx.arg(0, int.class);
            ran.add(List.of(number, ctx.train().position()));
            if (number < 0) throw new NonRetryableException("no such destination");
            return null;
        }, job -> job.train(Train.DEFAULT.withOnDiscarded(TrainAction.HOLD)));
        try (worker; Fake fake = OJSTesting.fake()) {
            for (int number = 1; number <= 3; number++) {
                client.job("trains.fake", number).train("dest_1").priority(number).enqueue();
            }
            assertEquals(3, fake.drain(worker));
            assertEquals(List.of(List.of(1, 1), List.of(2, 2), List.of(3, 3)), ran);

            for (int number : new int[] {-1, 5}) client.job("trains.fake", number).train("dest_2").enqueue();
            assertThrows(NonRetryableException.class, () -> fake.drain(worker));
            assertEquals(0, fake.drain(worker), "the train is held");
            assertEquals("dest_2", client.trains().list("held").getFirst().get("id"));
            client.trains().advance("dest_2");
            assertEquals(1, fake.drain(worker));
            assertEquals(List.of(5, 2), ran.getLast());
        }
    }

    @Test
    void aServerWithoutTrainsIsAnErrorOfItsOwn() {
        refuses = true;
        PendingJob job = client.job("deploy").train("dest_1");
        var error = assertThrows(OJSException.UnsupportedExtension.class, job::enqueue);
        assertEquals(Map.of("extension", TRAINS), error.details());
    }
}
