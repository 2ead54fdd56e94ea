package ojs

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// readEnvelope reads a job that a worker got. The engine has read it before, so it is JSON for certain: this looks at each byte once and keeps
// the common members by itself, and leaves the rest to encoding/json, which took half of the time of a worker with short jobs.
func (j *Job) readEnvelope(data []byte) error {
	rest := cutter{data}
	if !rest.skip('{') {
		return j.read(data)
	}
	for !rest.skip('}') {
		name := rest.value()
		rest.skip(':')
		value := rest.value()
		if len(name) < 2 || len(value) == 0 || !j.keep(string(name[1:len(name)-1]), value) {
			// Nothing is kept twice: it reads all of it again.
			*j = Job{}
			return j.read(data)
		}
		rest.skip(',')
	}
	j.Raw = data
	return nil
}

// keep sets a member; false leaves the job to encoding/json.
func (j *Job) keep(name string, value []byte) bool {
	//gen:go/envelope.j2 (make gen; do not edit)
	switch name {
	case "id":
		return keepText(&j.ID, value)
	case "type":
		return keepText(&j.Type, value)
	case "queue":
		return keepText(&j.Queue, value)
	case "state":
		return keepText(&j.State, value)
	case "args":
		return j.keepArgs(value)
	case "meta":
		j.Meta = Obj{}
		return string(value) == "{}"
	case "priority":
		return keepNumber(&j.Priority, value)
	case "attempt":
		return keepNumber(&j.Attempt, value)
	case "max_attempts":
		return keepNumber(&j.MaxAttempts, value)
	case "tags":
		j.Tags = []string{}
		return string(value) == "[]"
	case "workflow_id":
		return keepText(&j.WorkflowID, value)
	case "created_at":
		return keepTime(&j.CreatedAt, value)
	case "enqueued_at":
		return keepTime(&j.EnqueuedAt, value)
	case "scheduled_at":
		return keepTime(&j.ScheduledAt, value)
	case "started_at":
		return keepTime(&j.StartedAt, value)
	case "completed_at":
		return keepTime(&j.CompletedAt, value)
	case "expires_at":
		return keepTime(&j.ExpiresAt, value)
	case "result", "error", "errors", "parent_results", "train":
		return false
	}
	//gen:end
	// Not of this version; it stays in Raw. Names that differ in nothing but their case are encoding/json's to tell apart.
	return !odd(name)
}

// keepArgs keeps simple values; a list or an object in the arguments is read by encoding/json.
func (j *Job) keepArgs(array []byte) bool {
	rest := cutter{array}
	if !rest.skip('[') {
		return false
	}
	args := Args{}
	for !rest.skip(']') {
		value := rest.value()
		if len(value) == 0 {
			return false
		}
		var text string
		switch {
		case keepText(&text, value):
			args = append(args, text)
		case value[0] == '-' || value[0] >= '0' && value[0] <= '9':
			args = append(args, json.Number(value))
		default:
			var other any
			if decode(value, &other) != nil {
				return false
			}
			args = append(args, other)
		}
		rest.skip(',')
	}
	j.Args = args
	return true
}

// keepText keeps a text without escapes.
func keepText[T ~string](into *T, value []byte) bool {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' || bytes.IndexByte(value, '\\') >= 0 {
		return false
	}
	*into = T(value[1 : len(value)-1])
	return true
}

func keepNumber(into *int, value []byte) (kept bool) {
	number, err := strconv.Atoi(string(value))
	*into = number
	return err == nil
}

func keepTime(into *time.Time, value []byte) bool {
	var text string
	if !keepText(&text, value) {
		return false
	}
	at, err := time.Parse(time.RFC3339, text)
	*into = at
	return err == nil
}

// odd says whether a name has capitals or escapes.
func odd(name string) bool {
	for _, c := range []byte(name) {
		if c == '\\' || c >= 'A' && c <= 'Z' || c >= 0x80 {
			return true
		}
	}
	return false
}

// cutter cuts values out of JSON that is known to be right.
type cutter struct{ data []byte }

// skip goes past blanks, and past this byte if it follows.
func (c *cutter) skip(wanted byte) bool {
	for len(c.data) > 0 && (c.data[0] == ' ' || c.data[0] == '\n' || c.data[0] == '\t' || c.data[0] == '\r') {
		c.data = c.data[1:]
	}
	if len(c.data) == 0 || c.data[0] != wanted {
		return false
	}
	c.data = c.data[1:]
	return true
}

// value is the text of the next value; nothing where there is none.
func (c *cutter) value() []byte {
	c.skip(0)
	depth, at := 0, 0
	for at < len(c.data) {
		switch c.data[at] {
		case '"':
			at = c.endOfText(at)
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth == 0 && (at+1 >= len(c.data) || ends(c.data[at+1])) {
			at++
			break
		}
		at++
	}
	at = min(at, len(c.data))
	value := c.data[:at]
	c.data = c.data[at:]
	return value
}

// ends says whether a value is over before this byte.
func ends(b byte) bool {
	switch b {
	case ',', ':', '}', ']', ' ', '\n', '\r', '\t':
		return true
	}
	return false
}

// endOfText is where the text that begins here has its last quote.
func (c *cutter) endOfText(at int) int {
	for at++; at < len(c.data) && c.data[at] != '"'; at++ {
		if c.data[at] == '\\' {
			at++
		}
	}
	return at
}
