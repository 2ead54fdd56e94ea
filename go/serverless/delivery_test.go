package serverless

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openjobspec/ojs-go"
)

// The name under which a job was leased comes with the push, or with the job itself in a message of a queue.
func TestAHandlerSeesTheWorkerThatHasTheLease(t *testing.T) {
	for name, text := range map[string]string{
		"push":    `{"job":{"id":"1","type":"t","args":[]},"worker_id":"push_1","delivery_id":"d"}`,
		"message": `{"id":"1","type":"t","args":[],"worker_id":"push_1"}`,
	} {
		handler := NewHandler()
		var seen string
		handler.RegisterHandler("t", func(ctx ojs.JobContext) error {
			seen = ctx.WorkerID()
			return nil
		})
		d, err := readDelivery([]byte(text))
		if err != nil {
			t.Fatal(name, err)
		}
		if outcome := handler.run(context.Background(), d); outcome.Kind != ojs.OutcomeCompleted || seen != "push_1" {
			t.Fatal(name, outcome, seen)
		}
	}
}

// Not every server keeps checkpoints: a 404 of one does not say that the job is gone.
func TestAJobWhoseCheckpointTheServerDoesNotHaveRunsWithoutIt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/checkpoint"):
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodGet:
			_, _ = w.Write([]byte(`{"job":{"id":"1","type":"t","args":[1]}}`))
		default:
			_, _ = w.Write([]byte(`{}`))
		}
	}))
	defer server.Close()
	handler := NewHandler(WithOJSURL(server.URL))
	ran := 0
	handler.RegisterHandler("t", func(ctx ojs.JobContext) error {
		ran++
		return nil
	})
	d, err := readDelivery([]byte(`{"id":"1","type":"t","checkpoint_ref":true}`))
	if err != nil {
		t.Fatal(err)
	}
	outcome, taken := handler.settle(context.Background(), d)
	if outcome.Kind != ojs.OutcomeCompleted || !taken || ran != 1 {
		t.Fatal(outcome, taken, ran)
	}
}
