'use strict';
// A private engine in place of every client's server.
const { AssertionError } = require('node:assert');
const binding = require('./native.cjs');
const { Transport, sinks } = require('./transport.cjs');
const { known } = require('./calls.cjs');
const { JobContext } = require('./context.cjs');
const { OJSValidationError, native } = require('./errors.cjs');
const { FAILED, failure, reported, success } = require('./outcome.cjs');
const json = require('./json.cjs');

let engines = 0;
const engine = () => new Transport({ url: `memory:ojs-testing-${process.pid}-${(engines += 1)}` });

/** A job's link when no worker stands behind it. What a run saves is kept for that run. */
const unattended = (client) => {
  const kept = new Map();
  return {
    client,
    heartbeat: async () => undefined,
    progress: () => undefined,
    save: async (low, high, step, text) => String(kept.set(step, text).size),
    saved: (low, high, step) => kept.get(step),
  };
};

/** What was enqueued while it is active. The newest active one gets the jobs. */
class Fake {
  #engine = engine();
  #inline;
  #draining = false;
  /** Every enqueue request as it goes over the wire, oldest first. */
  requests = [];

  constructor(inline = []) {
    this.#inline = inline;
    sinks.push(this);
  }

  /** Takes the place of a connection. */
  async request(method, path, body) {
    const answer = await this.#call(method, path, body);
    const sent = body === undefined ? '' : json.stringify(body);
    this.requests.push(...json.parse(binding.fakeRecorded(method, path, sent)));
    if (this.#inline.length > 0 && !this.#draining) await this.drain(...this.#inline);
    return answer;
  }

  /**
   * The requests of this type that match: `args`, `meta` (a part of it), `id`, `schema`, or any option by its name on
   * the wire. An option that does not exist is an `OJSValidationError`.
   */
  enqueued(type, wanted = {}) {
    const asked = json.stringify({ type: type ?? null, ...wanted });
    const places = native(() => binding.fakeMatching(json.stringify(this.requests), asked));
    return places.map((place) => this.requests[place]);
  }

  /** Fails unless such a job was enqueued (`count` times, when given). Returns the requests. */
  assertEnqueued(type, { count, ...wanted } = {}) {
    const found = this.enqueued(type, wanted);
    if (count === undefined ? found.length > 0 : found.length === count) return found;
    const all = this.requests.map((request) => `${request.type}(${json.stringify(request.args)})`).join(', ') || 'none';
    throw new AssertionError({ message: `expected ${count ?? 'at least one'} '${type}', found ${found.length}; enqueued were: ${all}`,
      actual: this.requests, expected: { type, count, ...wanted }, operator: 'assertEnqueued', stackStartFn: this.assertEnqueued });
  }

  /** Fails when such a job was enqueued. */
  assertNotEnqueued(type, wanted) {
    const found = this.enqueued(type, wanted);
    if (found.length === 0) return;
    throw new AssertionError({ message: `expected no '${type ?? 'job'}', found ${found.length}`, actual: found, expected: [],
      operator: 'assertNotEnqueued', stackStartFn: this.assertNotEnqueued });
  }

  /** Forgets all jobs. */
  async clear() {
    this.requests.length = 0;
    const old = this.#engine;
    this.#engine = engine();
    await old.close();
  }

  /**
   * Runs the handlers of the workers on everything that is available, jobs enqueued on the way included; resolves to how many
   * ran. What a handler throws is thrown here, after its job was marked as failed, unless the last argument is
   * `{ throwErrors: false }`.
   */
  async drain(...workers) {
    const last = workers.at(-1);
    const options = last !== undefined && typeof last?.calls !== 'function' ? workers.pop() : {};
    const { throwErrors = true } = known('option', options, ['throwErrors']);
    if (workers.length === 0) throw new TypeError('drain() needs the worker whose handlers shall run');
    this.#draining = true;
    try {
      let ran = 0;
      for (const worker of workers) ran += await this.#drainOne(worker, throwErrors);
      return ran;
    } finally {
      this.#draining = false;
    }
  }

  /** Ends it: clients reach their servers again. */
  async restore() {
    const index = sinks.indexOf(this);
    if (index < 0) return;
    sinks.splice(index, 1);
    await this.#engine.close();
  }

  async [Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]() {
    await this.restore();
  }

  async #drainOne(worker, throwErrors) {
    for (let ran = 0; ; ran += 1) {
      const { jobs } = await this.#call('POST', '/workers/fetch', { queues: worker.queues, count: 1, worker_id: 'drain' });
      if (jobs.length === 0) return ran;
      await this.#perform(worker, jobs[0], throwErrors);
    }
  }

  async #perform(worker, job, throwErrors) {
    const calls = worker.calls();
    const head = { low: 0, high: 0, id: job.id, type: job.type, queue: job.queue, attempt: job.attempt };
    const ctx = new JobContext(unattended(worker.client), head, json.stringify(job));
    let outcome;
    let thrown;
    try {
      const call = calls.get(job.type) ?? calls.get('*');
      if (call === undefined) throw unhandled(job.type, calls);
      outcome = success(ctx, await call(ctx));
    } catch (error) {
      thrown = { error };
      outcome = failure(ctx, error);
    }
    await this.#report(job, outcome);
    if (thrown && throwErrors && outcome.kind === FAILED) throw thrown.error;
  }

  async #report(job, outcome) {
    const [path, members] = reported(outcome);
    await this.#call('POST', path, { job_id: job.id, lease_token: job.lease_token, worker_id: 'drain', ...members });
  }

  #call(method, path, body) {
    return this.#engine.direct(method, path, body);
  }
}

/** What the core reports for a job that no handler is there for, with the types that there are. */
function unhandled(type, calls) {
  const there = [...calls.keys()].map((name) => `'${name}'`).join(', ');
  return new OJSValidationError(`No handler is registered for job type '${type}'; there are handlers for ${there || 'none'}.`, { code: 'no_handler' });
}

/** Keeps the jobs of all clients in memory, until `restore()`. */
const fake = () => new Fake();

/** Runs jobs with the handlers of the workers as soon as they are enqueued; what they throw reaches who enqueues. */
function inline(...workers) {
  if (workers.length === 0 || workers.some((worker) => typeof worker?.calls !== 'function')) {
    throw new OJSValidationError('inline(worker) needs the worker whose handlers shall run');
  }
  return new Fake(workers);
}

/** Ends all that are active. */
async function restore() {
  for (const active of [...sinks]) await active.restore();
}

module.exports = { Fake, fake, inline, restore };
