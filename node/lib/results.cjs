'use strict';
// How jobs ended.
const { at, known, list, query } = require('./calls.cjs');
const { millis } = require('./durations.cjs');
const { OJSError, OJSTimeoutError } = require('./errors.cjs');

/** How long the server may hold back an answer, in milliseconds. */
const WAIT = 20_000;

/** How a job ended: the members of the wire, the long ones in camel case as well. */
class JobResult {
  /** The decoded object becomes the result. */
  static from(data) {
    if (data === null || typeof data !== 'object') throw new OJSError('the answer has no result', { code: 'unexpected_answer' });
    return Object.setPrototypeOf(data, JobResult.prototype);
  }

  get jobId() {
    return this.job_id;
  }

  /** Whether it was completed. */
  get ok() {
    return this.state === 'completed';
  }

  get storedAt() {
    return this.result_stored_at;
  }

  get expiresAt() {
    return this.result_expires_at;
  }
}

// Sent once, also without waiting: "not finished" (408) is an answer here.
const result = async (ask, id, wait, signal) => {
  const patience = wait === undefined ? {} : { wait: true, timeout: Math.ceil(wait / 1000) };
  return JobResult.from(await ask('GET', query(at('jobs', id, 'result'), patience), undefined, { signal, wait: wait ?? 0 }));
};

/** Waits for the end of a job. */
async function wait(ask, id, options = {}) {
  const { timeout, signal } = known('option', options, ['timeout', 'signal']);
  const length = millis('timeout', timeout);
  const until = length === undefined ? Infinity : performance.now() + length;
  for (;;) {
    try {
      return await result(ask, id, Math.min(Math.max(until - performance.now(), 0), WAIT), signal);
    } catch (error) {
      if (error.status !== 408) throw error;
      if (performance.now() >= until) {
        throw new OJSTimeoutError(`job ${id} has not ended within ${length} ms`, { code: 'timeout', retryable: true, cause: error });
      }
    }
  }
}

/** How many jobs ended, in order; null for what is unknown, not done, or no longer kept. */
async function all(ask, ids, options) {
  const answer = await ask('POST', '/jobs/results', { ids: [...ids] }, options);
  return list(answer, 'results').map((one) => (one === null ? null : JobResult.from(one)));
}

module.exports = { JobResult, all, result, wait };
