//go:build cgo

package ojs

import (
	"context"
	"crypto/rand"
)

// BulkOptions are the settings of a call for many jobs.
type BulkOptions struct {
	// Atomic: all or none.
	Atomic bool
	// IdempotencyKey makes BulkEnqueue answer a repeated request the same way for a day; without one, a key is made for the call.
	IdempotencyKey string
}

func (o BulkOptions) atomicity() string {
	if o.Atomic {
		return "atomic"
	}
	return "partial"
}

// BulkEnqueue sends up to 10,000 jobs in one request, each on its own: one that is refused leaves the others alone. There is one item per
// job, in order. Middleware runs for each; jobs that it drops are left out.
func (c *Client) BulkEnqueue(ctx context.Context, requests []JobRequest, options BulkOptions) ([]BulkItem, error) {
	kept, err := c.kept(ctx, requests)
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	key := options.IdempotencyKey
	if key == "" {
		// The engine may send the request twice.
		key = rand.Text()
	}
	var answer struct{ Items []BulkItem }
	body := Obj{"jobs": kept, "atomicity": options.atomicity(), "idempotency_key": key}
	err = c.ask(ctx, "POST", "/jobs/bulk", body, &answer)
	return answer.Items, err
}

// body is that of a bulk request: the jobs by their ids or by the filter, one of the two.
func (f BulkTarget) body(options BulkOptions) (Obj, error) {
	filter := f.members()
	if (f.JobIDs == nil) == (len(filter) == 0) {
		return nil, invalid("name the jobs by their ids or by a filter (Queue, Type, States, …), and not by both")
	}
	if f.JobIDs != nil {
		return Obj{"job_ids": f.JobIDs, "atomicity": options.atomicity()}, nil
	}
	return Obj{"filter": filter, "atomicity": options.atomicity()}, nil
}
