package serverless

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/openjobspec/ojs-go"
)

func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("../../tests/vectors/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// The vectors of all languages: what the server sends for a job that is too large for a queue, and what runs.
func TestReferencesAreThoseOfTheVectors(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Name                           string
			Message, Job, Checkpoint, Runs json.RawMessage
		}
	}
	readVectors(t, "serverless_reference", &vectors)
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

// answering is a server that answers about the job of a case as a vector says. It notes what is reported to it.
func answering(t *testing.T, job, checkpoint any, answer map[string]*answered, reported *[]string) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			*reported = append(*reported, r.URL.Path)
			_, _ = w.Write([]byte("{}"))
			return
		}
		said, found := answer["job"], map[string]any{"job": job}
		if strings.HasSuffix(r.URL.Path, "/checkpoint") {
			said, found = answer["checkpoint"], checkpoint.(map[string]any)
		}
		if said != nil {
			w.WriteHeader(said.Status)
			_, _ = w.Write([]byte(said.Body))
			return
		}
		_ = json.NewEncoder(w).Encode(found)
	}))
	t.Cleanup(server.Close)
	return server
}

type answered struct {
	Status int
	Body   string
}

// The vectors of all languages: what a message comes to when a server answers so about its job.
func TestReferencesEndAsTheAnswersOfTheVectorsSay(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Message         json.RawMessage
			Job, Checkpoint map[string]any
		}
		Answers []struct {
			Name, Ends      string
			Job, Checkpoint *answered
		}
	}
	readVectors(t, "serverless_reference", &vectors)
	given := vectors.Cases[0]
	for _, one := range vectors.Cases {
		if strings.Contains(string(one.Message), "checkpoint_ref") {
			given = one
		}
	}
	for _, answer := range vectors.Answers {
		var reported []string
		said := map[string]*answered{"job": answer.Job, "checkpoint": answer.Checkpoint}
		server := answering(t, given.Job, given.Checkpoint, said, &reported)
		handler := NewHandler(WithOJSURL(server.URL))
		ran, saved := 0, false
		handler.RegisterHandler("email.send", func(ctx ojs.JobContext) error {
			var state map[string]any
			var err error
			ran++
			saved, err = ctx.LoadCheckpoint(&state)
			return err
		})
		d, err := readDelivery(given.Message)
		if err != nil {
			t.Fatal(answer.Name, err)
		}
		outcome, taken := handler.settle(t.Context(), d)
		known := map[[2]bool]string{{true, true}: "runs", {false, true}: "gone", {false, false}: "again"}
		ends := known[[2]bool{ran == 1, taken}]
		if ends != answer.Ends || (ends == "runs") != slices.Equal(reported, []string{"/ojs/v1/workers/ack"}) {
			t.Fatal(answer.Name, ran, taken, outcome, reported)
		}
		if ends == "runs" && saved != (answer.Checkpoint == nil) {
			t.Fatal(answer.Name, saved)
		}
	}
}

// A message that comes again is not dropped because of an answer that does not come from a server of jobs.
func TestABare404DoesNotSayThatTheServerHasMovedOn(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	d, err := readDelivery([]byte(`{"id":"1","type":"t","args":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	handler := NewHandler(WithOJSURL(server.URL))
	handler.RegisterHandler("t", func(ojs.JobContext) error { return nil })
	if handler.isStale(t.Context(), d) {
		t.Fatal("the job counts as gone")
	}
	if outcome, taken := handler.settle(t.Context(), d); outcome.Kind != ojs.OutcomeCompleted || taken {
		t.Fatal("the outcome counts as reported", outcome, taken)
	}
}

// The failure of an attempt whose time was up is the same in every language.
func TestATimeoutHasTheErrorOfTheVectors(t *testing.T) {
	var vectors struct{ Error map[string]any }
	readVectors(t, "serverless_timeout", &vectors)
	handler := NewHandler()
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	handler.RegisterHandler("slow", func(ojs.JobContext) error {
		<-end
		return nil
	})
	d, err := readDelivery([]byte(`{"id":"1","type":"slow","args":[],"timeout_ms":1}`))
	if err != nil {
		t.Fatal(err)
	}
	var said map[string]any
	if err := json.Unmarshal(handler.run(t.Context(), d).Error, &said); err != nil {
		t.Fatal(err)
	}
	for name, value := range vectors.Error {
		if said[name] != value {
			t.Fatal(name, said)
		}
	}
}
