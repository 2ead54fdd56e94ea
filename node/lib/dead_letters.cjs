'use strict';
// Jobs that failed for good.
const { Part, at, given, member, query, timeOf } = require('./calls.cjs');
const { Job } = require('./job.cjs');

const filterOf = ({ queue, type, errorType, since, until }) =>
  ({ queue, type, error_type: errorType, since: timeOf('since', since), until: timeOf('until', until) });

class DeadLetters extends Part {
  /** Jobs that failed for good and were kept, newest first. */
  async list({ queue, type, limit, offset, ...options } = {}) {
    const path = query('/dead-letter', { queue, type, limit, offset });
    return member(await this.call('GET', path, undefined, options), 'jobs').map((job) => Job.from(job));
  }

  /** A dead letter by its id. */
  async get(id, options) {
    return Job.from(member(await this.call('GET', at('dead-letter', id), undefined, options), 'job'));
  }

  /** Runs it again, from attempt one. */
  async retry(id, options) {
    return Job.from(member(await this.call('POST', at('dead-letter', id, 'retry'), {}, options), 'job'));
  }

  /** Deletes it. */
  async discard(id, options) {
    await this.call('DELETE', at('dead-letter', id), undefined, options);
  }

  /** Runs all again that the filter finds, all of them without one; resolves to how many. */
  async retryAll({ signal, ...filter } = {}) {
    const body = { filter: given(filterOf(filter)), confirm: true };
    return Number(member(await this.call('POST', '/dead-letter/retry', body, { signal }), 'retried'));
  }

  /** Deletes all that the filter finds, all of them without one; resolves to how many. */
  async discardAll({ signal, ...filter } = {}) {
    const path = query('/dead-letter', { confirm: true, ...filterOf(filter) });
    return Number(member(await this.call('DELETE', path, undefined, { signal }), 'deleted'));
  }

  /** How many there are, by queue and type of error, and since when. */
  stats(options) {
    return this.call('GET', '/dead-letter/stats', undefined, options);
  }
}

module.exports = { DeadLetters };
