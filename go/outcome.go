package ojs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

//gen:go/outcomes.j2 (make gen; do not edit)

// What an outcome says; the numbers of ojs_frame.h.
const (
	kindCompleted = 0 // Done; the payload is the result as JSON text, or empty.
	kindFailed    = 1 // Failed; the payload is a JSON object: message, perhaps code, type, retryable, details, backtrace.
	kindReleased  = 2 // Given back without counting an attempt; no payload.
	kindSnoozed   = 3 // To run again after the delay, without counting a failure; no payload.
)

//gen:end

// outcome is what the engine gets about a run.
type outcome struct {
	token   uint64
	kind    uint32
	payload []byte
	delay   time.Duration
}

// panicked is a panic of a handler as an error.
type panicked struct {
	value any
	stack string
}

func (p panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func (p panicked) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// noHandler is the failure of a job whose type has no registered handler.
type noHandler struct{ *JobError }

func (n noHandler) Unwrap() error { return n.JobError }

// tooLate is the failure of a run whose time was up.
type tooLate struct{ *JobError }

func (t tooLate) Unwrap() error { return t.JobError }

// explained is the error of this package for a test that drains a worker: most often the type is misspelt.
func (n noHandler) explained(plan map[string]HandlerFunc) *Error {
	known := slices.Sorted(maps.Keys(plan))
	return &Error{
		Class: ErrValidation, Code: n.Code, Message: n.Message, cause: n,
		Hint: "registered are: " + strings.Join(known, ", ") + "; \"*\" stands for every other type",
	}
}

// perform runs the handler of a job. The error is what it returned, or its panic.
func perform(plan map[string]HandlerFunc, ctx JobContext) (outcome, error) {
	handler := plan[ctx.Job.Type]
	if handler == nil {
		handler = plan["*"]
	}
	var err error
	if handler == nil {
		err = noHandler{&JobError{Code: "no_handler", Message: fmt.Sprintf("No handler is registered for job type '%s'.", ctx.Job.Type), NonRetryable: true}}
	} else {
		err = call(handler, ctx)
	}
	o := outcomeOf(ctx, err)
	o.token = ctx.token
	return o, err
}

func call(handler HandlerFunc, ctx JobContext) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = panicked{value, fromHandler(string(debug.Stack()))}
		}
	}()
	return handler(ctx)
}

func outcomeOf(ctx JobContext, err error) outcome {
	if err == nil {
		return completed(ctx)
	}
	var again snooze
	if errors.As(err, &again) {
		return outcome{kind: kindSnoozed, delay: again.delay}
	}
	if errors.Is(err, ErrRelease) {
		return outcome{kind: kindReleased}
	}
	var why CancelReason
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.As(err, &why)) {
		// It stopped because it was asked to.
		return outcome{kind: kindReleased}
	}
	return failed(err)
}

func completed(ctx JobContext) outcome {
	ctx.state.mu.Lock()
	defer ctx.state.mu.Unlock()
	if ctx.state.result == nil {
		return outcome{kind: kindCompleted}
	}
	err := fits("result", ctx.state.result)
	var payload []byte
	if err == nil {
		payload, err = encode(ctx.state.result)
	}
	if err != nil {
		return failed(&JobError{Code: "serialization_error", Message: "the handler's result: " + err.Error(), NonRetryable: true})
	}
	return outcome{kind: kindCompleted, payload: payload}
}

// frames is how many lines of a stack are kept: the server keeps no more.
const frames = 50

type failure struct {
	Code      string   `json:"code"`
	Type      string   `json:"type"`
	Message   string   `json:"message"`
	Retryable bool     `json:"retryable"`
	Details   any      `json:"details,omitempty"`
	Backtrace []string `json:"backtrace,omitempty"`
}

func failed(err error) outcome {
	about := failure{Code: "handler_error", Type: typeName(err), Message: messageOf(err), Retryable: true}
	details := map[string]any{"error_class": about.Type}
	var mark nonRetryable
	if errors.As(err, &mark) {
		about.Code, about.Retryable = "non_retryable", false
	}
	var own *JobError
	if errors.As(err, &own) {
		if own.Code != "" {
			about.Code = own.Code
		}
		about.Retryable = about.Retryable && !own.NonRetryable
		for name, value := range own.Details {
			details[name] = value
		}
	}
	var panic panicked
	if errors.As(err, &panic) {
		details["stack"] = panic.stack
		about.Backtrace = backtrace(panic.stack)
	}
	about.Details = details
	payload, wrong := encode(about)
	if wrong != nil {
		about.Details = map[string]any{"error_class": about.Type}
		payload, _ = encode(about)
	}
	return outcome{kind: kindFailed, payload: payload}
}

// messageOf is the message of an error; the engine wants one, and Error itself may panic.
func messageOf(err error) (message string) {
	defer func() {
		if recover() != nil || message == "" {
			message = typeName(err)
		}
	}()
	return err.Error()
}

// typeName is the type of an error, below what merely adds words or marks.
func typeName(err error) string {
	for {
		name := strings.TrimLeft(fmt.Sprintf("%T", err), "*")
		if p, ok := err.(panicked); ok {
			return strings.TrimLeft(fmt.Sprintf("%T", p.value), "*")
		}
		switch err.(type) { // As in every language.
		case noHandler:
			return "NoHandler"
		case tooLate:
			return "timeout"
		}
		inner := errors.Unwrap(err)
		if inner == nil || name != "fmt.wrapError" && name != "ojs.nonRetryable" {
			return name
		}
		err = inner
	}
}

// fromHandler leaves out the frames above the code that panicked: those that take the stack, recover and panic.
func fromHandler(stack string) string {
	title, frames, _ := strings.Cut(stack, "\n")
	lines := strings.Split(frames, "\n")
	panics := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "panic(") })
	if panics < 0 {
		return stack
	}
	// Two lines a frame: the function, then its place. A fault of memory has frames of the runtime below the panic.
	first := panics + 2
	for first+2 < len(lines) && strings.HasPrefix(lines[first], "runtime.") {
		first += 2
	}
	return title + "\n" + strings.Join(lines[min(first, len(lines)):], "\n")
}

// backtrace are the lines of a stack below the panic, one per frame: function and place.
func backtrace(stack string) []string {
	lines := strings.Split(strings.TrimSpace(stack), "\n")
	var found []string
	for i := 1; i+1 < len(lines) && len(found) < frames; i += 2 {
		place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +0x")
		found = append(found, lines[i]+" "+place)
	}
	return found
}
