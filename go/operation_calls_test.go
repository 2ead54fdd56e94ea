// Made from xtask/operations by make gen; do not edit.

package ojs_test

import (
	"context"
	"time"

	"github.com/openjobspec/ojs-go"
)

// operationCalls are the calls of the vectors in tests/vectors/operations.json, in their order. Those of methods that are written by hand
// are in operationCallsByHand.
var operationCalls = []func(context.Context, *ojs.Client) error{
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.BulkCancel(ctx, ojs.BulkTarget{Queue: "reports"}, ojs.BulkOptions{})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.BulkRetry(ctx, ojs.BulkTarget{JobIDs: []string{"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"}}, ojs.BulkOptions{Atomic: true})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.BulkDelete(ctx, ojs.BulkTarget{Type: "email.*", States: []ojs.JobState{"completed", "cancelled"}}, ojs.BulkOptions{})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ExplainJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListJobs(ctx, ojs.JobFilter{Queue: "mail", Type: "email.*", States: []ojs.JobState{"available"}, Page: 2, PerPage: 50})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.CancelJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.SetPriority(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", 5)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ActivateJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.RetryJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.Result(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.Results(ctx, []string{"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e10"})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetWorkflow(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.CancelWorkflow(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListWorkflows(ctx, "running", 0, 50)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListQueues(ctx)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.QueueStats(ctx, "mail")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		return c.PauseQueue(ctx, "mail")
	},
	func(ctx context.Context, c *ojs.Client) error {
		return c.ResumeQueue(ctx, "mail")
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.CreateQueue(ctx, "mail", ojs.Obj{"concurrency": 20, "rate_limit": ojs.Obj{"limit": 100, "period": "PT1M"}})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetQueue(ctx, "mail")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetQueue(ctx, "mail/eu west?ü")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ConfigureQueue(ctx, "mail", ojs.Obj{"max_size": 1000})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		return c.DeleteQueue(ctx, "mail", "move", "letters")
	},
	func(ctx context.Context, c *ojs.Client) error {
		return c.DrainQueue(ctx, "mail")
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.PurgeQueue(ctx, "reports", []ojs.JobState{"completed", "cancelled"}, time.Hour)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetFairness(ctx, "mail")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.SetFairness(ctx, "mail", ojs.Obj{"by": "tenant", "weights": ojs.Obj{"acme": 4}})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		return c.DeleteFairness(ctx, "mail")
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListRateLimits(ctx)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetRateLimit(ctx, "stripe")
		return err
	},
	operationCallsByHand["override_rate_limit"],
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListDeadLetterJobs(ctx, "mail", 10, 20)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetDeadLetterJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.RetryDeadLetterJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		return c.DiscardDeadLetterJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.RetryDeadLetterJobs(ctx, ojs.DeadLetterFilter{Queue: "mail", ErrorType: "Timeout", Since: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.DiscardDeadLetterJobs(ctx, ojs.DeadLetterFilter{Type: "email.*", Until: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.DeadLetterStats(ctx)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.PreviewDeadLetterJobs(ctx, "mail", "", "Timeout", time.Time{}, time.Time{}, "")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.PreviewDeadLetterJobs(ctx, "", "", "", time.Time{}, time.Time{}, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListCronJobs(ctx)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetCronJob(ctx, "digest")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.EnableCronJob(ctx, "digest", false)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.RunCronJob(ctx, "digest")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		return c.UnregisterCronJob(ctx, "digest")
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListWorkers(ctx, "running", 1, 100)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetWorker(ctx, "mail-1")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.DirectWorker(ctx, "mail-1", "quiet")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.RemoveWorker(ctx, "mail-1")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.Health(ctx)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.Manifest(ctx)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ServerStats(ctx)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.StatsHistory(ctx, "1h", "mail", time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.TypeStats(ctx, time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}, "failed", 20)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.Maintenance(ctx)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.SetMaintenance(ctx, true, "moving the database", 30*time.Minute)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.Audit(ctx)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ServerConfig(ctx)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListSchemas(ctx)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.RegisterSchema(ctx, "email.send", "1.0.0", ojs.Obj{"items": ojs.Obj{"type": "string"}, "minItems": 1}, "strict")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetSchema(ctx, "email.send")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetSchemaVersion(ctx, "email.send", "1.0.0")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListSchemaVersions(ctx, "email.send")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.SetSchemaMode(ctx, "email.send", "1.0.0", "strict")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		return c.DeleteSchema(ctx, "email.send", "1.0.0")
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListTrains(ctx, "held")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetTrain(ctx, "dest_7")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.AdvanceTrain(ctx, "dest_7", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.HoldTrain(ctx, "dest_7")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListTenants(ctx, 2, 50)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetTenant(ctx, "acme")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.PutTenant(ctx, "acme", ojs.Obj{"limits": ojs.Obj{"max_concurrency": 10}, "name": "Acme Ltd.", "status": "active"})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.DeleteTenant(ctx, "acme")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.SetTenantLimits(ctx, "acme", ojs.Obj{"max_concurrency": 10, "max_enqueue_rate": ojs.Obj{"limit": 100, "period": "PT1S"}, "max_queue_depth": 10000, "max_scheduled": 500})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.SuspendTenant(ctx, "acme")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ResumeTenant(ctx, "acme")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.TenantStats(ctx, "acme")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.TenantJobs(ctx, "acme", "mail", "available", 1, 10)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.NoisyTenants(ctx, 20, 0, 0, 0, 50, 10)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListWebhooks(ctx)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.CreateWebhook(ctx, ojs.Obj{"events": []string{"job.completed", "job.failed"}, "secret": "whsec_test_secret", "url": "https://example.com/hooks/ojs"})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetWebhook(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.UpdateWebhook(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", ojs.Obj{"events": []string{"job.*"}})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		return c.DeleteWebhook(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.TestWebhook(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.RotateWebhookSecret(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListWebhookDeliveries(ctx, "", "dead", 50)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetWebhookDelivery(ctx, "del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.RetryWebhookDelivery(ctx, "del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetProgress(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetWorkflowProgress(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.SaveCheckpoint(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", ojs.Obj{"cursor": "abc-750", "rows": 750})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetCheckpoint(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		return c.DeleteCheckpoint(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListPushEndpoints(ctx)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.CreatePushEndpoint(ctx, ojs.Obj{"config": ojs.Obj{"max_concurrency": 100, "signing_secret": "whsec_test_secret", "timeout_ms": 30000}, "endpoint": "https://example.com/functions/jobs", "job_types": []string{"email.send", "report.*"}, "queues": []string{"default"}})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetPushEndpoint(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.UpdatePushEndpoint(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", ojs.Obj{"active": false})
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		return c.DeletePushEndpoint(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.TestPushEndpoint(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.RotatePushSecret(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetHistory(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", 0, "")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetLineage(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.DeleteHistory(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.HistoryStats(ctx, time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}, "mail", "day")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListErrorGroups(ctx, "mail", "email.*", "Timeout", "acme", time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), "count", 2, 50)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetErrorGroup(ctx, "1f0c5f9d2a7be643", "mail", "", "")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.StartBulkOperation(ctx, "retry", ojs.Obj{"queue": "mail", "state": "discarded"}, "the mail server was down", false)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListBulkOperations(ctx, "running", "", 50)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.GetBulkOperation(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", 30000)
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.PauseBulkOperation(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ResumeBulkOperation(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.CancelBulkOperation(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, c *ojs.Client) error {
		_, err := c.ListRelays(ctx, "stuck", 2, 50)
		return err
	},
}
