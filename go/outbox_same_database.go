package ojs

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// samePatience is how long the question is not asked again after a question had no answer.
	samePatience = 30 * time.Second
	// sameLimit is for the question itself: a transaction may be waiting for the answer.
	sameLimit = 2 * time.Second
)

// sameDatabase knows whether a client's server keeps its jobs in the application's database: asked once, remembered. The server says in its
// health which table its jobs are in; the application's role is asked for the same ("Framework Adapters", section 6.1).
type sameDatabase struct {
	client   *Client
	database OutboxDatabase

	mu      sync.Mutex
	decided bool
	shared  bool
	askAt   time.Time
}

func newSameDatabase(client *Client, options OutboxOptions) *sameDatabase {
	s := &sameDatabase{client: client, database: options.Database}
	switch {
	case options.Dialect != PostgreSQL || options.SameDatabase == nil && options.Database == nil:
		s.decided = true
	case options.SameDatabase != nil:
		s.decided, s.shared = true, *options.SameDatabase
	}
	return s
}

// known asks no database.
func (s *sameDatabase) known() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shared
}

func (s *sameDatabase) holds(ctx context.Context) bool {
	s.mu.Lock()
	shared, ask := s.shared, !s.decided && !time.Now().Before(s.askAt)
	if ask {
		// Others go on with what is known.
		s.askAt = time.Now().Add(samePatience)
	}
	s.mu.Unlock()
	if !ask {
		return shared
	}
	shared, decided := s.find(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shared, s.decided = shared, decided
	return shared
}

func (s *sameDatabase) find(ctx context.Context) (shared, decided bool) {
	ctx, cancel := context.WithTimeout(ctx, sameLimit)
	defer cancel()
	rows, err := s.database.TextRows(ctx, identityQuery())
	if err != nil {
		slog.InfoContext(ctx, "ojs: jobs go through the outbox: the database does not say which one it is", "error", err)
		// A pool that had no connection to spare may have one later.
		return false, ctx.Err() == nil
	}
	if len(rows) != 1 || rows[0][0] == "" {
		return false, false
	}
	var health struct {
		Backend struct{ ID string }
	}
	if err := s.client.ask(ctx, "GET", "/health", nil, &health); err != nil {
		slog.InfoContext(ctx, "ojs: jobs go through the outbox for now: the server did not say where it keeps them", "error", err)
		return false, false
	}
	return health.Backend.ID == rows[0][0], true
}

// tell has the server take in what was inserted; without it nodes look ten times a second.
func (s *sameDatabase) tell() {
	if s.database == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), sameLimit)
	defer cancel()
	if _, err := s.database.ExecContext(ctx, "NOTIFY ojs_ready, '+'"); err != nil {
		slog.InfoContext(ctx, "ojs: the server could not be told of new jobs; it finds them by itself", "error", err)
	}
}
