// Packed frames, for bindings that read them without a call per job. Plain C programs use ojs_frame_job() of ojs.h.
//
// Made by `make gen` from xtask/schema.toml: do not edit.
//
// All numbers are little endian; offsets count from the start of the frame. A text is two u32: its offset and its length. A reader
// takes the size of an entry from the header: later versions may append members.
#ifndef OJS_FRAME_H
#define OJS_FRAME_H

// The header, 16 bytes.
#define OJS_FRAME_JOBS 0x4A534A4Fu // "OJSJ"
#define OJS_FRAME_OUTCOMES 0x4F534A4Fu // "OJSO"
#define OJS_FRAME_VERSION 1u
#define OJS_FRAME_HEADER 16u
#define OJS_FRAME_AT_MAGIC 0u // u32
#define OJS_FRAME_AT_VERSION 4u // u16
#define OJS_FRAME_AT_ENTRY_SIZE 6u // u16, bytes of an entry
#define OJS_FRAME_AT_COUNT 8u // u32, entries
#define OJS_FRAME_AT_TOTAL 12u // u32, bytes of the whole frame

// A job, 56 bytes.
#define OJS_FRAME_JOB 56u
#define OJS_FRAME_JOB_TOKEN 0u // u64
#define OJS_FRAME_JOB_ENVELOPE 8u // text, the whole job as JSON
#define OJS_FRAME_JOB_ID 16u // text
#define OJS_FRAME_JOB_TYPE 24u // text
#define OJS_FRAME_JOB_QUEUE 32u // text
#define OJS_FRAME_JOB_ATTEMPT 40u // u32
#define OJS_FRAME_JOB_FLAGS 44u // u32
#define OJS_FRAME_JOB_DEADLINE 48u // u64, milliseconds left when the frame was made

#define OJS_FRAME_FLAG_ASCII 1u // Id, type, queue and envelope are ASCII.
#define OJS_FRAME_FLAG_DEADLINE 2u // It has a deadline.

// An outcome, 32 bytes.
#define OJS_FRAME_OUTCOME 32u
#define OJS_FRAME_OUTCOME_TOKEN 0u // u64
#define OJS_FRAME_OUTCOME_KIND 8u // u32
#define OJS_FRAME_OUTCOME_PAYLOAD 16u // text
#define OJS_FRAME_OUTCOME_DELAY 24u // u64, milliseconds

#define OJS_FRAME_COMPLETED 0u // Done; the payload is the result as JSON text, or empty.
#define OJS_FRAME_FAILED 1u // Failed; the payload is a JSON object: message, perhaps code, type, retryable, details, backtrace.
#define OJS_FRAME_RELEASED 2u // Given back without counting an attempt; no payload.
#define OJS_FRAME_SNOOZED 3u // To run again after the delay, without counting a failure; no payload.

#endif // OJS_FRAME_H
