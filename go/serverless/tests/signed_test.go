package tests

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// newSender is a client of `ojs server`, because a server of the package sends nothing to addresses of this machine.
func newSender(t *testing.T) *ojs.Client {
	t.Helper()
	binary := os.Getenv("OJS_BIN")
	if binary == "" {
		target := os.Getenv("CARGO_TARGET_DIR")
		if target == "" {
			target = filepath.Join("..", "..", "..", "target")
		}
		binary = filepath.Join(target, "release", "ojs")
	}
	store := "sqlite:" + filepath.Join(t.TempDir(), "jobs.db")
	command := exec.Command(binary, "server", "--store", store, "--listen", "127.0.0.1:0",
		"--webhook-allow", "127.0.0.1", "--log-level", "error")
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !found {
		t.Fatalf("the server said %q", line)
	}
	client, err := ojs.NewClient(url)
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// request is one that an endpoint was sent, and what the library of Standard Webhooks said of it.
type request struct {
	headers http.Header
	body    []byte
	err     error
}

// verifying is an endpoint that checks requests with the library of Standard Webhooks alone.
type verifying struct {
	*httptest.Server
	// secrets are those that a request has to be signed with; the endpoint takes them with each request.
	secrets  chan []string
	requests chan request
}

func newVerifying(t *testing.T) *verifying {
	endpoint := &verifying{secrets: make(chan []string, 1), requests: make(chan request, 16)}
	endpoint.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		for _, secret := range <-endpoint.secrets {
			err = errors.Join(err, verify(secret, body, r.Header))
		}
		endpoint.requests <- request{r.Header, body, err}
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"status":"completed"}`)
	}))
	t.Cleanup(func() {
		close(endpoint.secrets)
		endpoint.Close()
	})
	return endpoint
}

func verify(secret string, body []byte, headers http.Header) error {
	theirs, err := webhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return theirs.Verify(body, headers)
}

// delivered enqueues a job, and returns the request that it was sent in once the endpoint's answer has completed it.
func (endpoint *verifying) delivered(t *testing.T, client *ojs.Client, arg string, secrets ...string) request {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	endpoint.secrets <- secrets
	job, err := client.Enqueue(ctx, "t", ojs.Args{arg}, ojs.WithQueue("q"))
	must(t, err)
	var sent request
	select {
	case sent = <-endpoint.requests:
	case <-ctx.Done():
		t.Fatal("the endpoint was sent nothing")
	}
	must(t, sent.err)
	var body struct{ Job struct{ ID string } }
	must(t, json.Unmarshal(sent.body, &body))
	if body.Job.ID != job.ID {
		t.Fatalf("the job is %s, and was sent as %s", job.ID, sent.body)
	}
	for tick := time.NewTicker(2 * time.Millisecond); ; {
		job, err := client.GetJob(ctx, job.ID)
		must(t, err)
		if job.State == ojs.Completed {
			tick.Stop()
			return sent
		}
		<-tick.C
	}
}

// shown is the id and the secret of an endpoint, out of the only answer that has the secret.
func shown(t *testing.T, endpoint ojs.Obj, err error) (id, secret string) {
	t.Helper()
	must(t, err)
	text, err := json.Marshal(endpoint)
	must(t, err)
	var made struct {
		ID     string
		Config struct {
			SigningSecret string `json:"signing_secret"`
		}
	}
	must(t, json.Unmarshal(text, &made))
	if made.ID == "" || made.Config.SigningSecret == "" {
		t.Fatalf("an id and a secret are wanted, not %s", text)
	}
	return made.ID, made.Config.SigningSecret
}

func TestTheLibraryOfStandardWebhooksVerifiesWhatAServerSigns(t *testing.T) {
	client, endpoint := newSender(t), newVerifying(t)
	settings := ojs.Obj{"endpoint": endpoint.URL, "job_types": []string{"t"}, "queues": []string{"q"}}
	created, err := client.CreatePushEndpoint(t.Context(), settings)
	id, old := shown(t, created, err)
	first := endpoint.delivered(t, client, "ada", old)
	rotated, err := client.RotatePushSecret(t.Context(), id)
	_, replaced := shown(t, rotated, err)
	// For a day requests are signed with both, so that a function may take the new secret later than the server.
	second := endpoint.delivered(t, client, "bob", old, replaced)

	changed := func(body []byte) []byte { return bytes.Replace(body, []byte(`"t"`), []byte(`"u"`), 1) }
	wrong := webhooks.ErrNoMatchingSignature
	for _, one := range []struct {
		what, secret string
		sent         request
		body         []byte
		want         error
	}{
		{"one signature", old, first, first.body, nil},
		{"one signature, a changed byte", old, first, changed(first.body), wrong},
		{"one signature, a secret of later", replaced, first, first.body, wrong},
		{"two signatures, the old secret", old, second, second.body, nil},
		{"two signatures, the old secret, a changed byte", old, second, changed(second.body), wrong},
		{"two signatures, the new secret", replaced, second, second.body, nil},
		{"two signatures, the new secret, a changed byte", replaced, second, changed(second.body), wrong},
	} {
		if err := verify(one.secret, one.body, one.sent.headers); !errors.Is(err, one.want) {
			t.Errorf("%s: %v, wanted %v", one.what, err, one.want)
		}
	}
}
