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

// members are those that are not empty, by their names on the wire.
func (f DeadLetterFilter) members() Obj {
	chosen := Obj{}
	given := f.parameters()
	for i := 0; i < len(given); i += 2 {
		if given[i+1] != "" {
			chosen[given[i]] = given[i+1]
		}
	}
	return chosen
}

// ListDeadLetterJobs are jobs that failed for good and were kept, newest first. A queue of "" means all, a limit of 0 the server's.
func (c *Client) ListDeadLetterJobs(ctx context.Context, queue string, limit, offset int) ([]Job, error) {
	var answer struct{ Jobs []Job }
	err := c.ask(ctx, "GET", query("/dead-letter", "queue", queue, "limit", positiveText(limit), "offset", positiveText(offset)), nil, &answer)
	return answer.Jobs, err
}
