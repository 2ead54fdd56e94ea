package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** OpenTelemetry's own SDK with an exporter in memory. What the spans are: tests/vectors/spans.json. */
class SpansTest {
    /** What differs from run to run. */
    private static final Map<String, Object> PLACEHOLDERS = Map.of(
            "ojs.job.id", "@id", "messaging.message.id", "@id", "ojs.job.scheduled_at", "@time",
            "error.message", "@text");

    static final class NotYet extends Exception {
        NotYet() {
            super("not yet");
        }
    }

    /** A program with telemetry: a client, and a worker for the queues of the vectors. */
    private static final class Program implements AutoCloseable {
        final InMemorySpanExporter exporter = InMemorySpanExporter.create();
        final SdkTracerProvider provider =
                SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(exporter)).build();
        final Tracer tracer = provider.get("program");
        final Spans spans = new Spans(provider);
        final OJSClient client;
        final OJSWorker worker;

        Program(OJSClient client) {
            this.client = client;
            client.middleware().prepend("trace_inject", spans::enqueue);
            worker = OJSWorker.builder().client(client).queues("mail", "default").workerId("w").build();
            worker.middleware().prepend("trace_extract", spans::process);
        }

        JobResult ended(Job job) {
            return client.waitForResult(job.id(), Support.PATIENCE);
        }

        List<SpanData> named(String name) {
            return exporter.getFinishedSpanItems().stream().filter(span -> span.getName().equals(name)).toList();
        }

        @Override
        public void close() {
            worker.stop(Duration.ZERO);
            client.close();
        }
    }

    private static Program program() {
        return new Program(OJSClient.connect("memory:"));
    }

    private static String text(SpanData span, String name) {
        return span.getAttributes().get(AttributeKey.stringKey(name));
    }

    /** A span in the words of the vectors. */
    private static Map<String, Object> described(SpanData span, List<SpanData> all) {
        Map<String, Object> attributes = new LinkedHashMap<>();
        span.getAttributes().forEach(
                (key, value) -> attributes.put(key.getKey(), PLACEHOLDERS.getOrDefault(key.getKey(), value)));
        Map<String, Object> about = new LinkedHashMap<>();
        about.put("name", span.getName());
        about.put("kind", span.getKind().name().toLowerCase(Locale.ROOT));
        about.put("status", span.getStatus().getStatusCode().name().toLowerCase(Locale.ROOT));
        about.put("parent", span.getParentSpanContext().isValid() ? place(span.getParentSpanId(), all) : null);
        about.put("links", links(span, all));
        about.put("attributes", attributes);
        about.put("events", span.getEvents().stream().map(event -> event.getName()).toList());
        return about;
    }

    private static List<String> links(SpanData span, List<SpanData> all) {
        return span.getLinks().stream().map(link -> place(link.getSpanContext().getSpanId(), all)).toList();
    }

    private static String place(String id, List<SpanData> all) {
        return all.stream().filter(other -> other.getSpanId().equals(id)).map(SpanData::getName).findFirst().orElse(id);
    }

    @TestFactory
    Stream<DynamicTest> spansAreThoseOfTheCore() throws IOException {
        Object cases = Members.of(Json.parse(Files.readAllBytes(Support.ROOT.resolve("tests/vectors/spans.json")))).get("spans");
        assertTrue(((List<?>) cases).size() >= 7);
        return ((List<?>) cases).stream().map(Members::of)
                .map(vector -> DynamicTest.dynamicTest(vector.get("name").toString(), () -> check(vector)));
    }

    private static void check(Map<String, Object> vector) {
        try (Program program = program()) {
            AtomicBoolean snoozed = new AtomicBoolean();
            program.worker.register("t.mail", ctx -> null, job -> job.queue("mail"));
            program.worker.register("t.ok", ctx -> null).register("t.fail", ctx -> {
                throw new NotYet();
            }).register("t.snooze", ctx -> {
                if (snoozed.getAndSet(true)) return null;
                throw new SnoozeException(Duration.ZERO);
            });
            program.worker.start();
            Map<String, Object> job = Members.of(vector.get("job"));
            Job made = program.client.enqueue(request(job));
            if (vector.get("runs").equals(true)) program.ended(made);
            if (job.containsKey("times")) {
                assertThrows(OJSException.Duplicate.class, () -> program.client.enqueue(request(job)));
            }
            program.worker.stop();
            // A job may be over before the answer to its enqueue is read.
            List<SpanData> all = new ArrayList<>(program.exporter.getFinishedSpanItems());
            all.sort(Comparator.comparingLong(SpanData::getStartEpochNanos));
            List<Object> found = new ArrayList<>();
            for (SpanData span : all) found.add(described(span, all));
            // Through JSON: numbers have one type then.
            assertEquals(vector.get("spans"), Json.parse(Json.bytes(found)));
        }
    }

    private static JobRequest request(Map<String, Object> job) {
        JobRequest request = JobRequest.of(job.get("type").toString(), (List<?>) job.get("args"));
        if (job.get("queue") instanceof String queue) request.queue(queue);
        if (job.get("priority") instanceof Number priority) request.priority(priority.intValue());
        if (job.get("max_attempts") instanceof Number most) request.retry(RetryPolicy.attempts(most.intValue()));
        if (job.get("delay_until") instanceof String time) request.delayUntil(Instant.parse(time));
        if (job.get("id") instanceof String id) request.id(id);
        if (job.containsKey("meta")) request.meta(Members.of(job.get("meta")));
        return request;
    }

    @Test
    void whatAHandlerDoesIsInsideOfItsSpan() {
        try (Program program = program()) {
            AtomicReference<String> tenant = new AtomicReference<>();
            program.worker.register("t.outer", ctx -> {
                tenant.set(Baggage.current().getEntryValue("tenant"));
                program.tracer.spanBuilder("work").startSpan().end();
                return ctx.client().enqueue("t.inner").id();
            }).register("t.inner", ctx -> null);
            program.worker.start();
            Span request = program.tracer.spanBuilder("request").startSpan();
            Job job;
            Baggage baggage = Baggage.builder().put("tenant", "acme").build();
            try (Scope scope = Context.root().with(request).with(baggage).makeCurrent()) {
                job = program.client.enqueue("t.outer");
            }
            program.ended(job);
            program.worker.stop();
            List<SpanData> made = program.named("default enqueue");
            SpanData outer = program.named("default process").stream()
                    .filter(span -> text(span, "ojs.job.type").equals("t.outer")).findFirst().get();
            for (SpanData span : made) {
                boolean inner = text(span, "ojs.job.type").equals("t.inner");
                assertEquals(inner ? outer.getSpanId() : request.getSpanContext().getSpanId(), span.getParentSpanId());
            }
            assertEquals(outer.getSpanId(), program.named("work").getFirst().getParentSpanId());
            // A link and no child: the job may run long after the request, and more than once.
            assertFalse(outer.getParentSpanContext().isValid());
            assertEquals(List.of("default enqueue"), links(outer, made));
            assertEquals("acme", tenant.get());
            assertEquals(2, made.size());
        }
    }

    @Test
    void eachJobOfABatchHasASpan() {
        try (Program program = program()) {
            List<JobRequest> two = List.of(JobRequest.of("t.ok", "a"), JobRequest.of("t.ok", "b"));
            List<Job> jobs = program.client.enqueueBatch(two);
            List<String> made = program.named("default enqueue").stream()
                    .map(span -> "00-" + span.getTraceId() + "-" + span.getSpanId() + "-01").toList();
            assertEquals(made, jobs.stream().map(job -> job.meta().get("traceparent")).toList());
        }
    }

    @Test
    void aCancelledJobHasNotFailed() throws InterruptedException {
        try (Program program = program()) {
            CountDownLatch begun = new CountDownLatch(1);
            program.worker.register("t.long", ctx -> {
                begun.countDown();
                while (ctx.heartbeat()) Thread.onSpinWait();
                throw new IllegalStateException("it was stopped");
            });
            program.worker.start();
            Job job = program.client.enqueue("t.long");
            assertTrue(begun.await(Support.PATIENCE.toSeconds(), TimeUnit.SECONDS));
            program.client.cancelJob(job.id());
            program.worker.stop();
            SpanData span = program.named("default process").getFirst();
            assertEquals(StatusCode.OK, span.getStatus().getStatusCode());
            assertEquals(List.of(), span.getEvents());
        }
    }

    @Test
    void ei002NeitherPlaintextNorCiphertextIsOnASpan() {
        String keys = "k-1:" + "01".repeat(32);
        try (Program program = new Program(OJSClient.builder().url("memory:").encryptionKeys(keys).build())) {
            program.worker.register("t.ok", ctx -> null).register("t.fail", ctx -> {
                throw new NotYet();
            });
            program.worker.start();
            StringBuilder stored = new StringBuilder();
            for (String type : List.of("t.ok", "t.fail")) {
                Job job = program.client.job(type, "4111 1111").retry(RetryPolicy.attempts(1)).enqueue();
                stored.append(Json.parse(Json.bytes(job.args())));
                program.ended(job);
            }
            program.worker.stop();
            String all = program.exporter.getFinishedSpanItems().toString();
            assertEquals(2, program.named("default process").size());
            for (String text : List.of(stored.toString(), all)) assertFalse(text.contains("4111 1111"), text);
            assertFalse(all.contains("args"), all);
            List<String> words = Stream.of(stored.toString().split("[^A-Za-z0-9+/=_-]+"))
                    .filter(word -> word.length() > 20).toList();
            assertFalse(words.isEmpty());
            for (String word : words) assertFalse(all.contains(word), word);
        }
    }
}
