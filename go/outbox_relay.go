//go:build cgo

package ojs

import (
	"context"
	"sync"
	"time"
)

// relayGrace is how long a relay is flushed when no length is given.
const relayGrace = 5 * time.Second

// Relay sends what is in an outbox, in the order of its rows. Any number may run, in any number of processes: one sends. [NewOutbox] starts
// one; this is for programs that relay and do nothing else.
type Relay struct {
	native *nativeRelay
	logs   *logListener
	host   *sqliteHost // Nil with PostgreSQL and MySQL.
	stop   sync.Once
	over   chan struct{}
	err    error
}

// RelayStatus is what a relay has done so far.
type RelayStatus struct {
	// Leading says that this relay is the one that sends. None is while there is nothing to send.
	Leading bool `json:"leading"`
	// Sent rows are on the server.
	Sent int64 `json:"sent"`
	// Deduplicated rows were sent, and a unique policy found another job.
	Deduplicated int64 `json:"deduplicated"`
	// Refused counts refusals of the server, Parked the rows that are not tried again.
	Refused int64 `json:"refused"`
	Parked  int64 `json:"parked"`
	// HeldUp counts the turns that found the server or the database away.
	HeldUp int64 `json:"held_up"`
	// Error is why it is held up now.
	Error string `json:"error"`
}

// StartRelay starts a relay that sends with a client. It reads PostgreSQL and MySQL by OutboxOptions.URL, on a connection of its own; SQLite by
// OutboxOptions.DB, for a moment each time. The context limits the start only.
func StartRelay(ctx context.Context, client *Client, options OutboxOptions) (*Relay, error) {
	options.SeparateRelay = false
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	r := &Relay{over: make(chan struct{}), logs: relayLog()}
	var host *mailbox
	if options.Dialect == SQLite {
		if r.host, err = startSQLiteHost(options.DB); err != nil {
			return nil, err
		}
		host = r.host.mailbox
	}
	if r.native, err = startNativeRelay(client.native, options, host); err != nil {
		if r.host != nil {
			r.host.close()
		}
		return nil, err
	}
	logs.add(r.logs)
	return r, nil
}

// Wake says that a transaction has committed: the relay looks at once. Cheap.
func (r *Relay) Wake() { r.native.wake() }

// Status is what it has done so far; empty after Stop.
func (r *Relay) Status() (RelayStatus, error) { return r.native.status() }

// Stop sends what is committed, until the context ends (five seconds, when it has no deadline), and stops. What is left stays in the table.
func (r *Relay) Stop(ctx context.Context) error {
	grace := relayGrace
	if end, limited := ctx.Deadline(); limited {
		grace = max(time.Until(end), 0)
	}
	if ctx.Err() != nil {
		grace = 0
	}
	r.stop.Do(func() {
		go func() {
			defer close(r.over)
			r.err = r.native.stop(grace)
			logs.remove(r.logs)
			if r.host != nil {
				r.host.close()
			}
		}()
	})
	// At its deadline the relay ends by itself, and that is waited for.
	cancelled := ctx.Done()
	if _, limited := ctx.Deadline(); limited || ctx.Err() != nil {
		cancelled = nil
	}
	select {
	case <-r.over:
		return r.err
	case <-cancelled:
		return context.Cause(ctx)
	}
}
