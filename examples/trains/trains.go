// Job trains in Go: the worker of ADR-5, "Database-Backed Job Serialization", line by line. What it prints is the same
// in every language.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/openjobspec/ojs-go"
)

// Deployment is the argument of the job.
type Deployment struct {
	DestinationID int    `json:"destination_id"`
	Action        string `json:"action"`
}

// defmodule DeploymentWorker do
//
//	use D9s.JobTrains.Worker, queue: :deployments, on_cancelled: :hold, on_discarded: :advance
var deployment = ojs.NewTask[Deployment]("deployment", ojs.WithQueue("deployments"),
	ojs.WithTrain(ojs.Train{OnCancelled: "hold", OnDiscarded: "advance"}))

func deploy(args Deployment, train *ojs.JobTrain) {
	place := "in no train"
	if train != nil {
		place = fmt.Sprintf("number %d of %s", train.Position, train.ID)
	}
	fmt.Printf("%s: %s\n", args.Action, place)
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client, err := ojs.NewClient(cmp.Or(os.Getenv("OJS_URL"), "memory:trains"))
	if err != nil {
		return err
	}
	defer client.Close()
	worker, err := client.NewWorker(ojs.WithQueues("deployments"))
	if err != nil {
		return err
	}
	deployment.Register(worker, func(ctx ojs.JobContext, args Deployment) error {
		// def perform_in_train(%Oban.Job{args: args}), do: deploy(args)
		deploy(args, ctx.Job.Train)
		return nil
	})

	// A regular job: %{destination_id: 123, action: "deploy"} |> DeploymentWorker.new() |> Oban.insert()
	jobs := make([]*ojs.Job, 3)
	if jobs[0], err = deployment.Enqueue(ctx, client, Deployment{123, "deploy"}); err != nil {
		return err
	}
	// A train job: … |> D9s.JobTrains.insert("dest_123")
	train := ojs.WithTrain(ojs.Train{ID: "dest_123"})
	if jobs[1], err = deployment.Enqueue(ctx, client, Deployment{123, "deploy"}, train); err != nil {
		return err
	}
	// Multiple jobs for the same resource queue: it waits for the deploy.
	if jobs[2], err = deployment.Enqueue(ctx, client, Deployment{123, "rollback"}, train); err != nil {
		return err
	}

	working, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- worker.Start(working) }()
	for _, job := range jobs {
		if _, err := client.WaitForResult(ctx, job.ID); err != nil {
			return err
		}
	}
	stop()
	return <-ended
}
