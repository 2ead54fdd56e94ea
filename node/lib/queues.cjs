'use strict';
// Queues and the limits of keys: settings, counts, pausing.
const { Part, at, known, list, member, query, timeOf } = require('./calls.cjs');
const { durationText, timeText } = require('./durations.cjs');
const { OJSValidationError } = require('./errors.cjs');

/** Jobs that one request of a purge removes: it takes a second or two, and a lost answer loses little. */
const PURGE_SLICE = 10_000;

class Queues extends Part {
  /** All queues with their status. */
  async list(options) {
    return list(await this.call('GET', '/queues', undefined, options), 'queues');
  }

  /** Counts by state. */
  async stats(name, options) {
    return member(await this.call('GET', at('queues', name, 'stats'), undefined, options), 'queue');
  }

  /** No job is handed out until resume(). */
  async pause(name, options) {
    return member(await this.call('POST', at('queues', name, 'pause'), {}, options), 'queue');
  }

  /** Hands jobs out again. */
  async resume(name, options) {
    return member(await this.call('POST', at('queues', name, 'resume'), {}, options), 'queue');
  }

  /** Creates a queue with settings, by their names on the wire. */
  create(name, config = {}, options) {
    return this.call('POST', '/queues', { name, config }, options);
  }

  /** A queue with its settings and counts. */
  get(name, options) {
    return this.call('GET', at('queues', name), undefined, options);
  }

  /** Sets what is named and leaves the rest; null gives a setting back to the template, which is the queue `_default`. */
  configure(name, config, options) {
    return this.call('PUT', at('queues', name, 'config'), config, options);
  }

  /** Deletes a queue: one that holds jobs only when they may be discarded, or moved to `targetQueue`. */
  async delete(name, given = {}) {
    const { strategy = 'reject', targetQueue, ...options } = known('option', given, ['strategy', 'targetQueue', 'signal']);
    return this.call('DELETE', query(at('queues', name), { strategy, target_queue: targetQueue }), undefined, options);
  }

  /** Accepts no more jobs and hands out those that are there, until resume(). */
  drain(name, options) {
    return this.call('POST', at('queues', name, 'drain'), {}, options);
  }

  /** Removes the jobs of a queue that are in one of these states for ever; resolves to how many. */
  async purge(name, states, given = {}) {
    const { olderThan, ...options } = known('option', given, ['olderThan', 'signal']);
    if (typeof states === 'string') throw new OJSValidationError(`states is a list, such as ['completed']; got '${states}'`);
    const body = { states: [...states], older_than: ago(olderThan), confirm: true, limit: PURGE_SLICE };
    for (let purged = 0; ;) {
      const answer = await this.call('DELETE', at('admin', 'queues', name, 'jobs'), body, options);
      purged += answer.purged_count ?? 0;
      if (!answer.has_more) return purged;
    }
  }
}

/** A time, or a length of time before now. */
function ago(olderThan) {
  if (olderThan === undefined || olderThan === null) return undefined;
  const isTime = olderThan instanceof Date || /^\d{4}-/.test(olderThan);
  return isTime ? timeText('olderThan', olderThan) : durationText('olderThan', olderThan);
}

class RateLimits extends Part {
  /** Keys with limits, and what is going on with them. */
  async list(options) {
    return list(await this.call('GET', '/rate-limits?limit=200', undefined, options), 'items');
  }

  /** A key with its limits, and how much of them is used. */
  get(key, options) {
    return this.call('GET', at('rate-limits', key), undefined, options);
  }

  /** Gives a key other limits until `expiresAt`: `{ concurrency: 2 }`. Without any limit (`{}`) the override ends. */
  async override(key, limits, given = {}) {
    const { expiresAt, ...options } = known('option', given, ['expiresAt', 'signal']);
    return this.call('PUT', at('rate-limits', key), { ...limits, expires_at: timeOf('expiresAt', expiresAt) }, options);
  }
}

module.exports = { Queues, RateLimits };
