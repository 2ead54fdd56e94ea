//go:build cgo

package ojs

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"sync"
)

// TxJobs is what a transaction knows of its jobs. [Tx] has one; adapters put one into their own transactions.
type TxJobs struct {
	outbox *Outbox

	mu     sync.Mutex
	wrote  bool
	failed error
}

// NewTxJobs is for a transaction that has none so far.
func NewTxJobs(outbox *Outbox) *TxJobs { return &TxJobs{outbox: outbox} }

// Outbox is where the jobs go.
func (j *TxJobs) Outbox() *Outbox { return j.outbox }

// JobStaged says that the row of a job was written, or why it was not.
func (j *TxJobs) JobStaged(err error) {
	if isDropped(err) {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wrote = j.wrote || err == nil
	j.failed = cmp.Or(j.failed, err)
}

// Refused is not nil when the transaction must not commit: one of its jobs could not be enqueued.
func (j *TxJobs) Refused() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed == nil {
		return nil
	}
	return &Error{
		Class: ErrNotEnqueued, Code: "transaction_failed", Message: "rolled back, for a job could not be enqueued: " + j.failed.Error(),
		Hint: "look at the error that EnqueueAfterCommit has returned", cause: j.failed,
	}
}

// Committed says that it was the outermost transaction, and that it has committed: the relay looks at once.
func (j *TxJobs) Committed() {
	if j.hasJobs() {
		j.outbox.Wake()
	}
}

// Released says that it was a savepoint, whose jobs are now those of the transaction around it.
func (j *TxJobs) Released(outer *TxJobs) {
	if j.hasJobs() {
		outer.JobStaged(nil)
	}
}

func (j *TxJobs) hasJobs() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.wrote
}

// DB is the application's pool, whose transactions know the outbox. It is the *sql.DB with another Begin.
type DB struct {
	*sql.DB
	outbox *Outbox
}

// DB begins transactions that wake the relay when they commit, and do not commit when a job could not be enqueued.
func (o *Outbox) DB() *DB { return &DB{o.options.DB, o} }

// Outbox is where jobs go.
func (d *DB) Outbox() *Outbox { return d.outbox }

// Begin begins a transaction. It is rolled back when the context ends before its Commit.
func (d *DB) Begin(ctx context.Context) (*Tx, error) { return d.BeginTx(ctx, nil) }

// BeginTx is Begin with options.
func (d *DB) BeginTx(ctx context.Context, options *sql.TxOptions) (*Tx, error) {
	if d.DB == nil {
		return nil, invalid("this outbox has no pool to begin transactions in: set OutboxOptions.DB")
	}
	tx, err := d.DB.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	return &Tx{Tx: tx, TxJobs: NewTxJobs(d.outbox), ctx: ctx}, nil
}

// Tx is a transaction, or a savepoint in one, that knows the outbox. It is the *sql.Tx with another Commit.
type Tx struct {
	*sql.Tx
	*TxJobs
	ctx   context.Context
	outer *Tx // Nil in the outermost.
	depth int
	over  bool
}

// Begin sets a savepoint: what is returned commits into this transaction, or rolls back to here.
func (t *Tx) Begin(ctx context.Context) (*Tx, error) {
	inner := &Tx{Tx: t.Tx, TxJobs: NewTxJobs(t.outbox), ctx: ctx, outer: t, depth: t.depth + 1}
	if _, err := t.ExecContext(ctx, "SAVEPOINT "+inner.name()); err != nil {
		return nil, err
	}
	return inner, nil
}

func (t *Tx) name() string { return fmt.Sprintf("ojs_%d", t.depth) }

// Commit commits, and wakes the relay when there are jobs; a savepoint is released. When a job of the transaction could not be enqueued, it
// rolls back and says so.
func (t *Tx) Commit() error {
	if t.over {
		return sql.ErrTxDone
	}
	if err := t.Refused(); err != nil {
		_ = t.Rollback()
		return err
	}
	if t.outer != nil {
		if _, err := t.ExecContext(t.ctx, "RELEASE SAVEPOINT "+t.name()); err != nil {
			return err
		}
		t.over = true
		t.Released(t.outer.TxJobs)
		return nil
	}
	t.over = true
	if err := t.Tx.Commit(); err != nil {
		return err
	}
	t.Committed()
	return nil
}

// Rollback undoes it, or what came after the savepoint. After a Commit it is [sql.ErrTxDone], and may be deferred.
func (t *Tx) Rollback() error {
	if t == nil || t.over {
		return sql.ErrTxDone
	}
	t.over = true
	if t.outer == nil {
		return t.Tx.Rollback()
	}
	// The context may have ended, and that be the reason.
	ctx := context.WithoutCancel(t.ctx)
	if _, err := t.ExecContext(ctx, "ROLLBACK TO SAVEPOINT "+t.name()); err != nil {
		return err
	}
	_, err := t.ExecContext(ctx, "RELEASE SAVEPOINT "+t.name())
	return err
}
