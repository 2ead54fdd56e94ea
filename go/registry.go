package ojs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// Registry has the handlers of job types and the middleware around them, and no connection. A worker has one of its
// own; a Registry is for jobs that arrive by another way, such as the event of a serverless function. It needs no cgo.
//
//	registry := ojs.NewRegistry()
//	registry.Register("email.send", sendEmail)
//	outcome := registry.Run(ctx, envelope, nil)
type Registry struct {
	chain MiddlewareChain[MiddlewareFunc]

	mu       sync.Mutex
	handlers map[string]HandlerFunc
	wrong    error // The first registration that went wrong.
	plan     map[string]HandlerFunc
}

// NewRegistry makes an empty registry.
func NewRegistry() *Registry { return &Registry{handlers: map[string]HandlerFunc{}} }

// Register sets the handler of a job type; "*" stands for every other type. A mistake is returned by Check, and Run
// reports it as the failure of every job from then on; a registration after the first job is such a mistake.
func (r *Registry) Register(jobType string, handler HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wrong := checkHandler(r.handlers, jobType, handler)
	if r.plan != nil {
		wrong = invalid("register handlers before the first job")
	}
	if wrong == nil {
		r.handlers[jobType] = handler
	}
	r.wrong = cmp.Or(r.wrong, wrong)
}

// Middleware is the chain around every handler.
func (r *Registry) Middleware() *MiddlewareChain[MiddlewareFunc] { return &r.chain }

// Use adds a layer around every handler, see [MiddlewareChain.Use].
func (r *Registry) Use(run MiddlewareFunc) error { return r.chain.Use(run) }

// UseNamed adds a layer around every handler, see [MiddlewareChain.UseNamed].
func (r *Registry) UseNamed(name string, run MiddlewareFunc) error {
	return r.chain.UseNamed(name, run)
}

// Check ends the changes. The error is the first mistake among the registrations and the middleware.
func (r *Registry) Check() error {
	_, err := r.composed()
	return err
}

// composed is the whole call of each job type, middleware included.
func (r *Registry) composed() (map[string]HandlerFunc, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.plan != nil {
		return r.plan, r.wrong
	}
	plan, err := compose(&r.chain, r.wrong, r.handlers)
	if err != nil {
		return nil, err
	}
	if len(plan) == 0 {
		return nil, invalid("there are no handlers: register some before the first job")
	}
	r.plan = plan
	return plan, nil
}

// compose puts the middleware around each handler, which ends the changes of the chain. wrong is the first mistake
// among the registrations.
func compose(
	chain *MiddlewareChain[MiddlewareFunc], wrong error, handlers map[string]HandlerFunc,
) (map[string]HandlerFunc, error) {
	layers, err := chain.freeze()
	if err = errors.Join(wrong, err); err != nil {
		return nil, err
	}
	plan := make(map[string]HandlerFunc, len(handlers))
	for name, handler := range handlers {
		plan[name] = onion(layers, handler)
	}
	return plan, nil
}

// checkHandler refuses a registration that a registry or a worker cannot take.
func checkHandler(known map[string]HandlerFunc, jobType string, handler HandlerFunc) error {
	switch {
	case jobType == "":
		return invalid("Register needs a job type and a handler: the job type is empty")
	case handler == nil:
		return invalid("Register needs a job type and a handler: that of '%s' is nil", jobType)
	case known[jobType] != nil:
		return invalid("a handler for '%s' is registered already", jobType)
	}
	return nil
}

// Typed makes a handler of a function that takes the arguments as a T: the single argument of the job, or, when T is a
// slice, all of them. Arguments that do not fit fail the job for good.
func Typed[T any](handler func(ctx JobContext, args T) error) HandlerFunc {
	return func(ctx JobContext) error {
		var args T
		if err := typed(ctx.Job.Args, &args); err != nil {
			return &JobError{Code: "invalid_arguments", Message: err.Error(), NonRetryable: true}
		}
		return handler(ctx, args)
	}
}

func typed[T any](args Args, into *T) error {
	if len(args) == 1 {
		if err := args.Decode(into); err == nil {
			return nil
		}
	}
	data, err := encode(args)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil && len(args) == 1 {
		return args.Decode(into)
	}
	return err
}

// RunLink is what a run of [Registry.Run] may ask of the server that leased the job. With a method WorkerID() string as
// well, it also says under which name the job was leased: [JobContext.WorkerID].
type RunLink interface {
	// Heartbeat extends the lease. The reason is not 0 when the handler should stop.
	Heartbeat() (CancelReason, error)
	// Progress reports how far the job has come: a JSON object.
	Progress(report []byte) error
	// Save saves the checkpoint of the job, or the result of a step unless its name is empty.
	Save(step string, state []byte) (sequence int64, why CancelReason, err error)
	// Saved is the checkpoint, or the result of a step; nil when there is none.
	Saved(step string) ([]byte, error)
}

// linked makes a RunLink the link of a context. It belongs to one job, so the token of the job is not needed.
type linked struct{ RunLink }

func (l linked) heartbeat(uint64) (CancelReason, error)      { return l.Heartbeat() }
func (l linked) progress(_ uint64, report []byte) error      { return l.Progress(report) }
func (l linked) saved(_ uint64, step string) ([]byte, error) { return l.Saved(step) }
func (l linked) save(_ uint64, step string, state []byte) (int64, CancelReason, error) {
	return l.Save(step, state)
}

// OutcomeKind is what came of a run.
type OutcomeKind uint32

const (
	OutcomeCompleted OutcomeKind = kindCompleted // The handler returned nil.
	OutcomeFailed    OutcomeKind = kindFailed    // The handler returned an error or panicked.
	OutcomeReleased  OutcomeKind = kindReleased  // The job goes back to its queue; no attempt is counted.
	OutcomeSnoozed   OutcomeKind = kindSnoozed   // As released, after a delay.
)

// Outcome is what came of one run of a job.
type Outcome struct {
	Kind OutcomeKind
	// Result is the result as JSON; nil when there is none, or the job was not completed.
	Result json.RawMessage
	// Error is the error object of the protocol: code, type, message, retryable, details. Nil unless the run failed.
	Error json.RawMessage
	// Retryable is false when the run failed for good.
	Retryable bool
	// Delay is how long a snoozed job is kept back.
	Delay time.Duration
}

func (o outcome) public() Outcome {
	out := Outcome{Kind: OutcomeKind(o.kind), Delay: o.delay, Retryable: true}
	switch out.Kind {
	case OutcomeCompleted:
		out.Result = o.payload
	case OutcomeFailed:
		out.Error = o.payload
		about := failure{Retryable: true}
		_ = json.Unmarshal(o.payload, &about)
		out.Retryable = about.Retryable
	}
	return out
}

// FailedOutcome is the outcome of a run that ended with this error, as if a handler had returned it.
func FailedOutcome(err error) Outcome { return failed(err).public() }

// Run runs the handler of a job, middleware included, and returns what came of it. The envelope is the job as JSON.
// With a nil link, heartbeats and progress go nowhere, and checkpoints are kept for this run only.
//
// Run returns when the context ends, also when the handler does not stop: the job has failed with the code timeout if
// the cause is [ErrTimedOut] or a deadline, else it is released. What the handler does afterwards changes nothing.
func (r *Registry) Run(ctx context.Context, envelope []byte, link RunLink) Outcome {
	plan, err := r.composed()
	if err != nil {
		return FailedOutcome(err)
	}
	job := &Job{}
	if err := job.UnmarshalJSON(envelope); err != nil {
		why := "the job cannot be read: " + err.Error()
		return FailedOutcome(&JobError{Code: "invalid_job", Message: why, NonRetryable: true})
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	run := JobContext{Job: job, inner: inner, state: &jobState{cancel: cancel}}
	if link != nil {
		run.native = linked{link}
		if named, ok := link.(interface{ WorkerID() string }); ok {
			run.worker = named.WorkerID()
		}
	}
	ended := make(chan outcome, 1)
	go func() {
		result := failed(panicked{value: "the handler called runtime.Goexit"})
		// Deferred, so that it also runs when the handler ends the goroutine with runtime.Goexit.
		defer func() { ended <- result }()
		result, _ = perform(plan, run)
	}()
	select {
	case result := <-ended:
		if result.kind != kindCompleted && timedOut(ctx) {
			return lateOutcome()
		}
		return result.public()
	case <-ctx.Done():
		if timedOut(ctx) {
			return lateOutcome()
		}
		return Outcome{Kind: OutcomeReleased, Retryable: true}
	}
}

func timedOut(ctx context.Context) bool {
	why := context.Cause(ctx)
	return errors.Is(why, ErrTimedOut) || errors.Is(why, context.DeadlineExceeded)
}

func lateOutcome() Outcome {
	const why = "The attempt took longer than its timeout_ms, or than the platform allows."
	return FailedOutcome(tooLate{&JobError{Code: "timeout", Message: why}})
}
