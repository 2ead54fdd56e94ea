// OpenTelemetry's own SDK with an exporter in memory. What the spans are: tests/vectors/spans.json.
package ojsotel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
	ojsotel "github.com/openjobspec/ojs-go/adapters/ojs-adapter-otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// patience is the longest a test waits for something that takes milliseconds. Reached only by failures.
const patience = 60 * time.Second

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%+v", err)
	}
}

// engines counts those of this process: one without a name would be shared.
var engines atomic.Int64

// NotYet is a failure of a handler.
type NotYet struct{}

func (NotYet) Error() string { return "not yet" }

// program is one with telemetry: a client, and a worker for the queues of the vectors.
type program struct {
	t        *testing.T
	ctx      context.Context
	client   *ojs.Client
	worker   *ojs.Worker
	tracer   trace.Tracer
	exporter *tracetest.InMemoryExporter
}

func newProgram(t *testing.T, options ...ojs.ClientOption) *program {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	spans := ojsotel.New(ojsotel.WithTracerProvider(provider))
	client, err := ojs.NewClient(fmt.Sprintf("memory:otel-%d", engines.Add(1)), options...)
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	must(t, client.Middleware().Prepend("trace_inject", spans.Enqueue))
	worker, err := client.NewWorker(ojs.WithQueues("mail", "default"), ojs.WithWorkerID("w"))
	must(t, err)
	must(t, worker.Middleware().Prepend("trace_extract", spans.Process))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return &program{t, ctx, client, worker, provider.Tracer("program"), exporter}
}

// run starts the worker, does what is to be done, and stops the worker.
func (p *program) run(work func()) {
	p.t.Helper()
	ctx, stop := context.WithCancel(p.ctx)
	over := make(chan error, 1)
	go func() { over <- p.worker.Start(ctx) }()
	work()
	stop()
	// A worker that was stopped before it had connected says so.
	if err := <-over; err != nil && !errors.Is(err, context.Canceled) {
		p.t.Fatal(err)
	}
}

func (p *program) ended(job *ojs.Job, err error) {
	p.t.Helper()
	must(p.t, err)
	_, err = p.client.WaitForResult(p.ctx, job.ID)
	must(p.t, err)
}

func (p *program) named(name string) (found []tracetest.SpanStub) {
	for _, span := range p.exporter.GetSpans() {
		if span.Name == name {
			found = append(found, span)
		}
	}
	return found
}

func value(span tracetest.SpanStub, name attribute.Key) string {
	for _, pair := range span.Attributes {
		if pair.Key == name {
			return pair.Value.Emit()
		}
	}
	return ""
}

// described is a span in the words of the vectors.
func described(span tracetest.SpanStub, all tracetest.SpanStubs) map[string]any {
	place := func(id trace.SpanID) any {
		for _, other := range all {
			if other.SpanContext.SpanID() == id {
				return other.Name
			}
		}
		if !id.IsValid() {
			return nil
		}
		return id.String()
	}
	attributes := map[string]any{}
	for _, pair := range span.Attributes {
		switch pair.Key {
		case "ojs.job.id", "messaging.message.id":
			attributes[string(pair.Key)] = "@id"
		case "ojs.job.scheduled_at":
			attributes[string(pair.Key)] = "@time"
		case "error.message":
			attributes[string(pair.Key)] = "@text"
		case "error.type": // with its package in Go
			attributes[string(pair.Key)] = strings.TrimPrefix(pair.Value.AsString(), "ojsotel_test.")
		default:
			attributes[string(pair.Key)] = pair.Value.AsInterface()
		}
	}
	links, events := []any{}, []any{}
	for _, link := range span.Links {
		links = append(links, place(link.SpanContext.SpanID()))
	}
	for _, event := range span.Events {
		events = append(events, event.Name)
	}
	return map[string]any{
		"name": span.Name, "kind": span.SpanKind.String(), "status": strings.ToLower(span.Status.Code.String()),
		"parent": place(span.Parent.SpanID()), "links": links, "attributes": attributes, "events": events,
	}
}

type vector struct {
	Name string
	Runs bool
	Job  struct {
		Type        string
		Args        ojs.Args
		ID          string
		Queue       string
		Priority    int
		Meta        ojs.Obj
		MaxAttempts int       `json:"max_attempts"`
		DelayUntil  time.Time `json:"delay_until"`
		Times       int
	}
	Spans []any
}

func TestSpansAreThoseOfTheCore(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../tests/vectors/spans.json")
	must(t, err)
	var file struct{ Spans []vector }
	must(t, json.Unmarshal(text, &file))
	if len(file.Spans) < 7 {
		t.Fatalf("%d vectors", len(file.Spans))
	}
	for _, vector := range file.Spans {
		t.Run(vector.Name, func(t *testing.T) { t.Parallel(); vector.check(t) })
	}
}

func (v vector) check(t *testing.T) {
	p := newProgram(t)
	var snoozed atomic.Bool
	p.worker.Register("t.ok", func(ojs.JobContext) error { return nil })
	p.worker.Register("t.mail", func(ojs.JobContext) error { return nil }, ojs.WithQueue("mail"))
	p.worker.Register("t.fail", func(ojs.JobContext) error { return NotYet{} })
	p.worker.Register("t.snooze", func(ojs.JobContext) error {
		if snoozed.Swap(true) {
			return nil
		}
		return ojs.Snooze(0)
	})
	p.run(func() {
		options := []ojs.EnqueueOption{ojs.WithMeta(v.Job.Meta)}
		if v.Job.ID != "" {
			options = append(options, ojs.WithID(v.Job.ID))
		}
		if v.Job.Queue != "" {
			options = append(options, ojs.WithQueue(v.Job.Queue), ojs.WithPriority(v.Job.Priority))
		}
		if v.Job.MaxAttempts > 0 {
			options = append(options, ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: v.Job.MaxAttempts}))
		}
		if !v.Job.DelayUntil.IsZero() {
			options = append(options, ojs.WithScheduledAt(v.Job.DelayUntil))
		}
		job, err := p.client.Enqueue(p.ctx, v.Job.Type, v.Job.Args, options...)
		must(t, err)
		if v.Runs {
			p.ended(job, nil)
		}
		if v.Job.Times > 1 {
			if _, err := p.client.Enqueue(p.ctx, v.Job.Type, v.Job.Args, options...); !errors.Is(err, ojs.ErrDuplicate) {
				t.Errorf("the second is not refused: %v", err)
			}
		}
	})
	all := p.exporter.GetSpans()
	// A job may be over before the answer to its enqueue is read.
	slices.SortStableFunc(all, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	var found []any
	for _, span := range all {
		found = append(found, described(span, all))
	}
	// Through JSON: numbers have one type then.
	text, err := json.Marshal(found)
	must(t, err)
	var spans []any
	must(t, json.Unmarshal(text, &spans))
	if !reflect.DeepEqual(spans, v.Spans) {
		expected, _ := json.MarshalIndent(v.Spans, "", " ")
		got, _ := json.MarshalIndent(spans, "", " ")
		t.Errorf("got %s\nexpected %s", got, expected)
	}
}

func TestWhatAHandlerDoesIsInsideOfItsSpan(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	var tenant atomic.Value
	p.worker.Register("t.outer", func(ctx ojs.JobContext) error {
		tenant.Store(baggage.FromContext(ctx).Member("tenant").Value())
		_, span := p.tracer.Start(ctx, "work")
		span.End()
		_, err := p.client.Enqueue(ctx, "t.inner", nil)
		return err
	})
	p.worker.Register("t.inner", func(ojs.JobContext) error { return nil })
	member, err := baggage.NewMember("tenant", "acme")
	must(t, err)
	bag, err := baggage.New(member)
	must(t, err)
	ctx, request := p.tracer.Start(baggage.ContextWithBaggage(p.ctx, bag), "request")
	p.run(func() { p.ended(p.client.Enqueue(ctx, "t.outer", nil)) })
	request.End()
	made := p.named("default enqueue")
	var outer tracetest.SpanStub
	for _, span := range p.named("default process") {
		if value(span, "ojs.job.type") == "t.outer" {
			outer = span
		}
	}
	for _, span := range made {
		want := request.SpanContext()
		if value(span, "ojs.job.type") == "t.inner" {
			want = outer.SpanContext
		}
		if span.Parent.SpanID() != want.SpanID() {
			t.Errorf("%+v is no child of %v", span, want)
		}
	}
	if work := p.named("work")[0]; work.Parent.SpanID() != outer.SpanContext.SpanID() {
		t.Errorf("%+v is no child of %+v", work, outer)
	}
	// A link and no child: the job may run long after the request, and more than once.
	if outer.Parent.IsValid() || len(outer.Links) != 1 || len(made) != 2 || tenant.Load() != "acme" {
		t.Errorf("%+v, %d enqueue spans, tenant %v", outer, len(made), tenant.Load())
	}
}

func TestEachJobOfABatchHasASpan(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	jobs, err := p.client.EnqueueBatch(p.ctx, []ojs.JobRequest{ojs.NewJob("t.ok", "a"), ojs.NewJob("t.ok", "b")})
	must(t, err)
	made := p.named("default enqueue")
	for i, job := range jobs {
		want := fmt.Sprintf("00-%s-%s-01", made[i].SpanContext.TraceID(), made[i].SpanContext.SpanID())
		if job.Meta["traceparent"] != want {
			t.Errorf("%v, expected %s", job.Meta, want)
		}
	}
}

func TestACancelledJobHasNotFailed(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	begun := make(chan struct{})
	p.worker.Register("t.long", func(ctx ojs.JobContext) error {
		close(begun)
		for ctx.Heartbeat() == nil {
		}
		return errors.New("it was stopped")
	})
	p.run(func() {
		job, err := p.client.Enqueue(p.ctx, "t.long", nil)
		must(t, err)
		<-begun
		_, err = p.client.CancelJob(p.ctx, job.ID)
		must(t, err)
	})
	if span := p.named("default process")[0]; span.Status.Code != codes.Ok || len(span.Events) != 0 {
		t.Errorf("%+v", span)
	}
}

func TestAPanicIsOnTheSpanAndGoesOnToTheWorker(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.worker.Register("t.panic", func(ojs.JobContext) error { panic("a bug") })
	p.run(func() {
		job, err := p.client.Enqueue(p.ctx, "t.panic", nil, ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: 1}))
		p.ended(job, err)
		job, err = p.client.GetJob(p.ctx, job.ID)
		must(t, err)
		if !strings.Contains(job.Error.Message, "a bug") {
			t.Errorf("%+v", job.Error)
		}
	})
	if span := p.named("default process")[0]; span.Status.Code != codes.Error || len(span.Events) != 1 {
		t.Errorf("%+v", span)
	}
}

func TestEI002NeitherPlaintextNorCiphertextIsOnASpan(t *testing.T) {
	t.Parallel()
	p := newProgram(t, ojs.WithEncryptionKeys("k-1:"+strings.Repeat("01", 32)))
	p.worker.Register("t.ok", func(ojs.JobContext) error { return nil })
	p.worker.Register("t.fail", func(ojs.JobContext) error { return NotYet{} })
	var stored string
	p.run(func() {
		for _, kind := range []string{"t.ok", "t.fail"} {
			job, err := p.client.Enqueue(p.ctx, kind, "4111 1111", ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: 1}))
			must(t, err)
			stored += string(job.Raw)
			p.ended(job, nil)
		}
	})
	if strings.Contains(stored, "4111 1111") {
		t.Fatalf("it was not encrypted: %s", stored)
	}
	if len(p.named("default process")) != 2 {
		t.Errorf("%d attempts", len(p.named("default process")))
	}
	for _, span := range p.exporter.GetSpans() {
		for _, pair := range span.Attributes {
			text := pair.Value.Emit()
			inside := len(text) > 40 && strings.Contains(stored, text)
			if strings.Contains(text, "4111 1111") || strings.Contains(string(pair.Key), "args") || inside {
				t.Errorf("%s is %s", pair.Key, text)
			}
		}
	}
}
