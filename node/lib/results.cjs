'use strict';
// How jobs ended, and pages of jobs.
const { at, known, list, member, query } = require('./calls.cjs');
const { millis } = require('./durations.cjs');
const { OJSTimeoutError } = require('./errors.cjs');
const { Job, JobResult } = require('./records.cjs');

/** How long the server may hold back an answer, in milliseconds. */
const WAIT = 20_000;

/** Waits for the end of a job. */
async function wait(ask, id, options = {}) {
  const { timeout, signal } = known('option', options, ['timeout', 'signal']);
  const patience = millis('timeout', timeout);
  const until = patience === undefined ? Infinity : performance.now() + patience;
  for (;;) {
    try {
      const length = Math.min(Math.max(until - performance.now(), 0), WAIT);
      const path = query(at('jobs', id, 'result'), { wait: true, timeout: Math.ceil(length / 1000) });
      return JobResult.from(await ask('GET', path, undefined, { signal, wait: length }));
    } catch (error) {
      if (error.status !== 408) throw error;
      if (performance.now() >= until) {
        const said = `job ${id} has not ended within ${patience} ms`;
        throw new OJSTimeoutError(said, { code: 'timeout', retryable: true, cause: error });
      }
    }
  }
}

/** Results in order; null for what is unknown, not done, or no longer kept. */
const results = (answer) => list(answer, 'results').map((one) => (one === null ? null : JobResult.from(one)));

/** A page of jobs. */
function jobPage(answer) {
  const { total, page, per_page: perPage, has_more: hasMore } = member(answer, 'pagination');
  return { jobs: list(answer, 'items').map(Job.answered), total, page, perPage, hasMore };
}

module.exports = { jobPage, results, wait };
