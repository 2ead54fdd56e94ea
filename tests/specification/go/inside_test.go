// The inside of an SDK as "Implement an SDK" prints it, in Go: each function stands here to the letter, and runs on this module's types.
package seeds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	ojs "github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/ojstest"
)

// The names that the guide has in its own package.
type (
	JobContext  = ojs.JobContext
	HandlerFunc = ojs.HandlerFunc
	JobRequest  = ojs.JobRequest
	Job         = ojs.Job
)

const WorkerStateTerminate = ojs.StateTerminate

// transport is the guide's thin HTTP client, in Go.
type transport struct{ base string }

func (t transport) post(ctx context.Context, path string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.base+"/ojs/v1"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/openjobspec+json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode > 299 {
		return fmt.Errorf("%d %s", response.StatusCode, text)
	}
	return json.Unmarshal(text, answer)
}

type Client struct{ transport transport }

// --- as printed: "enqueueBatch(jobs)"
func (c *Client) EnqueueBatch(ctx context.Context, requests []JobRequest) ([]Job, error) {
	wireJobs := make([]map[string]any, len(requests))
	for i, r := range requests {
		wireJobs[i] = map[string]any{"type": r.Type, "args": r.Args}
	}
	var resp struct {
		Jobs []Job `json:"jobs"`
	}
	err := c.transport.post(ctx, "/jobs/batch", map[string]any{"jobs": wireJobs}, &resp)
	return resp.Jobs, err
}

// ---

func TestEnqueueBatchAsPrinted(t *testing.T) {
	client := &Client{transport{ojstest.NewServer(t)}}
	jobs, err := client.EnqueueBatch(t.Context(), []JobRequest{
		{Type: "email.send", Args: ojs.Args{"ada@example.com"}}, {Type: "email.send", Args: ojs.Args{"bob@example.com"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != 2 || jobs[0].ID == "" || jobs[1].Args[0] != "bob@example.com" || jobs[0].State != ojs.Available {
		t.Fatalf("%+v", jobs)
	}
}

// --- as printed: "Execution middleware"
// Go middleware signature
type MiddlewareFunc func(ctx JobContext, next HandlerFunc) error

// ---

type named struct{ fn MiddlewareFunc }
type middlewareChain struct{ middleware []named }

// --- as printed: "Execution middleware"
// Building the chain: wrap from inside out
func (c *middlewareChain) then(handler HandlerFunc) HandlerFunc {
	h := handler
	for i := len(c.middleware) - 1; i >= 0; i-- {
		mw := c.middleware[i].fn
		next := h
		h = func(ctx JobContext) error { return mw(ctx, next) }
	}
	return h
}

// ---

func TestMiddlewareChainAsPrinted(t *testing.T) {
	order := make(chan string, 8)
	layer := func(name string) named {
		return named{func(ctx JobContext, next HandlerFunc) error {
			order <- name + "-before"
			defer func() { order <- name + "-after" }()
			return next(ctx)
		}}
	}
	chain := &middlewareChain{[]named{layer("first"), layer("second")}}
	client, err := ojs.NewClient("memory:seeds-chain")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	worker, err := client.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	worker.Register("email.send", chain.then(func(ctx JobContext) error {
		order <- ctx.Job.Type
		return nil
	}))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- worker.Start(ctx) }()
	if _, err := client.Enqueue(ctx, "email.send", nil); err != nil {
		t.Fatal(err)
	}
	var seen []string
	for len(seen) < 5 {
		select {
		case step := <-order:
			seen = append(seen, step)
		case <-ctx.Done():
			t.Fatalf("only %q", seen)
		}
	}
	if !slices.Equal(seen, []string{"first-before", "second-before", "email.send", "second-after", "first-after"}) {
		t.Fatalf("%q", seen)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

type Worker struct {
	state  atomic.Value
	config struct{ gracePeriod time.Duration }
	active chan struct{} // closed when no job runs any more
}

func (w *Worker) waitForActiveJobs() { <-w.active }

// --- as printed: "Graceful shutdown"
// Go example: graceful shutdown
func (w *Worker) Start(ctx context.Context) error {
	// ... start heartbeat and fetch loops ...

	<-ctx.Done() // Wait for cancellation

	w.state.Store(WorkerStateTerminate)

	// Wait for active jobs or grace period
	graceDone := make(chan struct{})
	go func() {
		w.waitForActiveJobs()
		close(graceDone)
	}()

	select {
	case <-graceDone: // All jobs finished cleanly
	case <-time.After(w.config.gracePeriod): // Grace period expired
	}

	return nil
}

// ---

// The guide's loops are this module's worker: cancelled with the same context, over when its jobs are.
func TestGracefulShutdownAsPrinted(t *testing.T) {
	client, err := ojs.NewClient("memory:seeds-shutdown")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	loops, err := client.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	began, finish := make(chan struct{}), make(chan struct{})
	loops.Register("slow", func(ctx JobContext) error {
		close(began)
		<-finish
		return nil
	})
	worker := &Worker{active: make(chan struct{})}
	worker.config.gracePeriod = patience
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_ = loops.Start(ctx)
		close(worker.active)
	}()
	ended := make(chan error, 1)
	go func() { ended <- worker.Start(ctx) }()
	job, err := client.Enqueue(ctx, "slow", nil)
	if err != nil {
		t.Fatal(err)
	}
	<-began
	cancel()
	select {
	case <-ended:
		t.Fatal("a job was running")
	default:
		close(finish)
	}
	if err := <-ended; err != nil || worker.state.Load() != WorkerStateTerminate {
		t.Fatalf("%v %v", err, worker.state.Load())
	}
	done, err := client.GetJob(t.Context(), job.ID)
	if err != nil || done.State != ojs.Completed {
		t.Fatalf("%+v %v", done, err)
	}
}

// The other way out: a job that never ends.
func TestGracePeriodAsPrinted(t *testing.T) {
	worker := &Worker{active: make(chan struct{})}
	defer close(worker.active)
	worker.config.gracePeriod = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := worker.Start(ctx); err != nil || worker.state.Load() != WorkerStateTerminate {
		t.Fatalf("%v %v", err, worker.state.Load())
	}
}
