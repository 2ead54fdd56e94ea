// Handlers that do nothing, in one Go process. Prints one line of JSON; languages.py says what it is compared with.
//
//	cd benches/go && go run . -url sqlite:/tmp/jobs.db [-jobs 100000] [-payload 150] [-concurrency 100] [-profile cpu.pprof]
package main

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/benches/measure"
)

var (
	url         = flag.String("url", "memory:", "the server, or a store")
	jobs        = flag.Int("jobs", 100_000, "jobs in a run")
	payload     = flag.Int("payload", 150, "bytes of text in a job")
	concurrency = flag.Int("concurrency", 100, "handlers at a time")
	profile     = flag.String("profile", "", "writes a profile of the processor time to this file")
)

func main() {
	flag.Parse()
	client, err := ojs.NewClient(*url)
	measure.Check(err)
	measure.Check(fill(client))
	if *profile != "" {
		file, err := os.Create(*profile)
		measure.Check(err)
		measure.Check(pprof.StartCPUProfile(file))
	}
	took, cpu, err := work(client)
	measure.Check(err)
	pprof.StopCPUProfile()
	measure.Check(client.Close())
	measure.Print(*jobs, took, cpu, "")
}

func fill(client *ojs.Client) error {
	text := strings.Repeat("x", *payload)
	for sent := 0; sent < *jobs; {
		batch := make([]ojs.JobRequest, min(1000, *jobs-sent))
		for i := range batch {
			batch[i] = ojs.NewJob("bench.noop", ojs.Args{sent, text})
			sent++
		}
		if _, err := client.EnqueueBatch(context.Background(), batch); err != nil {
			return err
		}
	}
	return nil
}

func work(client *ojs.Client) (took, cpu time.Duration, err error) {
	worker, err := client.NewWorker(ojs.WithConcurrency(*concurrency), ojs.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return 0, 0, err
	}
	ran := make([]atomic.Int32, *jobs)
	var done atomic.Int64
	began, before := time.Now(), measure.ProcessorTime()
	worker.Register("bench.noop", func(ctx ojs.JobContext) error {
		var number int
		if err := ctx.Job.Args.Decode(&number); err != nil {
			return err
		}
		ran[number].Add(1)
		if done.Add(1) == int64(*jobs) {
			took, cpu = time.Since(began), measure.ProcessorTime()-before
			return worker.Stop()
		}
		return nil
	})
	if err := worker.Start(context.Background()); err != nil {
		return 0, 0, err
	}
	stats, err := client.QueueStats(context.Background(), "default")
	if err != nil {
		return 0, 0, err
	}
	return took, cpu, measure.Delivered(ran, int(stats.Completed))
}
