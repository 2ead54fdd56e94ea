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

// crons reads schedules, under the names that servers have for them.
func (c *Client) crons(ctx context.Context, method, path string, body any) ([]CronJob, error) {
	var answer struct {
		Crons []CronJob
		Jobs  []CronJob `json:"cron_jobs"`
	}
	err := c.ask(ctx, method, path, body, &answer)
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
