'use strict';
// Packed frames: a batch of jobs, or of outcomes, in one buffer. The layout is explained in bindings/abi/src/frame.rs.

const { inside } = require('./context.cjs');

// gen:node/frame.j2 (make gen; do not edit)
const JOBS = 0x4A534A4F; // 'OJSJ'
const OUTCOMES = 0x4F534A4F; // 'OJSO'
const VERSION = 1;
const HEADER = 16;
const OUTCOME_ENTRY = 32;
/** Flag of a job. Id, type, queue and envelope are ASCII. */
const FLAG_ASCII = 1;
// Where the fields are.
const AT_MAGIC = 0;
const AT_VERSION = 4;
const AT_ENTRY_SIZE = 6;
const AT_COUNT = 8;
const AT_TOTAL = 12;

const JOB_TOKEN = 0;
const JOB_ENVELOPE = 8;
const JOB_ID = 16;
const JOB_TYPE = 24;
const JOB_QUEUE = 32;
const JOB_ATTEMPT = 40;
const JOB_FLAGS = 44;

const OUTCOME_TOKEN = 0;
const OUTCOME_KIND = 8;
const OUTCOME_PAYLOAD = 16;
const OUTCOME_DELAY = 24;
// gen:end

/** Calls `each(head, envelope)` for every job. Returns how many there were. */
function readJobs(frame, each) {
  if (frame.length === 0) return 0;
  if (frame.readUInt32LE(AT_MAGIC) !== JOBS) throw new TypeError('not a frame of jobs');
  const size = frame.readUInt16LE(AT_ENTRY_SIZE);
  const count = frame.readUInt32LE(AT_COUNT);
  for (let at = HEADER, index = 0; index < count; index += 1, at += size) {
    const ascii = (frame.readUInt32LE(at + JOB_FLAGS) & FLAG_ASCII) !== 0;
    const text = (place) => {
      const from = frame.readUInt32LE(place);
      const to = from + frame.readUInt32LE(place + 4);
      return ascii ? frame.latin1Slice(from, to) : frame.utf8Slice(from, to);
    };
    const head = {
      low: frame.readUInt32LE(at + JOB_TOKEN),
      high: frame.readUInt32LE(at + JOB_TOKEN + 4),
      id: text(at + JOB_ID),
      type: text(at + JOB_TYPE),
      queue: text(at + JOB_QUEUE),
      attempt: frame.readUInt32LE(at + JOB_ATTEMPT),
    };
    each(head, text(at + JOB_ENVELOPE));
  }
  return count;
}

/** A frame of outcomes. */
function packOutcomes(outcomes) {
  let at = HEADER + outcomes.length * OUTCOME_ENTRY;
  const total = outcomes.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), at);
  const frame = Buffer.alloc(total);
  frame.writeUInt32LE(OUTCOMES, AT_MAGIC);
  frame.writeUInt16LE(VERSION, AT_VERSION);
  frame.writeUInt16LE(OUTCOME_ENTRY, AT_ENTRY_SIZE);
  frame.writeUInt32LE(outcomes.length, AT_COUNT);
  frame.writeUInt32LE(total, AT_TOTAL);
  outcomes.forEach(({ ctx, kind, payload, delay }, index) => {
    const entry = HEADER + index * OUTCOME_ENTRY;
    frame.writeUInt32LE(inside.low(ctx), entry + OUTCOME_TOKEN);
    frame.writeUInt32LE(inside.high(ctx), entry + OUTCOME_TOKEN + 4);
    frame.writeUInt32LE(kind, entry + OUTCOME_KIND);
    const length = frame.write(payload, at);
    frame.writeUInt32LE(at, entry + OUTCOME_PAYLOAD);
    frame.writeUInt32LE(length, entry + OUTCOME_PAYLOAD + 4);
    frame.writeBigUInt64LE(BigInt(Math.round(delay)), entry + OUTCOME_DELAY);
    at += length;
  });
  return frame;
}

module.exports = { readJobs, packOutcomes };
