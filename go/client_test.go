package ojs_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

func TestEnqueueOptions(t *testing.T) {
	onEveryConnection(t, func(w world) {
		at := time.Now().Add(time.Hour).Truncate(time.Millisecond)
		id := fmt.Sprintf("01900000-0000-7000-8000-%012d", os.Getpid()*1000+int(names.Add(1)))
		job, err := w.client.Enqueue(w.ctx, "report.make", ojs.Obj{"year": 2026}, ojs.WithQueue(w.queue), ojs.WithID(id), ojs.WithPriority(10),
			ojs.WithTags("yearly", "ü"), ojs.WithMeta(ojs.Obj{"tenant": "acme"}), ojs.WithScheduledAt(at), ojs.WithTimeout(time.Minute),
			ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: 7}), ojs.WithExpiresAt(at.Add(time.Hour)))
		must(w, err)
		for _, job := range []*ojs.Job{job, w.inState(job, ojs.Scheduled)} {
			equal(w, job.ID, id, "id")
			equal(w, job.Priority, 10, "priority")
			equal(w, job.MaxAttempts, 7, "attempts")
			same(w, job.Tags, []string{"yearly", "ü"}, "tags")
			same(w, job.Args, []any{ojs.Obj{"year": 2026}}, "a single argument is wrapped")
			same(w, job.Meta, ojs.Obj{"tenant": "acme"}, "meta")
			if !job.ScheduledAt.Equal(at) || job.CreatedAt.IsZero() || !strings.Contains(string(job.Raw), `"timeout`) {
				w.Fatalf("%s", job.Raw)
			}
		}
		short := ojs.NewJob("a", nil, ojs.WithTimeout(time.Microsecond), ojs.WithResultTTL(time.Millisecond))
		body, err := json.Marshal(short)
		must(w, err)
		same(w, json.RawMessage(body), json.RawMessage(`{"type":"a","args":[],"options":{"timeout_ms":1,"result_ttl":1}}`), "the shortest lengths")
		later := w.enqueue("a", nil, ojs.WithDelay(time.Hour))
		equal(w, later.State, ojs.Scheduled, "state of a delayed job")
		pending := w.enqueue("a", nil, ojs.WithOption("pending", true))
		equal(w, pending.State, ojs.Pending, "state")
		active, err := w.client.ActivateJob(w.ctx, pending.ID)
		must(w, err)
		equal(w, active.State, ojs.Available, "state")
		cancelled, err := w.client.CancelJob(w.ctx, active.ID)
		must(w, err)
		equal(w, cancelled.State, ojs.Cancelled, "state")
	})
}

func TestErrors(t *testing.T) {
	onEveryConnection(t, func(w world) {
		fails := func(err error, class ojs.Class, code string) *ojs.Error {
			w.Helper()
			var ours *ojs.Error
			if !errors.As(err, &ours) || !errors.Is(err, class) || ours.Code != code || err.Error() == "" {
				w.Fatalf("%#v is no %v %s", err, class, code)
			}
			return ours
		}
		_, err := w.client.GetJob(w.ctx, "missing/../x y")
		missing := fails(err, ojs.ErrNotFound, "not_found")
		if !errors.Is(err, ojs.ErrAPI) || errors.Is(err, ojs.ErrDuplicate) || missing.Status != 404 || missing.Retryable || missing.Hint == "" {
			w.Fatalf("%#v", missing)
		}
		unique := ojs.WithUnique(ojs.UniquePolicy{Keys: []string{"type", "args", "queue"}, Period: time.Hour})
		first := w.enqueue("cache.warm", ojs.Args{"home"}, unique)
		_, err = w.client.Enqueue(w.ctx, "cache.warm", ojs.Args{"home"}, unique, ojs.WithQueue(w.queue))
		equal(w, fails(err, ojs.ErrDuplicate, "duplicate").ExistingJobID(), first.ID, "the job that was there")
		_, err = w.client.CancelJob(w.ctx, first.ID)
		must(w, err)
		_, err = w.client.CancelJob(w.ctx, first.ID)
		if !errors.Is(err, ojs.ErrInvalidStateTransition) {
			w.Fatalf("%v", err)
		}
		_, err = w.client.Enqueue(w.ctx, "NOT A TYPE", nil)
		if !errors.Is(err, ojs.ErrInvalidRequest) {
			w.Fatalf("%v", err)
		}
		_, err = w.client.Enqueue(w.ctx, "", nil)
		fails(err, ojs.ErrValidation, "invalid_argument")
		_, err = w.client.Enqueue(w.ctx, "a", make(chan int))
		fails(err, ojs.ErrValidation, "serialization_error")
		_, err = w.client.CreateWorkflow(w.ctx, ojs.Chain())
		fails(err, ojs.ErrValidation, "invalid_argument")
		_, err = w.client.Request(w.ctx, "G T", "/jobs", nil)
		fails(err, ojs.ErrValidation, "invalid_argument")
		_, err = w.client.Result(w.ctx, w.enqueue("a", nil).ID)
		equal(w, err.(*ojs.Error).Status, 408, "status of a result that is not there yet")
	})
}

func TestConnectionErrors(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	client, err := ojs.NewClient("http://"+listener.Addr().String(), ojs.WithMaxSends(1), ojs.WithRequestTimeout(100*time.Millisecond))
	must(t, err)
	defer client.Close()
	// The server does not answer.
	_, err = client.GetJob(t.Context(), "x")
	var ours *ojs.Error
	if !errors.Is(err, ojs.ErrTimeout) || !errors.Is(err, ojs.ErrConnection) || !errors.As(err, &ours) || ours.Status != 0 {
		t.Fatalf("%#v", err)
	}
	// The caller gives up sooner, of a client that is patient: 10 ms and 100 ms may be over at once where much else runs.
	patient, err := ojs.NewClient("http://"+listener.Addr().String(), ojs.WithMaxSends(1), ojs.WithRequestTimeout(patience))
	must(t, err)
	defer patient.Close()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, errors.New("enough"))
	defer cancel()
	if _, err := patient.GetJob(ctx, "x"); err == nil || err.Error() != "enough" {
		t.Fatalf("%v", err)
	}
	must(t, listener.Close())
	// No server listens there.
	if _, err := client.GetJob(t.Context(), "x"); !errors.Is(err, ojs.ErrConnection) {
		t.Fatalf("%v", err)
	}
	nowhere, err := ojs.NewClient("sqlite:/nowhere/at/all/jobs.db")
	must(t, err)
	if _, err := nowhere.GetJob(t.Context(), "x"); err == nil {
		t.Fatal("no error")
	}
	must(t, nowhere.Close())
	// A URL that leads nowhere is refused where the client is made.
	for url, hint := range map[string]string{"ftp://x": "use http://", "jobs.db": "write sqlite:jobs.db"} {
		if _, err := ojs.NewClient(url); !errors.Is(err, ojs.ErrValidation) || !strings.Contains(err.Error(), hint) {
			t.Fatalf("%s: %v", url, err)
		}
	}
}

// A peer that closes while much is being sent is an error, and not the end of the process by SIGPIPE.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	go func() {
		for {
			peer, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = peer.Read(make([]byte, 1))
			_ = peer.Close()
		}
	}()
	client, err := ojs.NewClient("http://"+listener.Addr().String(), ojs.WithMaxSends(1))
	must(t, err)
	defer client.Close()
	for range 6 {
		if _, err := client.Enqueue(t.Context(), "a", strings.Repeat("x", 2<<20)); !errors.Is(err, ojs.ErrConnection) {
			t.Fatalf("%v", err)
		}
	}
}

func TestHeadersAndToken(t *testing.T) {
	t.Parallel()
	headers := make(chan http.Header, 1)
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		headers <- request.Header
		fmt.Fprint(response, `{"job":{"id":"x"}}`)
	}))
	defer server.Close()
	client, err := ojs.NewClient(server.URL, ojs.WithAuthToken("secret"), ojs.WithHeader("X-Tenant", "acme"), ojs.WithHeader("X-Two", "2"))
	must(t, err)
	defer client.Close()
	_, err = client.GetJob(t.Context(), "x")
	must(t, err)
	got := <-headers
	equal(t, got.Get("Authorization")+got.Get("X-Tenant")+got.Get("X-Two"), "Bearer secretacme2", "headers")
}

func TestEnqueueMiddleware(t *testing.T) {
	onEveryConnection(t, func(w world) {
		var mu sync.Mutex
		var order []string
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, what)
		}
		chain := w.client.Middleware()
		must(w, w.client.UseNamed("tenant", func(ctx context.Context, request *ojs.JobRequest, next ojs.EnqueueFunc) (*ojs.Job, error) {
			note("tenant")
			request.Meta = ojs.Obj{"tenant_id": "acme"}
			return next(ctx, request)
		}))
		must(w, chain.InsertBefore("tenant", "outer", func(ctx context.Context, request *ojs.JobRequest, next ojs.EnqueueFunc) (*ojs.Job, error) {
			note("outer")
			return next(ctx, request)
		}))
		must(w, w.client.Use(func(ctx context.Context, request *ojs.JobRequest, next ojs.EnqueueFunc) (*ojs.Job, error) {
			switch request.Type {
			case "dropped":
				return nil, nil
			case "refused":
				return nil, errors.New("not this one")
			case "twice":
				_, _ = next(ctx, request)
			}
			return next(ctx, request)
		}))
		same(w, w.enqueue("a", nil).Meta, ojs.Obj{"tenant_id": "acme"}, "meta")
		mu.Lock()
		same(w, order, []string{"outer", "tenant"}, "order")
		mu.Unlock()
		_, err := w.client.Enqueue(w.ctx, "dropped", nil)
		equal(w, errors.Is(err, ojs.ErrNotEnqueued), true, "dropped")
		_, err = w.client.Enqueue(w.ctx, "refused", nil)
		equal(w, err.Error(), "not this one", "refused")
		_, err = w.client.Enqueue(w.ctx, "twice", nil, ojs.WithQueue(w.queue))
		equal(w, errors.Is(err, ojs.ErrMiddleware), true, "twice")
		jobs, err := w.client.EnqueueBatch(w.ctx, []ojs.JobRequest{ojs.NewJob("b", ojs.Args{1}, ojs.WithQueue(w.queue)), {Type: "dropped"}, {Type: "c", Queue: w.queue}})
		must(w, err)
		equal(w, len(jobs), 2, "jobs of a batch that were kept")
		same(w, jobs[1].Meta, ojs.Obj{"tenant_id": "acme"}, "meta in a batch")
		_, err = w.client.EnqueueBatch(w.ctx, []ojs.JobRequest{{Type: "refused"}})
		equal(w, err.Error(), "not this one", "refused in a batch")
		none, err := w.client.EnqueueBatch(w.ctx, []ojs.JobRequest{{Type: "dropped"}})
		equal(w, len(none) == 0 && err == nil, true, "a batch of nothing")
	})
}

func TestAListIsLongerThanAPage(t *testing.T) {
	onEveryConnection(t, func(w world) {
		jobs := make([]ojs.JobRequest, 51)
		for n := range jobs {
			jobs[n] = ojs.JobRequest{Type: "a", Queue: fmt.Sprintf("%s-%d", w.queue, n)}
		}
		_, err := w.client.EnqueueBatch(w.ctx, jobs)
		must(w, err)
		queues, err := w.client.ListQueues(w.ctx)
		must(w, err)
		found := 0
		for _, queue := range queues {
			if name, _ := queue["name"].(string); strings.HasPrefix(name, w.queue+"-") {
				found++
			}
		}
		equal(w, found, len(jobs), "queues in the list")
	})
}

func TestManyGoroutines(t *testing.T) {
	onEveryConnection(t, func(w world) {
		var all sync.WaitGroup
		failures := make(chan error, 200)
		for n := range 200 {
			all.Add(1)
			go func() {
				defer all.Done()
				_, err := w.client.Enqueue(w.ctx, "a", ojs.Args{n}, ojs.WithQueue(w.queue))
				failures <- err
			}()
		}
		all.Wait()
		for range 200 {
			must(w, <-failures)
		}
		stats, err := w.client.QueueStats(w.ctx, w.queue)
		must(w, err)
		equal(w, stats.Available, 200, "jobs")
	})
}

func TestBigPayload(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		big := strings.Repeat("0123456789", 50_000)
		worker.Register("big", func(ctx ojs.JobContext) error {
			ctx.SetResult(len(ctx.Job.Args[0].(string)))
			return nil
		})
		w.start(worker)
		equal(w, string(w.inState(w.enqueue("big", ojs.Args{big}), ojs.Completed).Result), "500000", "bytes")
		if raceDetector {
			return // It makes JSON slow.
		}
		_, err := w.client.Enqueue(w.ctx, "big", ojs.Args{strings.Repeat("x", 11<<20)})
		equal(w, errors.Is(err, ojs.ErrPayloadTooLarge), true, fmt.Sprint("too large: ", err))
	})
}

func TestBulk(t *testing.T) {
	onEveryConnection(t, func(w world) {
		items, err := w.client.BulkEnqueue(w.ctx, []ojs.JobRequest{ojs.NewJob("a", nil, ojs.WithQueue(w.queue)), {Type: "NO SUCH TYPE"}}, ojs.BulkOptions{})
		must(w, err)
		equal(w, items[0].Status+" "+items[1].Status, "created failed", "statuses")
		if items[0].Job.ID == "" || !errors.Is(items[1].Err, ojs.ErrInvalidRequest) || items[0].Err != nil {
			w.Fatalf("%+v", items)
		}
		result, err := w.client.BulkCancel(w.ctx, ojs.BulkTarget{Queue: w.queue}, ojs.BulkOptions{})
		must(w, err)
		equal(w, result.Succeeded(), 1, "cancelled")
		again, err := w.client.BulkCancel(w.ctx, ojs.BulkTarget{JobIDs: []string{items[0].Job.ID}}, ojs.BulkOptions{})
		must(w, err)
		equal(w, again.Items[0].Status, "skipped", "cancelled twice")
		equal(w, errors.Is(again.Items[0].Err, ojs.ErrInvalidStateTransition), true, fmt.Sprint("why it was skipped: ", again.Items[0].Err))
		deleted, err := w.client.BulkDelete(w.ctx, ojs.BulkTarget{JobIDs: []string{items[0].Job.ID}}, ojs.BulkOptions{Atomic: true})
		must(w, err)
		equal(w, deleted.Succeeded(), 1, "deleted")
		_, err = w.client.BulkRetry(w.ctx, ojs.BulkTarget{}, ojs.BulkOptions{})
		equal(w, errors.Is(err, ojs.ErrValidation), true, "no target")
		key := ojs.BulkOptions{IdempotencyKey: w.queue}
		one, err := w.client.BulkEnqueue(w.ctx, []ojs.JobRequest{{Type: "b", Queue: w.queue}}, key)
		must(w, err)
		two, err := w.client.BulkEnqueue(w.ctx, []ojs.JobRequest{{Type: "b", Queue: w.queue}}, key)
		must(w, err)
		equal(w, two[0].Job.ID, one[0].Job.ID, "the same request")
	})
}

func TestQueuesAndDeadLetters(t *testing.T) {
	onEveryConnection(t, func(w world) {
		must(w, w.client.PauseQueue(w.ctx, w.queue))
		stats, err := w.client.QueueStats(w.ctx, w.queue)
		must(w, err)
		equal(w, stats.Paused, true, "paused")
		must(w, w.client.ResumeQueue(w.ctx, w.queue))
		queues, err := w.client.ListQueues(w.ctx)
		must(w, err)
		equal(w, len(queues) > 0, true, "queues")
		own := w.queue + "-own"
		_, err = w.client.CreateQueue(w.ctx, own, ojs.Obj{"concurrency": 3})
		must(w, err)
		_, err = w.client.ConfigureQueue(w.ctx, own, ojs.Obj{"concurrency": 4})
		must(w, err)
		described, err := w.client.GetQueue(w.ctx, own)
		must(w, err)
		if data, _ := json.Marshal(described); !strings.Contains(string(data), `"concurrency":4`) {
			w.Fatalf("%s", data)
		}
		must(w, w.client.DrainQueue(w.ctx, own))
		must(w, w.client.DeleteQueue(w.ctx, own, "reject", ""))

		worker := w.worker()
		worker.Register("bad", func(ojs.JobContext) error { return errors.New("no") })
		w.start(worker)
		kept := ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: 1, OnExhaustion: "dead_letter"})
		one, two := w.enqueue("bad", nil, kept), w.enqueue("bad", nil, kept)
		w.inState(one, ojs.Discarded)
		w.inState(two, ojs.Discarded)
		letters, err := w.client.ListDeadLetterJobs(w.ctx, w.queue, 10, 0)
		must(w, err)
		equal(w, len(letters), 2, "dead letters")
		letter, err := w.client.GetDeadLetterJob(w.ctx, one.ID)
		must(w, err)
		equal(w, letter.ID, one.ID, "id")
		must(w, w.client.DiscardDeadLetterJob(w.ctx, one.ID))
		_, err = w.client.DeadLetterStats(w.ctx)
		must(w, err)
		replayed, err := w.client.RetryDeadLetterJob(w.ctx, two.ID)
		must(w, err)
		w.until("it has failed again", func() bool {
			letters, err := w.client.ListDeadLetterJobs(w.ctx, w.queue, 0, 0)
			must(w, err)
			return len(letters) == 1 && letters[0].ID == replayed.ID
		})
		count, err := w.client.RetryDeadLetterJobs(w.ctx, ojs.DeadLetterFilter{Queue: w.queue, Since: time.Now().Add(-time.Hour)})
		must(w, err)
		equal(w, count, 1, "replayed")
		w.until("it has failed again", func() bool {
			count, err := w.client.DiscardDeadLetterJobs(w.ctx, ojs.DeadLetterFilter{Queue: w.queue})
			must(w, err)
			return count == 1
		})
		purged, err := w.client.PurgeQueue(w.ctx, w.queue, []ojs.JobState{ojs.Discarded, ojs.Completed}, time.Hour)
		must(w, err)
		equal(w, purged, 0, "jobs older than an hour")
	})
}

func TestCronAndLimits(t *testing.T) {
	onEveryConnection(t, func(w world) {
		name := w.queue + "-nightly"
		must(w, w.client.RegisterCronJob(w.ctx, ojs.CronJob{Name: name, Expression: "0 3 * * *", Timezone: "Europe/Vienna", OverlapPolicy: "enqueue",
			Job: ojs.NewJob("report.make", ojs.Args{1})}))
		all, err := w.client.ListCronJobs(w.ctx)
		must(w, err)
		found := false
		for _, one := range all {
			found = found || one.Name == name && one.Expression == "0 3 * * *" && one.Timezone == "Europe/Vienna" && one.OverlapPolicy == "enqueue"
		}
		equal(w, found, true, fmt.Sprintf("the schedule among %+v", all))
		must(w, w.client.UnregisterCronJob(w.ctx, name))
		equal(w, errors.Is(w.client.UnregisterCronJob(w.ctx, name), ojs.ErrNotFound), true, "gone")
		key := w.queue + "-key"
		w.enqueue("a", nil, ojs.WithOption("rate_limit", ojs.Obj{"key": key, "concurrency": 5}))
		_, err = w.client.OverrideRateLimit(w.ctx, key, ojs.Obj{"concurrency": 2, "expires_at": time.Now().Add(time.Hour)})
		must(w, err)
		limit, err := w.client.GetRateLimit(w.ctx, key)
		must(w, err)
		equal(w, fmt.Sprint(limit["concurrency"].(map[string]any)["limit"]), "2", "the limit for an hour")
		_, err = w.client.OverrideRateLimit(w.ctx, key, nil)
		must(w, err)
		limits, err := w.client.ListRateLimits(w.ctx)
		must(w, err)
		equal(w, len(limits) > 0, true, "limits")
		health, err := w.client.Health(w.ctx)
		must(w, err)
		manifest, err := w.client.Manifest(w.ctx)
		must(w, err)
		equal(w, health["status"] != nil && manifest["specversion"] != nil, true, "health and manifest")
	})
}

func TestAServerAsksForTheKeysOfAFile(t *testing.T) {
	t.Parallel()
	if _, err := ojs.StartServer("memory:", "0.0.0.0:0", ojs.WithInsecure(false)); !errors.Is(err, ojs.ErrValidation) {
		t.Fatalf("it listens to everybody: %v", err)
	}
	file := filepath.Join(t.TempDir(), "keys.json")
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("secret")))
	keys := `{"keys": [{"name": "shop", "roles": ["producer"], "created_at": "2026-01-01T00:00:00Z", "sha256": "` + sum + `"}]}`
	must(t, os.WriteFile(file, []byte(keys), 0o600))
	server, err := ojs.StartServer("memory:", "127.0.0.1:0", ojs.WithKeys(file), ojs.WithInsecure(false))
	must(t, err)
	defer server.Close()
	stranger, err := ojs.NewClient(server.URL())
	must(t, err)
	defer stranger.Close()
	if _, err := stranger.Enqueue(t.Context(), "a", nil); !errors.Is(err, ojs.ErrAuthentication) {
		t.Fatalf("a stranger may enqueue: %v", err)
	}
	client, err := ojs.NewClient(server.URL(), ojs.WithAuthToken("secret"))
	must(t, err)
	defer client.Close()
	job, err := client.Enqueue(t.Context(), "a", nil)
	must(t, err)
	equal(t, job.State, ojs.Available, "state")
}
