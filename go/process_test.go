package ojs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

// program is what this test program does when a test starts it as a process of its own.
func program(role string) int {
	client, err := ojs.NewClient(os.Getenv("OJS_TEST_STORE"))
	if err != nil {
		panic(err)
	}
	defer client.Close()
	worker, err := client.NewWorker(ojs.WithLogger(quietLogger))
	if err != nil {
		panic(err)
	}
	worker.Register("job", func(ctx ojs.JobContext) error {
		fmt.Println("began")
		switch role {
		case "finishes":
			time.Sleep(100 * time.Millisecond)
			ctx.SetResult("finished")
		case "waits":
			for worker.State() != ojs.StateTerminate {
				time.Sleep(time.Millisecond)
			}
			fmt.Println("draining")
			<-ctx.Done()
			return ctx.Err()
		case "dies":
			os.Exit(3) // As log.Fatal does: nothing is cleaned up.
		}
		return nil
	})
	if role == "exits" {
		// main returns while the worker runs: no thread of the engine may be in the way.
		go func() { _ = worker.Run(context.Background()) }()
		for worker.State() != ojs.StateRunning {
			time.Sleep(time.Millisecond)
		}
		return 0
	}
	if err := worker.Run(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("over")
	return 0
}

func TestSignalsAndExits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		role    string
		signals int // SIGTERM, after the handler began.
		code    int
		state   ojs.JobState
	}{
		{"finishes", 1, 0, ojs.Completed}, // Graceful.
		{"waits", 2, 0, ojs.Available},    // The second signal ends the grace period; the job goes back.
		{"dies", 0, 3, ojs.Active},        // It waits for the end of its lease.
		{"exits", 0, 0, ojs.Available},
	} {
		t.Run(test.role, func(t *testing.T) {
			t.Parallel()
			store := "sqlite:" + filepath.Join(t.TempDir(), "jobs.db")
			var job *ojs.Job
			with(t, store, func(client *ojs.Client) {
				var err error
				job, err = client.Enqueue(t.Context(), "job", nil)
				must(t, err)
				if test.role == "exits" {
					must(t, client.PauseQueue(t.Context(), "default"))
				}
			})
			command := exec.Command(os.Args[0])
			command.Env = append(os.Environ(), "OJS_TEST_ROLE="+test.role, "OJS_TEST_STORE="+store)
			out, err := command.StdoutPipe()
			must(t, err)
			must(t, command.Start())
			overdue := time.AfterFunc(patience, func() { _ = command.Process.Kill() })
			defer overdue.Stop()
			lines := bufio.NewScanner(out)
			if test.role != "exits" && (!lines.Scan() || lines.Text() != "began") {
				t.Fatalf("it said %q", lines.Text())
			}
			for n := range test.signals {
				// Two of the same kind at once are one: the second waits until the first has been taken.
				if n > 0 && (!lines.Scan() || lines.Text() != "draining") {
					t.Fatalf("it said %q", lines.Text())
				}
				must(t, command.Process.Signal(syscall.SIGTERM))
			}
			for lines.Scan() {
				t.Log(lines.Text())
			}
			err = command.Wait()
			equal(t, command.ProcessState.ExitCode(), test.code, fmt.Sprint("exit status, ", err))
			with(t, store, func(client *ojs.Client) {
				found, err := client.GetJob(t.Context(), job.ID)
				must(t, err)
				equal(t, found.State, test.state, "state of its job")
			})
		})
	}
}

func with(t *testing.T, store string, use func(*ojs.Client)) {
	t.Helper()
	client, err := ojs.NewClient(store)
	must(t, err)
	use(client)
	must(t, client.Close())
}

// Nothing is left behind: no goroutine, and no call under way keeps a client from closing.
func TestNoLeakedGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		client, err := ojs.NewClient(fmt.Sprintf("memory:go-%d", names.Add(1)))
		must(t, err)
		worker, err := client.NewWorker()
		must(t, err)
		done := make(chan struct{}, 8)
		worker.Register("a", func(ojs.JobContext) error { done <- struct{}{}; return nil })
		ended := make(chan error, 1)
		go func() { ended <- worker.Start(context.Background()) }()
		for range 8 {
			_, err := client.Enqueue(t.Context(), "a", nil)
			must(t, err)
		}
		for range 8 {
			receive(t, done, "a job")
		}
		until(t, "it was started", func() bool { return worker.State() == ojs.StateRunning })
		must(t, worker.Shutdown(t.Context()))
		must(t, receive(t, ended, "the end"))
		// A call that is given up, and one after the end.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := client.GetJob(ctx, "x"); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		must(t, client.Close())
		must(t, client.Close())
		if _, err := client.GetJob(t.Context(), "x"); !errors.Is(err, ojs.ErrClosed) {
			t.Fatal(err)
		}
		if worker, err := client.NewWorker(); err == nil {
			worker.Register("a", func(ojs.JobContext) error { return nil })
			if err := worker.Start(t.Context()); !errors.Is(err, ojs.ErrClosed) {
				t.Fatal(err)
			}
		}
	}
	until(t, fmt.Sprint("there are again ", before, " goroutines"), func() bool { return runtime.NumGoroutine() <= before })
}

// The collector runs all the time while jobs with big arguments go in and out; clients are forgotten unclosed.
func TestGarbageCollection(t *testing.T) {
	stop := make(chan struct{})
	var collector sync.WaitGroup
	collector.Add(1)
	go func() {
		defer collector.Done()
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	defer collector.Wait()
	defer close(stop)
	for range 20 {
		_, err := ojs.NewClient("memory:", ojs.WithAuthToken(strings.Repeat("t", 100)), ojs.WithHeader("x-a", strings.Repeat("b", 100)))
		must(t, err)
	}
	client, err := ojs.NewClient(fmt.Sprintf("memory:go-%d", names.Add(1)))
	must(t, err)
	defer client.Close()
	worker, err := client.NewWorker(ojs.WithConcurrency(4), ojs.WithLabels("a", strings.Repeat("l", 50)))
	must(t, err)
	big := strings.Repeat("馬", 20_000)
	worker.Register("echo", func(ctx ojs.JobContext) error {
		if ctx.Job.Args[0] != big {
			return ojs.NonRetryable(errors.New("damaged"))
		}
		ctx.SetResult(ctx.Job.Args[0])
		return nil
	})
	ended := make(chan error, 1)
	go func() { ended <- worker.Start(t.Context()) }()
	var jobs []*ojs.Job
	for range 60 {
		job, err := client.Enqueue(t.Context(), "echo", ojs.Args{big})
		must(t, err)
		jobs = append(jobs, job)
	}
	for _, job := range jobs {
		result, err := client.WaitForResult(t.Context(), job.ID)
		must(t, err)
		var text string
		must(t, result.Decode(&text))
		if text != big {
			t.Fatal("damaged on the way")
		}
	}
	must(t, worker.Shutdown(t.Context()))
	must(t, receive(t, ended, "the end"))
}
