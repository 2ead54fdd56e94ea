package ojs

import (
	"context"
	"encoding/json"
)

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
