'use strict';
// Sends what transactions have put into an outbox. PostgreSQL is read by the core itself; an SQLite file only by this process's own driver,
// never by the core's: two copies of SQLite in one process that open the same file destroy it.
const { setTimeout: pause } = require('node:timers/promises');
const binding = require('./native.cjs');
const { known } = require('./calls.cjs');
const { OJSClient } = require('./client.cjs');
const { OJSClosedError, OJSValidationError, native } = require('./errors.cjs');
const { millis } = require('./durations.cjs');
const logs = require('./logs.cjs');
const { loop } = require('./loop.cjs');
const { TransportServer } = require('./transport.cjs');
const json = require('./json.cjs');

/** The name in the specification. */
const TABLE = 'ojs_outbox';
/** What a flush at the end of the process, or without another word, may take. */
const GRACE = 5000;
/** How long a statement of the relay waits for the lock of an SQLite file, and how often it looks, in milliseconds. */
const LOCK = { patience: 10_000, pause: 5 };

/** Relays that run: what is committed is sent before the process ends by itself. */
const live = new Set();
let ending = false;

function flushAtTheEnd() {
  if (ending) return;
  ending = true;
  process.on('beforeExit', () => live.forEach((relay) => relay.stop().catch(() => {})));
}

const SETTINGS = ['table', 'pollInterval', 'batchSize', 'retention', 'migrate'];

class Relay {
  #client;
  #source;
  #settings;
  #core;
  #starting;
  #parts = [];

  /** @param source the URL of a PostgreSQL, MySQL or MariaDB database, or a function that opens a connection of better-sqlite3. */
  constructor(client, source, options = {}) {
    const { table = TABLE, pollInterval = 1000, batchSize = 1000, retention = '24h', migrate = false } = known('setting', options, SETTINGS);
    const url = typeof source === 'string' ? source : undefined;
    if (typeof source !== 'function' && !/^(postgres(ql)?|mysql|mariadb):\/\//.test(url ?? '')) {
      throw new OJSValidationError(`a relay reads PostgreSQL and MySQL by URL, and SQLite through a function that opens it; got ${typeof source === 'string' ? `a URL of '${source.split(':', 1)[0]}'` : typeof source}`);
    }
    this.#client = client;
    this.#source = source;
    this.#settings = {
      table, url, database: url ? 'postgresql' : 'sqlite', batchSize, migrate, pollInterval: millis('pollInterval', pollInterval),
      retention: millis('retention', retention),
    };
  }

  /** Starts it, unless it runs. Any number may run, in any number of processes: one sends. It does not keep the process alive. */
  start() {
    this.#starting ??= this.#start().catch((error) => {
      this.#starting = undefined;
      this.#release();
      throw error;
    });
    return this.#starting;
  }

  /** Says that a transaction has committed. Cheap; a relay that is not woken looks by itself. */
  wake() {
    if (this.#core) this.#core.wake();
    else this.start().then(() => this.#core?.wake(), () => {}); // the next one tries again
  }

  /** Whether it runs. */
  get running() {
    return this.#core !== undefined;
  }

  /** What it has done so far; undefined unless it runs. */
  status() {
    return this.#core?.status() ?? undefined;
  }

  /** Sends what is committed, for at most `grace`, and ends. What is left stays in the table. */
  async stop(grace = GRACE) {
    await this.#starting?.catch(() => {});
    const core = this.#core;
    if (core === undefined) return;
    this.#core = undefined;
    this.#starting = undefined;
    live.delete(this);
    try {
      const limit = millis('grace', grace);
      await loop().call((replies, ticket) => core.stop(replies, ticket, limit));
    } finally {
      this.#release();
    }
  }

  async [Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]() {
    await this.stop();
  }

  async #start() {
    let { connection } = OJSClient.transportOf(this.#client);
    if (connection === undefined) {
      const server = new TransportServer(OJSClient.transportOf(this.#client).custom);
      this.#parts.push(server);
      connection = server.connection;
    }
    let host;
    if (typeof this.#source === 'function') {
      host = new Host(this.#source);
      this.#parts.push(host);
    }
    const core = native(() => new binding.Relay());
    await loop().call((replies, ticket) => core.start(replies, ticket, connection, this.#settings, host?.mailbox));
    logs.start();
    this.#core = core;
    live.add(this);
    flushAtTheEnd();
    return this;
  }

  #release() {
    for (const part of this.#parts.splice(0)) part.close();
  }
}

/** Runs the relay's statements on the application's own driver, with a connection of its own. */
class Host {
  #open;
  #connection;
  #closed = false;
  #last = Promise.resolve();

  constructor(open) {
    this.#open = open;
    const weak = new WeakRef(this);
    this.mailbox = new binding.HostTransport(() => weak.deref()?.#serve());
  }

  #serve() {
    for (;;) {
      let request;
      try {
        request = this.mailbox.next();
      } catch {
        return; // closed
      }
      if (request === null) return;
      const { ticket, body } = request;
      // One at a time: it is one connection.
      this.#last = this.#last.then(() => this.#answer(ticket, body));
    }
  }

  async #answer(ticket, body) {
    try {
      const rows = await this.#perform(json.parse(body ?? '[]'));
      this.mailbox.reply(ticket, 200, json.stringify(rows));
    } catch (error) {
      this.mailbox.reply(ticket, 500, `${error.name}: ${error.message}`);
    }
  }

  /** All statements in one transaction; the rows of each. The lock is waited for outside of SQLite: its holder may be code of this thread. */
  async #perform(statements) {
    const until = Date.now() + LOCK.patience;
    for (;;) {
      try {
        if (this.#closed) throw new OJSClosedError('the relay has been stopped', { code: 'closed' });
        this.#connection ??= this.#open();
        return perform(this.#connection, statements);
      } catch (error) {
        if (!/^SQLITE_(BUSY|LOCKED)/.test(error.code) || Date.now() > until || this.#closed) throw error;
        await pause(LOCK.pause);
      }
    }
  }

  close() {
    this.#closed = true;
    this.mailbox.close();
    this.#connection?.close();
    this.#connection = undefined;
  }
}

function perform(db, statements) {
  const reads = statements.every(({ sql }) => sql.startsWith('SELECT'));
  const run = db.transaction(() => statements.map(({ sql, params }) => {
    const statement = db.prepare(sql);
    if (statement.reader) return statement.raw(true).all(...params);
    statement.run(...params);
    return [];
  }));
  return reads ? run.deferred() : run.immediate();
}

module.exports = { Relay, TABLE };
