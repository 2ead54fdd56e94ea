// Cloudflare Workers and Vercel's edge functions.
import outcomes from '#core/outcome';
import { deliveryOf, read } from './delivery.mjs';
import { settingsOf, withDefaults } from './handler.mjs';
import { PushHandler } from './push.mjs';

/**
 * What Cloudflare allows a request and a consumer of a queue, and Vercel an edge function until it answers, in
 * milliseconds.
 */
const FETCH = 30_000;
const QUEUE = 15 * 60_000;
const VERCEL = 25_000;

/** See index.d.mts. */
export class CloudflareHandler extends PushHandler {
  #batch;

  constructor(worker, settings) {
    super(...withDefaults({ timeout: FETCH }, worker, settings));
    this.#batch = (settingsOf(worker, settings) ?? {}).timeout ?? QUEUE;
    // A Worker exports an object whose members are called alone.
    this.fetch = (request, env) => super.fetch(request, env);
    this.queue = (batch, env) => this.#queue(batch, env);
  }

  /** Runs the jobs of a batch beside each other, each with an acknowledgement of its own. */
  async #queue(batch, env) {
    await Promise.all(batch.messages.map((message) => this.#settle(message, env)));
  }

  async #settle(message, env) {
    let delivery;
    try {
      delivery = deliveryOf(typeof message.body === 'string' ? read(message.body) : message.body);
    } catch (error) {
      // It would not be readable the next time either.
      this.logger.error(`ojs: message ${message.id} holds no job and is dropped: ${error.message}`);
      message.ack();
      return;
    }
    if (message.attempts > 1 && (await this.isStale(delivery, env))) {
      message.ack();
      return;
    }
    const { whole, isDone } = await this.wholeOfMessage(delivery, env);
    if (whole === undefined) {
      if (isDone) message.ack();
      else message.retry();
      return;
    }
    const outcome = await this.run(whole, { deadline: this.within(this.#batch), env });
    const taken = await this.report(whole, outcome, env);
    if (taken || (this.given(env).server === undefined && outcome.kind === outcomes.COMPLETED)) message.ack();
    else message.retry();
  }
}

/** See index.d.mts. */
export class VercelHandler extends PushHandler {
  constructor(worker, settings) {
    super(...withDefaults({ timeout: VERCEL }, worker, settings));
    // For `export const POST = handler.fetch`: Vercel's second argument does not have variables.
    this.fetch = (request) => super.fetch(request);
  }
}
