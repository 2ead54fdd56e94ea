package tests

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/ojshttp"
	"github.com/openjobspec/ojs-go/ojstest"
)

// db is the application's pool, and createUser a function of the application's, as the printed handler wants them.
var db *ojs.DB

type user struct{ ID int64 }

func createUser(tx *ojs.Tx, r *http.Request) (created user) {
	query := "INSERT INTO members (email) VALUES ($1) RETURNING id"
	if err := tx.QueryRowContext(r.Context(), query, r.FormValue("email")).Scan(&created.ID); err != nil {
		panic(err)
	}
	return created
}

// --- as printed in "Framework Adapters", section 8.4

// Middleware
func OJSMiddleware(client *ojs.Client) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := ojs.WithRequestContext(r.Context(), client)
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// Handler
func SignupHandler(w http.ResponseWriter, r *http.Request) {
	tx, _ := db.Begin(r.Context())
	defer tx.Rollback()

	user := createUser(tx, r)
	ojs.EnqueueAfterCommit(r.Context(), tx, "email.welcome", ojs.Args{user.ID})

	tx.Commit() // Job is enqueued after commit
}

// --- end

// With database/sql, on both databases, behind chi and behind net/http; ojs-adapter-pgx has the same with pgx.
func TestFA001TheExampleOfTheSpecification(t *testing.T) {
	for _, driver := range []string{"sqlite", "postgresql"} {
		t.Run(driver, func(t *testing.T) {
			s := newShop(t, driver, ojs.OutboxOptions{PollInterval: 50 * time.Millisecond})
			serial := map[string]string{"sqlite": "INTEGER PRIMARY KEY", "postgresql": "SERIAL PRIMARY KEY"}[driver]
			_, err := s.pool.ExecContext(s.ctx, "CREATE TABLE members (id "+serial+", email TEXT NOT NULL CHECK (email <> ''))")
			must(t, err)
			db = s.outbox.DB()
			routes := chi.NewRouter()
			routes.Use(OJSMiddleware(s.client))
			routes.Post("/signup", SignupHandler)
			plain := http.NewServeMux()
			plain.HandleFunc("POST /signup", SignupHandler)
			for number, handler := range []http.Handler{routes, OJSMiddleware(s.client)(plain)} {
				server := httptest.NewServer(handler)
				defer server.Close()
				server.Config.ErrorLog = quiet
				for _, email := range []string{"", "ada@example.com"} {
					body := strings.NewReader("email=" + email)
					answer, err := server.Client().Post(server.URL+"/signup", "application/x-www-form-urlencoded", body)
					if email == "" {
						if err == nil {
							t.Fatal("an answer from a handler that panicked")
						}
						continue
					}
					must(t, err)
					must(t, answer.Body.Close())
				}
				job := s.sent(1)[0]
				var id int64
				must(t, s.pool.QueryRowContext(s.ctx, "SELECT max(id) FROM members").Scan(&id))
				equal(t, fmt.Sprint(job.Type, job.Args), fmt.Sprint("email.welcome[", id, "]"), fmt.Sprint("the job of server ", number))
			}
		})
	}
}

// The metadata of section 7.1: read by the middleware, bound again around the handler in the worker.
func TestFAR001TheContextOfTheRequest(t *testing.T) {
	t.Parallel()
	s := newShop(t, "sqlite", ojs.OutboxOptions{PollInterval: 50 * time.Millisecond})
	handler := func(w http.ResponseWriter, r *http.Request) {
		tx, err := s.outbox.DB().Begin(r.Context())
		must(t, err)
		defer tx.Rollback()
		_, err = ojs.EnqueueAfterCommit(r.Context(), tx, "first", nil, ojs.WithMeta(ojs.Obj{"ojs.context.locale": "own"}))
		must(t, err)
		must(t, tx.Commit())
	}
	options := ojshttp.Options{UserID: func(r *http.Request) string { name, _, _ := r.BasicAuth(); return name }}
	server := httptest.NewServer(ojshttp.Middleware(s.client, options)(http.HandlerFunc(handler)))
	defer server.Close()
	trace := "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	request, err := http.NewRequestWithContext(s.ctx, "POST", server.URL, nil)
	must(t, err)
	request.SetBasicAuth("ada", "secret")
	for name, value := range map[string]string{"X-Request-ID": "r-1", "traceparent": trace, "X-OJS-Tenant": "acme", "Accept-Language": "de-AT;q=0.9, en"} {
		request.Header.Set(name, value)
	}
	answer, err := server.Client().Do(request)
	must(t, err)
	must(t, answer.Body.Close())

	found := make(chan ojs.Obj, 2)
	worker, err := s.client.NewWorker()
	must(t, err)
	must(t, worker.Use(s.client.RestoreRequest))
	worker.Register("first", func(ctx ojs.JobContext) error {
		found <- ctx.Job.Meta
		_, err := ojs.EnqueueBulk(ctx, []ojs.JobRequest{ojs.NewJob("second", nil)})
		return err
	})
	worker.Register("second", func(ctx ojs.JobContext) error {
		found <- ctx.Job.Meta
		return nil
	})
	ctx, cancel := context.WithCancel(s.ctx)
	ended := make(chan error, 1)
	go func() { ended <- worker.Start(ctx) }()
	for range 2 {
		select {
		case meta := <-found:
			for name, value := range map[string]string{"ojs.context.user_id": "ada", "ojs.context.request_id": "r-1", "traceparent": trace,
				"tenant_id": "acme", "ojs.context.locale": "own"} {
				equal(t, meta[name], any(value), name)
			}
		case <-time.After(patience):
			t.Fatal("the jobs do not run")
		}
	}
	cancel()
	must(t, <-ended)
}

// A test's engine in memory takes part in transactions as a server does.
func TestWithTheFakeOfOjstest(t *testing.T) {
	t.Parallel()
	fake := ojstest.New(t)
	pool, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "app.db")+"?_txlock=immediate&_pragma=busy_timeout(10000)")
	must(t, err)
	defer pool.Close()
	outbox, err := ojs.NewOutbox(t.Context(), fake.Client, ojs.OutboxOptions{DB: pool, Dialect: ojs.SQLite, Migrate: true})
	must(t, err)
	worker, err := fake.Client.NewWorker()
	must(t, err)
	ran := make(chan bool, 1)
	worker.Register("a", func(ojs.JobContext) error { ran <- true; return nil })
	worker.Register("a.defaults", func(ojs.JobContext) error { return nil }, ojs.WithQueue("mail"))
	tx, err := outbox.DB().Begin(t.Context())
	must(t, err)
	_, err = ojs.EnqueueAfterCommit(t.Context(), tx, "a", ojs.Args{1})
	must(t, err)
	job, err := ojs.EnqueueAfterCommit(t.Context(), tx, "a.defaults", nil)
	must(t, err)
	equal(t, job.Queue, "mail", "the queue of the type")
	ojstest.AssertStaged(t, outbox, tx, "a.defaults", ojstest.Queue("mail"))
	must(t, tx.Commit())
	// As long as it takes: without an end of the context it is five seconds.
	flush, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, outbox.Close(flush))
	fake.AssertEnqueued("a", ojstest.Args(1))
	fake.AssertEnqueued("a.defaults", ojstest.Queue("mail"))
	equal(t, fake.Drain(worker), 1, "jobs that ran")
}
