'use strict';
// The producer's side: enqueue, look up, cancel, administer.
const { randomUUID } = require('node:crypto');
const bulk = require('./bulk.cjs');
const results = require('./results.cjs');
const { Part, at, member } = require('./calls.cjs');
const { DeadLetters } = require('./dead_letters.cjs');
const { follow } = require('./events.cjs');
const { Job, JobRequest } = require('./job.cjs');
const { ENQUEUE_ORDER, MiddlewareChain, compose } = require('./middleware.cjs');
const { Queues, RateLimits } = require('./queues.cjs');
const { Transport } = require('./transport.cjs');
const { Workflow } = require('./workflow.cjs');
const { OJSNotEnqueuedError, OJSValidationError } = require('./errors.cjs');

class OJSClient {
  #transport;
  #composed;
  #closed = false;

  constructor(options = {}) {
    this.#transport = new Transport(typeof options === 'string' ? { url: options } : options);
    this.middleware = new MiddlewareChain(ENQUEUE_ORDER);
    this.queues = new Queues(this);
    this.rateLimits = new RateLimits(this);
    this.deadLetters = new DeadLetters(this);
    this.cron = new Cron(this);
  }

  /** Adds enqueue middleware: `useEnqueue([name,] async (request, next) => next(request))`. */
  useEnqueue(name, layer) {
    this.middleware.add(name, layer);
    return this;
  }

  /** Sends a job; resolves to it as the server stored it. */
  async enqueue(type, args, options = {}) {
    const request = new JobRequest(type, args, options);
    const job = await this.#through(request, async (changed) =>
      Job.from(member(await this.request('POST', '/jobs', changed, options), 'job')));
    if (job === undefined) throw new OJSNotEnqueuedError('a middleware dropped the job', { code: 'not_enqueued' });
    return job;
  }

  /** Sends many jobs in one request: all are stored or none. Middleware runs for each; dropped jobs are left out. */
  async enqueueBatch(jobs, options = {}) {
    const kept = await this.#kept(jobs);
    if (kept.length === 0) return [];
    const answer = await this.request('POST', '/jobs/batch', { jobs: kept }, options);
    return member(answer, 'jobs').map((job) => Job.from(job));
  }

  /** Sends many jobs, each with an outcome of its own: a wrong one keeps the others from nothing, unless `atomic`. */
  async bulkEnqueue(jobs, { atomic = false, idempotencyKey, ...options } = {}) {
    const kept = await this.#kept(jobs);
    if (kept.length === 0) return [];
    // The key is made here when the caller has none: the transport may send the request twice.
    const body = { jobs: kept, atomicity: atomic ? 'atomic' : 'partial', idempotency_key: idempotencyKey ?? randomUUID() };
    return bulk.items(await this.request('POST', '/jobs/bulk', body, options));
  }

  /** Cancels many jobs: by ids whatever is not finished, by filter what waits unless it names other states. */
  bulkCancel(target, options) {
    return this.#bulk('cancel', target, options);
  }

  /** Runs many jobs again: discarded ones with fresh attempts, retryable ones at once instead of after their back-off. */
  bulkRetry(target, options) {
    return this.#bulk('retry', target, options);
  }

  /** Deletes many ended jobs for ever. */
  bulkDelete(target, options) {
    return this.#bulk('delete', target, options);
  }

  /** How the job ended; rejects with status 408 while it has not, with 410 when its result is no longer kept. */
  result(id, { signal } = {}) {
    return results.result(this.request.bind(this), id, undefined, signal);
  }

  /** Waits for the end of the job, for ever without a `timeout`. */
  waitForResult(id, options) {
    return results.wait(this.request.bind(this), id, options);
  }

  /** How up to 1,000 jobs ended, in order; null for what is unknown, not done, or no longer kept. */
  results(ids, options) {
    return results.all(this.request.bind(this), ids, options);
  }

  /** What happens, as it happens: an async iterable without end. Leave the loop, or abort `signal`, to end it. */
  events(options) {
    return follow((path, wait, signal) => this.request('GET', path, undefined, { signal, wait }), options);
  }

  /** The job with this id. */
  async getJob(id, options) {
    return Job.from(member(await this.request('GET', at('jobs', id), undefined, options), 'job'));
  }

  /** Cancels a job that is not over. */
  async cancelJob(id, options) {
    return Job.from(member(await this.request('DELETE', at('jobs', id), undefined, options), 'job'));
  }

  /** Releases a job that was enqueued with `extra: { pending: true }`. */
  async activateJob(id, options) {
    return Job.from(member(await this.request('POST', at('jobs', id, 'activate'), {}, options), 'job'));
  }

  /** Starts a workflow made by chain(), group() or batch(). */
  async workflow(definition, options) {
    return member(await this.request('POST', '/workflows', definition, options), 'workflow');
  }

  /** How far a workflow is. */
  async getWorkflow(id, options) {
    return member(await this.request('GET', at('workflows', id), undefined, options), 'workflow');
  }

  /** Cancels what has not begun. */
  async cancelWorkflow(id, options) {
    return member(await this.request('DELETE', at('workflows', id), undefined, options), 'workflow');
  }

  /** The server's own account of its health. */
  health(options) {
    return this.request('GET', '/health', undefined, options);
  }

  /** What the server is and can do. */
  manifest(options) {
    return this.request('GET', '/ojs/manifest', undefined, options);
  }

  /** Any call of the protocol; the promise is the decoded body of a 2xx answer. */
  request(method, path, body, { signal, wait } = {}) {
    return this.#transport.request(method, path, body, signal, wait);
  }

  /** Releases the connection; an embedded engine is flushed. Later calls reject with OJSClosedError. */
  async close() {
    if (this.#closed) return;
    this.#closed = true;
    await this.#transport.close();
  }

  async [Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]() {
    await this.close();
  }

  /** For the outbox: what the enqueue middleware makes of a request goes to `send`. */
  static through(client, request, send) {
    return client.#through(request, send);
  }

  /** For OJSWorker. */
  static transportOf(client) {
    return client.#transport;
  }

  async #bulk(verb, target, { atomic = false, ...options } = {}) {
    const body = { ...bulk.target(target), atomicity: atomic ? 'atomic' : 'partial' };
    return bulk.changes(await this.request('POST', `/jobs/bulk/${verb}`, body, options));
  }

  /** The jobs that middleware lets through. */
  async #kept(jobs) {
    const kept = [];
    for (const job of jobs) {
      await this.#through(JobRequest.of(job), async (changed) => {
        kept.push(changed);
        return Job.from(changed.toJSON());
      });
    }
    return kept;
  }

  #through(request, send) {
    const layers = (this.#composed ??= this.middleware.freeze());
    const checked = (changed) => {
      if (changed instanceof JobRequest || (changed && typeof changed === 'object')) return send(JobRequest.of(changed));
      throw new OJSValidationError('next() of enqueue middleware takes the request');
    };
    return compose(layers, checked)(request);
  }
}

class Cron extends Part {
  /** All schedules. */
  async list(options) {
    const answer = await this.call('GET', '/cron', undefined, options);
    return answer.crons ?? answer.cron_jobs ?? [];
  }

  /** Enqueues `job` whenever `expression` matches; replaces a schedule of the same name. */
  async register({ job, overlapPolicy, ...entry }, options) {
    const body = { ...entry, job_template: JobRequest.of(job), ...(overlapPolicy === undefined ? {} : { overlap_policy: overlapPolicy }) };
    const answer = await this.call('POST', '/cron', body, options);
    return answer.cron ?? answer;
  }

  /** Ends a schedule. */
  async delete(name, options) {
    await this.call('DELETE', at('cron', name), undefined, options);
  }
}

module.exports = { OJSClient, Workflow };
