'use strict';
// A transaction that is open, or a savepoint in one, as the code inside of it sees it.
//
//   open --close(true)--> committed     the outermost one: what waits for the commit is done then
//        --close(false)-> rolled back
const { AsyncLocalStorage } = require('node:async_hooks');
const { OJSOutboxError } = require('./outbox_error.cjs');

const storage = new AsyncLocalStorage();

/**
 * The promise of a job that is being staged. A failure that the program looks at is the program's; one that it does not look at fails the transaction:
 * `enqueueAfterCommit()` need not be awaited.
 */
class Staging extends Promise {
  observed = false;

  static get [Symbol.species]() {
    return Promise;
  }

  then(onDone, onFailed) {
    this.observed = true;
    return super.then(onDone, onFailed);
  }

  /** Adds handlers without setting `observed`: the program itself has not looked at the result. */
  peek(onDone, onFailed) {
    return super.then(onDone, onFailed);
  }
}

class TransactionScope {
  #pending = new Set();
  #failed = [];
  #after = [];
  #state = 'open';

  /** @param connection of databases.cjs; @param parent the transaction around a savepoint. */
  constructor(connection, parent) {
    this.connection = connection;
    this.parent = parent;
  }

  /** `open`, `committed` or `rolled back`. */
  get state() {
    return this.#state;
  }

  /** What is said to code that comes after the end. */
  get over() {
    return new OJSOutboxError(`the transaction is ${this.#state}: enqueue the job before it ends`, { code: 'transaction_over' });
  }

  /** Whether jobs are being staged. */
  get busy() {
    return this.#pending.size > 0;
  }

  /** Runs work inside of it. */
  run(work) {
    return storage.run(this, work);
  }

  /** Staging that the transaction waits for. */
  track(work) {
    if (this.#state !== 'open') throw this.over;
    const staging = new Staging((resolve, reject) => work().then(resolve, reject));
    this.#pending.add(staging);
    staging.peek(() => this.#pending.delete(staging), (error) => {
      this.#pending.delete(staging);
      this.#failed.push({ staging, error });
    });
    return staging;
  }

  /** Done once when the outermost transaction has committed; not at all when this or one around it is rolled back. */
  afterCommit(work) {
    if (!this.#after.includes(work)) this.#after.push(work);
  }

  /** Before the commit: waits for what is being staged; throws the failures that were not looked at. */
  async settle() {
    await this.drain();
    const failure = this.#failed.find(({ staging }) => !staging.observed);
    if (failure) throw failure.error;
  }

  /** Before a rollback: nothing may be written behind it. */
  async drain() {
    while (this.#pending.size > 0) await Promise.all([...this.#pending].map((staging) => staging.peek(() => {}, () => {})));
  }

  /** It is over. Resolves when what waited for the commit is done. */
  async close(committed) {
    if (this.#state !== 'open') return;
    this.#state = committed ? 'committed' : 'rolled back';
    const after = this.#after.splice(0);
    if (!committed) return;
    if (this.parent) after.forEach((work) => this.parent.afterCommit(work));
    else for (const work of after) await work();
  }
}

/** The innermost transaction that the present code is inside of; one that is committed is no more. */
function current() {
  let scope = storage.getStore();
  while (scope?.state === 'committed') scope = scope.parent;
  return scope;
}

module.exports = { TransactionScope, current };
