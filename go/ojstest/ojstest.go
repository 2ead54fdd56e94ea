// Package ojstest helps to test programs that use ojs: an engine in memory that remembers what was enqueued, and servers that end with
// their test.
//
//	fake := ojstest.New(t)
//	signUp(fake.Client, "ada@example.com") // the code under test
//	fake.AssertEnqueued("email.send", ojstest.Args("ada@example.com"))
package ojstest

import (
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

// Match is what a test asks for besides the type of a job: a member of it, or an option.
type Match struct {
	name  string
	value any
}

// Args chooses jobs with these arguments, compared as JSON.
func Args(args ...any) Match { return Match{"args", ojs.Args(args)} }

// Meta chooses jobs whose metadata has these members. It may have others.
func Meta(meta ojs.Obj) Match { return Match{"meta", meta} }

// Queue chooses jobs of a queue.
func Queue(name string) Match { return Option("queue", name) }

// Train chooses jobs that name this train.
func Train(id string) Match { return Option("train", id) }

// Option chooses jobs with this option, under its name on the wire, as in [ojs.WithOption]: Option("timeout", "5m").
// An option that does not exist fails the test.
func Option(name string, value any) Match { return Match{name, value} }

// find are the jobs of this type (of all, when it is empty) that match. The core finds them, as it does for the fakes
// of all languages.
func find(t testing.TB, jobs []ojs.Job, jobType string, matches []Match) (found []ojs.Job) {
	t.Helper()
	wanted := map[string]any{}
	if jobType != "" {
		wanted["type"] = jobType
	}
	for _, match := range matches {
		if _, twice := wanted[match.name]; twice {
			t.Fatalf("the test asks twice for '%s'", match.name)
		}
		wanted[match.name] = match.value
	}
	recorded := make([]json.RawMessage, len(jobs))
	for i, job := range jobs {
		recorded[i] = job.Raw
	}
	places, err := fakes.Matching(recorded, wanted)
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range places {
		found = append(found, jobs[place])
	}
	return found
}

// asked says what a test asks for.
func asked(jobType string, matches []Match) string {
	what, before := "job", " with "
	if jobType != "" {
		what = "'" + jobType + "'"
	}
	for _, match := range matches {
		what += before + match.name + " " + text(match.value)
		before = ", "
	}
	return what
}

// text is a value as JSON.
func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// Enqueued are the jobs of this type (or of all, when it is empty) that match, oldest first. Jobs that the engine
// refused are not among them.
func (f *Fake) Enqueued(jobType string, matches ...Match) []ojs.Job {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	return find(f.t, f.jobs, jobType, matches)
}

// AssertEnqueued fails the test unless such a job was enqueued. It returns the jobs.
func (f *Fake) AssertEnqueued(jobType string, matches ...Match) []ojs.Job {
	f.t.Helper()
	found := f.Enqueued(jobType, matches...)
	if len(found) == 0 {
		f.t.Errorf("no %s was enqueued; enqueued were: %s", asked(jobType, matches), f.summary())
	}
	return found
}

// AssertNotEnqueued fails the test when such a job was enqueued.
func (f *Fake) AssertNotEnqueued(jobType string, matches ...Match) {
	f.t.Helper()
	if found := f.Enqueued(jobType, matches...); len(found) > 0 {
		f.t.Errorf("expected no %s, found %d; enqueued were: %s", asked(jobType, matches), len(found), f.summary())
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
		all = append(all, job.Type+text(job.Args))
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}
