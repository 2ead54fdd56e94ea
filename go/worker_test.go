package ojs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

var quietLogger = slog.New(slog.DiscardHandler)

func TestWorkerRunsJobs(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		seen := make(chan ojs.JobContext, 1)
		worker.Register("email.send", func(ctx ojs.JobContext) error {
			ctx.SetResult(ojs.Obj{"sent": true, "n": uint64(math.MaxUint64), "to": ctx.Job.Args[0]})
			seen <- ctx
			return nil
		})
		worker.Register("no.result", func(ojs.JobContext) error { return nil })
		w.start(worker)
		sent := w.enqueue("email.send", ojs.Args{"žluťoučký 馬 🐎 <&>", int64(math.MinInt64), 9007199254740993}, ojs.WithMeta(ojs.Obj{"a": 1}))
		none := w.enqueue("no.result", nil)
		done := w.inState(sent, ojs.Completed)
		same(w, done.Result, json.RawMessage(`{"n":18446744073709551615,"sent":true,"to":"žluťoučký 馬 🐎 <&>"}`), "result")
		if !strings.Contains(string(done.Result), "18446744073709551615") {
			w.Fatalf("the number lost digits: %s", done.Result)
		}
		if result := w.inState(none, ojs.Completed).Result; result != nil && string(result) != "null" {
			w.Fatalf("a result out of nothing: %s", result)
		}
		ctx := receive(w, seen, "the context")
		var text string
		var low, odd int64
		must(w, ctx.Job.Args.Decode(&text, &low, &odd))
		equal(w, low, math.MinInt64, "the smallest integer")
		equal(w, odd, 9007199254740993, "an integer beyond 53 bits")
		equal(w, ctx.Job.ID, sent.ID, "id")
		equal(w, ctx.Attempt(), 1, "attempt")
		equal(w, ctx.Job.Queue, w.queue, "queue")
		same(w, ctx.Job.Meta, ojs.Obj{"a": 1}, "meta")
	})
}

func TestWorkerConcurrency(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker(ojs.WithConcurrency(7))
		var now, most atomic.Int64
		ids := sync.Map{}
		worker.Register("a", func(ctx ojs.JobContext) error {
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			ids.Store(fmt.Sprint(ctx.Job.Args[0]), true)
			runtime.Gosched()
			now.Add(-1)
			return nil
		})
		w.start(worker)
		requests := make([]ojs.JobRequest, 1000)
		for n := range requests {
			requests[n] = ojs.NewJob("a", ojs.Args{n}, ojs.WithQueue(w.queue))
		}
		_, err := w.client.EnqueueBatch(w.ctx, requests)
		must(w, err)
		w.until("all are done", func() bool {
			stats, err := w.client.QueueStats(w.ctx, w.queue)
			must(w, err)
			return stats.Completed == 1000
		})
		different := 0
		ids.Range(func(any, any) bool { different++; return true })
		equal(w, different, 1000, "different jobs")
		if most.Load() > 7 || most.Load() < 2 {
			w.Fatalf("%d handlers at a time, 7 were allowed", most.Load())
		}
	})
}

func TestExecutionMiddleware(t *testing.T) {
	onEveryConnection(t, func(w world) {
		var mu sync.Mutex
		var order []string
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, what)
		}
		layer := func(name string) ojs.MiddlewareFunc {
			return func(ctx ojs.JobContext, next ojs.HandlerFunc) error {
				note(name + "-before")
				err := next(ctx)
				note(name + "-after")
				return err
			}
		}
		worker := w.worker()
		chain := worker.Middleware()
		must(w, worker.UseNamed("second", layer("second")))
		must(w, chain.InsertBefore("second", "first", layer("first")))
		must(w, chain.InsertAfter("second", "third", layer("third")))
		must(w, chain.UseNamed("gone", nil_))
		must(w, chain.Remove("gone"))
		must(w, chain.Prepend("zeroth", func(ctx ojs.JobContext, next ojs.HandlerFunc) error {
			return next(ctx.WithContext(context.WithValue(ctx, key{}, "from outside")))
		}))
		must(w, worker.Use(pass))
		must(w, worker.Use(pass))
		must(w, worker.Use(func(ctx ojs.JobContext, next ojs.HandlerFunc) error {
			if ctx.Job.Type == "twice" {
				_ = next(ctx)
			}
			return next(ctx)
		}))
		same(w, chain.Names(), []string{"zeroth", "first", "second", "third", "pass", "pass-2", "middleware"}, "names")
		worker.Register("a", func(ctx ojs.JobContext) error {
			note("handler")
			ctx.SetResult(ctx.Value(key{}))
			return nil
		})
		worker.Register("twice", func(ctx ojs.JobContext) error { return nil })
		w.start(worker)
		done := w.inState(w.enqueue("a", nil), ojs.Completed)
		equal(w, string(done.Result), `"from outside"`, "what middleware left in the context")
		mu.Lock()
		same(w, order, []string{"first-before", "second-before", "third-before", "handler", "third-after", "second-after", "first-after"}, "order")
		mu.Unlock()
		twice := w.inState(w.enqueue("twice", nil, once), ojs.Discarded)
		if !strings.Contains(twice.Error.Message, "next twice") {
			w.Fatalf("%+v", twice.Error)
		}
		if err := worker.UseNamed("late", pass); !errors.Is(err, ojs.ErrMiddleware) || !strings.Contains(err.Error(), "in use") {
			w.Fatalf("%v", err)
		}
	})
}

type key struct{}

func pass(ctx ojs.JobContext, next ojs.HandlerFunc) error { return next(ctx) }
func nil_(ojs.JobContext, ojs.HandlerFunc) error          { return nil }

// once is a retry policy without retries.
var once = ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: 1})

func TestWrongChains(t *testing.T) {
	client, err := ojs.NewClient("memory:")
	must(t, err)
	defer client.Close()
	for what, wrong := range map[string]func(*ojs.Worker) error{
		"there is: a":               func(w *ojs.Worker) error { return w.Middleware().InsertBefore("nobody", "x", pass) },
		"no middleware named 'x'":   func(w *ojs.Worker) error { return w.Middleware().Remove("x") },
		"named 'a' already":         func(w *ojs.Worker) error { return w.UseNamed("a", pass) },
		"needs a name":              func(w *ojs.Worker) error { return w.UseNamed("", pass) },
		"middleware 'b' is nil":     func(w *ojs.Worker) error { return w.UseNamed("b", nil) },
		"there is no middleware na": func(w *ojs.Worker) error { return w.Middleware().InsertAfter("nobody", "x", pass) },
	} {
		worker, err := client.NewWorker()
		must(t, err)
		worker.Register("a", func(ojs.JobContext) error { return nil })
		must(t, worker.UseNamed("a", pass))
		var ours *ojs.Error
		if err := wrong(worker); !errors.As(err, &ours) || ours.Class != ojs.ErrMiddleware || !strings.Contains(err.Error(), what) {
			t.Fatalf("%s: %v", what, err)
		}
		// Ignored where it happened, it is said again.
		if err := worker.Start(t.Context()); !errors.Is(err, ojs.ErrMiddleware) {
			t.Fatalf("%s: the start said %v", what, err)
		}
	}
}

type cardDeclined struct{ card string }

func (c *cardDeclined) Error() string { return "declined: " + c.card }

func TestFailures(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		failures := map[string]error{
			"plain":   errors.New("nö"),
			"wrapped": fmt.Errorf("around: %w", &cardDeclined{"4"}),
			"final":   ojs.NonRetryable(&cardDeclined{"5"}),
			"own":     fmt.Errorf("x: %w", &ojs.JobError{Code: "card_declined", Message: "no", NonRetryable: true, Details: ojs.Obj{"card": 1}}),
			"odd":     &ojs.JobError{Details: ojs.Obj{"channel": make(chan int)}},
			"badutf8": errors.New("a\xff\x00b"),
		}
		for name, err := range failures {
			worker.Register("fail."+name, func(ojs.JobContext) error { return err })
		}
		worker.Register("panic", func(ojs.JobContext) error { panic("broken") })
		worker.Register("panic.error", func(ojs.JobContext) error { panic(&cardDeclined{"6"}) })
		worker.Register("panic.nil", func(ojs.JobContext) error {
			var nothing *ojs.Job
			_ = nothing.ID
			return nil
		})
		worker.Register("goexit", func(ojs.JobContext) error { runtime.Goexit(); return nil })
		worker.Register("bad.result", func(ctx ojs.JobContext) error { ctx.SetResult(math.Inf(1)); return nil })
		worker.Register("bad.result.type", func(ctx ojs.JobContext) error { ctx.SetResult(func() {}); return nil })
		w.start(worker)
		fails := func(jobType, code, class, message string) *ojs.JobFailure {
			w.Helper()
			job := w.inState(w.enqueue(jobType, nil, once), ojs.Discarded)
			equal(w, job.Error.Code, code, jobType+": code")
			if class != "" {
				equal(w, job.Error.Type, class, jobType+": type")
			}
			if !strings.Contains(job.Error.Message, message) {
				w.Fatalf("%s: %q", jobType, job.Error.Message)
			}
			return job.Error
		}
		fails("fail.plain", "handler_error", "errors.errorString", "nö")
		fails("fail.wrapped", "handler_error", "ojs_test.cardDeclined", "around: declined: 4")
		fails("fail.final", "non_retryable", "ojs_test.cardDeclined", "declined: 5")
		own := fails("fail.own", "card_declined", "ojs.JobError", "x: no")
		if !strings.Contains(string(own.Details), `"card":1`) {
			w.Fatalf("%s", own.Details)
		}
		fails("fail.odd", "handler_error", "", "ojs.JobError")
		fails("fail.badutf8", "handler_error", "", "b")
		broken := fails("panic", "handler_error", "string", "panic: broken")
		fails("panic.error", "handler_error", "ojs_test.cardDeclined", "declined: 6")
		nothing := fails("panic.nil", "handler_error", "runtime.errorString", "nil pointer")
		for _, failure := range []*ojs.JobFailure{broken, nothing} {
			var details struct{ Stack string }
			must(w, json.Unmarshal(failure.Details, &details))
			// A title, then two lines a frame: the frames of the package and of panic are left out.
			lines := strings.SplitN(details.Stack, "\n", 4)
			if len(lines) < 4 || !strings.Contains(lines[1], "TestFailures") || !strings.Contains(lines[2], "worker_test.go") {
				w.Fatalf("the stack does not begin with the handler: %s", details.Stack)
			}
		}
		fails("goexit", "handler_error", "", "Goexit")
		fails("bad.result", "serialization_error", "", "the handler's result")
		fails("bad.result.type", "serialization_error", "", "the handler's result")
		unknown := w.inState(w.enqueue("nobody.does", nil), ojs.Discarded)
		equal(w, unknown.Error.Message, "No handler is registered for job type 'nobody.does'.", "unknown type")
		final := w.inState(w.enqueue("fail.final", nil), ojs.Discarded)
		equal(w, final.Attempt, 1, "attempts of a failure for good")
	})
}

func TestRetrySnoozeRelease(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		var naps, releases atomic.Int64
		worker.Register("flaky", func(ctx ojs.JobContext) error {
			if ctx.Attempt() < 3 {
				return errors.New("not yet")
			}
			ctx.SetResult(ctx.Attempt())
			return nil
		})
		worker.Register("nap", func(ctx ojs.JobContext) error {
			if naps.Add(1) == 1 {
				return ojs.Snooze(10 * time.Millisecond)
			}
			return nil
		})
		worker.Register("release", func(ctx ojs.JobContext) error {
			if releases.Add(1) == 1 {
				return fmt.Errorf("not here: %w", ojs.ErrRelease)
			}
			return nil
		})
		w.start(worker)
		retry := ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: 3, InitialInterval: time.Millisecond, Jitter: ojs.Bool(false)})
		flaky := w.inState(w.enqueue("flaky", nil, retry), ojs.Completed)
		equal(w, string(flaky.Result), "3", "the third attempt")
		equal(w, len(flaky.Errors), 2, "failures kept")
		w.inState(w.enqueue("nap", nil, once), ojs.Completed)
		w.inState(w.enqueue("release", nil, once), ojs.Completed)
		equal(w, naps.Load(), 2, "runs of a job that snoozed")
		equal(w, releases.Load(), 2, "runs of a job that was released")
	})
}

func TestTimeoutAndCancellation(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker(ojs.WithHeartbeatInterval(20 * time.Millisecond))
		type start struct{ begun, deadline time.Time }
		wait := func() (handler ojs.HandlerFunc, started chan start, causes chan error) {
			started, causes = make(chan start, 500), make(chan error, 500)
			return func(ctx ojs.JobContext) error {
				deadline, _ := ctx.Deadline()
				started <- start{time.Now(), deadline}
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return ctx.Err()
			}, started, causes
		}
		slow, slowStarted, slowCauses := wait()
		long, longStarted, longCauses := wait()
		worker.Register("slow", slow)
		worker.Register("long", long)
		w.start(worker)

		const limit = 500 * time.Millisecond
		before := time.Now()
		// On a busy machine the time may be up before the handler begins. Then no handler is there to be cancelled, and
		// another job is tried.
		w.until("a handler ran until its time was up", func() bool {
			failed := w.inState(w.enqueue("slow", nil, once, ojs.WithTimeout(limit)), ojs.Discarded)
			equal(w, failed.Error.Code, "timeout", "code of a job that took too long")
			return len(slowStarted) > 0
		})
		equal(w, receive(w, slowCauses, "the end of time"), error(ojs.ErrTimedOut), "cause")
		// The engine's clock runs since it got the job, the deadline is what is left when the handler gets it.
		if at := receive(w, slowStarted, "the start"); at.deadline.Before(before) || at.deadline.After(at.begun.Add(limit)) {
			w.Fatalf("the deadline was %v, the handler began at %v", at.deadline, at.begun)
		}

		job := w.enqueue("long", nil)
		if at := receive(w, longStarted, "the start"); !at.deadline.IsZero() {
			w.Fatalf("a deadline that was not set: %v", at.deadline)
		}
		_, err := w.client.CancelJob(w.ctx, job.ID)
		must(w, err)
		if cause := receive(w, longCauses, "the cancellation"); cause != ojs.ErrCancelled && cause != ojs.ErrLeaseLost {
			w.Fatalf("cause: %v", cause)
		}
		equal(w, w.inState(job, ojs.Cancelled).State, ojs.Cancelled, "state")
	})
}

func TestHeartbeat(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker() // The worker's own heartbeat is too far away to matter.
		started := make(chan struct{})
		ended := make(chan error, 1)
		worker.Register("long", func(ctx ojs.JobContext) error {
			must(w, ctx.Heartbeat())
			close(started)
			var err error
			until(w, "the heartbeat says no", func() bool { err = ctx.Heartbeat(); return err != nil })
			ended <- errors.Join(err, ctx.Err())
			return err
		})
		w.start(worker)
		job := w.enqueue("long", nil)
		receive(w, started, "the start")
		_, err := w.client.CancelJob(w.ctx, job.ID)
		must(w, err)
		err = receive(w, ended, "the end")
		var why ojs.CancelReason
		if !errors.As(err, &why) || !errors.Is(err, context.Canceled) {
			w.Fatalf("%v", err)
		}
	})
}

func TestGracefulStop(t *testing.T) {
	onEveryConnection(t, func(w world) {
		began, goOn := make(chan struct{}), make(chan struct{})
		worker := w.worker()
		worker.Register("a", func(ctx ojs.JobContext) error {
			close(began)
			<-goOn
			ctx.SetResult("finished")
			return nil
		})
		ctx, cancel := context.WithCancel(w.ctx)
		ended := make(chan error, 1)
		go func() { ended <- worker.Start(ctx) }()
		job := w.enqueue("a", nil)
		receive(w, began, "the start")
		equal(w, worker.ActiveJobs(), 1, "active jobs")
		cancel()
		w.until("it stops", func() bool { return worker.State() == ojs.StateTerminate })
		close(goOn)
		must(w, receive(w, ended, "the end"))
		equal(w, worker.State(), ojs.StateStopped, "state")
		done, err := w.client.GetJob(w.ctx, job.ID)
		must(w, err)
		equal(w, string(done.Result), `"finished"`, "result of a job that finished during the end")
		must(w, worker.Shutdown(w.ctx))

		hung := make(chan struct{})
		cause := make(chan error, 1)
		other := w.worker(ojs.WithGracePeriod(20 * time.Millisecond))
		other.Register("b", func(ctx ojs.JobContext) error {
			close(hung)
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return ctx.Err()
		})
		go func() { ended <- other.Start(w.ctx) }()
		stuck := w.enqueue("b", nil)
		receive(w, hung, "the start")
		must(w, other.Shutdown(w.ctx))
		must(w, receive(w, ended, "the end"))
		equal(w, receive(w, cause, "the cause"), error(ojs.ErrShutdown), "cause")
		back, err := w.client.GetJob(w.ctx, stuck.ID)
		must(w, err)
		equal(w, back.State, ojs.Available, "state of a job that was given back")
	})
}

func TestStopFromAHandler(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		worker.Register("last", func(ctx ojs.JobContext) error { return worker.Stop() })
		job := w.enqueue("last", nil)
		must(w, worker.Start(w.ctx))
		w.inState(job, ojs.Completed)
		if err := worker.Stop(); !errors.Is(err, ojs.ErrClosed) {
			w.Fatalf("%v", err)
		}
	})
}

func TestQuietAndResume(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		worker.Register("a", func(ojs.JobContext) error { return nil })
		w.start(worker)
		must(w, worker.Quiet())
		w.until("it is quiet", func() bool { return worker.State() == ojs.StateQuiet })
		job := w.enqueue("a", nil)
		must(w, worker.Resume())
		w.inState(job, ojs.Completed)
		if worker.ID() == "" {
			w.Fatal("a worker has a name")
		}
	})
}

func TestFallbackAndTyped(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker(ojs.WithConcurrency(1))
		worker.Register("*", func(ctx ojs.JobContext) error { ctx.SetResult("any " + ctx.Job.Type); return nil })
		type welcome struct {
			To    string
			Times int64
		}
		ojs.RegisterTyped(worker, "typed", func(ctx ojs.JobContext, args welcome) error { ctx.SetResult(args); return nil })
		ojs.RegisterTyped(worker, "list", func(ctx ojs.JobContext, args []int) error { ctx.SetResult(len(args)); return nil })
		worker.Register("parent", func(ctx ojs.JobContext) error {
			child, err := w.client.Enqueue(ctx, "child", ojs.Args{ctx.Job.ID}, ojs.WithQueue(w.queue))
			if err == nil {
				ctx.SetResult(child.ID)
			}
			return err
		})
		w.start(worker)
		result := func(job *ojs.Job) string { return string(w.inState(job, ojs.Completed).Result) }
		equal(w, result(w.enqueue("x.y", nil)), `"any x.y"`, "a type without a handler of its own")
		equal(w, result(w.enqueue("typed", welcome{"a", 3})), `{"To":"a","Times":3}`, "typed arguments")
		equal(w, result(w.enqueue("list", []int{1, 2, 3})), `3`, "a list of arguments")
		wrong := w.inState(w.enqueue("typed", ojs.Args{"text"}), ojs.Discarded)
		equal(w, wrong.Error.Code, "invalid_arguments", "code")
		var child string
		must(w, w.inState(w.enqueue("parent", nil), ojs.Completed).DecodeResult(&child))
		w.inState(&ojs.Job{ID: child}, ojs.Completed)
	})
}
