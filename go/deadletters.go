package ojs

import (
	"context"
	"time"
)

// DeadLetterFilter chooses dead letters; what is empty does not matter.
type DeadLetterFilter struct {
	Queue, Type, ErrorType string
	Since, Until           time.Time
}

func (f DeadLetterFilter) parameters() []string {
	return []string{"queue", f.Queue, "type", f.Type, "error_type", f.ErrorType, "since", moment(f.Since), "until", moment(f.Until)}
}

// ListDeadLetterJobs are jobs that failed for good and were kept, newest first. A queue of "" means all, a limit of 0 the server's.
func (c *Client) ListDeadLetterJobs(ctx context.Context, queue string, limit, offset int) ([]Job, error) {
	var answer struct{ Jobs []Job }
	err := c.ask(ctx, "GET", query("/dead-letter", "queue", queue, "limit", positiveText(limit), "offset", positiveText(offset)), nil, &answer)
	return answer.Jobs, err
}

// GetDeadLetterJob is a dead letter by its id.
func (c *Client) GetDeadLetterJob(ctx context.Context, id string) (*Job, error) {
	return c.job(ctx, "GET", at("dead-letter", id), nil)
}

// RetryDeadLetterJob runs it again, from attempt one.
func (c *Client) RetryDeadLetterJob(ctx context.Context, id string) (*Job, error) {
	return c.job(ctx, "POST", at("dead-letter", id, "retry"), empty)
}

// DiscardDeadLetterJob deletes it.
func (c *Client) DiscardDeadLetterJob(ctx context.Context, id string) error {
	return c.ask(ctx, "DELETE", at("dead-letter", id), nil, nil)
}

// RetryDeadLetterJobs runs all again that the filter finds; it returns how many.
func (c *Client) RetryDeadLetterJobs(ctx context.Context, filter DeadLetterFilter) (int, error) {
	chosen := Obj{}
	given := filter.parameters()
	for i := 0; i < len(given); i += 2 {
		if given[i+1] != "" {
			chosen[given[i]] = given[i+1]
		}
	}
	var answer struct{ Retried int }
	err := c.ask(ctx, "POST", "/dead-letter/retry", Obj{"filter": chosen, "confirm": true}, &answer)
	return answer.Retried, err
}

// DiscardDeadLetterJobs deletes all that the filter finds; it returns how many.
func (c *Client) DiscardDeadLetterJobs(ctx context.Context, filter DeadLetterFilter) (int, error) {
	var answer struct{ Deleted int }
	err := c.ask(ctx, "DELETE", query("/dead-letter", append(filter.parameters(), "confirm", "true")...), nil, &answer)
	return answer.Deleted, err
}

// DeadLetterStats tells how many there are, by queue and type of error, and since when.
func (c *Client) DeadLetterStats(ctx context.Context) (Obj, error) {
	return c.object(ctx, "GET", "/dead-letter/stats", nil)
}
