package ojs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

// patience is the longest a test waits for something that takes milliseconds. Reached only by failures.
const patience = 60 * time.Second

// serverURL is a real server in a process of its own: $OJS_BIN, else the one built in this repository, else one in this process.
var serverURL string

// serverInProcess: there is no binary.
var serverInProcess bool

func TestMain(m *testing.M) {
	switch role := os.Getenv("OJS_TEST_ROLE"); role {
	case "":
	case "loud":
		os.Exit(loud())
	default:
		os.Exit(program(role))
	}
	os.Exit(func() int {
		stop, err := startServer()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer stop()
		return m.Run()
	}())
}

func startServer() (stop func(), err error) {
	binary := os.Getenv("OJS_BIN")
	if binary == "" {
		target := os.Getenv("CARGO_TARGET_DIR")
		if target == "" {
			target = filepath.Join("..", "target")
		}
		binary = filepath.Join(target, "release", "ojs")
	}
	if _, err := os.Stat(binary); err != nil {
		server, err := ojs.StartServer("memory:", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		serverURL, serverInProcess = server.URL(), true
		return func() { _ = server.Close() }, nil
	}
	command := exec.Command(binary, "server", "--store", "memory:", "--listen", "127.0.0.1:0", "--log-level", "error")
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, url, found := strings.Cut(line, "listening on ")
	if err != nil || !found {
		return nil, fmt.Errorf("the server said %q: %v", line, err)
	}
	serverURL = strings.Fields(url)[0]
	return func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
	}, nil
}

var names atomic.Int64

// world is a client with a queue of its own.
type world struct {
	*testing.T
	ctx    context.Context
	client *ojs.Client
	queue  string
}

// onEveryConnection runs a test against an engine in this process and against a server over HTTP.
func onEveryConnection(t *testing.T, test func(w world)) {
	t.Parallel()
	for _, kind := range []string{"memory", "http"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			url := fmt.Sprintf("memory:go-%d", names.Add(1))
			if kind == "http" {
				url = serverURL
			}
			client, err := ojs.NewClient(url)
			must(t, err)
			// For the whole test, which waits more than once.
			ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
			t.Cleanup(func() {
				cancel()
				must(t, client.Close())
			})
			test(world{t, ctx, client, fmt.Sprintf("queue-%d-%d", os.Getpid(), names.Add(1))})
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%+v", err)
	}
}

func mustDecode(t testing.TB, data []byte, into any) {
	t.Helper()
	must(t, json.Unmarshal(data, into))
}

// enqueue sends a job to the queue of this world.
func (w world) enqueue(jobType string, args any, options ...ojs.EnqueueOption) *ojs.Job {
	w.Helper()
	job, err := w.client.Enqueue(w.ctx, jobType, args, append(options, ojs.WithQueue(w.queue))...)
	must(w, err)
	return job
}

// worker makes one; start runs it until the test is over.
func (w world) worker(options ...ojs.WorkerOption) *ojs.Worker {
	w.Helper()
	worker, err := w.client.NewWorker(append([]ojs.WorkerOption{ojs.WithQueues(w.queue), ojs.WithLogger(quietLogger)}, options...)...)
	must(w, err)
	return worker
}

func (w world) start(worker *ojs.Worker) {
	w.Helper()
	ended := make(chan error, 1)
	go func() { ended <- worker.Start(context.Background()) }()
	w.until("the worker runs", func() bool { return worker.State() != ojs.StateNew || len(ended) > 0 })
	w.Cleanup(func() {
		if worker.State() != ojs.StateNew {
			must(w, worker.Shutdown(context.Background()))
		}
		must(w, <-ended)
	})
}

// inState waits until the job is in one of these states.
func (w world) inState(job *ojs.Job, states ...ojs.JobState) (found *ojs.Job) {
	w.Helper()
	w.until(fmt.Sprint(job.Type, " is ", states), func() bool {
		var err error
		found, err = w.client.GetJob(w.ctx, job.ID)
		must(w, err)
		return slices.Contains(states, found.State)
	})
	return found
}

func (w world) until(what string, probe func() bool) {
	w.Helper()
	until(w, what, probe)
}

func until(t testing.TB, what string, probe func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !probe(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<18)
			t.Fatalf("%s: not within %s\n%s", what, patience, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// receive waits for something on a channel.
func receive[T any](t testing.TB, from <-chan T, what string) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(patience):
		t.Fatalf("%s: not within %s", what, patience)
		panic("unreachable")
	}
}

func equal[T comparable](t testing.TB, got, want T, what string) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// same compares by JSON: numbers by value, members in any order.
func same(t testing.TB, got, want any, what string) {
	t.Helper()
	plain := func(v any) string {
		data, err := json.Marshal(v)
		must(t, err)
		var decoded any
		must(t, json.Unmarshal(data, &decoded))
		data, err = json.Marshal(decoded)
		must(t, err)
		return string(data)
	}
	if g, w := plain(got), plain(want); g != w {
		t.Fatalf("%s:\n got %s\nwant %s", what, g, w)
	}
}
