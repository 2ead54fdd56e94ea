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
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.BulkCancel(ctx, ojs.BulkTarget{Queue: "reports"}, ojs.BulkOptions{})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.BulkRetry(ctx, ojs.BulkTarget{JobIDs: []string{"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"}}, ojs.BulkOptions{Atomic: true})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.BulkDelete(ctx, ojs.BulkTarget{Type: "email.*", States: []ojs.JobState{"completed", "cancelled"}}, ojs.BulkOptions{})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ExplainJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListJobs(ctx, ojs.JobFilter{Queue: "mail", Type: "email.*", States: []ojs.JobState{"available"}, Page: 2, PerPage: 50})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.CancelJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.SetPriority(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", 5)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ActivateJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.RetryJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.Result(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.Results(ctx, []string{"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e10"})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetWorkflow(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.CancelWorkflow(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListWorkflows(ctx, "running", 0, 50)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListQueues(ctx)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.QueueStats(ctx, "mail")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		return client.PauseQueue(ctx, "mail")
	},
	func(ctx context.Context, client *ojs.Client) error {
		return client.ResumeQueue(ctx, "mail")
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.CreateQueue(ctx, "mail", ojs.Obj{"concurrency": 20, "rate_limit": ojs.Obj{"limit": 100, "period": "PT1M"}})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetQueue(ctx, "mail")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetQueue(ctx, "mail/eu west?ü")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ConfigureQueue(ctx, "mail", ojs.Obj{"max_size": 1000})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		return client.DeleteQueue(ctx, "mail", "move", "letters")
	},
	func(ctx context.Context, client *ojs.Client) error {
		return client.DrainQueue(ctx, "mail")
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.PurgeQueue(ctx, "reports", []ojs.JobState{"completed", "cancelled"}, time.Hour)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetFairness(ctx, "mail")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.SetFairness(ctx, "mail", ojs.Obj{"by": "tenant", "weights": ojs.Obj{"acme": 4}})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		return client.DeleteFairness(ctx, "mail")
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListRateLimits(ctx)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetRateLimit(ctx, "stripe")
		return err
	},
	operationCallsByHand["override_rate_limit"],
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListDeadLetterJobs(ctx, "mail", 10, 20)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetDeadLetterJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.RetryDeadLetterJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		return client.DiscardDeadLetterJob(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.RetryDeadLetterJobs(ctx, ojs.DeadLetterFilter{Queue: "mail", ErrorType: "Timeout", Since: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.DiscardDeadLetterJobs(ctx, ojs.DeadLetterFilter{Type: "email.*", Until: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.DeadLetterStats(ctx)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.PreviewDeadLetterJobs(ctx, "mail", "", "Timeout", time.Time{}, time.Time{}, "")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.PreviewDeadLetterJobs(ctx, "", "", "", time.Time{}, time.Time{}, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListCronJobs(ctx)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetCronJob(ctx, "digest")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.EnableCronJob(ctx, "digest", false)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.RunCronJob(ctx, "digest")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		return client.UnregisterCronJob(ctx, "digest")
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListWorkers(ctx, "running", 1, 100)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetWorker(ctx, "mail-1")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.DirectWorker(ctx, "mail-1", "quiet")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.RemoveWorker(ctx, "mail-1")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.Health(ctx)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.Manifest(ctx)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ServerStats(ctx)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.StatsHistory(ctx, "1h", "mail", time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.TypeStats(ctx, time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}, "failed", 20)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.Maintenance(ctx)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.SetMaintenance(ctx, true, "moving the database", 30*time.Minute)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.Audit(ctx)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ServerConfig(ctx)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListSchemas(ctx)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.RegisterSchema(ctx, "email.send", "1.0.0", ojs.Obj{"items": ojs.Obj{"type": "string"}, "minItems": 1}, "strict")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetSchema(ctx, "email.send")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetSchemaVersion(ctx, "email.send", "1.0.0")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListSchemaVersions(ctx, "email.send")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.SetSchemaMode(ctx, "email.send", "1.0.0", "strict")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		return client.DeleteSchema(ctx, "email.send", "1.0.0")
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListTrains(ctx, "held")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetTrain(ctx, "dest_7")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.AdvanceTrain(ctx, "dest_7", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.HoldTrain(ctx, "dest_7")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListTenants(ctx, 2, 50)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetTenant(ctx, "acme")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.PutTenant(ctx, "acme", ojs.Obj{"limits": ojs.Obj{"max_concurrency": 10}, "name": "Acme Ltd.", "status": "active"})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.DeleteTenant(ctx, "acme")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.SetTenantLimits(ctx, "acme", ojs.Obj{"max_concurrency": 10, "max_enqueue_rate": ojs.Obj{"limit": 100, "period": "PT1S"}, "max_queue_depth": 10000, "max_scheduled": 500})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.SuspendTenant(ctx, "acme")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ResumeTenant(ctx, "acme")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.TenantStats(ctx, "acme")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.TenantJobs(ctx, "acme", "mail", "available", 1, 10)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.NoisyTenants(ctx, 20, 0, 0, 0, 50, 10)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListWebhooks(ctx)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.CreateWebhook(ctx, ojs.Obj{"events": []string{"job.completed", "job.failed"}, "secret": "whsec_test_secret", "url": "https://example.com/hooks/ojs"})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetWebhook(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.UpdateWebhook(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", ojs.Obj{"events": []string{"job.*"}})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		return client.DeleteWebhook(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.TestWebhook(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.RotateWebhookSecret(ctx, "sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListWebhookDeliveries(ctx, "", "dead", 50)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetWebhookDelivery(ctx, "del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.RetryWebhookDelivery(ctx, "del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetProgress(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetWorkflowProgress(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.SaveCheckpoint(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", ojs.Obj{"cursor": "abc-750", "rows": 750})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetCheckpoint(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		return client.DeleteCheckpoint(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListPushEndpoints(ctx)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.CreatePushEndpoint(ctx, ojs.Obj{"config": ojs.Obj{"max_concurrency": 100, "signing_secret": "whsec_test_secret", "timeout_ms": 30000}, "endpoint": "https://example.com/functions/jobs", "job_types": []string{"email.send", "report.*"}, "queues": []string{"default"}})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetPushEndpoint(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.UpdatePushEndpoint(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", ojs.Obj{"active": false})
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		return client.DeletePushEndpoint(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.TestPushEndpoint(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.RotatePushSecret(ctx, "push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetHistory(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", 0, "")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetLineage(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.DeleteHistory(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.HistoryStats(ctx, time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}, "mail", "day")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListErrorGroups(ctx, "mail", "email.*", "Timeout", "acme", time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), "count", 2, 50)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetErrorGroup(ctx, "1f0c5f9d2a7be643", "mail", "", "")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.StartBulkOperation(ctx, "retry", ojs.Obj{"queue": "mail", "state": "discarded"}, "the mail server was down", false)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListBulkOperations(ctx, "running", "", 50)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.GetBulkOperation(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", 30000)
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.PauseBulkOperation(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ResumeBulkOperation(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.CancelBulkOperation(ctx, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
		return err
	},
	func(ctx context.Context, client *ojs.Client) error {
		_, err := client.ListRelays(ctx, "stuck", 2, 50)
		return err
	},
}
