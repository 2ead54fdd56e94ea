'use strict';
// Jobs of a server that shares the application's PostgreSQL: the transaction itself inserts them, without outbox and relay. A server on
// PostgreSQL says in its health which table its jobs are in; when the application finds the same one, and may insert, its transactions do
// (specification "Framework Adapters", section 6.1). The core says what to ask, and decides.
const binding = require('./native.cjs');
const json = require('./json.cjs');

class SameDatabase {
  #client;
  #wanted;
  #state = null;
  #lasting;
  #asking;

  /** @param wanted true or false is the answer; undefined finds out. */
  constructor(client, wanted) {
    this.#client = client;
    this.#wanted = wanted ?? null;
  }

  /** `query(sql)` answers the first value of the first row, on a connection that no transaction is open on. */
  async ask(query) {
    if (this.#lasting !== undefined) return this.#lasting;
    this.#asking ??= this.#find(query).finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #find(query) {
    let step = this.#step({ event: 'begin', value: this.#wanted });
    while (step.next !== 'enqueue') {
      const event = step.next;
      try {
        const value = event === 'database' ? await query(step.sql) : await this.#client.health();
        step = this.#step({ event, value });
      } catch (error) {
        step = this.#step({ event, error: String(error.message) });
      }
    }
    if (step.lasting) this.#lasting = step.shared;
    return step.shared;
  }

  #step(event) {
    const step = json.parse(binding.sameDatabaseStep(json.stringify({ state: this.#state, ...event })));
    this.#state = step.state;
    return step;
  }
}

module.exports = { SameDatabase };
