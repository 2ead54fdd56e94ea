// Package ojstest helps to test programs that use ojs: an engine in memory that remembers what was enqueued, and servers that end with
// their test.
//
//	fake := ojstest.New(t)
//	signUp(fake.Client, "ada@example.com") // the code under test
//	fake.AssertEnqueued("email.send", ojstest.Args("ada@example.com"))
package ojstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/internal/fakes"
)

var engines atomic.Int64

// NewServer starts a server in this process, with a store in memory, and returns its URL. It stops at the end of the test.
func NewServer(t testing.TB) string {
	t.Helper()
	server, err := ojs.StartServer("memory:", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.URL()
}

// Fake is a client with an engine of its own in memory, which remembers what went through it. It is a real engine: unique jobs, delays,
// workflows and workers behave as in production.
type Fake struct {
	// Client is for the code under test.
	Client *ojs.Client

	t    testing.TB
	mu   sync.Mutex
	jobs []ojs.Job
}

// New makes a fake for the length of a test.
func New(t testing.TB) *Fake {
	t.Helper()
	client, err := ojs.NewClient(fmt.Sprintf("memory:ojstest-%d-%d", os.Getpid(), engines.Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	fake := &Fake{Client: client, t: t}
	fakes.Watch(client, fake.remember)
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return fake
}

func (f *Fake) remember(job any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.jobs = append(f.jobs, *job.(*ojs.Job))
}

// Match chooses jobs. A job is as it was sent: middleware has changed it, the defaults of its type are in it, and its
// options are in Raw, under their names on the wire.
type Match func(ojs.Job) bool

// Args chooses jobs with these arguments, compared as JSON.
func Args(args ...any) Match {
	var want ojs.Job
	body, err := json.Marshal(ojs.JobRequest{Type: "x", Args: ojs.Args(args)})
	if err == nil {
		err = json.Unmarshal(body, &want)
	}
	return func(job ojs.Job) bool { return err == nil && bytes.Equal(argsText(job), argsText(want)) }
}

// Queue chooses jobs of a queue.
func Queue(name string) Match {
	return func(job ojs.Job) bool { return job.Queue == name }
}

// Train chooses jobs that name this train.
func Train(id string) Match {
	return func(job ojs.Job) bool { return job.Train != nil && job.Train.ID == id }
}

// argsText are the arguments of a job in one form: members of objects in order, no spaces.
func argsText(job ojs.Job) []byte {
	text, err := json.Marshal(job.Args)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// matching are the jobs of this type (or all, when it is empty) that match.
func matching(jobs []ojs.Job, jobType string, matches []Match) (found []ojs.Job) {
next:
	for _, job := range jobs {
		if jobType != "" && job.Type != jobType {
			continue
		}
		for _, match := range matches {
			if !match(job) {
				continue next
			}
		}
		found = append(found, job)
	}
	return found
}

// Enqueued are the jobs of this type (or of all, when it is empty) that match, oldest first. Jobs that the engine
// refused are not among them.
func (f *Fake) Enqueued(jobType string, matches ...Match) []ojs.Job {
	f.mu.Lock()
	defer f.mu.Unlock()
	return matching(f.jobs, jobType, matches)
}

// AssertEnqueued fails the test unless such a job was enqueued. It returns the jobs.
func (f *Fake) AssertEnqueued(jobType string, matches ...Match) []ojs.Job {
	f.t.Helper()
	found := f.Enqueued(jobType, matches...)
	if len(found) == 0 {
		f.t.Errorf("no '%s' was enqueued that matches; enqueued were: %s", jobType, f.summary())
	}
	return found
}

// AssertNotEnqueued fails the test when such a job was enqueued.
func (f *Fake) AssertNotEnqueued(jobType string, matches ...Match) {
	f.t.Helper()
	if found := f.Enqueued(jobType, matches...); len(found) > 0 {
		f.t.Errorf("expected no '%s', found %d; enqueued were: %s", jobType, len(found), f.summary())
	}
}

// Drain runs the handlers of a worker of this client on everything that is available, jobs enqueued on the way included, and returns how
// many ran. What a handler returns as an error fails the test; call [ojs.Worker.Drain] to get it instead.
func (f *Fake) Drain(worker *ojs.Worker) int {
	f.t.Helper()
	ran, err := worker.Drain(f.t.Context())
	if err != nil {
		f.t.Error(err)
	}
	return ran
}

func (f *Fake) summary() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, job := range f.jobs {
		all = append(all, job.Type+string(argsText(job)))
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}
