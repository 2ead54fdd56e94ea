package ojs_test

import (
	"context"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

func TestFirstJob(t *testing.T) {
	client, err := ojs.NewClient("memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	worker, err := client.NewWorker(ojs.WithQueues("mail"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	worker.Register("email.send", func(ctx ojs.JobContext) error {
		ctx.SetResult(ojs.Obj{"to": ctx.Job.Args[0]})
		cancel()
		return nil
	})
	job, err := client.Enqueue(ctx, "email.send", ojs.Args{"ada@example.com"}, ojs.WithQueue("mail"))
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(ctx); err != nil {
		t.Fatal(err)
	}
	done, err := client.GetJob(t.Context(), job.ID)
	if err != nil || done.State != ojs.Completed || string(done.Result) != `{"to":"ada@example.com"}` {
		t.Fatalf("%+v %v", done, err)
	}
}
