package ojs_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/openjobspec/ojs-go"
)

// book is where a logger writes.
type book struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *book) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

func (b *book) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestCollectLogs(t *testing.T) {
	written := &book{}
	logger := slog.New(slog.NewTextHandler(written, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		ojs.CollectLogs(ctx, logger, slog.LevelDebug-4)
	}()
	until(t, "a record of the engine", func() bool {
		client, err := ojs.NewClient("memory:go-logs")
		must(t, err)
		_, err = client.Health(t.Context())
		must(t, err)
		must(t, client.Close())
		return strings.Contains(written.String(), "target=ojs")
	})
	cancel()
	receive(t, over, "the end")
}
