package ojs_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

// The vectors that all languages share: what goes over the wire, and which error an answer becomes. A server of this test listens.
func TestVectors(t *testing.T) {
	// The race detector does not see that a request and its answer are in order: they go through C.
	var mu sync.Mutex
	var received []byte
	var asked string
	status, answer := 201, []byte(`{"job":{"id":"x"}}`)
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		mu.Lock()
		defer mu.Unlock()
		received, asked = body, request.Method+" "+request.URL.RequestURI()
		response.Header().Set("Content-Type", "application/openjobspec+json")
		response.WriteHeader(status)
		_, _ = response.Write(answer)
	}))
	defer server.Close()
	client, err := ojs.NewClient(server.URL, ojs.WithMaxSends(1))
	must(t, err)
	defer client.Close()

	type vectorRequest struct {
		Name, Type, Text, Why string
		Args                  json.RawMessage
		Options               map[string]json.RawMessage
		Body                  map[string]any
	}
	for _, vector := range ojs.ReadVectors[vectorRequest](t, "vectors.json", "requests") {
		t.Run("request: "+vector.Name, func(t *testing.T) {
			_, err := client.Enqueue(t.Context(), vector.Type, vector.Args, optionsOf(t, vector.Options)...)
			must(t, err)
			mu.Lock()
			defer mu.Unlock()
			var sent map[string]any
			must(t, json.Unmarshal(received, &sent))
			delete(sent, "id")
			same(t, sent, vector.Body, "body")
			if vector.Text != "" {
				equal(t, string(received), vector.Text, "text")
			}
		})
	}
	type refusal struct {
		Name, Says string
		Options    map[string]any
	}
	for _, vector := range ojs.ReadVectors[refusal](t, "vectors.json", "refusals") {
		t.Run("refusal: "+vector.Name, func(t *testing.T) {
			var options []ojs.EnqueueOption
			for name, value := range vector.Options {
				options = append(options, ojs.WithOption(name, value))
			}
			_, err := client.Enqueue(t.Context(), "email.send", nil, options...)
			if !errors.Is(err, ojs.ErrValidation) || !strings.Contains(err.Error(), vector.Says) {
				t.Fatalf("%v is not %q", err, vector.Says)
			}
		})
	}
	sent := func(t *testing.T) (body any) {
		mu.Lock()
		defer mu.Unlock()
		must(t, json.Unmarshal(received, &body))
		return body
	}
	type workflow struct {
		Name     string
		Workflow vectorStep
		Body     any
	}
	for _, vector := range ojs.ReadVectors[workflow](t, "vectors.json", "workflows") {
		t.Run("workflow: "+vector.Name, func(t *testing.T) {
			mu.Lock()
			answer = []byte(`{"workflow":{"id":"x"}}`)
			mu.Unlock()
			_, err := client.CreateWorkflow(t.Context(), vector.Workflow.step(t).(ojs.Workflow))
			must(t, err)
			same(t, sent(t), vector.Body, "body")
		})
	}
	type cronJob struct {
		Name string
		Cron struct {
			Name, Expression, Timezone string
			Job                        vectorStep
		}
		Body any
	}
	for _, vector := range ojs.ReadVectors[cronJob](t, "vectors.json", "crons") {
		t.Run("cron: "+vector.Name, func(t *testing.T) {
			cron := vector.Cron
			must(t, client.RegisterCronJob(t.Context(), ojs.CronJob{Name: cron.Name, Expression: cron.Expression, Timezone: cron.Timezone,
				Job: cron.Job.step(t).(ojs.JobRequest)}))
			same(t, sent(t), vector.Body, "body")
		})
	}
	type operation struct {
		Name, Method string
		Arguments    any
		Path         []string
		Query        map[string]string
		Body         any
		Answer       json.RawMessage
	}
	for place, vector := range ojs.ReadVectors[operation](t, "operations.json", "operations") {
		t.Run("operation: "+vector.Name, func(t *testing.T) {
			mu.Lock()
			status, answer = 200, vector.Answer
			mu.Unlock()
			must(t, operationCalls[place](t.Context(), client))
			mu.Lock()
			line, size := asked, len(received)
			mu.Unlock()
			method, path, query := inParts(t, line)
			equal(t, method, vector.Method, "method")
			same(t, path, vector.Path, "path")
			same(t, query, vector.Query, "query")
			if vector.Body == nil {
				equal(t, size, 0, "bytes of the body")
			} else {
				same(t, sent(t), vector.Body, "body")
			}
		})
	}
	type answered struct {
		Name   string
		Status int
		Answer json.RawMessage
		Error  struct {
			Class         ojs.Class
			Code, Message string
			Retryable     bool
			Status        int
			Hint          *string
			Details       any
		}
	}
	for _, vector := range ojs.ReadVectors[answered](t, "vectors.json", "answers") {
		t.Run("answer: "+vector.Name, func(t *testing.T) {
			mu.Lock()
			status, answer = vector.Status, vector.Answer
			mu.Unlock()
			_, err := client.GetJob(t.Context(), "x")
			var refused *ojs.Error
			if !errors.As(err, &refused) || !errors.Is(err, ojs.ErrAPI) || !errors.Is(err, vector.Error.Class) {
				t.Fatalf("%#v is no error of class %v", err, vector.Error.Class)
			}
			want := vector.Error
			equal(t, refused.Class, want.Class, "class")
			equal(t, refused.Code, want.Code, "code")
			equal(t, refused.Message, want.Message, "message")
			equal(t, refused.Retryable, want.Retryable, "retryable")
			equal(t, refused.Status, want.Status, "status")
			hint := ""
			if want.Hint != nil {
				hint = *want.Hint
			}
			equal(t, refused.Hint, hint, "hint")
			same(t, refused.Details, want.Details, "details")
		})
	}
}

// vectorStep is a workflow, or a step of one, as the vectors write it.
type vectorStep struct {
	Name, Type          string
	Args                json.RawMessage
	Options             map[string]json.RawMessage
	Chain, Group, Batch []vectorStep
	Graph               []struct {
		ID    string
		Step  vectorStep
		After []string
	}
	Callbacks map[string]vectorStep
}

// step is what a program would write.
func (s vectorStep) step(t *testing.T) ojs.Step {
	steps := func(given []vectorStep) (steps []ojs.Step) {
		for _, one := range given {
			steps = append(steps, one.step(t))
		}
		return steps
	}
	var workflow ojs.Workflow
	switch {
	case s.Chain != nil:
		workflow = ojs.Chain(steps(s.Chain)...)
	case s.Graph != nil:
		var nodes []ojs.Node
		for _, one := range s.Graph {
			nodes = append(nodes, ojs.Node{ID: one.ID, Job: one.Step.step(t), After: one.After})
		}
		workflow = ojs.Graph(nodes...)
	case s.Group != nil:
		workflow = ojs.Group(steps(s.Group)...)
	case s.Batch != nil:
		var callbacks ojs.Callbacks
		for name, job := range s.Callbacks {
			*map[string]*ojs.Step{"on_complete": &callbacks.OnComplete, "on_success": &callbacks.OnSuccess, "on_failure": &callbacks.OnFailure}[name] = job.step(t)
		}
		workflow = ojs.Batch(steps(s.Batch), callbacks)
	default:
		return ojs.NewJob(s.Type, s.Args, optionsOf(t, s.Options)...)
	}
	if s.Name == "" {
		return workflow
	}
	return workflow.Named(s.Name)
}

// optionsOf turns the options of a vector into those of Go.
func optionsOf(t *testing.T, given map[string]json.RawMessage) (options []ojs.EnqueueOption) {
	for name, raw := range given {
		var option ojs.EnqueueOption
		switch name {
		case "queue":
			option = ojs.WithQueue(read[string](t, raw))
		case "priority":
			option = ojs.WithPriority(read[int](t, raw))
		case "timeout_ms":
			option = ojs.WithTimeout(time.Duration(read[int64](t, raw)) * time.Millisecond)
		case "visibility_timeout_ms":
			option = ojs.WithVisibilityTimeout(time.Duration(read[int64](t, raw)) * time.Millisecond)
		case "delay_until":
			option = ojs.WithScheduledAt(read[time.Time](t, raw))
		case "expires_at":
			option = ojs.WithExpiresAt(read[time.Time](t, raw))
		case "tags":
			option = ojs.WithTags(read[[]string](t, raw)...)
		case "meta":
			option = ojs.WithMeta(read[ojs.Obj](t, raw))
		case "schema":
			option = ojs.WithSchema(read[string](t, raw))
		case "version":
			option = ojs.WithVersion(read[string](t, raw))
		case "result_ttl":
			option = ojs.WithResultTTL(time.Duration(read[int64](t, raw)) * time.Second)
		case "timeout":
			length, err := time.ParseDuration(read[string](t, raw))
			must(t, err)
			option = ojs.WithTimeout(length)
		case "total_timeout":
			option = ojs.WithTotalTimeout(iso(t, read[string](t, raw)))
		case "retry":
			var p struct {
				MaxAttempts        int      `json:"max_attempts"`
				InitialInterval    string   `json:"initial_interval"`
				BackoffCoefficient float64  `json:"backoff_coefficient"`
				MaxInterval        string   `json:"max_interval"`
				Jitter             *bool    `json:"jitter"`
				NonRetryableErrors []string `json:"non_retryable_errors"`
				OnExhaustion       string   `json:"on_exhaustion"`
				BackoffStrategy    string   `json:"backoff_strategy"`
			}
			if json.Unmarshal(raw, &p.MaxAttempts) != nil {
				ojs.ReadStrictly(t, raw, &p)
			}
			option = ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: p.MaxAttempts, InitialInterval: iso(t, p.InitialInterval),
				BackoffCoefficient: p.BackoffCoefficient, MaxInterval: iso(t, p.MaxInterval), Jitter: p.Jitter,
				NonRetryableErrors: p.NonRetryableErrors, OnExhaustion: p.OnExhaustion, BackoffStrategy: p.BackoffStrategy})
		case "unique":
			var p struct {
				Keys       []string
				ArgsKeys   []string `json:"args_keys"`
				MetaKeys   []string `json:"meta_keys"`
				Period     string
				States     []ojs.JobState
				OnConflict string `json:"on_conflict"`
			}
			ojs.ReadStrictly(t, raw, &p)
			option = ojs.WithUnique(ojs.UniquePolicy{Keys: p.Keys, ArgsKeys: p.ArgsKeys, MetaKeys: p.MetaKeys, Period: iso(t, p.Period),
				States: p.States, OnConflict: p.OnConflict})
		case "train":
			var p struct {
				ID           string
				OnCancelled  string `json:"on_cancelled"`
				OnDiscarded  string `json:"on_discarded"`
				CancelActive string `json:"cancel_active"`
			}
			if json.Unmarshal(raw, &p.ID) != nil {
				ojs.ReadStrictly(t, raw, &p)
			}
			option = ojs.WithTrain(ojs.Train{
				ID: p.ID, OnCancelled: p.OnCancelled, OnDiscarded: p.OnDiscarded, CancelActive: p.CancelActive,
			})
		case "extra":
			for name, value := range read[map[string]any](t, raw) {
				options = append(options, ojs.WithOption(name, value))
			}
			continue
		default:
			t.Fatalf("no option of Go for %q", name)
		}
		options = append(options, option)
	}
	return options
}

func read[T any](t *testing.T, raw json.RawMessage) (value T) {
	must(t, json.Unmarshal(raw, &value))
	return value
}

var isoForm = regexp.MustCompile(`^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$`)

// iso reads a length of time as the vectors write it.
func iso(t *testing.T, text string) (length time.Duration) {
	if text == "" {
		return 0
	}
	parts := isoForm.FindStringSubmatch(text)
	if parts == nil {
		t.Fatalf("no length of time: %q", text)
	}
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		if part := parts[i+1]; part != "" {
			number, err := strconv.ParseFloat(part, 64)
			must(t, err)
			length += time.Duration(number * float64(unit))
		}
	}
	return length
}

// inParts takes a request apart: its method, the decoded segments of its path below /ojs/v1, and its query.
func inParts(t *testing.T, asked string) (method string, path []string, query map[string]string) {
	t.Helper()
	method, target, _ := strings.Cut(asked, " ")
	location, search, _ := strings.Cut(target, "?")
	for segment := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(location, "/ojs/v1"), "/"), "/") {
		name, err := url.PathUnescape(segment)
		must(t, err)
		path = append(path, name)
	}
	values, err := url.ParseQuery(search)
	must(t, err)
	query = map[string]string{}
	for name := range values {
		query[name] = values.Get(name)
	}
	return method, path, query
}

// operationCallsByHand are the calls of methods whose form is Go's own.
var operationCallsByHand = map[string]func(context.Context, *ojs.Client) error{
	"override_rate_limit": func(ctx context.Context, c *ojs.Client) error {
		_, err := c.OverrideRateLimit(ctx, "stripe", ojs.Obj{"concurrency": 2, "expires_at": "2031-01-01T00:00:00Z"})
		return err
	},
}
