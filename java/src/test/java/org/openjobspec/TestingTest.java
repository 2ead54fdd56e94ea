package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class TestingTest {
    /** No server listens there: only a fake answers. */
    private final OJSClient client = OJSClient.builder().url("http://127.0.0.1:1").maxSends(1).build();
    private final List<Object> seen = new ArrayList<>();

    private OJSWorker worker() {
        return OJSWorker.builder().client(client).queues("default", "mail").build();
    }

    @Test
    void jobsAreKeptAndHandlersRunHere() {
        OJSWorker worker = worker().register("email.send", ctx -> {
            client.enqueue("email.log", ctx.args());
            return "sent";
        }).register("*", ctx -> seen.add(ctx.type()));
        worker.use("outer", (ctx, next) -> {
            seen.add("middleware");
            return next.handle(ctx);
        });
        try (Fake fake = OJSTesting.fake()) {
            Job job = client.job("email.send", "ada@example.com", Map.of("n", 1)).queue("mail").enqueue();
            assertEquals("mail", fake.assertEnqueuedWith("email.send", "ada@example.com", Map.of("n", 1)).getFirst().get("options") instanceof Map<?, ?> o ? o.get("queue") : null);
            fake.assertEnqueued("email.send", Map.of("queue", "mail", "priority", 0));
            fake.assertNotEnqueued("email.send", Map.of("queue", "default"));
            assertEquals(1, fake.enqueued(null).size());
            assertEquals(List.of(), fake.enqueued("email.send", one -> one.args().isEmpty()));
            fake.assertNotEnqueued("email.log");
            AssertionError wrong = assertThrows(AssertionError.class, () -> fake.assertEnqueuedWith("email.send", "bob@example.com"));
            assertTrue(wrong.getMessage().endsWith("enqueued were: email.send[\"ada@example.com\",{\"n\":1}]"), wrong.getMessage());
            assertEquals(2, fake.drain(worker));
            assertEquals(List.of("middleware", "middleware", "email.log"), seen);
            assertEquals("sent", client.getJob(job.id()).result());
            fake.assertEnqueued("email.log", 1);
            assertThrows(AssertionError.class, () -> fake.assertEnqueued("email.log", 2));
            client.enqueueBatch(List.of(JobRequest.of("a"), JobRequest.of("b")));
            assertEquals(4, fake.requests().size());
            fake.clear();
            assertEquals(List.of(), fake.requests());
            assertEquals(0, fake.drain(worker));
        }
        assertThrows(OJSException.Connection.class, () -> client.enqueue("email.send"));
    }

    @Test
    void anAssertionThatFailsSaysWhatWasAskedFor() {
        try (Fake fake = OJSTesting.fake()) {
            client.enqueue("a", 1);
            fails("expected at least one 'a' with {\"args\":[2]}, found 0; enqueued were: a[1]",
                    () -> fake.assertEnqueuedWith("a", 2));
            fails("expected no job with {\"queue\":\"default\"}, found 1; enqueued were: a[1]",
                    () -> fake.assertNotEnqueued(null, Map.of("queue", "default")));
            fails("expected 2 of 'a', found 1; enqueued were: a[1]", () -> fake.assertEnqueued("a", 2));
            Executable misspelt = () -> fake.assertNotEnqueued("a", Map.of("queu", "mail"));
            String message = assertThrows(OJSException.Validation.class, misspelt).getMessage();
            assertTrue(message.contains("did you mean 'queue'?"), message);
        }
    }

    private static void fails(String message, Executable assertion) {
        assertEquals(message, assertThrows(AssertionError.class, assertion).getMessage());
    }

    @Test
    void whatAHandlerThrowsIsThrown() {
        AtomicInteger runs = new AtomicInteger();
        OJSWorker worker = worker().register("fail", ctx -> {
            throw new IOException("on purpose");
        }).register("nap", ctx -> {
            if (runs.incrementAndGet() == 1) throw new SnoozeException(Duration.ZERO);
            return runs.get();
        });
        try (Fake fake = OJSTesting.fake()) {
            Job job = client.job("fail").retry(RetryPolicy.attempts(1)).enqueue();
            assertEquals("on purpose", assertThrows(IOException.class, () -> fake.drain(worker)).getMessage());
            assertEquals("discarded", client.getJob(job.id()).state());
            client.enqueue("unknown");
            // An error of this package, and no exception of a handler's: no code threw it.
            OJSException.Validation unknown = assertThrows(OJSException.Validation.class, () -> fake.drain(worker));
            assertEquals("no_handler", unknown.code());
            assertTrue(unknown.getMessage().contains("'unknown'. Registered are: fail, nap"), unknown.getMessage());
            Job nap = client.enqueue("nap");
            Support.eventually(() -> fake.drain(worker) >= 0 && client.getJob(nap.id()).state().equals("completed"));
        }
    }

    @Test
    void inlineRunsAtOnceAndTheNewestFakeCounts() {
        OJSWorker worker = worker().register("a", ctx -> seen.add(ctx.arg(0, int.class)));
        try (Fake outer = OJSTesting.fake()) {
            try (Fake inner = OJSTesting.inline(worker)) {
                client.enqueue("a", 7);
                assertEquals(List.of(7), seen);
                inner.assertEnqueued("a");
                assertEquals("no_handler", assertThrows(OJSException.Validation.class, () -> client.enqueue("misspelt")).code());
            }
            outer.assertNotEnqueued("a");
        }
    }
}
