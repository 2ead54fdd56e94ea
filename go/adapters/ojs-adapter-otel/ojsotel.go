// Package ojsotel makes OpenTelemetry spans around jobs (extensions section 12).
//
//	spans := ojsotel.New() // of the provider that the program has set
//	err := client.Middleware().Prepend("trace_inject", spans.Enqueue)
//	err = worker.Middleware().Prepend("trace_extract", spans.Process)
//
// The span "{queue} enqueue" is a producer, one per job, in batches and outboxes too, a child of the span in the
// context. The span "{queue} process" is a consumer, one per attempt, linked to the enqueue span, and in the context of
// the handler. The trace travels in the job's metadata: traceparent, tracestate, baggage (W3C). Arguments and results
// are on no span, encrypted or not.
package ojsotel

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"runtime/debug"
	"strings"
	"time"

	"github.com/openjobspec/ojs-go"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Spans makes the spans. One may serve many clients and workers.
type Spans struct{ tracer trace.Tracer }

// Option is a setting of [New].
type Option func(*settings)

type settings struct{ provider trace.TracerProvider }

// WithTracerProvider takes this provider in place of the global one.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(s *settings) { s.provider = provider }
}

// New makes spans of the global provider, which may be set later.
func New(options ...Option) *Spans {
	s := settings{provider: otel.GetTracerProvider()}
	for _, option := range options {
		option(&s)
	}
	return &Spans{s.provider.Tracer("ojs", trace.WithInstrumentationVersion(version()))}
}

// version is that of this module in the program; empty in a program that was not built of modules.
func version() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/openjobspec/ojs-go" {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return ""
}

// Enqueue is the layer "trace_inject" of a client.
func (s *Spans) Enqueue(ctx context.Context, request *ojs.JobRequest, next ojs.EnqueueFunc) (*ojs.Job, error) {
	queue := cmp.Or(request.Queue, "default")
	attributes := append(messaging("publish", queue),
		attribute.String("ojs.job.type", request.Type), attribute.Int("ojs.job.priority", request.Priority))
	ctx, span := s.tracer.Start(parent(ctx, request.Meta), queue+" enqueue",
		trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(attributes...))
	defer span.End()
	inject(ctx, request)
	if span.IsRecording() {
		// What cannot be sent is refused where it is sent.
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if encoder.Encode(request) == nil {
			size(span, text.Bytes())
		}
	}
	job, err := next(ctx, request)
	if err != nil {
		fail(span, refusal(err), err.Error(), err)
		return job, err
	}
	if job != nil && job.ID != "" {
		span.SetAttributes(attribute.String("ojs.job.id", job.ID), attribute.String("messaging.message.id", job.ID))
	}
	if job != nil && job.Queue != "" && job.Queue != queue {
		// The request names none, and jobs of its type go there by default.
		span.SetName(job.Queue + " enqueue")
		span.SetAttributes(messaging("publish", job.Queue)...)
	}
	if job != nil && job.State != "" {
		span.SetAttributes(attribute.String("ojs.job.state", string(job.State)))
	}
	if job != nil && !job.ScheduledAt.IsZero() {
		span.SetAttributes(attribute.String("ojs.job.scheduled_at", job.ScheduledAt.UTC().Format(time.RFC3339Nano)))
	}
	span.SetStatus(codes.Ok, "")
	return job, nil
}

// Process is the layer "trace_extract" of a worker.
func (s *Spans) Process(ctx ojs.JobContext, next ojs.HandlerFunc) error {
	queue := cmp.Or(ctx.Job.Queue, "default")
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(append(messaging("process", queue), about(ctx)...)...),
	}
	carried := carrierOf(ctx.Job.Meta)
	// A link, no parent: the job may run long after its producer's trace is over, and more than once.
	if named := spanOf(carried); named.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: named}))
	}
	inner, span := s.tracer.Start(baggage.Extract(ctx.Context(), carried), queue+" process", options...)
	size(span, ctx.Job.Raw)
	// It records a panic, which goes on to the worker.
	defer span.End(trace.WithStackTrace(true))
	returned := false
	defer func() {
		if !returned {
			span.SetAttributes(attribute.String("error.type", "panic"), attribute.Int("ojs.job.error.attempt", ctx.Attempt()))
			span.SetStatus(codes.Error, "the handler panicked")
		}
	}()
	err := next(ctx.WithContext(inner))
	returned = true
	conclude(span, ctx, err)
	return err
}

func conclude(span trace.Span, ctx ojs.JobContext, err error) {
	cause := context.Cause(ctx)
	outcome := ctx.OutcomeOf(err)
	failed := outcome.Kind == ojs.OutcomeFailed
	late := outcome.Kind == ojs.OutcomeReleased && errors.Is(cause, ojs.ErrTimedOut)
	// A cancelled job that stops with an error has done as it was asked; one whose time is up has failed.
	if err == nil || !failed && !late || errors.Is(cause, ojs.ErrCancelled) {
		span.SetStatus(codes.Ok, "")
		return
	}
	failure := ojs.JobFailure{Type: "timeout", Message: "the attempt's time is up"}
	_ = json.Unmarshal(outcome.Error, &failure)
	span.SetAttributes(attribute.Int("ojs.job.error.attempt", ctx.Attempt()))
	fail(span, failure.Type, failure.Message, err)
}

// fail says that it failed. kind is a code or the name of a type, never a text of many values.
func fail(span trace.Span, kind, message string, err error) {
	span.RecordError(err)
	span.SetAttributes(attribute.String("error.type", kind), attribute.String("error.message", message))
	span.SetStatus(codes.Error, message)
}

func refusal(err error) string {
	var ours *ojs.Error
	if errors.As(err, &ours) && ours.Code != "" {
		return ours.Code
	}
	return "error"
}

// messaging is what spans of every kind have: the operation's place in OpenTelemetry's conventions for messaging.
func messaging(operation, queue string) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("messaging.system", "ojs"),
		attribute.String("messaging.operation.type", operation),
		attribute.String("messaging.destination.name", queue),
		attribute.String("ojs.job.queue", queue),
	}
}

// size is how many bytes the arguments are, in the JSON of a job.
func size(span trace.Span, job []byte) {
	var read struct{ Args json.RawMessage }
	if span.IsRecording() && json.Unmarshal(job, &read) == nil {
		span.SetAttributes(attribute.Int("messaging.message.body.size", len(read.Args)))
	}
}

func about(ctx ojs.JobContext) []attribute.KeyValue {
	job := ctx.Job
	found := []attribute.KeyValue{
		attribute.String("ojs.job.id", job.ID),
		attribute.String("messaging.message.id", job.ID),
		attribute.String("ojs.job.type", job.Type),
		attribute.Int("ojs.job.attempt", job.Attempt),
		attribute.Int("ojs.job.priority", job.Priority),
		attribute.String("ojs.job.state", "active"),
	}
	if id := ctx.WorkerID(); id != "" {
		found = append(found, attribute.String("ojs.worker.id", id))
	}
	if job.WorkflowID == "" {
		return found
	}
	var member struct {
		Type string          `json:"workflow_type"`
		Step json.RawMessage `json:"workflow_step"`
	}
	_ = json.Unmarshal(job.Raw, &member)
	found = append(found, attribute.String("ojs.workflow.id", job.WorkflowID))
	if member.Type != "" {
		found = append(found, attribute.String("ojs.workflow.type", member.Type))
	}
	if step := strings.Trim(string(member.Step), `"`); step != "" && step != "null" {
		found = append(found, attribute.String("ojs.workflow.step", step))
	}
	return found
}

// inject writes the place in the trace into the metadata: into a new map, because the caller's may serve other jobs.
func inject(ctx context.Context, request *ojs.JobRequest) {
	carried := carrier{}
	tracing.Inject(ctx, carried)
	baggage.Inject(ctx, carried)
	if len(carried) == 0 {
		return
	}
	meta := ojs.Obj{}
	maps.Copy(meta, request.Meta)
	for name, value := range carried {
		meta[name] = value
	}
	request.Meta = meta
}
