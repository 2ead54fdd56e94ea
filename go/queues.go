package ojs

import (
	"context"
	"encoding/json"
	"time"
)

// QueueStats are the counts of a queue by state of its jobs.
type QueueStats struct {
	Name      string `json:"name"`
	Paused    bool   `json:"-"`
	Available int    `json:"available"`
	Scheduled int    `json:"scheduled"`
	Active    int    `json:"active"`
	Retryable int    `json:"retryable"`
	Completed int    `json:"completed"`
	Discarded int    `json:"discarded"`
	Cancelled int    `json:"cancelled"`
	// Raw is all that the server said.
	Raw json.RawMessage `json:"-"`
}

// ListQueues are all queues with their status.
func (c *Client) ListQueues(ctx context.Context) ([]Obj, error) {
	var answer struct{ Queues []Obj }
	err := c.ask(ctx, "GET", "/queues", nil, &answer)
	return answer.Queues, err
}

// QueueStats counts the jobs of a queue.
func (c *Client) QueueStats(ctx context.Context, name string) (*QueueStats, error) {
	var answer struct{ Queue json.RawMessage }
	if err := c.ask(ctx, "GET", at("queues", name, "stats"), nil, &answer); err != nil {
		return nil, err
	}
	stats := &QueueStats{Raw: answer.Queue}
	var status struct{ Status string }
	if err := decode(answer.Queue, stats); err != nil {
		return nil, err
	}
	err := decode(answer.Queue, &status)
	stats.Paused = status.Status == "paused"
	return stats, err
}

// PauseQueue hands out no job until ResumeQueue.
func (c *Client) PauseQueue(ctx context.Context, name string) error {
	return c.ask(ctx, "POST", at("queues", name, "pause"), empty, nil)
}

// ResumeQueue hands jobs out again, and accepts them.
func (c *Client) ResumeQueue(ctx context.Context, name string) error {
	return c.ask(ctx, "POST", at("queues", name, "resume"), empty, nil)
}

// DrainQueue accepts no more jobs and hands out those that are there, until ResumeQueue.
func (c *Client) DrainQueue(ctx context.Context, name string) error {
	return c.ask(ctx, "POST", at("queues", name, "drain"), empty, nil)
}

// CreateQueue creates a queue with settings: Obj{"concurrency": 20, "rate_limit": Obj{"limit": 100, "period": "PT1M"}}.
func (c *Client) CreateQueue(ctx context.Context, name string, config Obj) (Obj, error) {
	return c.object(ctx, "POST", "/queues", Obj{"name": name, "config": orEmpty(config)})
}

// GetQueue is a queue with its settings and counts.
func (c *Client) GetQueue(ctx context.Context, name string) (Obj, error) {
	return c.object(ctx, "GET", at("queues", name), nil)
}

// ConfigureQueue sets what is named and leaves the rest; nil gives a setting back to the template, which is the queue "_default".
func (c *Client) ConfigureQueue(ctx context.Context, name string, config Obj) (Obj, error) {
	return c.object(ctx, "PUT", at("queues", name, "config"), orEmpty(config))
}

// DeleteQueue deletes a queue. What happens to its jobs: "reject" (it must be empty), "discard", or "move" to the queue target.
func (c *Client) DeleteQueue(ctx context.Context, name, strategy, target string) error {
	return c.ask(ctx, "DELETE", query(at("queues", name), "strategy", strategy, "target_queue", target), nil, nil)
}

// purgeSlice is how many jobs one request of a purge removes: it takes a second or two, and a lost answer loses little.
const purgeSlice = 10_000

// PurgeQueue removes the jobs of a queue for ever that are in one of these states and older than this (0: all); it returns how many.
// What waits is cancelled first, so workflows move on; active jobs are never removed.
func (c *Client) PurgeQueue(ctx context.Context, name string, states []JobState, olderThan time.Duration) (int, error) {
	body := Obj{"states": states, "confirm": true, "limit": purgeSlice}
	if olderThan > 0 {
		body["older_than"] = duration(olderThan)
	}
	for purged := 0; ; {
		var answer struct {
			Count int  `json:"purged_count"`
			More  bool `json:"has_more"`
		}
		err := c.ask(ctx, "DELETE", at("admin", "queues", name, "jobs"), body, &answer)
		if purged += answer.Count; err != nil || !answer.More {
			return purged, err
		}
	}
}

// ListRateLimits are the keys with limits, and what is going on with them.
func (c *Client) ListRateLimits(ctx context.Context) ([]Obj, error) {
	var answer struct{ Items []Obj }
	err := c.ask(ctx, "GET", "/rate-limits?limit=200", nil, &answer)
	return answer.Items, err
}

// GetRateLimit is a key with its limits, and how much of them is used.
func (c *Client) GetRateLimit(ctx context.Context, key string) (Obj, error) {
	return c.object(ctx, "GET", at("rate-limits", key), nil)
}

// OverrideRateLimit gives a key other limits: Obj{"concurrency": 2, "expires_at": time.Now().Add(time.Hour)}. Without any limit (nil)
// the override ends.
func (c *Client) OverrideRateLimit(ctx context.Context, key string, limits Obj) (Obj, error) {
	return c.object(ctx, "PUT", at("rate-limits", key), orEmpty(limits))
}

func orEmpty(o Obj) Obj {
	if o == nil {
		return Obj{}
	}
	return o
}

// CronJob is a schedule.
type CronJob struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
	// Timezone is an IANA name; UTC when it is empty.
	Timezone string `json:"timezone,omitempty"`
	// OverlapPolicy is what happens while the job before is not over: "skip" (without it), "allow", "cancel_previous", "enqueue".
	OverlapPolicy string `json:"overlap_policy,omitempty"`
	// Job is what is enqueued; in answers it is empty, see Raw.
	Job JobRequest `json:"-"`
	// Raw is all that the server said.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON reads a schedule and keeps its text in Raw.
func (j *CronJob) UnmarshalJSON(data []byte) error {
	var read struct {
		Name, Expression, Cron, Timezone string
		OverlapPolicy                    string `json:"overlap_policy"`
	}
	if err := decode(data, &read); err != nil {
		return err
	}
	if read.Expression == "" {
		read.Expression = read.Cron
	}
	*j = CronJob{Name: read.Name, Expression: read.Expression, Timezone: read.Timezone, OverlapPolicy: read.OverlapPolicy, Raw: append(json.RawMessage(nil), data...)}
	return nil
}

// ListCronJobs are all schedules.
func (c *Client) ListCronJobs(ctx context.Context) ([]CronJob, error) {
	var answer struct {
		Crons []CronJob
		Jobs  []CronJob `json:"cron_jobs"`
	}
	err := c.ask(ctx, "GET", "/cron", nil, &answer)
	if answer.Crons == nil {
		return answer.Jobs, err
	}
	return answer.Crons, err
}

// RegisterCronJob enqueues a job whenever the expression matches; it replaces a schedule of the same name.
func (c *Client) RegisterCronJob(ctx context.Context, schedule CronJob) error {
	body := Obj{"name": schedule.Name, "expression": schedule.Expression, "job_template": schedule.Job}
	if schedule.Timezone != "" {
		body["timezone"] = schedule.Timezone
	}
	if schedule.OverlapPolicy != "" {
		body["overlap_policy"] = schedule.OverlapPolicy
	}
	return c.ask(ctx, "POST", "/cron", body, nil)
}

// UnregisterCronJob ends a schedule.
func (c *Client) UnregisterCronJob(ctx context.Context, name string) error {
	return c.ask(ctx, "DELETE", at("cron", name), nil, nil)
}
