package ojs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

// startJudge starts the server that the vectors of workers talk to. It ends with its standard input.
func startJudge(t *testing.T) string {
	command := exec.Command("python3", "../tests/vectors/judge.py")
	in, err := command.StdinPipe()
	must(t, err)
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	return strings.TrimPrefix(strings.TrimSpace(line), "listening on ")
}

type verdict struct{ Name, Expected, Found string }

func verdicts(t *testing.T, judge, kind string) map[string]verdict {
	answer, err := http.Get(judge + "/verdicts/" + kind)
	must(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	var all []verdict
	must(t, json.Unmarshal(body, &all))
	found := map[string]verdict{}
	for _, one := range all {
		found[one.Name] = one
	}
	return found
}

// does is the handler that does what its argument says.
func does(ctx ojs.JobContext) error {
	// As text, so that every number stays as it is.
	var job struct {
		Args []map[string]json.RawMessage
	}
	if err := json.Unmarshal(ctx.Job.Raw, &job); err != nil {
		return err
	}
	what := job.Args[0]
	text := func(name string) (value string) {
		_ = json.Unmarshal(what[name], &value)
		return value
	}
	has := func(name string) bool { return what[name] != nil }
	switch {
	case has("fail"):
		return errors.New(text("fail"))
	case has("refuse"):
		refusal := &ojs.JobError{Code: text("code"), Message: text("refuse"), NonRetryable: true}
		if refusal.Code == "" {
			return ojs.NonRetryable(errors.New(text("refuse")))
		}
		_ = json.Unmarshal(what["details"], &refusal.Details)
		return refusal
	case has("snooze_ms"):
		var pause int64
		_ = json.Unmarshal(what["snooze_ms"], &pause)
		return ojs.Snooze(time.Duration(pause) * time.Millisecond)
	case has("unserializable"):
		ctx.SetResult(make(chan int))
	case has("wait"):
		<-ctx.Done()
		return context.Cause(ctx)
	case has("wait_and_return"):
		<-ctx.Done()
		ctx.SetResult(what["wait_and_return"])
	case string(what["return"]) != "null":
		ctx.SetResult(what["return"])
	}
	return nil
}

func TestWorkerVectors(t *testing.T) {
	judge := startJudge(t)
	client, err := ojs.NewClient(judge, ojs.WithMaxSends(1))
	must(t, err)
	defer client.Close()
	worker, err := client.NewWorker(ojs.WithQueues("outcomes"), ojs.WithWorkerID("vectors"), ojs.WithHeartbeatInterval(20*time.Millisecond), ojs.WithLogger(quietLogger))
	must(t, err)
	worker.Register("vector", does)
	ended := make(chan error, 1)
	go func() { ended <- worker.Start(t.Context()) }()
	found := verdicts(t, judge, "outcomes")
	must(t, worker.Shutdown(t.Context()))
	must(t, receive(t, ended, "the end"))
	type outcome struct {
		Name, Type                              string
		Does, Requests, Job, Cancelled, Answers any // The judge's.
	}
	for _, vector := range ojs.ReadVectors[outcome](t, "vectors.json", "outcomes") {
		t.Run("outcome: "+vector.Name, func(t *testing.T) { equal(t, found[vector.Name].Found, found[vector.Name].Expected, "requests") })
	}
	for _, vector := range ojs.ReadVectors[life](t, "vectors.json", "lives") {
		t.Run("life: "+vector.Name, func(t *testing.T) { vector.live(t, judge, client) })
	}
}

// ../tests/vectors/published.py: no exchange, no route for results, attempts from 0, lists that are null, other forms
// of errors.
func TestAPublishedServerCostsFeaturesAndNoJobs(t *testing.T) {
	answer, err := http.Get(startJudge(t) + "/published")
	must(t, err)
	defer answer.Body.Close()
	var published struct{ URL string }
	must(t, json.NewDecoder(answer.Body).Decode(&published))
	client, err := ojs.NewClient(published.URL)
	must(t, err)
	defer client.Close()
	beat := ojs.WithHeartbeatInterval(20 * time.Millisecond)
	worker, err := client.NewWorker(ojs.WithWorkerID("w"), beat, ojs.WithLogger(quietLogger))
	must(t, err)
	worker.Register("email.send", func(ctx ojs.JobContext) error {
		if ctx.Attempt() == 1 {
			return errors.New("the first attempt fails")
		}
		ctx.SetResult(ctx.Attempt())
		return nil
	})
	ended := make(chan error, 1)
	go func() { ended <- worker.Start(t.Context()) }()
	job, err := client.Enqueue(t.Context(), "email.send", ojs.Args{7})
	must(t, err)
	result, err := client.WaitForResult(t.Context(), job.ID)
	must(t, err)
	equal(t, string(result.Result), "2", "attempt of the result")
	must(t, worker.Shutdown(t.Context()))
	must(t, receive(t, ended, "the end"))
	queues, err := client.ListQueues(t.Context())
	must(t, err)
	dead, err := client.ListDeadLetterJobs(t.Context(), "", 0, 0)
	must(t, err)
	crons, err := client.ListCronJobs(t.Context())
	must(t, err)
	equal(t, len(queues)+len(dead)+len(crons), 0, "entries of empty lists")
	for _, ask := range []func(context.Context, string) (*ojs.Job, error){client.GetJob, client.CancelJob} {
		if _, err := ask(t.Context(), "019461a8-0000-7000-8000-00000000ffff"); !errors.Is(err, ojs.ErrNotFound) {
			t.Errorf("%v, want ErrNotFound", err)
		}
	}
}

type life struct {
	Name        string
	Jobs        []any
	Steps       []string
	Concurrency int
	Grace       int64 `json:"grace_ms"`

	Requests, Directive any // The judge's.
}

func (l life) live(t *testing.T, judge string, client *ojs.Client) {
	worker, err := client.NewWorker(ojs.WithQueues(l.Name), ojs.WithWorkerID(l.Name), ojs.WithConcurrency(l.Concurrency), ojs.WithLogger(quietLogger),
		ojs.WithGracePeriod(time.Duration(l.Grace)*time.Millisecond), ojs.WithHeartbeatInterval(20*time.Millisecond))
	must(t, err)
	began, going := make(chan bool, len(l.Jobs)+1), make(chan bool)
	worker.Register("hold", func(ctx ojs.JobContext) error {
		began <- true
		select {
		case <-going:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	ended := make(chan error, 1)
	go func() { ended <- worker.Start(t.Context()) }()
	until(t, "the start", func() bool { return worker.ID() != "" })
	for _, step := range l.Steps {
		switch step {
		case "began":
			for range l.Jobs {
				receive(t, began, "a job")
			}
		case "go":
			close(going)
		case "quiet":
			must(t, worker.Quiet())
		case "stop", "stop_now":
			must(t, worker.Stop())
		case "stopped":
			must(t, receive(t, ended, "the end"))
		default:
			t.Fatalf("no step of Go for %q", step)
		}
	}
	verdict := verdicts(t, judge, "lives")[l.Name]
	equal(t, verdict.Found, verdict.Expected, "requests")
}

func TestPolicyVectors(t *testing.T) {
	type policy struct {
		Name, Type string
		Args       json.RawMessage
		Options    map[string]any
		Error      *struct {
			Class       ojs.Class
			Code, Field string
		}
	}
	for _, vector := range ojs.ReadVectors[policy](t, "vectors.json", "policies") {
		t.Run("policy: "+vector.Name, func(t *testing.T) {
			client, err := ojs.NewClient("memory:")
			must(t, err)
			defer client.Close()
			var options []ojs.EnqueueOption
			for name, value := range vector.Options {
				options = append(options, ojs.WithOption(name, value))
			}
			_, err = client.Enqueue(t.Context(), vector.Type, vector.Args, options...)
			if vector.Error == nil {
				must(t, err)
				return
			}
			var refused *ojs.Error
			if !errors.As(err, &refused) {
				t.Fatalf("%#v is no refusal", err)
			}
			equal(t, refused.Class, vector.Error.Class, "class")
			equal(t, refused.Code, vector.Error.Code, "code")
			equal(t, detail(refused, "field"), vector.Error.Field, "field")
		})
	}
}

func TestKeyVectors(t *testing.T) {
	type key struct {
		Name, Type, Key string
		Args            json.RawMessage
		Options         map[string]json.RawMessage
		Unique          map[string]any
	}
	for _, vector := range ojs.ReadVectors[key](t, "vectors.json", "keys") {
		t.Run("key: "+vector.Name, func(t *testing.T) {
			client, err := ojs.NewClient("memory:")
			must(t, err)
			defer client.Close()
			vector.Unique["on_conflict"] = "reject"
			options := append(optionsOf(t, vector.Options), ojs.WithOption("unique", vector.Unique))
			_, err = client.Enqueue(t.Context(), vector.Type, vector.Args, options...)
			must(t, err)
			_, err = client.Enqueue(t.Context(), vector.Type, vector.Args, options...)
			var refused *ojs.Error
			if !errors.As(err, &refused) || !errors.Is(err, ojs.ErrDuplicate) {
				t.Fatalf("%#v is no duplicate", err)
			}
			equal(t, detail(refused, "unique_key"), vector.Key, "key")
		})
	}
}

// detail is a text among the details of a refusal.
func detail(refused *ojs.Error, name string) string {
	var details map[string]any
	_ = json.Unmarshal(refused.Details, &details)
	text, _ := details[name].(string)
	return text
}

type chainVector struct {
	Name, Chain  string
	Do           [][]string
	Steps, Names []string
	Layers       map[string]string
	Trace        *chainTrace
}

// chainTrace is what a job went through in both chains.
type chainTrace struct {
	Enqueue   string
	Sent, Ran []string
	State     string
	By        any
}

func TestChainVectors(t *testing.T) {
	for _, vector := range ojs.ReadVectors[chainVector](t, "vectors.json", "chains") {
		t.Run("chain: "+vector.Name, func(t *testing.T) {
			client, err := ojs.NewClient("memory:")
			must(t, err)
			defer client.Close()
			worker, err := client.NewWorker(ojs.WithLogger(quietLogger))
			must(t, err)
			var mu sync.Mutex
			var found chainTrace
			note := func(trace *[]string, what string) {
				mu.Lock()
				defer mu.Unlock()
				*trace = append(*trace, what)
			}
			if vector.Chain != "execution" {
				apply(t, vector, client.Middleware(), func(name string) ojs.EnqueueMiddlewareFunc {
					return func(ctx context.Context, request *ojs.JobRequest, next ojs.EnqueueFunc) (job *ojs.Job, err error) {
						act := vector.Layers[name]
						err = traced(name, act, func(what string) { note(&found.Sent, what) }, func() (err error) {
							if act == "change" {
								request.Meta = ojs.Obj{"by": name}
							}
							job, err = next(ctx, request)
							return err
						})
						return job, err
					}
				})
			}
			if vector.Chain != "enqueue" {
				apply(t, vector, worker.Middleware(), func(name string) ojs.MiddlewareFunc {
					return func(ctx ojs.JobContext, next ojs.HandlerFunc) error {
						return traced(name, vector.Layers[name], func(what string) { note(&found.Ran, what) }, func() error { return next(ctx) })
					}
				})
			}
			if vector.Trace == nil {
				return
			}
			worker.Register("a", func(ojs.JobContext) error {
				note(&found.Ran, "handler")
				return nil
			})
			oneJob(t, client, worker, &found)
			for _, list := range []*[]string{&found.Sent, &found.Ran, &vector.Trace.Sent, &vector.Trace.Ran} {
				*list = slices.Concat([]string{}, *list)
			}
			if !reflect.DeepEqual(found, *vector.Trace) {
				t.Fatalf("%+v, wanted %+v", found, *vector.Trace)
			}
		})
	}
}

// apply changes a chain step by step.
func apply[M any](t *testing.T, vector chainVector, chain *ojs.MiddlewareChain[M], layer func(name string) M) {
	var steps []string
	for _, step := range vector.Do {
		var err error
		switch name := step[len(step)-1]; step[0] {
		case "add":
			err = chain.UseNamed(name, layer(name))
		case "prepend":
			err = chain.Prepend(name, layer(name))
		case "insert_before":
			err = chain.InsertBefore(step[1], name, layer(name))
		case "insert_after":
			err = chain.InsertAfter(step[1], name, layer(name))
		case "remove":
			err = chain.Remove(name)
		}
		if err == nil {
			steps = append(steps, "ok")
		} else if errors.Is(err, ojs.ErrMiddleware) {
			steps = append(steps, "error")
		} else {
			t.Fatal(err)
		}
	}
	if !slices.Equal(steps, vector.Steps) || !slices.Equal(chain.Names(), vector.Names) {
		t.Fatalf("%v gave %v, wanted %v and %v", steps, chain.Names(), vector.Steps, vector.Names)
	}
}

// traced is a layer of either chain that writes down when it is passed.
func traced(name, act string, note func(string), inwards func() error) error {
	note(name + ">")
	switch act {
	case "stop":
		return nil
	case "fail_before":
		return errors.New(name)
	}
	if err := inwards(); err != nil {
		return err
	}
	if act == "fail_after" {
		return errors.New(name)
	}
	note("<" + name)
	return nil
}

// oneJob sends a job through both chains.
func oneJob(t *testing.T, client *ojs.Client, worker *ojs.Worker, found *chainTrace) {
	job, err := client.Enqueue(t.Context(), "a", nil, ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: 1}))
	switch {
	case errors.Is(err, ojs.ErrNotEnqueued):
		found.Enqueue = "dropped"
		return
	case err != nil:
		found.Enqueue = "failed"
		return
	}
	found.Enqueue = "enqueued"
	ended := make(chan error, 1)
	go func() { ended <- worker.Start(t.Context()) }()
	until(t, "the end of the job", func() bool {
		job, err = client.GetJob(t.Context(), job.ID)
		must(t, err)
		found.State, found.By = string(job.State), job.Meta["by"]
		return job.State == ojs.Completed || job.State == ojs.Discarded
	})
	must(t, worker.Shutdown(t.Context()))
	must(t, receive(t, ended, "the end"))
}
