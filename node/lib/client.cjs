'use strict';
// The producer's side: enqueue, look up, cancel, administer.
const { randomUUID } = require('node:crypto');
const bulk = require('./bulk.cjs');
const results = require('./results.cjs');
const { known, list, member } = require('./calls.cjs');
const { follow } = require('./events.cjs');
const { JobRequest } = require('./job.cjs');
const { Job } = require('./records.cjs');
const { ENQUEUE_ORDER, MiddlewareChain, compose } = require('./middleware.cjs');
const { Cron: CronOperations, DeadLetters, Operations, Queues } = require('./operations.cjs');
const { RateLimits, Tenants, Trains, Workers } = require('./operations.cjs');
const { Transport, settingsOf } = require('./transport.cjs');
const { Workflow } = require('./workflow.cjs');
const { OJSNotEnqueuedError, OJSValidationError } = require('./errors.cjs');

class OJSClient extends Operations {
  #transport;
  #composed;
  #closed = false;

  constructor(options = {}, ...more) {
    super();
    const settings = settingsOf(options, more, 'authToken');
    this.#transport = settings instanceof Transport ? settings : new Transport(settings);
    this.middleware = new MiddlewareChain(ENQUEUE_ORDER);
    this.queues = new Queues(this);
    this.rateLimits = new RateLimits(this);
    this.trains = new Trains(this);
    this.tenants = new Tenants(this);
    this.deadLetters = new DeadLetters(this);
    this.cron = new Cron(this);
    this.workers = new Workers(this);
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
      Job.answered(member(await this.request('POST', '/jobs', changed, { signal: options.signal }), 'job')));
    if (job === undefined) throw new OJSNotEnqueuedError('a middleware dropped the job', { code: 'not_enqueued' });
    return job;
  }

  /** Sends many jobs in one request: all are stored or none. Middleware runs for each; dropped jobs are left out. */
  async enqueueBatch(jobs, options = {}) {
    const kept = await this.#kept(jobs);
    if (kept.length === 0) return [];
    const answer = await this.request('POST', '/jobs/batch', { jobs: kept }, options);
    return list(answer, 'jobs').map(Job.answered);
  }

  /** Sends many jobs, each with an outcome of its own: a wrong one keeps the others from nothing, unless `atomic`. */
  async bulkEnqueue(jobs, given = {}) {
    const { atomic = false, idempotencyKey, ...options } = known('option', given, ['atomic', 'idempotencyKey', 'signal']);
    const kept = await this.#kept(jobs);
    if (kept.length === 0) return [];
    // The key is made here when the caller has none: the transport may send the request twice.
    const body = { jobs: kept, atomicity: atomic ? 'atomic' : 'partial', idempotency_key: idempotencyKey ?? randomUUID() };
    return bulk.items(await this.request('POST', '/jobs/bulk', body, options));
  }

  /**
   * The same client with the requests of one tenant: they see and change what belongs to it, and the jobs are the
   * tenant's. It shares connection and middleware; closing it leaves them open.
   */
  ofTenant(tenant) {
    const view = new OJSClient(this.#transport.ofTenant(tenant));
    view.middleware = this.middleware;
    return view;
  }

  /** Waits for the end of the job, for ever without a `timeout`. */
  waitForResult(id, options) {
    return results.wait(this.request.bind(this), id, options);
  }

  /** What happens, as it happens: an async iterable without end. Leave the loop, or abort `signal`, to end it. */
  events(options) {
    return follow((path, wait, signal) => this.request('GET', path, undefined, { signal, wait }), options);
  }

  /** Starts a workflow made by chain(), group(), batch() or graph(). */
  async workflow(definition, options) {
    return member(await this.request('POST', '/workflows', definition, options), 'workflow');
  }

  /** Any call of the protocol; the promise is the decoded body of a 2xx answer. */
  async request(method, path, body, options = {}) {
    const { signal, wait } = known('option of a call', options, ['signal', 'wait']);
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

  /** The jobs that middleware lets through. */
  async #kept(jobs) {
    const kept = [];
    for (const job of jobs) {
      await this.#through(JobRequest.of(job), async (changed) => {
        const body = changed.toJSON();
        kept.push(body);
        return Job.from({ ...body });
      });
    }
    return kept;
  }

  #through(request, send) {
    const { tenant } = this.#transport;
    if (tenant !== undefined && request.options.tenant === undefined && request.meta?.tenant_id === undefined) {
      request.options = { ...request.options, tenant };
    }
    const layers = (this.#composed ??= this.middleware.freeze());
    const checked = (changed) => {
      if (changed instanceof JobRequest || (changed && typeof changed === 'object')) return send(JobRequest.of(changed));
      throw new OJSValidationError('next() of enqueue middleware takes the request');
    };
    return compose(layers, checked)(request);
  }
}

/** Members of a schedule. */
const CRON = ['name', 'expression', 'timezone', 'overlapPolicy', 'overlap_policy', 'enabled', 'description', 'job'];

class Cron extends CronOperations {
  /** Enqueues `job` whenever `expression` matches; replaces a schedule of the same name. */
  async register(entry, options) {
    const { job, overlapPolicy, ...rest } = known('member of a schedule', entry, CRON);
    if (job === undefined) throw new OJSValidationError("a schedule needs a job: { name: 'digest', expression: '0 7 * * *', job: { type: 'digest.send' } }");
    const body = { ...rest, job_template: JobRequest.of(job), ...(overlapPolicy === undefined ? {} : { overlap_policy: overlapPolicy }) };
    const answer = await this.call('POST', '/cron', body, options);
    return answer.cron ?? answer;
  }
}

module.exports = { OJSClient, Workflow };
