package ojspgx_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/openjobspec/ojs-go"
	ojspgx "github.com/openjobspec/ojs-go/adapters/ojs-adapter-pgx"
	"github.com/openjobspec/ojs-go/ojstest"
)

// patience is the longest a test waits for something that takes milliseconds. Reached only by failures.
const patience = 60 * time.Second

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%+v", err)
	}
}

// db is the application's pool, and createUser a function of the application's, as the printed handler wants them.
var db *ojspgx.DB

type user struct{ ID int }

func createUser(tx *ojspgx.Tx, r *http.Request) (created user) {
	query := "INSERT INTO users (email) VALUES ($1) RETURNING id"
	if err := tx.QueryRow(r.Context(), query, r.FormValue("email")).Scan(&created.ID); err != nil {
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

// start makes an empty database and an application on it.
func start(t *testing.T) (client *ojs.Client, pool *pgxpool.Pool) {
	t.Helper()
	server := os.Getenv("OJS_TEST_POSTGRES")
	if server == "" {
		t.Fatal("OJS_TEST_POSTGRES names no PostgreSQL server: run this under `postgres-fixture --`, as scripts/check.py does")
	}
	admin, err := pgx.Connect(t.Context(), server)
	must(t, err)
	name := fmt.Sprintf("pgx_%d_%d", os.Getpid(), time.Now().UnixNano())
	_, err = admin.Exec(t.Context(), "CREATE DATABASE "+name)
	must(t, err)
	t.Cleanup(func() {
		_, err := admin.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		must(t, errors.Join(err, admin.Close(context.Background())))
	})
	place, err := url.Parse(server)
	must(t, err)
	place.Path = "/" + name
	pool, err = pgxpool.New(t.Context(), place.String())
	must(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), "CREATE TABLE users (id SERIAL PRIMARY KEY, email TEXT NOT NULL CHECK (email <> ''))")
	must(t, err)
	client, err = ojs.NewClient(ojstest.NewServer(t))
	must(t, err)
	t.Cleanup(func() { must(t, client.Close()) })
	db, err = ojspgx.New(t.Context(), client, pool, ojs.OutboxOptions{Migrate: true, PollInterval: 50 * time.Millisecond})
	must(t, err)
	t.Cleanup(func() { must(t, db.Outbox().Close(context.Background())) })
	return client, pool
}

// sent waits for the next job, which must be the only one there is.
func sent(t *testing.T, client *ojs.Client) ojs.Job {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		found, err := client.Request(t.Context(), "POST", "/workers/fetch", ojs.Obj{"queues": []string{"default"}, "count": 9, "worker_id": "test"})
		must(t, err)
		var answer struct{ Jobs []struct{ ID string } }
		must(t, json.Unmarshal(found, &answer))
		jobs := answer.Jobs
		if len(jobs) > 1 {
			t.Fatalf("there are others: %s", found)
		}
		if len(jobs) == 1 {
			job, err := client.GetJob(t.Context(), jobs[0].ID)
			must(t, err)
			return *job
		}
	}
	t.Fatal("no job came")
	panic("unreachable")
}

func TestFA001TheExampleOfTheSpecification(t *testing.T) {
	client, pool := start(t)
	routes := http.NewServeMux()
	routes.HandleFunc("POST /signup", SignupHandler)
	server := httptest.NewServer(OJSMiddleware(client)(routes))
	defer server.Close()
	answer, err := server.Client().Post(server.URL+"/signup?email=ada@example.com", "", nil)
	must(t, err)
	must(t, answer.Body.Close())
	var id int
	must(t, pool.QueryRow(t.Context(), "SELECT id FROM users").Scan(&id))
	if job := sent(t, client); job.Type != "email.welcome" || fmt.Sprint(job.Args) != fmt.Sprintf("[%d]", id) {
		t.Fatalf("%+v", job)
	}
}

// A transaction that was begun elsewhere, and a savepoint in it.
func TestFA002TransactionsOfPgxItself(t *testing.T) {
	client, pool := start(t)
	ctx := ojs.WithRequestContext(t.Context(), client)
	outer, err := pool.Begin(ctx)
	must(t, err)
	_, err = ojs.EnqueueAfterCommit(ctx, ojspgx.Wrap(outer), "a", ojs.Args{1})
	must(t, err)
	inner, err := outer.Begin(ctx)
	must(t, err)
	_, err = ojs.EnqueueAfterCommit(ctx, ojspgx.Wrap(inner), "a", ojs.Args{2})
	must(t, err)
	must(t, inner.Rollback(ctx))
	ojstest.AssertStaged(t, db.Outbox(), ojspgx.Wrap(outer), "a", ojstest.Args(1))
	must(t, outer.Commit(ctx))
	if job := sent(t, client); fmt.Sprint(job.Args) != "[1]" {
		t.Fatalf("%+v", job)
	}
	// A job that cannot be enqueued ends it, whether or not the error is looked at.
	failed, err := pool.Begin(ctx)
	must(t, err)
	_, _ = ojs.EnqueueAfterCommit(ctx, ojspgx.Wrap(failed), "", nil)
	if err := failed.Commit(ctx); !errors.Is(err, pgx.ErrTxClosed) {
		t.Fatalf("it committed without its job: %v", err)
	}
}

func TestAConnectionThatGoesBackInMidTransactionTakesItsJobsAlong(t *testing.T) {
	client, pool := start(t)
	connection, err := pool.Acquire(t.Context())
	must(t, err)
	tx, err := connection.Begin(t.Context())
	must(t, err)
	_, err = db.Outbox().EnqueueAfterCommit(t.Context(), ojspgx.Wrap(tx), "a", ojs.Args{1})
	must(t, err)
	connection.Release()
	last, err := db.Begin(t.Context())
	must(t, err)
	_, err = db.Outbox().EnqueueAfterCommit(t.Context(), last, "a", ojs.Args{2})
	must(t, err)
	must(t, last.Commit())
	if job := sent(t, client); fmt.Sprint(job.Args) != "[2]" {
		t.Fatalf("%+v", job)
	}
}
