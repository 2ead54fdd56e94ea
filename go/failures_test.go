package ojs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

// loud is a worker as a new user writes it: no logger, no option about logs. It runs in a process of its own, whose stderr a test reads.
func loud() int {
	client, err := ojs.NewClient(os.Getenv("OJS_TEST_STORE"))
	if err != nil {
		panic(err)
	}
	defer client.Close()
	// The lease is short, for one of the jobs loses it.
	worker, err := client.NewWorker(ojs.WithQueues(os.Getenv("OJS_TEST_QUEUE")), ojs.WithVisibilityTimeout(time.Second),
		ojs.WithHeartbeatInterval(100*time.Millisecond))
	if err != nil {
		panic(err)
	}
	worker.Register("mail.fails", func(ojs.JobContext) error { return errors.New("no mail today") })
	worker.Register("mail.panics", func(ojs.JobContext) error { panic("out of paper") })
	worker.Register("mail.waits", func(ctx ojs.JobContext) error {
		fmt.Println("waiting")
		<-ctx.Done()
		return ctx.Err()
	})
	if err := worker.Run(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// said are the lines that a process writes.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) read(from io.Reader) {
	for scanner := bufio.NewScanner(from); scanner.Scan(); {
		s.mu.Lock()
		s.lines = append(s.lines, scanner.Text())
		s.mu.Unlock()
	}
}

// has says whether a line has all these texts.
func (s *said) has(texts ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
next:
	for _, line := range s.lines {
		for _, text := range texts {
			if !strings.Contains(line, text) {
				continue next
			}
		}
		return true
	}
	return false
}

func (s *said) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// Failures are seen without any set-up: a failed attempt, the last one, a misspelt type, a time-out, a lost lease.
func TestFailuresAreOnStderr(t *testing.T) {
	t.Parallel()
	client, err := ojs.NewClient(serverURL)
	must(t, err)
	defer client.Close()
	queue := fmt.Sprintf("loud-%d-%d", os.Getpid(), names.Add(1))
	enqueue := func(jobType string, options ...ojs.EnqueueOption) *ojs.Job {
		t.Helper()
		job, err := client.Enqueue(t.Context(), jobType, nil, append(options, ojs.WithQueue(queue))...)
		must(t, err)
		return job
	}
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "OJS_TEST_ROLE=loud", "OJS_TEST_STORE="+serverURL, "OJS_TEST_QUEUE="+queue)
	errors, err := command.StderrPipe()
	must(t, err)
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	overdue := time.AfterFunc(5*patience, func() { _ = command.Process.Kill() })
	defer overdue.Stop()
	var stderr, stdout said
	var reading sync.WaitGroup
	reading.Add(2)
	go func() { defer reading.Done(); stderr.read(errors) }()
	go func() { defer reading.Done(); stdout.read(output) }()
	defer func() {
		if t.Failed() {
			_ = command.Process.Kill()
			t.Logf("stderr:\n%s\nstdout:\n%s", stderr.all(), stdout.all())
		}
	}()
	seen := func(what string, texts ...string) {
		t.Helper()
		until(t, what+" on stderr", func() bool { return stderr.has(texts...) })
	}

	twice := ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: 2, InitialInterval: time.Millisecond, Jitter: ojs.Bool(false)})
	failing := enqueue("mail.fails", twice)
	seen("the first attempt", "WARN", "job failed", "mail.fails", failing.ID, "1 of 2", "no mail today")
	seen("the last attempt", "ERROR", "for good", "mail.fails", failing.ID, "2 of 2", "no mail today")
	panicking := enqueue("mail.panics", once)
	seen("a panic", "ERROR", "mail.panics", panicking.ID, "out of paper")
	seen("its trace", "failures_test.go")
	misspelt := enqueue("mail.fials")
	seen("a misspelt type", "ERROR", "mail.fials", misspelt.ID, "no_handler")
	slow := enqueue("mail.waits", once, ojs.WithTimeout(100*time.Millisecond))
	seen("a time-out", "ERROR", "mail.waits", slow.ID, "timeout")

	held := enqueue("mail.waits")
	until(t, "the job is held", func() bool {
		job, err := client.GetJob(t.Context(), held.ID)
		must(t, err)
		return job.State == ojs.Active && stdout.has("waiting")
	})
	// A process that is stopped is silent: the server gives its job to somebody else.
	must(t, command.Process.Signal(syscall.SIGSTOP))
	until(t, "somebody else has the job", func() bool {
		var answer struct{ Jobs []ojs.Job }
		got, err := client.Request(t.Context(), "POST", "/workers/fetch", ojs.Obj{"queues": []string{queue}, "count": 1, "worker_id": "thief"})
		must(t, err)
		mustDecode(t, got, &answer)
		return len(answer.Jobs) == 1 && answer.Jobs[0].ID == held.ID
	})
	must(t, command.Process.Signal(syscall.SIGCONT))
	seen("a lost lease", "WARN", "mail.waits", held.ID, "lease_lost")

	last := enqueue("mail.fails", once)
	until(t, "the last job is over", func() bool {
		job, err := client.GetJob(t.Context(), last.ID)
		must(t, err)
		return job.State == ojs.Discarded
	})
	// What was said before the end is written before the end.
	must(t, command.Process.Signal(syscall.SIGTERM))
	reading.Wait()
	must(t, command.Wait())
	if !stderr.has("ERROR", last.ID) {
		t.Fatalf("nothing of the last failure:\n%s", stderr.all())
	}
}
