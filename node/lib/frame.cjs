'use strict';
// Packed frames: a batch of jobs, or of outcomes, in one buffer. The layout is in bindings/abi/src/frame.rs.

const { inside } = require('./context.cjs');

const JOBS = 0x4a534a4f; // 'OJSJ'
const OUTCOMES = 0x4f534a4f; // 'OJSO'
const HEADER = 16;
const OUTCOME_ENTRY = 32;
const ASCII = 1;

/** Calls `each(head, envelope)` for every job. Returns how many there were. */
function readJobs(frame, each) {
  if (frame.length === 0) return 0;
  if (frame.readUInt32LE(0) !== JOBS) throw new TypeError('not a frame of jobs');
  const size = frame.readUInt16LE(6);
  const count = frame.readUInt32LE(8);
  for (let at = HEADER, index = 0; index < count; index += 1, at += size) {
    const ascii = (frame.readUInt32LE(at + 44) & ASCII) !== 0;
    const text = (place) => {
      const from = frame.readUInt32LE(place);
      const to = from + frame.readUInt32LE(place + 4);
      return ascii ? frame.latin1Slice(from, to) : frame.utf8Slice(from, to);
    };
    const head = {
      low: frame.readUInt32LE(at),
      high: frame.readUInt32LE(at + 4),
      id: text(at + 16),
      type: text(at + 24),
      queue: text(at + 32),
      attempt: frame.readUInt32LE(at + 40),
    };
    each(head, text(at + 8));
  }
  return count;
}

/** A frame of outcomes. */
function packOutcomes(outcomes) {
  let at = HEADER + outcomes.length * OUTCOME_ENTRY;
  const total = outcomes.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), at);
  const frame = Buffer.alloc(total);
  frame.writeUInt32LE(OUTCOMES, 0);
  frame.writeUInt16LE(1, 4);
  frame.writeUInt16LE(OUTCOME_ENTRY, 6);
  frame.writeUInt32LE(outcomes.length, 8);
  frame.writeUInt32LE(total, 12);
  outcomes.forEach(({ ctx, kind, payload, delay }, index) => {
    const entry = HEADER + index * OUTCOME_ENTRY;
    frame.writeUInt32LE(inside.low(ctx), entry);
    frame.writeUInt32LE(inside.high(ctx), entry + 4);
    frame.writeUInt32LE(kind, entry + 8);
    const length = frame.write(payload, at);
    frame.writeUInt32LE(at, entry + 16);
    frame.writeUInt32LE(length, entry + 20);
    frame.writeBigUInt64LE(BigInt(Math.round(delay)), entry + 24);
    at += length;
  });
  return frame;
}

module.exports = { readJobs, packOutcomes };
