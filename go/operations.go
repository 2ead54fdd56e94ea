// Made from xtask/operations by make gen; do not edit.

//go:build cgo

package ojs

import (
	"context"
	"time"
)

// BulkCancel: Cancels many jobs. By ids: every job that has not ended. By a filter: the jobs that wait, unless the
// filter names other states. Jobs that cannot be cancelled are skipped, and their items say why; with "atomic" one
// such job keeps the others from being cancelled.
//
//   - target: Which jobs: ids, or a filter.
//   - options: All of the jobs, or none.
//
// A refusal is [ErrInvalidStateTransition] or [ErrPayloadTooLarge] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.BulkCancel(ctx, ojs.BulkTarget{Queue: "reports"}, ojs.BulkOptions{})
func (c *Client) BulkCancel(ctx context.Context, target BulkTarget, options BulkOptions) (*BulkResult, error) {
	body, err := target.body(options)
	if err != nil {
		return nil, err
	}
	return askFor[BulkResult](c, ctx, "POST", at("jobs", "bulk", "cancel"), body)
}

// BulkRetry: Runs many jobs again: discarded jobs with all their attempts, retryable jobs at once instead of after
// their pause. Jobs that cannot be retried are skipped, and their items say why; with "atomic" one such job keeps the
// others from being retried.
//
//   - target: Which jobs: ids, or a filter.
//   - options: All of the jobs, or none.
//
// A refusal is [ErrInvalidStateTransition] or [ErrPayloadTooLarge] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.BulkRetry(ctx, ojs.BulkTarget{JobIDs: []string{"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"}}, ojs.BulkOptions{Atomic: true})
func (c *Client) BulkRetry(ctx context.Context, target BulkTarget, options BulkOptions) (*BulkResult, error) {
	body, err := target.body(options)
	if err != nil {
		return nil, err
	}
	return askFor[BulkResult](c, ctx, "POST", at("jobs", "bulk", "retry"), body)
}

// BulkDelete: Deletes many jobs that have ended. A deleted job cannot be brought back. Jobs that cannot be deleted are
// skipped, and their items say why; with "atomic" one such job keeps the others from being deleted.
//
//   - target: Which jobs: ids, or a filter.
//   - options: All of the jobs, or none.
//
// A refusal is [ErrInvalidStateTransition] or [ErrPayloadTooLarge] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.BulkDelete(ctx, ojs.BulkTarget{Type: "email.*", States: []ojs.JobState{"completed", "cancelled"}}, ojs.BulkOptions{})
func (c *Client) BulkDelete(ctx context.Context, target BulkTarget, options BulkOptions) (*BulkResult, error) {
	body, err := target.body(options)
	if err != nil {
		return nil, err
	}
	return askFor[BulkResult](c, ctx, "POST", at("jobs", "bulk", "delete"), body)
}

// GetJob: The job with this id.
//
//   - id: The job's id.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) GetJob(ctx context.Context, id string) (*Job, error) {
	return c.job(ctx, "GET", at("jobs", id), nil)
}

// ExplainJob: Why a job is not running: a "summary", and "reasons" in the order in which they have to end. Each reason
// has "code" and "message", and where they are known "since", "until", "link" (a path of the API that shows what holds
// the job), "command" (one of the tool "ojs" that helps) and "details". A job that runs, has ended, or is handed out
// by the next fetch has no reasons. The answer reads a bounded number of rows, however many jobs there are.
//
//   - id: The job's id.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.ExplainJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) ExplainJob(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "GET", at("jobs", id, "explain"), nil)
}

// ListJobs: One page of the jobs that the filter finds, the newest first unless the list is sorted otherwise. There is
// another page while the page says that it has more. Jobs that come and go between two pages move the others, but not
// after a "cursor", which is the "next_cursor" of the page before. With a cursor, or with "count=false", a page looks
// at 5,000 rows at most and has no total: it may be short, or empty, say "complete: false", and have a "next_cursor"
// all the same. Pages with numbers look at a million rows at most, count what is in the first 20,000, and begin at
// most 10,000 jobs behind the first. With "q", a page compares 1,000 jobs at most and always goes on by cursors; the
// guide of the dashboard has the words of the language.
//
//   - filter: Which jobs, in which order.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	page, err := client.ListJobs(ctx, ojs.JobFilter{Queue: "mail", States: []ojs.JobState{ojs.Discarded}})
//	for _, job := range page.Jobs { … }
func (c *Client) ListJobs(ctx context.Context, filter JobFilter) (*JobPage, error) {
	if err := filter.wrong(); err != nil {
		return nil, err
	}
	answer, err := askFor[struct {
		Items      []Job
		Pagination JobPage
	}](c, ctx, "GET", query(at("admin", "jobs"), filter.parameters()...), nil)
	if err != nil {
		return nil, err
	}
	answer.Pagination.Jobs = answer.Items
	return &answer.Pagination, nil
}

// CancelJob: Cancels the job. A worker that runs it is told to stop.
//
//   - id: The job's id.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.CancelJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) CancelJob(ctx context.Context, id string) (*Job, error) {
	return c.job(ctx, "DELETE", at("jobs", id), nil)
}

// SetPriority: Changes the priority of a job that waits.
//
//   - id: The job's id.
//   - priority: The new priority. Higher runs earlier.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.SetPriority(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", 5)
func (c *Client) SetPriority(ctx context.Context, id string, priority int) (*Job, error) {
	return c.job(ctx, "PATCH", at("jobs", id), Obj{"priority": priority})
}

// ActivateJob: Makes a job available that was enqueued as pending.
//
//   - id: The job's id.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.ActivateJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) ActivateJob(ctx context.Context, id string) (*Job, error) {
	return c.job(ctx, "POST", at("jobs", id, "activate"), empty)
}

// RetryJob: Runs a discarded job again, with all its attempts. A cancelled job stays cancelled.
//
//   - id: The job's id.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.RetryJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) RetryJob(ctx context.Context, id string) (*Job, error) {
	answer, err := askFor[Job](c, ctx, "POST", at("admin", "jobs", id, "retry"), empty)
	if err != nil {
		return nil, err
	}
	if answer.ID == "" {
		return nil, unexpected("the answer is not a job with an id")
	}
	return answer, nil
}

// Result: How the job ended, and what its handler returned. The request is refused with status 408 while the job has
// not ended, and with 410 when its result is no longer kept.
//
//   - id: The job's id.
//
// A refusal is [ErrAPI] or [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.Result(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) Result(ctx context.Context, id string) (*JobResult, error) {
	// Sent once: a refusal with 408 is an answer here.
	return c.result(ctx, at("jobs", id, "result"), 0)
}

// Results: How up to 1,000 jobs ended, in the order of the ids. Nothing stands for a job that is unknown, that has not
// ended, or whose result is no longer kept.
//
//   - ids: The ids of the jobs.
//
// A refusal is [ErrPayloadTooLarge] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.Results(ctx, []string{"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e10"})
func (c *Client) Results(ctx context.Context, ids []string) ([]*JobResult, error) {
	var answer struct{ Results []*JobResult }
	err := c.ask(ctx, "POST", at("jobs", "results"), Obj{"ids": ids}, &answer)
	return answer.Results, err
}

// GetWorkflow: The state of the workflow and of its steps.
//
//   - id: The workflow's id.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetWorkflow(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) GetWorkflow(ctx context.Context, id string) (*WorkflowStatus, error) {
	return c.workflow(ctx, "GET", at("workflows", id), nil)
}

// CancelWorkflow: Cancels the jobs of the workflow that have not begun. Jobs that run may finish.
//
//   - id: The workflow's id.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.CancelWorkflow(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) CancelWorkflow(ctx context.Context, id string) (*WorkflowStatus, error) {
	return c.workflow(ctx, "DELETE", at("workflows", id), nil)
}

// ListWorkflows: Workflows without their steps, the newest first. A workflow inside another one is a step of it, and
// not listed.
//
//   - state: Only workflows in this state. One of pending, running, completed, failed, cancelled.
//   - page: The number of the page. The first page is 1.
//   - perPage: The most workflows on one page, 1 to 100; 20 without it.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.ListWorkflows(ctx, "running", 0, 50)
func (c *Client) ListWorkflows(ctx context.Context, state string, page int, perPage int) ([]Obj, error) {
	var answer struct {
		Items []Obj `json:"items"`
	}
	err := c.ask(ctx, "GET", query(at("admin", "workflows"), "state", state, "page", positiveText(page), "per_page", positiveText(perPage)), nil, &answer)
	return answer.Items, err
}

// ListQueues: All queues with their status.
//
// For example:
//
//	answer, err := client.ListQueues(ctx)
func (c *Client) ListQueues(ctx context.Context) ([]Obj, error) {
	var answer struct {
		Queues []Obj `json:"queues"`
	}
	err := c.ask(ctx, "GET", query(at("queues"), "pages", "all"), nil, &answer)
	return answer.Queues, err
}

// QueueStats: How many jobs of the queue are in which state.
//
//   - name: The name of the queue.
//
// For example:
//
//	answer, err := client.QueueStats(ctx, "mail")
func (c *Client) QueueStats(ctx context.Context, name string) (*QueueStats, error) {
	answer, err := askFor[struct{ Queue *QueueStats }](c, ctx, "GET", at("queues", name, "stats"), nil)
	if err == nil && answer.Queue == nil {
		err = unexpected("the answer has no 'queue'")
	}
	if err != nil {
		return nil, err
	}
	return answer.Queue, nil
}

// PauseQueue: Stops handing out jobs of the queue until [Client.ResumeQueue]. Jobs can still be enqueued. A queue that
// does not exist is made, paused: the protocol answers 200 for every name. "ojs queues pause" asks first.
//
//   - name: The name of the queue.
//
// For example:
//
//	err := client.PauseQueue(ctx, "mail")
func (c *Client) PauseQueue(ctx context.Context, name string) error {
	return c.ask(ctx, "POST", at("queues", name, "pause"), empty, nil)
}

// ResumeQueue: Hands out jobs of the queue again, and accepts new ones.
//
//   - name: The name of the queue.
//
// For example:
//
//	err := client.ResumeQueue(ctx, "mail")
func (c *Client) ResumeQueue(ctx context.Context, name string) error {
	return c.ask(ctx, "POST", at("queues", name, "resume"), empty, nil)
}

// CreateQueue: Creates a queue with settings, such as "concurrency", "max_size", "rate_limit" and "retention".
//
//   - name: The name of the queue.
//   - config: The settings, by their names on the wire.
//
// A refusal is [ErrInvalidStateTransition] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.CreateQueue(ctx, "mail", ojs.Obj{"concurrency": 20, "rate_limit": ojs.Obj{"limit": 100, "period": "PT1M"}})
func (c *Client) CreateQueue(ctx context.Context, name string, config Obj) (Obj, error) {
	return c.object(ctx, "POST", at("queues"), Obj{"name": name, "config": orEmpty(config)})
}

// GetQueue: A queue with its settings and counts.
//
//   - name: The name of the queue.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetQueue(ctx, "mail")
func (c *Client) GetQueue(ctx context.Context, name string) (Obj, error) {
	return c.object(ctx, "GET", at("queues", name), nil)
}

// ConfigureQueue: Changes the settings that are named and leaves the others. A setting of null goes back to the
// template, the queue "_default".
//
//   - name: The name of the queue.
//   - config: The settings, by their names on the wire.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.ConfigureQueue(ctx, "mail", ojs.Obj{"max_size": 1000})
func (c *Client) ConfigureQueue(ctx context.Context, name string, config Obj) (Obj, error) {
	return c.object(ctx, "PUT", at("queues", name, "config"), orEmpty(config))
}

// DeleteQueue: Deletes the queue. A queue that holds jobs is deleted only if they may be discarded or moved.
//
//   - name: The name of the queue.
//   - strategy: What happens to the jobs of the queue. One of reject, discard, move.
//   - targetQueue: Where the jobs go, for the strategy "move".
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	err := client.DeleteQueue(ctx, "mail", "move", "letters")
func (c *Client) DeleteQueue(ctx context.Context, name string, strategy string, targetQueue string) error {
	return c.ask(ctx, "DELETE", query(at("queues", name), "strategy", strategy, "target_queue", targetQueue), nil, nil)
}

// DrainQueue: Accepts no more jobs for the queue and hands out those that are in it, until [Client.ResumeQueue].
//
//   - name: The name of the queue.
//
// For example:
//
//	err := client.DrainQueue(ctx, "mail")
func (c *Client) DrainQueue(ctx context.Context, name string) error {
	return c.ask(ctx, "POST", at("queues", name, "drain"), empty, nil)
}

// PurgeQueue: Removes the jobs of the queue that are in one of these states, and returns how many. They cannot be
// brought back. Jobs that wait are cancelled first, so that workflows go on. Active jobs are never removed.
//
//   - name: The name of the queue.
//   - states: The states of the jobs to remove.
//   - olderThan: Only jobs older than this: a time, or a length of time before now.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.PurgeQueue(ctx, "reports", []ojs.JobState{"completed", "cancelled"}, time.Hour)
func (c *Client) PurgeQueue(ctx context.Context, name string, states []JobState, olderThan time.Duration) (int, error) {
	body := Obj{"states": states, "confirm": true, "limit": 10000}
	if olderThan != 0 {
		body["older_than"] = duration(olderThan)
	}
	for total := 0; ; {
		var answer struct {
			Count int  `json:"purged_count"`
			More  bool `json:"has_more"`
		}
		err := c.ask(ctx, "DELETE", at("admin", "queues", name, "jobs"), body, &answer)
		if total += answer.Count; err != nil || !answer.More {
			return total, err
		}
	}
}

// GetFairness: How the jobs of a queue are shared: by tenant or by key, and with which weights.
//
//   - name: The name of the queue.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetFairness(ctx, "mail")
func (c *Client) GetFairness(ctx context.Context, name string) (Obj, error) {
	return c.object(ctx, "GET", at("admin", "queues", name, "fairness"), nil)
}

// SetFairness: Shares the jobs of a queue, those that wait included: among jobs of one priority, keys get jobs handed
// out in turn, in proportion to their weights. The settings are "by" ("tenant", the default, or "key": the
// "fairness_key" of a job, and its tenant where it names none), "weights" by id of the tenant or by key (1 to 1000, at
// most 100), and "default_weight" for all others (1). A tenant without a weight has the "fairness_weight" of its
// limits. What is left out has its default, and "enabled" of "false" ends the sharing. The answer is 201 when the
// queue was not shared before.
//
//   - name: The name of the queue. It is made when there is none.
//   - sharing: The settings, by their names on the wire.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.SetFairness(ctx, "mail", ojs.Obj{"by": "tenant", "weights": ojs.Obj{"acme": 4}})
func (c *Client) SetFairness(ctx context.Context, name string, sharing Obj) (Obj, error) {
	return c.object(ctx, "PUT", at("admin", "queues", name, "fairness"), orEmpty(sharing))
}

// DeleteFairness: Ends the sharing of a queue: its jobs are handed out in their order again.
//
//   - name: The name of the queue.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	err := client.DeleteFairness(ctx, "mail")
func (c *Client) DeleteFairness(ctx context.Context, name string) error {
	return c.ask(ctx, "DELETE", at("admin", "queues", name, "fairness"), nil, nil)
}

// ListRateLimits: The keys that have limits, with how much of each limit is used.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.ListRateLimits(ctx)
func (c *Client) ListRateLimits(ctx context.Context) ([]Obj, error) {
	var answer struct {
		Items []Obj `json:"items"`
	}
	err := c.ask(ctx, "GET", query(at("rate-limits"), "limit", "200", "pages", "all"), nil, &answer)
	return answer.Items, err
}

// GetRateLimit: The limits of a key, with how much of each is used.
//
//   - key: The key.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetRateLimit(ctx, "stripe")
func (c *Client) GetRateLimit(ctx context.Context, key string) (Obj, error) {
	return c.object(ctx, "GET", at("rate-limits", key), nil)
}

// ListDeadLetterJobs: Jobs that failed for good and were kept, the newest first. Where more than 20,000 dead letters
// are kept, a filter is compared with 20,000 of them at a time. The answer says so: "total_relation" is "gte", and
// "total" counts what was found among the newest 20,000. A page may be short then, or empty; "next_cursor" leads on
// while it is there.
//
//   - queue: Only jobs of this queue.
//   - limit: The most jobs in the answer, 1 to 200; 50 without it.
//   - offset: How many jobs are passed over.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.ListDeadLetterJobs(ctx, "mail", 10, 20)
func (c *Client) ListDeadLetterJobs(ctx context.Context, queue string, limit int, offset int) ([]Job, error) {
	var answer struct{ Jobs []Job }
	err := c.ask(ctx, "GET", query(at("dead-letter"), "queue", queue, "limit", positiveText(limit), "offset", positiveText(offset)), nil, &answer)
	return answer.Jobs, err
}

// GetDeadLetterJob: The dead letter with this id.
//
//   - id: The job's id.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetDeadLetterJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) GetDeadLetterJob(ctx context.Context, id string) (*Job, error) {
	return c.job(ctx, "GET", at("dead-letter", id), nil)
}

// RetryDeadLetterJob: Runs a dead letter again, with all its attempts.
//
//   - id: The job's id.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] or [ErrPayloadTooLarge] or [ErrInvalidRequest] for
// errors.Is.
//
// For example:
//
//	answer, err := client.RetryDeadLetterJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) RetryDeadLetterJob(ctx context.Context, id string) (*Job, error) {
	return c.job(ctx, "POST", at("dead-letter", id, "retry"), empty)
}

// DiscardDeadLetterJob: Deletes a dead letter. It cannot be brought back.
//
//   - id: The job's id.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	err := client.DiscardDeadLetterJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) DiscardDeadLetterJob(ctx context.Context, id string) error {
	return c.ask(ctx, "DELETE", at("dead-letter", id), nil, nil)
}

// RetryDeadLetterJobs: Runs all dead letters again that the filter finds, and returns how many. Without a filter it is
// all of them.
//
//   - filter: Which dead letters.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.RetryDeadLetterJobs(ctx, ojs.DeadLetterFilter{Queue: "mail", ErrorType: "Timeout", Since: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)})
func (c *Client) RetryDeadLetterJobs(ctx context.Context, filter DeadLetterFilter) (int, error) {
	var answer struct {
		Retried int `json:"retried"`
	}
	err := c.ask(ctx, "POST", at("dead-letter", "retry"), Obj{"filter": filter.members(), "confirm": true}, &answer)
	return answer.Retried, err
}

// DiscardDeadLetterJobs: Deletes all dead letters that the filter finds, and returns how many. Without a filter it is
// all of them.
//
//   - filter: Which dead letters.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.DiscardDeadLetterJobs(ctx, ojs.DeadLetterFilter{Type: "email.*", Until: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)})
func (c *Client) DiscardDeadLetterJobs(ctx context.Context, filter DeadLetterFilter) (int, error) {
	var answer struct {
		Deleted int `json:"deleted"`
	}
	err := c.ask(ctx, "DELETE", query(at("dead-letter"), append(filter.parameters(), "confirm", "true")...), nil, &answer)
	return answer.Deleted, err
}

// DeadLetterStats: How many dead letters there are, by queue and by type of error, and since when. Where more than
// 20,000 are kept, the numbers in "by_error_type" are those of the newest 20,000: "by_error_type_relation" is "gte". A
// caller of a tenant gets all numbers so, with "total_relation" and "by_queue_relation".
//
// For example:
//
//	answer, err := client.DeadLetterStats(ctx)
func (c *Client) DeadLetterStats(ctx context.Context) (Obj, error) {
	return c.object(ctx, "GET", at("dead-letter", "stats"), nil)
}

// PreviewDeadLetterJobs: What would come of running dead letters again: which would be refused, which would wait and
// for what, and which would run although an enqueue of the same job would be refused. Nothing is changed. "matched"
// dead letters are meant (at least so many where "matched_relation" is "gte": a filter is compared with 20,000), of
// which the newest 500 are looked at ("looked_at", "complete"). Of these "would_run", "would_wait" and
// "would_be_refused" say how many; "with_warnings" run or wait beside that. Each of "reasons" has "code", "effect"
// ("refused", "waits" or "warning"), "message", the number of "jobs", the first of them as "job_id" and, where there
// is one, the "command" that helps. "jobs" has the first 20 jobs that meet one. Limits that free themselves as jobs
// end (full workers, concurrency, rates) are no reason.
//
//   - queue: Only jobs of this queue.
//   - jobType: Only this job type; "email.*" is all types that start with "email.".
//   - errorType: Only jobs whose last error is of this type.
//   - since: Only jobs discarded at this time or later.
//   - until: Only jobs discarded before this time.
//   - jobs: These jobs instead: their ids with commas between them, 100 at most.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.PreviewDeadLetterJobs(ctx, "mail", "", "Timeout", time.Time{}, time.Time{}, "")
func (c *Client) PreviewDeadLetterJobs(ctx context.Context, queue string, jobType string, errorType string, since time.Time, until time.Time, jobs string) (Obj, error) {
	return c.object(ctx, "GET", query(at("dead-letter", "preview"), "queue", queue, "type", jobType, "error_type", errorType, "since", moment(since), "until", moment(until), "job_ids", jobs), nil)
}

// ListCronJobs: All cron entries.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.ListCronJobs(ctx)
func (c *Client) ListCronJobs(ctx context.Context) ([]CronJob, error) {
	// Servers have two names for the list.
	var answer struct {
		Crons []CronJob
		Jobs  []CronJob `json:"cron_jobs"`
	}
	err := c.ask(ctx, "GET", query(at("cron"), "pages", "all"), nil, &answer)
	if answer.Crons == nil {
		return answer.Jobs, err
	}
	return answer.Crons, err
}

// GetCronJob: The cron entry of this name.
//
//   - name: The name of the entry.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.GetCronJob(ctx, "digest")
func (c *Client) GetCronJob(ctx context.Context, name string) (*CronJob, error) {
	var answer struct{ Cron *CronJob }
	err := c.ask(ctx, "GET", at("cron", name), nil, &answer)
	return answer.Cron, err
}

// EnableCronJob: Enables the cron entry, or disables it. A disabled entry enqueues no jobs.
//
//   - name: The name of the entry.
//   - enabled: Whether the entry enqueues jobs.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.EnableCronJob(ctx, "digest", false)
func (c *Client) EnableCronJob(ctx context.Context, name string, enabled bool) (*CronJob, error) {
	var answer struct{ Cron *CronJob }
	err := c.ask(ctx, "PATCH", at("cron", name), Obj{"enabled": enabled}, &answer)
	return answer.Cron, err
}

// RunCronJob: Enqueues a job of the cron entry now, whether the entry is enabled or not. Its schedule stays. The
// overlap policy holds: while the latest job of the entry goes on, "skip" and "enqueue" answer with 409 "conflict",
// and "cancel_previous" cancels that job.
//
//   - name: The name of the entry.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.RunCronJob(ctx, "digest")
func (c *Client) RunCronJob(ctx context.Context, name string) (*Job, error) {
	return c.job(ctx, "POST", at("cron", name, "run"), empty)
}

// UnregisterCronJob: Deletes the cron entry. The jobs that it has enqueued stay.
//
//   - name: The name of the entry.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	err := client.UnregisterCronJob(ctx, "digest")
func (c *Client) UnregisterCronJob(ctx context.Context, name string) error {
	return c.ask(ctx, "DELETE", at("cron", name), nil, nil)
}

// ListWorkers: The workers that the server knows, with what each of them does.
//
//   - state: Only workers in this state.
//   - page: The number of the page. The first page is 1.
//   - perPage: The most workers on one page, 1 to 100; 20 without it.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.ListWorkers(ctx, "running", 1, 100)
func (c *Client) ListWorkers(ctx context.Context, state string, page int, perPage int) ([]Obj, error) {
	var answer struct {
		Items []Obj `json:"items"`
	}
	err := c.ask(ctx, "GET", query(at("admin", "workers"), "state", state, "page", positiveText(page), "per_page", positiveText(perPage)), nil, &answer)
	return answer.Items, err
}

// GetWorker: The worker with this id.
//
//   - id: The worker's id.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetWorker(ctx, "mail-1")
func (c *Client) GetWorker(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "GET", at("admin", "workers", id), nil)
}

// DirectWorker: Tells a worker to take no more jobs ("quiet"), to stop ("terminate"), or to take jobs again
// ("resume"). The worker hears of it with its next heartbeat.
//
//   - id: The worker's id.
//   - directive: What the worker shall do. One of quiet, terminate, resume.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.DirectWorker(ctx, "mail-1", "quiet")
func (c *Client) DirectWorker(ctx context.Context, id string, directive string) (Obj, error) {
	return c.object(ctx, "POST", at("admin", "workers", id, directive), empty)
}

// RemoveWorker: Removes a worker that no longer sends heartbeats. Its jobs go back to their queues.
//
//   - id: The worker's id.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.RemoveWorker(ctx, "mail-1")
func (c *Client) RemoveWorker(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "DELETE", at("admin", "workers", id), nil)
}

// Health: Whether the server works, with its version, its store and how long it has run.
//
// A refusal is [ErrAPI] for errors.Is.
//
// For example:
//
//	answer, err := client.Health(ctx)
func (c *Client) Health(ctx context.Context) (Obj, error) {
	return c.object(ctx, "GET", at("health"), nil)
}

// Manifest: What the server is, and what it can do.
//
// For example:
//
//	answer, err := client.Manifest(ctx)
func (c *Client) Manifest(ctx context.Context) (Obj, error) {
	return c.object(ctx, "GET", "/ojs/manifest", nil)
}

// ServerStats: Jobs by state, throughput, latency and workers of the whole server.
//
// For example:
//
//	answer, err := client.ServerStats(ctx)
func (c *Client) ServerStats(ctx context.Context) (Obj, error) {
	return c.object(ctx, "GET", at("admin", "stats"), nil)
}

// StatsHistory: Throughput and latency over time, oldest first. Periods in which nothing ran are left out.
//
//   - period: The length of each period; "1m" without it. One of 1m, 5m, 1h, 1d.
//   - queue: Only this queue.
//   - since: From this time on.
//   - until: Up to this time.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.StatsHistory(ctx, "1h", "mail", time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{})
func (c *Client) StatsHistory(ctx context.Context, period string, queue string, since time.Time, until time.Time) ([]Obj, error) {
	var answer struct {
		Items []Obj `json:"items"`
	}
	err := c.ask(ctx, "GET", query(at("admin", "stats", "history"), "period", period, "queue", queue, "since", moment(since), "until", moment(until)), nil, &answer)
	return answer.Items, err
}

// TypeStats: What happened to the jobs of each type over a length of time: how many, how long they ran and waited. An
// item has "type", "enqueued", "processed", "failed", "discarded", "busy_ms" (the time that completed attempts have
// taken), "latency_ms" and "wait_ms" with "p50", "p95" and "p99". In a minute and in an hour 200 types are told apart;
// the others are the type "_other". Figures are kept by minutes for two hours and by hours for 30 days, so an earlier
// "since" counts from the beginning of its hour.
//
//   - since: From this time on; an hour ago without it.
//   - until: Up to this time, at most 7 days later; now without it.
//   - sort: What comes first, the largest: "processed" (the default), "enqueued", "failed", "discarded", "busy",
//     "latency" or "wait".
//   - limit: The most types in the answer, 1 to 200; 50 without it.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.TypeStats(ctx, time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}, "failed", 20)
func (c *Client) TypeStats(ctx context.Context, since time.Time, until time.Time, sort string, limit int) ([]Obj, error) {
	var answer struct {
		Items []Obj `json:"items"`
	}
	err := c.ask(ctx, "GET", query(at("admin", "stats", "types"), "since", moment(since), "until", moment(until), "sort", sort, "limit", positiveText(limit)), nil, &answer)
	return answer.Items, err
}

// Maintenance: Whether the server is in maintenance, since when and why.
//
// For example:
//
//	answer, err := client.Maintenance(ctx)
func (c *Client) Maintenance(ctx context.Context) (Obj, error) {
	return c.object(ctx, "GET", at("admin", "system", "maintenance"), nil)
}

// SetMaintenance: Begins or ends maintenance. During it jobs are accepted, and none is handed out.
//
//   - enabled: Whether the server is in maintenance.
//   - reason: Why, for those who ask.
//   - estimatedDuration: How long it will take, such as "PT30M".
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.SetMaintenance(ctx, true, "moving the database", 30*time.Minute)
func (c *Client) SetMaintenance(ctx context.Context, enabled bool, reason string, estimatedDuration time.Duration) (Obj, error) {
	body := Obj{"enabled": enabled}
	if reason != "" {
		body["reason"] = reason
	}
	if estimatedDuration != 0 {
		body["estimated_duration"] = duration(estimatedDuration)
	}
	return c.object(ctx, "POST", at("admin", "system", "maintenance"), body)
}

// Audit: Compares the rows of the server's store with each other and changes nothing: counts with jobs, jobs with
// their bodies, workflows with their steps, and so on. "sound" is true when nothing contradicts anything. "findings"
// has the first 1,000 contradictions, each with the check, the row, what was compared, and both values; "total" counts
// them all. The time grows with the number of jobs. It takes one of the two connections for lists and searches;
// everything else goes on, but for a store in memory, where all wait.
//
// For example:
//
//	answer, err := client.Audit(ctx)
func (c *Client) Audit(ctx context.Context) (Obj, error) {
	return c.object(ctx, "GET", at("admin", "system", "audit"), nil)
}

// ServerConfig: The settings that the server runs with. There are no secrets among them.
//
// For example:
//
//	answer, err := client.ServerConfig(ctx)
func (c *Client) ServerConfig(ctx context.Context) (Obj, error) {
	return c.object(ctx, "GET", at("admin", "system", "config"), nil)
}

// ListSchemas: The registered schemas of all job types, without their texts, in order of job type and version.
//
// For example:
//
//	answer, err := client.ListSchemas(ctx)
func (c *Client) ListSchemas(ctx context.Context) ([]Obj, error) {
	var answer struct {
		Schemas []Obj `json:"schemas"`
	}
	err := c.ask(ctx, "GET", query(at("schemas"), "limit", "200", "pages", "all"), nil, &answer)
	return answer.Schemas, err
}

// RegisterSchema: Registers the JSON Schema of the arguments of a job type. A registered version never changes. With
// "mode" "strict" jobs that do not match are refused, with "warn", the default, they are accepted with warnings, with
// "off" they are not compared. Within a major version, a schema that refuses what the version before accepted is
// refused itself.
//
//   - jobType: The job type.
//   - version: The version: "2", "2.1" or "2.1.0".
//   - schema: A JSON Schema, draft 2020-12, for the array of arguments.
//   - mode: What happens to jobs that do not match. One of strict, warn, off.
//
// A refusal is [ErrInvalidStateTransition] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.RegisterSchema(ctx, "email.send", "1.0.0", ojs.Obj{"items": ojs.Obj{"type": "string"}, "minItems": 1}, "strict")
func (c *Client) RegisterSchema(ctx context.Context, jobType string, version string, schema Obj, mode string) (Obj, error) {
	body := Obj{"job_type": jobType, "version": version, "schema": schema}
	if mode != "" {
		body["mode"] = mode
	}
	var answer struct {
		Schema Obj `json:"schema"`
	}
	err := c.ask(ctx, "POST", at("schemas"), body, &answer)
	return answer.Schema, err
}

// GetSchema: The schema of the highest version of a job type.
//
//   - jobType: The job type, or the URI of a schema.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetSchema(ctx, "email.send")
func (c *Client) GetSchema(ctx context.Context, jobType string) (Obj, error) {
	var answer struct {
		Schema Obj `json:"schema"`
	}
	err := c.ask(ctx, "GET", at("schemas", jobType), nil, &answer)
	return answer.Schema, err
}

// GetSchemaVersion: The schema of a version of a job type.
//
//   - jobType: The job type.
//   - version: The version.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetSchemaVersion(ctx, "email.send", "1.0.0")
func (c *Client) GetSchemaVersion(ctx context.Context, jobType string, version string) (Obj, error) {
	var answer struct {
		Schema Obj `json:"schema"`
	}
	err := c.ask(ctx, "GET", at("schemas", jobType, version), nil, &answer)
	return answer.Schema, err
}

// ListSchemaVersions: The versions of a job type, highest first.
//
//   - jobType: The job type.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.ListSchemaVersions(ctx, "email.send")
func (c *Client) ListSchemaVersions(ctx context.Context, jobType string) ([]Obj, error) {
	var answer struct {
		Versions []Obj `json:"versions"`
	}
	err := c.ask(ctx, "GET", at("schemas", jobType, "versions"), nil, &answer)
	return answer.Versions, err
}

// SetSchemaMode: Changes what happens to jobs that do not match a version. Jobs that are stored are not looked at
// again.
//
//   - jobType: The job type.
//   - version: The version.
//   - mode: "strict", "warn" or "off". One of strict, warn, off.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.SetSchemaMode(ctx, "email.send", "1.0.0", "strict")
func (c *Client) SetSchemaMode(ctx context.Context, jobType string, version string, mode string) (Obj, error) {
	var answer struct {
		Schema Obj `json:"schema"`
	}
	err := c.ask(ctx, "PATCH", at("schemas", jobType, version), Obj{"mode": mode}, &answer)
	return answer.Schema, err
}

// DeleteSchema: Deletes a version. Jobs that were stored under it stay.
//
//   - jobType: The job type.
//   - version: The version.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	err := client.DeleteSchema(ctx, "email.send", "1.0.0")
func (c *Client) DeleteSchema(ctx context.Context, jobType string, version string) error {
	return c.ask(ctx, "DELETE", at("schemas", jobType, version), nil, nil)
}

// ListTrains: The trains that have jobs, in the order of their ids, or only those in one state; the one that was held
// first comes first.
//
//   - state: Only trains in this state: "running", "draining" or "held".
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.ListTrains(ctx, "held")
func (c *Client) ListTrains(ctx context.Context, state string) ([]Obj, error) {
	var answer struct {
		Trains []Obj `json:"trains"`
	}
	err := c.ask(ctx, "GET", query(at("trains"), "state", state, "limit", "200", "pages", "all"), nil, &answer)
	return answer.Trains, err
}

// GetTrain: A train: its state, its locomotive, which is the one job that may run, and its jobs in the order in which
// they run.
//
//   - id: The id of the train.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.GetTrain(ctx, "dest_7")
func (c *Client) GetTrain(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "GET", at("trains", id), nil)
}

// AdvanceTrain: Ends the hold of a train: a locomotive that has ended leaves it, and the next job may run.
//
//   - id: The id of the train.
//   - jobId: Only if this job is the locomotive.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.AdvanceTrain(ctx, "dest_7", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) AdvanceTrain(ctx context.Context, id string, jobId string) (Obj, error) {
	body := Obj{"confirm": true}
	if jobId != "" {
		body["job_id"] = jobId
	}
	return c.object(ctx, "POST", at("trains", id, "advance"), body)
}

// HoldTrain: Holds a train: a job of it that runs may end, and no further one starts until [Client.AdvanceTrain].
//
//   - id: The id of the train.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.HoldTrain(ctx, "dest_7")
func (c *Client) HoldTrain(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "POST", at("trains", id, "hold"), empty)
}

// ListTenants: The tenants of the server by id, with the number of their jobs and their limits.
//
//   - page: The page, from 1.
//   - perPage: The most tenants on the page, 1 to 100; 20 without it.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.ListTenants(ctx, 2, 50)
func (c *Client) ListTenants(ctx context.Context, page int, perPage int) ([]Obj, error) {
	var answer struct {
		Items []Obj `json:"items"`
	}
	err := c.ask(ctx, "GET", query(at("admin", "tenants"), "page", positiveText(page), "per_page", positiveText(perPage)), nil, &answer)
	return answer.Items, err
}

// GetTenant: A tenant with its status, its limits and the number of its jobs by state.
//
//   - id: The id of the tenant.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetTenant(ctx, "acme")
func (c *Client) GetTenant(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "GET", at("admin", "tenants", id), nil)
}

// PutTenant: Makes a tenant, or changes what the body names of one. A job that names a new tenant makes it as well.
//
//   - id: The id of the tenant.
//   - changes: Its members: "name" (for people), "limits" (as in "PUT /admin/tenants/{id}/limits"),
//     "fairness_weight" (which leaves the other limits as they are) and "status" ("active" or "suspended").
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.PutTenant(ctx, "acme", ojs.Obj{"limits": ojs.Obj{"max_concurrency": 10}, "name": "Acme Ltd.", "status": "active"})
func (c *Client) PutTenant(ctx context.Context, id string, changes Obj) (Obj, error) {
	return c.object(ctx, "PUT", at("admin", "tenants", id), orEmpty(changes))
}

// DeleteTenant: Deletes a tenant with its ended jobs. It is refused while the tenant has jobs that have not ended.
//
//   - id: The id of the tenant.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.DeleteTenant(ctx, "acme")
func (c *Client) DeleteTenant(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "DELETE", at("admin", "tenants", id), nil)
}

// SetTenantLimits: Sets what a tenant may use: "max_concurrency", "max_enqueue_rate", "max_queue_depth" and
// "max_scheduled"; and "fairness_weight", its weight in shared queues. What the body leaves out is not limited any
// more. Jobs that have more than the new limits allow stay.
//
//   - id: The id of the tenant.
//   - limits: Its members: "max_concurrency" (jobs that are active at a time), "max_enqueue_rate" ("limit" jobs in
//     each "period", an ISO 8601 duration), "max_queue_depth" (jobs that wait, in all queues together),
//     "max_scheduled", and "fairness_weight" (jobs that it gets while a tenant of weight 1 gets one, in queues that
//     tenants share: 1 to 1,000); and "reason", a text for the log of the server.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.SetTenantLimits(ctx, "acme", ojs.Obj{"max_concurrency": 10, "max_enqueue_rate": ojs.Obj{"limit": 100, "period": "PT1S"}, "max_queue_depth": 10000, "max_scheduled": 500})
func (c *Client) SetTenantLimits(ctx context.Context, id string, limits Obj) (Obj, error) {
	return c.object(ctx, "PUT", at("admin", "tenants", id, "limits"), orEmpty(limits))
}

// SuspendTenant: Stops a tenant: its jobs are refused with 403, and those that wait are not handed out. Active jobs go
// on.
//
//   - id: The id of the tenant.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.SuspendTenant(ctx, "acme")
func (c *Client) SuspendTenant(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "POST", at("admin", "tenants", id, "suspend"), empty)
}

// ResumeTenant: Ends the suspension of a tenant: its jobs are taken and handed out again.
//
//   - id: The id of the tenant.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.ResumeTenant(ctx, "acme")
func (c *Client) ResumeTenant(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "POST", at("admin", "tenants", id, "resume"), empty)
}

// TenantStats: What a tenant has: jobs by state and queue, how much of its limits is used, and what was done so far.
//
//   - id: The id of the tenant, or "_default".
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.TenantStats(ctx, "acme")
func (c *Client) TenantStats(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "GET", at("admin", "tenants", id, "stats"), nil)
}

// TenantJobs: The jobs of a tenant, newest first; with the filters of "GET /admin/jobs".
//
//   - id: The id of the tenant, or "_default".
//   - queue: Only this queue.
//   - state: Only this state.
//   - page: The page, from 1.
//   - perPage: The most jobs on the page, 1 to 100; 20 without it.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.TenantJobs(ctx, "acme", "mail", "available", 1, 10)
func (c *Client) TenantJobs(ctx context.Context, id string, queue string, state string, page int, perPage int) (*JobPage, error) {
	answer, err := askFor[struct {
		Items      []Job
		Pagination JobPage
	}](c, ctx, "GET", query(at("admin", "tenants", id, "jobs"), "queue", queue, "state", state, "page", positiveText(page), "per_page", positiveText(perPage)), nil)
	if err != nil {
		return nil, err
	}
	answer.Pagination.Jobs = answer.Items
	return &answer.Pagination, nil
}

// NoisyTenants: Tenants that use far more than the others do, those with the most signals first. Each tenant that has
// jobs, or had some in the last five minutes, is compared with the others. An item has "tenant_id", "signals",
// "queue_depth", "active", "error_rate", and jobs per minute; a signal has "signal" ("queue_depth_ratio",
// "enqueue_rate_ratio", "active_job_ratio" or "error_rate"), "value", "compared_with", "ratio" (null where the others
// have none) and "threshold". The default tenant is left out. Nothing is read of jobs.
//
//   - depthFactor: The signal is more waiting jobs than so many times the median of the others; 10 without it.
//   - rateFactor: The signal is more jobs enqueued lately than so many times the average of the others; 5 without
//     it.
//   - activePercent: The signal is a larger share of the active jobs of all tenants, 1 to 100; 50 without it.
//   - errorFactor: The signal is a larger share of failed attempts than so many times that of the others; 3 without
//     it.
//   - minJobs: With fewer jobs that wait or were enqueued lately there is no signal, nor with fewer than a tenth of
//     it that are active or failed; 100 without it.
//   - limit: The most tenants in the answer, 1 to 1,000; 100 without it.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.NoisyTenants(ctx, 20, 0, 0, 0, 50, 10)
func (c *Client) NoisyTenants(ctx context.Context, depthFactor int, rateFactor int, activePercent int, errorFactor int, minJobs int, limit int) ([]Obj, error) {
	var answer struct {
		Items []Obj `json:"items"`
	}
	err := c.ask(ctx, "GET", query(at("admin", "stats", "tenants", "noisy"), "depth_factor", positiveText(depthFactor), "rate_factor", positiveText(rateFactor), "active_percent", positiveText(activePercent), "error_factor", positiveText(errorFactor), "min_jobs", positiveText(minJobs), "limit", positiveText(limit)), nil, &answer)
	return answer.Items, err
}

// ListWebhooks: The subscriptions, the oldest first, without their secrets. "dropped" says how many events became no
// delivery because too many deliveries waited for the subscription; "dropped_since" when the first of them happened,
// or null.
//
// For example:
//
//	answer, err := client.ListWebhooks(ctx)
func (c *Client) ListWebhooks(ctx context.Context) ([]Obj, error) {
	var answer struct {
		Subscriptions []Obj `json:"subscriptions"`
	}
	err := c.ask(ctx, "GET", query(at("webhooks", "subscriptions"), "limit", "200", "pages", "all"), nil, &answer)
	return answer.Subscriptions, err
}

// CreateWebhook: Creates a subscription: events are sent to "url" as signed POST requests. Only this answer has the
// secret. Events that happen from then on become deliveries, which are sent until the endpoint answers with 2xx: eight
// attempts within 41 hours. "filter" is an object with "queues" and "job_types". The URL must begin with https:// and
// lead to a public address, unless the server allows others.
//
//   - subscription: Its members: "url" and "events" (such as "job.completed", "job.*" or "*"); if wanted "secret" (8
//     to 255 characters; without it the server makes one), "filter", "metadata" (an object of at most 4096 bytes),
//     "active" and "format" ("ojs", "cloudevents" or "cloudevents-binary").
//
// A refusal is [ErrInvalidStateTransition] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.CreateWebhook(ctx, ojs.Obj{"events": []string{"job.completed", "job.failed"}, "secret": "whsec_test_secret", "url": "https://example.com/hooks/ojs"})
func (c *Client) CreateWebhook(ctx context.Context, subscription Obj) (Obj, error) {
	var answer struct {
		Subscription Obj `json:"subscription"`
	}
	err := c.ask(ctx, "POST", at("webhooks", "subscriptions"), orEmpty(subscription), &answer)
	return answer.Subscription, err
}

// GetWebhook: A subscription, without its secret. "dropped" says how many events became no delivery because too many
// deliveries waited for it; "dropped_since" when the first of them happened, or null.
//
//   - id: The id of the subscription, "sub_…".
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetWebhook(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) GetWebhook(ctx context.Context, id string) (Obj, error) {
	var answer struct {
		Subscription Obj `json:"subscription"`
	}
	err := c.ask(ctx, "GET", at("webhooks", "subscriptions", id), nil, &answer)
	return answer.Subscription, err
}

// UpdateWebhook: Changes a subscription; what is left out stays. Deliveries that wait go to the new URL. A
// subscription that is not active gets no new deliveries, and those that wait are not sent until it is active again.
//
//   - id: The id of the subscription.
//   - changes: The members that change: "url", "events", "active", "filter", "metadata", "format".
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.UpdateWebhook(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", ojs.Obj{"events": []string{"job.*"}})
func (c *Client) UpdateWebhook(ctx context.Context, id string, changes Obj) (Obj, error) {
	var answer struct {
		Subscription Obj `json:"subscription"`
	}
	err := c.ask(ctx, "PATCH", at("webhooks", "subscriptions", id), orEmpty(changes), &answer)
	return answer.Subscription, err
}

// DeleteWebhook: Deletes a subscription and its deliveries: nothing more is sent to it.
//
//   - id: The id of the subscription.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	err := client.DeleteWebhook(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) DeleteWebhook(ctx context.Context, id string) error {
	return c.ask(ctx, "DELETE", at("webhooks", "subscriptions", id), nil, nil)
}

// TestWebhook: Sends an event "webhook.test" now, once, and answers with what the endpoint said: "success",
// "status_code", "response_time_ms", "response_body".
//
//   - id: The id of the subscription.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.TestWebhook(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) TestWebhook(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "POST", at("webhooks", "subscriptions", id, "test"), empty)
}

// RotateWebhookSecret: Gives a subscription a new secret. For 24 hours requests are signed with both; only this answer
// has the new one.
//
//   - id: The id of the subscription.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.RotateWebhookSecret(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) RotateWebhookSecret(ctx context.Context, id string) (Obj, error) {
	var answer struct {
		Subscription Obj `json:"subscription"`
	}
	err := c.ask(ctx, "POST", at("webhooks", "subscriptions", id, "rotate-secret"), empty, &answer)
	return answer.Subscription, err
}

// ListWebhookDeliveries: Deliveries, the newest first, without the events that they carry. Delivered ones are kept for
// a day, dead ones for 30 days. "total" counts at most 10000.
//
//   - subscriptionId: Only of this subscription.
//   - status: Only in this state. One of pending, sending, delivered, dead.
//   - limit: The most deliveries in the answer, 1 to 200.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.ListWebhookDeliveries(ctx, "", "dead", 50)
func (c *Client) ListWebhookDeliveries(ctx context.Context, subscriptionId string, status string, limit int) ([]Obj, error) {
	var answer struct {
		Deliveries []Obj `json:"deliveries"`
	}
	err := c.ask(ctx, "GET", query(at("webhooks", "deliveries"), "subscription_id", subscriptionId, "status", status, "limit", positiveText(limit)), nil, &answer)
	return answer.Deliveries, err
}

// GetWebhookDelivery: A delivery with its event, and how its latest attempt ended.
//
//   - id: The id of the delivery, "del_…".
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetWebhookDelivery(ctx, "del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) GetWebhookDelivery(ctx context.Context, id string) (Obj, error) {
	var answer struct {
		Delivery Obj `json:"delivery"`
	}
	err := c.ask(ctx, "GET", at("webhooks", "deliveries", id), nil, &answer)
	return answer.Delivery, err
}

// RetryWebhookDelivery: Sends a delivery again now, with the same id and the attempts of a new one. It may be dead,
// delivered or waiting.
//
//   - id: The id of the delivery.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.RetryWebhookDelivery(ctx, "del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) RetryWebhookDelivery(ctx context.Context, id string) (Obj, error) {
	var answer struct {
		Delivery Obj `json:"delivery"`
	}
	err := c.ask(ctx, "POST", at("webhooks", "deliveries", id, "retry"), empty, &answer)
	return answer.Delivery, err
}

// GetProgress: How far the latest attempt of a job has come: "progress" from 0 to 1, "data", "message" and
// "updated_at", which are null when nothing was reported.
//
//   - id: The job's id.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetProgress(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) GetProgress(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "GET", at("jobs", id, "progress"), nil)
}

// GetWorkflowProgress: How far a workflow has come: "progress" from 0 to 1, and the progress of each of its "steps".
// Of a chain it is the completed steps and the fraction of the current one, of a group the mean of its steps, of a
// batch the share of its jobs that have ended.
//
//   - id: The workflow's id.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetWorkflowProgress(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) GetWorkflowProgress(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "GET", at("workflows", id, "progress"), nil)
}

// SaveCheckpoint: Saves the checkpoint of a job, in place of the one before. It is on disk when the request has been
// answered, and the next attempt of the job is delivered with it. The handler of a job saves its own checkpoint, under
// its lease. This method is for other programs, which have no lease: it is refused while a worker with lease tokens
// holds the job, and when the job has ended.
//
//   - id: The job's id.
//   - state: JSON of at most 1 MiB.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] or [ErrPayloadTooLarge] or [ErrInvalidRequest] for
// errors.Is.
//
// For example:
//
//	answer, err := client.SaveCheckpoint(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", ojs.Obj{"cursor": "abc-750", "rows": 750})
func (c *Client) SaveCheckpoint(ctx context.Context, id string, state Obj) (Obj, error) {
	return c.object(ctx, "PUT", at("jobs", id, "checkpoint"), Obj{"state": state})
}

// GetCheckpoint: The checkpoint of a job: "state", "sequence" and "created_at". It can be read as long as the job.
//
//   - id: The job's id.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetCheckpoint(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) GetCheckpoint(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "GET", at("jobs", id, "checkpoint"), nil)
}

// DeleteCheckpoint: Deletes the checkpoint of a job, if it has one: its next attempt begins from the start.
//
//   - id: The job's id.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	err := client.DeleteCheckpoint(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) DeleteCheckpoint(ctx context.Context, id string) error {
	return c.ask(ctx, "DELETE", at("jobs", id, "checkpoint"), nil, nil)
}

// ListPushEndpoints: The endpoints that jobs are sent to, the oldest first, without their secrets. "status" is
// "active", "failing", "open" (sent nothing for a minute after five failures), "probing", "waiting" (it has asked for
// a pause), "disabled" (it answered 401, 403, 404 or 410) or "paused"; "last_failure" says why.
//
// For example:
//
//	answer, err := client.ListPushEndpoints(ctx)
func (c *Client) ListPushEndpoints(ctx context.Context) ([]Obj, error) {
	var answer struct {
		Endpoints []Obj `json:"endpoints"`
	}
	err := c.ask(ctx, "GET", query(at("push", "endpoints"), "limit", "200", "pages", "all"), nil, &answer)
	return answer.Endpoints, err
}

// CreatePushEndpoint: Registers an endpoint: jobs of its types are sent to it as signed POST requests. Only this
// answer has the secret. A job is active under a lease before it is sent, and the answer settles it. The address must
// begin with https:// and be public, unless the server allows others.
//
//   - endpoint: Its members: "endpoint" (the URL, or "sqs:" and the URL of a queue of Amazon SQS) and "job_types"
//     ("*" stands for any characters); if wanted "queues", "config" ("max_concurrency", "timeout_ms",
//     "signing_secret", "weight", "retry_429"), "routing", "provider" and "active".
//
// A refusal is [ErrInvalidStateTransition] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.CreatePushEndpoint(ctx, ojs.Obj{"config": ojs.Obj{"max_concurrency": 100, "signing_secret": "whsec_test_secret", "timeout_ms": 30000}, "endpoint": "https://example.com/functions/jobs", "job_types": []string{"email.send", "report.*"}, "queues": []string{"default"}})
func (c *Client) CreatePushEndpoint(ctx context.Context, endpoint Obj) (Obj, error) {
	var answer struct {
		PushEndpoint Obj `json:"push_endpoint"`
	}
	err := c.ask(ctx, "POST", at("push", "endpoints"), orEmpty(endpoint), &answer)
	return answer.PushEndpoint, err
}

// GetPushEndpoint: An endpoint, without its secret.
//
//   - id: The id of the endpoint, "push_…".
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetPushEndpoint(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) GetPushEndpoint(ctx context.Context, id string) (Obj, error) {
	var answer struct {
		PushEndpoint Obj `json:"push_endpoint"`
	}
	err := c.ask(ctx, "GET", at("push", "endpoints", id), nil, &answer)
	return answer.PushEndpoint, err
}

// UpdatePushEndpoint: Changes an endpoint; what is left out stays. One that failures have closed or disabled is sent
// jobs again. With "active" false it is sent nothing; its jobs stay available for workers that fetch.
//
//   - id: The id of the endpoint.
//   - changes: The members that change: "endpoint", "job_types", "queues", "config", "routing", "provider",
//     "active".
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.UpdatePushEndpoint(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", ojs.Obj{"active": false})
func (c *Client) UpdatePushEndpoint(ctx context.Context, id string, changes Obj) (Obj, error) {
	var answer struct {
		PushEndpoint Obj `json:"push_endpoint"`
	}
	err := c.ask(ctx, "PATCH", at("push", "endpoints", id), orEmpty(changes), &answer)
	return answer.PushEndpoint, err
}

// DeletePushEndpoint: Deletes an endpoint. Deliveries that are under way are settled; its other jobs stay available.
//
//   - id: The id of the endpoint.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	err := client.DeletePushEndpoint(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) DeletePushEndpoint(ctx context.Context, id string) error {
	return c.ask(ctx, "DELETE", at("push", "endpoints", id), nil, nil)
}

// TestPushEndpoint: Sends a job of the type "push.test" now, once, and explains the answer: "success", "outcome",
// "explanation", "status_code", "response_time_ms", "response_body".
//
//   - id: The id of the endpoint.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.TestPushEndpoint(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) TestPushEndpoint(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "POST", at("push", "endpoints", id, "test"), empty)
}

// RotatePushSecret: Gives an endpoint a new secret. For 24 hours requests are signed with both; only this answer has
// the new one.
//
//   - id: The id of the endpoint.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.RotatePushSecret(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) RotatePushSecret(ctx context.Context, id string) (Obj, error) {
	var answer struct {
		PushEndpoint Obj `json:"push_endpoint"`
	}
	err := c.ask(ctx, "POST", at("push", "endpoints", id, "rotate-secret"), empty, &answer)
	return answer.PushEndpoint, err
}

// GetHistory: What happened to a job: its events, the oldest first, and its attempts with worker, wait, duration and
// error. It is read from the job and from the event log, so it is there for as long as the job. "fingerprint" of a
// failed attempt is the same for errors that differ only in numbers, ids and quoted text. The history of a job has at
// most the newest 50 failures.
//
//   - id: The job's id.
//   - limit: The most events in the answer, 1 to 1,000; 50 without it.
//   - cursor: The "next_cursor" of the page before.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.GetHistory(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", 0, "")
func (c *Client) GetHistory(ctx context.Context, id string, limit int, cursor string) (Obj, error) {
	return c.object(ctx, "GET", query(at("jobs", id, "history"), "limit", positiveText(limit), "cursor", cursor), nil)
}

// GetLineage: The workflow that a job is part of, with all its steps as a "tree"; a job without a workflow is a tree
// of its own. "root_id" is the outermost workflow. "parent_id" and "root_id" of a job without a workflow are what its
// client has sent under these names. A tree has at most 1,000 nodes; "truncated" says that there are more.
//
//   - id: The job's id.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetLineage(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) GetLineage(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "GET", at("jobs", id, "lineage"), nil)
}

// DeleteHistory: Deletes the history of a job: what happened up to now is not shown any more. The job stays as it is.
// The errors and the result of the job are parts of the job: they go when the job is deleted.
//
//   - id: The job's id.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.DeleteHistory(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) DeleteHistory(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "DELETE", at("jobs", id, "history"), nil)
}

// HistoryStats: How many events happened in each minute, hour or day, with average and 95th percentile of the
// durations, the oldest first. Periods in which nothing happened are left out. Figures are kept for a day by minutes
// and for a month by hours. Durations come from classes, so they are off by 10 % at most. Figures are kept by queue,
// not by job type: "job_types" is answered with 501.
//
//   - since: From this time on; without it an hour, a day or a month back.
//   - before: Before this time.
//   - queues: Only events of jobs of these queues, with commas between them.
//   - groupBy: The length of each period; "hour" without it. One of minute, hour, day.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.HistoryStats(ctx, time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}, "mail", "day")
func (c *Client) HistoryStats(ctx context.Context, since time.Time, before time.Time, queues string, groupBy string) ([]Obj, error) {
	var answer struct {
		Buckets []Obj `json:"buckets"`
	}
	err := c.ask(ctx, "GET", query(at("history", "stats"), "start", moment(since), "end", moment(before), "queues", queues, "group_by", groupBy), nil, &answer)
	return answer.Buckets, err
}

// ListErrorGroups: Failed attempts put together by their fingerprint, which is the same for errors that differ only in
// ids, numbers and quoted text. A group has "fingerprint", "error_type", "message" (the last one), "count",
// "first_seen_at", "last_seen_at", "queues", "types" and "job_ids", the newest jobs of each queue and type, 50 at
// most. The server keeps the 2,000 groups of a queue and type that failed last, for 30 days after their last failure.
// Failures of the last five seconds before a crash may be missing.
//
//   - queue: Only failures of jobs of this queue.
//   - jobType: Only this job type; "email.*" is all types that start with "email.".
//   - errorType: Only errors of this type.
//   - tenant: Only failures of jobs of this tenant.
//   - since: Only groups with a failure at this time or later.
//   - sort: What comes first: "last_seen_at" (the default), "first_seen_at" or "count", the latest or the largest.
//   - page: The page, from 1.
//   - perPage: The most groups on the page, 1 to 100; 20 without it.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.ListErrorGroups(ctx, "mail", "email.*", "Timeout", "acme", time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), "count", 2, 50)
func (c *Client) ListErrorGroups(ctx context.Context, queue string, jobType string, errorType string, tenant string, since time.Time, sort string, page int, perPage int) ([]Obj, error) {
	var answer struct {
		Items []Obj `json:"items"`
	}
	err := c.ask(ctx, "GET", query(at("admin", "errors"), "queue", queue, "type", jobType, "error_type", errorType, "tenant", tenant, "since", moment(since), "sort", sort, "page", positiveText(page), "per_page", positiveText(perPage)), nil, &answer)
	return answer.Items, err
}

// GetErrorGroup: One group of errors, with its "places" (the failures by queue and type) and those of its "jobs" that
// there still are.
//
//   - fingerprint: The fingerprint, as the history of a job has it.
//   - queue: Only failures of jobs of this queue.
//   - jobType: Only this job type.
//   - tenant: Only failures of jobs of this tenant.
//
// A refusal is [ErrNotFound] or [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.GetErrorGroup(ctx, "1f0c5f9d2a7be643", "mail", "", "")
func (c *Client) GetErrorGroup(ctx context.Context, fingerprint string, queue string, jobType string, tenant string) (Obj, error) {
	return c.object(ctx, "GET", query(at("admin", "errors", fingerprint), "queue", queue, "type", jobType, "tenant", tenant), nil)
}

// StartBulkOperation: Begins to retry, cancel or delete all jobs that a filter finds, and answers at once with the
// operation. The server carries it out in slices of 500 jobs, each in a transaction of its own that also keeps the
// place which the operation has reached: after a crash it goes on there, on any node. Jobs that were enqueued or have
// ended since the request are not meant. Those that cannot be changed are counted by reason. With "dry_run" nothing is
// changed: the answer has "matched", the number of jobs ("relation" is "eq", "about" or "gte"; at most 50,000 rows are
// looked at), the numbers by state, queue and type, and a "sample". To delete needs the permission to administer. At
// most 100 operations of a tenant, and 100 of operators, may be under way.
//
//   - action: "retry", "cancel" or "delete".
//   - filter: Which jobs: "queue", "type", "state" (one or a list), "since", "until", "priority", "meta",
//     "error_type" (of the latest error), "dead_letters" (true: only dead letters) and "q" (a search, as lists of
//     jobs have it). An empty one means all that the action can reach.
//   - reason: Why, at most 500 characters; it is kept with the operation.
//   - dryRun: Say what would be found, and change nothing.
//
// A refusal is [ErrInvalidStateTransition] or [ErrInvalidRequest] or [ErrAuthentication] for errors.Is.
//
// For example:
//
//	answer, err := client.StartBulkOperation(ctx, "retry", ojs.Obj{"queue": "mail", "state": "discarded"}, "the mail server was down", false)
func (c *Client) StartBulkOperation(ctx context.Context, action string, filter Obj, reason string, dryRun bool) (Obj, error) {
	body := Obj{"action": action, "filter": filter, "confirm": true}
	if reason != "" {
		body["reason"] = reason
	}
	if dryRun {
		body["dry_run"] = dryRun
	}
	return c.object(ctx, "POST", at("admin", "bulk"), body)
}

// ListBulkOperations: Bulk operations, the newest first. They are kept for 30 days after their end, and the last 1,000
// of them.
//
//   - state: Only those in this state: "running", "paused", "completed", "cancelled" or "failed".
//   - cursor: Only those before this one: the id of the last one on the page before.
//   - perPage: The most on the page, 1 to 100; 20 without it.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.ListBulkOperations(ctx, "running", "", 50)
func (c *Client) ListBulkOperations(ctx context.Context, state string, cursor string, perPage int) ([]Obj, error) {
	var answer struct {
		Items []Obj `json:"items"`
	}
	err := c.ask(ctx, "GET", query(at("admin", "bulk"), "state", state, "cursor", cursor, "per_page", positiveText(perPage)), nil, &answer)
	return answer.Items, err
}

// GetBulkOperation: A bulk operation: its state, how far it is, how many jobs were changed, and how many were refused
// and why. "counts" has "seen", "changed" and "refused"; "refusals" has "count", the first "job_id" and its "message"
// for each "reason"; "progress" has the number of jobs that is "expected" and the "fraction" that is done, where it
// can be said.
//
//   - id: The id of the operation.
//   - waitMs: Answer as soon as it does not run any more, at the latest after so many milliseconds: 60,000 at most.
//
// A refusal is [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.GetBulkOperation(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", 30000)
func (c *Client) GetBulkOperation(ctx context.Context, id string, waitMs int) (Obj, error) {
	return c.object(ctx, "GET", query(at("admin", "bulk", id), "wait_ms", positiveText(waitMs)), nil)
}

// PauseBulkOperation: Stops a bulk operation until it is resumed. The slice that is under way is finished.
//
//   - id: The id of the operation.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.PauseBulkOperation(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) PauseBulkOperation(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "POST", at("admin", "bulk", id, "pause"), empty)
}

// ResumeBulkOperation: Goes on with a bulk operation that was paused, or that has failed, where it stopped.
//
//   - id: The id of the operation.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] or [ErrAuthentication] for errors.Is.
//
// For example:
//
//	answer, err := client.ResumeBulkOperation(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) ResumeBulkOperation(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "POST", at("admin", "bulk", id, "resume"), empty)
}

// CancelBulkOperation: Ends a bulk operation for good. Jobs that it has changed stay changed.
//
//   - id: The id of the operation.
//
// A refusal is [ErrInvalidStateTransition] or [ErrNotFound] for errors.Is.
//
// For example:
//
//	answer, err := client.CancelBulkOperation(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
func (c *Client) CancelBulkOperation(ctx context.Context, id string) (Obj, error) {
	return c.object(ctx, "POST", at("admin", "bulk", id, "cancel"), empty)
}

// ListRelays: The relays that send rows of outboxes to this server, with what each of them said last. An item has
// "id", "name", "tenant_id", "database" (its kind), "outbox" (the table), "state" ("running"; "stuck" while a row has
// waited for more than a minute; "silent" after 20 seconds without a heartbeat), "leading" (whether it is the one that
// sends), "waiting" (rows, with "waiting_relation": "gte" when there are more than were counted), "oldest_waiting_ms",
// "parked" (rows that the server has refused for good), "sent" since its start, "sent_per_minute", "error" (what holds
// it up), "first_heartbeat_at" and "last_heartbeat_at". "summary" counts the relays by state. A relay that stops is
// forgotten at once, a silent one after 15 minutes. At most 200 of a tenant are kept, and 1,000 in all.
//
//   - state: Only relays in this state: "running", "stuck" or "silent".
//   - page: The page, from 1.
//   - perPage: The most relays on the page, 1 to 100; 20 without it.
//
// A refusal is [ErrInvalidRequest] for errors.Is.
//
// For example:
//
//	answer, err := client.ListRelays(ctx, "stuck", 2, 50)
func (c *Client) ListRelays(ctx context.Context, state string, page int, perPage int) ([]Obj, error) {
	var answer struct {
		Items []Obj `json:"items"`
	}
	err := c.ask(ctx, "GET", query(at("admin", "relays"), "state", state, "page", positiveText(page), "per_page", positiveText(perPage)), nil, &answer)
	return answer.Items, err
}
