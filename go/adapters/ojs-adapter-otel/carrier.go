package ojsotel

import (
	"context"

	"github.com/openjobspec/ojs-go"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// older stands before the names that an older document gave them; read, never written.
const older = "ojs.otel."

var (
	tracing propagation.TraceContext
	baggage propagation.Baggage
)

type carrier = propagation.MapCarrier

// carrierOf is the trace in metadata: W3C's names, the older ones, and trace_id with span_id where there is nothing
// else.
func carrierOf(meta ojs.Obj) carrier {
	text := func(name string) string {
		found, there := meta[name]
		if !there {
			found = meta[older+name]
		}
		value, _ := found.(string)
		return value
	}
	found := carrier{}
	for _, name := range append(tracing.Fields(), baggage.Fields()...) {
		if value := text(name); value != "" {
			found[name] = value
		}
	}
	if traceID, spanID := text("trace_id"), text("span_id"); found["traceparent"] == "" && traceID != "" && spanID != "" {
		// Whether it was sampled is not known then; 01 leaves it to the sampler.
		found["traceparent"] = "00-" + traceID + "-" + spanID + "-01"
	}
	return found
}

// spanOf is the span that the metadata names.
func spanOf(carried carrier) trace.SpanContext {
	return trace.SpanContextFromContext(tracing.Extract(context.Background(), carried))
}

// parent has the current span; where there is none, or the job names another trace, what the job names.
func parent(ctx context.Context, meta ojs.Obj) context.Context {
	here, named := trace.SpanContextFromContext(ctx), spanOf(carrierOf(meta))
	if !named.IsValid() || here.IsValid() && here.TraceID() == named.TraceID() {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(ctx, named)
}
