//go:build cgo

package ojs

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/openjobspec/ojs-go/internal/fakes"
)

func init() {
	fakes.Watch = func(client any, enqueued func(job any)) {
		client.(*Client).fake = func(job *Job) { enqueued(job) }
	}
	fakes.Matching = func(jobs []json.RawMessage, wanted map[string]any) ([]int, error) {
		recorded, err := encode(jobs)
		if err != nil {
			return nil, err
		}
		asked, err := encode(wanted)
		if err != nil {
			return nil, err
		}
		return nativeMatching(recorded, asked)
	}
}

// record gives the jobs that a request has enqueued to the fake of this client, if it has one.
func (c *Client) record(method, path string, body []byte) {
	if c.fake == nil {
		return
	}
	// A request that was carried out has jobs that can be read.
	texts, _ := nativeRecorded(method, path, body)
	for _, text := range texts {
		if job, err := requestedJob(text); err == nil {
			c.fake(job)
		}
	}
}

// tell gives a job that went into an outbox to the fake of this client, if it has one.
func (c *Client) tell(job *Job) {
	if c.fake != nil {
		told := *job
		c.fake(&told)
	}
}

// completedJob is the job of a request as it will be, with the defaults of its type.
func completedJob(request []byte) (*Job, error) {
	texts, err := nativeRecorded("POST", "/jobs", request)
	if err != nil {
		return nil, err
	}
	if len(texts) != 1 {
		return nil, invalid("no job: %s", request)
	}
	return requestedJob(texts[0])
}

// requestedJob is the job as it will be, out of its request in the form that goes over the wire, which is in Raw.
func requestedJob(body json.RawMessage) (*Job, error) {
	var wire struct {
		Options struct {
			Queue       string
			Priority    int
			Tags        []string
			Train       *JobTrain
			ScheduledAt time.Time `json:"delay_until"`
			ExpiresAt   time.Time `json:"expires_at"`
		}
	}
	job := &Job{}
	if err := job.read(body); err != nil {
		return nil, err
	}
	if err := decode(body, &wire); err != nil {
		return nil, err
	}
	job.Queue, job.Priority = cmp.Or(wire.Options.Queue, "default"), wire.Options.Priority
	job.Tags, job.Train = wire.Options.Tags, wire.Options.Train
	job.ScheduledAt, job.ExpiresAt = wire.Options.ScheduledAt, wire.Options.ExpiresAt
	return job, nil
}
