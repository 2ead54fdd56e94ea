package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go-sdk/serverless"
)

// patience is the longest a test waits for something that takes milliseconds. Reached only by failures.
const patience = 60 * time.Second

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

var quiet = serverless.WithLogger(slog.New(slog.DiscardHandler))

// world is a real server with a client, and jobs that a push endpoint has been leased.
type world struct {
	*testing.T
	server *ojs.Server
	client *ojs.Client
}

func newWorld(t *testing.T, options ...ojs.ClientOption) world {
	t.Helper()
	server, err := ojs.StartServer("memory:", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client, err := ojs.NewClient(server.URL(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Close()
	})
	return world{t, server, client}
}

// leased enqueues a job and takes it as the sender of a push endpoint does; it returns the body of a delivery.
func (w world) leased(jobType string, args any, options ...ojs.EnqueueOption) (id, body string) {
	w.Helper()
	ctx := context.Background()
	// A failed job stays where a test looks for it.
	options = append([]ojs.EnqueueOption{ojs.WithRetry(ojs.RetryPolicy{InitialInterval: time.Hour})}, options...)
	job, err := w.client.Enqueue(ctx, jobType, args, options...)
	if err != nil {
		w.Fatal(err)
	}
	fetch := ojs.Obj{"queues": []string{"default"}, "count": 1, "worker_id": "push_worker_1"}
	answer, err := w.client.Request(ctx, "POST", "/workers/fetch", fetch)
	if err != nil {
		w.Fatal(err)
	}
	var fetched struct{ Jobs []json.RawMessage }
	if err := json.Unmarshal(answer, &fetched); err != nil || len(fetched.Jobs) != 1 {
		w.Fatalf("fetched %s: %v", answer, err)
	}
	return job.ID, delivery(string(fetched.Jobs[0]))
}

var deliveries atomic.Int64

func delivery(job string) string {
	return fmt.Sprintf(`{"job":%s,"worker_id":"push_worker_1","delivery_id":"del_%d"}`, job, deliveries.Add(1))
}

func (w world) job(id string) *ojs.Job {
	w.Helper()
	job, err := w.client.GetJob(context.Background(), id)
	if err != nil {
		w.Fatal(err)
	}
	return job
}

func (w world) isIn(id string, state ojs.JobState) {
	w.Helper()
	if job := w.job(id); job.State != state {
		w.Fatalf("the job is %s, wanted %s: %s", job.State, state, job.Raw)
	}
}

func message(id, body string) serverless.SQSMessage {
	return serverless.SQSMessage{MessageID: id, Body: body, EventSourceARN: "arn:aws:sqs:eu-central-1:1:ojs-default"}
}

func fifo(id, group, body string) serverless.SQSMessage {
	one := message(id, body)
	one.EventSourceARN += ".fifo"
	one.Attributes = map[string]string{"MessageGroupId": group}
	return one
}

// again are the messages of a batch that SQS shall deliver again.
func again(t *testing.T, handler *serverless.LambdaHandler, messages ...serverless.SQSMessage) string {
	t.Helper()
	answer, err := handler.HandleSQS(context.Background(), serverless.SQSEvent{Records: messages})
	must(t, err)
	return failures(answer)
}

func failures(answer serverless.SQSResponse) string {
	var ids []string
	for _, failure := range answer.BatchItemFailures {
		ids = append(ids, failure.ItemIdentifier)
	}
	return strings.Join(ids, " ")
}

// plain is a job that no server knows.
func plain(jobType string) string {
	const form = `{"specversion":"1.0","id":"01234567-89ab-7cde-8000-%012d","type":"%s","queue":"default","args":[1],"attempt":1}`
	return fmt.Sprintf(form, deliveries.Add(1), jobType)
}

// post sends a request to a handler over a socket.
func post(t *testing.T, handler http.Handler, headers http.Header, body string) (int, map[string]any) {
	t.Helper()
	endpoint := httptest.NewServer(handler)
	defer endpoint.Close()
	request, err := http.NewRequest(http.MethodPost, endpoint.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = headers
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer := map[string]any{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatalf("%d %s: %v", response.StatusCode, text, err)
		}
	}
	return response.StatusCode, answer
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
