// Package ojs sends background jobs and works them, over any Open Job Spec server or an engine in this process.
//
//	client, err := ojs.NewClient("sqlite:jobs.db") // or http://host:8080, memory:
//	job, err := client.Enqueue(ctx, "email.send", ojs.Args{"ada@example.com"})
//
//	worker, err := client.NewWorker(ojs.WithConcurrency(20))
//	worker.Register("email.send", func(ctx ojs.JobContext) error {
//		return send(ctx, ctx.Job.Args[0].(string))
//	})
//	err = worker.Run(ctx) // until SIGTERM
//
// A job that shall run if, and only if, a database transaction commits is written by the transaction itself, see [NewOutbox]:
//
//	job, err := ojs.EnqueueAfterCommit(ctx, tx, "email.welcome", ojs.Args{user.ID})
//
// Transport, fetching, leases, heartbeats, retries and the embedded engine are native code, which is linked statically and needs cgo. What
// runs in Go is what belongs there: handlers in goroutines, contexts, middleware, errors. Package ojstest helps to test.
package ojs
