'use strict';
// Many jobs in one request, each with an outcome of its own.
const { itemError, given, list, member, timeOf } = require('./calls.cjs');
const { OJSValidationError } = require('./errors.cjs');
const { Job } = require('./records.cjs');

const FILTER = ['queue', 'type', 'states', 'enqueuedAfter', 'enqueuedBefore', 'priority', 'meta'];

/** Which jobs a bulk call means: `{ ids }`, or a filter. */
function target(jobs) {
  if (jobs === null || typeof jobs !== 'object') {
    throw new OJSValidationError("which jobs? { ids: […] }, or a filter such as { queue: 'mail' }");
  }
  const { ids, ...filter } = jobs;
  if (typeof filter.states === 'string') throw new OJSValidationError(`states is a list, such as ['available']; got '${filter.states}'`);
  for (const name of Object.keys(filter)) {
    if (!FILTER.includes(name)) throw new OJSValidationError(`unknown filter '${name}'; there are ${FILTER.join(', ')}`);
  }
  const { queue, type, states, enqueuedAfter, enqueuedBefore, priority, meta } = filter;
  const wanted = given({
    queue, type, state: states && [...states], priority, enqueued_after: timeOf('enqueuedAfter', enqueuedAfter),
    enqueued_before: timeOf('enqueuedBefore', enqueuedBefore), meta,
  });
  if (typeof ids === 'string') throw new OJSValidationError('ids is a list of ids, not one');
  if ((ids === undefined) === (Object.keys(wanted).length === 0)) {
    throw new OJSValidationError(`name the jobs by ids or by a filter (${FILTER.join(', ')}), and not by both`);
  }
  return ids === undefined ? { filter: wanted } : { job_ids: [...ids] };
}

/** What became of one job of a bulk enqueue. */
const enqueued = ({ index, status, job, error }) =>
  ({ index, status, ok: !error, job: job ? Job.answered(job) : undefined, error: itemError(error) });

/** The answer to a bulk enqueue. */
const items = (answer) => list(answer, 'items').map(enqueued);

/** The answer to any other bulk call. */
function changes(answer) {
  const [matched, skipped] = [member(answer, 'total_matched'), member(answer, 'skipped')];
  const changed = list(answer, 'items').map((item) => ({ id: item.job_id, status: item.status, error: itemError(item.error) }));
  return { matched, succeeded: matched - skipped, skipped, items: changed };
}

module.exports = { changes, items, target };
