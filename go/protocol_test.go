package ojs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

// A server that speaks the plain protocol only, and tells the worker what to do.
func TestDirectives(t *testing.T) {
	t.Parallel()
	for directive, state := range map[string]ojs.WorkerState{"quiet": ojs.StateQuiet, "terminate": ojs.StateStopped} {
		t.Run(directive, func(t *testing.T) {
			var mu sync.Mutex
			requests := map[string][]byte{}
			jobs := `[{"id":"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f","type":"a","args":[12345678901234567890],"attempt":1,"queue":"default"}]`
			said := "running"
			server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
				body, _ := io.ReadAll(request.Body)
				mu.Lock()
				defer mu.Unlock()
				path := strings.TrimPrefix(request.URL.Path, "/ojs/v1")
				if requests[path] == nil {
					requests[path] = body
				}
				response.Header().Set("Content-Type", "application/openjobspec+json")
				switch path {
				case "/workers/fetch":
					fmt.Fprintf(response, `{"jobs":%s}`, jobs)
					jobs = "[]"
				case "/workers/heartbeat":
					fmt.Fprintf(response, `{"state":"%s"}`, said)
				case "/workers/ack":
					fmt.Fprint(response, `{"acknowledged":true}`)
				default:
					response.WriteHeader(404)
					fmt.Fprint(response, `{"error":{"code":"not_found","message":"no"}}`)
				}
			}))
			defer server.Close()
			heard := func(path string) []byte {
				mu.Lock()
				defer mu.Unlock()
				return requests[path]
			}
			worker, err := ojs.NewWorker(server.URL, ojs.WithHeartbeatInterval(10*time.Millisecond), ojs.WithPollInterval(5*time.Millisecond), ojs.WithWorkerID("w1"))
			must(t, err)
			worker.Register("a", func(ctx ojs.JobContext) error { ctx.SetResult(ctx.Job.Args); return nil })
			ended := make(chan error, 1)
			go func() { ended <- worker.Start(t.Context()) }()
			until(t, "the answer", func() bool { return heard("/workers/ack") != nil })
			if ack := string(heard("/workers/ack")); !strings.Contains(ack, "[12345678901234567890]") {
				t.Fatalf("the number lost digits: %s", ack)
			}
			var fetch struct {
				ID         string `json:"worker_id"`
				Queues     []string
				Visibility int `json:"visibility_timeout_ms"`
			}
			must(t, json.Unmarshal(heard("/workers/fetch"), &fetch))
			if fetch.ID != "w1" || !slices.Equal(fetch.Queues, []string{"default"}) || fetch.Visibility != 30000 {
				t.Fatalf("%+v", fetch)
			}
			mu.Lock()
			said = directive
			mu.Unlock()
			until(t, "the directive is obeyed", func() bool { return worker.State() == state })
			must(t, worker.Shutdown(t.Context()))
			must(t, receive(t, ended, "the end"))
		})
	}
}

func TestWrongWorkers(t *testing.T) {
	wrong := func(err error, class ojs.Class, text string) {
		t.Helper()
		if !errors.Is(err, class) || !strings.Contains(err.Error(), text) {
			t.Fatalf("%v is no %v with %q", err, class, text)
		}
	}
	_, err := ojs.NewWorker("memory:", ojs.WithQueues("a", " "))
	wrong(err, ojs.ErrValidation, "queues")
	_, err = ojs.NewWorker("memory:", ojs.WithConcurrency(-1))
	wrong(err, ojs.ErrValidation, "WithConcurrency must be at least 1")

	worker, err := ojs.NewWorker("memory:")
	must(t, err)
	wrong(worker.Start(t.Context()), ojs.ErrValidation, "no handlers")
	wrong(worker.Quiet(), ojs.ErrValidation, "not been started")
	equal(t, worker.State(), ojs.StateNew, "state")
	nothing := func(ojs.JobContext) error { return nil }
	worker.Register("a", nothing)
	worker.Register("a", nothing)
	wrong(worker.Start(t.Context()), ojs.ErrValidation, "registered already")

	worker, err = ojs.NewWorker("memory:")
	must(t, err)
	worker.Register("", nil)
	wrong(worker.Start(t.Context()), ojs.ErrValidation, "needs a job type and a handler")

	worker, err = ojs.NewWorker("sqlite:/nowhere/at/all/jobs.db")
	must(t, err)
	worker.Register("a", nothing)
	if err := worker.Start(t.Context()); err == nil {
		t.Fatal("it started without a store")
	}

	worker, err = ojs.NewWorker("memory:")
	must(t, err)
	worker.Register("a", nothing)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, worker.Start(ctx))
	wrong(worker.Start(t.Context()), ojs.ErrValidation, "started once")
}
