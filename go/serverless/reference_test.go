package serverless

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"testing"
)

// The vectors of all languages: what the server sends for a job that is too large for a queue, and what runs.
func TestReferencesAreThoseOfTheVectors(t *testing.T) {
	text, err := os.ReadFile("../../tests/vectors/serverless_reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Cases []struct {
			Name                           string
			Message, Job, Checkpoint, Runs json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, vector := range vectors.Cases {
		d, err := readDelivery(vector.Message)
		if err != nil || d.about.Args != nil {
			t.Fatal(vector.Name, err)
		}
		if string(vector.Checkpoint) == "null" {
			vector.Checkpoint = nil
		}
		if d.about.HasSaved != (vector.Checkpoint != nil) {
			t.Fatal(vector.Name, d.about.HasSaved)
		}
		whole, err := d.completed(vector.Job, vector.Checkpoint)
		if err != nil {
			t.Fatal(vector.Name, err)
		}
		var runs, want any
		wrong := errors.Join(json.Unmarshal(whole.envelope, &runs), json.Unmarshal(vector.Runs, &want))
		if wrong != nil || !reflect.DeepEqual(runs, want) {
			t.Fatal(vector.Name, string(whole.envelope))
		}
		if whole.about.Attempt != d.about.Attempt || string(whole.about.Lease) != string(d.about.Lease) {
			t.Fatal(vector.Name, whole.about)
		}
	}
}
