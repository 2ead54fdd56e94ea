package tests

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/ojstest"
)

func jobsIn(t testing.TB, answer []byte) []ojs.Job {
	t.Helper()
	var body struct{ Jobs []ojs.Job }
	must(t, json.Unmarshal(answer, &body))
	return body.Jobs
}

func TestFA001ACommitSendsTheJobAndNothingDoesBefore(t *testing.T) {
	onEveryDriver(t, func(s *shop) {
		tx := s.transaction()
		_, err := tx.ExecContext(s.ctx, "INSERT INTO users (id, email) VALUES (1, 'ada@example.com')")
		must(s, err)
		job := s.add(tx, 1, ojs.WithQueue("mail"), ojs.WithPriority(7), ojs.WithMeta(ojs.Obj{"k": "50 % :x ?"}), ojs.WithTags("t"))
		equal(s, job.Queue, "mail", "the queue")
		if _, err := s.client.GetJob(s.ctx, job.ID); !errors.Is(err, ojs.ErrNotFound) {
			s.Fatalf("it is there before the commit: %v", err)
		}
		must(s, tx.Commit())
		found := s.sent(1, "mail")[0]
		equal(s, found.ID, job.ID, "the id")
		equal(s, found.Priority, 7, "the priority")
		equal(s, found.Meta["k"], any("50 % :x ?"), "the metadata")
		equal(s, slices.Equal(numbersOf(s, []ojs.Job{found}), []int{1}), true, "the arguments")
	})
}

func TestFA002ARollbackTakesItsJobsAlong(t *testing.T) {
	onEveryDriver(t, func(s *shop) {
		tx := s.transaction()
		s.add(tx, 1)
		must(s, tx.Rollback())
		s.nothingElse()
	})
}

func TestFA002SavepointsScenario48(t *testing.T) {
	onEveryDriver(t, func(s *shop) {
		outer := s.transaction()
		s.add(outer, 1)
		lost := s.savepoint(outer)
		s.add(lost, 2)
		must(s, lost.Rollback())
		kept := s.savepoint(outer)
		s.add(kept, 3)
		deeper := s.savepoint(kept)
		s.add(deeper, 4)
		must(s, deeper.Commit())
		must(s, kept.Commit())
		// A savepoint that is released sends nothing.
		staged := ojstest.AssertStaged(s, s.outbox, outer, "a", ojstest.Args(4))
		if _, err := s.client.GetJob(s.ctx, staged[0].ID); !errors.Is(err, ojs.ErrNotFound) {
			s.Fatalf("it is there before the outermost commit: %v", err)
		}
		must(s, outer.Commit())
		if found := numbersOf(s, s.sent(3)); !slices.Equal(found, []int{1, 3, 4}) {
			s.Fatalf("%v", found)
		}
		outer = s.transaction()
		inner := s.savepoint(outer)
		s.add(inner, 5)
		must(s, inner.Commit())
		must(s, outer.Rollback())
		s.nothingElse()
	})
}

// A handler that panics, and one whose client goes away, leave neither a user nor a job.
func TestFA002APanicInTheRequestHandler(t *testing.T) {
	onEveryDriver(t, func(s *shop) {
		began := make(chan struct{}, 1)
		handler := func(w http.ResponseWriter, r *http.Request) {
			tx, err := s.begin(r.Context())
			must(s, err)
			defer tx.Rollback()
			_, err = tx.ExecContext(r.Context(), "INSERT INTO users (id, email) VALUES (1, 'ada@example.com')")
			must(s, err)
			_, err = s.outbox.EnqueueAfterCommit(r.Context(), tx, "a", ojs.Args{1})
			must(s, err)
			began <- struct{}{}
			if r.URL.Path == "/panic" {
				panic(http.ErrAbortHandler)
			}
			<-r.Context().Done()
		}
		server := httptest.NewServer(http.HandlerFunc(handler))
		defer server.Close()
		_, err := server.Client().Get(server.URL + "/panic")
		if err == nil {
			s.Fatal("an answer from a handler that panicked")
		}
		<-began
		ctx, cancel := context.WithCancel(s.ctx)
		go func() {
			<-began
			cancel()
		}()
		request, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/wait", nil)
		must(s, err)
		if _, err := server.Client().Do(request); !errors.Is(err, context.Canceled) {
			s.Fatalf("%v", err)
		}
		s.nothingElse()
		equal(s, s.users(), 0, "users")
	})
}

func TestTheContextOfTheTransactionEnds(t *testing.T) {
	onEveryDriver(t, func(s *shop) {
		ctx, cancel := context.WithCancel(s.ctx)
		tx, err := s.begin(ctx)
		must(s, err)
		s.add(tx, 1)
		cancel()
		if err := tx.Commit(); err == nil {
			s.Fatal("it committed although its context had ended")
		}
		_ = tx.Rollback()
		s.nothingElse()
	})
}

func TestOutsideOfATransaction(t *testing.T) {
	onEveryDriver(t, func(s *shop) {
		job, err := s.outbox.EnqueueAfterCommit(s.ctx, nil, "a", ojs.Args{1})
		must(s, err)
		equal(s, job.State, ojs.Available, "a job without a transaction is sent at once")
		equal(s, len(s.sent(1)), 1, "jobs")
		// In autocommit the row is committed at once.
		s.add(s.pool, 2)
		connection, err := s.pool.Conn(s.ctx)
		must(s, err)
		defer connection.Close()
		s.add(connection, 3)
		if found := numbersOf(s, s.sent(2)); !slices.Equal(found, []int{2, 3}) {
			s.Fatalf("%v", found)
		}
	})
}

// What must not be overlooked is not lost by overlooking it: the printed handler drops the error.
func TestAReadOnlyTransactionSaysWhatToDo(t *testing.T) {
	onEveryDriver(t, func(s *shop) {
		tx, err := s.readTx(s.ctx)
		must(s, err)
		_, err = s.outbox.EnqueueAfterCommit(s.ctx, tx, "a", ojs.Args{1})
		var refused *ojs.Error
		if !errors.As(err, &refused) || refused.Code != "read_only_transaction" || refused.Hint == "" || !errors.Is(err, ojs.ErrNotEnqueued) {
			s.Fatalf("%+v", err)
		}
		if s.dialect == ojs.SQLite {
			_, err := tx.ExecContext(s.ctx, "PRAGMA query_only = 0")
			must(s, err)
		}
		if err := tx.Commit(); !errors.As(err, &refused) || refused.Code != "transaction_failed" {
			s.Fatalf("%+v", err)
		}
		s.nothingElse()
	})
}

func TestScenario50AJobThatCannotBeEnqueuedEndsItsTransaction(t *testing.T) {
	onEveryDriver(t, func(s *shop) {
		outer := s.transaction()
		_, err := outer.ExecContext(s.ctx, "INSERT INTO users (id, email) VALUES (1, 'ada@example.com')")
		must(s, err)
		// Only the savepoint: its owner goes on.
		inner := s.savepoint(outer)
		if _, err := s.outbox.EnqueueAfterCommit(s.ctx, inner, "", ojs.Args{1}); !errors.Is(err, ojs.ErrValidation) {
			s.Fatalf("%v", err)
		}
		if err := inner.Commit(); !errors.Is(err, ojs.ErrNotEnqueued) {
			s.Fatalf("%v", err)
		}
		s.add(outer, 2)
		must(s, outer.Commit())
		equal(s, len(s.sent(1)), 1, "jobs")
		equal(s, s.users(), 1, "users")

		// All of it; a transaction of database/sql as well.
		for _, begin := range []func() tx{s.transaction, func() tx { found, err := s.pool.BeginTx(s.ctx, nil); must(s, err); return found }} {
			tx := begin()
			_, err = tx.ExecContext(s.ctx, "INSERT INTO users (id, email) VALUES (2, 'eve@example.com')")
			must(s, err)
			if _, err := s.outbox.EnqueueAfterCommit(s.ctx, tx, "", ojs.Args{1}); err == nil {
				s.Fatal("a job without a type")
			}
			if err := tx.Commit(); err == nil {
				s.Fatal("it committed without its job")
			}
		}
		s.nothingElse()
		equal(s, s.users(), 1, "users")
	})
}

func TestAMiddlewareThatDropsAJobLeavesTheTransactionAlone(t *testing.T) {
	onEveryDriver(t, func(s *shop) {
		must(s, s.client.UseNamed("drop", func(ctx context.Context, request *ojs.JobRequest, next ojs.EnqueueFunc) (*ojs.Job, error) {
			if request.Type == "spam" {
				return nil, nil
			}
			request.Tags = append(request.Tags, "seen")
			return next(ctx, request)
		}))
		tx := s.transaction()
		if _, err := s.outbox.EnqueueAfterCommit(s.ctx, tx, "spam", nil); !errors.Is(err, ojs.ErrNotEnqueued) {
			s.Fatalf("%v", err)
		}
		requests := []ojs.JobRequest{ojs.NewJob("a", ojs.Args{1}), ojs.NewJob("spam", nil), ojs.NewJob("a", ojs.Args{2})}
		jobs, err := s.outbox.EnqueueBulkAfterCommit(s.ctx, tx, requests)
		must(s, err)
		equal(s, len(jobs), 2, "jobs that were not dropped")
		must(s, tx.Commit())
		found := s.sent(2)
		equal(s, found[0].ID, jobs[0].ID, "the first")
		equal(s, found[1].Tags[0], "seen", "what the middleware did")
	})
}

func TestATableThatIsMissing(t *testing.T) {
	onEveryDriver(t, func(s *shop) {
		_, err := s.pool.ExecContext(s.ctx, "DROP TABLE ojs_outbox")
		must(s, err)
		tx := s.transaction()
		defer tx.Rollback()
		_, err = s.outbox.EnqueueAfterCommit(s.ctx, tx, "a", nil)
		var refused *ojs.Error
		if !errors.As(err, &refused) || refused.Code != "no_outbox_table" {
			s.Fatalf("%+v", err)
		}
		want := "there is no table ojs_outbox: run 'outbox.Migrate(ctx)' once, or 'ojs relay migrate'"
		equal(s, refused.Message, want, "what to do")
		must(s, tx.Rollback())
		_, err = s.outbox.Staged(s.ctx, s.pool)
		if !errors.As(err, &refused) || refused.Message != want {
			s.Fatalf("%+v", err)
		}
		// What it says helps.
		must(s, s.outbox.Migrate(s.ctx))
		must(s, s.outbox.Migrate(s.ctx))
		again := s.transaction()
		defer again.Rollback()
		s.add(again, 1)
		must(s, again.Commit())
	})
}

func TestMigrationsAtTheSameTimeAllSucceed(t *testing.T) {
	onEveryDriver(t, func(s *shop) {
		for _, table := range []string{"ojs_outbox", "ojs_outbox_relay"} {
			_, err := s.pool.ExecContext(s.ctx, "DROP TABLE "+table)
			must(s, err)
		}
		failures := make(chan error)
		const migrations = 6
		for range migrations {
			go func() { failures <- s.outbox.Migrate(s.ctx) }()
		}
		for range migrations {
			must(s, <-failures)
		}
		tx := s.transaction()
		defer tx.Rollback()
		s.add(tx, 1)
	})
}

func TestScenario49ATestThatRollsBackSeesItsJobs(t *testing.T) {
	onEveryDriver(t, func(s *shop) {
		tx := s.transaction()
		job := s.add(tx, 1, ojs.WithQueue("mail"), ojs.WithMeta(ojs.Obj{"k": "v"}))
		staged := ojstest.AssertStaged(s, s.outbox, tx, "a", ojstest.Args(1), ojstest.Queue("mail"))
		equal(s, staged[0].ID, job.ID, "the id")
		equal(s, staged[0].Meta["k"], any("v"), "the metadata")
		must(s, tx.Rollback())
		equal(s, len(ojstest.Staged(s, s.outbox, s.pool, "")), 0, "jobs after the rollback")
	})
}
