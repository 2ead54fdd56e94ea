package ojstest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/ojstest"
)

func TestFake(t *testing.T) {
	fake := ojstest.New(t)
	ctx := t.Context()
	enqueue := func(jobType string, args any, options ...ojs.EnqueueOption) {
		t.Helper()
		if _, err := fake.Client.Enqueue(ctx, jobType, args, options...); err != nil {
			t.Fatal(err)
		}
	}
	_ = fake.Client.UseNamed("tenant", func(ctx context.Context, request *ojs.JobRequest, next ojs.EnqueueFunc) (*ojs.Job, error) {
		request.Meta = ojs.Obj{"tenant": "acme"}
		if request.Type == "dropped" {
			return nil, nil
		}
		return next(ctx, request)
	})
	enqueue("email.send", ojs.Args{"ada@example.com", 1}, ojs.WithQueue("mail"))
	if _, err := fake.Client.EnqueueBatch(ctx, []ojs.JobRequest{{Type: "report", Args: ojs.Obj{"b": 2, "a": 1}}, {Type: "dropped"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := fake.Client.Enqueue(ctx, "BAD TYPE", nil); !errors.Is(err, ojs.ErrInvalidRequest) {
		t.Fatal(err)
	}
	if found := fake.AssertEnqueued("email.send", ojstest.Args("ada@example.com", 1), ojstest.Queue("mail")); found[0].Meta["tenant"] != "acme" {
		t.Fatalf("%+v", found)
	}
	// All of a batch are refused with one of them, and the fake records none.
	_, err := fake.Client.EnqueueBatch(ctx, []ojs.JobRequest{{Type: "refused.too"}, {Type: "BAD TYPE"}})
	if !errors.Is(err, ojs.ErrInvalidRequest) {
		t.Fatal(err)
	}
	fake.AssertNotEnqueued("refused.too")
	fake.AssertEnqueued("report", ojstest.Args(map[string]any{"a": 1, "b": 2}), ojstest.Queue("default"))
	fake.AssertNotEnqueued("dropped")
	fake.AssertNotEnqueued("BAD TYPE")
	fake.AssertNotEnqueued("email.send", ojstest.Queue("other"))
	fake.AssertNotEnqueued("email.send", ojstest.Args("ada@example.com"))
	fake.AssertEnqueued("email.send", ojstest.Meta(ojs.Obj{"tenant": "acme"}))
	fake.AssertNotEnqueued("email.send", ojstest.Option("timeout", "5m"))
	if all := fake.Enqueued(""); len(all) != 2 {
		t.Fatalf("%+v", all)
	}

	worker, err := fake.Client.NewWorker(ojs.WithQueues("mail", "default"))
	if err != nil {
		t.Fatal(err)
	}
	worker.Register("email.send", func(ctx ojs.JobContext) error {
		_, err := fake.Client.Enqueue(ctx, "email.log", ctx.Job.Args)
		return err
	})
	worker.Register("*", func(ojs.JobContext) error { return nil })
	if ran := fake.Drain(worker); ran != 3 {
		t.Fatalf("%d jobs ran", ran)
	}
	fake.AssertEnqueued("email.log", ojstest.Args("ada@example.com", 1))
}

// tester remembers what a fake says about a test.
type tester struct {
	testing.TB
	said []string
}

func (t *tester) Errorf(format string, args ...any) {
	t.said = append(t.said, fmt.Sprintf(format, args...))
}
func (t *tester) Error(args ...any) { t.said = append(t.said, fmt.Sprint(args...)) }
func (t *tester) Fatal(args ...any) {
	t.Error(args...)
	runtime.Goexit()
}
func (t *tester) Fatalf(format string, args ...any) { t.Fatal(fmt.Sprintf(format, args...)) }

func TestFakeFails(t *testing.T) {
	watched := &tester{TB: t}
	fake := ojstest.New(watched)
	fake.AssertEnqueued("email.send")
	if _, err := fake.Client.Enqueue(t.Context(), "email.send", ojs.Args{"a"}); err != nil {
		t.Fatal(err)
	}
	fake.AssertEnqueued("email.send", ojstest.Args("b"), ojstest.Queue("mail"))
	fake.AssertNotEnqueued("email.send")
	worker, err := fake.Client.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	worker.Register("email.send", func(ojs.JobContext) error { return errors.New("no mail today") })
	fake.Drain(worker)
	for _, wrong := range [][]ojstest.Match{
		{ojstest.Option("queu", "mail")}, {ojstest.Queue("a"), ojstest.Queue("b")}, {ojstest.Args(make(chan int))},
	} {
		over := make(chan bool)
		go func() {
			defer close(over)
			fake.AssertNotEnqueued("email.send", wrong...)
		}()
		<-over
	}
	want := []string{
		"no 'email.send' was enqueued; enqueued were: none",
		`no 'email.send' with args ["b"], queue "mail" was enqueued; enqueued were: email.send["a"]`,
		"expected no 'email.send', found 1", "no mail today",
		"unknown option 'queu'; did you mean 'queue'?", "the test asks twice for 'queue'", "JSON has no form for it",
	}
	if len(watched.said) != len(want) {
		t.Fatalf("%q", watched.said)
	}
	for i, text := range want {
		if !strings.Contains(watched.said[i], text) {
			t.Fatalf("%q is not in %q", text, watched.said[i])
		}
	}
}

func TestServer(t *testing.T) {
	client, err := ojs.NewClient(ojstest.NewServer(t))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Health(t.Context()); err != nil {
		t.Fatal(err)
	}
}
