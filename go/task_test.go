package ojs_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/ojstest"
)

// What Register says of a type is sent with its jobs, where they do not say otherwise.
func TestDefaultsOfAType(t *testing.T) {
	t.Parallel()
	fake := ojstest.New(t)
	worker, err := fake.Client.NewWorker(ojs.WithLogger(quietLogger))
	must(t, err)
	nothing := func(ojs.JobContext) error { return nil }
	worker.Register("defaults.a", nothing, ojs.WithQueue("mail"), ojs.WithPriority(7), ojs.WithTimeout(30*time.Second), ojs.WithTags("a"),
		ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: 5}), ojs.WithRateLimit(ojs.Obj{"key": "defaults", "concurrency": 5}))
	job, err := fake.Client.Enqueue(t.Context(), "defaults.a", nil)
	must(t, err)
	equal(t, job.Queue, "mail", "queue")
	equal(t, job.Priority, 7, "priority")
	equal(t, job.MaxAttempts, 5, "attempts")
	same(t, job.Tags, []string{"a"}, "tags")
	limit, err := fake.Client.GetRateLimit(t.Context(), "defaults")
	must(t, err)
	equal(t, limit["key"], any("defaults"), "the key of the rate limit")
	recorded := fake.AssertEnqueued("defaults.a", ojstest.Queue("mail"))[0]
	var sent struct{ Options map[string]any }
	must(t, json.Unmarshal(recorded.Raw, &sent))
	equal(t, sent.Options["timeout_ms"], any(30000.0), "the time-out that the fake recorded")
	jobs, err := fake.Client.EnqueueBatch(t.Context(), []ojs.JobRequest{
		{Type: "defaults.a"}, ojs.NewJob("defaults.a", nil, ojs.WithQueue("default"), ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: 2})), {Type: "defaults.b"},
	})
	must(t, err)
	equal(t, jobs[0].Queue, "mail", "queue in a batch")
	equal(t, jobs[1].Queue, "default", "the queue that the job says")
	equal(t, jobs[1].MaxAttempts, 2, "the attempts that the job says")
	equal(t, jobs[1].Priority, 7, "what it does not say")
	equal(t, jobs[2].Queue, "default", "another type")
	zero, err := fake.Client.Enqueue(t.Context(), "defaults.a", nil, ojs.WithPriority(0))
	must(t, err)
	equal(t, zero.Priority, 0, "the priority of zero that the job says")
	status, err := fake.Client.CreateWorkflow(t.Context(), ojs.Chain(ojs.NewJob("defaults.a", nil)))
	must(t, err)
	step, err := fake.Client.GetJob(t.Context(), status.Steps[0].JobID)
	must(t, err)
	equal(t, step.Queue, "mail", "queue in a workflow")

	for text, options := range map[string][]ojs.EnqueueOption{
		"WithID":                   {ojs.WithID("01890a5d-ac96-774b-bcce-b302099a8057")},
		"WithDelay and WithSchedu": {ojs.WithDelay(time.Hour)},
		"WithTimeout must be":      {ojs.WithTimeout(0)},
		"WithMeta":                 {ojs.WithMeta(ojs.Obj{"a": 1})},
		"WithSchema":               {ojs.WithSchema("urn:a")},
		"options.retries":          {ojs.WithOption("retries", 3)},
	} {
		worker, err := fake.Client.NewWorker(ojs.WithLogger(quietLogger))
		must(t, err)
		worker.Register("defaults.c", nothing, options...)
		if err := worker.Start(t.Context()); !errors.Is(err, ojs.ErrValidation) || !strings.Contains(err.Error(), text) {
			t.Fatalf("%v does not say %q", err, text)
		}
	}
}

// Middleware changes what the job itself says; the defaults come afterwards.
func TestMiddlewareWinsOverDefaultsOfAType(t *testing.T) {
	t.Parallel()
	fake := ojstest.New(t)
	worker, err := fake.Client.NewWorker(ojs.WithLogger(quietLogger))
	must(t, err)
	nothing := func(ojs.JobContext) error { return nil }
	worker.Register("defaults.layer", nothing, ojs.WithQueue("mail"), ojs.WithPriority(7))
	layer := func(ctx context.Context, request *ojs.JobRequest, next ojs.EnqueueFunc) (*ojs.Job, error) {
		equal(t, request.Queue, "", "the queue before the defaults")
		request.Queue = "default"
		return next(ctx, request)
	}
	must(t, fake.Client.UseNamed("layer", layer))
	job, err := fake.Client.Enqueue(t.Context(), "defaults.layer", nil)
	must(t, err)
	equal(t, job.Queue, "default", "queue")
	equal(t, job.Priority, 7, "priority")
}

// A transport of the program's own gets the defaults too.
func TestDefaultsOverATransport(t *testing.T) {
	t.Parallel()
	sent := make(chan string, 1)
	client, err := ojs.NewClient("", ojs.WithTransport(toEveryone(func(body []byte) { sent <- string(body) })))
	must(t, err)
	defer client.Close()
	worker, err := client.NewWorker(ojs.WithLogger(quietLogger))
	must(t, err)
	worker.Register("defaults.far", func(ojs.JobContext) error { return nil }, ojs.WithQueue("mail"))
	_, err = client.Enqueue(t.Context(), "defaults.far", nil)
	must(t, err)
	if body := <-sent; !strings.Contains(body, `"queue":"mail"`) {
		t.Error(body)
	}
}

// toEveryone is a transport that shows what it gets, and answers with a job.
type toEveryone func(body []byte)

func (show toEveryone) Request(_ context.Context, _, _ string, body []byte) (int, []byte, error) {
	show(body)
	return 201, []byte(`{"job":{"id":"01890a5d-ac96-774b-bcce-b302099a8057","type":"a","args":[]}}`), nil
}

func TestATimeWithoutAValueIsRefused(t *testing.T) {
	t.Parallel()
	fake := ojstest.New(t)
	for name, option := range map[string]ojs.EnqueueOption{
		"WithScheduledAt": ojs.WithScheduledAt(time.Time{}), "WithExpiresAt": ojs.WithExpiresAt(time.Time{}),
	} {
		_, err := fake.Client.Enqueue(t.Context(), "times.none", nil, option)
		if !errors.Is(err, ojs.ErrValidation) || !strings.Contains(err.Error(), name+" got a time.Time without a value") {
			t.Errorf("%v does not name %s", err, name)
		}
	}
	fake.AssertNotEnqueued("times.none")
}

// A worker that never gets the jobs of its own type says so.
func TestAWorkerWarnsOfQueuesThatItDoesNotAskFor(t *testing.T) {
	t.Parallel()
	client, err := ojs.NewClient("memory:")
	must(t, err)
	defer client.Close()
	for queue, warned := range map[string]bool{"default": true, "mail": false} {
		written := &book{}
		worker, err := client.NewWorker(ojs.WithQueues(queue), ojs.WithLogger(slog.New(slog.NewTextHandler(written, nil))))
		must(t, err)
		worker.Register("defaults.elsewhere", func(ojs.JobContext) error { return nil }, ojs.WithQueue("mail"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must(t, worker.Start(ctx))
		equal(t, strings.Contains(written.String(), "defaults.elsewhere"), warned, "warned")
	}
}

type letter struct {
	To   string
	When time.Time
}

func TestTask(t *testing.T) {
	t.Parallel()
	fake := ojstest.New(t)
	sendLetter := ojs.NewTask[letter]("task.letter", ojs.WithQueue("mail"))
	addAll := ojs.NewTask[[]int]("task.sum")
	worker, err := fake.Client.NewWorker(ojs.WithQueues("mail", "default"), ojs.WithLogger(quietLogger))
	must(t, err)
	var got letter
	var sum int
	sendLetter.Register(worker, func(_ ojs.JobContext, args letter) error { got = args; return nil })
	addAll.Register(worker, func(_ ojs.JobContext, numbers []int) error {
		for _, number := range numbers {
			sum += number
		}
		return nil
	})
	given := letter{"ada@example.com", time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)}
	job, err := sendLetter.Enqueue(t.Context(), fake.Client, given, ojs.WithPriority(3))
	must(t, err)
	equal(t, job.Queue, "mail", "queue")
	equal(t, job.Priority, 3, "priority")
	_, err = fake.Client.EnqueueBatch(t.Context(), []ojs.JobRequest{addAll.Job([]int{1, 2, 3})})
	must(t, err)
	equal(t, fake.Drain(worker), 2, "jobs")
	equal(t, got, given, "arguments")
	equal(t, sum, 6, "sum")
}
