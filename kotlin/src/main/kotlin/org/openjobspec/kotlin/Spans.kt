package org.openjobspec.kotlin

import io.opentelemetry.api.GlobalOpenTelemetry
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator
import io.opentelemetry.api.common.Attributes
import io.opentelemetry.api.common.AttributesBuilder
import io.opentelemetry.api.trace.Span
import io.opentelemetry.api.trace.SpanContext
import io.opentelemetry.api.trace.SpanKind
import io.opentelemetry.api.trace.StatusCode
import io.opentelemetry.api.trace.TracerProvider
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator
import io.opentelemetry.context.Context
import io.opentelemetry.context.Scope
import io.opentelemetry.context.propagation.TextMapGetter
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.ThreadContextElement
import kotlinx.coroutines.withContext

/**
 * OpenTelemetry spans around jobs, one object for clients and workers. Wanted: `io.opentelemetry:opentelemetry-api`,
 * which a program that does not use this class need not have.
 *
 * ```kotlin
 * val spans = Spans() // of the provider that the program has set
 * client.middleware.prepend("trace_inject", spans.enqueue)
 * worker.middleware.prepend("trace_extract", spans.process)
 * ```
 *
 * | span | kind | |
 * |---|---|---|
 * | `{queue} enqueue` | producer | one per job, in batches and outboxes too; a child of the current span |
 * | `{queue} process` | consumer | one per attempt, linked to the enqueue span, parent of what the handler does |
 *
 * The trace travels in the job's metadata: `traceparent`, `tracestate`, `baggage` (W3C; extensions section 12). The
 * current span follows the coroutine from thread to thread. Arguments and results are on no span, encrypted or not.
 *
 * @param provider where the spans go; the global one of the program, which must have been set before
 */
public class Spans(provider: TracerProvider = GlobalOpenTelemetry.getTracerProvider()) {
    private val tracer = provider["ojs"]

    /** The layer `trace_inject` of a client. */
    public val enqueue: EnqueueMiddleware = EnqueueMiddleware { request, next ->
        val queue = request.options["queue"] as? String ?: "default"
        val about = messaging("publish", queue)
            .put("ojs.job.type", request.type)
            .put("ojs.job.priority", (request.options["priority"] as? Number)?.toLong() ?: 0)
        val parent = parentOf(request.meta)
        val span = started("$queue enqueue", parent, SpanKind.PRODUCER, about)
        span.size(request.args)
        val context = parent.with(span)
        val traced = LinkedHashMap(request.meta)
        for (propagator in listOf(TRACE, BAGGAGE)) {
            propagator.inject(context, traced) { carrier, name, value -> carrier?.put(name, value) }
        }
        around(span, context, { it.code() }) {
            next(request.copy(meta = traced)).also { job -> job?.let { span.about(it, queue) } }
        }
    }

    /** The layer `trace_extract` of a worker. */
    public val process: ExecutionMiddleware = ExecutionMiddleware { ctx, next ->
        val carried = carriedBy(ctx.meta)
        val parent = BAGGAGE.extract(Context.current(), carried, GETTER)
        // A link, no parent: the job may run long after its producer's trace is over, and more than once.
        val span = started("${ctx.queue} process", parent, SpanKind.CONSUMER, about(ctx), spanNamedBy(carried))
        span.size(ctx.args)
        around(span, parent.with(span), { kindOfFailure(ctx, it, span) }) { next(ctx) }
    }

    private fun started(
        name: String,
        parent: Context,
        kind: SpanKind,
        about: AttributesBuilder,
        link: SpanContext = SpanContext.getInvalid(),
    ): Span {
        val builder = tracer.spanBuilder(name).setParent(parent).setSpanKind(kind).setAllAttributes(about.build())
        // A link to nothing is left out by the library.
        return builder.addLink(link).startSpan()
    }

    private companion object {
        val TRACE: W3CTraceContextPropagator = W3CTraceContextPropagator.getInstance()
        val BAGGAGE: W3CBaggagePropagator = W3CBaggagePropagator.getInstance()
        val FIELDS = listOf("traceparent", "tracestate", "baggage")

        /** Before the names that an older document gave them; read, never written. */
        const val OLD = "ojs.otel."

        val GETTER = object : TextMapGetter<Map<String, String>> {
            override fun keys(carrier: Map<String, String>) = carrier.keys

            override fun get(carrier: Map<String, String>?, key: String) = carrier?.get(key)
        }

        /**
         * Runs what is inside of a span and ends the span.
         *
         * @param kind what kind of failure an exception is: a code or the name of a class; null where it is none
         */
        suspend fun <T> around(span: Span, context: Context, kind: (Throwable) -> String?, work: suspend () -> T): T =
            try {
                withContext(Current(context)) { work() }.also { span.setStatus(StatusCode.OK) }
            } catch (e: Throwable) {
                kind(e)?.let { span.failed(it, e) } ?: span.setStatus(StatusCode.OK)
                throw e
            } finally {
                span.end()
            }

        fun Throwable.code(): String = (this as? OjsException)?.code ?: javaClass.simpleName

        /** A cancelled job that stops with an exception has done as it was asked; one whose time is up has failed. */
        fun kindOfFailure(ctx: JobContext, thrown: Throwable, span: Span): String? {
            val kind = Outcome.failure(ctx, thrown).kind
            val late = kind == Kind.RELEASED && ctx.cancelReason == CancelReason.TIMED_OUT
            if (kind != Kind.FAILED && !late || ctx.cancelReason == CancelReason.CANCELLED) return null
            span.setAttribute("ojs.job.error.attempt", ctx.attempt.toLong())
            return thrown.javaClass.simpleName
        }

        fun Span.failed(kind: String, thrown: Throwable) {
            val message = thrown.message?.ifEmpty { null } ?: thrown.javaClass.simpleName
            recordException(thrown)
            setAttribute("error.type", kind)
            setAttribute("error.message", message)
            setStatus(StatusCode.ERROR, message)
        }

        // --- attributes ---

        /** What spans of every kind have: the operation's place in OpenTelemetry's conventions for messaging. */
        fun messaging(operation: String, queue: String): AttributesBuilder = Attributes.builder()
            .put("messaging.system", "ojs")
            .put("messaging.operation.type", operation)
            .put("messaging.destination.name", queue)
            .put("ojs.job.queue", queue)

        fun about(ctx: JobContext): AttributesBuilder {
            val job = ctx.job
            val found = messaging("process", ctx.queue)
                .put("ojs.job.id", ctx.id)
                .put("messaging.message.id", ctx.id)
                .put("ojs.job.type", ctx.type)
                .put("ojs.job.attempt", ctx.attempt.toLong())
                .put("ojs.job.priority", job.priority.toLong())
                .put("ojs.job.state", "active")
            ctx.workerId?.let { found.put("ojs.worker.id", it) }
            val workflow = ctx.workflowId ?: return found
            found.put("ojs.workflow.id", workflow)
            for (part in listOf("type", "step")) {
                job["workflow_$part"]?.let { found.put("ojs.workflow.$part", it.toString()) }
            }
            return found
        }

        /** The job as it was stored, or as it will be sent in a batch. */
        fun Span.about(job: Job, queue: String) {
            if (job.state != null && job.queue != queue) {
                // The request names none, and the core has filled in the queue of its type.
                updateName("${job.queue} enqueue").setAllAttributes(messaging("publish", job.queue).build())
            }
            if (job.id.isNotEmpty()) setAttribute("ojs.job.id", job.id).setAttribute("messaging.message.id", job.id)
            job.state?.let { setAttribute("ojs.job.state", it) }
            (job["scheduled_at"] as? String)?.let { setAttribute("ojs.job.scheduled_at", it) }
        }

        /** How many bytes the arguments are as JSON. */
        fun Span.size(args: List<Any?>) {
            if (!isRecording) return
            try {
                setAttribute("messaging.message.body.size", jsonText(args).encodeToByteArray().size.toLong())
            } catch (e: OjsException) {
                // What cannot be sent is refused where it is sent.
            }
        }

        // --- the trace in metadata ---

        /** The W3C names, the older ones, and `trace_id` with `span_id` where there is nothing else. */
        fun carriedBy(meta: Map<String, Any?>): Map<String, String> = buildMap {
            fun text(name: String) =
                ((if (name in meta) meta[name] else meta[OLD + name]) as? String)?.ifEmpty { null }
            for (name in FIELDS) text(name)?.let { put(name, it) }
            val (trace, span) = text("trace_id") to text("span_id")
            // Whether it was sampled is not known then; 01 leaves it to the sampler.
            if (trace != null && span != null) putIfAbsent("traceparent", "00-$trace-$span-01")
        }

        /** The span that the metadata names; invalid when it names none. */
        fun spanNamedBy(carried: Map<String, String>): SpanContext =
            Span.fromContext(TRACE.extract(Context.root(), carried, GETTER)).spanContext

        /** The current span; where there is none, or the job names another trace, what the job names. */
        fun parentOf(meta: Map<String, Any?>): Context {
            val current = Context.current()
            val here = Span.fromContext(current).spanContext
            val named = spanNamedBy(carriedBy(meta))
            val own = !named.isValid || here.isValid && here.traceId == named.traceId
            return if (own) current else current.with(Span.wrap(named))
        }
    }

    /** Makes the context of OpenTelemetry, which belongs to a thread, that of a coroutine. */
    private class Current(private val context: Context) :
        AbstractCoroutineContextElement(Key), ThreadContextElement<Scope> {
        override fun updateThreadContext(context: CoroutineContext): Scope = this.context.makeCurrent()

        override fun restoreThreadContext(context: CoroutineContext, oldState: Scope) = oldState.close()

        companion object Key : CoroutineContext.Key<Current>
    }
}
