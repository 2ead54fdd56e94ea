package tests

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go-sdk/serverless"
)

func flat(headers http.Header) map[string]string {
	one := map[string]string{}
	for name, values := range headers {
		one[name] = values[0]
	}
	return one
}

func lambdaHandler(options ...serverless.Option) (*serverless.LambdaHandler, *[]string) {
	handler := serverless.NewLambdaHandler(append([]serverless.Option{quiet}, options...)...)
	ran := &[]string{}
	handler.Register("car.run", func(_ context.Context, job serverless.Job) error {
		*ran = append(*ran, job.ID[len(job.ID)-2:])
		return nil
	})
	handler.Register("car.fail", func(context.Context, serverless.Job) error { return errors.New("broken") })
	handler.Register("car.never", func(context.Context, serverless.Job) error {
		return ojs.NonRetryable(errors.New("broken"))
	})
	return handler, ran
}

func car(jobType string, number int) string {
	return fmt.Sprintf(`{"id":"01234567-89ab-7cde-8000-0000000000%02d","type":"%s","args":[]}`, number, jobType)
}

// After the first failure of a group, the rest of that group is reported as failed too; other groups go on.
func TestInAFIFOQueueAFailureEndsTheWorkOnItsGroup(t *testing.T) {
	handler, ran := lambdaHandler()
	names := again(t, handler,
		fifo("m1", "a", car("car.run", 1)), fifo("m2", "b", car("car.run", 2)), fifo("m3", "a", car("car.fail", 3)),
		fifo("m4", "a", car("car.run", 4)), fifo("m5", "b", car("car.run", 5)), fifo("m6", "c", "no job"),
		fifo("m7", "c", car("car.run", 7)))
	if names != "m3 m4 m6 m7" {
		t.Fatal(names)
	}
	if !slices.Equal(*ran, []string{"01", "02", "05"}) {
		t.Fatal(*ran)
	}
}

func TestInAFIFOQueueTheServersRetryDoesNotOvertakeTheGroup(t *testing.T) {
	w := newWorld(t)
	handler, ran := lambdaHandler(serverless.WithOJSURL(w.server.URL()))
	first, one := w.leased("car.fail", nil)
	second, two := w.leased("car.never", nil)
	names := again(t, handler,
		fifo("m1", "a", one), fifo("m2", "a", car("car.run", 2)), fifo("m3", "b", two), fifo("m4", "b", car("car.run", 4)))
	if names != "m1 m2" || !slices.Equal(*ran, []string{"04"}) {
		t.Fatal(names, *ran)
	}
	w.isIn(first, ojs.Retryable)
	w.isIn(second, ojs.Discarded)
	// SQS delivers m1 again, and the server is at the next attempt: nothing runs.
	old := fifo("m1", "a", one)
	old.Attributes["ApproximateReceiveCount"] = "2"
	if names := again(t, handler, old); names != "" {
		t.Fatal(names)
	}
	if attempt := w.job(first).Attempt; attempt != 1 {
		t.Fatal(attempt)
	}
}

// Each job waits for the other one.
func TestJobsOfAStandardQueueRunSideBySide(t *testing.T) {
	handler, _ := lambdaHandler()
	var both sync.WaitGroup
	both.Add(2)
	handler.Register("car.meet", func(context.Context, serverless.Job) error {
		both.Done()
		both.Wait()
		return nil
	})
	names := again(t, handler,
		message("m1", car("car.meet", 1)), message("m2", car("car.meet", 2)), message("m3", car("car.fail", 3)))
	if names != "m3" {
		t.Fatal(names)
	}
}

func TestWhatTheServerDoesNotLearnComesAgain(t *testing.T) {
	var asked atomic.Int64
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer away.Close()
	handler, _ := lambdaHandler(serverless.WithOJSURL(away.URL))
	names := again(t, handler, message("m1", car("car.run", 1)), message("m2", car("car.fail", 2)))
	if names != "m1 m2" || asked.Load() != 2 {
		t.Fatal(names, asked.Load())
	}
	var failed *serverless.DeliveryFailedError
	event := serverless.EventBridgeEvent{Detail: json.RawMessage(car("car.fail", 1))}
	_, err := handler.HandleEventBridge(context.Background(), event)
	if !errors.As(err, &failed) || failed.Code != "handler_error" || !failed.Retryable {
		t.Fatal(err)
	}
}

// An answer of the server that a broken connection swallowed, and a server that is away for a moment.
func TestAnOutcomeIsSentAgainUntilThereIsAnAnswer(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int64
	flaky := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 3 {
			http.Error(rw, "away", http.StatusServiceUnavailable)
			return
		}
		answer, err := http.Post(w.server.URL()+r.URL.Path, r.Header.Get("Content-Type"), r.Body)
		if err != nil {
			panic(err)
		}
		defer answer.Body.Close()
		rw.WriteHeader(answer.StatusCode)
	}))
	defer flaky.Close()
	handler, _ := lambdaHandler(serverless.WithOJSURL(flaky.URL))
	id, body := w.leased("car.run", nil)
	if names := again(t, handler, message("m1", body)); names != "" {
		t.Fatal(names)
	}
	w.isIn(id, ojs.Completed)
}

func TestAServerThatHangsDoesNotHoldUpAFunction(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	handler, _ := lambdaHandler(serverless.WithOJSURL("http://" + silent.Addr().String()))
	began := time.Now()
	if names := again(t, handler, message("m1", plain("car.run"))); names != "m1" {
		t.Fatal(names)
	}
	if taken := time.Since(began); taken > 20*time.Second {
		t.Fatalf("%v: one call alone would wait for 30 s", taken)
	}
}

func TestALargeJobIsReadFromTheServer(t *testing.T) {
	w := newWorld(t)
	handler := serverless.NewLambdaHandler(serverless.WithOJSURL(w.server.URL()), quiet)
	var got int
	handler.Register("blob.keep", func(_ context.Context, job serverless.Job) error {
		got = len(job.Args[0].(string))
		return nil
	})
	id, _ := w.leased("blob.keep", strings.Repeat("x", 300_000))
	reference := delivery(fmt.Sprintf(`{"id":"%s","type":"blob.keep"}`, id))
	if names := again(t, handler, message("m1", reference)); names != "" || got != 300_000 {
		t.Fatal(names, got)
	}
	w.isIn(id, ojs.Completed)
}

func TestAReferenceIsNotRunWhereNoServerIsNamed(t *testing.T) {
	t.Setenv("OJS_URL", "")
	handler, ran := lambdaHandler()
	reference := delivery(`{"id":"1","type":"car.run"}`)
	if names := again(t, handler, message("m1", reference)); names != "m1" || len(*ran) != 0 {
		t.Fatal(names, *ran)
	}
	var failed *serverless.DeliveryFailedError
	_, err := handler.HandleEventBridge(t.Context(), serverless.EventBridgeEvent{Detail: []byte(reference)})
	if !errors.As(err, &failed) || failed.Code != "invalid_job" || !failed.Retryable {
		t.Fatal(err)
	}
}

func TestAReferenceToAJobThatIsGoneIsDone(t *testing.T) {
	w := newWorld(t)
	handler, ran := lambdaHandler(serverless.WithOJSURL(w.server.URL()))
	reference := delivery(`{"id":"019539a4-0000-7000-8000-00000000dead","type":"car.run"}`)
	if names := again(t, handler, message("m1", reference)); names != "" || len(*ran) != 0 {
		t.Fatal(names, *ran)
	}
	answer, err := handler.HandleEventBridge(t.Context(), serverless.EventBridgeEvent{Detail: []byte(reference)})
	if err != nil || answer.Status != "failed" || !strings.Contains(string(answer.Error), "not_found") {
		t.Fatal(answer, err)
	}
}

func TestAFunctionURLAndAPIGateway(t *testing.T) {
	handler, _ := lambdaHandler(serverless.WithSigningSecrets(secret))
	body := delivery(car("car.run", 1))
	headers := signed(body, time.Now(), secret)
	two := serverless.HTTPEvent{Headers: flat(headers), IsBase64Encoded: true}
	two.Body = base64.StdEncoding.EncodeToString([]byte(body))
	two.RequestContext.HTTP.Method = "POST"
	one := serverless.HTTPEvent{HTTPMethod: "POST", MultiValueHeaders: headers, Body: body}
	get, broken, unsigned := one, two, one
	get.HTTPMethod, broken.Body, unsigned.MultiValueHeaders = "GET", "%", nil
	for _, call := range []struct {
		event serverless.HTTPEvent
		want  int
	}{{two, 200}, {one, 200}, {get, 405}, {broken, 400}, {unsigned, 401}} {
		text, err := json.Marshal(call.event)
		must(t, err)
		said, err := handler.HandleEvent(context.Background(), text)
		answer, is := said.(serverless.HTTPResponse)
		if err != nil || !is || answer.StatusCode != call.want {
			t.Errorf("%v %v, wanted %d", said, err, call.want)
		}
	}
}

func TestGoogleFunctions(t *testing.T) {
	w := newWorld(t)
	handler, _ := lambdaHandler(serverless.WithOJSURL(w.server.URL()))
	// The request of a push subscription, in the form that Google prints.
	pubsub := func(job string) string {
		const at, id = "2021-02-26T19:13:55.749Z", "2070443601311540"
		message := map[string]any{"attributes": map[string]any{"key": "value"}, "data": []byte(job), "messageId": id,
			"message_id": id, "publishTime": at, "publish_time": at}
		text, _ := json.Marshal(map[string]any{"deliveryAttempt": 1, "message": message,
			"subscription": "projects/myproject/subscriptions/mysubscription"})
		return string(text)
	}
	id, body := w.leased("car.run", nil)
	binary := http.Header{"Ce-Specversion": {"1.0"}}
	if status, answer := post(t, handler.CloudEvents(), binary, pubsub(body)); status != 204 {
		t.Fatal(status, answer)
	}
	w.isIn(id, ojs.Completed)
	id, body = w.leased("car.fail", nil)
	const structured = `{"specversion":"1.0","source":"//pubsub","type":"google.cloud.pubsub.topic.v1.messagePublished","data":%s}`
	event := fmt.Sprintf(structured, pubsub(body))
	if status, answer := post(t, handler.CloudEvents(), http.Header{}, event); status != 204 {
		t.Fatal(status, answer)
	}
	w.isIn(id, ojs.Retryable)
	must(t, handler.HandlePubSub(context.Background(), []byte(car("car.run", 3))))
	alone, _ := lambdaHandler()
	if status, answer := post(t, alone.CloudEvents(), http.Header{}, pubsub(car("car.fail", 1))); status != 500 {
		t.Fatal(status, answer)
	}
	if status, answer := post(t, alone.CloudEvents(), http.Header{}, `{"message":{"data":"%"}}`); status != 500 {
		t.Fatal(status, answer)
	}
}

func TestAzureFunctions(t *testing.T) {
	w := newWorld(t)
	handler, _ := lambdaHandler(serverless.WithOJSURL(w.server.URL()))
	// The request of the host for a queue trigger, in the form that Microsoft prints.
	call := func(message any, count any) string {
		metadata := map[string]any{"DequeueCount": count, "ExpirationTime": "2019-10-16T17:58:31+00:00",
			"Id": "800ae4b3-bdd2-4c08-badd-f08e5a34b865", "InsertionTime": "2019-10-09T17:58:31+00:00",
			"NextVisibleTime": "2019-10-09T18:08:32+00:00", "PopReceipt": "AgAAAAMAAAAAAAAAAgtnj8x+1QE=",
			"sys": map[string]any{"MethodName": "job", "UtcNow": "2019-10-09T17:58:32.2205399Z",
				"RandGuid": "24ad4c06-24ad-4e5b-8294-3da9714877e9"}}
		said := map[string]any{"Data": map[string]any{"message": message}, "Metadata": metadata}
		text, _ := json.Marshal(said)
		return string(text)
	}
	id, body := w.leased("car.run", nil)
	quoted, _ := json.Marshal(body)
	first := call(string(quoted), 1)
	if status, answer := post(t, handler.AzureQueue("message"), http.Header{}, first); status != 200 {
		t.Fatal(status, answer)
	}
	w.isIn(id, ojs.Completed)
	// The host delivers it again, and the server knows better.
	second := call(json.RawMessage(body), "2")
	if status, answer := post(t, handler.AzureQueue("message"), http.Header{}, second); status != 200 {
		t.Fatal(status, answer)
	}
	alone, ran := lambdaHandler()
	for message, want := range map[string]int{car("car.run", 1): 200, car("car.fail", 2): 500, "no job": 500} {
		if status, answer := post(t, alone.AzureQueue("message"), http.Header{}, call(message, 1)); status != want {
			t.Error(message, status, answer)
		}
	}
	status, _ := post(t, alone.AzureQueue("other"), http.Header{}, call(car("car.run", 1), 1))
	if status != 500 || len(*ran) != 1 {
		t.Error(status, *ran)
	}
}
