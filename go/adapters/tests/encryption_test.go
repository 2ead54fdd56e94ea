package tests

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

// The row holds what the server shall not read either, in an outbox and in the engine's own table.
func TestEncryptedArgumentsAreEncryptedInTheDatabase(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"sqlite", "pgx", "same database"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var s *shop
			query := "SELECT job_args FROM ojs_outbox"
			if kind == "same database" {
				s, query = sharing(t, "postgresql"), "SELECT args FROM ojs_jobs"
			} else {
				s = newShop(t, kind, ojs.OutboxOptions{SeparateRelay: true, PollInterval: 50 * time.Millisecond})
			}
			must(t, s.outbox.Close(s.ctx))
			client, err := ojs.NewClient(s.server, ojs.WithEncryptionKeys("k-1:"+strings.Repeat("ab", 32)))
			must(t, err)
			defer client.Close()
			s.client = client
			if s.dialect == ojs.SQLite {
				s.withSQL(ojs.OutboxOptions{PollInterval: 50 * time.Millisecond})
			} else if kind == "pgx" {
				s.withPgx(ojs.OutboxOptions{PollInterval: 50 * time.Millisecond})
			} else {
				s.withSQL(ojs.OutboxOptions{})
			}
			const secret = "4111 1111 1111 1111"
			tx := s.transaction()
			job, err := s.outbox.EnqueueAfterCommit(s.ctx, tx, "card.charge", ojs.Args{secret})
			must(t, err)
			equal(t, fmt.Sprint(job.Args), "["+secret+"]", "what the caller gets")
			must(t, tx.Commit())
			var stored string
			must(t, s.pool.QueryRowContext(s.ctx, query).Scan(&stored))
			if strings.Contains(stored, secret) || stored == "" {
				t.Fatalf("in the database: %s", stored)
			}
			seen := make(chan string, 1)
			worker, err := client.NewWorker()
			must(t, err)
			worker.Register("card.charge", func(ctx ojs.JobContext) error {
				seen <- fmt.Sprint(ctx.Job.Args)
				return nil
			})
			ended := make(chan error, 1)
			go func() { ended <- worker.Start(s.ctx) }()
			select {
			case got := <-seen:
				equal(t, got, "["+secret+"]", "what the handler sees")
			case <-time.After(patience):
				t.Fatal("the job does not run")
			}
			must(t, worker.Shutdown(s.ctx))
			must(t, <-ended)
			must(t, s.outbox.Close(s.ctx))
		})
	}
}
