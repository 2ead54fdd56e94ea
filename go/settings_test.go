package ojs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

// A setting that cannot be is refused by its name, and never left out in silence.
func TestWrongSettingsAreRefused(t *testing.T) {
	t.Parallel()
	client, err := ojs.NewClient("memory:")
	must(t, err)
	defer client.Close()
	refused := func(err error, text string) {
		t.Helper()
		if !errors.Is(err, ojs.ErrValidation) && !errors.Is(err, ojs.ErrInvalidRequest) || !strings.Contains(fmt.Sprint(err), text) {
			t.Fatalf("%v does not say %q", err, text)
		}
	}
	for text, option := range map[string]ojs.EnqueueOption{
		"WithTimeout must be longer than 0":                                                      ojs.WithTimeout(0),
		"WithTotalTimeout must be longer than 0":                                                 ojs.WithTotalTimeout(-time.Second),
		"WithDelay must not be negative, got -5s":                                                ojs.WithDelay(-5 * time.Second),
		"WithResultTTL must not be negative":                                                     ojs.WithResultTTL(-1),
		"WithTimeout got 30ns, and a number without a unit is nanoseconds: write 30*time.Second": ojs.WithTimeout(30),
		"WithDelay got 5ns":                                                                      ojs.WithDelay(5),
		"WithVisibilityTimeout must be longer than 0":                                            ojs.WithVisibilityTimeout(0),
	} {
		_, err := client.Enqueue(t.Context(), "a", nil, option)
		refused(err, text)
		_, err = client.EnqueueBatch(t.Context(), []ojs.JobRequest{ojs.NewJob("a", nil, option)})
		refused(err, text)
		_, err = client.CreateWorkflow(t.Context(), ojs.Chain(ojs.NewJob("a", nil, option)))
		refused(err, text)
	}
	// Options by name are checked by the core, which knows them all.
	for text, option := range map[string]ojs.EnqueueOption{
		"did you mean 'retry'":   ojs.WithOption("retries", 5),
		"did you mean 'timeout'": ojs.WithOption("timeuot", "5m"),
		"max_attempts":           ojs.WithOption("retry", ojs.Obj{"maxAttempts": 5}),
		"timeout":                ojs.WithOption("timeout_ms", 0),
	} {
		_, err := client.Enqueue(t.Context(), "a", nil, option)
		refused(err, text)
	}
	_, err = client.GetJob(t.Context(), "")
	refused(err, `a path under /jobs needs an id or a name as text, such as job.ID; got ""`)
	refused(client.PauseQueue(t.Context(), ""), "a path under /queues needs")
	short, err := client.Enqueue(t.Context(), "a", nil, ojs.WithOption("retry", 3), ojs.WithOption("timeout", "5m"))
	must(t, err)
	equal(t, short.MaxAttempts, 3, "attempts by a number alone")
	for text, option := range map[string]ojs.WorkerOption{
		"WithConcurrency must be at least 1, got 0":   ojs.WithConcurrency(0),
		"WithHeartbeatInterval must be longer than 0": ojs.WithHeartbeatInterval(0),
		"WithPollInterval must be longer than 0":      ojs.WithPollInterval(-1),
		"WithVisibilityTimeout must be longer than 0": ojs.WithVisibilityTimeout(-1),
		"WithGracePeriod must not be negative":        ojs.WithGracePeriod(-1),
		"WithRequestTimeout must be longer than 0":    ojs.WithRequestTimeout(0),
		"WithConnectTimeout must be longer than 0":    ojs.WithConnectTimeout(-1),
		"WithMaxSends must be at least 1":             ojs.WithMaxSends(0),
	} {
		_, err := ojs.NewWorker("memory:", option)
		refused(err, text)
	}
	for text, options := range map[string]ojs.OutboxOptions{
		"PollInterval":    {URL: "postgres://u@h/d", PollInterval: -1},
		"BatchSize":       {URL: "postgres://u@h/d", BatchSize: 1001},
		"set OutboxOptio": {Dialect: ojs.PostgreSQL},
	} {
		_, err := ojs.NewOutbox(t.Context(), client, options)
		refused(err, text)
	}
}

func TestWrongHandlersAreRefused(t *testing.T) {
	t.Parallel()
	client, err := ojs.NewClient("memory:")
	must(t, err)
	defer client.Close()
	for text, register := range map[string]func(*ojs.Worker){
		"that of 'a' is nil": func(w *ojs.Worker) { w.Register("a", nil) },
		"that of 'b' is nil": func(w *ojs.Worker) { ojs.RegisterTyped[string](w, "b", nil) },
		"the job type is em": func(w *ojs.Worker) { w.Register("", func(ojs.JobContext) error { return nil }) },
	} {
		worker, err := client.NewWorker(ojs.WithLogger(quietLogger))
		must(t, err)
		register(worker)
		if err := worker.Start(t.Context()); !errors.Is(err, ojs.ErrValidation) || !strings.Contains(err.Error(), text) {
			t.Fatalf("%v does not say %q", err, text)
		}
		if _, err := worker.Drain(t.Context()); !errors.Is(err, ojs.ErrValidation) {
			t.Fatal(err)
		}
	}
}

// No password, token or key is in what is printed of an object, or in an error.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	const secret = "swordfish"
	client, err := ojs.NewClient("http://user:"+secret+"@127.0.0.1:1", ojs.WithAuthToken(secret), ojs.WithMaxSends(1),
		ojs.WithHeader("x-key", secret))
	shown := []any{err}
	if err == nil {
		defer client.Close()
		worker, err := client.NewWorker(ojs.WithLogger(quietLogger))
		must(t, err)
		worker.Register("a", func(ojs.JobContext) error { return nil })
		_, wrong := client.Health(t.Context())
		if wrong == nil {
			t.Fatal("somebody answers")
		}
		shown = append(shown, client, worker, wrong)
	}
	for _, url := range []string{"htp://user:" + secret + "@host", "http://user:" + secret + "@host:99999999", "http://user:" + secret + "@ho st"} {
		_, err := ojs.NewClient(url)
		shown = append(shown, err)
	}
	memory, err := ojs.NewClient("memory:")
	must(t, err)
	defer memory.Close()
	options := ojs.OutboxOptions{URL: "postgres://app:" + secret + "@127.0.0.1:1/shop?password=" + secret, SeparateRelay: true}
	outbox, err := ojs.NewOutbox(t.Context(), memory, options)
	must(t, err)
	defer outbox.Close(context.Background())
	shown = append(shown, options, &options, outbox, outbox.DB())
	_, err = ojs.NewOutbox(t.Context(), memory, ojs.OutboxOptions{URL: "nosuch://app:" + secret + "@h/d"})
	shown = append(shown, err)
	for _, one := range shown {
		for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
			if text := fmt.Sprintf(form, one); strings.Contains(text, secret) {
				t.Errorf("%T with %s: %s", one, form, text)
			}
		}
	}
}
