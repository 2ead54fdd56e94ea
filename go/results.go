//go:build cgo

package ojs

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// heldBack is how long the server may hold back an answer: below the time-outs of common proxies.
const heldBack = 20 * time.Second

// Decode reads the result into a variable.
func (r *JobResult) Decode(into any) error {
	if r.Result == nil {
		return invalid("job %s has no result", r.JobID)
	}
	return decode(r.Result, into)
}

// WaitForResult waits for the end of the job, or of the context.
func (c *Client) WaitForResult(ctx context.Context, id string) (*JobResult, error) {
	for {
		wait := heldBack
		if deadline, there := ctx.Deadline(); there {
			wait = min(wait, max(time.Until(deadline), 0))
		}
		path := query(at("jobs", id, "result"), "wait", "true", "timeout", fmt.Sprint(int((wait+time.Second-1)/time.Second)))
		result, err := c.result(ctx, path, wait)
		var refused *Error
		if err == nil || !errors.As(err, &refused) || refused.Status != 408 {
			return result, err
		}
	}
}

func (c *Client) result(ctx context.Context, path string, wait time.Duration) (*JobResult, error) {
	result := &JobResult{}
	if err := c.askWaiting(ctx, "GET", path, nil, &wait, result); err != nil {
		return nil, err
	}
	return result, nil
}
