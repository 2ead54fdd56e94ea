package org.openjobspec;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * OpenTelemetry spans around jobs, one object for clients and workers. Wanted:
 * {@code io.opentelemetry:opentelemetry-api}, which a program that does not use this class need not have.
 *
 * {@snippet :
 * Spans spans = new Spans(); // of the provider that the program has set
 * client.middleware().prepend("trace_inject", spans::enqueue);
 * worker.middleware().prepend("trace_extract", spans::process);
 * }
 *
 * <table>
 * <caption>Spans</caption>
 * <tr><td>{@code {queue} enqueue}</td><td>producer</td>
 * <td>one per job, in batches and outboxes too; a child of the current span</td></tr>
 * <tr><td>{@code {queue} process}</td><td>consumer</td>
 * <td>one per attempt, linked to the enqueue span, parent of what the handler does</td></tr>
 * </table>
 *
 * The trace travels in the job's metadata: {@code traceparent}, {@code tracestate}, {@code baggage} (W3C; extensions
 * section 12). Arguments and results are on no span, encrypted or not.
 */
public final class Spans {
    private static final TextMapPropagator TRACE = W3CTraceContextPropagator.getInstance();
    private static final TextMapPropagator BAGGAGE = W3CBaggagePropagator.getInstance();
    private static final List<String> FIELDS = List.of("traceparent", "tracestate", "baggage");
    /** Before the names that an older document gave them; read, never written. */
    private static final String OLD = "ojs.otel.";

    private final Tracer tracer;

    /** Of the provider that the program has set as the global one; make it after that. */
    public Spans() {
        this(GlobalOpenTelemetry.getTracerProvider());
    }

    /** Of this provider. */
    public Spans(TracerProvider provider) {
        tracer = provider.get("ojs");
    }

    /** The layer {@code trace_inject} of a client. */
    public Job enqueue(JobRequest request, EnqueueMiddleware.Next next) {
        String queue = request.options().get("queue") instanceof String said ? said : "default";
        Context parent = parent(request.meta());
        long priority = request.options().get("priority") instanceof Number said ? said.longValue() : 0;
        AttributesBuilder attributes =
                messaging("publish", queue).put("ojs.job.type", request.type()).put("ojs.job.priority", priority);
        Span span = started(queue + " enqueue", parent, SpanKind.PRODUCER, attributes, null);
        Context context = parent.with(span);
        TRACE.inject(context, request.meta(), Map::put);
        BAGGAGE.inject(context, request.meta(), Map::put);
        size(span, request.args());
        try (Scope scope = context.makeCurrent()) {
            Job job = next.enqueue(request);
            if (job != null) about(span, job, queue);
            span.setStatus(StatusCode.OK);
            return job;
        } catch (Throwable e) {
            String kind = e instanceof OJSException ours ? ours.code() : e.getClass().getSimpleName();
            failed(span, kind, e.getMessage(), e);
            throw e;
        } finally {
            span.end();
        }
    }

    /** The layer {@code trace_extract} of a worker. */
    public Object process(JobContext ctx, JobHandler next) throws Exception {
        Map<String, String> carried = carried(ctx.meta());
        SpanContext named = spanOf(carried);
        Context parent = BAGGAGE.extract(Context.current(), carried, GETTER);
        // A link, no parent: the job may run long after its producer's trace is over, and more than once.
        SpanContext link = named.isValid() ? named : null;
        Span span = started(ctx.queue() + " process", parent, SpanKind.CONSUMER, about(ctx), link);
        size(span, ctx.args());
        try (Scope scope = parent.with(span).makeCurrent()) {
            Object result = next.handle(ctx);
            span.setStatus(StatusCode.OK);
            return result;
        } catch (Throwable e) {
            conclude(span, ctx, e);
            throw e;
        } finally {
            span.end();
        }
    }

    private Span started(String name, Context parent, SpanKind kind, AttributesBuilder about, SpanContext link) {
        SpanBuilder builder = tracer.spanBuilder(name).setParent(parent).setSpanKind(kind);
        builder.setAllAttributes(about.build());
        return (link == null ? builder : builder.addLink(link)).startSpan();
    }

    private static void conclude(Span span, JobContext ctx, Throwable thrown) {
        Outcome outcome = Outcome.failure(ctx, thrown);
        boolean late = outcome.kind() == Outcome.RELEASED && ctx.cancelReason() == CancelReason.TIMED_OUT;
        // A cancelled job that stops with an exception has done as it was asked; one whose time is up has failed.
        if (outcome.kind() != Outcome.FAILED && !late || ctx.cancelReason() == CancelReason.CANCELLED) {
            span.setStatus(StatusCode.OK);
            return;
        }
        span.setAttribute("ojs.job.error.attempt", (long) ctx.attempt());
        failed(span, thrown.getClass().getSimpleName(), thrown.getMessage(), thrown);
    }

    /** {@code kind}: a code or the name of a class, never a text of many values. */
    private static void failed(Span span, String kind, String said, Throwable thrown) {
        String message = said == null || said.isEmpty() ? thrown.getClass().getSimpleName() : said;
        span.recordException(thrown);
        span.setAttribute("error.type", kind);
        span.setAttribute("error.message", message);
        span.setStatus(StatusCode.ERROR, message);
    }

    // --- attributes ---

    /** What spans of every kind have: the operation's place in OpenTelemetry's conventions for messaging. */
    private static AttributesBuilder messaging(String operation, String queue) {
        return Attributes.builder().put("messaging.system", "ojs").put("messaging.operation.type", operation)
                .put("messaging.destination.name", queue).put("ojs.job.queue", queue);
    }

    private static AttributesBuilder about(JobContext ctx) {
        Job job = ctx.job();
        AttributesBuilder found = messaging("process", ctx.queue())
                .put("ojs.job.id", ctx.id()).put("messaging.message.id", ctx.id()).put("ojs.job.type", ctx.type())
                .put("ojs.job.attempt", ctx.attempt()).put("ojs.job.priority", job.priority())
                .put("ojs.job.state", "active");
        put(found, "ojs.worker.id", ctx.workerId());
        if (ctx.workflowId() == null) return found;
        put(found, "ojs.workflow.id", ctx.workflowId());
        put(found, "ojs.workflow.type", job.get("workflow_type"));
        put(found, "ojs.workflow.step", job.get("workflow_step"));
        return found;
    }

    private static void put(AttributesBuilder attributes, String name, Object value) {
        if (value != null) attributes.put(name, value.toString());
    }

    /** The job as it was stored, or as it will be sent in a batch. */
    private static void about(Span span, Job job, String queue) {
        if (job.state() != null && !queue.equals(job.queue())) {
            // The request names none, and jobs of its type go there by default.
            span.updateName(job.queue() + " enqueue").setAllAttributes(messaging("publish", job.queue()).build());
        }
        if (job.id() != null) span.setAttribute("ojs.job.id", job.id()).setAttribute("messaging.message.id", job.id());
        if (job.state() != null) span.setAttribute("ojs.job.state", job.state());
        if (job.get("scheduled_at") instanceof String time) span.setAttribute("ojs.job.scheduled_at", time);
    }

    /** How many bytes the arguments are as JSON. */
    private static void size(Span span, List<Object> args) {
        if (!span.isRecording()) return;
        try {
            span.setAttribute("messaging.message.body.size", (long) Json.bytes(args).length);
        } catch (RuntimeException e) {
            // What cannot be sent is refused where it is sent.
        }
    }

    // --- the trace in metadata ---

    /** The W3C names, the older ones, and {@code trace_id} with {@code span_id} where there is nothing else. */
    private static Map<String, String> carried(Map<String, Object> meta) {
        Map<String, String> found = new HashMap<>();
        for (String name : FIELDS) {
            String text = text(meta, name);
            if (text != null) found.put(name, text);
        }
        String trace = text(meta, "trace_id");
        String span = text(meta, "span_id");
        // Whether it was sampled is not known then; 01 leaves it to the sampler.
        if (trace != null && span != null) found.putIfAbsent("traceparent", "00-" + trace + "-" + span + "-01");
        return found;
    }

    private static String text(Map<String, Object> meta, String name) {
        Object value = meta.containsKey(name) ? meta.get(name) : meta.get(OLD + name);
        return value instanceof String text && !text.isEmpty() ? text : null;
    }

    /** The span that the metadata names; invalid when it names none. */
    private static SpanContext spanOf(Map<String, String> carried) {
        return Span.fromContext(TRACE.extract(Context.root(), carried, GETTER)).getSpanContext();
    }

    /** The current span; where there is none, or the job names another trace, what the job names. */
    private static Context parent(Map<String, Object> meta) {
        Context current = Context.current();
        SpanContext here = Span.fromContext(current).getSpanContext();
        SpanContext named = spanOf(carried(meta));
        if (!named.isValid() || here.isValid() && here.getTraceId().equals(named.getTraceId())) return current;
        return current.with(Span.wrap(named));
    }

    private static final TextMapGetter<Map<String, String>> GETTER = new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(Map<String, String> carrier) {
            return carrier.keySet();
        }

        @Override
        public String get(Map<String, String> carrier, String key) {
            return carrier.get(key);
        }
    };
}
