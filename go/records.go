// Made from xtask/records.toml by make gen; do not edit.

package ojs

import (
	"cmp"
	"encoding/json"
	"time"
)

// Job: A job as the server describes it.
type Job struct {
	// ID: a UUIDv7, the same in every attempt and redelivery.
	ID string `json:"id"`
	// Type: the job type, with dots between its parts.
	Type string `json:"type"`
	// Queue: the queue that the job is in.
	Queue string `json:"queue"`
	// State: where the job is in its life; nothing in a job that no server has seen.
	State JobState `json:"state"`
	// Args: the arguments.
	Args Args `json:"args"`
	// Meta: what travels with the job besides its arguments.
	Meta Obj `json:"meta"`
	// Priority: higher runs earlier.
	Priority int `json:"priority"`
	// Attempt: the number of the attempt, 1 during the first run.
	Attempt int `json:"attempt"`
	// MaxAttempts: how many attempts there may be; 0 when the server did not say.
	MaxAttempts int `json:"max_attempts"`
	// Tags: words to find the job by.
	Tags []string `json:"tags"`
	// Result: what the handler returned; nothing when there is no result.
	Result json.RawMessage `json:"result"`
	// Error: the latest failure; nothing when no attempt has failed.
	Error *JobFailure `json:"error"`
	// Errors: all failures, the oldest first.
	Errors []JobFailure `json:"errors"`
	// ParentResults: the results of the steps before this one, in a workflow.
	ParentResults []json.RawMessage `json:"parent_results"`
	// WorkflowID: the workflow that the job belongs to; nothing when it belongs to none.
	WorkflowID string `json:"workflow_id"`
	// Train: the job's place in its train; nothing when it runs in none.
	Train *JobTrain `json:"train"`
	// CreatedAt: when the job was created.
	CreatedAt time.Time `json:"created_at"`
	// EnqueuedAt: when the job was enqueued.
	EnqueuedAt time.Time `json:"enqueued_at"`
	// ScheduledAt: when the job may run; nothing when it need not wait.
	ScheduledAt time.Time `json:"scheduled_at"`
	// StartedAt: when the latest attempt began.
	StartedAt time.Time `json:"started_at"`
	// CompletedAt: when the job was completed; nothing when it was not.
	CompletedAt time.Time `json:"completed_at"`
	// ExpiresAt: when the job is thrown away unless it has started.
	ExpiresAt time.Time `json:"expires_at"`
	// Raw: the whole object as the server sent it, with members that this version does not know.
	Raw json.RawMessage `json:"-"`
}

// JobFailure: A failed attempt.
type JobFailure struct {
	// Code: for programs and retry policies.
	Code string `json:"code"`
	// Message: for people.
	Message string `json:"message"`
	// Type: the type of the error in the language of its handler.
	Type string `json:"type"`
	// Retryable: whether the failure lets the job run again; nothing when the worker did not say.
	Retryable *bool `json:"retryable"`
	// Attempt: the number of the attempt that failed.
	Attempt int `json:"attempt"`
	// Details: more about the failure, as JSON.
	Details json.RawMessage `json:"details"`
}

// JobTrain: Where a job stands in its train. The server decides all of it.
type JobTrain struct {
	// ID: the train's id.
	ID string `json:"id"`
	// Position: the job's number in the train, from 1, in the order in which jobs joined it.
	Position int `json:"position"`
	// Role: "locomotive": the one job of the train that may run; "car": it waits; "left": its turn is over.
	Role string `json:"role"`
	// Ahead: how many jobs of the train run before it.
	Ahead int `json:"ahead"`
	// State: the state of the train: "running", "draining" (a cancelled job still runs) or "held".
	State string `json:"state"`
	// Epoch: a number that grows with every delivery of a job of this train. A resource that remembers the largest one can refuse what the handler of an earlier delivery still sends: a fencing token. Only the locomotive has it.
	Epoch int64 `json:"epoch"`
}

// JobResult: How a job ended, and what its handler returned.
type JobResult struct {
	// JobID: the job's id.
	JobID string `json:"job_id"`
	// State: completed, discarded or cancelled.
	State JobState `json:"state"`
	// Result: what the handler returned; nothing when it returned nothing, or when its result is not kept.
	Result json.RawMessage `json:"result"`
	// Error: the failure that ended the job; nothing when none did.
	Error *JobFailure `json:"error"`
	// Attempt: how many attempts were begun.
	Attempt int `json:"attempt"`
	// Raw: the whole object as the server sent it, with members that this version does not know.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON reads the object and keeps its text in Raw.
func (r *JobResult) UnmarshalJSON(data []byte) error {
	type plain JobResult
	var read struct{ plain }
	if err := decode(data, &read); err != nil {
		return err
	}
	*r = JobResult(read.plain)
	r.Raw = append(json.RawMessage(nil), data...)
	return nil
}

// WorkflowStatus: A workflow as the server describes it.
type WorkflowStatus struct {
	// ID: the workflow's id.
	ID string `json:"id"`
	// Name: the name that it was given; nothing without one.
	Name string `json:"name"`
	// Type: "chain", "group", "batch" or "graph".
	Type string `json:"type"`
	// State: the state, in the server's word.
	State string `json:"state"`
	// Steps: the steps or jobs of the workflow.
	Steps []WorkflowStep `json:"steps"`
	// Raw: the whole object as the server sent it, with members that this version does not know.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON reads the object and keeps its text in Raw.
func (r *WorkflowStatus) UnmarshalJSON(data []byte) error {
	type plain WorkflowStatus
	var read struct{ plain }
	if err := decode(data, &read); err != nil {
		return err
	}
	*r = WorkflowStatus(read.plain)
	r.Raw = append(json.RawMessage(nil), data...)
	return nil
}

// WorkflowStep: One job of a workflow.
type WorkflowStep struct {
	// ID: the name of the step in its workflow.
	ID string `json:"id"`
	// JobID: the id of its job.
	JobID string `json:"job_id"`
	// Type: the job type.
	Type string `json:"type"`
	// State: the state, in the server's word.
	State string `json:"state"`
}

// Event: An event: a change of a job, queue, workflow or worker.
type Event struct {
	// ID: the id of the event, for reading on from it.
	ID string `json:"id"`
	// Type: what happened, such as "job.completed".
	Type string `json:"type"`
	// Time: when it happened, in RFC 3339.
	Time time.Time `json:"time"`
	// Subject: the id of the job or workflow, or the name of the queue or worker.
	Subject string `json:"subject"`
	// Data: everything else, by type of event.
	Data Obj `json:"data"`
	// Raw: the whole object as the server sent it, with members that this version does not know.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON reads the object and keeps its text in Raw.
func (r *Event) UnmarshalJSON(data []byte) error {
	type plain Event
	var read struct{ plain }
	if err := decode(data, &read); err != nil {
		return err
	}
	*r = Event(read.plain)
	r.Raw = append(json.RawMessage(nil), data...)
	return nil
}

// CronJob: A cron entry: a job that is enqueued each time an expression matches.
type CronJob struct {
	// Name: the name of the entry.
	Name string `json:"name"`
	// Expression: when the job is enqueued, such as "0 3 * * *".
	Expression string `json:"expression"`
	// Timezone: the IANA name of the time zone; UTC when it is empty.
	Timezone string `json:"timezone"`
	// OverlapPolicy: what happens while the job before is not over: "skip" (without it), "allow", "cancel_previous" or "enqueue".
	OverlapPolicy string `json:"overlap_policy"`
	// Job: the job to enqueue. It is empty in answers, where Raw has it.
	Job JobRequest `json:"-"`
	// Raw: the whole object as the server sent it, with members that this version does not know.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON reads the object and keeps its text in Raw.
func (r *CronJob) UnmarshalJSON(data []byte) error {
	type plain CronJob
	var read struct {
		plain
		Fallback string `json:"cron"`
	}
	if err := decode(data, &read); err != nil {
		return err
	}
	*r = CronJob(read.plain)
	r.Expression = cmp.Or(r.Expression, read.Fallback)
	r.Raw = append(json.RawMessage(nil), data...)
	return nil
}

// QueueStats: How many jobs of a queue are in which state.
type QueueStats struct {
	// Name: the name of the queue.
	Name string `json:"name"`
	// Paused: whether the queue is paused.
	Paused bool `json:"-"`
	// Available: jobs that a worker may take.
	Available int `json:"available"`
	// Scheduled: jobs that wait for their time.
	Scheduled int `json:"scheduled"`
	// Active: jobs that a worker has.
	Active int `json:"active"`
	// Retryable: jobs that failed and will run again.
	Retryable int `json:"retryable"`
	// Completed: jobs that are done.
	Completed int `json:"completed"`
	// Discarded: jobs that failed for good.
	Discarded int `json:"discarded"`
	// Cancelled: jobs that were cancelled.
	Cancelled int `json:"cancelled"`
	// Raw: the whole object as the server sent it, with members that this version does not know.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON reads the object and keeps its text in Raw.
func (r *QueueStats) UnmarshalJSON(data []byte) error {
	type plain QueueStats
	var read struct {
		plain
		Paused string `json:"status"`
	}
	if err := decode(data, &read); err != nil {
		return err
	}
	*r = QueueStats(read.plain)
	r.Paused = read.Paused == "paused"
	r.Raw = append(json.RawMessage(nil), data...)
	return nil
}

// JobPage: One page of a list of jobs.
type JobPage struct {
	// Jobs: the jobs of this page.
	Jobs []Job `json:"jobs"`
	// Total: how many jobs the filter finds, on all pages.
	Total int `json:"total"`
	// Page: the number of this page. The first page is 1.
	Page int `json:"page"`
	// HasMore: whether there is a page after this one.
	HasMore bool `json:"has_more"`
}

// BulkItem: What happened to one job of a bulk enqueue.
type BulkItem struct {
	// Index: the place of the job in the request, from 0.
	Index int `json:"index"`
	// Status: "created"; "duplicate", with the job that existed before; or "failed".
	Status string `json:"status"`
	// Job: the job; nothing when it was refused.
	Job *Job `json:"job"`
	// Err: why the job was refused; nothing when it was not.
	Err *Error `json:"-"`
}

// UnmarshalJSON reads the object.
func (r *BulkItem) UnmarshalJSON(data []byte) error {
	type plain BulkItem
	var read struct {
		plain
		Err json.RawMessage `json:"error"`
	}
	if err := decode(data, &read); err != nil {
		return err
	}
	*r = BulkItem(read.plain)
	r.Err = itemError(read.Err)
	return nil
}

// BulkChange: What happened to one job of a bulk cancel, retry or delete.
type BulkChange struct {
	// JobID: the job's id.
	JobID string `json:"job_id"`
	// Status: "cancelled", "retried", "deleted" or "skipped".
	Status string `json:"status"`
	// Err: why the job was skipped; nothing when it was not.
	Err *Error `json:"-"`
}

// UnmarshalJSON reads the object.
func (r *BulkChange) UnmarshalJSON(data []byte) error {
	type plain BulkChange
	var read struct {
		plain
		Err json.RawMessage `json:"error"`
	}
	if err := decode(data, &read); err != nil {
		return err
	}
	*r = BulkChange(read.plain)
	r.Err = itemError(read.Err)
	return nil
}

// BulkResult: What a bulk cancel, retry or delete did.
type BulkResult struct {
	// Matched: how many jobs were named or found.
	Matched int `json:"total_matched"`
	// Skipped: how many jobs were left as they are; their items say why.
	Skipped int `json:"skipped"`
	// Items: one for each job, in the order of the ids; of a filter the first 1,000.
	Items []BulkChange `json:"items"`
}

// Succeeded is how many jobs were changed.
func (r *BulkResult) Succeeded() int { return r.Matched - r.Skipped }
