// What a job's context asks of the server, where a function runs the job instead of a worker. Calls are plain requests
// under the delivery's lease.
import contexts from '#core/context';
import errors from '#core/errors';
import json from '#core/json';
import { Checkpoint } from './checkpoint.mjs';
import { leaseOf } from './delivery.mjs';

/** Numbers of the core's table: see cancel_reasons in context. */
const CANCELLED = 0;
const LEASE_LOST = 1;

const reasonOf = (error) => (error.details?.current_state === 'cancelled' ? CANCELLED : LEASE_LOST);
const isLost = (error) => error instanceof errors.OJSConflictError || error instanceof errors.OJSNotFoundError;

export class FunctionLink {
  #delivery;
  #server;
  #checkpoint;
  #worker;
  // The latest report that waits, and the sending of those before it.
  #progress;
  #sending;
  /** The context, for reasons to stop that no call of the handler has asked for. */
  ctx;

  /**
   * @param server undefined where there is none: then progress is dropped and a checkpoint is an error.
   * @param worker the one whose handlers run, if there is one.
   */
  constructor(delivery, server, worker) {
    this.#worker = worker;
    this.#delivery = delivery;
    this.#server = server;
    this.#checkpoint = new Checkpoint(delivery.job.checkpoint);
  }

  /** The worker whose lease the run is under. */
  get id() {
    return this.#delivery.workerId;
  }

  /** What handlers enqueue with. A client needs the native half, so that edge runtimes have none. */
  get client() {
    if (this.#worker !== undefined) return this.#worker.client;
    throw new errors.OJSValidationError('this function has no client: pass a worker, as in new LambdaHandler(worker)');
  }

  async heartbeat() {
    const { id, workerId, leaseToken } = this.#delivery;
    if (this.#server === undefined || workerId === undefined) return undefined;
    const tokens = leaseToken === undefined ? {} : { lease_tokens: { [id]: leaseToken } };
    const body = { worker_id: workerId, state: 'running', active_jobs: [id], ...tokens };
    const answer = await this.#server.request('POST', '/workers/heartbeat', body);
    if (answer?.cancelled_jobs?.includes(id)) return CANCELLED;
    return answer?.jobs_extended?.includes(id) === false ? LEASE_LOST : undefined;
  }

  progress(_low, _high, fraction, message, data) {
    if (this.#server === undefined) return;
    const said = { progress: fraction, message, data: data === undefined ? undefined : json.parse(data) };
    this.#progress = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
    this.#sending ??= this.#sendProgress();
  }

  async save(_low, _high, step, text) {
    if (this.#server === undefined) {
      throw new errors.OJSValidationError(
        'checkpoints are kept by the server: give the function its URL, ojsUrl or OJS_URL',
      );
    }
    try {
      const put = async (state) => (await this.#put('checkpoint', { state })).sequence;
      return String(await this.#checkpoint.save(step, text, put));
    } catch (error) {
      if (!isLost(error)) throw error;
      return reasonOf(error);
    }
  }

  saved(_low, _high, step) {
    return this.#checkpoint.saved(step);
  }

  /** The run is over: its last report of progress is sent before the platform may freeze the process. */
  async close() {
    await this.#sending;
  }

  #put(what, members) {
    return this.#server.request('PUT', `/jobs/${encodeURIComponent(this.#delivery.id)}/${what}`, {
      ...members,
      ...leaseOf(this.#delivery),
    });
  }

  async #sendProgress() {
    while (this.#progress !== undefined) {
      const said = this.#progress;
      this.#progress = undefined;
      try {
        await this.#put('progress', said);
      } catch (error) {
        // One that is lost does not harm the job.
        if (isLost(error) && this.ctx) contexts.inside.cancel(this.ctx, reasonOf(error));
      }
    }
    this.#sending = undefined;
  }
}
