package serverless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/openjobspec/ojs-go"
)

const (
	// maxSends is how often a report is sent that did not arrive; the pause doubles from firstPause.
	maxSends   = 4
	firstPause = 100 * time.Millisecond
	// callTime is the longest wait for one answer, sendTime for that of all sends: they end within the margin before the
	// platform's limit.
	callTime, sendTime = 2 * time.Second, 4 * time.Second
	maxAnswer          = 16 << 20
)

// server is where outcomes are reported to.
type server struct {
	url, token string
	client     *http.Client
}

// send makes a request until there is an answer, within the time of the context. It returns the body of a 2xx answer.
func (s *server) send(ctx context.Context, method, path string, body any) ([]byte, error) {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	pause := firstPause
	for sends := 1; ; sends++ {
		answer, err := s.once(ctx, method, path, sent)
		var wrong *ojs.Error
		if err == nil || errors.As(err, &wrong) && !wrong.Retryable || sends == maxSends {
			return answer, err
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return nil, err
		}
	}
}

func (s *server) once(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.url+"/ojs/v1"+path, bytes.NewReader(body))
	if err != nil {
		return nil, invalid("%v", err)
	}
	request.Header.Set("Content-Type", "application/openjobspec+json")
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, &ojs.Error{Class: ojs.ErrConnection, Code: "connection", Message: err.Error(), Retryable: true}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, &ojs.Error{Class: ojs.ErrConnection, Code: "connection", Message: err.Error(), Retryable: true}
	}
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		return text, nil
	}
	return nil, refused(response.StatusCode, text)
}

// refused is the error of an answer whose status is none of success. An answer without an error of the protocol comes
// from a proxy, or from a server that does not have this route: it says nothing of a job.
func refused(status int, text []byte) *ojs.Error {
	told := struct{ Error *ojs.Error }{}
	if json.Unmarshal(text, &told) != nil || told.Error == nil {
		message := fmt.Sprintf("HTTP %d without an OJS error body", status)
		told.Error = &ojs.Error{Class: ojs.ErrConnection, Code: "unexpected_answer", Message: message}
	} else if told.Error.Class = ojs.ErrAPI; status == http.StatusNotFound {
		told.Error.Class = ojs.ErrNotFound
	} else if status == http.StatusConflict {
		told.Error.Class = ojs.ErrConflict
	}
	told.Error.Status = status
	told.Error.Retryable = told.Error.Retryable || status == http.StatusTooManyRequests || status >= 500
	return told.Error
}

// hasStatus is whether an error is an answer with a status, of the server or of a proxy.
func hasStatus(err error, status int) bool {
	var wrong *ojs.Error
	return errors.As(err, &wrong) && wrong.Status == status
}

// owner is what proves that a job was leased to this delivery.
func (d delivery) owner() map[string]any {
	said := map[string]any{}
	if d.worker != "" {
		said["worker_id"] = d.worker
	}
	if d.about.Lease != nil {
		said["lease_token"] = d.about.Lease
	}
	return said
}

// report sends the outcome of a job. When the server does not know the job, or has an outcome of it already, the
// outcome counts as sent.
func (s *server) report(ctx context.Context, d delivery, outcome ojs.Outcome) error {
	said, path := d.owner(), "/workers/nack"
	said["job_id"] = d.about.ID
	told := resultOf(outcome)
	switch {
	case outcome.Kind == ojs.OutcomeCompleted:
		path = "/workers/ack"
		if told.Result != nil {
			said["result"] = told.Result
		}
	case told.Requeue:
		said["requeue"], said["error"], said["delay_ms"] = true, told.Error, told.DelayMS
	default:
		said["error"] = told.Error
	}
	_, err := s.send(ctx, http.MethodPost, path, said)
	var wrong *ojs.Error
	if !errors.As(err, &wrong) {
		return err
	}
	if errors.Is(err, ojs.ErrConflict) || errors.Is(err, ojs.ErrNotFound) {
		return nil
	}
	switch wrong.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		if outcome.Kind == ojs.OutcomeCompleted {
			// The result is the reason: the same result would be refused again.
			failure := &ojs.JobError{Code: "serialization_error", NonRetryable: true}
			failure.Message = "the result was not accepted: " + wrong.Message
			return s.report(ctx, d, ojs.FailedOutcome(failure))
		}
	}
	return err
}

// job reads a job.
func (s *server) job(ctx context.Context, id string) (json.RawMessage, error) {
	text, err := s.send(ctx, http.MethodGet, "/jobs/"+url.PathEscape(id), nil)
	if err != nil {
		return nil, err
	}
	var found struct{ Job json.RawMessage }
	if err := json.Unmarshal(text, &found); err != nil || found.Job == nil {
		return nil, invalid("the server's answer has no job")
	}
	return found.Job, nil
}

// complete reads the whole job where the message has only its name: a queue of a cloud takes 256 KiB.
func (s *server) complete(ctx context.Context, d *delivery) error {
	if d.about.Args != nil {
		return nil
	}
	job, err := s.job(ctx, d.about.ID)
	if err != nil {
		return err
	}
	var checkpoint json.RawMessage
	if d.about.HasSaved {
		path := "/jobs/" + url.PathEscape(d.about.ID) + "/checkpoint"
		// A server without checkpoints answers 404, in a form of its own: the job is there, and runs without one.
		if checkpoint, err = s.send(ctx, http.MethodGet, path, nil); err != nil && !hasStatus(err, http.StatusNotFound) {
			return err
		}
	}
	*d, err = d.completed(job, checkpoint)
	return err
}
