package ojs

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
)

// The vectors that all languages share: what the variables of the environment say. Not in parallel: the environment
// is the process's.
func TestEnvironmentVectors(t *testing.T) {
	type environment struct {
		Name      string
		Variables map[string]string
		Settings  map[string]any
		Error     *string
	}
	for _, vector := range ReadVectors[environment](t, "vectors.json", "environments") {
		t.Run(vector.Name, func(t *testing.T) {
			for _, variable := range os.Environ() {
				if name, text, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OJS_") {
					t.Setenv(name, text) // It is put back at the end.
					os.Unsetenv(name)
				}
			}
			for name, text := range vector.Variables {
				t.Setenv(name, text)
			}
			worker, err := NewWorker("memory:")
			if vector.Error != nil {
				var ours *Error
				if !errors.As(err, &ours) || ours.Class != ErrValidation || ours.Message != *vector.Error {
					t.Fatalf("%v is not %q", err, *vector.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer worker.client.Close()
			var found map[string]any
			answer, err := environmentJSON()
			if err != nil || json.Unmarshal(answer, &found) != nil || !reflect.DeepEqual(found, vector.Settings) {
				t.Fatalf("%v %s is not %v", err, answer, vector.Settings)
			}
			queues, number := vector.Settings["queues"].([]any), vector.Settings["concurrency"]
			if len(worker.settings.queues) != len(queues) || float64(worker.settings.concurrency) != number {
				t.Fatalf("a worker of %v with %d", worker.settings.queues, worker.settings.concurrency)
			}
		})
	}
}
