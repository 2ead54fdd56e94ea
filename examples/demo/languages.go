// The Go side of languages.py: a worker for the queue `go`, until SIGTERM.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/openjobspec/ojs-go"
)

func main() {
	client, err := ojs.NewClient("") // OJS_URL
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	worker, err := client.NewWorker(ojs.WithQueues("go"), ojs.WithConcurrency(8))
	if err != nil {
		log.Fatal(err)
	}

	// Gives back what it got, numbers to the last digit.
	worker.Register("go.echo", func(ctx ojs.JobContext) error {
		ctx.SetResult(ctx.Job.Args)
		return nil
	})

	// Sends jobs to another language.
	worker.Register("go.send", func(ctx ojs.JobContext) error {
		var count int
		var jobType, queue string
		var args ojs.Args
		if err := ctx.Job.Args.Decode(&count, &jobType, &queue, &args); err != nil {
			return ojs.NonRetryable(err)
		}
		jobs, err := client.EnqueueBatch(ctx, slices.Repeat([]ojs.JobRequest{ojs.NewJob(jobType, args, ojs.WithQueue(queue))}, count))
		ctx.SetResult(len(jobs))
		return err
	})

	// Reads the result of the step before.
	worker.Register("go.reverse", func(ctx ojs.JobContext) error {
		var before struct {
			Words []string `json:"words"`
		}
		results := ctx.Job.ParentResults
		if err := json.Unmarshal(results[len(results)-1], &before); err != nil {
			return ojs.NonRetryable(err)
		}
		slices.Reverse(before.Words)
		ctx.SetResult(before)
		return nil
	})

	go func() {
		for worker.State() == ojs.StateNew {
			time.Sleep(10 * time.Millisecond)
		}
		fmt.Println("ready")
	}()
	if err := worker.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
