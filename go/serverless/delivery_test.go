package serverless

import (
	"context"
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
