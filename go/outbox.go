//go:build cgo

package ojs

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// The databases that an outbox may be in.
const (
	PostgreSQL = "postgresql" // 12 or later, with any driver that writes parameters as $1
	MySQL      = "mysql"      // 8.0.13 or later, MariaDB 10.6 or later, with any driver of database/sql
	SQLite     = "sqlite"     // 3.35 or later, with any driver of database/sql
)

// Transaction is what the row of a job is written with: a *sql.Tx, *sql.Conn or *sql.DB, a [Tx], or what an adapter makes of its own.
type Transaction interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// OutboxDatabase is the application's database, for adapters of drivers besides database/sql: statements outside of any transaction.
type OutboxDatabase interface {
	Transaction
	// TextRows runs a query whose columns are texts; NULL is "".
	TextRows(ctx context.Context, query string) ([][]string, error)
}

// OutboxOptions are the settings of an outbox and of a relay.
type OutboxOptions struct {
	// DB is the application's pool. SQLite needs it; with PostgreSQL and MySQL it is needed for [Outbox.DB] and to find out whether the server
	// shares the database.
	DB *sql.DB
	// Dialect is PostgreSQL, MySQL or SQLite; when there is a URL, what that names.
	Dialect string
	// URL is PostgreSQL's, "postgres://user@host/database", or MySQL's, "mysql://user@host/database": the relay in this process reads
	// there, on a connection of its own.
	URL string
	// Database is in place of DB, for adapters.
	Database OutboxDatabase
	// Table is "ojs_outbox" without it.
	Table string
	// SeparateRelay says that another process relays (`ojs relay run`), and this one does not.
	SeparateRelay bool
	// SameDatabase says whether the server keeps its jobs in this very PostgreSQL database: then the row is the job, and nothing is
	// relayed. Nil: it is found out. See [Bool].
	SameDatabase *bool
	// Migrate makes the tables first, or adds what they lack.
	Migrate bool
	// PollInterval is how often the relay looks when it is not woken; 1 s without it.
	PollInterval time.Duration
	// BatchSize is the most rows in one request, 1 to 1000; 1000 without it.
	BatchSize int
	// Retention is how long rows are kept after they were sent; 24 h without it.
	Retention time.Duration
}

func (o OutboxOptions) complete() (OutboxOptions, error) {
	o.Table = cmp.Or(o.Table, "ojs_outbox")
	if o.Dialect == "" && o.URL != "" {
		o.Dialect = PostgreSQL
		if isMySQL(o.URL) {
			o.Dialect = MySQL
		}
	}
	if o.Dialect != PostgreSQL && o.Dialect != MySQL && o.Dialect != SQLite {
		return o, invalid("the outbox's Dialect must be ojs.PostgreSQL, ojs.MySQL or ojs.SQLite, got %q", o.Dialect)
	}
	if o.Dialect == SQLite && o.DB == nil {
		return o, invalid("an outbox in SQLite needs OutboxOptions.DB: only the application's own SQLite may open the file in this process")
	}
	if o.URL != "" && isMySQL(o.URL) != (o.Dialect == MySQL) {
		return o, invalid("OutboxOptions.URL is of another database than Dialect says, %s", o.Dialect)
	}
	if o.Dialect != SQLite && o.URL == "" && !o.SeparateRelay {
		return o, invalid("the relay reads PostgreSQL and MySQL by URL: set OutboxOptions.URL, or SeparateRelay where `ojs relay run` does it")
	}
	if o.PollInterval < 0 || o.Retention < 0 {
		return o, invalid("OutboxOptions.PollInterval and Retention must not be negative, got %s and %s", o.PollInterval, o.Retention)
	}
	if o.BatchSize < 0 || o.BatchSize > 1000 {
		return o, invalid("OutboxOptions.BatchSize must be 1 to 1000, got %d", o.BatchSize)
	}
	if o.Database == nil && o.DB != nil {
		o.Database = sqlDatabase{o.DB}
	}
	return o, nil
}

func isMySQL(url string) bool {
	return strings.HasPrefix(url, "mysql://") || strings.HasPrefix(url, "mariadb://")
}

// Outbox enqueues jobs with the transactions of one database: a job is sent if, and only if, the transaction commits. The row is written by
// the application's own connection; a relay in this process, or another one, sends it afterwards (specification "Framework Adapters",
// section 6). It may be used by many goroutines at a time.
//
//	outbox, err := ojs.NewOutbox(ctx, client, ojs.OutboxOptions{DB: pool, URL: os.Getenv("DATABASE_URL"), Migrate: true})
//	defer outbox.Close(context.Background())
//
//	tx, err := pool.BeginTx(ctx, nil)
//	_, err = tx.ExecContext(ctx, "INSERT INTO users …")
//	job, err := outbox.EnqueueAfterCommit(ctx, tx, "email.welcome", ojs.Args{42})
//	err = tx.Commit()
type Outbox struct {
	client  *Client
	options OutboxOptions
	same    *sameDatabase

	mu     sync.Mutex
	relay  *Relay
	closed bool
}

// NewOutbox starts the relay, unless none is needed; what earlier processes have left is sent now. The context limits the start only. The
// first outbox of a client is the one that [EnqueueAfterCommit] finds by the context. Close it to flush it.
func NewOutbox(ctx context.Context, client *Client, options OutboxOptions) (*Outbox, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	if err := refuseSharedFile(ctx, client, options); err != nil {
		return nil, err
	}
	o := &Outbox{client: client, options: options, same: newSameDatabase(client, options)}
	if options.Migrate && options.Database != nil {
		if err := o.Migrate(ctx); err != nil {
			return nil, err
		}
	}
	if !o.same.holds(ctx) {
		if err := o.startRelay(ctx); err != nil {
			return nil, err
		}
	}
	client.outbox.CompareAndSwap(nil, o)
	return o, nil
}

// Migrate makes the tables, or adds to tables made by the specification's DDL what they lack. It may run any number of times, and in many
// processes at once.
func (o *Outbox) Migrate(ctx context.Context) error {
	if o.options.Database == nil {
		return invalid("this outbox has no connection to make its tables with: set OutboxOptions.DB, or run 'ojs relay migrate'")
	}
	statements, err := o.Migration()
	if err != nil {
		return err
	}
	var database Transaction = o.options.Database
	if o.options.DB != nil {
		// MySQL's statements lead to one another: one session for all.
		connection, err := o.options.DB.Conn(ctx)
		if err != nil {
			return fmt.Errorf("ojs: no connection to make the tables of the outbox with: %w", err)
		}
		defer connection.Close()
		database = connection
	}
	for _, statement := range statements {
		if _, err := database.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("ojs: the tables of the outbox could not be made: %w", err)
		}
	}
	return nil
}

// Migration is the statements that make the tables, or add what tables lack that were made by the specification's
// DDL: for migration tools, which run them in this order on one connection. They take a lock, so any number of
// processes may run them at the same time.
func (o *Outbox) Migration() ([]string, error) {
	return OutboxMigration(o.options.Dialect, o.options.Table)
}

// OutboxMigration is [Outbox.Migration] without an outbox; an empty table is "ojs_outbox".
func OutboxMigration(dialect, table string) ([]string, error) {
	return outboxMigration(dialect, cmp.Or(table, "ojs_outbox"))
}

// startRelay starts it, unless it runs or is not wanted.
func (o *Outbox) startRelay(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.options.SeparateRelay || o.relay != nil || o.closed {
		return nil
	}
	options := o.options
	// With a database it has been done, and would wait for transactions that write just now.
	options.Migrate = options.Migrate && options.Database == nil
	relay, err := StartRelay(ctx, o.client, options)
	o.relay = relay
	return err
}

// Relay is the relay of this process; nil while there is none.
func (o *Outbox) Relay() *Relay {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.relay
}

// Close sends what is committed, until the context ends (five seconds, when it has no deadline), and stops the relay. What is left stays in
// the table. The client and the database stay open. A second Close does nothing.
func (o *Outbox) Close(ctx context.Context) error {
	o.client.outbox.CompareAndSwap(o, nil)
	o.mu.Lock()
	relay := o.relay
	o.relay, o.closed = nil, true
	o.mu.Unlock()
	if relay == nil {
		return nil
	}
	return relay.Stop(ctx)
}

// Wake says that a transaction with jobs has committed: they go out at once. A [Tx] does so by itself; those of other
// transactions go out within the poll interval.
func (o *Outbox) Wake() {
	if o.same.known() {
		o.same.tell()
	}
	if relay := o.Relay(); relay != nil {
		relay.Wake()
	}
}

// Enqueue sends a job now, whatever becomes of any transaction.
func (o *Outbox) Enqueue(ctx context.Context, jobType string, args any, options ...EnqueueOption) (*Job, error) {
	return o.client.Enqueue(ctx, jobType, args, options...)
}

// EnqueueBulk sends many jobs now, in one request: all are stored or none.
func (o *Outbox) EnqueueBulk(ctx context.Context, requests []JobRequest) ([]Job, error) {
	return o.client.EnqueueBatch(ctx, requests)
}

// EnqueueAfterCommit sends a job if, and only if, the outermost transaction commits. The job that is returned has its id already.
// Savepoints that are rolled back take their jobs along. With a *sql.DB, or a *sql.Conn outside of a transaction, the row is committed at
// once; with nil the job is sent now.
//
// When it fails, nothing can be lost by overlooking it: the transaction is over. A [Tx] commits no more, a *sql.Tx (whatever has a method
// Rollback) is rolled back. An [ErrNotEnqueued] with the code "not_enqueued" alone, of a middleware that dropped the job, leaves it alone.
// Other codes: "read_only_transaction", "no_outbox_table", "transaction_over", "outbox_write_failed".
func (o *Outbox) EnqueueAfterCommit(ctx context.Context, tx Transaction, jobType string, args any, options ...EnqueueOption) (*Job, error) {
	if tx == nil {
		return o.client.Enqueue(ctx, jobType, args, options...)
	}
	job, err := o.write(ctx, tx, NewJob(jobType, args, options...))
	return job, o.settle(tx, err)
}

// EnqueueBulkAfterCommit is [Outbox.EnqueueAfterCommit] for many jobs. Jobs that a middleware drops are left out.
func (o *Outbox) EnqueueBulkAfterCommit(ctx context.Context, tx Transaction, requests []JobRequest) ([]Job, error) {
	if tx == nil {
		return o.client.EnqueueBatch(ctx, requests)
	}
	var jobs []Job
	for _, request := range requests {
		job, err := o.write(ctx, tx, request)
		if isDropped(err) {
			continue
		}
		if err != nil {
			return nil, o.settle(tx, err)
		}
		jobs = append(jobs, *job)
	}
	return jobs, o.settle(tx, nil)
}

// EnqueueAfterCommit is [Outbox.EnqueueAfterCommit] with the outbox that the transaction knows (a [Tx]), else that of the client in the
// context, see [WithRequestContext].
func EnqueueAfterCommit(ctx context.Context, tx Transaction, jobType string, args any, options ...EnqueueOption) (*Job, error) {
	if knows, ok := tx.(interface{ Outbox() *Outbox }); ok {
		return knows.Outbox().EnqueueAfterCommit(ctx, tx, jobType, args, options...)
	}
	client, err := clientOf(ctx)
	if err != nil {
		return nil, settle(tx, err)
	}
	if tx == nil {
		return client.Enqueue(ctx, jobType, args, options...)
	}
	outbox := client.outbox.Load()
	if outbox == nil {
		return nil, settle(tx, invalid("the client in the context has no outbox: make one with ojs.NewOutbox(ctx, client, …)"))
	}
	return outbox.EnqueueAfterCommit(ctx, tx, jobType, args, options...)
}

// write runs the chain, makes the row and writes it.
func (o *Outbox) write(ctx context.Context, tx Transaction, request JobRequest) (*Job, error) {
	inEngine := o.same.holds(ctx)
	if !inEngine {
		if err := o.startRelay(ctx); err != nil {
			return nil, err
		}
	}
	var row outboxRow
	job, err := o.client.through(ctx, &request, func(_ context.Context, changed *JobRequest) (*Job, error) {
		body, err := encode(changed)
		if err != nil {
			return nil, plainError(err)
		}
		job, err := completedJob(body)
		if err != nil {
			return nil, err
		}
		if body, err = o.client.native.encrypted(body); err != nil {
			return nil, err
		}
		if inEngine {
			row, err = stageRowInEngine(body)
		} else {
			row, err = stageRow(body, o.options.Dialect, o.options.Table)
		}
		job.ID = row.ID
		return job, err
	})
	if err != nil {
		return nil, err
	}
	if job == nil || row.SQL == "" {
		return nil, dropped
	}
	if _, err := tx.ExecContext(ctx, row.SQL, row.Params...); err != nil {
		return nil, writeError(err, o.options.Table)
	}
	o.client.tell(job)
	return job, nil
}

// settle reports to the transaction what became of its job. It returns the error.
func (o *Outbox) settle(tx Transaction, err error) error {
	// A pool, *sql.DB or DB: the row is committed.
	if _, autocommit := tx.(interface{ SetMaxOpenConns(int) }); autocommit && err == nil {
		o.Wake()
	}
	return settle(tx, err)
}

func settle(tx Transaction, err error) error {
	if watching, ok := tx.(interface{ JobStaged(error) }); ok {
		watching.JobStaged(err)
	} else if plain, ok := tx.(interface{ Rollback() error }); ok && err != nil && !isDropped(err) {
		// Its Commit must not succeed without the job.
		_ = plain.Rollback()
	}
	return err
}

// dropped is what the caller gets whose job a middleware dropped.
var dropped = &Error{Class: ErrNotEnqueued, Code: "not_enqueued", Message: "a middleware dropped the job"}

func isDropped(err error) bool {
	var ours *Error
	return errors.As(err, &ours) && ours.Class == ErrNotEnqueued && ours.Code == dropped.Code
}
