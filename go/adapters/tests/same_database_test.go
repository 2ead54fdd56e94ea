package tests

import (
	"fmt"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/ojstest"
)

// sharing is an application whose server keeps its jobs in the application's own PostgreSQL ("Framework Adapters", section 6.1).
func sharing(t *testing.T, driver string) *shop {
	t.Helper()
	first := newShop(t, driver, ojs.OutboxOptions{SameDatabase: ojs.Bool(false)})
	server, err := ojs.StartServer(first.url, "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	must(t, first.outbox.Close(t.Context()))
	client, err := ojs.NewClient(server.URL())
	must(t, err)
	t.Cleanup(func() { must(t, client.Close()) })
	first.client, first.server = client, server.URL()
	// There is nothing to fall back to.
	_, err = first.pool.ExecContext(t.Context(), "DROP TABLE ojs_outbox")
	must(t, err)
	if driver == "pgx" {
		first.withPgx(ojs.OutboxOptions{})
	} else {
		first.withSQL(ojs.OutboxOptions{})
	}
	return first
}

func (s *shop) rows(table string) (count int) {
	s.Helper()
	must(s, s.pool.QueryRowContext(s.ctx, "SELECT count(*) FROM "+table).Scan(&count))
	return count
}

func TestTheServerInTheSameDatabase(t *testing.T) {
	t.Parallel()
	for _, driver := range []string{"postgresql", "pgx"} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			s := sharing(t, driver)
			if s.outbox.Relay() != nil {
				t.Fatal("there is nothing to send, and a relay runs")
			}
			outer := s.transaction()
			job := s.add(outer, 1, ojs.WithQueue("mail"), ojs.WithPriority(7), ojs.WithMeta(ojs.Obj{"k": "50 % :x"}))
			staged := ojstest.AssertStaged(t, s.outbox, outer, "a", ojstest.Args(1), ojstest.Queue("mail"))
			equal(t, staged[0].Meta["k"], any("50 % :x"), "the metadata")
			equal(t, s.rows("ojs_jobs"), 0, "rows that others see")
			lost := s.savepoint(outer)
			s.add(lost, 2, ojs.WithQueue("mail"))
			must(t, lost.Rollback())
			must(t, outer.Commit())
			gone := s.transaction()
			s.add(gone, 3, ojs.WithQueue("mail"))
			must(t, gone.Rollback())

			done := make(chan string, 9)
			worker, err := s.client.NewWorker(ojs.WithQueues("mail"))
			must(t, err)
			worker.Register("a", func(ctx ojs.JobContext) error {
				done <- fmt.Sprint(ctx.Job.ID, ctx.Job.Args, ctx.Job.Priority, ctx.Job.Meta["k"])
				return nil
			})
			ended := make(chan error, 1)
			go func() { ended <- worker.Start(t.Context()) }()
			select {
			case got := <-done:
				equal(t, got, fmt.Sprint(job.ID, ojs.Args{1}, 7, "50 % :x"), "the job")
			case <-time.After(patience):
				t.Fatal("the job does not run")
			}
			last := s.add(s.pool, 4, ojs.WithQueue("mail"))
			equal(t, (<-done)[:len(last.ID)], last.ID, "the next job")
			must(t, worker.Shutdown(t.Context()))
			must(t, <-ended)
		})
	}
}

// The tables of a server are there, but the client talks to another one.
func TestADatabaseThatOnlyLooksLikeIt(t *testing.T) {
	t.Parallel()
	s := sharing(t, "postgresql")
	must(t, s.outbox.Close(t.Context()))
	other, err := ojs.NewClient(ojstest.NewServer(t))
	must(t, err)
	defer other.Close()
	s.client = other
	s.withSQL(ojs.OutboxOptions{Migrate: true, PollInterval: 50 * time.Millisecond})
	tx := s.transaction()
	s.add(tx, 1)
	must(t, tx.Commit())
	equal(t, len(s.sent(1)), 1, "jobs")
	equal(t, s.rows("ojs_jobs"), 0, "rows of the server that is not ours")
	must(t, s.outbox.Close(t.Context()))
}
