//go:build cgo

package ojs

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// queueOf has, by job type, the queue among the defaults of a type that has defaults in this process; empty when they
// name none. The engine has the defaults themselves.
var queueOf sync.Map

// hasDefaults says whether jobs of a type have defaults in this process.
func hasDefaults(jobType string) bool {
	_, there := queueOf.Load(jobType)
	return there
}

// setDefaults has the engine keep the options of all jobs of a type. Those that belong to one job are refused.
func setDefaults(jobType string, options []EnqueueOption) error {
	if len(options) == 0 {
		return nil
	}
	defaults := NewJob(jobType, nil, options...)
	var own []string
	for name, there := range map[string]bool{
		"WithID": defaults.ID != "", "WithMeta": defaults.Meta != nil, "WithSchema": defaults.Schema != "",
		"WithExpiresAt": !defaults.ExpiresAt.IsZero(), "WithTenant": defaults.Tenant != "",
		"WithDelay and WithScheduledAt": !defaults.ScheduledAt.IsZero(),
	} {
		if there {
			own = append(own, name)
		}
	}
	slices.Sort(own)
	switch {
	case defaults.wrong != nil:
		return defaults.wrong
	case jobType == "*":
		return invalid("'*' stands for types without a name, and defaults belong to one type: register that type")
	case len(own) > 0:
		return invalid("%s: belongs to one job, and Register sets defaults for all of '%s': give it to Enqueue",
			strings.Join(own, ", "), jobType)
	}
	said, err := encode(defaults.options())
	if err != nil {
		return plainError(err)
	}
	if err := nativeJobDefaults(jobType, said); err != nil {
		return err
	}
	queueOf.Store(jobType, defaults.Queue)
	return nil
}

// warnOfQueues: a worker that does not ask for the queue that jobs of a type go to by default never gets one of them.
func warnOfQueues(logger *slog.Logger, types map[string]HandlerFunc, queues []string) {
	for jobType := range types {
		found, _ := queueOf.Load(jobType)
		if queue, _ := found.(string); queue != "" && !slices.Contains(queues, queue) {
			logger.Warn("ojs: jobs of a type go to a queue by default that this worker does not ask for",
				"type", jobType, "queue", queue, "queues", queues)
		}
	}
}

// Task is a job type with the type of its arguments: what is enqueued is what the handler gets, and the compiler sees
// to it.
//
//	var sendEmail = ojs.NewTask[Email]("email.send", ojs.WithQueue("mail"), ojs.WithTimeout(time.Minute))
//
//	sendEmail.Register(worker, func(ctx ojs.JobContext, email Email) error { … })
//	job, err := sendEmail.Enqueue(ctx, client, Email{To: "ada@example.com"})
type Task[T any] struct {
	jobType  string
	defaults []EnqueueOption
}

// NewTask makes a task whose arguments are a T: the single argument of the job, or, when T is a slice, all of them.
// The options are those of all its jobs, unless Enqueue says otherwise.
func NewTask[T any](jobType string, defaults ...EnqueueOption) Task[T] {
	return Task[T]{jobType, defaults}
}

// Type is the job type.
func (t Task[T]) Type() string { return t.jobType }

// Job describes a job, for EnqueueBatch, workflows, schedules and outboxes.
func (t Task[T]) Job(args T, options ...EnqueueOption) JobRequest {
	return NewJob(t.jobType, args, t.options(options)...)
}

// Enqueue sends a job, see [Client.Enqueue].
func (t Task[T]) Enqueue(ctx context.Context, client *Client, args T, options ...EnqueueOption) (*Job, error) {
	return client.Enqueue(ctx, t.jobType, args, t.options(options)...)
}

// options are those of a job: of the task, then its own. A train that neither gives an id is none.
func (t Task[T]) options(own []EnqueueOption) []EnqueueOption {
	return slices.Concat(t.defaults, own, []EnqueueOption{enqueueOption(func(r *JobRequest) {
		if r.Train != nil && r.Train.ID == "" {
			r.Train = nil
		}
	})})
}

// Register sets its handler, see [RegisterTyped].
func (t Task[T]) Register(w *Worker, handler func(ctx JobContext, args T) error) {
	RegisterTyped(w, t.jobType, handler, t.defaults...)
}
