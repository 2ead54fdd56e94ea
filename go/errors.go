package ojs

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Class is what kind of error an [Error] is; the same in every language. It is itself an error, for errors.Is:
//
//	if errors.Is(err, ojs.ErrNotFound) { … }
type Class int32

const (
	ErrAPI                    Class = 1  // The server answered with an error; the classes up to ErrAuthentication are kinds of it.
	ErrDuplicate              Class = 2  // The job exists already: same id, or a unique policy said so.
	ErrNotFound               Class = 3  // There is no such job, queue, workflow or schedule.
	ErrQueuePaused            Class = 4  // The queue is paused and refuses jobs.
	ErrRateLimited            Class = 5  // The request came too fast, or the queue is full.
	ErrInvalidStateTransition Class = 6  // The job is in a state that does not allow the operation.
	ErrPayloadTooLarge        Class = 7  // Larger than the server takes.
	ErrInvalidRequest         Class = 8  // The server found the request wrong.
	ErrAuthentication         Class = 9  // The token is missing, wrong, or not allowed to do this.
	ErrConnection             Class = 20 // There was no OJS answer.
	ErrTimeout                Class = 21 // There was no answer in time; the server may have acted. A kind of ErrConnection.
	ErrValidation             Class = 30 // The request, an argument or a setting was found wrong before anything was sent.
	ErrNotEnqueued            Class = 31 // A middleware dropped the job: it did not call next.
	ErrMiddleware             Class = 32 // A chain was changed wrongly: unknown name, name taken, changed while in use.
	ErrClosed                 Class = 40 // The client or worker was closed.
	ErrForked                 Class = 41 // The object does not work in a forked child.
	ErrInternal               Class = 42 // A bug in OJS. Please report it.
)

var classNames = map[Class]string{
	ErrAPI: "refused by the server", ErrDuplicate: "duplicate", ErrNotFound: "not found", ErrQueuePaused: "queue paused",
	ErrRateLimited: "rate limited", ErrInvalidStateTransition: "invalid state transition", ErrPayloadTooLarge: "payload too large",
	ErrInvalidRequest: "invalid request", ErrAuthentication: "authentication", ErrConnection: "connection", ErrTimeout: "time-out",
	ErrValidation: "validation", ErrNotEnqueued: "not enqueued", ErrMiddleware: "middleware", ErrClosed: "closed", ErrForked: "forked",
	ErrInternal: "internal",
}

func (c Class) Error() string {
	if name, known := classNames[c]; known {
		return "ojs: " + name
	}
	return fmt.Sprintf("ojs: class %d", int32(c))
}

// is tells whether c is a kind of parent.
func (c Class) is(parent Class) bool {
	return c == parent || parent == ErrAPI && c > ErrAPI && c <= ErrAuthentication || parent == ErrConnection && c == ErrTimeout
}

// Error is every error of this package: a refusal of the server, a lost connection, a wrong argument.
type Error struct {
	// Class is its kind.
	Class Class `json:"-"`
	// Code is machine-readable, as the server wrote it: "not_found".
	Code string `json:"code"`
	// Message is for people.
	Message string `json:"message"`
	// Retryable tells whether the same call may succeed later.
	Retryable bool `json:"retryable"`
	// Status is the HTTP status; 0 when there was no answer.
	Status int `json:"status"`
	// Numeric is the number of the code in the catalogue of errors, "OJS-2004"; empty when it has none.
	Numeric string `json:"numeric"`
	// Details is the JSON object with more about it, nil when there is none.
	Details json.RawMessage `json:"details"`
	// Hint tells what to do.
	Hint string `json:"hint"`
	// RequestID finds the request in the server's log.
	RequestID string `json:"request_id"`

	cause error
}

func errorOf(class Class, object []byte) error {
	e := &Error{}
	if err := json.Unmarshal(object, e); err != nil {
		e = &Error{Code: "internal_error", Message: string(object)}
	}
	if string(e.Details) == "null" {
		e.Details = nil
	}
	e.Class = class
	return e
}

func invalid(format string, args ...any) *Error {
	return &Error{Class: ErrValidation, Code: "invalid_argument", Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string {
	if e.Code == "" || e.Code == "invalid_argument" {
		return "ojs: " + e.Message
	}
	return "ojs: " + e.Code + ": " + e.Message
}

// Is makes errors.Is(err, ojs.ErrNotFound) work.
func (e *Error) Is(target error) bool {
	class, ok := target.(Class)
	return ok && e.Class.is(class)
}

// Unwrap gives the error below, if there is one.
func (e *Error) Unwrap() error { return e.cause }

// ExistingJobID is the job that was there first, when this is a duplicate.
func (e *Error) ExistingJobID() string {
	var details struct {
		ID string `json:"existing_job_id"`
	}
	_ = json.Unmarshal(e.Details, &details)
	return details.ID
}

// JobError is a failure with a code of your own. A handler returns it, or anything that wraps it.
type JobError struct {
	// Code is what retry policies and people look for; "handler_error" when it is empty.
	Code string
	// Message is for people.
	Message string
	// NonRetryable ends the job, whatever its retry policy says.
	NonRetryable bool
	// Details is anything JSON has a form for.
	Details map[string]any
}

func (e *JobError) Error() string { return e.Message }

type nonRetryable struct{ error }

func (e nonRetryable) Unwrap() error { return e.error }

// NonRetryable marks an error: the job fails for good, whatever its retry policy says.
//
//	return ojs.NonRetryable(fmt.Errorf("no such customer: %s", id))
func NonRetryable(err error) error {
	if err == nil {
		return nil
	}
	return nonRetryable{err}
}

type snooze struct{ delay time.Duration }

func (s snooze) Error() string { return "again in " + s.delay.String() }

// Snooze, returned by a handler, runs the job again after a delay. No attempt is counted.
func Snooze(delay time.Duration) error { return snooze{max(delay, 0)} }

// ErrRelease, returned by a handler, gives the job back to its queue. No attempt is counted.
var ErrRelease = errors.New("the job goes back to its queue")

// CancelReason is why a handler should stop. It is an error: the cause of the context, see [context.Cause].
type CancelReason uint32

const (
	ErrCancelled CancelReason = 1 // The job was cancelled on the server.
	ErrLeaseLost CancelReason = 2 // Another worker has the job by now.
	ErrTimedOut  CancelReason = 3 // The attempt's time is up.
	ErrShutdown  CancelReason = 4 // The worker stops and its grace period is over.
)

func (r CancelReason) Error() string {
	switch r {
	case ErrCancelled:
		return "the job was cancelled"
	case ErrLeaseLost:
		return "the job's lease is lost"
	case ErrTimedOut:
		return "the job's time is up"
	case ErrShutdown:
		return "the worker stops"
	}
	return fmt.Sprintf("the job should stop (%d)", uint32(r))
}
