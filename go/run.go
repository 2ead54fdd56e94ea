//go:build cgo

package ojs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// pullAtOnce is the most jobs taken out of the engine at a time.
const pullAtOnce = 256

// farewell is how long cancelled handlers have for returning after the worker is over, before they are given up.
const farewell = 5 * time.Second

// run is a started worker: one goroutine pulls, one hears of cancellations, one brings outcomes back, and one per job that runs. Those stay
// for the jobs that follow: what reads a job makes a stack grow, and growing it anew for each job was a seventh of its cost.
//
// Two of them wait in C, whatever the concurrency is.
type run struct {
	native   *nativeWorker
	client   *Client
	id       string
	plan     map[string]HandlerFunc
	settings workerSettings
	base     context.Context
	last     func() error // At the very end.
	listener *logListener // Gets the engine's warnings about this worker: failed attempts, lost leases, a server that is away.

	mu       sync.Mutex
	waiting  chan attempt // Taken by a goroutine that has run a job before.
	running  map[uint64]*jobState
	early    map[uint64]error // Cancellations of jobs that were pulled and not launched yet, or that have ended.
	outcomes []outcome
	busy     time.Duration
	freed    chan struct{} // Has an element when a slot became free since the puller looked.
	done     chan struct{} // Has an element when there are outcomes to bring back.
	attempts sync.WaitGroup
	helpers  sync.WaitGroup
	closed   chan struct{} // Closed when the engine's worker is over.
	over     chan struct{} // Closed when all is done.
}

func newRun(
	base context.Context, client *Client, native *nativeWorker, id string, plan map[string]HandlerFunc,
	settings workerSettings,
) *run {
	return &run{native: native, client: client, id: id, plan: plan, settings: settings, base: base,
		last:     func() error { return nil },
		listener: &logListener{worker: id, logger: settings.logger, level: slog.LevelWarn},
		waiting:  make(chan attempt), running: map[uint64]*jobState{}, early: map[uint64]error{},
		freed: make(chan struct{}, 1), done: make(chan struct{}, 1), closed: make(chan struct{}), over: make(chan struct{})}
}

func (r *run) begin() {
	logs.add(r.listener)
	r.helpers.Add(2)
	go func() {
		defer r.helpers.Done()
		defer close(r.closed)
		for cancels := r.native.cancellations(); cancels != nil; cancels = r.native.cancellations() {
			r.cancel(cancels)
		}
	}()
	go func() {
		defer r.helpers.Done()
		r.pull()
		// Closed, and nothing is sent any more to a worker that is over: what comes in too late is stale.
		r.native.wait()
	}()
	go func() {
		for range r.done {
			r.flush()
		}
	}()
}

// finish waits for the end.
func (r *run) finish() error {
	r.helpers.Wait()
	returned := make(chan struct{})
	go func() {
		r.attempts.Wait()
		close(returned)
	}()
	var err error
	select {
	case <-returned:
		close(r.done)
		r.native.free()
	case <-time.After(farewell):
		// Their goroutines cannot be ended. They hold the worker, which is freed when the last of them returns.
		r.mu.Lock()
		err = fmt.Errorf("ojs: the worker is over, but %d handlers did not return when their contexts were cancelled", len(r.running))
		r.mu.Unlock()
		go func() {
			<-returned
			close(r.done)
			r.native.free()
		}()
	}
	err = errors.Join(err, r.last())
	logs.remove(r.listener)
	close(r.over)
	return err
}

func (r *run) pull() {
	for {
		free := r.free()
		if free == 0 {
			select {
			case <-r.freed:
				continue
			case <-r.closed:
				return
			}
		}
		frame, over, err := r.native.pull(min(free, pullAtOnce))
		if over {
			if err != nil {
				r.listener.out().Error("ojs: the worker ends, its jobs go back", "error", err)
				_ = r.native.stop(0)
			}
			return
		}
		if frame == nil {
			continue
		}
		jobs, err := readJobs(frame)
		if err != nil {
			r.listener.out().Error("ojs: the worker cannot read its jobs", "error", err)
			_ = r.native.stop(0)
			continue
		}
		for _, job := range jobs {
			r.launch(job)
		}
		r.forgetEarly()
	}
}

func (r *run) free() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.settings.concurrency - len(r.running)
}

func (r *run) launch(job delivered) {
	inner, cancel := context.WithCancelCause(r.base)
	ctx := JobContext{
		inner: inner, native: r.native, client: r.client, token: job.token, worker: r.id, state: &jobState{cancel: cancel},
	}
	if job.left >= 0 {
		ctx.deadline = time.Now().Add(job.left)
	}
	r.mu.Lock()
	r.running[job.token] = ctx.state
	why := r.early[job.token]
	r.mu.Unlock()
	if why != nil {
		cancel(why)
	}
	r.attempts.Add(1)
	select {
	case r.waiting <- attempt{ctx, job}:
	default:
		go r.attend(attempt{ctx, job})
	}
}

// attempt is a job about to run.
type attempt struct {
	ctx JobContext
	job delivered
}

// attend runs a job, and those that come after it until the worker is over.
func (r *run) attend(next attempt) {
	for {
		r.attempt(next.ctx, next.job)
		select {
		case next = <-r.waiting:
		case <-r.closed:
			return
		}
	}
}

// attempt runs one job. What it defers also runs when the handler ends the goroutine with runtime.Goexit.
func (r *run) attempt(ctx JobContext, job delivered) {
	began := time.Now()
	result := outcome{kind: kindFailed}
	var err error = panicked{value: "the handler called runtime.Goexit"}
	defer func() {
		if result.payload == nil && result.kind == kindFailed {
			result = failed(err)
		}
		result.token = job.token
		ctx.state.cancel(nil)
		r.ended(result, time.Since(began))
		r.attempts.Done()
	}()
	ctx.Job = &Job{}
	if wrong := ctx.Job.readEnvelope(job.envelope); wrong != nil {
		err = &JobError{Code: "invalid_job", Message: "the job cannot be read: " + wrong.Error(), NonRetryable: true}
		result = failed(err)
		return
	}
	// What the engine knows better than the envelope of some servers.
	ctx.Job.ID, ctx.Job.Type, ctx.Job.Queue, ctx.Job.Attempt = job.id, job.jobType, job.queue, job.attempt
	var returned error
	result, returned = perform(r.plan, ctx)
	err = returned
}

func (r *run) ended(result outcome, took time.Duration) {
	r.mu.Lock()
	delete(r.running, result.token)
	r.outcomes = append(r.outcomes, result)
	r.busy += took
	r.mu.Unlock()
	notify(r.freed)
	notify(r.done)
}

func notify(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// flush brings the outcomes back that have gathered.
func (r *run) flush() {
	r.mu.Lock()
	outcomes, busy := r.outcomes, r.busy
	r.outcomes, r.busy = nil, 0
	r.mu.Unlock()
	if len(outcomes) == 0 {
		return
	}
	if err := r.native.complete(packOutcomes(outcomes), busy); err == nil || errors.Is(err, ErrClosed) {
		return
	}
	// One of them is not accepted: only that one fails.
	for _, one := range outcomes {
		if err := r.native.complete(packOutcomes([]outcome{one}), 0); err != nil {
			wrong := failed(&JobError{Code: "serialization_error", Message: "the outcome was not accepted: " + err.Error(), NonRetryable: true})
			wrong.token = one.token
			if err := r.native.complete(packOutcomes([]outcome{wrong}), 0); err != nil {
				r.listener.out().Error("ojs: an outcome is lost, the job runs again when its lease ends", "error", err)
			}
		}
	}
}

func (r *run) cancel(cancels []cancellation) {
	for _, one := range cancels {
		r.mu.Lock()
		state := r.running[one.token]
		if state == nil {
			r.early[one.token] = one.why
		}
		r.mu.Unlock()
		if state != nil {
			state.cancel(one.why)
		}
	}
}

// forgetEarly is called when all that was pulled is launched: what is left is about jobs that have ended.
func (r *run) forgetEarly() {
	r.mu.Lock()
	clear(r.early)
	r.mu.Unlock()
}
