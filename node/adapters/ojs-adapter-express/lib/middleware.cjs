'use strict';
// Express middleware: `req.ojs`, the metadata of the request, the relay.
const { Outbox, requestContext } = require('@openjobspec/sdk/outbox');

/** What a request enqueues with: the application's outbox, and the metadata of the request. */
class RequestOjs {
  #outbox;
  #meta;
  #staged = false;

  constructor(outbox, meta) {
    this.#outbox = outbox;
    this.#meta = meta;
  }

  /** Sends a job now, whatever becomes of any transaction. */
  enqueue(type, args, options) {
    return this.#within(() => this.#outbox.enqueue(type, args, options));
  }

  /** Sends many jobs now, in one request: all are stored or none. */
  enqueueBulk(jobs, options) {
    return this.#within(() => this.#outbox.enqueueBulk(jobs, options));
  }

  /** Sends a job if, and only if, the transaction around the call (or `options.transaction`) commits; outside of one: now. */
  enqueueAfterCommit(type, args, options) {
    this.#staged = true;
    return this.#within(() => this.#outbox.enqueueAfterCommit(type, args, options));
  }

  /** The same for many jobs. */
  enqueueBulkAfterCommit(jobs, options) {
    this.#staged = true;
    return this.#within(() => this.#outbox.enqueueBulkAfterCommit(jobs, options));
  }

  /** Runs `work(connection)` in a transaction that jobs join by themselves. */
  transaction(database, work) {
    return this.#within(() => this.#outbox.transaction(database, work));
  }

  /** The metadata that this request's jobs carry. */
  get meta() {
    return this.#meta();
  }

  /** At the end of the request: what was staged on a connection whose commit is not seen is looked for now. */
  flush() {
    if (this.#staged) this.#outbox.wake();
  }

  #within(work) {
    return requestContext.run(this.#meta, work);
  }
}

/**
 * Middleware that gives each request `req.ojs`.
 *
 *     app.use(ojsMiddleware({ url: process.env.OJS_URL, database: db }));
 *
 * The relay starts with the first request at the latest, `middleware.start()` starts it before; `middleware.close()` flushes and stops it.
 */
function ojsMiddleware({ userId = (req) => req.user?.id, tenantId, outbox: given, ...options } = {}) {
  const outbox = given instanceof Outbox ? given : new Outbox({ ...options, outbox: given });
  let started = false;

  function ojs(req, res, next) {
    if (!started) {
      started = true;
      outbox.start().catch((error) => {
        started = false; // the next request tries again; a commit does so as well
        process.emitWarning(`the relay of the outbox could not be started: ${error.message}`, 'OJSWarning');
      });
    }
    // Asked when a job is made: authentication may come later than this.
    const meta = () => requestContext.ofRequest((name) => req.get(name), { userId: userId(req), tenantId: tenantId?.(req) });
    req.ojs = new RequestOjs(outbox, meta);
    res.once('close', () => req.ojs.flush());
    requestContext.run(meta, next);
  }

  ojs.outbox = outbox;
  ojs.start = async () => {
    started = true;
    await outbox.start();
    return ojs;
  };
  ojs.close = (grace) => outbox.close(grace);
  return ojs;
}

module.exports = { RequestOjs, ojsMiddleware };
