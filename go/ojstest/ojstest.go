// Package ojstest helps to test programs that use ojs: an engine in memory that remembers what was enqueued, and servers that end with
// their test.
//
//	fake := ojstest.New(t)
//	signUp(fake.Client, "ada@example.com") // the code under test
//	fake.AssertEnqueued("email.send", ojstest.Args("ada@example.com"))
package ojstest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/openjobspec/ojs-go"
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

	t        testing.TB
	mu       sync.Mutex
	requests []ojs.JobRequest
}

// New makes a fake for the length of a test.
func New(t testing.TB) *Fake {
	t.Helper()
	client, err := ojs.NewClient(fmt.Sprintf("memory:ojstest-%d-%d", os.Getpid(), engines.Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	fake := &Fake{Client: client, t: t}
	// The outermost layer: what it sees after next is what the others have made of the request.
	if err := client.UseNamed("ojstest", fake.remember); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return fake
}

func (f *Fake) remember(ctx context.Context, request *ojs.JobRequest, next ojs.EnqueueFunc) (*ojs.Job, error) {
	job, err := next(ctx, request)
	if err == nil && job != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.requests = append(f.requests, *request)
	}
	return job, err
}

// Match chooses requests.
type Match func(ojs.JobRequest) bool

// Args chooses requests with these arguments, compared as JSON.
func Args(args ...any) Match {
	want := wireArgs(ojs.JobRequest{Type: "x", Args: ojs.Args(args)})
	return func(request ojs.JobRequest) bool { return bytes.Equal(wireArgs(request), want) }
}

// Queue chooses requests for a queue.
func Queue(name string) Match {
	return func(request ojs.JobRequest) bool {
		return request.Queue == name || request.Queue == "" && name == "default"
	}
}

// Train chooses requests that name this train.
func Train(id string) Match {
	return func(request ojs.JobRequest) bool { return request.Train != nil && request.Train.ID == id }
}

// wireArgs are the arguments of a request in one form: members of objects in order, no spaces.
func wireArgs(request ojs.JobRequest) []byte {
	body, err := json.Marshal(request)
	if err != nil {
		return []byte(err.Error())
	}
	var wire struct{ Args any }
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&wire); err != nil {
		return []byte(err.Error())
	}
	args, _ := json.Marshal(wire.Args)
	return args
}

// Enqueued are the requests of this type (or of all, when it is empty) that match, oldest first.
func (f *Fake) Enqueued(jobType string, matches ...Match) (found []ojs.JobRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
next:
	for _, request := range f.requests {
		if jobType != "" && request.Type != jobType {
			continue
		}
		for _, match := range matches {
			if !match(request) {
				continue next
			}
		}
		found = append(found, request)
	}
	return found
}

// AssertEnqueued fails the test unless such a job was enqueued. It returns the requests.
func (f *Fake) AssertEnqueued(jobType string, matches ...Match) []ojs.JobRequest {
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
	for _, request := range f.requests {
		all = append(all, request.Type+string(wireArgs(request)))
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}
