package tests

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

const secret = "4111 1111 1111 1111"

// encrypting makes an application whose client encrypts; "same database" is one whose server keeps its jobs there too.
func encrypting(t *testing.T, kind string, options ojs.OutboxOptions) *shop {
	t.Helper()
	var s *shop
	if kind == "same database" {
		s = sharing(t, "postgresql")
	} else {
		s = newShop(t, kind, ojs.OutboxOptions{SeparateRelay: true})
	}
	must(t, s.outbox.Close(s.ctx))
	client, err := ojs.NewClient(s.server, ojs.WithEncryptionKeys("k-1:"+strings.Repeat("ab", 32)))
	must(t, err)
	t.Cleanup(func() { must(t, client.Close()) })
	s.client = client
	if kind == "pgx" {
		s.withPgx(options)
	} else {
		s.withSQL(options)
	}
	return s
}

// The row holds what the server shall not read either, in an outbox and in the engine's own table; what the application adds to the chain has
// run before, and saw what its caller wrote.
func TestEI012EI013EncryptedArgumentsAreEncryptedInTheDatabase(t *testing.T) {
	t.Parallel()
	for _, kind := range append([]string{"same database"}, drivers...) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := encrypting(t, kind, ojs.OutboxOptions{PollInterval: 50 * time.Millisecond})
			query := "SELECT job_args FROM ojs_outbox"
			if kind == "same database" {
				query = "SELECT args FROM ojs_jobs"
			}
			var audited []string
			must(t, s.client.UseNamed("audit", func(ctx context.Context, request *ojs.JobRequest, next ojs.EnqueueFunc) (*ojs.Job, error) {
				audited = append(audited, fmt.Sprint(request.Args))
				return next(ctx, request)
			}))
			tx := s.transaction()
			job, err := s.outbox.EnqueueAfterCommit(s.ctx, tx, "card.charge", ojs.Args{secret})
			must(t, err)
			equal(t, fmt.Sprint(job.Args), "["+secret+"]", "what the caller gets")
			must(t, tx.Commit())
			equal(t, fmt.Sprint(audited), "[["+secret+"]]", "what a middleware sees")
			var stored string
			must(t, s.pool.QueryRowContext(s.ctx, query).Scan(&stored))
			if strings.Contains(stored, secret) || stored == "" {
				t.Fatalf("in the database: %s", stored)
			}
			seen := make(chan string, 1)
			worker, err := s.client.NewWorker()
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

// Ciphertext never repeats: the keys of unique jobs are made from what it was.
func TestEI001UniqueKeysAreThoseOfThePlainArguments(t *testing.T) {
	t.Parallel()
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			s := encrypting(t, driver, ojs.OutboxOptions{PollInterval: 50 * time.Millisecond})
			unique := ojs.WithUnique(ojs.UniquePolicy{Keys: []string{"type", "args"}, OnConflict: "ignore"})
			tx := s.transaction()
			var wanted []string
			for number, card := range []string{secret, secret, "another"} {
				job, err := s.outbox.EnqueueAfterCommit(s.ctx, tx, "card.charge", ojs.Args{card}, unique)
				must(t, err)
				if number != 1 {
					wanted = append(wanted, job.ID)
				}
			}
			must(t, tx.Commit())
			until(t, "the relay has sent all three", func() bool {
				status, err := s.outbox.Relay().Status()
				must(t, err)
				return status.Sent == 3
			})
			var found []string
			for _, job := range s.sent(2) {
				found = append(found, job.ID)
			}
			if !slices.Equal(found, wanted) {
				t.Fatalf("%v, and not %v", found, wanted)
			}
			must(t, s.outbox.Close(s.ctx))
		})
	}
}
