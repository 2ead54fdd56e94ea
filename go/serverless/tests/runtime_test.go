package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go-sdk/serverless"
)

// runtimeAPI is the published interface between AWS Lambda and the runtime client of a function.
type runtimeAPI struct {
	*httptest.Server
	events  chan string
	answers chan string // "response" or "error", a space, and the body.
	limit   time.Duration
}

func newRuntimeAPI(t *testing.T, limit time.Duration) *runtimeAPI {
	api := &runtimeAPI{events: make(chan string), answers: make(chan string, 1), limit: limit}
	over := make(chan struct{})
	const prefix = "/2018-06-01/runtime/invocation/"
	api.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		what, found := strings.CutPrefix(r.URL.Path, prefix)
		if !found {
			http.NotFound(w, r)
			return
		}
		if what == "next" {
			select {
			case event := <-api.events:
				w.Header().Set("Lambda-Runtime-Aws-Request-Id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd")
				w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(api.limit).UnixMilli()))
				w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-central-1:1:function:ojs")
				_, _ = io.WriteString(w, event)
			case <-over:
			case <-r.Context().Done():
			}
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		_, kind, _ := strings.Cut(what, "/")
		api.answers <- kind + " " + string(body)
	}))
	t.Cleanup(func() {
		close(over)
		api.Close()
	})
	return api
}

// invoke hands an event to the function and returns its answer.
func (api *runtimeAPI) invoke(t *testing.T, event any) string {
	t.Helper()
	text, err := json.Marshal(event)
	must(t, err)
	clock := time.After(patience)
	select {
	case api.events <- string(text):
	case <-clock:
		t.Fatal("the function did not ask for an event")
	}
	select {
	case answer := <-api.answers:
		return answer
	case <-clock:
		t.Fatal("the function did not answer")
	}
	return ""
}

// start builds a program as for Lambda, without cgo, and runs it until the test is over.
func (api *runtimeAPI) start(t *testing.T, program string, environment ...string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "bootstrap")
	build := exec.Command("go", "build", "-o", binary, program)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	function := exec.Command(binary)
	function.Env = append(os.Environ(), environment...)
	function.Env = append(function.Env, "AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(api.URL, "http://"))
	var said bytes.Buffer
	function.Stdout, function.Stderr = &said, &said
	must(t, function.Start())
	t.Cleanup(func() {
		_ = function.Process.Kill()
		_ = function.Wait()
		if t.Failed() {
			t.Logf("the function said: %s", said.String())
		}
	})
}

// The example of the document as it is printed, under AWS's own runtime client. Its server, ojs.example.com, is reached
// through a proxy that is there for this test and refuses: without a server the outcome is not known anywhere, so that
// the message is to be delivered again.
func TestThePrintedExampleRunsUnderTheRuntimeOfAWS(t *testing.T) {
	reached := make(chan string, 64)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached <- r.Host
		http.Error(w, "no way", http.StatusForbidden)
	}))
	defer proxy.Close()
	api := newRuntimeAPI(t, 30*time.Second)
	api.start(t, "./printed", "HTTPS_PROXY="+proxy.URL)
	event := serverless.SQSEvent{Records: []serverless.SQSMessage{message("m1", plain("email.send"))}}
	if answer := api.invoke(t, event); answer != `response {"batchItemFailures":[{"itemIdentifier":"m1"}]}` {
		t.Fatal(answer)
	}
	if host := <-reached; host != "ojs.example.com:443" {
		t.Fatal(host)
	}
	if answer := api.invoke(t, serverless.SQSEvent{}); answer != `response {"batchItemFailures":[]}` {
		t.Fatal(answer)
	}
}

// The same program with the URL of a real server, and a handler that says what it has done.
func TestAFunctionAcksToTheServerUnderTheRuntimeOfAWS(t *testing.T) {
	w := newWorld(t)
	api := newRuntimeAPI(t, 30*time.Second)
	api.start(t, "./function", "OJS_URL="+w.server.URL())
	first, one := w.leased("email.send", "ada")
	second, two := w.leased("email.send", "bob")
	third, three := w.leased("email.unknown", "eve")
	event := serverless.SQSEvent{Records: []serverless.SQSMessage{
		message("m1", one), message("m2", two), message("m3", three), message("m4", "no JSON"),
	}}
	if answer := api.invoke(t, event); answer != `response {"batchItemFailures":[{"itemIdentifier":"m4"}]}` {
		t.Fatal(answer)
	}
	w.isIn(first, ojs.Completed)
	if result := string(w.job(first).Result); result != `{"sent_to":"ada"}` {
		t.Fatal(result)
	}
	w.isIn(second, ojs.Retryable)
	w.isIn(third, ojs.Discarded)
	if code := w.job(third).Error.Code; code != "no_handler" {
		t.Fatal(code)
	}

	// The same process, by the other sources that one function may have.
	_, body := w.leased("email.send", "carl")
	http := map[string]any{"http": map[string]any{"method": "POST"}}
	answer := api.invoke(t, map[string]any{"version": "2.0", "requestContext": http,
		"headers": flat(signed(body, time.Now(), secret)), "body": body})
	if !strings.Contains(answer, `"statusCode":500`) {
		t.Fatal("a function without secrets trusts no request: " + answer)
	}
	fourth, body := w.leased("email.send", "dora")
	var bare struct{ Job json.RawMessage }
	must(t, json.Unmarshal([]byte(body), &bare))
	answer = api.invoke(t, map[string]any{"source": "ojs", "detail-type": "job", "detail": bare.Job})
	if !strings.Contains(answer, `"status":"completed"`) {
		t.Fatal(answer)
	}
	w.isIn(fourth, ojs.Completed)
	answer = api.invoke(t, json.RawMessage(plain("email.send")))
	if !strings.Contains(answer, `"result":{"sent_to":"1"}`) || !strings.Contains(answer, `"job_id":"01234567-`) {
		t.Fatal(answer)
	}
	answer = api.invoke(t, map[string]any{"source": "ojs", "detail": map[string]any{}})
	if !strings.HasPrefix(answer, "error ") {
		t.Fatal(answer)
	}
}

// Lambda ends a function at its limit: the job is given up before, and the server knows.
func TestAJobIsGivenUpBeforeTheLimitOfTheFunction(t *testing.T) {
	w := newWorld(t)
	handler := serverless.NewLambdaHandler(serverless.WithOJSURL(w.server.URL()), quiet)
	released := make(chan struct{})
	defer close(released)
	handler.Register("report.slow", func(ctx context.Context, job serverless.Job) error {
		<-ctx.Done()
		if context.Cause(ctx) != ojs.ErrTimedOut {
			t.Errorf("the cause is %v", context.Cause(ctx))
		}
		<-released // It does not stop when it is asked to.
		return nil
	})
	id, body := w.leased("report.slow", nil)
	limit := time.Now().Add(200 * time.Millisecond)
	ctx, cancel := context.WithDeadline(context.Background(), limit)
	defer cancel()
	batch := serverless.SQSEvent{Records: []serverless.SQSMessage{message("m1", body)}}
	answer, err := handler.HandleSQS(ctx, batch)
	if names := failures(answer); err != nil || names != "" {
		t.Fatal(names, err)
	}
	w.isIn(id, ojs.Retryable)
	if failure := w.job(id).Error; failure.Code != "timeout" {
		t.Fatal(failure)
	}
}
