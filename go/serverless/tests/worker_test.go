package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go-sdk/serverless"
)

// One handler, one middleware: a worker runs it, a push delivery runs it, and it sees no difference.
func TestAHandlerDoesNotKnowHowItWasCalled(t *testing.T) {
	w := newWorld(t)
	worker, err := w.client.NewWorker()
	must(t, err)
	var seen []string
	must(t, worker.UseNamed("loud", func(ctx ojs.JobContext, next ojs.HandlerFunc) error {
		seen = append(seen, "before")
		return next(ctx)
	}))
	ojs.RegisterTyped(worker, "mail", func(ctx ojs.JobContext, to string) error {
		seen = append(seen, fmt.Sprint(to, ctx.Attempt(), ctx.Job.Queue))
		ctx.SetResult(to)
		return nil
	})
	registry, err := worker.Registry()
	must(t, err)
	// The handlers are composed: a layer that came now would run around none of them.
	late := registry.Use(func(ctx ojs.JobContext, next ojs.HandlerFunc) error { return next(ctx) })
	if late == nil || !strings.Contains(late.Error(), "before the first job") {
		t.Fatal(late)
	}
	handler := serverless.NewHandler(serverless.WithRegistry(registry), serverless.WithUnsignedRequests(), quiet)

	_, body := w.leased("mail", "ada")
	if status, answer := post(t, handler, http.Header{}, body); status != 200 || answer["result"] != "ada" {
		t.Fatal(status, answer)
	}
	_, err = w.client.Enqueue(context.Background(), "mail", "bob")
	must(t, err)
	if ran, err := worker.Drain(context.Background()); ran != 1 || err != nil {
		t.Fatal(ran, err)
	}
	if want := []string{"before", "ada1default", "before", "bob1default"}; !slices.Equal(seen, want) {
		t.Fatal(seen)
	}
}

func TestHandlersOfWorkersAndTheirMiddlewareCanBeRegistered(t *testing.T) {
	handler := serverless.NewLambdaHandler(quiet)
	must(t, handler.UseNamed("stop", func(ctx ojs.JobContext, next ojs.HandlerFunc) error {
		if ctx.Job.Queue == "stopped" {
			return ojs.ErrRelease
		}
		return next(ctx)
	}))
	handler.RegisterHandler("sum", ojs.Typed(func(ctx ojs.JobContext, numbers []int) error {
		ctx.SetResult(numbers[0] + numbers[1])
		return nil
	}))
	for job, want := range map[string]string{
		`{"id":"1","type":"sum","args":[1,2]}`:                   `{"status":"completed","job_id":"1","result":3}`,
		`{"id":"1","type":"sum","args":["x",2]}`:                 `"code":"invalid_arguments"`,
		`{"id":"1","type":"sum","args":[1],"queue":"stopped"}`:   `"code":"released"`,
		`{"id":"1","type":"sum","args":[1],"queue":"default"}`:   `"message":"panic: runtime error: index out of range`,
		`{"id":"1","type":"sum","args":[1,2],"timeout_ms":1000}`: `"result":3`,
	} {
		answer, err := handler.HandleDirect(context.Background(), json.RawMessage(job))
		must(t, err)
		if text, _ := json.Marshal(answer); !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, wanted %s", job, text, want)
		}
	}
	// The end of changes.
	handler.Register("late", func(context.Context, serverless.Job) error { return nil })
	if _, err := serverless.NewLambdaHandler(quiet).HandleDirect(context.Background(), nil); err == nil {
		t.Error("a handler without job types is not refused")
	}
	for _, option := range []serverless.Option{
		serverless.WithTolerance(-time.Second), serverless.WithConcurrency(0), serverless.WithReplayMemory(0),
		serverless.WithOJSURL("sqlite:jobs.db"), serverless.WithEncryptionKeys("k:short"), serverless.WithPlatformTimeout(0),
	} {
		wrong := serverless.NewLambdaHandler(option, quiet)
		wrong.Register("a", func(context.Context, serverless.Job) error { return nil })
		if err := wrong.Check(); err == nil || !strings.Contains(err.Error(), "With") {
			t.Error(err)
		}
		if status, _ := post(t, wrong, http.Header{}, "{}"); status != 500 {
			t.Error(status)
		}
	}
}

func TestTheJobsOwnTimeoutEndsARun(t *testing.T) {
	handler := serverless.NewLambdaHandler(quiet)
	handler.Register("slow", func(ctx context.Context, _ serverless.Job) error {
		<-ctx.Done()
		return ctx.Err()
	})
	job := json.RawMessage(`{"id":"1","type":"slow","args":[],"timeout_ms":20}`)
	answer, err := handler.HandleDirect(context.Background(), job)
	if err != nil || !strings.Contains(string(answer.Error), `"code":"timeout"`) {
		t.Fatal(string(answer.Error), err)
	}
}

const encryptionKeys = "k-1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

// Encrypted by the engine's codec, decrypted by this package's.
func TestEncryptedArgumentsArriveInTheClear(t *testing.T) {
	w := newWorld(t, ojs.WithEncryptionKeys(encryptionKeys))
	var got serverless.Job
	run := func(keys, body string) string {
		handler := serverless.NewHandler(serverless.WithEncryptionKeys(keys), serverless.WithUnsignedRequests(), quiet)
		handler.Register("card.charge", func(_ context.Context, job serverless.Job) error {
			got = job
			return nil
		})
		status, answer := post(t, handler, http.Header{}, body)
		text, _ := json.Marshal(answer)
		return fmt.Sprint(status, " ", string(text))
	}
	args := ojs.Args{"4111 1111", ojs.Obj{"n": 9007199254740993}}
	_, body := w.leased("card.charge", args, ojs.WithMeta(ojs.Obj{"tenant": "acme"}))
	if strings.Contains(body, "4111 1111") {
		t.Fatal("the job is not encrypted: " + body)
	}
	answer := run(encryptionKeys, body)
	if answer != `200 {"status":"completed"}` || fmt.Sprint(got.Args) != "[4111 1111 map[n:9007199254740993]]" {
		t.Fatal(answer, got.Args)
	}
	if fmt.Sprint(got.Meta) != "map[tenant:acme]" {
		t.Fatal(got.Meta)
	}
	for keys, code := range map[string]string{
		"":                                    "x_codec_unknown_key",
		"k-1:" + strings.Repeat("00", 32):     "x_codec_auth_failed",
		"other:" + strings.Repeat("00", 32):   "x_codec_unknown_key",
		"other:" + strings.Repeat("0A0b", 16): "x_codec_unknown_key",
	} {
		if answer := run(keys, body); !strings.Contains(answer, `"code":"`+code+`"`) {
			t.Error(keys, answer)
		}
	}
	// The forms of the published packages; the vector of the specification.
	const inline = "AAECAwQFBgcICQoLHCCjaKCXgn71IPr73YxWDuy7pRiLWTFeAlaY2FezhTysthty6i4dZS6RrMg="
	const versioned = "AQABAgMEBQYHCAkKCxwgo2igl4J+9SD6+92MVg7su6UYi1kxXgJWmNhXs4U8rLYbcuouHWUukazI"
	const detached = "HCCjaKCXgn71IPr73YxWDuy7pRiLWTFeAlaY2FezhTysthty6i4dZS6RrMg="
	for data, meta := range map[string]string{
		inline:    `"ojs.codec.encodings":["binary/encrypted"],"ojs.codec.key_id":"k-1"`,
		versioned: `"ojs_encoded":true,"ojs.codec.key_id":"k-1"`,
		detached:  `"_encrypted":"true","_encryption_key_id":"k-1","ojs.codec.nonce":"AAECAwQFBgcICQoL"`,
	} {
		job := fmt.Sprintf(`{"id":"1","type":"card.charge","args":["%s"],"meta":{%s}}`, data, meta)
		answer := run(encryptionKeys, delivery(job))
		if answer != `200 {"status":"completed"}` || fmt.Sprint(got.Args) != "[user@example.com map[n:1]]" {
			t.Error(data, answer, got.Args)
		}
	}
	broken := delivery(`{"id":"1","type":"card.charge","args":["%"],"meta":{"ojs_encoded":true}}`)
	if answer := run(encryptionKeys, broken); !strings.Contains(answer, "x_codec_malformed") {
		t.Error(answer)
	}
}

// Steps, checkpoints, progress and heartbeats go to the server; the attempt after this one, in a worker, finds them.
func TestAContextReachesTheServer(t *testing.T) {
	w := newWorld(t)
	handler := serverless.NewLambdaHandler(serverless.WithOJSURL(w.server.URL()), quiet)
	handler.RegisterHandler("import", func(ctx ojs.JobContext) error {
		must(t, ctx.Heartbeat())
		ctx.Progress(0.5, "half")
		_, err := ojs.RunStep(ctx, "charge", func() (string, error) { return "ch_1", nil })
		must(t, err)
		_, err = ctx.Checkpoint(ojs.Obj{"page": 7})
		must(t, err)
		return &ojs.JobError{Message: "later"}
	})
	id, body := w.leased("import", nil, ojs.WithRetry(ojs.RetryPolicy{MaxAttempts: 3, BackoffStrategy: "none"}))
	if names := again(t, handler, message("m1", body)); names != "" {
		t.Fatal(names)
	}
	progress, err := w.client.Request(context.Background(), "GET", "/jobs/"+id+"/progress", nil)
	if err != nil || !strings.Contains(string(progress), "half") {
		t.Fatal(string(progress), err)
	}
	worker, err := w.client.NewWorker()
	must(t, err)
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	worker.Register("import", func(ctx ojs.JobContext) error {
		defer stop()
		charge, err := ojs.RunStep(ctx, "charge", func() (string, error) { return "again", nil })
		var state struct{ Page int }
		_, wrong := ctx.LoadCheckpoint(&state)
		if charge != "ch_1" || state.Page != 7 || err != nil || wrong != nil {
			t.Error(charge, state, err, wrong)
		}
		return nil
	})
	must(t, worker.Start(ctx))
	w.isIn(id, ojs.Completed)

	// A checkpoint that looks like the document itself stays what it is.
	odd := serverless.NewLambdaHandler(serverless.WithOJSURL(w.server.URL()), quiet)
	odd.RegisterHandler("odd", func(ctx ojs.JobContext) error {
		_, err := ctx.Checkpoint(ojs.Obj{"$ojs.steps": ojs.Obj{"mine": 1}})
		must(t, err)
		kept, err := w.client.Request(ctx, "GET", "/jobs/"+ctx.Job.ID+"/checkpoint", nil)
		if err != nil || !strings.Contains(string(kept), `"$ojs.state":{"$ojs.steps":{"mine":1}}`) {
			t.Error(string(kept), err)
		}
		if _, err := ctx.Checkpoint(nil); err == nil {
			t.Error("null is saved")
		}
		return nil
	})
	id, body = w.leased("odd", nil)
	if names := again(t, odd, message("m1", body)); names != "" {
		t.Fatal(names)
	}
	w.isIn(id, ojs.Completed)

	// And the other way round: the function finds what an attempt before it has saved. Without a server nothing is kept.
	const state = `{"$ojs.state":{"page":7},"$ojs.steps":{"charge":"ch_1"}}`
	const saved = `{"id":"1","type":"find","args":[],"checkpoint":{"state":` + state + `}}`
	alone := serverless.NewLambdaHandler(quiet)
	alone.RegisterHandler("find", func(ctx ojs.JobContext) error {
		charge, err := ojs.RunStep(ctx, "charge", func() (string, error) { return "again", nil })
		must(t, err)
		if _, err := ctx.Checkpoint(1); err == nil || !strings.Contains(err.Error(), "WithOJSURL") {
			t.Error(err)
		}
		ctx.SetResult(charge)
		return nil
	})
	told, err := alone.HandleDirect(context.Background(), json.RawMessage(saved))
	if err != nil || string(told.Result) != `"ch_1"` {
		t.Fatal(told, err)
	}
}

// A lease that is lost, and a job that is cancelled, end a run: the server is right.
func TestAHandlerLearnsThatItsLeaseIsLost(t *testing.T) {
	w := newWorld(t)
	handler := serverless.NewLambdaHandler(serverless.WithOJSURL(w.server.URL()), quiet)
	var id string
	handler.RegisterHandler("import", func(ctx ojs.JobContext) error {
		_, err := w.client.CancelJob(ctx, id)
		must(t, err)
		why := ctx.Heartbeat()
		if why == nil || ctx.Err() == nil || context.Cause(ctx) != why {
			t.Error(why, ctx.Err(), context.Cause(ctx))
		}
		if _, err := ctx.Checkpoint(1); err != ojs.ErrCancelled {
			t.Error(err)
		}
		return context.Cause(ctx)
	})
	id, body := w.leased("import", nil)
	if names := again(t, handler, message("m1", body)); names != "" {
		t.Fatal(names)
	}
	w.isIn(id, ojs.Cancelled)
}
