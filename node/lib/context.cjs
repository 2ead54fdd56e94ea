'use strict';
// What a handler gets.
const { Job } = require('./records.cjs');
const { JobCancelledError } = require('./errors.cjs');
const json = require('./json.cjs');

// gen:node/cancel_reasons.j2 (make gen; do not edit)
/** By number of the core. */
const REASONS = ['cancelled', 'lease_lost', 'timed_out', 'shutdown'];
// gen:end

/** What the worker may do with a context and a handler may not. */
let inside;

class JobContext {
  #link;
  #low;
  #high;
  #result;
  #envelope;
  #job;
  #controller;
  #reason;
  #metadata;

  /**
   * @param link has `client`, and `heartbeat`, `progress`, `save` and `saved`, each with low and high, the halves of
   * the token.
   * `head` has id, type, queue, attempt, low and high.
   */
  constructor(link, head, envelope) {
    this.#link = link;
    this.#envelope = envelope;
    this.id = head.id;
    this.type = head.type;
    this.queue = head.queue;
    this.attempt = head.attempt;
    this.#low = head.low;
    this.#high = head.high;
  }

  /** The whole job; its JSON is read when it is asked for. */
  get job() {
    return (this.#job ??= Job.from(json.parseAnswer(this.#envelope, 'the job')));
  }

  // gen:node/context.j2 (make gen; do not edit)
  /** The arguments. */
  get args() {
    return this.job.args ?? [];
  }

  /** What travels with the job besides its arguments. */
  get meta() {
    return this.job.meta ?? {};
  }

  /** The results of the steps before this one, in a workflow. */
  get parentResults() {
    return this.job.parent_results ?? [];
  }

  /** The workflow that the job belongs to; undefined when it belongs to none. */
  get workflowId() {
    return this.job.workflow_id;
  }

  /** The job's place in its train; undefined when it runs in none. */
  get train() {
    return this.job.train;
  }
  // gen:end

  /** The worker's name on the server; undefined where no worker runs the job. */
  get workerId() {
    return this.#link.id;
  }

  /** The tenant that the job belongs to; undefined when it names none. */
  get tenant() {
    return this.meta.tenant_id ?? undefined;
  }

  /** The worker's client. What it enqueues belongs to the tenant of this job, and so does all that it sees. */
  get client() {
    const { client } = this.#link;
    return this.tenant === undefined ? client : client.ofTenant(this.tenant);
  }

  /** A place for middleware to leave things for the layers inside; gone after this run. */
  get metadata() {
    return (this.#metadata ??= {});
  }

  /** Aborts when the handler should stop; its reason is a JobCancelledError. */
  get signal() {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(new JobCancelledError(this.#reason));
    }
    return this.#controller.signal;
  }

  get cancelReason() {
    return this.#reason;
  }

  get cancelled() {
    return this.#reason !== undefined;
  }

  throwIfCancelled() {
    if (this.#reason) throw new JobCancelledError(this.#reason);
  }

  /** Sets the job's result; what the handler returns, unless it is undefined, wins. */
  setResult(value) {
    this.#result = value;
  }

  /** Extends the lease now; the worker does so every few seconds by itself. False when the handler should stop. */
  async heartbeat() {
    const verdict = await this.#link.heartbeat(this.#low, this.#high);
    if (verdict !== undefined && verdict !== null) inside.cancel(this, verdict);
    return !this.cancelled;
  }

  /**
   * Says how far the run has come: a fraction from 0 to 1, a sentence for people, data of the application. Returns at
   * once; of many reports the latest is sent, a few a second at most.
   */
  progress(fraction, message, data) {
    const text = data === undefined ? undefined : json.stringify(data);
    this.#link.progress(this.#low, this.#high, fraction ?? undefined, message ?? undefined, text);
  }

  /**
   * Saves the checkpoint of the job in place of the one before; resolves with its sequence when it is on the server's
   * disk. Rejects with a JobCancelledError when the lease is lost.
   */
  checkpoint(state) {
    return this.#save(undefined, state);
  }

  /** What this run, or an attempt before it, has saved; undefined when there is nothing. */
  loadCheckpoint() {
    const text = this.#link.saved(this.#low, this.#high, undefined);
    return typeof text === 'string' ? json.parse(text) : undefined;
  }

  /** Whether there is a checkpoint to go on from. */
  get hasCheckpoint() {
    return typeof this.#link.saved(this.#low, this.#high, undefined) === 'string';
  }

  /**
   * Runs `run` once across all attempts of the job, and resolves with its result, which is saved with the checkpoint:
   * later attempts get it and do not run the step. A crash between the end of the step and the server's answer runs
   * it again.
   */
  async step(name, run) {
    const text = this.#link.saved(this.#low, this.#high, name);
    if (typeof text === 'string') return json.parse(text);
    const result = await run();
    await this.#save(name, result ?? null);
    return result;
  }

  async #save(step, value) {
    const answer = await this.#link.save(this.#low, this.#high, step, json.stringify(value));
    if (typeof answer !== 'number') return Number(answer);
    inside.cancel(this, answer);
    throw new JobCancelledError(this.#reason);
  }

  static {
    inside = {
      low: (ctx) => ctx.#low,
      high: (ctx) => ctx.#high,
      result: (ctx) => ctx.#result,
      envelope: (ctx) => ctx.#envelope,
      cancel(ctx, reason) {
        if (ctx.#reason) return;
        ctx.#reason = REASONS[reason] ?? REASONS[0];
        ctx.#controller?.abort(new JobCancelledError(ctx.#reason));
      },
    };
  }
}

module.exports = { JobContext, inside };
