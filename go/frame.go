// Made from xtask/schema.toml by make gen; do not edit.

//go:build cgo

package ojs

import (
	"encoding/binary"
	"time"
)

// The layout of a frame; the numbers of ojs_frame.h.
const (
	frameJobs     = 0x4A534A4F // "OJSJ"
	frameOutcomes = 0x4F534A4F // "OJSO"
	frameVersion  = 1

	frameHeader  = 16
	frameOutcome = 32

	frameAtMagic     = 0
	frameAtVersion   = 4
	frameAtEntrySize = 6
	frameAtCount     = 8
	frameAtTotal     = 12

	frameJobToken    = 0
	frameJobEnvelope = 8
	frameJobID       = 16
	frameJobType     = 24
	frameJobQueue    = 32
	frameJobAttempt  = 40
	frameJobFlags    = 44
	frameJobDeadline = 48

	frameFlagASCII    = 1 // Id, type, queue and envelope are ASCII.
	frameFlagDeadline = 2 // It has a deadline.

	frameOutcomeToken   = 0
	frameOutcomeKind    = 8
	frameOutcomePayload = 16
	frameOutcomeDelay   = 24
)

// packOutcomes makes a frame of outcomes.
func packOutcomes(outcomes []outcome) []byte {
	total := frameHeader + len(outcomes)*frameOutcome
	for _, o := range outcomes {
		total += len(o.payload)
	}
	le := binary.LittleEndian
	frame := make([]byte, frameHeader+len(outcomes)*frameOutcome, total)
	le.PutUint32(frame[frameAtMagic:], frameOutcomes)
	le.PutUint16(frame[frameAtVersion:], frameVersion)
	le.PutUint16(frame[frameAtEntrySize:], frameOutcome)
	le.PutUint32(frame[frameAtCount:], uint32(len(outcomes)))
	le.PutUint32(frame[frameAtTotal:], uint32(total))
	for i, o := range outcomes {
		entry := frame[frameHeader+i*frameOutcome:]
		le.PutUint64(entry[frameOutcomeToken:], o.token)
		le.PutUint32(entry[frameOutcomeKind:], o.kind)
		le.PutUint32(entry[frameOutcomePayload:], uint32(len(frame)))
		le.PutUint32(entry[frameOutcomePayload+4:], uint32(len(o.payload)))
		frame = append(frame, o.payload...)
		le.PutUint64(entry[frameOutcomeDelay:], uint64(o.delay.Milliseconds()))
	}
	return frame
}

// delivered is a job out of a frame.
type delivered struct {
	token    uint64
	envelope []byte
	id       string
	jobType  string
	queue    string
	attempt  int
	left     time.Duration // Negative without a deadline.
}

// readJobs reads a frame of jobs.
func readJobs(frame []byte) ([]delivered, error) {
	le := binary.LittleEndian
	if len(frame) < frameHeader || le.Uint32(frame[frameAtMagic:]) != frameJobs {
		return nil, &Error{Class: ErrInternal, Code: "internal_error", Message: "the engine did not give a frame of jobs"}
	}
	// Later versions may append members: the header says how long an entry is.
	size, count := int(le.Uint16(frame[frameAtEntrySize:])), int(le.Uint32(frame[frameAtCount:]))
	jobs := make([]delivered, count)
	for i := range jobs {
		entry := frame[frameHeader+i*size:]
		text := func(at int) []byte {
			from := le.Uint32(entry[at:])
			return frame[from : from+le.Uint32(entry[at+4:])]
		}
		jobs[i] = delivered{
			token:    le.Uint64(entry[frameJobToken:]),
			envelope: text(frameJobEnvelope),
			id:       string(text(frameJobID)),
			jobType:  string(text(frameJobType)),
			queue:    string(text(frameJobQueue)),
			attempt:  int(le.Uint32(entry[frameJobAttempt:])),
			left:     -1,
		}
		if le.Uint32(entry[frameJobFlags:])&frameFlagDeadline != 0 {
			jobs[i].left = time.Duration(le.Uint64(entry[frameJobDeadline:])) * time.Millisecond
		}
	}
	return jobs, nil
}
