'use strict';
// Jobs of a server that shares the application's PostgreSQL: the transaction itself inserts them, without outbox and relay. A server on
// PostgreSQL says in its health which table its jobs are in; when the application finds the same one, and may insert, its transactions do
// (specification "Framework Adapters", section 6.1).
const binding = require('./native.cjs');

/** Milliseconds until the server is asked again when it did not answer, and until a table is looked for again that was not there. */
const PATIENCE = 30_000;

class SameDatabase {
  #client;
  #known;
  #asking;
  #askAt = 0;

  /** @param wanted true or false is the answer; undefined finds out. */
  constructor(client, wanted) {
    this.#client = client;
    this.#known = wanted;
  }

  /** What is known; undefined before the answer. */
  get known() {
    return this.#known;
  }

  /** `query(sql)` answers the first value of the first row, on a connection that no transaction is open on. */
  async ask(query) {
    if (this.#known !== undefined) return this.#known;
    if (!this.#asking && Date.now() >= this.#askAt) {
      this.#asking = this.#find(query).then((found) => {
        this.#known = found;
        this.#askAt = Date.now() + PATIENCE;
        this.#asking = undefined;
      });
    }
    await this.#asking;
    return this.#known ?? false;
  }

  async #find(query) {
    let ours;
    try {
      ours = await query(binding.sameDatabaseIdentity());
    } catch (error) {
      return error.code === '42501' ? false : undefined; // the role may not ask; else there is no database now
    }
    if (ours === null || ours === undefined) return undefined;
    try {
      const { backend } = await this.#client.health();
      return backend?.id === String(ours);
    } catch {
      return undefined; // no server now: the outbox holds the jobs
    }
  }
}

module.exports = { SameDatabase };
