package serverless

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/openjobspec/ojs-go"
)

// Job is a job as the server described it.
type Job = ojs.Job

// HandlerFunc runs a job. What it returns is the outcome: nil completes the job, any error is a failure; see
// [ojs.NonRetryable], [ojs.Snooze], [ojs.ErrRelease] and [ojs.JobError].
type HandlerFunc = func(ctx context.Context, job Job) error

// Handler runs jobs that a platform hands to a function. It is made once, outside of the function that the platform
// calls, and keeps nothing between calls but connections and the memory of push requests.
type Handler struct {
	settings
	keys   keys
	server *server
	seen   deliveries
}

// NewHandler makes a handler without job types: see [Handler.Register]. A mistake in the options fails every call, and
// [Handler.Check] returns it.
func NewHandler(options ...Option) *Handler {
	h := &Handler{settings: newSettings(options)}
	var err error
	h.keys, err = readKeys(h.encryptionKeys)
	h.wrong = cmp.Or(h.wrong, err)
	h.seen.most, h.seen.keep = h.memory, 2*h.tolerance
	if h.url != "" {
		h.server = &server{url: h.url, token: h.token, client: h.client}
	}
	return h
}

// Register sets the handler of a job type; "*" stands for every other type. Register before the first job.
func (h *Handler) Register(jobType string, handler HandlerFunc) {
	if handler == nil {
		h.registry.Register(jobType, nil)
		return
	}
	h.registry.Register(jobType, func(ctx ojs.JobContext) error {
		return handler(context.WithValue(ctx, runKey{}, ctx), *ctx.Job)
	})
}

// RegisterHandler sets the handler of a job type in the form that workers have: one function for both.
func (h *Handler) RegisterHandler(jobType string, handler ojs.HandlerFunc) {
	h.registry.Register(jobType, handler)
}

// Registry has the handlers and the middleware.
func (h *Handler) Registry() *ojs.Registry { return h.registry }

// Use adds a layer around every handler, see [ojs.MiddlewareChain.Use].
func (h *Handler) Use(run ojs.MiddlewareFunc) error { return h.registry.Use(run) }

// UseNamed adds a layer around every handler, see [ojs.MiddlewareChain.UseNamed].
func (h *Handler) UseNamed(name string, run ojs.MiddlewareFunc) error {
	return h.registry.UseNamed(name, run)
}

// Check is the first mistake among options, handlers and middleware: call it at the start of a program.
func (h *Handler) Check() error {
	if h.wrong != nil {
		return h.wrong
	}
	return h.registry.Check()
}

type runKey struct{}

// Run is the run that a context belongs to: the one given to a [HandlerFunc], or one made from it. It reports progress,
// saves checkpoints and sets the result.
func Run(ctx context.Context) (ojs.JobContext, bool) {
	run, found := ctx.Value(runKey{}).(ojs.JobContext)
	return run, found
}

// SetResult sets the result of the job that a context belongs to: anything JSON has a form for.
func SetResult(ctx context.Context, value any) {
	if run, found := Run(ctx); found {
		run.SetResult(value)
	}
}

// run runs the handler of a job.
func (h *Handler) run(ctx context.Context, d delivery) ojs.Outcome {
	envelope, err := h.keys.decrypted(d.envelope)
	if err != nil {
		return ojs.FailedOutcome(err)
	}
	inner, cancel := h.deadline(ctx, d)
	defer cancel()
	outcome := h.registry.Run(inner, envelope, &link{server: h.server, d: d, ctx: ctx})
	if outcome.Kind == ojs.OutcomeFailed {
		var about struct{ Code, Message string }
		_ = json.Unmarshal(outcome.Error, &about)
		h.logger.Warn("ojs: job failed", "type", d.about.Type, "id", d.about.ID, "attempt", d.about.Attempt,
			"code", about.Code, "error", about.Message)
	}
	return outcome
}

type endKey struct{}

// invocation fixes the time at which the runs of an invocation end: while there is time left to report outcomes.
func (h *Handler) invocation(ctx context.Context) context.Context {
	if _, fixed := ctx.Value(endKey{}).(time.Time); fixed {
		return ctx
	}
	limit, limited := ctx.Deadline()
	if !limited && h.limit > 0 {
		limit, limited = time.Now().Add(h.limit), true
	}
	if !limited {
		return ctx
	}
	return context.WithValue(ctx, endKey{}, limit.Add(-min(h.margin, time.Until(limit)/2)))
}

// isLate is whether there is no time left to begin a job in an invocation.
func isLate(ctx context.Context) bool {
	end, limited := ctx.Value(endKey{}).(time.Time)
	return ctx.Err() != nil || limited && time.Until(end) <= 0
}

// deadline ends a run with its invocation, or when the job's own time is up.
func (h *Handler) deadline(ctx context.Context, d delivery) (context.Context, context.CancelFunc) {
	ctx = h.invocation(ctx)
	end, limited := ctx.Value(endKey{}).(time.Time)
	if own := d.timeout(); own > 0 {
		if its := time.Now().Add(own); !limited || its.Before(end) {
			end, limited = its, true
		}
	}
	if !limited {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, end, ojs.ErrTimedOut)
}

// settle runs a job from a queue and reports its outcome. taken is true when the server knows it, or has no need of it:
// then the server decides what comes next. Without a server, completed jobs alone count as taken. A job that the server
// does not have any more is not run, and counts as taken.
func (h *Handler) settle(ctx context.Context, d delivery) (outcome ojs.Outcome, taken bool) {
	if h.server == nil {
		if d.about.Args == nil {
			const why = "the message refers to the job, and there is no server to read it from: name it by WithOJSURL or OJS_URL"
			return ojs.FailedOutcome(&ojs.JobError{Code: "invalid_job", Message: why}), false
		}
		outcome = h.run(ctx, d)
		return outcome, outcome.Kind == ojs.OutcomeCompleted
	}
	if err := h.server.complete(ctx, &d); errors.Is(err, ojs.ErrNotFound) {
		// The server has no need of an outcome, and the queue none of the message.
		h.logger.Warn("ojs: a job is gone; it is not run", "id", d.about.ID)
		return ojs.FailedOutcome(&ojs.JobError{Code: "not_found", Message: err.Error(), NonRetryable: true}), true
	} else if err != nil {
		h.logger.Error("ojs: a job cannot be read from the server", "id", d.about.ID, "error", err)
		return ojs.FailedOutcome(err), false
	}
	outcome = h.run(ctx, d)
	if err := h.server.report(ctx, d, outcome); err != nil {
		h.logger.Error("ojs: an outcome did not reach the server", "type", d.about.Type, "id", d.about.ID, "error", err)
		return outcome, false
	}
	return outcome, true
}

// isStale is whether the server has moved on since a message was sent that the queue delivers again: the job has
// ended, or is at a later attempt. A server that does not answer has not moved on.
func (h *Handler) isStale(ctx context.Context, d delivery) bool {
	if h.server == nil {
		return false
	}
	job, err := h.server.job(ctx, d.about.ID)
	if err != nil {
		return errors.Is(err, ojs.ErrNotFound)
	}
	var now struct {
		State   ojs.JobState
		Attempt int
	}
	if json.Unmarshal(job, &now) != nil {
		return false
	}
	runnable := now.State == ojs.Active || now.State == ojs.Available && d.about.Lease == nil
	return !runnable || now.Attempt > max(d.about.Attempt, 1)
}

// result is what callers learn of an outcome: the answer to a push request, and to a direct call.
type result struct {
	Status  string          `json:"status"`
	JobID   string          `json:"job_id,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
	Requeue bool            `json:"requeue,omitempty"`
	DelayMS int64           `json:"delay_ms,omitempty"`
}

func resultOf(outcome ojs.Outcome) result {
	switch outcome.Kind {
	case ojs.OutcomeCompleted:
		return result{Status: "completed", Result: outcome.Result}
	case ojs.OutcomeFailed:
		return result{Status: "failed", Error: outcome.Error}
	}
	// The document has no form for a job that is given back: it is a failure that is tried again.
	about := map[string]any{"code": "released", "type": "released", "retryable": true}
	about["message"] = "given back by the handler"
	if outcome.Kind == ojs.OutcomeSnoozed {
		about["code"], about["type"] = "snooze", "snooze"
		about["details"] = map[string]any{"snooze_ms": outcome.Delay.Milliseconds()}
	}
	text, _ := json.Marshal(about)
	return result{Status: "failed", Error: text, Requeue: true, DelayMS: outcome.Delay.Milliseconds()}
}

// comesAgain is whether the job will run again.
func comesAgain(outcome ojs.Outcome) bool {
	return outcome.Kind != ojs.OutcomeCompleted && outcome.Retryable
}
