'use strict';
// The producer's side: enqueue, look up, cancel, administer.
const { Transport } = require('./transport.cjs');
const { Job, JobRequest } = require('./job.cjs');
const { MiddlewareChain, compose } = require('./middleware.cjs');
const { Workflow } = require('./workflow.cjs');
const { OJSError, OJSNotEnqueuedError, OJSValidationError } = require('./errors.cjs');

/** One member of an answer. */
function member(answer, name) {
  if (answer === null || typeof answer !== 'object' || !(name in answer)) {
    throw new OJSError(`the answer has no '${name}'`, { code: 'unexpected_answer' });
  }
  return answer[name];
}

const at = (...parts) => `/${parts.map(encodeURIComponent).join('/')}`;

function query(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return given.length > 0 ? `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : path;
}

class OJSClient {
  #transport;
  #composed;
  #closed = false;

  constructor(options = {}) {
    this.#transport = new Transport(typeof options === 'string' ? { url: options } : options);
    this.middleware = new MiddlewareChain();
    this.queues = new Queues(this);
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
    const kept = [];
    for (const job of jobs) {
      await this.#through(JobRequest.of(job), async (changed) => {
        kept.push(changed);
        return Job.from(changed.toJSON());
      });
    }
    if (kept.length === 0) return [];
    const answer = await this.request('POST', '/jobs/batch', { jobs: kept }, options);
    return member(answer, 'jobs').map((job) => Job.from(job));
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
  request(method, path, body, { signal } = {}) {
    return this.#transport.request(method, path, body, signal);
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

  /** For OJSWorker. */
  static transportOf(client) {
    return client.#transport;
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

class Part {
  #client;

  constructor(client) {
    this.#client = client;
  }

  call(method, path, body, options) {
    return this.#client.request(method, path, body, options);
  }
}

class Queues extends Part {
  /** All queues with their status. */
  async list(options) {
    return member(await this.call('GET', '/queues', undefined, options), 'queues');
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
}

class DeadLetters extends Part {
  /** Jobs that failed for good and were kept, newest first. */
  async list({ queue, type, limit, offset, ...options } = {}) {
    const path = query('/dead-letter', { queue, type, limit, offset });
    return member(await this.call('GET', path, undefined, options), 'jobs').map((job) => Job.from(job));
  }

  /** Runs it again, from attempt one. */
  async retry(id, options) {
    return Job.from(member(await this.call('POST', at('dead-letter', id, 'retry'), {}, options), 'job'));
  }

  /** Deletes it. */
  async discard(id, options) {
    await this.call('DELETE', at('dead-letter', id), undefined, options);
  }
}

class Cron extends Part {
  /** All schedules. */
  async list(options) {
    const answer = await this.call('GET', '/cron', undefined, options);
    return answer.crons ?? answer.cron_jobs ?? [];
  }

  /** Enqueues `job` whenever `expression` matches; replaces a schedule of the same name. */
  async register({ name, expression, timezone, job }, options) {
    const body = { name, expression, job_template: JobRequest.of(job), ...(timezone === undefined ? {} : { timezone }) };
    const answer = await this.call('POST', '/cron', body, options);
    return answer.cron ?? answer;
  }

  /** Ends a schedule. */
  async delete(name, options) {
    await this.call('DELETE', at('cron', name), undefined, options);
  }
}

module.exports = { OJSClient, Workflow };
