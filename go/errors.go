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

//gen:go/classes.j2 (make gen; do not edit)

const (
	ErrAPI                    Class = 1  // The server answered, and the answer is an error.
	ErrDuplicate              Class = 2  // The job exists already: same id, or a unique policy said so. A kind of ErrConflict.
	ErrNotFound               Class = 3  // There is no such job, queue, workflow or schedule (any more). A kind of ErrAPI.
	ErrQueuePaused            Class = 4  // The queue is paused and refuses jobs. A kind of ErrAPI.
	ErrRateLimited            Class = 5  // The request came too fast, or the queue is full. A kind of ErrAPI.
	ErrInvalidStateTransition Class = 6  // The state of the job, schema, workflow or other thing does not allow the operation; for a job, current_state in the details names it. A kind of ErrConflict.
	ErrPayloadTooLarge        Class = 7  // The job, its metadata, its result or the batch is larger than the server takes. A kind of ErrAPI.
	ErrInvalidRequest         Class = 8  // The server found the request wrong; field in the details names the place. A kind of ErrAPI.
	ErrAuthentication         Class = 9  // The token is missing, wrong, or not allowed to do this. A kind of ErrAPI.
	ErrConflict               Class = 10 // The job's present state or another job is in the way. A kind of ErrAPI.
	ErrUnsupportedExtension   Class = 11 // The server does not have an extension that the request needs, such as job trains; extension in the details names it. Nothing was done. A kind of ErrInvalidRequest.
	ErrConnection             Class = 20 // There was no OJS answer.
	ErrTimeout                Class = 21 // There was no answer in time; the server may have acted. A kind of ErrConnection.
	ErrValidation             Class = 30 // The request, an argument or a setting was found wrong before anything was sent.
	ErrNotEnqueued            Class = 31 // An enqueue middleware did not call next: the job was dropped on purpose.
	ErrMiddleware             Class = 32 // A chain was used wrongly: unknown name, name taken, changed while in use, next called twice.
	ErrOutbox                 Class = 33 // The outbox cannot be used as it is set up, or not here: the message says what to do.
	ErrUntrustedWebhook       Class = 34 // A request of a webhook is not to be trusted: a header is missing, the signature is old, or no secret fits. reason in the details is a word for it.
	ErrClosed                 Class = 40 // The client, worker or server was closed.
	ErrForked                 Class = 41 // A worker or embedded engine of the parent was used in a forked child. Make it after the fork.
	ErrInternal               Class = 42 // A bug in OJS. Please report it.
)

// about gives the words for a class, and what it is a kind of; 0 when of none.
func (c Class) about() (words string, parent Class) {
	switch c {
	case ErrAPI:
		return "refused by the server", 0
	case ErrDuplicate:
		return "duplicate", ErrConflict
	case ErrNotFound:
		return "not found", ErrAPI
	case ErrQueuePaused:
		return "queue paused", ErrAPI
	case ErrRateLimited:
		return "rate limited", ErrAPI
	case ErrInvalidStateTransition:
		return "invalid state transition", ErrConflict
	case ErrPayloadTooLarge:
		return "payload too large", ErrAPI
	case ErrInvalidRequest:
		return "invalid request", ErrAPI
	case ErrAuthentication:
		return "authentication", ErrAPI
	case ErrConflict:
		return "conflict", ErrAPI
	case ErrUnsupportedExtension:
		return "unsupported extension", ErrInvalidRequest
	case ErrConnection:
		return "connection", 0
	case ErrTimeout:
		return "time-out", ErrConnection
	case ErrValidation:
		return "validation", 0
	case ErrNotEnqueued:
		return "not enqueued", 0
	case ErrMiddleware:
		return "middleware", 0
	case ErrOutbox:
		return "outbox", 0
	case ErrUntrustedWebhook:
		return "untrusted webhook", 0
	case ErrClosed:
		return "closed", 0
	case ErrForked:
		return "forked", 0
	case ErrInternal:
		return "internal", 0
	}
	return fmt.Sprintf("class %d", int32(c)), 0
}

//gen:end

func (c Class) Error() string {
	words, _ := c.about()
	return "ojs: " + words
}

// is reports whether c is a kind of parent.
func (c Class) is(parent Class) bool {
	for c != parent && c != 0 {
		_, c = c.about()
	}
	return c == parent
}

// Error is every error of this package: a refusal of the server, a lost connection, a wrong argument.
type Error struct {
	// Class is its kind.
	Class Class `json:"-"`
	//gen:go/error_fields.j2 (make gen; do not edit)
	// Code: machine-readable, as the server wrote it, such as "not_found".
	Code string `json:"code"`
	// Message: for people.
	Message string `json:"message"`
	// Retryable: whether the same call may succeed later.
	Retryable bool `json:"retryable"`
	// Status: the HTTP status; 0 when there was no answer.
	Status int `json:"status"`
	// Details: more about the error, in the forms of JSON; nothing when there is no more.
	Details json.RawMessage `json:"details"`
	// Hint: what to do next, in the server's words; nothing when the server gave no hint.
	Hint string `json:"hint"`
	// RequestID: the name of the request in the server's log; nothing when the server gave none.
	RequestID string `json:"request_id"`
	// Numeric: the number of the code in the catalogue of OJS errors, such as "OJS-3000"; nothing when it has none.
	Numeric string `json:"numeric"`
	//gen:end

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

// itemError is the error of one item of an answer about many; nil when it has none.
func itemError(object []byte) *Error {
	if len(object) == 0 || string(object) == "null" {
		return nil
	}
	var err *Error
	errors.As(errorOfObject(object), &err)
	return err
}

func invalid(format string, args ...any) *Error {
	return &Error{Class: ErrValidation, Code: "invalid_argument", Message: fmt.Sprintf(format, args...)}
}

// unexpected is an answer that is none of the protocol's.
func unexpected(format string, args ...any) *Error {
	return &Error{Class: ErrAPI, Code: "unexpected_answer", Message: fmt.Sprintf(format, args...)}
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

//gen:go/cancel_reasons.j2 (make gen; do not edit)

const (
	ErrCancelled CancelReason = 1 // The job was cancelled on the server.
	ErrLeaseLost CancelReason = 2 // Another worker has the job by now, or it was answered before.
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

//gen:end
