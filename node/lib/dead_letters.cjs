'use strict';
// Jobs that failed for good.
const { Part, at, given, known, list, member, query, timeOf } = require('./calls.cjs');
const { Job } = require('./job.cjs');

const FILTER = ['queue', 'type', 'errorType', 'since', 'until'];
const LISTED = ['queue', 'type', 'limit', 'offset', 'signal'];

const filterOf = ({ queue, type, errorType, since, until }) =>
  ({ queue, type, error_type: errorType, since: timeOf('since', since), until: timeOf('until', until) });

class DeadLetters extends Part {
  /** Jobs that failed for good and were kept, newest first. */
  async list(filter = {}) {
    const { queue, type, limit, offset, ...options } = known('filter', filter, LISTED);
    const path = query('/dead-letter', { queue, type, limit, offset });
    return list(await this.call('GET', path, undefined, options), 'jobs').map(Job.answered);
  }

  /** A dead letter by its id. */
  async get(id, options) {
    return Job.answered(member(await this.call('GET', at('dead-letter', id), undefined, options), 'job'));
  }

  /** Runs it again, from attempt one. */
  async retry(id, options) {
    return Job.answered(member(await this.call('POST', at('dead-letter', id, 'retry'), {}, options), 'job'));
  }

  /** Deletes it. */
  async discard(id, options) {
    await this.call('DELETE', at('dead-letter', id), undefined, options);
  }

  /** Runs all again that the filter finds, all of them without one; resolves to how many. */
  async retryAll({ signal, ...filter } = {}) {
    const body = { filter: given(filterOf(known('filter', filter, FILTER))), confirm: true };
    return Number(member(await this.call('POST', '/dead-letter/retry', body, { signal }), 'retried'));
  }

  /** Deletes all that the filter finds, all of them without one; resolves to how many. */
  async discardAll({ signal, ...filter } = {}) {
    const path = query('/dead-letter', { confirm: true, ...filterOf(known('filter', filter, FILTER)) });
    return Number(member(await this.call('DELETE', path, undefined, { signal }), 'deleted'));
  }

  /** How many there are, by queue and type of error, and since when. */
  stats(options) {
    return this.call('GET', '/dead-letter/stats', undefined, options);
  }
}

module.exports = { DeadLetters };
