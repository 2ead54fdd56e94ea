// Handlers that do nothing, in one process: embedded in memory, embedded on SQLite, and over HTTP on a server of its own.
//
//	scripts/go.sh && make build     the library and the server
//	cd benches/go && go run . [-jobs 100000] [-runs 5] [-concurrency 100]
//
// The jobs are enqueued before the clock starts; the time is from the start of the worker to the last job done. Every job must have run
// exactly once, or there is no figure.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openjobspec/ojs-go"
)

var (
	jobs        = flag.Int("jobs", 100_000, "jobs in a run")
	runs        = flag.Int("runs", 5, "runs; the median counts")
	concurrency = flag.Int("concurrency", 100, "handlers at a time")
	binary      = flag.String("ojs", "../../target/release/ojs", "the server")
)

func main() {
	flag.Parse()
	fmt.Printf("%s, %d processors, %d jobs, concurrency %d\n", runtime.Version(), runtime.NumCPU(), *jobs, *concurrency)
	for _, kind := range []string{"memory", "sqlite", "http, memory", "http, sqlite"} {
		var rates []float64
		for range *runs {
			rate, err := once(kind)
			if err != nil {
				log.Fatalf("%s: %v", kind, err)
			}
			rates = append(rates, rate)
		}
		slices.Sort(rates)
		fmt.Printf("%-13s %8.0f jobs/s (%.0f to %.0f)\n", kind, rates[len(rates)/2], rates[0], rates[len(rates)-1])
	}
}

func once(kind string) (rate float64, err error) {
	folder, err := os.MkdirTemp("", "ojs-bench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	url := "memory:"
	if strings.HasSuffix(kind, "sqlite") {
		url = "sqlite:" + filepath.Join(folder, "jobs.db")
	}
	if strings.HasPrefix(kind, "http") {
		stop, at, err := serve(url)
		if err != nil {
			return 0, err
		}
		defer stop()
		url = at
	}
	client, err := ojs.NewClient(url)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	return work(client)
}

func serve(store string) (stop func(), url string, err error) {
	server := exec.Command(*binary, "server", "--store", store, "--listen", "127.0.0.1:0", "--log-level", "error")
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		return nil, "", err
	}
	stop = func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !found {
		stop()
		return nil, "", fmt.Errorf("the server said %q", line)
	}
	return stop, url, nil
}

func work(client *ojs.Client) (rate float64, err error) {
	ctx := context.Background()
	for sent := 0; sent < *jobs; {
		batch := make([]ojs.JobRequest, min(1000, *jobs-sent))
		for i := range batch {
			batch[i] = ojs.NewJob("noop", ojs.Args{sent})
			sent++
		}
		if _, err := client.EnqueueBatch(ctx, batch); err != nil {
			return 0, err
		}
	}
	worker, err := client.NewWorker(ojs.WithConcurrency(*concurrency), ojs.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return 0, err
	}
	ran := make([]atomic.Int32, *jobs)
	var done atomic.Int64
	var took time.Duration
	var began time.Time
	worker.Register("noop", func(ctx ojs.JobContext) error {
		var number int
		if err := ctx.Job.Args.Decode(&number); err != nil {
			return err
		}
		ran[number].Add(1)
		if done.Add(1) == int64(*jobs) {
			took = time.Since(began)
			return worker.Stop()
		}
		return nil
	})
	began = time.Now()
	if err := worker.Start(ctx); err != nil {
		return 0, err
	}
	for number := range ran {
		if times := ran[number].Load(); times != 1 {
			return 0, fmt.Errorf("job %d ran %d times", number, times)
		}
	}
	return float64(*jobs) / took.Seconds(), nil
}
