//go:build cgo

package ojs

import (
	"context"
	"errors"
	"iter"
	"time"
)

// EventFilter chooses events; what is empty does not matter.
type EventFilter struct {
	// Types may end in "*".
	Types, Queues, JobTypes []string
	// After is the id of the last event that was dealt with, or Oldest. Empty: from now on.
	After string
}

// Oldest, as EventFilter.After, begins with the oldest event that is kept.
const Oldest = "oldest"

// eventStep is the next request of a reader of events, as the core decides it: after which pause, with how much time
// for the server to hold its answer back.
type eventStep struct {
	Path    string
	WaitMS  int64 `json:"wait_ms"`
	PauseMS int64 `json:"pause_ms"`
	State   string
}

// Events are what happens, as it happens: an iterator that ends with the context, or with a break.
//
//	for event, err := range client.Events(ctx, ojs.EventFilter{Types: []string{"job.*"}}) { … }
//
// When the connection is lost it asks again from the last event, so none is missed and none comes twice. A refusal, a fault of the
// first request, and the end of the context are errors, and the last thing that comes.
func (c *Client) Events(ctx context.Context, filter EventFilter) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		step, err := followEvents("begin", filter.said())
		for err == nil {
			var answer struct {
				Events []Event
				Cursor string
			}
			if err = c.askStep(ctx, step, &answer); err != nil {
				step, err = step.after(ctx, err)
				continue
			}
			for _, event := range answer.Events {
				if !yield(event, nil) {
					return
				}
			}
			step, err = followEvents("answered", Obj{"state": step.State, "events": len(answer.Events), "cursor": answer.Cursor})
		}
		yield(Event{}, err)
	}
}

func (f EventFilter) said() Obj {
	said := Obj{}
	for name, names := range map[string][]string{"types": f.Types, "queues": f.Queues, "job_types": f.JobTypes} {
		if len(names) > 0 {
			said[name] = names
		}
	}
	switch f.After {
	case "":
	case Oldest:
		said["after"] = ""
	default:
		said["after"] = f.After
	}
	return said
}

func (c *Client) askStep(ctx context.Context, step *eventStep, into any) error {
	select {
	case <-time.After(time.Duration(step.PauseMS) * time.Millisecond):
	case <-ctx.Done():
	}
	wait := time.Duration(step.WaitMS) * time.Millisecond
	return c.askWaiting(ctx, "GET", step.Path, nil, &wait, into)
}

// after is the request that follows a failed one, or the error when asking again does not help.
func (s *eventStep) after(ctx context.Context, failed error) (*eventStep, error) {
	var refused *Error
	if ctx.Err() != nil || !errors.As(failed, &refused) {
		return nil, failed
	}
	about := Obj{"status": refused.Status, "code": refused.Code, "retryable": refused.Retryable}
	about["connection"] = errors.Is(failed, ErrConnection)
	again, err := followEvents("failed", Obj{"state": s.State, "error": about})
	if err == nil && again == nil {
		err = failed
	}
	return again, err
}

// followEvents tells the core what has come of the last request; nil when the error of it ends the reader.
func followEvents(what string, said Obj) (*eventStep, error) {
	text, err := encode(Obj{what: said})
	if err != nil {
		return nil, err
	}
	if text, err = nativeFollowEvents(text); err != nil {
		return nil, err
	}
	var step *eventStep
	err = decode(text, &step)
	return step, err
}
