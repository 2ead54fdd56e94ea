package serverless

import (
	"bytes"
	"encoding/json"
	"time"
)

// delivery is a job as it was handed to a function.
type delivery struct {
	envelope json.RawMessage
	about    about
	worker   string
	id       string // Of the delivery, new for every attempt to push a job; empty where a queue brought it.
}

// about is what a function needs to know of a job before the job is read.
type about struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Attempt   int             `json:"attempt"`
	Args      json.RawMessage `json:"args"`
	Lease     json.RawMessage `json:"lease_token"`
	Worker    string          `json:"worker_id"`
	TimeoutMS float64         `json:"timeout_ms"`
	Timeout   float64         `json:"timeout"`
	HasSaved  bool            `json:"checkpoint_ref"` // The server has a checkpoint that is too large for the message.
}

// timeout is the job's own limit for one run; 0 when there is none.
func (d delivery) timeout() time.Duration {
	if d.about.TimeoutMS > 0 {
		return time.Duration(d.about.TimeoutMS * float64(time.Millisecond))
	}
	return time.Duration(max(d.about.Timeout, 0) * float64(time.Second))
}

// completed is the same delivery with the whole job, as the server has it. Members of the message count: its lease and
// its attempt are those of this delivery.
func (d delivery) completed(job, checkpoint json.RawMessage) (delivery, error) {
	whole := map[string]json.RawMessage{}
	if err := json.Unmarshal(job, &whole); err != nil {
		return d, invalid("the server's job cannot be read: %v", err)
	}
	// This adds the members of the message to those of the server.
	if err := json.Unmarshal(d.envelope, &whole); err != nil {
		return d, invalid("the job cannot be read: %v", err)
	}
	delete(whole, "checkpoint_ref")
	if checkpoint != nil {
		var saved struct {
			State    json.RawMessage `json:"state"`
			Sequence json.RawMessage `json:"sequence"`
		}
		if err := json.Unmarshal(checkpoint, &saved); err != nil {
			return d, invalid("the server's checkpoint cannot be read: %v", err)
		}
		whole["checkpoint"], _ = json.Marshal(saved)
	}
	envelope, err := json.Marshal(whole)
	if err != nil {
		return d, err
	}
	d.envelope = envelope
	return d, json.Unmarshal(envelope, &d.about)
}

// readDelivery reads the body of a push request, or a job alone.
func readDelivery(data []byte) (delivery, error) {
	var push struct {
		Job    json.RawMessage `json:"job"`
		Worker string          `json:"worker_id"`
		ID     string          `json:"delivery_id"`
		Lease  json.RawMessage `json:"lease_token"`
	}
	d := delivery{envelope: bytes.TrimSpace(data)}
	if err := json.Unmarshal(data, &push); err != nil {
		return d, invalid("the body is no JSON object: %v", err)
	}
	if len(push.Job) > 0 && push.Job[0] == '{' {
		d.envelope = push.Job
	}
	if err := json.Unmarshal(d.envelope, &d.about); err != nil {
		return d, invalid("the job cannot be read: %v", err)
	}
	if d.about.ID == "" || d.about.Type == "" {
		return d, invalid("the job needs an id and a type")
	}
	d.id = push.ID
	if d.worker = push.Worker; d.worker == "" {
		d.worker = d.about.Worker
	}
	if d.about.Lease == nil {
		d.about.Lease = push.Lease
	}
	return d, nil
}
