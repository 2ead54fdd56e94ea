package ojstest_test

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/ojstest"
)

// What fakes record is the same in all languages.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile("../../tests/vectors/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Fakes []struct {
			Name string
			Jobs []struct {
				Type    string
				Args    []any
				Meta    ojs.Obj
				Options map[string]any
			}
			Recorded []any
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Fakes) == 0 {
		t.Fatal("no vectors")
	}
	for _, vector := range vectors.Fakes {
		t.Run(vector.Name, func(t *testing.T) {
			fake := ojstest.New(t)
			for _, job := range vector.Jobs {
				request := ojs.JobRequest{Type: job.Type, Args: ojs.Args(job.Args), Meta: job.Meta, Extra: job.Options}
				if _, err := fake.Client.EnqueueBatch(t.Context(), []ojs.JobRequest{request}); err != nil {
					t.Fatal(err)
				}
			}
			var recorded []any
			for _, job := range fake.Enqueued("") {
				var sent any
				if err := json.Unmarshal(job.Raw, &sent); err != nil {
					t.Fatal(err)
				}
				recorded = append(recorded, sent)
			}
			if !reflect.DeepEqual(recorded, vector.Recorded) {
				t.Errorf("recorded %v, not %v", recorded, vector.Recorded)
			}
		})
	}
}
