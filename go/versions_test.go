package ojs_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/openjobspec/ojs-go"
)

func addressed(args ojs.Args) (ojs.Args, error) { return ojs.Args{ojs.Obj{"to": args[0]}}, nil }

func copied(args ojs.Args) (ojs.Args, error) {
	var message ojs.Obj
	if err := args.Decode(&message); err != nil {
		return nil, err
	}
	message["copy"] = nil
	return ojs.Args{message}, nil
}

func TestAWorkerTakesTheVersionsOfItsHandler(t *testing.T) {
	onEveryConnection(t, func(w world) {
		for name, ranges := range map[string]string{"old": "1", "new": ">=2.0 <3.0"} {
			worker := w.worker()
			worker.Register("versions.taken", func(ctx ojs.JobContext) error {
				ctx.SetResult([]any{name, ctx.Job.Args[0]})
				return nil
			})
			worker.Versions("versions.taken", ranges)
			w.start(worker)
		}
		held := w.enqueue("versions.taken", ojs.Args{"3"}, ojs.WithVersion("3"))
		for version, name := range map[string]string{"1": "old", "2.4": "new", "2": "new", "1.0.0": "old"} {
			id := w.enqueue("versions.taken", ojs.Args{version}, ojs.WithVersion(version))
			same(w, json.RawMessage(w.inState(id, ojs.Completed).Result), []any{name, version}, version)
		}
		same(w, w.inState(held, ojs.Available).Attempt, 0, "no worker runs it")
	})
}

func TestOldArgumentsBecomeThoseOfTheHandler(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		seen := make(chan any, 8)
		must(w, worker.Use(func(ctx ojs.JobContext, next ojs.HandlerFunc) error {
			seen <- ctx.Job.Args
			return next(ctx)
		}))
		worker.Register("versions.old", func(ctx ojs.JobContext) error {
			ctx.SetResult(ctx.Job.Args[0])
			return nil
		}, ojs.WithVersion("3.1"))
		worker.Transform("versions.old", "2", "3.0", copied)
		worker.Transform("versions.old", "1.0", "2", addressed)
		w.start(worker)
		for _, one := range []struct {
			version  string
			argument any
			result   ojs.Obj
		}{
			{"1", "ada", ojs.Obj{"to": "ada", "copy": nil}},
			{"2.0", ojs.Obj{"to": "bob"}, ojs.Obj{"to": "bob", "copy": nil}},
			{"3.9", ojs.Obj{"to": "eve"}, ojs.Obj{"to": "eve"}},
			{"", ojs.Obj{"to": "joe"}, ojs.Obj{"to": "joe"}},
		} {
			var options []ojs.EnqueueOption
			if one.version != "" {
				options = append(options, ojs.WithVersion(one.version))
			}
			id := w.enqueue("versions.old", ojs.Args{one.argument}, options...)
			same(w, json.RawMessage(w.inState(id, ojs.Completed).Result), one.result, one.version)
			same(w, <-seen, []any{one.result}, "the middleware sees what the handler sees")
		}
	})
}

func TestAChangeThatFailsEndsTheJob(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		worker.Register("versions.note", func(ojs.JobContext) error { return nil })
		worker.Transform("versions.note", "1", "2", func(ojs.Args) (ojs.Args, error) { return nil, errors.New("no address") })
		w.start(worker)
		job := w.inState(w.enqueue("versions.note", nil, ojs.WithVersion("1")), ojs.Discarded)
		equal(w, job.Error.Code, "version_transform", "the code of the failure")
		if !strings.Contains(job.Error.Message, "cannot become those of version 2: no address") {
			w.Error(job.Error.Message)
		}
	})
}

// withoutVersions is a server that knows no versions: it hands out what the worker does not run.
type withoutVersions struct {
	jobs    chan ojs.Obj
	asked   chan []byte
	refused chan []byte
}

func (s *withoutVersions) Request(_ context.Context, _, path string, body []byte) (int, []byte, error) {
	switch path {
	case "/workers/fetch":
		jobs := []ojs.Obj{}
		select {
		case job := <-s.jobs:
			jobs = append(jobs, job)
			s.asked <- body
		default:
		}
		answer, err := json.Marshal(ojs.Obj{"jobs": jobs})
		return 200, answer, err
	case "/workers/nack":
		s.refused <- body
	case "/ojs/manifest":
		return 404, []byte("{}"), nil
	}
	return 200, []byte("{}"), nil
}

func TestAVersionThatNoHandlerRunsIsRefusedByTheWorkerToo(t *testing.T) {
	t.Parallel()
	server := &withoutVersions{make(chan ojs.Obj, 1), make(chan []byte, 1), make(chan []byte, 1)}
	server.jobs <- ojs.Obj{
		"id": "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "type": "versions.mail", "args": []any{}, "version": "4.0",
		"queue": "default", "attempt": 1,
	}
	worker, err := ojs.NewWorker("", ojs.WithTransport(server))
	must(t, err)
	worker.Register("versions.mail", func(ojs.JobContext) error { return nil }, ojs.WithVersion("2"))
	worker.Transform("versions.mail", "1", "2", addressed)
	ctx, stop := context.WithTimeout(context.Background(), patience)
	over := make(chan error, 1)
	go func() { over <- worker.Start(ctx) }()
	var nack struct{ Error ojs.JobError }
	mustDecode(t, <-server.refused, &nack)
	var fetch struct{ Handlers []map[string]any }
	mustDecode(t, <-server.asked, &fetch)
	stop()
	must(t, <-over)
	wanted := []any{ojs.Obj{"type": "versions.mail", "versions": []any{">=2.0 <3.0", "1.0.0"}}}
	same(t, fetch.Handlers, wanted, "what it asks for")
	equal(t, nack.Error.Code, "unsupported_version", "the code of the failure")
	if !strings.Contains(nack.Error.Message, "'versions.mail' in versions >=2.0 <3.0; the arguments have version 4.0.0") {
		t.Error(nack.Error.Message)
	}
}

func TestChangesThatContradictEachOtherAreRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	for text, changes := range map[string][][2]string{
		"has a transform already": {{"1", "2"}, {"1.0", "3"}},
		"back to it":              {{"1", "2"}, {"2", "1"}},
		"must be a version such as 2 or 2.1, got 'two'": {{"1", "two"}},
		"which transforms change into 1.5.0":            {{"1", "1.5"}},
	} {
		worker, err := ojs.NewWorker("memory:")
		must(t, err)
		worker.Register("versions.wrong", func(ojs.JobContext) error { return nil }, ojs.WithVersion("2"))
		for _, change := range changes {
			worker.Transform("versions.wrong", change[0], change[1], addressed)
		}
		if err := worker.Start(t.Context()); !errors.Is(err, ojs.ErrValidation) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v does not say %q", err, text)
		}
	}
	worker, err := ojs.NewWorker("memory:")
	must(t, err)
	worker.Transform("versions.wrong", "1", "2", nil)
	if err := worker.Start(t.Context()); !errors.Is(err, ojs.ErrValidation) {
		t.Error(err)
	}
}
