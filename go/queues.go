//go:build cgo

package ojs

import "context"

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
