// The Go of "Implement an SDK" as it is printed, against a server over HTTP and an engine in this process.
package seeds

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	ojs "github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/ojstest"
)

const patience = 60 * time.Second

func TestImplementAnSDK(t *testing.T) {
	for kind, url := range map[string]string{"memory": "memory:seeds", "http": ojstest.NewServer(t)} {
		t.Run(kind, func(t *testing.T) { onConnection(t, url) })
	}
}

func onConnection(t *testing.T, url string) {
	client, err := ojs.NewClient(url)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	worker, err := client.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	order := make(chan string, 16)
	note := func(name string) func(ctx ojs.JobContext, next ojs.HandlerFunc) error {
		return func(ctx ojs.JobContext, next ojs.HandlerFunc) error {
			order <- name
			return next(ctx)
		}
	}
	loggingMiddleware, metricsMiddleware, tracingMiddleware := note("logging"), note("metrics"), note("tracing")
	w, chain := worker, worker.Middleware()
	sent := make(chan string, 1)
	sendEmail := func(to string) error {
		sent <- to
		return nil
	}

	// --- as printed: handler registration
	// Go: method call
	worker.Register("email.send", func(ctx ojs.JobContext) error {
		to := ctx.Job.Args[0].(string)
		return sendEmail(to)
	})
	// --- as printed: named middleware
	// Add named middleware
	w.UseNamed("logging", loggingMiddleware)
	w.UseNamed("metrics", metricsMiddleware)

	// Insert before another
	chain.InsertBefore("metrics", "tracing", tracingMiddleware)

	// Remove by name
	chain.Remove("logging")
	// ---
	if names := chain.Names(); !slices.Equal(names, []string{"tracing", "metrics"}) {
		t.Fatalf("%q", names)
	}
	// --- as printed: the type of middleware is `func(ctx JobContext, next HandlerFunc) error`
	var _ ojs.MiddlewareFunc = func(ctx ojs.JobContext, next ojs.HandlerFunc) error { return next(ctx) }
	// --- as printed: `Start(ctx context.Context) error` stops gracefully when the context is cancelled
	var start func(ctx context.Context) error = w.Start
	// --- as printed: `EnqueueBatch(ctx context.Context, requests []JobRequest) ([]Job, error)`, with `r.Type` and `r.Args`
	var enqueueBatch func(ctx context.Context, requests []ojs.JobRequest) ([]ojs.Job, error) = client.EnqueueBatch
	// ---
	jobs, err := enqueueBatch(t.Context(), []ojs.JobRequest{{Type: "email.send", Args: ojs.Args{"ada@example.com"}}})
	if err != nil || len(jobs) != 1 || jobs[0].ID == "" {
		t.Fatalf("%+v %v", jobs, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- start(ctx) }()
	select {
	case to := <-sent:
		if to != "ada@example.com" {
			t.Fatalf("to %q", to)
		}
	case <-ctx.Done():
		t.Fatal("the handler did not run")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(<-order, " ", <-order); got != "tracing metrics" {
		t.Fatalf("order: %s", got)
	}
	done, err := client.GetJob(t.Context(), jobs[0].ID)
	if err != nil || done.State != ojs.Completed {
		t.Fatalf("%+v %v", done, err)
	}
}
