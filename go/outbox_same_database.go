//go:build cgo

package ojs

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// sameLimit is for a question: a transaction may be waiting for the answer.
const sameLimit = 2 * time.Second

// sameDatabase knows whether a client's server keeps its jobs in the application's database. The server says in its
// health which table its jobs are in; the application's role is asked for the same ("Framework Adapters", section
// 6.1). The core says what to ask, and decides.
type sameDatabase struct {
	client   *Client
	database OutboxDatabase
	wanted   *bool

	shared, lasting atomic.Bool

	mu    sync.Mutex
	state json.RawMessage
}

func newSameDatabase(client *Client, options OutboxOptions) *sameDatabase {
	wanted := options.SameDatabase
	if options.Dialect != PostgreSQL || wanted == nil && options.Database == nil {
		wanted = Bool(false)
	}
	s := &sameDatabase{client: client, database: options.Database, wanted: wanted}
	if wanted != nil {
		s.shared.Store(*wanted)
	}
	return s
}

// known asks no database.
func (s *sameDatabase) known() bool { return s.shared.Load() }

func (s *sameDatabase) holds(ctx context.Context) bool {
	if s.lasting.Load() {
		return s.shared.Load()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	step, err := s.step(Obj{"event": "begin", "value": s.wanted})
	for err == nil && step.Next != "enqueue" {
		step, err = s.answer(ctx, step)
	}
	if err != nil {
		step.Reason = err.Error()
	}
	if step.Reason != "" {
		slog.InfoContext(ctx, "ojs: "+step.Reason)
	}
	s.shared.Store(step.Shared)
	s.lasting.Store(step.Lasting)
	return step.Shared
}

// sameStep is what is to be done next.
type sameStep struct {
	State           json.RawMessage
	Next, SQL       string
	Shared, Lasting bool
	Reason          string
}

func (s *sameDatabase) step(event Obj) (step sameStep, err error) {
	event["state"] = s.state
	body, err := encode(event)
	if err == nil {
		step, err = sameDatabaseStep(body)
	}
	s.state = step.State
	return step, err
}

// answer asks the database or the server.
func (s *sameDatabase) answer(ctx context.Context, step sameStep) (sameStep, error) {
	ctx, cancel := context.WithTimeout(ctx, sameLimit)
	defer cancel()
	event := Obj{"event": step.Next}
	var err error
	if step.Next == "server" {
		event["value"], err = s.client.object(ctx, "GET", "/health", nil)
	} else {
		event["value"], err = s.identity(ctx, step.SQL)
	}
	if err != nil {
		event["value"], event["error"] = nil, err.Error()
	}
	return s.step(event)
}

// identity is the first value of the first row; nil is NULL.
func (s *sameDatabase) identity(ctx context.Context, query string) (any, error) {
	rows, err := s.database.TextRows(ctx, query)
	if err != nil || len(rows) == 0 || rows[0][0] == "" {
		return nil, err
	}
	return rows[0][0], nil
}

// tell has the server take in what was inserted; without it nodes look ten times a second.
func (s *sameDatabase) tell() {
	if s.database == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), sameLimit)
	defer cancel()
	if _, err := s.database.ExecContext(ctx, notifyStatement()); err != nil {
		slog.InfoContext(ctx, "ojs: the server could not be notified of new jobs; it finds them by itself", "error", err)
	}
}
