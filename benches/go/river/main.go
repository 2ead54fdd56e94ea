// The rival: River on PostgreSQL, set as its own benchmark sets it: 2,000 workers, fetching every 2 ms. Prints one line of JSON.
//
//	cd benches/go && go run ./river -url postgres://… -jobs 20000 [-payload 150] [-workers 2000]
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/openjobspec/ojs-go/benches/measure"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

var (
	url     = flag.String("url", "", "the database")
	jobs    = flag.Int("jobs", 20_000, "jobs in a run")
	payload = flag.Int("payload", 150, "bytes of text in a job")
	workers = flag.Int("workers", 2000, "jobs at a time")
)

type noop struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
}

func (noop) Kind() string { return "noop" }

// worker does what the handler beside it does.
type worker struct {
	river.WorkerDefaults[noop]
	ran  []atomic.Int32
	done atomic.Int64
	over chan struct{}
}

func (w *worker) Work(_ context.Context, job *river.Job[noop]) error {
	w.ran[job.Args.Number].Add(1)
	if w.done.Add(1) == int64(len(w.ran)) {
		close(w.over)
	}
	return nil
}

func main() {
	flag.Parse()
	ctx := context.Background()
	config, err := pgxpool.ParseConfig(*url)
	measure.Check(err)
	config.MaxConns = 50
	pool, err := pgxpool.NewWithConfig(ctx, config)
	measure.Check(err)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	measure.Check(err)
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	measure.Check(err)
	handler := &worker{ran: make([]atomic.Int32, *jobs), over: make(chan struct{})}
	registry := river.NewWorkers()
	river.AddWorker(registry, handler)
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		FetchCooldown:     2 * time.Millisecond,
		FetchPollInterval: 20 * time.Millisecond,
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: *workers}},
		Workers:           registry,
		Logger:            slog.New(slog.DiscardHandler),
	})
	measure.Check(err)
	measure.Check(fill(ctx, client))

	began, before := time.Now(), measure.ProcessorTime()
	measure.Check(client.Start(ctx))
	<-handler.over
	took, cpu := time.Since(began), measure.ProcessorTime()-before
	measure.Check(client.Stop(ctx))
	var completed int
	measure.Check(pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state = 'completed'").Scan(&completed))
	measure.Check(measure.Delivered(handler.ran, completed))
	pool.Close()
	measure.Print(*jobs, took, cpu, fmt.Sprintf("%d workers, 50 connections, fetch every 2 ms", *workers))
}

func fill(ctx context.Context, client *river.Client[pgx.Tx]) error {
	text := strings.Repeat("x", *payload)
	for sent := 0; sent < *jobs; {
		batch := make([]river.InsertManyParams, min(1000, *jobs-sent))
		for i := range batch {
			batch[i] = river.InsertManyParams{Args: noop{Number: sent, Text: text}}
			sent++
		}
		if _, err := client.InsertManyFast(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}
