//go:build cgo

package ojs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// WorkerState is where a worker is in its life.
type WorkerState uint32

//gen:go/worker_states.j2 (make gen; do not edit)

const (
	StateNew       WorkerState = 0 // Not started.
	StateRunning   WorkerState = 1 // Fetches and runs.
	StateQuiet     WorkerState = 2 // Runs what it holds, fetches nothing.
	StateTerminate WorkerState = 3 // Finishes what it holds, then stops.
	StateStopped   WorkerState = 4 // Over.
)

func (s WorkerState) String() string {
	switch s {
	case StateNew:
		return "new"
	case StateRunning:
		return "running"
	case StateQuiet:
		return "quiet"
	case StateTerminate:
		return "terminate"
	case StateStopped:
		return "stopped"
	}
	return strconv.Itoa(int(s))
}

//gen:end

// Worker fetches jobs and runs their handlers, each in a goroutine of its own.
type Worker struct {
	client   *Client
	owned    bool // The client is this worker's alone.
	settings workerSettings
	chain    MiddlewareChain[MiddlewareFunc]

	mu       sync.Mutex
	handlers map[string]HandlerFunc
	versions map[string]*versions
	wrong    error // The first registration that went wrong.
	run      *run  // Nil before the start.
}

// NewWorker makes a worker with a connection of its own; see [NewClient] for the URL, and [Client.NewWorker] to share one.
func NewWorker(url string, options ...WorkerOption) (*Worker, error) {
	var settings workerSettings
	var link connection
	for _, option := range options {
		option.toWorker(&settings, &link)
	}
	client, err := connect(url, link)
	if err != nil {
		return nil, err
	}
	w, err := newWorker(client, settings)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	w.owned = true
	return w, nil
}

// NewWorker makes a worker on this client's connection. Settings of the connection among the options have no effect.
func (c *Client) NewWorker(options ...WorkerOption) (*Worker, error) {
	var settings workerSettings
	for _, option := range options {
		option.toWorker(&settings, &connection{})
	}
	return newWorker(c, settings)
}

func newWorker(client *Client, settings workerSettings) (*Worker, error) {
	if settings.wrong != nil {
		return nil, settings.wrong
	}
	said, err := readEnvironment()
	if err != nil {
		return nil, err
	}
	settings.orElse(said)
	for i, name := range settings.queues {
		settings.queues[i] = strings.TrimSpace(name)
	}
	if len(settings.queues) == 0 || slices.Contains(settings.queues, "") {
		return nil, invalid("a worker needs queues, each with a name: %q", settings.queues)
	}
	return &Worker{
		client: client, settings: settings, handlers: map[string]HandlerFunc{}, versions: map[string]*versions{},
	}, nil
}

// Register sets the handler of a job type; "*" stands for every other type. The options are defaults for all jobs of the type that this
// process enqueues, where a job does not say otherwise:
//
//	worker.Register("email.send", sendEmail, ojs.WithQueue("mail"), ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: 5}))
//
// [WithVersion] among them says for which version of the arguments the handler is written as well: with
// WithVersion("2.1") a server that has job versioning gives this worker jobs of version 2, those without a version,
// and those whose arguments a [Worker.Transform] brings to version 2. [Worker.Versions] names other ranges.
//
// A mistake (no function, a type twice, an option that belongs to one job) is returned by Start.
func (w *Worker) Register(jobType string, handler HandlerFunc, defaults ...EnqueueOption) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = cmp.Or(w.wrong, w.register(jobType, handler, defaults))
}

// register is Register; the caller holds the lock.
func (w *Worker) register(jobType string, handler HandlerFunc, defaults []EnqueueOption) error {
	if w.run != nil {
		return invalid("register handlers before the worker starts")
	}
	if err := checkHandler(w.handlers, jobType, handler); err != nil {
		return err
	}
	if err := setDefaults(jobType, defaults); err != nil {
		return err
	}
	w.handlers[jobType] = handler
	if version := NewJob(jobType, nil, defaults...).Version; version != "" {
		w.versionsOf(jobType).version = version
	}
	return nil
}

// RegisterTyped registers a handler whose arguments are read into a T: the single argument of the job, or, when T is a slice, all of them.
// Arguments that do not fit fail the job for good. The options are defaults, see [Worker.Register].
func RegisterTyped[T any](w *Worker, jobType string, handler func(ctx JobContext, args T) error, defaults ...EnqueueOption) {
	if handler == nil {
		w.Register(jobType, nil)
		return
	}
	w.Register(jobType, Typed(handler), defaults...)
}

// Middleware is the chain around every handler.
func (w *Worker) Middleware() *MiddlewareChain[MiddlewareFunc] { return &w.chain }

// Use adds a layer around every handler, see [MiddlewareChain.Use].
func (w *Worker) Use(run MiddlewareFunc) error { return w.chain.Use(run) }

// UseNamed adds a layer around every handler, see [MiddlewareChain.UseNamed].
func (w *Worker) UseNamed(name string, run MiddlewareFunc) error { return w.chain.UseNamed(name, run) }

// Start connects and works until the context is cancelled, until Shutdown, or until the server tells the worker to terminate; running
// handlers may then finish for the grace period. It returns nil after an orderly end. The context's values reach the handlers, its
// end does not: they are cancelled when the grace period is over.
func (w *Worker) Start(ctx context.Context) error {
	r, err := w.begin(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = r.native.stop(-1) })
	defer stop()
	return r.finish()
}

// Run is Start, ended by SIGINT and SIGTERM as well. A second signal ends the grace period.
func (w *Worker) Run(ctx context.Context) error {
	// Before the first handler can run.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	r, err := w.begin(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = r.native.stop(-1) })
	defer stop()
	go func() {
		for {
			select {
			case <-signals:
				// The engine takes a second stop as the end of the grace period.
				_ = r.native.stop(-1)
			case <-r.over:
				return
			}
		}
	}()
	return r.finish()
}

func (w *Worker) begin(ctx context.Context) (*run, error) {
	plan, err := w.plan()
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.run != nil {
		return nil, invalid("a worker can be started once; make another one")
	}
	if len(w.handlers) == 0 {
		return nil, invalid("the worker has no handlers: register some before it starts")
	}
	var types []string // None: every type.
	if w.handlers["*"] == nil {
		for name := range w.handlers {
			types = append(types, name)
		}
	}
	said, err := w.saidVersions()
	if err != nil {
		return nil, err
	}
	native, err := newNativeWorker(w.client.native, w.settings, types, said)
	if err != nil {
		return nil, err
	}
	id, err := native.start()
	if err != nil {
		native.free()
		return nil, err
	}
	w.run = newRun(context.WithoutCancel(ctx), w.client, native, id, plan, w.settings)
	if w.owned {
		w.run.last = w.client.Close
	}
	warnOfQueues(w.run.listener.out(), w.handlers, w.settings.queues)
	w.run.begin()
	return w.run, nil
}

// plan is the whole call of each job type, middleware included.
func (w *Worker) plan() (map[string]HandlerFunc, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	plan, err := compose(&w.chain, w.wrong, w.handlers)
	if err != nil {
		return nil, err
	}
	for name, call := range plan {
		if plan[name], err = w.versions[name].around(call); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

func (w *Worker) running() (*run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.run == nil {
		return nil, invalid("the worker has not been started")
	}
	return w.run, nil
}

// Shutdown stops the worker and waits until it is over. Running handlers may finish until the context is cancelled or the grace period
// ends, whichever is first; then their contexts are cancelled and their jobs go back to the queue. A handler calls Stop instead: it would
// wait for itself.
func (w *Worker) Shutdown(ctx context.Context) error {
	r, err := w.running()
	if err != nil {
		return err
	}
	if err := r.native.stop(-1); err != nil && !errors.Is(err, ErrClosed) {
		return err
	}
	select {
	case <-r.over:
		return nil
	case <-ctx.Done():
	}
	_ = r.native.stop(0)
	<-r.over
	return ctx.Err()
}

// Stop begins to stop and returns; unlike Shutdown it may be called by a handler. A second call ends the grace period.
func (w *Worker) Stop() error {
	r, err := w.running()
	if err != nil {
		return err
	}
	return r.native.stop(-1)
}

// Quiet fetches no more; what runs goes on.
func (w *Worker) Quiet() error {
	r, err := w.running()
	if err != nil {
		return err
	}
	return r.native.quiet()
}

// Resume fetches again after Quiet.
func (w *Worker) Resume() error {
	r, err := w.running()
	if err != nil {
		return err
	}
	return r.native.resume()
}

// State is where the worker is in its life.
func (w *Worker) State() WorkerState {
	r, err := w.running()
	if err != nil {
		return StateNew
	}
	return r.native.phase()
}

// ID is the worker's name on the server; empty before the start.
func (w *Worker) ID() string {
	r, err := w.running()
	if err != nil {
		return ""
	}
	return r.id
}

// Queues are the queues it works, in order of preference.
func (w *Worker) Queues() []string { return slices.Clone(w.settings.queues) }

// ActiveJobs is how many handlers run now.
func (w *Worker) ActiveJobs() int {
	r, err := w.running()
	if err != nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.running)
}

// Drain runs the handlers on everything that is available now in the worker's queues, one job after the other, jobs enqueued on the way
// included, and returns how many ran. The error joins what handlers returned and whatever else went wrong; retries are not waited for.
// It is meant for tests and for programs that a timer starts. A worker that drains need not be started.
func (w *Worker) Drain(ctx context.Context) (ran int, err error) {
	plan, err := w.plan()
	if err != nil {
		return 0, err
	}
	var failures []error
	for {
		var answer struct{ Jobs []json.RawMessage }
		fetch := map[string]any{"queues": w.settings.queues, "count": 1, "worker_id": "drain"}
		if err := w.client.ask(ctx, "POST", "/workers/fetch", fetch, &answer); err != nil {
			return ran, errors.Join(append(failures, err)...)
		}
		if len(answer.Jobs) == 0 {
			return ran, errors.Join(failures...)
		}
		ran++
		if err := w.drainOne(ctx, plan, answer.Jobs[0]); err != nil {
			failures = append(failures, err)
		}
	}
}

func (w *Worker) drainOne(ctx context.Context, plan map[string]HandlerFunc, envelope []byte) error {
	var lease struct {
		Token json.RawMessage `json:"lease_token,omitempty"`
	}
	job := &Job{}
	if err := errors.Join(decode(envelope, job), decode(envelope, &lease)); err != nil {
		return err
	}
	outcome, failure := perform(plan, JobContext{Job: job, inner: ctx, client: w.client, state: &jobState{}})
	about := map[string]any{"job_id": job.ID, "worker_id": "drain"}
	if lease.Token != nil {
		about["lease_token"] = lease.Token
	}
	path := "/workers/nack"
	switch outcome.kind {
	case kindCompleted:
		path = "/workers/ack"
		if outcome.payload != nil {
			about["result"] = json.RawMessage(outcome.payload)
		}
	case kindFailed:
		about["error"] = json.RawMessage(outcome.payload)
		var unknown noHandler
		if errors.As(failure, &unknown) {
			failure = unknown.explained(plan)
		}
		failure = fmt.Errorf("%s (job %s): %w", job.Type, job.ID, failure)
	default:
		failure = nil
		about["requeue"], about["error"] = true, Obj{"code": "released", "message": "given back by the handler"}
		if outcome.kind == kindSnoozed {
			about["delay_ms"] = outcome.delay.Milliseconds()
		}
	}
	return errors.Join(failure, w.client.ask(ctx, "POST", path, about, nil))
}
