package ojs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"
)

// BulkItem is what became of one job of BulkEnqueue.
type BulkItem struct {
	// Index is its place in the request.
	Index int
	// Status is "created", "duplicate" (a unique policy of "ignore": Job is the one that was there) or "failed".
	Status string
	// Job is nil when it failed.
	Job *Job
	// Err is why it failed.
	Err *Error
}

// bulkItem is an item as the wire has it.
type bulkItem struct {
	Index  int
	Status string
	Job    *Job
	JobID  string          `json:"job_id"`
	Error  json.RawMessage `json:"error"`
}

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
	body := Obj{"jobs": kept, "atomicity": options.atomicity(), "idempotency_key": key}
	var answer struct{ Items []bulkItem }
	if err := c.ask(ctx, "POST", "/jobs/bulk", body, &answer); err != nil {
		return nil, err
	}
	items := make([]BulkItem, len(answer.Items))
	for i, item := range answer.Items {
		items[i] = BulkItem{item.Index, item.Status, item.Job, itemError(item.Error)}
	}
	return items, nil
}

// BulkTarget are the jobs that a call means: ids, or a filter out of the other fields; what is empty does not matter.
type BulkTarget struct {
	JobIDs []string
	Queue  string
	// Type may end in ".*": all that start so.
	Type                          string
	States                        []JobState
	EnqueuedAfter, EnqueuedBefore time.Time
	Meta                          Obj
}

func (t BulkTarget) body(options BulkOptions) (Obj, error) {
	filter := Obj{}
	set := func(wanted bool, name string, value any) {
		if wanted {
			filter[name] = value
		}
	}
	set(t.Queue != "", "queue", t.Queue)
	set(t.Type != "", "type", t.Type)
	set(len(t.States) > 0, "state", t.States)
	set(!t.EnqueuedAfter.IsZero(), "enqueued_after", t.EnqueuedAfter)
	set(!t.EnqueuedBefore.IsZero(), "enqueued_before", t.EnqueuedBefore)
	set(len(t.Meta) > 0, "meta", t.Meta)
	if (t.JobIDs == nil) == (len(filter) == 0) {
		return nil, invalid("name the jobs by their ids or by a filter (Queue, Type, States, …), and not by both")
	}
	if t.JobIDs != nil {
		return Obj{"job_ids": t.JobIDs, "atomicity": options.atomicity()}, nil
	}
	return Obj{"filter": filter, "atomicity": options.atomicity()}, nil
}

// BulkResult is what came of a call for many jobs.
type BulkResult struct {
	// Matched jobs were named or found.
	Matched int
	// Skipped jobs were left as they are; their items say why.
	Skipped int
	// Items are in the order of the ids; of a filter the first 1,000.
	Items []BulkChange
}

// Succeeded is how many jobs were changed.
func (r *BulkResult) Succeeded() int { return r.Matched - r.Skipped }

// BulkChange is what became of one job.
type BulkChange struct {
	JobID string
	// Status is "cancelled", "retried", "deleted" or "skipped".
	Status string
	// Err is why it was skipped.
	Err *Error
}

// BulkCancel cancels many jobs: by ids whatever is not finished, by filter what waits unless it names other states.
func (c *Client) BulkCancel(ctx context.Context, target BulkTarget, options BulkOptions) (*BulkResult, error) {
	return c.bulk(ctx, "cancel", target, options)
}

// BulkRetry runs many jobs again: discarded ones with fresh attempts, retryable ones at once instead of after their back-off.
func (c *Client) BulkRetry(ctx context.Context, target BulkTarget, options BulkOptions) (*BulkResult, error) {
	return c.bulk(ctx, "retry", target, options)
}

// BulkDelete deletes many ended jobs for ever.
func (c *Client) BulkDelete(ctx context.Context, target BulkTarget, options BulkOptions) (*BulkResult, error) {
	return c.bulk(ctx, "delete", target, options)
}

func (c *Client) bulk(ctx context.Context, verb string, target BulkTarget, options BulkOptions) (*BulkResult, error) {
	body, err := target.body(options)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Matched int `json:"total_matched"`
		Skipped int
		Items   []bulkItem
	}
	if err := c.ask(ctx, "POST", "/jobs/bulk/"+verb, body, &answer); err != nil {
		return nil, err
	}
	result := &BulkResult{Matched: answer.Matched, Skipped: answer.Skipped}
	for _, item := range answer.Items {
		result.Items = append(result.Items, BulkChange{item.JobID, item.Status, itemError(item.Error)})
	}
	return result, nil
}
