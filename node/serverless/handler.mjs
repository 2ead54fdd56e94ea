// The handlers of a worker, run by a function: one job at a time, without a worker that fetches jobs.
import contexts from '#core/context';
import errors from '#core/errors';
import handlers from '#core/handlers';
import json from '#core/json';
import layers from '#core/middleware';
import outcomes from '#core/outcome';
import platform from '#core/platform';
import { Unreadable, decrypted, keysOf } from './codec.mjs';
import { completed, leaseOf } from './delivery.mjs';
import { throwFailure } from './ended.mjs';
import { FunctionLink } from './link.mjs';
import { Server } from './server.mjs';

/** The number of `timed_out` in the core's table of reasons. */
const TIMED_OUT = 2;
/**
 * How long a handler that was asked to stop may take to end, in milliseconds. This time is part of the margin before
 * the platform's limit.
 */
const WIND_UP = 1000;

const SETTINGS = [
  'ojsUrl',
  'authToken',
  'headers',
  'fetch',
  'encryptionKeys',
  'unknownTypes',
  'safetyMargin',
  'logger',
  'signingSecret',
  'tolerance',
  'unsigned',
  'timeout',
  'clock',
];

/** A server without checkpoints answers 404, in a form of its own: the job is there, and runs without one. */
function noneOf(error) {
  if (error.status !== 404) throw error;
  return undefined;
}

const isWorker = (given) => typeof given?.calls === 'function';

/** The settings among the arguments of a constructor, which takes a worker before them, or settings alone. */
export const settingsOf = (worker, settings) => (isWorker(worker) ? settings : (worker ?? settings));

/** The arguments of a constructor, with defaults for what the settings leave out. */
export const withDefaults = (defaults, worker, settings) =>
  isWorker(worker) ? [worker, { ...defaults, ...settings }] : [{ ...defaults, ...worker }];

/** See index.d.mts. */
export class FunctionHandler {
  #registered = new Map();
  #worker;
  #calls;
  #settings;
  // Server, keys and secrets for the environment of the latest call. Nothing of a job.
  #given;

  constructor(worker, settings = {}) {
    const options = settingsOf(worker, settings);
    const unknown = Object.keys(options).find((name) => !SETTINGS.includes(name));
    if (unknown !== undefined)
      throw new errors.OJSValidationError(`unknown setting '${unknown}'; there are ${SETTINGS.join(', ')}`);
    const { safetyMargin = 5000, unknownTypes = 'fail', logger = console } = options;
    if (!(safetyMargin >= 0))
      throw new errors.OJSValidationError(
        `safetyMargin must be zero or more milliseconds, got ${String(safetyMargin)}`,
      );
    if (!['fail', 'release'].includes(unknownTypes))
      throw new errors.OJSValidationError(`unknownTypes is 'fail' or 'release', got ${String(unknownTypes)}`);
    this.#worker = isWorker(worker) ? worker : undefined;
    this.#settings = options;
    this.margin = safetyMargin;
    this.logger = logger;
    this.releasesUnknown = unknownTypes === 'release';
    /** Runs around every handler. */
    this.middleware = this.#worker?.middleware ?? new layers.MiddlewareChain();
  }

  register(type, handler) {
    if (this.#worker !== undefined) {
      this.#worker.register(type, handler);
      return this;
    }
    if (this.#calls !== undefined) throw new errors.OJSValidationError('register handlers before the first job');
    if (typeof type !== 'string' || type === '')
      throw new errors.OJSValidationError('register(type, handler) needs a job type');
    handlers.checkHandler(type, handler);
    if (this.#registered.has(type))
      throw new errors.OJSValidationError(`a handler for '${type}' is registered already`);
    this.#registered.set(type, handler);
    return this;
  }

  use(name, layer) {
    this.middleware.add(name, layer);
    return this;
  }

  /** One function per job type, out of the handler and the middleware. */
  calls() {
    this.#calls ??= this.#worker?.calls() ?? this.#composed();
    return this.#calls;
  }

  #composed() {
    const frozen = this.middleware.freeze();
    return new Map([...this.#registered].map(([type, handler]) => [type, handlers.wrap(frozen, handler)]));
  }

  /** Server, keys and secrets: of the settings, else of the environment, which edge runtimes pass with each call. */
  given(env = platform.variables()) {
    if (this.#given?.env === env) return this.#given;
    const {
      ojsUrl = env.OJS_URL || env.OJS_BACKEND_URL,
      authToken = env.OJS_AUTH_TOKEN,
      headers,
      fetch,
      encryptionKeys = env.OJS_ENCRYPTION_KEYS,
      signingSecret = env.OJS_SIGNING_SECRET,
    } = this.#settings;
    const secrets = typeof signingSecret === 'string' ? signingSecret.split(',') : [...(signingSecret ?? [])];
    this.#given = {
      env,
      server: ojsUrl ? new Server({ url: ojsUrl, authToken, headers, fetch }) : undefined,
      keys: keysOf(encryptionKeys),
      secrets: secrets.map((secret) => secret.trim()).filter(Boolean),
    };
    return this.#given;
  }

  /** Runs the handler of one job; resolves to its outcome, which has not been reported yet. */
  async run(delivery, { deadline, env } = {}) {
    const { server, keys } = this.given(env);
    const call = this.calls().get(delivery.type) ?? this.calls().get('*');
    if (call === undefined)
      return outcomes.refused(
        'no_handler',
        'NoHandler',
        `No handler is registered for job type '${delivery.type}'.`,
        this.releasesUnknown,
      );
    let job;
    try {
      job = await decrypted(delivery.job, keys);
    } catch (error) {
      if (error instanceof Unreadable) return error.outcome;
      throw error;
    }
    const link = new FunctionLink(delivery, server, this.#worker);
    const head = {
      low: 0,
      high: 0,
      id: delivery.id,
      type: delivery.type,
      queue: delivery.queue,
      attempt: delivery.attempt,
    };
    const ctx = new contexts.JobContext(link, head, json.stringify(job));
    link.ctx = ctx;
    const outcome = await within(
      ctx,
      attempt(call, ctx),
      deadline === undefined ? delivery.timeout : deadline.left(delivery.timeout),
    );
    await link.close();
    return outcome;
  }

  /**
   * Reports the outcome of a job that a queue has brought. Resolves to whether the server has it. A server that
   * answers that the job is settled, or that another worker has it by now, counts as having the outcome.
   */
  async report(delivery, outcome, env) {
    const { server } = this.given(env);
    if (server === undefined) return false;
    const [path, members] = outcomes.reported(outcome);
    try {
      await server.request('POST', path, { job_id: delivery.id, ...leaseOf(delivery), ...members });
      return true;
    } catch (error) {
      if (error instanceof errors.OJSConflictError || error instanceof errors.OJSNotFoundError) {
        this.logger.warn(
          `ojs: job ${delivery.id} is settled or runs elsewhere; its outcome was not taken: ${error.message}`,
        );
        return true;
      }
      const isRefused =
        error instanceof errors.OJSInvalidRequestError || error instanceof errors.OJSPayloadTooLargeError;
      if (isRefused && path === '/workers/ack') {
        const message = `The server refused the result: ${error.message}`;
        return this.report(delivery, outcomes.refused(error.code, 'ResultRefused', message, false), env);
      }
      this.logger.error(`ojs: the outcome of job ${delivery.id} did not reach the server: ${error.message}`);
      return false;
    }
  }

  /**
   * Runs a job that a platform has brought, and reports its outcome. Throws DeliveryFailedError when the job has failed
   * and no server has stored that. A job that the server does not have any more is not run, and the platform may
   * forget the message.
   */
  async finish(delivery, deadline) {
    let whole;
    try {
      whole = await this.whole(delivery);
    } catch (error) {
      if (!(error instanceof errors.OJSNotFoundError)) throw error;
      this.logger.warn(`ojs: job ${delivery.id} is gone: it is not run`);
      return outcomes.refused(error.code, 'JobGone', error.message, false);
    }
    const outcome = await this.run(whole, { deadline });
    if (!(await this.report(whole, outcome))) throwFailure(outcome);
    return outcome;
  }

  /**
   * The delivery with the whole job, which is read from the server if the message refers to it. Throws the error of a
   * server that does not answer, OJSValidationError (`invalid_job`) where no server is named, and OJSNotFoundError.
   */
  async whole(delivery, env) {
    const { server } = this.given(env);
    if (!delivery.isReference) return delivery;
    if (server === undefined) {
      throw new errors.OJSValidationError(
        `the message of job ${delivery.id} refers to the job, and there is no server to read it from: ` +
          'give the function its URL, ojsUrl or OJS_URL',
        { code: 'invalid_job', retryable: true },
      );
    }
    const path = `/jobs/${encodeURIComponent(delivery.id)}`;
    const { job } = await server.request('GET', path);
    const isSaved = delivery.job.checkpoint_ref === true;
    const checkpoint = isSaved ? await server.request('GET', `${path}/checkpoint`).catch(noneOf) : undefined;
    return completed(delivery, job, checkpoint);
  }

  /**
   * The same for a message of a queue, as `whole`. When the job cannot be read, there is `isDone` in its place: whether
   * the queue may drop the message.
   */
  async wholeOfMessage(delivery, env) {
    try {
      return { whole: await this.whole(delivery, env) };
    } catch (error) {
      this.logger.error(`ojs: job ${delivery.id} cannot be read from the server: ${error.message}`);
      return { isDone: error instanceof errors.OJSNotFoundError };
    }
  }

  /**
   * Whether the server has moved on since the message with this job was sent: the job has ended, or is at a later
   * attempt. For messages that a queue delivers again. A server that does not answer has not moved on.
   */
  async isStale(delivery, env) {
    const { server } = this.given(env);
    if (server === undefined) return false;
    try {
      const { job } = await server.request('GET', `/jobs/${encodeURIComponent(delivery.id)}`);
      const runnable = delivery.leaseToken === undefined ? ['active', 'available'] : ['active'];
      return !runnable.includes(job.state) || job.attempt > delivery.attempt;
    } catch (error) {
      if (error instanceof errors.OJSNotFoundError) return true;
      this.logger.warn(
        `ojs: job ${delivery.id} was delivered again, and the server cannot be asked about it: ${error.message}`,
      );
      return false;
    }
  }
}

async function attempt(call, ctx) {
  try {
    return outcomes.success(ctx, await call(ctx));
  } catch (error) {
    return outcomes.failure(ctx, error);
  }
}

/**
 * What `running` comes to, or the failure `timeout` after so many milliseconds. A handler that has completed late has
 * completed.
 */
async function within(ctx, running, limit) {
  if (limit === undefined) return running;
  const first = await raced(running, limit);
  if (first !== undefined) return first;
  contexts.inside.cancel(ctx, TIMED_OUT);
  const late = await raced(running, WIND_UP);
  if (late?.kind === outcomes.COMPLETED) return late;
  return outcomes.refused(
    'timeout',
    'timeout',
    'The attempt took longer than its timeout_ms, or than the platform allows.',
    true,
  );
}

/** What a promise resolves to, undefined when it has not done so in time. */
async function raced(promise, limit) {
  let timer;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, limit, undefined);
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}
