//go:build cgo

package ojs

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"strings"
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

const (
	eventPage      = "500"
	eventPause     = 500 * time.Millisecond // Between two looks at a server that does not hold back.
	firstBackoff   = 100 * time.Millisecond
	longestBackoff = 10 * time.Second
)

// Events are what happens, as it happens: an iterator that ends with the context, or with a break.
//
//	for event, err := range client.Events(ctx, ojs.EventFilter{Types: []string{"job.*"}}) { … }
//
// When the connection is lost it asks again from the last event, so none is missed and none comes twice. A refusal, a fault of the
// first request, and the end of the context are errors, and the last thing that comes.
func (c *Client) Events(ctx context.Context, filter EventFilter) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		cursor, heard, backoff := filter.After, false, firstBackoff
		switch cursor {
		case "":
			cursor = "latest"
		case Oldest:
			cursor = ""
		}
		for {
			wait := time.Duration(0) // The first answer says where the log ends, at once.
			if heard {
				wait = heldBack
			}
			asked := time.Now()
			page, next, err := c.events(ctx, cursor, filter, wait)
			pause := time.Duration(0)
			switch {
			case err == nil:
				if heard && len(page) == 0 && time.Since(asked) < heldBack/2 {
					pause = eventPause
				}
				cursor, heard, backoff = next, true, firstBackoff
			case !heard || !passing(err) || ctx.Err() != nil:
				yield(Event{}, err)
				return
			default:
				pause = backoff/2 + rand.N(backoff/2)
				backoff = min(backoff*2, longestBackoff)
			}
			for _, event := range page {
				if !yield(event, nil) {
					return
				}
			}
			if pause > 0 {
				select {
				case <-time.After(pause):
				case <-ctx.Done():
				}
			}
		}
	}
}

// passing reports whether asking again may help.
func passing(err error) bool {
	var refused *Error
	return errors.Is(err, ErrConnection) || errors.As(err, &refused) && (refused.Status == 408 || refused.Status == 429 || refused.Status >= 500)
}

func (c *Client) events(ctx context.Context, cursor string, filter EventFilter, wait time.Duration) ([]Event, string, error) {
	path := query("/events", "after", cursor, "limit", eventPage, "types", strings.Join(filter.Types, ","),
		"queues", strings.Join(filter.Queues, ","), "job_types", strings.Join(filter.JobTypes, ","))
	var answer struct {
		Events []Event
		Cursor string
	}
	path += "&wait_ms=" + duration(wait).millis()
	err := c.askWaiting(ctx, "GET", path, nil, &wait, &answer)
	return answer.Events, answer.Cursor, err
}
