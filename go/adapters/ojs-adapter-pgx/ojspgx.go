// Package ojspgx enqueues jobs with the transactions of pgx: a job is sent if, and only if, the transaction commits.
//
//	db, err := ojspgx.New(ctx, client, pool, ojs.OutboxOptions{Migrate: true})
//	defer db.Outbox().Close(context.Background())
//
//	tx, err := db.Begin(ctx)
//	defer tx.Rollback()
//	_, err = tx.Exec(ctx, "INSERT INTO users …")
//	job, err := ojs.EnqueueAfterCommit(ctx, tx, "email.welcome", ojs.Args{42})
//	err = tx.Commit()
//
// A transaction that was begun elsewhere is wrapped: ojs.EnqueueAfterCommit(ctx, ojspgx.Wrap(tx), …).
package ojspgx

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/openjobspec/ojs-go"
)

// DB is a pool whose transactions know the outbox. It is the *pgxpool.Pool with another Begin.
type DB struct {
	*pgxpool.Pool
	outbox *ojs.Outbox
}

// New makes the outbox of a pool, and starts the relay unless none is needed; see [ojs.NewOutbox]. The relay connects with the URL among the
// options, else with what the pool's configuration says. Close the outbox before the pool.
func New(ctx context.Context, client *ojs.Client, pool *pgxpool.Pool, options ojs.OutboxOptions) (*DB, error) {
	options.Dialect, options.Database = ojs.PostgreSQL, database{pool}
	if options.URL == "" && !options.SeparateRelay {
		url, err := relayURL(pool.Config().ConnConfig)
		if err != nil {
			return nil, err
		}
		options.URL = url
	}
	outbox, err := ojs.NewOutbox(ctx, client, options)
	if err != nil {
		return nil, err
	}
	return &DB{pool, outbox}, nil
}

// Outbox is where jobs go.
func (d *DB) Outbox() *ojs.Outbox { return d.outbox }

// Begin begins a transaction.
func (d *DB) Begin(ctx context.Context) (*Tx, error) { return d.BeginTx(ctx, pgx.TxOptions{}) }

// BeginTx is Begin with options.
func (d *DB) BeginTx(ctx context.Context, options pgx.TxOptions) (*Tx, error) {
	tx, err := d.Pool.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	return &Tx{Tx: tx, TxJobs: ojs.NewTxJobs(d.outbox), ctx: ctx}, nil
}

// Tx is a transaction, or a savepoint in one, that knows the outbox. It is the pgx.Tx with another Commit: both ends take the context of
// Begin, as in database/sql. The pgx.Tx itself is its member Tx.
type Tx struct {
	pgx.Tx
	*ojs.TxJobs
	ctx   context.Context
	outer *Tx // Nil in the outermost.
}

// Begin sets a savepoint: what is returned commits into this transaction, or rolls back to here.
func (t *Tx) Begin(ctx context.Context) (*Tx, error) {
	inner, err := t.Tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return &Tx{inner, ojs.NewTxJobs(t.Outbox()), ctx, t}, nil
}

// Commit commits, and wakes the relay when there are jobs; a savepoint is released. When a job of the transaction could not be enqueued, it
// rolls back and says so.
func (t *Tx) Commit() error {
	if err := t.Refused(); err != nil {
		_ = t.Rollback()
		return err
	}
	if err := t.Tx.Commit(t.ctx); err != nil {
		return err
	}
	if t.outer != nil {
		t.Released(t.outer.TxJobs)
	} else {
		t.Committed()
	}
	return nil
}

// Rollback undoes it, or what came after the savepoint. After a Commit it is [pgx.ErrTxClosed], and may be deferred.
func (t *Tx) Rollback() error {
	if t == nil {
		return pgx.ErrTxClosed
	}
	// The context may have ended, and that be the reason.
	return t.Tx.Rollback(context.WithoutCancel(t.ctx))
}

// ExecContext makes it an [ojs.Transaction].
func (t *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return exec(ctx, t.Tx, query, args)
}

// TextRows runs a query whose columns are texts.
func (t *Tx) TextRows(ctx context.Context, query string) ([][]string, error) {
	return textRows(ctx, t.Tx, query)
}

// Wrap makes an [ojs.Transaction] of one that was begun elsewhere: a pgx.Tx, or anything that holds one. Its Commit does not wake the relay,
// which finds the job within its poll interval; [ojs.Outbox.Wake] does. When a job cannot be enqueued, it is rolled back.
func Wrap(tx pgx.Tx) ojs.Transaction { return wrapped{tx} }

type wrapped struct{ tx pgx.Tx }

func (w wrapped) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return exec(ctx, w.tx, query, args)
}

func (w wrapped) TextRows(ctx context.Context, query string) ([][]string, error) {
	return textRows(ctx, w.tx, query)
}

func (w wrapped) Rollback() error { return w.tx.Rollback(context.Background()) }

// database is a pool as an outbox needs it.
type database struct{ pool *pgxpool.Pool }

func (d database) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return exec(ctx, d.pool, query, args)
}

func (d database) TextRows(ctx context.Context, query string) ([][]string, error) {
	return textRows(ctx, d.pool, query)
}

type connection interface {
	Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
}

func exec(ctx context.Context, on connection, query string, args []any) (sql.Result, error) {
	tag, err := on.Exec(ctx, query, args...)
	return driver.RowsAffected(tag.RowsAffected()), err
}

func textRows(ctx context.Context, on connection, query string) ([][]string, error) {
	rows, err := on.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]string, error) {
		texts := make([]string, len(row.FieldDescriptions()))
		values, places := make([]sql.NullString, len(texts)), make([]any, len(texts))
		for i := range values {
			places[i] = &values[i]
		}
		err := row.Scan(places...)
		for i, value := range values {
			texts[i] = value.String
		}
		return texts, err
	})
}
