// What outboxes promise, with real databases and drivers, a real server and real HTTP: a module of its own, so that no
// program that uses the package gets its dependencies.
package tests

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/openjobspec/ojs-go"
	ojspgx "github.com/openjobspec/ojs-go/adapters/ojs-adapter-pgx"
	"github.com/openjobspec/ojs-go/ojstest"
	_ "modernc.org/sqlite"
)

// patience is the longest a test waits for something that takes milliseconds. Reached only by failures.
const patience = 60 * time.Second

var numbers atomic.Int64

// quiet is the log of servers whose handlers panic on purpose.
var quiet = log.New(io.Discard, "", 0)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%+v", err)
	}
}

func equal[T comparable](t testing.TB, got, want T, what string) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func until(t testing.TB, what string, probe func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !probe(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<18)
			t.Fatalf("%s: not within %s\n%s", what, patience, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// newPostgres makes an empty database and gives its URL.
func newPostgres(t testing.TB) string {
	t.Helper()
	server := os.Getenv("OJS_TEST_POSTGRES")
	if server == "" {
		t.Fatal("OJS_TEST_POSTGRES names no PostgreSQL server: run this under `postgres-fixture --`, as scripts/check.py does")
	}
	admin, err := pgx.Connect(t.Context(), server)
	must(t, err)
	name := fmt.Sprintf("go_%d_%d", os.Getpid(), numbers.Add(1))
	_, err = admin.Exec(t.Context(), "CREATE DATABASE "+name)
	must(t, err)
	t.Cleanup(func() {
		_, err := admin.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		must(t, errors.Join(err, admin.Close(context.Background())))
	})
	place, err := url.Parse(server)
	must(t, err)
	place.Path = "/" + name
	return place.String()
}

// newMariaDB makes an empty database and gives its URL, and the name of its driver's data source.
func newMariaDB(t testing.TB) (place, source string) {
	t.Helper()
	server := os.Getenv("OJS_TEST_MYSQL")
	if server == "" {
		t.Fatal("OJS_TEST_MYSQL names no MariaDB server: run this under `mariadb-fixture`, as scripts/check.py does")
	}
	parts, err := url.Parse(server)
	must(t, err)
	password, _ := parts.User.Password()
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr = parts.User.Username(), password, "tcp", parts.Host
	admin, err := sql.Open("mysql", config.FormatDSN())
	must(t, err)
	config.DBName = fmt.Sprintf("go_%d_%d", os.Getpid(), numbers.Add(1))
	_, err = admin.ExecContext(t.Context(), "CREATE DATABASE "+config.DBName)
	must(t, err)
	t.Cleanup(func() {
		_, err := admin.ExecContext(context.Background(), "DROP DATABASE "+config.DBName)
		must(t, errors.Join(err, admin.Close()))
	})
	parts.Path = "/" + config.DBName
	return parts.String(), config.FormatDSN()
}

// tx is a transaction, or a savepoint, of any of the drivers.
type tx interface {
	ojs.Transaction
	Commit() error
	Rollback() error
}

// shop is an application: a database with users, an outbox, a server, a client.
type shop struct {
	*testing.T
	ctx     context.Context
	client  *ojs.Client
	outbox  *ojs.Outbox
	dialect string
	url     string  // PostgreSQL's or MariaDB's.
	pool    *sql.DB // The application's with database/sql, the test's own with pgx.
	begin   func(ctx context.Context) (tx, error)
	nested  func(ctx context.Context, outer tx) (tx, error)
	readTx  func(ctx context.Context) (tx, error)
	server  string
}

// drivers are what applications use.
var drivers = []string{"sqlite", "postgresql", "mysql", "pgx"}

// onEveryDriver runs a test with an application of each kind.
func onEveryDriver(t *testing.T, test func(s *shop)) {
	t.Parallel()
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			test(newShop(t, driver, ojs.OutboxOptions{PollInterval: 50 * time.Millisecond}))
		})
	}
}

// newShop makes one; the options are completed.
func newShop(t *testing.T, driver string, options ojs.OutboxOptions) *shop {
	t.Helper()
	return newShopAt(t, driver, ojstest.NewServer(t), options)
}

func newShopAt(t *testing.T, driver, server string, options ojs.OutboxOptions) *shop {
	t.Helper()
	s := &shop{T: t, server: server}
	// For the whole test, which waits more than once.
	ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
	t.Cleanup(cancel)
	s.ctx = ctx
	var err error
	s.client, err = ojs.NewClient(server, ojs.WithMaxSends(1))
	must(t, err)
	t.Cleanup(func() { must(t, s.client.Close()) })
	options.Migrate = true
	switch driver {
	case "sqlite":
		s.dialect = ojs.SQLite
		s.pool = s.open("sqlite", "file:"+filepath.Join(t.TempDir(), "app.db")+"?_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)")
	case "mysql":
		var source string
		s.dialect = ojs.MySQL
		s.url, source = newMariaDB(t)
		s.pool = s.open("mysql", source)
	default:
		s.dialect, s.url = ojs.PostgreSQL, newPostgres(t)
		s.pool = s.open("pgx", s.url)
	}
	_, err = s.pool.ExecContext(ctx, "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT)")
	must(t, err)
	if driver == "pgx" {
		s.withPgx(options)
	} else {
		s.withSQL(options)
	}
	t.Cleanup(func() { must(t, s.outbox.Close(context.Background())) })
	return s
}

func (s *shop) open(driver, name string) *sql.DB {
	pool, err := sql.Open(driver, name)
	must(s, err)
	s.Cleanup(func() { must(s, pool.Close()) })
	return pool
}

func (s *shop) withSQL(options ojs.OutboxOptions) {
	options.Dialect, options.DB, options.URL = s.dialect, s.pool, s.url
	var err error
	s.outbox, err = ojs.NewOutbox(s.ctx, s.client, options)
	must(s, err)
	db := s.outbox.DB()
	s.begin = func(ctx context.Context) (tx, error) { return db.Begin(ctx) }
	s.nested = func(ctx context.Context, outer tx) (tx, error) { return outer.(*ojs.Tx).Begin(ctx) }
	s.readTx = func(ctx context.Context) (tx, error) { return db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) }
	if s.dialect == ojs.SQLite {
		s.readTx = func(ctx context.Context) (tx, error) {
			tx, err := db.Begin(ctx)
			if err == nil {
				_, err = tx.ExecContext(ctx, "PRAGMA query_only = 1")
			}
			return tx, err
		}
	}
}

func (s *shop) withPgx(options ojs.OutboxOptions) {
	pool, err := pgxpool.New(s.ctx, s.url)
	must(s, err)
	s.Cleanup(pool.Close)
	db, err := ojspgx.New(s.ctx, s.client, pool, options)
	must(s, err)
	s.outbox = db.Outbox()
	s.begin = func(ctx context.Context) (tx, error) { return db.Begin(ctx) }
	s.nested = func(ctx context.Context, outer tx) (tx, error) { return outer.(*ojspgx.Tx).Begin(ctx) }
	s.readTx = func(ctx context.Context) (tx, error) { return db.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly}) }
}

// transaction begins one.
func (s *shop) transaction() tx {
	s.Helper()
	found, err := s.begin(s.ctx)
	must(s, err)
	return found
}

func (s *shop) savepoint(outer tx) tx {
	s.Helper()
	found, err := s.nested(s.ctx, outer)
	must(s, err)
	return found
}

// add enqueues "a" with a number.
func (s *shop) add(in ojs.Transaction, number int, options ...ojs.EnqueueOption) *ojs.Job {
	s.Helper()
	job, err := s.outbox.EnqueueAfterCommit(s.ctx, in, "a", ojs.Args{number}, options...)
	must(s, err)
	return job
}

// sent waits until so many jobs are on the server, and gives them in order.
func (s *shop) sent(count int, queues ...string) (found []ojs.Job) {
	s.Helper()
	if queues == nil {
		queues = []string{"default"}
	}
	until(s, fmt.Sprint(count, " jobs are on the server"), func() bool {
		answer, err := s.client.Request(s.ctx, "POST", "/workers/fetch", ojs.Obj{"queues": queues, "count": 100, "worker_id": "test"})
		must(s, err)
		found = append(found, jobsIn(s, answer)...)
		return len(found) >= count
	})
	return found
}

// numbersOf are the arguments of jobs of add.
func numbersOf(t testing.TB, jobs []ojs.Job) (found []int) {
	for _, job := range jobs {
		var number int
		must(t, job.Args.Decode(&number))
		found = append(found, number)
	}
	return found
}

// nothingElse commits one more job, which must be the only one that comes: what was enqueued before it is gone.
func (s *shop) nothingElse() {
	s.Helper()
	last := s.transaction()
	job := s.add(last, 99)
	must(s, last.Commit())
	found := s.sent(1)
	if len(found) != 1 || found[0].ID != job.ID {
		s.Fatalf("there are other jobs: %v", numbersOf(s, found))
	}
}

// users are how many there are.
func (s *shop) users() (count int) {
	s.Helper()
	must(s, s.pool.QueryRowContext(s.ctx, "SELECT count(*) FROM users").Scan(&count))
	return count
}

// sentTo is the type of the only job on a server.
func sentTo(t *testing.T, server string) string {
	t.Helper()
	client, err := ojs.NewClient(server)
	must(t, err)
	defer client.Close()
	found := (&shop{T: t, ctx: t.Context(), client: client}).sent(1)
	equal(t, len(found), 1, "jobs")
	return found[0].Type
}
