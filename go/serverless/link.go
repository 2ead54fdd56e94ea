package serverless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/openjobspec/ojs-go"
)

// Members of the document that the server keeps for a job, where steps were run: the same in all languages.
const (
	memberState = "$ojs.state"
	memberSteps = "$ojs.steps"
	longestStep = 255 // Bytes.
)

// document is the checkpoint of a job with the results of its steps.
type document struct {
	State json.RawMessage            `json:"$ojs.state,omitempty"`
	Steps map[string]json.RawMessage `json:"$ojs.steps"`
}

// link is what a run asks of the server that leased its job.
type link struct {
	server *server
	d      delivery
	ctx    context.Context

	mu    sync.Mutex
	saved *document // Nil until it is wanted.
}

// WorkerID is the name under which the server leased the job; empty where the message does not say it.
func (l *link) WorkerID() string { return l.d.worker }

// put sends something about the job under its lease.
func (l *link) put(what string, said map[string]any) ([]byte, ojs.CancelReason, error) {
	if l.server == nil {
		return nil, 0, invalid("%s needs the server: name it by WithOJSURL or $OJS_URL", what)
	}
	maps.Copy(said, l.d.owner())
	text, err := l.server.send(l.ctx, http.MethodPut, "/jobs/"+url.PathEscape(l.d.about.ID)+"/"+what, said)
	var wrong *ojs.Error
	if !errors.As(err, &wrong) || wrong.Status != http.StatusConflict {
		return text, 0, err
	}
	var details struct {
		State string `json:"current_state"`
	}
	_ = json.Unmarshal(wrong.Details, &details)
	if details.State == string(ojs.Cancelled) {
		return nil, ojs.ErrCancelled, nil
	}
	return nil, ojs.ErrLeaseLost, nil
}

// Heartbeat extends the lease. A delivery that does not name its worker has no lease that could be extended.
func (l *link) Heartbeat() (ojs.CancelReason, error) {
	if l.server == nil || l.d.worker == "" {
		return 0, nil
	}
	said := map[string]any{"worker_id": l.d.worker, "state": "running", "active_jobs": []string{l.d.about.ID}}
	if l.d.about.Lease != nil {
		said["lease_tokens"] = map[string]any{l.d.about.ID: l.d.about.Lease}
	}
	text, err := l.server.send(l.ctx, http.MethodPost, "/workers/heartbeat", said)
	if err != nil {
		return 0, err
	}
	var told struct {
		Extended  []string `json:"jobs_extended"`
		Cancelled []string `json:"cancelled_jobs"`
	}
	if err := json.Unmarshal(text, &told); err != nil {
		return 0, invalid("the server's answer cannot be read: %v", err)
	}
	switch {
	case slices.Contains(told.Cancelled, l.d.about.ID):
		return ojs.ErrCancelled, nil
	case slices.Contains(told.Extended, l.d.about.ID):
		return 0, nil
	}
	return ojs.ErrLeaseLost, nil
}

// Progress is dropped where there is no server: the job does not depend on it.
func (l *link) Progress(report []byte) error {
	if l.server == nil {
		return nil
	}
	var said map[string]any
	if err := json.Unmarshal(report, &said); err != nil {
		return err
	}
	// The error of ctx.Progress is about the form of a report; one that does not arrive harms nothing.
	_, _, _ = l.put("progress", said)
	return nil
}

// Save saves the checkpoint, or the result of a step unless its name is empty.
func (l *link) Save(step string, state []byte) (sequence int64, why ojs.CancelReason, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if step == "" && string(state) == "null" {
		return 0, 0, invalid("a checkpoint must not be null: delete it instead")
	}
	if len(step) > longestStep {
		return 0, 0, invalid("the name of a step has 1 to %d bytes", longestStep)
	}
	before := l.document()
	next := document{State: before.State, Steps: map[string]json.RawMessage{}}
	maps.Copy(next.Steps, before.Steps)
	if step == "" {
		next.State = state
	} else {
		next.Steps[step] = state
	}
	var whole any = next
	if len(next.Steps) == 0 && !reserved(next.State) {
		whole = next.State
	}
	text, why, err := l.put("checkpoint", map[string]any{"state": whole})
	if err != nil || why != 0 {
		return 0, why, err
	}
	var told struct{ Sequence int64 }
	if err := json.Unmarshal(text, &told); err != nil {
		return 0, 0, invalid("the server's answer cannot be read: %v", err)
	}
	l.saved = &next
	return told.Sequence, 0, nil
}

// reserved is whether a document of the handler looks like one with steps: it is put into one, or it would be read as
// one.
func reserved(state json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(state, &members) == nil && (members[memberState] != nil || members[memberSteps] != nil)
}

// Saved is what this run, or an attempt before it, has saved; nil when there is nothing.
func (l *link) Saved(step string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if step == "" {
		return l.document().State, nil
	}
	return l.document().Steps[step], nil
}

// document is the one that the job was delivered with, until something is saved.
func (l *link) document() *document {
	if l.saved != nil {
		return l.saved
	}
	l.saved = &document{}
	var job struct {
		Checkpoint struct{ State json.RawMessage }
	}
	if json.Unmarshal(l.d.envelope, &job) != nil || job.Checkpoint.State == nil {
		return l.saved
	}
	var members map[string]json.RawMessage
	whole := bytes.TrimSpace(job.Checkpoint.State)
	if json.Unmarshal(whole, &members) == nil && members[memberSteps] != nil {
		l.saved.State = members[memberState]
		_ = json.Unmarshal(members[memberSteps], &l.saved.Steps)
	} else {
		l.saved.State = whole
	}
	return l.saved
}
