package tests

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/ojstest"
)

// The server is away while the jobs are enqueued; the process ends, and the next one finds the rows, in order.
func TestFA003AServerThatIsAwayLosesNothing(t *testing.T) {
	t.Parallel()
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			s := newShopAt(t, driver, "http://127.0.0.1:1", ojs.OutboxOptions{PollInterval: 20 * time.Millisecond})
			tx := s.transaction()
			for number := range 5 {
				s.add(tx, number)
			}
			must(t, tx.Commit())
			until(t, "the relay is held up", func() bool {
				status, err := s.outbox.Relay().Status()
				must(t, err)
				return status.HeldUp > 0 && status.Error != ""
			})
			ended, cancel := context.WithCancel(s.ctx)
			cancel()
			must(t, s.outbox.Close(ended))
			equal(t, len(ojstest.Staged(t, s.outbox, s.pool, "a")), 5, "rows that wait")

			next, err := ojs.NewClient(ojstest.NewServer(t))
			must(t, err)
			defer next.Close()
			relay, err := ojs.StartRelay(s.ctx, next, ojs.OutboxOptions{Dialect: s.dialect, DB: s.pool, URL: s.url, Migrate: true})
			must(t, err)
			s.client = next
			if found := numbersOf(t, s.sent(5)); !slices.Equal(found, []int{0, 1, 2, 3, 4}) {
				t.Fatalf("%v", found)
			}
			until(t, "the rows are marked", func() bool { return len(ojstest.Staged(t, s.outbox, s.pool, "a")) == 0 })
			// Counted behind the mark.
			until(t, "five rows are counted", func() bool {
				status, err := relay.Status()
				must(t, err)
				return status.Sent == 5
			})
			must(t, relay.Stop(s.ctx))
			must(t, relay.Stop(s.ctx))
		})
	}
}

// A program without a worker is told as well: by slog.Default(), so this test is not one of the parallel ones.
func TestARelaySaysWhatHoldsItUp(t *testing.T) {
	lines := make(chan string, 100)
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(lineWriter(lines), nil)))
	defer slog.SetDefault(before)
	s := newShopAt(t, "sqlite", "http://127.0.0.1:1", ojs.OutboxOptions{PollInterval: 20 * time.Millisecond})
	tx := s.transaction()
	s.add(tx, 1)
	must(t, tx.Commit())
	for {
		select {
		case line := <-lines:
			if strings.Contains(line, "level=WARN") && strings.Contains(line, "the outbox is held up") &&
				strings.Contains(line, "cannot connect to http://127.0.0.1:1") {
				return
			}
		case <-s.ctx.Done():
			t.Fatal("no warning says that the outbox is held up")
		}
	}
}

// lineWriter hands on what is written, and drops it when the channel is full.
type lineWriter chan string

func (w lineWriter) Write(line []byte) (int, error) {
	select {
	case w <- string(line):
	default:
	}
	return len(line), nil
}

// What waits goes in as few requests as it fits into, however it was enqueued.
func TestFAR002RowsThatWaitGoInBatches(t *testing.T) {
	t.Parallel()
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, driver, ojs.OutboxOptions{SeparateRelay: true})
			tx := s.transaction()
			for number := range 25 {
				s.add(tx, number)
			}
			must(t, tx.Commit())
			var batches atomic.Int64
			place, err := url.Parse(s.server)
			must(t, err)
			pass := httputil.NewSingleHostReverseProxy(place)
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/jobs") {
					t.Errorf("a job of its own: %s %s", r.Method, r.URL)
				}
				if strings.HasSuffix(r.URL.Path, "/jobs/batch") {
					batches.Add(1)
				}
				pass.ServeHTTP(w, r)
			}))
			defer proxy.Close()
			client, err := ojs.NewClient(proxy.URL)
			must(t, err)
			defer client.Close()
			relay, err := ojs.StartRelay(s.ctx, client, ojs.OutboxOptions{Dialect: s.dialect, DB: s.pool, URL: s.url, BatchSize: 10})
			must(t, err)
			if found := numbersOf(t, s.sent(25)); !slices.IsSorted(found) || len(found) != 25 {
				t.Fatalf("%v", found)
			}
			until(t, "the rows are marked", func() bool { return len(ojstest.Staged(t, s.outbox, s.pool, "a")) == 0 })
			equal(t, batches.Load(), 3, "requests")
			must(t, relay.Stop(s.ctx))
		})
	}
}

func TestFAR003CloseFlushesAndLeavesNothingBehind(t *testing.T) {
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			s := newShop(t, driver, ojs.OutboxOptions{PollInterval: time.Hour})
			before := runtime.NumGoroutine()
			// No commit that wakes: only the end sends it.
			tx, err := s.pool.BeginTx(s.ctx, nil)
			must(t, err)
			s.add(tx, 1)
			must(t, tx.Commit())
			// Until the end of a context: without one it is five seconds, which a busy machine may need.
			must(t, s.outbox.Close(s.ctx))
			equal(t, len(s.sent(1)), 1, "jobs")
			if relay := s.outbox.Relay(); relay != nil {
				t.Fatal("it runs")
			}
			until(t, fmt.Sprint("no more than ", before, " goroutines"), func() bool { return runtime.NumGoroutine() <= before })
			// What is enqueued later waits for the next process.
			last, err := s.pool.BeginTx(s.ctx, nil)
			must(t, err)
			s.add(last, 2)
			must(t, last.Commit())
			equal(t, len(ojstest.Staged(t, s.outbox, s.pool, "a")), 1, "rows that wait")
		})
	}
}

// A commit wakes the relay, so that no job waits for its next look.
func TestACommitWakesTheRelay(t *testing.T) {
	t.Parallel()
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, driver, ojs.OutboxOptions{PollInterval: time.Hour})
			tx := s.transaction()
			s.add(tx, 1)
			must(t, tx.Commit())
			equal(t, len(s.sent(1)), 1, "jobs")
			// One of database/sql is waited for, or its owner says so.
			plain, err := s.pool.BeginTx(s.ctx, nil)
			must(t, err)
			s.add(plain, 2)
			must(t, plain.Commit())
			s.outbox.Wake()
			equal(t, len(s.sent(1)), 1, "jobs")
		})
	}
}

func TestTwoDatabases(t *testing.T) {
	t.Parallel()
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			one := newShop(t, driver, ojs.OutboxOptions{PollInterval: 50 * time.Millisecond})
			other := newShopAt(t, "sqlite", one.server, ojs.OutboxOptions{PollInterval: 50 * time.Millisecond})
			// Each transaction knows its own, whatever is in the context.
			ctx := ojs.WithRequestContext(one.ctx, one.client)
			kept, dropped := one.transaction(), other.transaction()
			_, err := ojs.EnqueueAfterCommit(ctx, kept, "a", ojs.Args{1})
			must(t, err)
			_, err = ojs.EnqueueAfterCommit(ctx, dropped, "a", ojs.Args{2})
			must(t, err)
			equal(t, len(ojstest.Staged(t, other.outbox, dropped, "a")), 1, "rows in the other database")
			must(t, kept.Commit())
			must(t, dropped.Rollback())
			if found := numbersOf(t, one.sent(1)); !slices.Equal(found, []int{1}) {
				t.Fatalf("%v", found)
			}
			other.nothingElse()
		})
	}
}

// A connection that goes back to its pool in the middle of a transaction takes its jobs along. With PostgreSQL the driver sees to it; with
// SQLite the relay, which must not see what is not committed.
func TestAConnectionThatGoesBackInMidTransaction(t *testing.T) {
	t.Parallel()
	for _, driver := range []string{"sqlite", "postgresql"} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, driver, ojs.OutboxOptions{PollInterval: 50 * time.Millisecond})
			s.pool.SetMaxOpenConns(3)
			connection, err := s.pool.Conn(s.ctx)
			must(t, err)
			_, err = connection.ExecContext(s.ctx, "BEGIN")
			must(t, err)
			s.add(connection, 1)
			must(t, connection.Close())
			until(t, "a transaction can begin", func() bool {
				tx, err := s.begin(s.ctx)
				return err == nil && tx.Rollback() == nil
			})
			s.nothingElse()
		})
	}
}

// Processes that start at the same time make the tables once.
func TestManyMakeTheTablesAtOnce(t *testing.T) {
	t.Parallel()
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, driver, ojs.OutboxOptions{})
			_, err := s.pool.ExecContext(s.ctx, "DROP TABLE ojs_outbox")
			must(t, err)
			made := make(chan error)
			for range 8 {
				go func() {
					options := ojs.OutboxOptions{Dialect: s.dialect, DB: s.pool, SeparateRelay: true, Migrate: true}
					_, err := ojs.NewOutbox(s.ctx, s.client, options)
					made <- err
				}()
			}
			for range 8 {
				must(t, <-made)
			}
			equal(t, len(ojstest.Staged(t, s.outbox, s.pool, "")), 0, "rows")
		})
	}
}

// One connection is enough: the relay holds none while nothing is to be sent.
func TestAPoolOfOneConnection(t *testing.T) {
	t.Parallel()
	s := newShop(t, "sqlite", ojs.OutboxOptions{PollInterval: 5 * time.Millisecond})
	s.pool.SetMaxOpenConns(1)
	for number := range 20 {
		tx := s.transaction()
		s.add(tx, number)
		must(t, tx.Commit())
	}
	equal(t, len(s.sent(20)), 20, "jobs")
}

func TestSQLiteAndItsOwnersFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	pool, err := sql.Open("sqlite", path)
	must(t, err)
	defer pool.Close()
	client, err := ojs.NewClient("sqlite:" + path)
	must(t, err)
	defer client.Close()
	_, err = ojs.NewOutbox(t.Context(), client, ojs.OutboxOptions{DB: pool, Dialect: ojs.SQLite})
	if !errors.Is(err, ojs.ErrValidation) {
		t.Fatalf("%v", err)
	}
}

func TestWhatCannotWorkSaysSo(t *testing.T) {
	t.Parallel()
	client, err := ojs.NewClient("memory:")
	must(t, err)
	defer client.Close()
	for _, options := range []ojs.OutboxOptions{
		{}, {Dialect: "oracle"}, {Dialect: ojs.SQLite}, {Dialect: ojs.PostgreSQL}, {Dialect: ojs.MySQL}, {Dialect: ojs.PostgreSQL, URL: "mysql://localhost/shop"},
		{URL: "postgres://localhost/shop", Table: "no table"},
	} {
		if _, err := ojs.NewOutbox(t.Context(), client, options); !errors.Is(err, ojs.ErrValidation) {
			t.Errorf("%+v: %v", options, err)
		}
	}
	pool, err := sql.Open("sqlite", ":memory:")
	must(t, err)
	defer pool.Close()
	tx, err := pool.BeginTx(t.Context(), nil)
	must(t, err)
	for _, ctx := range []context.Context{t.Context(), ojs.WithRequestContext(t.Context(), client)} {
		if _, err := ojs.EnqueueAfterCommit(ctx, tx, "a", nil); !errors.Is(err, ojs.ErrValidation) {
			t.Errorf("%v", err)
		}
	}
	if err := tx.Commit(); !errors.Is(err, sql.ErrTxDone) {
		t.Errorf("it committed without its job: %v", err)
	}
}
