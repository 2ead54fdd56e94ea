package ojs_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

func TestResultsAndEvents(t *testing.T) {
	onEveryConnection(t, func(w world) {
		heard := make(chan ojs.Event, 16)
		ctx, cancel := context.WithCancel(w.ctx)
		over := make(chan error, 1)
		go func() {
			var last error
			for event, err := range w.client.Events(ctx, ojs.EventFilter{Types: []string{"job.*"}, Queues: []string{w.queue}, After: ojs.Oldest}) {
				if last = err; err == nil {
					heard <- event
				}
			}
			over <- last
		}()
		worker := w.worker()
		goOn := make(chan struct{})
		worker.Register("a", func(ctx ojs.JobContext) error { <-goOn; ctx.SetResult(42); return nil })
		w.start(worker)
		job := w.enqueue("a", nil)
		waited := make(chan int, 1)
		go func() {
			result, err := w.client.WaitForResult(w.ctx, job.ID)
			must(w, err)
			var number int
			must(w, result.Decode(&number))
			waited <- number
		}()
		short, end := context.WithTimeout(w.ctx, 20*time.Millisecond)
		defer end()
		if _, err := w.client.WaitForResult(short, job.ID); !errors.Is(err, context.DeadlineExceeded) {
			w.Fatalf("%v", err)
		}
		close(goOn)
		equal(w, receive(w, waited, "the result"), 42, "result")
		result, err := w.client.Result(w.ctx, job.ID)
		must(w, err)
		equal(w, result.State, ojs.Completed, "state")
		results, err := w.client.Results(w.ctx, []string{job.ID, "01900000-0000-7000-8000-000000000000"})
		must(w, err)
		equal(w, len(results) == 2 && results[0] != nil && results[1] == nil, true, "results")
		for {
			event := receive(w, heard, "the end of the job")
			equal(w, event.Subject, job.ID, "subject")
			if event.Type == "job.completed" {
				break
			}
		}
		cancel()
		equal(w, receive(w, over, "the end of the events"), error(context.Canceled), "the last error")
	})
}

func TestWorkflows(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		worker.Register("*", func(ctx ojs.JobContext) error {
			ctx.SetResult(ojs.Obj{"parents": len(ctx.Job.ParentResults), "workflow": ctx.Job.WorkflowID != ""})
			return nil
		})
		w.start(worker)
		job := func(jobType string) ojs.JobRequest { return ojs.NewJob(jobType, nil, ojs.WithQueue(w.queue)) }
		for name, workflow := range map[string]ojs.Workflow{
			"chain":  ojs.Chain(job("one"), job("two")).Named("nightly"),
			"nested": ojs.Chain(job("one"), ojs.Group(job("a"), job("b")), job("three")),
			"group":  ojs.Group(job("a"), job("b")),
			"graph":  ojs.Graph(ojs.Node{ID: "a", Job: job("first")}, ojs.Node{ID: "b", Job: job("second"), After: []string{"a"}}).Named("diamond"),
			"batch":  ojs.Batch([]ojs.Step{job("a"), job("b")}, ojs.Callbacks{OnComplete: job("report"), OnFailure: job("alert")}),
		} {
			started, err := w.client.CreateWorkflow(w.ctx, workflow)
			must(w, err)
			var status *ojs.WorkflowStatus
			w.until(name+" is completed", func() bool {
				status, err = w.client.GetWorkflow(w.ctx, started.ID)
				must(w, err)
				return status.State == "completed"
			})
			if name == "chain" {
				last, err := w.client.GetJob(w.ctx, status.Steps[1].JobID)
				must(w, err)
				same(w, last.Result, ojs.Obj{"parents": 1, "workflow": true}, "what the second step saw")
			}
		}
		waiting, err := w.client.CreateWorkflow(w.ctx, ojs.Chain(ojs.NewJob("x", nil, ojs.WithQueue(w.queue+"-nobody")), job("y")))
		must(w, err)
		cancelled, err := w.client.CancelWorkflow(w.ctx, waiting.ID)
		must(w, err)
		equal(w, cancelled.State, "cancelled", "state")
	})
}

func TestDrain(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		worker.Register("parent", func(ctx ojs.JobContext) error {
			_, err := w.client.Enqueue(ctx, "child", nil, ojs.WithQueue(w.queue))
			return err
		})
		worker.Register("child", func(ctx ojs.JobContext) error { ctx.SetResult(1); return ctx.Heartbeat() })
		worker.Register("bad", func(ojs.JobContext) error { return &cardDeclined{"7"} })
		worker.Register("later", func(ojs.JobContext) error { return ojs.Snooze(time.Hour) })
		w.enqueue("parent", nil)
		later := w.enqueue("later", nil)
		bad := w.enqueue("bad", nil, once)
		ran, err := worker.Drain(w.ctx)
		equal(w, ran, 4, "jobs")
		var declined *cardDeclined
		if !errors.As(err, &declined) || !strings.Contains(err.Error(), bad.ID) {
			w.Fatalf("%v", err)
		}
		w.inState(bad, ojs.Discarded)
		w.inState(later, ojs.Retryable)
	})
}

// A drained job of an unknown type is an error of this package, which names the types that there are.
func TestDrainOfAnUnknownType(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		worker.Register("mail.send", func(ojs.JobContext) error { return nil })
		misspelt := w.enqueue("mail.sned", nil)
		_, err := worker.Drain(w.ctx)
		var ours *ojs.Error
		if !errors.As(err, &ours) || ours.Code != "no_handler" || !strings.Contains(ours.Hint, "mail.send") || !strings.Contains(err.Error(), misspelt.ID) {
			w.Fatalf("%v", err)
		}
		equal(w, w.inState(misspelt, ojs.Discarded).Error.Code, "no_handler", "code")
	})
}

// The numbers of this package are those of the header.
func TestClassesAreThoseOfTheHeader(t *testing.T) {
	header, err := os.ReadFile("include/ojs.h")
	must(t, err)
	want := map[string]ojs.Class{"API": ojs.ErrAPI, "DUPLICATE": ojs.ErrDuplicate, "NOT_FOUND": ojs.ErrNotFound, "QUEUE_PAUSED": ojs.ErrQueuePaused,
		"RATE_LIMITED": ojs.ErrRateLimited, "INVALID_STATE_TRANSITION": ojs.ErrInvalidStateTransition, "PAYLOAD_TOO_LARGE": ojs.ErrPayloadTooLarge,
		"INVALID_REQUEST": ojs.ErrInvalidRequest, "AUTHENTICATION": ojs.ErrAuthentication, "CONNECTION": ojs.ErrConnection, "TIMEOUT": ojs.ErrTimeout,
		"VALIDATION": ojs.ErrValidation, "NOT_ENQUEUED": ojs.ErrNotEnqueued, "CLOSED": ojs.ErrClosed,
		"FORKED": ojs.ErrForked, "INTERNAL": ojs.ErrInternal, "NONE": 0,
		"UNSUPPORTED_EXTENSION": ojs.ErrUnsupportedExtension, "UNTRUSTED_WEBHOOK": ojs.ErrUntrustedWebhook}
	found := regexp.MustCompile(`OJS_CLASS_(\w+) = (\d+)`).FindAllStringSubmatch(string(header), -1)
	equal(t, len(found), len(want), "classes in the header")
	for _, one := range found {
		number, err := strconv.Atoi(one[2])
		must(t, err)
		equal(t, ojs.Class(number), want[one[1]], one[1])
	}
	reasons := map[string]ojs.CancelReason{"CANCELLED": ojs.ErrCancelled, "LEASE_LOST": ojs.ErrLeaseLost, "TIMED_OUT": ojs.ErrTimedOut, "SHUTDOWN": ojs.ErrShutdown}
	for _, one := range regexp.MustCompile(`OJS_CANCEL_(\w+) = ([1-9])`).FindAllStringSubmatch(string(header), -1) {
		number, err := strconv.Atoi(one[2])
		must(t, err)
		equal(t, ojs.CancelReason(number), reasons[one[1]], one[1])
		delete(reasons, one[1])
	}
	equal(t, len(reasons), 0, "reasons that the header does not know")
}
