package ojs

import (
	"context"
	"strings"
	"testing"
)

func nothing(JobContext) error { return nil }

// A registration after the first job changes nothing. It is a mistake, and no job shall hide it.
func TestARegistrationAfterTheFirstJobIsReported(t *testing.T) {
	registry := NewRegistry()
	registry.Register("mail", nothing)
	job := []byte(`{"id":"1","type":"mail","args":[]}`)
	if outcome := registry.Run(context.Background(), job, nil); outcome.Kind != OutcomeCompleted {
		t.Fatal(outcome)
	}
	registry.Register("late", nothing)
	if err := registry.Check(); err == nil || !strings.Contains(err.Error(), "before the first job") {
		t.Fatal(err)
	}
	if outcome := registry.Run(context.Background(), job, nil); outcome.Kind == OutcomeCompleted {
		t.Fatal("the job hides the mistake")
	}
}
