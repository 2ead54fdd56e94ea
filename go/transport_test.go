package ojs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/openjobspec/ojs-go"
)

// transportFunc is a Transport.
type transportFunc func(ctx context.Context, method, path string, body []byte) (int, []byte, error)

func (f transportFunc) Request(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	return f(ctx, method, path, body)
}

// forward is a transport over net/http.
func forward(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	place := serverURL + "/ojs/v1" + path
	if strings.HasPrefix(path, "/ojs/") {
		place = serverURL + path
	}
	request, err := http.NewRequestWithContext(ctx, method, place, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	told, err := io.ReadAll(answer.Body)
	return answer.StatusCode, told, err
}

func TestATransportOfOnesOwnCarriesClientsAndWorkers(t *testing.T) {
	t.Parallel()
	client, err := ojs.NewClient("", ojs.WithTransport(transportFunc(forward)))
	must(t, err)
	defer client.Close()
	w := world{t, t.Context(), client, "transport"}
	job := w.enqueue("a", ojs.Args{1})
	worker := w.worker()
	worker.Register("a", func(ctx ojs.JobContext) error {
		ctx.SetResult("done")
		return nil
	})
	w.start(worker)
	equal(t, string(w.inState(job, ojs.Completed).Result), `"done"`, "the result")
	if _, err := client.GetJob(t.Context(), "01890a5d-ac96-774b-bcce-b302099a8057"); !errors.Is(err, ojs.ErrNotFound) {
		t.Fatalf("%v", err)
	}
}

func TestWhatATransportMayAnswer(t *testing.T) {
	t.Parallel()
	answers := map[string]func() (int, []byte, error){
		"/jobs/found": func() (int, []byte, error) { return 200, []byte(`{"job":{"id":"found","state":"active"}}`), nil },
		"/jobs/none": func() (int, []byte, error) {
			return 404, []byte(`{"error":{"code":"not_found","message":"none"}}`), nil
		},
		"/jobs/refused": func() (int, []byte, error) {
			return 0, nil, &ojs.Error{Status: 409, Code: "duplicate", Message: "twice"}
		},
		"/jobs/lost":  func() (int, []byte, error) { return 0, nil, errors.New("no line") },
		"/jobs/panic": func() (int, []byte, error) { panic("a bug") },
	}
	client, err := ojs.NewClient("", ojs.WithMaxSends(1),
		ojs.WithTransport(transportFunc(func(_ context.Context, _, path string, _ []byte) (int, []byte, error) { return answers[path]() })))
	must(t, err)
	defer client.Close()
	job, err := client.GetJob(t.Context(), "found")
	must(t, err)
	equal(t, job.State, ojs.Active, "the state")
	for id, want := range map[string]ojs.Class{"none": ojs.ErrNotFound, "refused": ojs.ErrDuplicate, "lost": ojs.ErrConnection, "panic": ojs.ErrConnection} {
		if _, err := client.GetJob(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// An answer that is no answer of the protocol is an error of this package, whatever it is.
func TestAnswersThatCannotBeRead(t *testing.T) {
	t.Parallel()
	var told atomic.Value
	client, err := ojs.NewClient("", ojs.WithMaxSends(1), ojs.WithTransport(transportFunc(
		func(context.Context, string, string, []byte) (int, []byte, error) {
			return 200, []byte(told.Load().(string)), nil
		})))
	must(t, err)
	defer client.Close()
	calls := map[string]func() error{
		"enqueue":   func() error { _, err := client.Enqueue(t.Context(), "a", nil); return err },
		"batch":     func() error { _, err := client.EnqueueBatch(t.Context(), []ojs.JobRequest{{Type: "a"}}); return err },
		"get":       func() error { _, err := client.GetJob(t.Context(), "x"); return err },
		"workflow":  func() error { _, err := client.GetWorkflow(t.Context(), "x"); return err },
		"stats":     func() error { _, err := client.QueueStats(t.Context(), "x"); return err },
		"list":      func() error { _, err := client.ListJobs(t.Context(), ojs.JobFilter{}); return err },
		"dead":      func() error { _, err := client.ListDeadLetterJobs(t.Context(), "", 0, 0); return err },
		"result":    func() error { _, err := client.Result(t.Context(), "x"); return err },
		"health":    func() error { _, err := client.Health(t.Context()); return err },
		"cron jobs": func() error { _, err := client.ListCronJobs(t.Context()); return err },
	}
	huge := strings.Repeat("9", 100_000)
	for _, answer := range []string{"{", `{"job":`, "<html>", `[1]`, `"text"`, `{"job":{"id":"x","attempt":` + huge + `}}`, `{"job":{"id":"x"}}{`} {
		told.Store(answer)
		for what, call := range calls {
			err := call()
			var ours *ojs.Error
			if err == nil && strings.HasPrefix(answer, `{"job":{`) && what != "enqueue" && what != "get" {
				continue // Well written, and without what was asked for: nothing is there.
			}
			if !errors.As(err, &ours) || strings.Contains(err.Error(), "middleware") {
				t.Errorf("%s of %.40s: %v", what, answer, err)
			}
		}
	}
	for _, answer := range []string{"{}", `{"job":null}`, `{"job":{}}`, `{"jobs":null}`} {
		told.Store(answer)
		var ours *ojs.Error
		if _, err := client.Enqueue(t.Context(), "a", nil); !errors.As(err, &ours) || ours.Code != "unexpected_answer" {
			t.Errorf("%s: %v", answer, err)
		}
	}
	told.Store(`{"jobs":null}`)
	if jobs, err := client.ListDeadLetterJobs(t.Context(), "", 0, 0); err != nil || len(jobs) > 0 {
		t.Fatal(jobs, err)
	}
}

// Not parallel: it looks for goroutines.
func TestATransportEndsWithItsClient(t *testing.T) {
	asked, ended := make(chan struct{}), make(chan error, 1)
	client, err := ojs.NewClient("", ojs.WithTransport(transportFunc(func(ctx context.Context, _, _ string, _ []byte) (int, []byte, error) {
		close(asked)
		<-ctx.Done()
		return 0, nil, ctx.Err()
	})))
	must(t, err)
	go func() {
		_, err := client.GetJob(context.Background(), "x")
		ended <- err
	}()
	receive(t, asked, "the transport is asked")
	must(t, client.Close())
	if err := receive(t, ended, "the call ends"); err == nil {
		t.Fatal("an answer where no server listens")
	}
	until(t, "its goroutines end", func() bool {
		stacks := make([]byte, 1<<20)
		return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "transport.go")
	})
}

func TestTheContextOfARequestGoesIntoItsJobs(t *testing.T) {
	header := http.Header{"Accept-Language": {"*, de"}, "X-Ojs-Tenant": {"acme"}, "Traceparent": {"00-1-2-01"}}
	info := ojs.RequestInfoOf(header.Get)
	equal(t, info, ojs.RequestInfo{TenantID: "acme", Traceparent: "00-1-2-01"}, "what the headers say")
	onEveryConnection(t, func(w world) {
		ctx := ojs.WithRequestContext(w.ctx, w.client, info)
		equal(w, ojs.RequestInfoFrom(ojs.WithRequestContext(ctx, w.client)), info, "what goes on")
		own := ojs.Obj{"tenant_id": "own"}
		job, err := ojs.Enqueue(ctx, "a", nil, ojs.WithQueue(w.queue), ojs.WithMeta(own))
		must(w, err)
		same(w, own, ojs.Obj{"tenant_id": "own"}, "the caller's map")
		jobs, err := ojs.EnqueueBulk(ctx, []ojs.JobRequest{ojs.NewJob("b", nil, ojs.WithQueue(w.queue))})
		must(w, err)
		for id, tenant := range map[string]string{job.ID: "own", jobs[0].ID: "acme"} {
			found, err := w.client.GetJob(w.ctx, id)
			must(w, err)
			equal(w, found.Meta["tenant_id"], any(tenant), "the tenant")
			equal(w, found.Meta["traceparent"], any("00-1-2-01"), "the trace")
		}
		if _, err := ojs.Enqueue(w.ctx, "a", nil); !errors.Is(err, ojs.ErrValidation) {
			w.Fatalf("a client from nowhere: %v", err)
		}
	})
}

func TestTheCoreSaysWhatAReaderOfEventsAsksAndWhenItEnds(t *testing.T) {
	t.Parallel()
	type answer struct {
		status int
		body   string
	}
	refusal := `{"error":{"code":"x","message":"m"}}`
	event := `{"id":"evt_2","type":"job.enqueued","subject":"1","data":{}}`
	answers := []answer{
		{200, `{"events":[],"cursor":"1"}`}, {503, refusal}, {200, `{"events":[` + event + `],"cursor":"2"}`}, {401, refusal},
	}
	var asked []string
	script := func(_ context.Context, _, path string, _ []byte) (int, []byte, error) {
		asked = append(asked, path)
		said := answers[len(asked)-1]
		return said.status, []byte(said.body), nil
	}
	client, err := ojs.NewClient("", ojs.WithTransport(transportFunc(script)))
	must(t, err)
	defer client.Close()
	var seen []string
	filter := ojs.EventFilter{Types: []string{"job.*"}, Queues: []string{"q"}}
	for event, failed := range client.Events(t.Context(), filter) {
		seen, err = append(seen, event.Subject), failed
	}
	if !errors.Is(err, ojs.ErrAuthentication) {
		t.Fatalf("%v", err)
	}
	equal(t, strings.Join(seen, ","), "1,", "the subjects, and the error")
	path := func(after, wait string) string {
		return "/events?after=" + after + "&types=job.%2A&queues=q&limit=500&wait_ms=" + wait
	}
	wanted := []string{path("latest", "0"), path("1", "20000"), path("1", "20000"), path("2", "20000")}
	equal(t, strings.Join(asked, "\n"), strings.Join(wanted, "\n"), "the requests")
}
