package ojs

import (
	"context"
	"sync"
	"time"
)

// JobContext is one run of one job. It is a [context.Context]: it is cancelled when the handler should stop, and [context.Cause] tells
// why: [ErrCancelled], [ErrLeaseLost], [ErrTimedOut] or [ErrShutdown].
type JobContext struct {
	// Job is the job as the server described it.
	Job *Job

	inner    context.Context
	deadline time.Time
	native   runLink // Nil in Drain.
	client   *Client // The worker's; nil in a function.
	token    uint64
	worker   string // Empty where no worker runs the job.
	state    *jobState
}

var _ context.Context = JobContext{}

// Tenant is the tenant that the job belongs to; empty when it names none.
func (c JobContext) Tenant() string {
	tenant, _ := c.Job.Meta["tenant_id"].(string)
	return tenant
}

// jobState is what the copies of a context share.
type jobState struct {
	mu     sync.Mutex
	result any
	cancel context.CancelCauseFunc
	kept   map[string][]byte // What a run without a worker has saved.
}

// runLink is what a run asks of the worker that it belongs to, or of what runs jobs in place of a worker.
type runLink interface {
	heartbeat(token uint64) (why CancelReason, err error)
	progress(token uint64, report []byte) error
	save(token uint64, step string, state []byte) (sequence int64, why CancelReason, err error)
	saved(token uint64, step string) (state []byte, err error)
}

// Context is the context for calls that take one. (The JobContext itself is one, too.)
func (c JobContext) Context() context.Context { return c }

// WithContext is the same with values of another context, for middleware: the other one should be made from this one.
func (c JobContext) WithContext(ctx context.Context) JobContext {
	if other, same := ctx.(JobContext); same {
		ctx = other.inner
	}
	c.inner = ctx
	return c
}

// Deadline is when the attempt's time is up.
func (c JobContext) Deadline() (time.Time, bool) {
	if inner, there := c.inner.Deadline(); there && (c.deadline.IsZero() || inner.Before(c.deadline)) {
		return inner, true
	}
	return c.deadline, !c.deadline.IsZero()
}

// Done is closed when the handler should stop.
func (c JobContext) Done() <-chan struct{} { return c.inner.Done() }

// Err is not nil when the handler should stop.
func (c JobContext) Err() error { return c.inner.Err() }

// Value is a value of the context that the worker was started with, or of middleware.
func (c JobContext) Value(key any) any { return c.inner.Value(key) }

// Attempt is 1 on the first run.
func (c JobContext) Attempt() int { return c.Job.Attempt }

// WorkerID is the name on the server under which the job was leased; empty where nothing has leased it, as in tests.
func (c JobContext) WorkerID() string { return c.worker }

// OutcomeOf is what the server gets to know when a handler returns this error, for middleware.
func (c JobContext) OutcomeOf(err error) Outcome { return outcomeOf(c, err).public() }

// SetResult sets the job's result: anything JSON has a form for. The last one counts.
func (c JobContext) SetResult(value any) {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	c.state.result = value
}

// Heartbeat extends the lease now; the worker does so every few seconds by itself. When the handler should stop, the error says why.
func (c JobContext) Heartbeat() error {
	if c.native == nil {
		return nil
	}
	why, err := c.native.heartbeat(c.token)
	if err != nil {
		return err
	}
	if why != 0 {
		c.state.cancel(why)
		return why
	}
	return nil
}
