package tests

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go-sdk/serverless"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// signed are the headers of the document.
func signed(body string, at time.Time, secrets ...string) http.Header {
	stamp := fmt.Sprint(at.Unix())
	var values []string
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(stamp + "." + body))
		values = append(values, "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	return http.Header{"X-Ojs-Timestamp": {stamp}, "X-Ojs-Signature": {strings.Join(values, ", ")}}
}

func pushHandler(t *testing.T, options ...serverless.Option) (*serverless.Handler, *atomic.Int64) {
	options = append([]serverless.Option{serverless.WithSigningSecrets(secret), quiet}, options...)
	handler := serverless.NewHandler(options...)
	calls := &atomic.Int64{}
	handler.Register("email.send", func(ctx context.Context, job serverless.Job) error {
		serverless.SetResult(ctx, ojs.Obj{"message_id": calls.Add(1)})
		return nil
	})
	for name, err := range map[string]error{
		"email.fail":  errors.New("SMTP connection refused"),
		"email.never": ojs.NonRetryable(errors.New("no such customer")),
		"email.later": ojs.Snooze(90 * time.Second),
	} {
		handler.Register(name, func(context.Context, serverless.Job) error { return err })
	}
	handler.Register("email.panic", func(context.Context, serverless.Job) error { panic("at sea") })
	must(t, handler.Check())
	return handler, calls
}

func TestAPushDeliveryIsAnsweredAsTheDocumentPrintsIt(t *testing.T) {
	handler, _ := pushHandler(t)
	for _, one := range []struct{ jobType, want string }{
		{"email.send", `{"result":{"message_id":1},"status":"completed"}`},
		{"email.fail", `"code":"handler_error","message":"SMTP connection refused","retryable":true`},
		{"email.never", `"code":"non_retryable","message":"no such customer","retryable":false`},
		{"email.later", `"delay_ms":90000`},
		{"email.later", `"code":"snooze","details":{"snooze_ms":90000}`},
		{"email.panic", `"message":"panic: at sea","retryable":true`},
		{"email.none", `"code":"no_handler"`},
	} {
		body := delivery(plain(one.jobType))
		status, answer := post(t, handler, signed(body, time.Now(), secret), body)
		delete(answer, "job_id")
		if failure, failed := answer["error"].(map[string]any); failed {
			delete(failure, "type")
			delete(failure, "backtrace")
			if one.jobType != "email.later" {
				delete(failure, "details")
			}
		}
		text, _ := json.Marshal(answer)
		if status != 200 || !strings.Contains(string(text), one.want) {
			t.Errorf("%s: %d %s, wanted %s", one.jobType, status, text, one.want)
		}
	}
}

// 401 would end the job and disable the endpoint, although only a setting is missing.
func TestAHandlerWithoutASecretAnswersWhatIsTriedAgainAndLogsWhatToSet(t *testing.T) {
	var log bytes.Buffer
	logger := serverless.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))
	handler, calls := pushHandler(t, serverless.WithSigningSecrets(" "), logger)
	body := delivery(plain("email.send"))
	status, answer := post(t, handler, signed(body, time.Now(), secret), body)
	failure, _ := answer["error"].(map[string]any)
	if status != 500 || failure["code"] != "internal_error" || failure["retryable"] != true || calls.Load() != 0 {
		t.Error(status, answer, calls.Load())
	}
	if line := log.String(); !strings.Contains(line, "level=ERROR") || !strings.Contains(line, "OJS_SIGNING_SECRET") {
		t.Error(line)
	}
}

func TestARequestThatIsNotSignedRunsNothing(t *testing.T) {
	now := time.Unix(1_708_030_665, 0)
	handler, calls := pushHandler(t, serverless.WithClock(func() time.Time { return now }))
	body := delivery(plain("email.send"))
	good := signed(body, now, secret)
	for name, headers := range map[string]http.Header{
		"missing_header":     {},
		"signature_mismatch": signed(body, now, "whsec_of_another_endpoint"),
		"stale_timestamp":    signed(body, now.Add(-301*time.Second), secret),
		"invalid_header":     {"X-Ojs-Timestamp": {"soon"}, "X-Ojs-Signature": good["X-Ojs-Signature"]},
	} {
		status, answer := post(t, handler, headers, body)
		said, _ := json.Marshal(answer)
		if status != 401 || !strings.Contains(string(said), `"reason":"`+name+`"`) {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	if status, _ := post(t, handler, good, body+" "); status != 401 {
		t.Error("a changed body is not refused")
	}
	if calls.Load() != 0 {
		t.Error("the handler was called")
	}
	// While a secret is being replaced, a request has two signatures, or a receiver two secrets.
	clock := serverless.WithClock(func() time.Time { return now })
	two, _ := pushHandler(t, clock, serverless.WithSigningSecrets("whsec_old", secret))
	both := signed(body, now, "whsec_old", "whsec_x")
	for _, headers := range []http.Header{signed(body, now, "whsec_old"), both, good} {
		if status, answer := post(t, two, headers, body); status != 200 {
			t.Error(status, answer)
		}
	}
}

func TestWhatIsNoDeliveryIsRefused(t *testing.T) {
	handler, calls := pushHandler(t)
	for _, body := range []string{"", "[]", "{}", `{"job":{}}`, `{"job":{"id":"1"}}`, "{"} {
		if status, answer := post(t, handler, signed(body, time.Now(), secret), body); status != 400 {
			t.Error(body, status, answer)
		}
	}
	large := strings.Repeat(" ", serverless.MaxBodyBytes+1)
	if status, _ := post(t, handler, http.Header{}, large); status != 413 {
		t.Error(status)
	}
	if calls.Load() != 0 {
		t.Error("the handler was called")
	}
}

func TestADeliveryThatArrivesTwiceRunsOnce(t *testing.T) {
	handler, calls := pushHandler(t, serverless.WithReplayMemory(2))
	body := delivery(plain("email.send"))
	headers := signed(body, time.Now(), secret)
	for range 3 {
		status, answer := post(t, handler, headers, body)
		if status != 200 || fmt.Sprint(answer["result"]) != "map[message_id:1]" {
			t.Fatal(status, answer)
		}
	}
	// The memory is bounded: two other deliveries take its place.
	for range 2 {
		other := delivery(plain("email.send"))
		post(t, handler, signed(other, time.Now(), secret), other)
	}
	post(t, handler, headers, body)
	if calls.Load() != 4 {
		t.Fatal(calls.Load())
	}
}

func TestADeliveryThatArrivesWhileItRunsWaitsForItsAnswer(t *testing.T) {
	handler := serverless.NewHandler(serverless.WithUnsignedRequests(), quiet)
	var calls atomic.Int64
	began, end := make(chan struct{}), make(chan struct{})
	handler.Register("email.send", func(context.Context, serverless.Job) error {
		if calls.Add(1) == 1 {
			close(began)
		}
		<-end
		return nil
	})
	body := delivery(plain("email.send"))
	var both sync.WaitGroup
	send := func() {
		defer both.Done()
		if status, answer := post(t, handler, http.Header{}, body); status != 200 {
			t.Error(status, answer)
		}
	}
	both.Add(2)
	go send()
	<-began
	go send()
	close(end)
	both.Wait()
	if calls.Load() != 1 {
		t.Fatal(calls.Load())
	}
}

// The library of Standard Webhooks signs what we verify, and verifies what it signed itself.
func TestTheLibraryOfStandardWebhooksAgrees(t *testing.T) {
	theirs, err := webhooks.NewWebhook(secret)
	must(t, err)
	handler, calls := pushHandler(t)
	body, now := delivery(plain("email.send")), time.Now()
	value, err := theirs.Sign("del_1", now, []byte(body))
	must(t, err)
	headers := http.Header{"Webhook-Id": {"del_1"}, "Webhook-Signature": {value}}
	headers.Set("Webhook-Timestamp", fmt.Sprint(now.Unix()))
	if status, answer := post(t, handler, headers, body); status != 200 {
		t.Fatal(status, answer)
	}
	must(t, theirs.Verify([]byte(body), headers))
	headers.Set("Webhook-Id", "del_2")
	if status, _ := post(t, handler, headers, body); status != 401 || calls.Load() != 1 {
		t.Fatal(status, calls.Load())
	}
}

// The check of this package and the one of the engine are two programs: they agree on every request.
func TestTheCheckOfTheEngineAgrees(t *testing.T) {
	now := time.Unix(1_708_030_665, 0)
	body := `{"type":"job.completed"}`
	theirs, err := webhooks.NewWebhook(secret)
	must(t, err)
	standard, err := theirs.Sign("msg_1", now, []byte(body))
	must(t, err)
	form := func(id, stamp, value string) http.Header {
		return http.Header{"webhook-id": {id}, "webhook-timestamp": {stamp}, "webhook-signature": {value}}
	}
	one := func(stamp, value string) http.Header {
		return http.Header{"x-ojs-timestamp": {stamp}, "X-OJS-SIGNATURE": {value}}
	}
	const stamp, check = "1708030665", "sha256=8546408988b294b4617e3d0fe20e0d3136e60d027dacc02a97a3c59632ee4fa0"
	for _, headers := range []http.Header{
		{}, one(stamp, check), one(stamp, "sha256=00, "+check), one(stamp, ""), one(stamp, "sha256=zz"), one("", check),
		one("-1", check), one("+1708030665", check), one("1e9", check), one("99999999999999999999", check),
		one("1708030364", check), one("1708030966", check), {"X-Ojs-Signature": {check}},
		one(stamp, strings.Repeat("sha256=00,", 16)+check), one(stamp, strings.Repeat("sha256=00,", 15)+check),
		form("msg_1", stamp, standard), form("msg_2", stamp, standard), form("msg_1", stamp, "v1a,AAAA "+standard),
		form("msg_1", "1708030666", standard), {"webhook-signature": {standard}},
		{"webhook-signature": {standard}, "webhook-id": {"msg_1"}},
	} {
		const test = "whsec_test_secret"
		for _, secrets := range [][]string{nil, {""}, {test}, {secret}, {"other", secret, test}} {
			ours := serverless.Verify([]byte(body), headers, secrets, 300*time.Second, now)
			engines := ojs.VerifyWebhookAt([]byte(body), headers, secrets, 300*time.Second, now)
			if reason(ours) != reason(engines) {
				t.Errorf("%v with %v: %q here, %q in the engine", headers, secrets, reason(ours), reason(engines))
			}
		}
	}
}

func reason(err error) string {
	var wrong *ojs.Error
	if !errors.As(err, &wrong) {
		return fmt.Sprint(err)
	}
	var details struct{ Reason string }
	_ = json.Unmarshal(wrong.Details, &details)
	return details.Reason
}
