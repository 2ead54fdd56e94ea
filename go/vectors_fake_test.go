package ojs_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/ojstest"
)

// fakeVector is what a fake records of some jobs, and how many of them the questions of a test find.
type fakeVector struct {
	Name string
	Jobs []struct {
		Type    string
		Args    json.RawMessage
		Meta    ojs.Obj
		Options map[string]json.RawMessage
	}
	Recorded  []any
	Questions []struct {
		Wanted map[string]any
		Found  *int
		Error  *string
	}
}

func TestFakeVectors(t *testing.T) {
	for _, vector := range ojs.ReadVectors[fakeVector](t, "vectors.json", "fakes") {
		t.Run(vector.Name, func(t *testing.T) {
			test := &asking{TB: t}
			fake := ojstest.New(test)
			for _, job := range vector.Jobs {
				options := optionsOf(t, job.Options)
				if job.Meta != nil {
					options = append(options, ojs.WithMeta(job.Meta))
				}
				_, err := fake.Client.Enqueue(t.Context(), job.Type, job.Args, options...)
				must(t, err)
			}
			recorded := []json.RawMessage{}
			for _, job := range fake.Enqueued("") {
				recorded = append(recorded, job.Raw)
			}
			same(t, recorded, vector.Recorded, "recorded")
			for _, question := range vector.Questions {
				found, failure := test.ask(fake, question.Wanted)
				switch {
				case question.Error == nil:
					equal(t, failure, "", fmt.Sprint(question.Wanted))
					equal(t, found, *question.Found, fmt.Sprint(question.Wanted))
				case !strings.Contains(failure, *question.Error):
					t.Errorf("%q is not %q", failure, *question.Error)
				}
			}
		})
	}
}

// asking is a test that goes on after a question that cannot be asked.
type asking struct {
	testing.TB
	failure string
}

func (a *asking) Fatal(args ...any) {
	a.failure = fmt.Sprint(args...)
	runtime.Goexit()
}

// ask says how many jobs a fake finds, or why the question cannot be asked.
func (a *asking) ask(fake *ojstest.Fake, wanted map[string]any) (found int, failure string) {
	jobType, matches := "", []ojstest.Match{}
	for name, value := range wanted {
		switch name {
		case "type":
			jobType = value.(string)
		case "args":
			matches = append(matches, ojstest.Args(value.([]any)...))
		case "meta":
			matches = append(matches, ojstest.Meta(value.(map[string]any)))
		default:
			matches = append(matches, ojstest.Option(name, value))
		}
	}
	a.failure = ""
	over := make(chan bool)
	go func() {
		defer close(over)
		found = len(fake.Enqueued(jobType, matches...))
	}()
	<-over
	return found, a.failure
}
