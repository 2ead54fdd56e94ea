package ojs

import (
	"encoding/json"
	"math"
	"time"
)

// JobState is where a job is in its life.
type JobState string

//gen:go/job_states.j2 (make gen; do not edit)

const (
	Available JobState = "available" // A worker may take it.
	Pending   JobState = "pending"   // It waits to be activated.
	Scheduled JobState = "scheduled" // It waits for its time.
	Active    JobState = "active"    // A worker has it.
	Completed JobState = "completed" // It is done.
	Retryable JobState = "retryable" // It failed and will run again.
	Cancelled JobState = "cancelled" // It was cancelled.
	Discarded JobState = "discarded" // It failed for good.
)

//gen:end

// UnmarshalJSON reads a job and keeps its text in Raw.
func (j *Job) UnmarshalJSON(data []byte) error {
	return j.read(append(json.RawMessage(nil), data...))
}

// read reads a job and keeps the text itself.
func (j *Job) read(data []byte) error {
	type plain Job
	// The decoder keeps numbers by itself: the slower way of Args is not needed here.
	wire := struct {
		*plain
		Args []any `json:"args"`
	}{plain: (*plain)(j)}
	if err := decode(data, &wire); err != nil {
		return err
	}
	j.Args, j.Raw = wire.Args, data
	return nil
}

// DecodeResult reads the result into a variable.
func (j *Job) DecodeResult(into any) error {
	if j.Result == nil {
		return invalid("job %s has no result", j.ID)
	}
	return decode(j.Result, into)
}

//gen:go/policy.j2:RetryPolicy (make gen; do not edit)

// RetryPolicy: what happens when a job fails, how often and when it runs again. What is left out is decided by the server.
type RetryPolicy struct {
	// MaxAttempts: runs in all, the first included.
	MaxAttempts int
	// InitialInterval: pause before the first retry.
	InitialInterval time.Duration
	// BackoffCoefficient: growth of the pause from one retry to the next.
	BackoffCoefficient float64
	// MaxInterval: longest pause.
	MaxInterval time.Duration
	// Jitter: spread the pauses at random, so that jobs that failed together do not come back together. See [Bool].
	Jitter *bool
	// NonRetryableErrors: error types or codes that end the job at once.
	NonRetryableErrors []string
	// OnExhaustion: where the job goes when all attempts have failed: "discard", "dead_letter".
	OnExhaustion string
	// BackoffStrategy: the formula of the pauses: "exponential", "linear", "constant", "none", "polynomial".
	BackoffStrategy string
}

// MarshalJSON writes the policy as the wire has it.
func (p RetryPolicy) MarshalJSON() ([]byte, error) {
	return encode(struct {
		MaxAttempts        int      `json:"max_attempts,omitempty"`
		InitialInterval    duration `json:"initial_interval,omitempty"`
		BackoffCoefficient float64  `json:"backoff_coefficient,omitempty"`
		MaxInterval        duration `json:"max_interval,omitempty"`
		Jitter             *bool    `json:"jitter,omitempty"`
		NonRetryableErrors []string `json:"non_retryable_errors,omitempty"`
		OnExhaustion       string   `json:"on_exhaustion,omitempty"`
		BackoffStrategy    string   `json:"backoff_strategy,omitempty"`
	}{
		p.MaxAttempts,
		duration(p.InitialInterval),
		p.BackoffCoefficient,
		duration(p.MaxInterval),
		p.Jitter,
		p.NonRetryableErrors,
		p.OnExhaustion,
		p.BackoffStrategy,
	})
}

//gen:end

//gen:go/policy.j2:UniquePolicy (make gen; do not edit)

// UniquePolicy: when two jobs count as the same, and what happens to the second. What is left out is decided by the server.
type UniquePolicy struct {
	// Keys: what is compared: of type, queue, args, meta.
	Keys []string
	// ArgsKeys: only these members of the arguments count.
	ArgsKeys []string
	// MetaKeys: only these members of the metadata count.
	MetaKeys []string
	// Period: only jobs made within this time count.
	Period time.Duration
	// States: only jobs in these states count.
	States []JobState
	// OnConflict: what to do with the second job: "reject", "replace", "replace_except_schedule", "ignore".
	OnConflict string
}

// MarshalJSON writes the policy as the wire has it.
func (p UniquePolicy) MarshalJSON() ([]byte, error) {
	return encode(struct {
		Keys       []string   `json:"keys,omitempty"`
		ArgsKeys   []string   `json:"args_keys,omitempty"`
		MetaKeys   []string   `json:"meta_keys,omitempty"`
		Period     duration   `json:"period,omitempty"`
		States     []JobState `json:"states,omitempty"`
		OnConflict string     `json:"on_conflict,omitempty"`
	}{
		p.Keys,
		p.ArgsKeys,
		p.MetaKeys,
		duration(p.Period),
		p.States,
		p.OnConflict,
	})
}

//gen:end

//gen:go/policy.j2:Train (make gen; do not edit)

// Train: the train of a job: jobs of one train run one after the other, in the order in which they were stored. What is left out is decided by the server.
type Train struct {
	// ID: the train, such as dest_123; dest_{destination_id} is filled in with an argument of the job.
	ID string
	// OnCancelled: what the train does when the job is cancelled: without it the next job runs: "advance", "hold".
	OnCancelled string
	// OnDiscarded: what the train does when the job has failed for good: without it the next job runs: "advance", "hold".
	OnDiscarded string
	// CancelActive: when a job that is cancelled while it runs leaves the train: without it when its worker has let go of it: "drain", "immediate".
	CancelActive string
}

// MarshalJSON writes the policy as the wire has it.
func (p Train) MarshalJSON() ([]byte, error) {
	return encode(struct {
		ID           string `json:"id,omitempty"`
		OnCancelled  string `json:"on_cancelled,omitempty"`
		OnDiscarded  string `json:"on_discarded,omitempty"`
		CancelActive string `json:"cancel_active,omitempty"`
	}{
		p.ID,
		p.OnCancelled,
		p.OnDiscarded,
		p.CancelActive,
	})
}

//gen:end

// over is this train with the members of another one where it leaves them out.
func (t Train) over(other *Train) *Train {
	if other != nil {
		orElse(&t.ID, other.ID)
		orElse(&t.OnCancelled, other.OnCancelled)
		orElse(&t.OnDiscarded, other.OnDiscarded)
		orElse(&t.CancelActive, other.CancelActive)
	}
	return &t
}

// Bool is a pointer to a value, for RetryPolicy.Jitter.
func Bool(value bool) *bool { return &value }

func orElse[T comparable](into *T, otherwise T) {
	var nothing T
	if *into == nothing {
		*into = otherwise
	}
}

// EnqueueOption says something about a job besides its type and arguments.
type EnqueueOption interface{ toJob(*JobRequest) }

// JobRequest is a job to be. Enqueue middleware gets it and may change it.
type JobRequest struct {
	Type string
	// Args is an array (Args, any slice), or a single value, which becomes an array of one.
	Args any
	//gen:go/option_fields.j2 (make gen; do not edit)
	// Queue: the queue; "default" when it is empty.
	Queue string
	// Priority: −100 to 100, higher first.
	Priority int
	// Timeout: the most one run may take.
	Timeout time.Duration
	// VisibilityTimeout: how long a worker may be silent before the job is given to another.
	VisibilityTimeout time.Duration
	// ResultTTL: how long the result is kept (0 keeps none); nil leaves it to the server.
	ResultTTL *time.Duration
	// ScheduledAt: do not run before this time.
	ScheduledAt time.Time
	// ExpiresAt: throw the job away when it has not started by then.
	ExpiresAt time.Time
	// TotalTimeout: how long the job's whole life may take.
	TotalTimeout time.Duration
	// Retry: what happens when it fails.
	Retry *RetryPolicy
	// Unique: what makes it a duplicate.
	Unique *UniquePolicy
	// RateLimit: how many of its kind may start or run at a time.
	RateLimit Obj
	// Train: the train that it joins: jobs of one train run one after the other.
	Train *Train
	// Tags: words to find it by.
	Tags []string
	// Version: the version of the arguments: `2`, `2.1` or `2.1.0`.
	Version string
	// Tenant: the tenant that it belongs to: `meta.tenant_id`.
	Tenant string
	// FairnessKey: the key of its line in a queue that is shared by keys: keys get jobs handed out in turn.
	FairnessKey string
	// ID: an id of your own (UUIDv7, lower case), so that sending it twice makes one job.
	ID string
	// Meta: any JSON object that travels with the job.
	Meta Obj
	// Schema: URI of the schema its arguments follow.
	Schema string
	//gen:end
	// Extra are more options, by their names on the wire.
	Extra map[string]any

	wrong error  // Of an option that was set to what it cannot be.
	place string // Where it is among others, "jobs[3].", for errors.

	saidPriority bool // WithPriority was called, perhaps with 0.
}

// NewJob makes a request, for EnqueueBatch and workflows.
func NewJob(jobType string, args any, options ...EnqueueOption) JobRequest {
	request := JobRequest{Type: jobType, Args: args}
	for _, option := range options {
		option.toJob(&request)
	}
	return request
}

// MarshalJSON writes the request as the engine gets it: only what differs from the usual. The engine adds the defaults
// that [Worker.Register] has set for its type.
func (r JobRequest) MarshalJSON() ([]byte, error) {
	return r.encode(nil)
}

func (r JobRequest) encode(dependsOn []string) ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	type wire struct {
		Type    string         `json:"type"`
		Args    any            `json:"args"`
		ID      string         `json:"id,omitempty"`
		Meta    Obj            `json:"meta,omitempty"`
		Schema  string         `json:"schema,omitempty"`
		Options map[string]any `json:"options,omitempty"`
		After   []string       `json:"depends_on,omitempty"`
	}
	return encode(wire{r.Type, argsOf(r.Args), r.ID, r.Meta, r.Schema, r.options(), dependsOn})
}

// check finds what is wrong with a request before it is written.
func (r *JobRequest) check() error {
	if r.wrong != nil {
		return r.wrong
	}
	if r.Type == "" {
		return invalid("a job needs a type")
	}
	if err := fits(r.place+"args", argsOf(r.Args)); err != nil {
		return err
	}
	if err := fits(r.place+"meta", map[string]any(r.Meta)); err != nil {
		return err
	}
	return fits(r.place+"options", r.Extra)
}

// wireSeconds is a length of time in whole seconds, rounded up.
func wireSeconds(length *time.Duration) int64 {
	if length == nil {
		return 0
	}
	return int64(math.Ceil(length.Seconds()))
}

func (r JobRequest) options() map[string]any {
	options := map[string]any{}
	// What is usual is sent only where it stands against a default of the type.
	defaults := hasDefaults(r.Type)
	set := func(wanted bool, name string, value any) {
		if wanted {
			options[name] = value
		}
	}
	//gen:go/option_set.j2 (make gen; do not edit)
	set(r.Queue != "" && (defaults || r.Queue != "default"), "queue", r.Queue)
	set(r.Priority != 0 || defaults && r.saidPriority, "priority", r.Priority)
	set(r.Timeout != 0, "timeout_ms", wireMillis(r.Timeout))
	set(r.VisibilityTimeout != 0, "visibility_timeout_ms", wireMillis(r.VisibilityTimeout))
	set(r.ResultTTL != nil, "result_ttl", wireSeconds(r.ResultTTL))
	set(!r.ScheduledAt.IsZero(), "delay_until", r.ScheduledAt)
	set(!r.ExpiresAt.IsZero(), "expires_at", r.ExpiresAt)
	set(r.TotalTimeout != 0, "total_timeout", duration(r.TotalTimeout))
	set(r.Retry != nil, "retry", r.Retry)
	set(r.Unique != nil, "unique", r.Unique)
	set(r.RateLimit != nil, "rate_limit", r.RateLimit)
	set(r.Train != nil, "train", r.Train)
	set(len(r.Tags) > 0, "tags", r.Tags)
	set(r.Version != "", "version", r.Version)
	set(r.Tenant != "", "tenant", r.Tenant)
	set(r.FairnessKey != "", "fairness_key", r.FairnessKey)
	//gen:end
	for name, value := range r.Extra {
		options[name] = value
	}
	return options
}
