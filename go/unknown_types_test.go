package ojs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/openjobspec/ojs-go"
)

// A job whose type has no handler becomes a dead letter, is given back, or is never asked for.
func TestUnknownTypes(t *testing.T) {
	for state, options := range map[ojs.JobState][]ojs.WorkerOption{
		ojs.Discarded: nil,
		ojs.Retryable: {ojs.WithUnknownTypes(ojs.UnknownTypesRelease)},
		ojs.Available: {ojs.WithOnlyRegisteredTypes(true)},
	} {
		t.Run(string(state), func(t *testing.T) {
			onEveryConnection(t, func(w world) {
				worker := w.worker(options...)
				worker.Register("own", func(ojs.JobContext) error { return nil })
				w.start(worker)
				other := w.enqueue("other", nil, ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: 1}))
				w.inState(w.enqueue("own", nil), ojs.Completed)
				w.inState(other, state)
			})
		})
	}
}

func TestWrongSettingsOfConnections(t *testing.T) {
	t.Parallel()
	for text, option := range map[string]ojs.ClientOption{
		"WithMaxResponseBytes must be at least 1, got 0": ojs.WithMaxResponseBytes(0),
		"'environment' or 'none'":                        ojs.WithProxy("http://proxy"),
	} {
		_, err := ojs.NewClient("http://localhost:1", option)
		if !errors.Is(err, ojs.ErrValidation) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v does not say %q", err, text)
		}
	}
	worker, err := ojs.NewWorker("memory:", ojs.WithUnknownTypes("ignore"))
	must(t, err)
	worker.Register("own", func(ojs.JobContext) error { return nil })
	if err := worker.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "'fail' or 'release'") {
		t.Error(err)
	}
}

func TestAnAnswerHasALargestSize(t *testing.T) {
	t.Parallel()
	client, err := ojs.NewClient(serverURL, ojs.WithMaxResponseBytes(10), ojs.WithProxy("none"), ojs.WithMaxSends(1))
	must(t, err)
	defer client.Close()
	if _, err := client.Manifest(t.Context()); !errors.Is(err, ojs.ErrConnection) {
		t.Fatalf("%v", err)
	}
}
