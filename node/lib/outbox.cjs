'use strict';
// The outbox: a job is sent if, and only if, the transaction that staged it commits (specification "Framework Adapters"). The row is
// written by the application's own connection, inside its transaction; a relay sends it afterwards. Where the server keeps its jobs in the
// same PostgreSQL, the row is the job itself.
const binding = require('./native.cjs');
const context = require('./request_context.cjs');
const { OJSClient } = require('./client.cjs');
const { connectionOf, isKnex, isSqlite } = require('./databases.cjs');
const { OJSNotEnqueuedError, OJSValidationError, native } = require('./errors.cjs');
const { JobRequest, completed } = require('./job.cjs');
const { Job } = require('./records.cjs');
const { OJSOutboxError, explained } = require('./outbox_error.cjs');
const { spelled } = require('./outbox_settings.cjs');
const { Relay, TABLE } = require('./relay.cjs');
const { SameDatabase } = require('./same_database.cjs');
const { instrument, instrumented, scopes, transaction } = require('./transactions.cjs');
const { TransactionScope, current } = require('./transaction_scope.cjs');
const json = require('./json.cjs');
const fs = require('node:fs');

/**
 * The statements that make the tables, or add what a table lacks that was made by the specification's DDL: to be run
 * in this order, on one connection. They take a lock, so any number of processes may run them at the same time.
 */
const migration = (database, table = TABLE) => native(() => binding.outboxMigration(database, table));

const KNOWN = ['url', 'client', 'auth', 'headers', 'timeout', 'transport', 'database', 'databaseUrl', 'enabled', 'table', 'relay', 'sameDatabase',
  'pollInterval', 'batchSize', 'retention'];

class Outbox {
  #ownsClient;
  #settings;
  #relays = new Map();
  #same = new Map();

  constructor(options = {}) {
    const given = typeof options === 'string' ? { url: options } : spelled(options);
    const unknown = Object.keys(given).find((name) => !KNOWN.includes(name));
    if (unknown) throw new OJSValidationError(binding.unknownName('setting', unknown, '', KNOWN));
    const { client, database, databaseUrl, enabled = true, table = TABLE, relay = true, sameDatabase, pollInterval, batchSize, retention,
      ...connection } = given;
    const only = Object.fromEntries(Object.entries(connection).filter(([, value]) => value !== undefined));
    this.client = client ?? new OJSClient(only);
    this.#ownsClient = client === undefined;
    this.table = table;
    this.#settings = { database, databaseUrl, enabled, relay, sameDatabase, url: only.url, relayOptions: { pollInterval, batchSize, retention } };
    if (database === undefined) return;
    this.#checkFile(connectionOf(database));
    // Otherwise a job that is enqueued in a transaction would be sent at once.
    if (isKnex(database) && !database.isTransaction) instrument(database);
  }

  // --- enqueue ---

  /** Sends a job now, whatever becomes of any transaction. Options as for `OJSClient.enqueue()`. */
  async enqueue(type, args, options = {}) {
    const { signal, ...rest } = options;
    const { meta } = context.completed(new JobRequest(type, args, rest));
    return this.client.enqueue(type, args, { ...rest, ...(meta === undefined ? {} : { meta }), signal });
  }

  /** Sends many jobs now, in one request: all are stored or none. */
  async enqueueBulk(jobs, options) {
    return this.client.enqueueBatch([...jobs].map((job) => context.completed(JobRequest.of(job))), options);
  }

  /**
   * Sends a job if, and only if, the outermost transaction commits: the one that the calling code is inside of, or `options.transaction`.
   * Outside of one: now. The row is written at once, and the promise is the job, which has its id already. It need not be awaited inside of
   * `transaction()` and of an instrumented Knex: they wait before they commit, and a failure that is not looked at rolls them back.
   */
  enqueueAfterCommit(type, args, { transaction: named, ...options } = {}) {
    return this.#afterCommit(named, [new JobRequest(type, args, options)], ([job]) => job);
  }

  /** The same for many jobs; in the order of the list. */
  enqueueBulkAfterCommit(jobs, { transaction: named } = {}) {
    return this.#afterCommit(named, [...jobs].map((job) => JobRequest.of(job)), (staged) => staged);
  }

  /** Stages a job on a connection: a pg client, a transaction of Knex, a better-sqlite3 database, `{ database, execute }`. */
  add(connection, type, args, options = {}) {
    return this.enqueueAfterCommit(type, args, { ...options, transaction: connection });
  }

  /** Runs the client's enqueue middleware, now, and makes the row of what comes out, to be written by whatever means: `{ job, sql, params }`. */
  async stage(job, { database, style = database === 'postgresql' ? 'numeric_dollar' : 'qmark', inEngine = false } = {}) {
    let found;
    const request = context.completed(JobRequest.of(job));
    const out = await OJSClient.through(this.client, request, (changed) => (found = this.#row(changed, database, style, inEngine)).job);
    if (out === undefined || found === undefined) throw new OJSNotEnqueuedError('a middleware dropped the job', { code: 'not_enqueued' });
    return found;
  }

  /** Runs `work(connection)` in a transaction; see `transaction()`. Without a database the one that the outbox was given. */
  transaction(database, work) {
    return work === undefined ? transaction(this.#default(), database) : transaction(database, work);
  }

  // --- the table ---

  /** Makes the table, or adds what it lacks. */
  async migrate(database = this.#default()) {
    const connection = connectionOf(database);
    const run = async ({ execute }) => {
      for (const statement of migration(connection.kind, this.table)) await execute(statement);
    };
    // MySQL's statements lead to one another: one session for all, not whichever the pool has.
    if (connection.kind === 'mysql' && isKnex(database) && !database.isTransaction) await database.transaction((trx) => run(connectionOf(trx)));
    else await run(connection);
  }

  /** The jobs that are not sent yet, as this connection sees them, its own transaction's included: for tests. */
  staged(database = this.#default()) {
    const connection = connectionOf(database);
    const read = async (inEngine) => {
      try {
        const query = native(() => binding.outboxStagedQuery(connection.kind, this.table, inEngine));
        return (await connection.execute(query)).map(seen);
      } catch (error) {
        throw explained(error, this.table);
      }
    };
    if (connection.sync) return read(false); // read at once: before its transaction is over
    return this.#inEngine(connection).then(read);
  }

  // --- the relay ---

  /** The relay of a database in this process. */
  relay(database) {
    return this.#relayOf(database === undefined ? this.#home() : connectionOf(database));
  }

  /**
   * Starts the relay of the database that the outbox was given, else of every Knex that was instrumented: rows that an earlier process left are
   * sent then. The first commit starts it as well.
   */
  async start() {
    const { enabled, relay, database, databaseUrl } = this.#settings;
    if (!enabled || !relay) return this;
    for (const connection of (database ?? databaseUrl) === undefined ? [...instrumented].map(connectionOf) : [this.#home()]) {
      if (!(await this.#inEngine(connection))) await this.#relayOf(connection).start();
    }
    return this;
  }

  /** Looks for rows now: after a commit that the package could not see. */
  wake() {
    for (const relay of this.#relays.values()) relay.wake();
  }

  /** Flushes the outbox for at most `grace`, stops the relays, closes the client if it was made here. */
  async close(grace) {
    const relays = [...this.#relays.values()];
    this.#relays.clear();
    await Promise.all(relays.map((relay) => relay.stop(grace)));
    if (this.#ownsClient) await this.client.close();
  }

  async [Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]() {
    await this.close();
  }

  // --- inside ---

  #default() {
    if (this.#settings.database === undefined) throw new OJSOutboxError('which database? Name it here, or as `database` of the outbox');
    return this.#settings.database;
  }

  /** Where the relay works when no place is given. */
  #home() {
    const { database, databaseUrl } = this.#settings;
    return database === undefined && databaseUrl !== undefined ? { kind: kindOf(databaseUrl) } : connectionOf(this.#default());
  }

  #afterCommit(named, requests, answer) {
    const scope = named === undefined ? this.#ambient() : scopes.get(named);
    const connection = scope?.connection ?? (named === undefined ? undefined : connectionOf(named));
    if (scope?.state === 'rolled back') throw scope.over;
    if (!connection?.transaction) return Promise.all(requests.map((request) => this.#now(request))).then(answer);
    if (!this.#settings.enabled) return this.#held(scope, requests, answer);
    if (connection.sync) return Promise.resolve(answer(this.#writeNow(connection, scope, requests)));
    const work = async () => {
      const inEngine = await this.#inEngine(connection);
      const rows = [];
      for (const request of requests) rows.push(await this.stage(request, { database: connection.kind, style: connection.style, inEngine }));
      for (const row of rows) await this.#write(connection, row);
      this.#afterwards(connection, scope, inEngine);
      return answer(rows.map(({ job }) => job));
    };
    return scope ? scope.track(work) : work();
  }

  /** The transaction around the calling code; that of a better-sqlite3 database is there for all. */
  #ambient() {
    const scope = current();
    const { database } = this.#settings;
    if (scope !== undefined || !isSqlite(database) || !database.inTransaction) return scope;
    return new TransactionScope(connectionOf(database));
  }

  #now(request) {
    const { type, args, id, meta, schema, options } = request;
    return this.enqueue(type, args, { ...options, id, meta, schema });
  }

  /** Without a table the job waits in memory for the commit: a crash in between loses it. */
  #held(scope, requests, answer) {
    if (scope === undefined) {
      throw new OJSOutboxError('without an outbox a job waits for the end of transaction(), or of an instrumented Knex; there is none here');
    }
    requests.forEach((request) => context.completed(request));
    return scope.track(async () => {
      for (const request of requests) scope.afterCommit(() => this.#now(request));
      return answer(requests.map((request) => Job.from(request.toJSON())));
    });
  }

  /** better-sqlite3: its transaction is over when its function returns, so what is wrong is thrown here and now. */
  #writeNow(connection, scope, requests) {
    const rows = requests.map((request) => this.#stageNow(context.completed(request), connection.style));
    try {
      for (const { sql, params } of rows) connection.execute(sql, params);
    } catch (error) {
      throw explained(error, this.table);
    }
    this.#afterwards(connection, scope, false);
    return rows.map(({ job }) => job);
  }

  /** The row, made before this returns: no enqueue middleware may wait for anything before it calls next(). */
  #stageNow(request, style) {
    let found;
    let failure;
    let open = true;
    const out = OJSClient.through(this.client, request, (changed) => {
      if (!open) throw new OJSOutboxError('the enqueue middleware came too late');
      try {
        found = this.#row(changed, 'sqlite', style, false);
      } catch (error) {
        failure = { error };
        throw error;
      }
      return found.job;
    });
    Promise.resolve(out).catch(() => {}); // what is to be known is known here
    open = false;
    if (failure) throw failure.error;
    if (found === undefined) {
      throw new OJSNotEnqueuedError('an enqueue middleware dropped the job, or waited for something before next(): a transaction of better-sqlite3 cannot wait',
        { code: 'not_enqueued' });
    }
    return found;
  }

  #row(request, database, style, inEngine) {
    const body = request.toJSON();
    const plain = json.stringify(body);
    const { connection } = OJSClient.transportOf(this.client);
    const text = connection ? native(() => binding.outboxEncrypted(connection, plain)) : plain;
    const { id, sql, params } = native(() => (inEngine ? binding.outboxStageInEngine(text, style) : binding.outboxStage(text, database, this.table, style)));
    const { options, ...rest } = completed(body);
    return { job: Job.from({ ...rest, ...options, id }), sql, params: params.map((value) => value ?? null) };
  }

  async #write(connection, { sql, params }) {
    try {
      await connection.execute(sql, params);
    } catch (error) {
      throw explained(error, this.table);
    }
  }

  /** Has the relay, or the server itself, look after the commit. */
  #afterwards(connection, scope, inEngine) {
    if (inEngine) {
      if (scope) scope.afterCommit(this.#teller(connection, scope));
      return;
    }
    if (!this.#settings.relay) return;
    const relay = this.#relayOf(connection);
    if (scope?.state === 'open' && !isSqlite(connection.handle)) scope.afterCommit(this.#waker(relay));
    else if (connection.handle.executionPromise) connection.handle.executionPromise.then(() => relay.wake(), () => {});
    else {
      // This commit is not seen here: it is likely over in the next turn, and found by the relay's own look when it is not.
      relay.start().catch(() => {}); // a close() right after the commit shall flush it
      setImmediate(() => relay.wake());
    }
  }

  /** The same function for the same relay: it is woken once. */
  #waker(relay) {
    relay.waker ??= () => relay.wake();
    return relay.waker;
  }

  #teller(connection, scope) {
    const through = scope.root ?? connection.handle;
    return () => connectionOf(through).execute(binding.sameDatabaseNotify()).catch(() => {}); // the nodes look by themselves
  }

  async #inEngine(connection) {
    const { sameDatabase, enabled } = this.#settings;
    if (connection.kind !== 'postgresql' || !enabled || sameDatabase === false) return false;
    if (sameDatabase === true) return true;
    const database = connection.database?.();
    if (database === undefined) return false;
    let same = this.#same.get(database.key);
    if (same === undefined) this.#same.set(database.key, (same = new SameDatabase(this.client)));
    return same.ask((sql) => database.query(sql));
  }

  #relayOf(connection) {
    const { databaseUrl, relayOptions } = this.#settings;
    const database = this.#placeOf(connection);
    let relay = this.#relays.get(database.key);
    if (relay === undefined) {
      this.#checkFile(connection);
      const source = database.kind !== 'sqlite' && databaseUrl !== undefined ? databaseUrl : database.source();
      relay = new Relay(this.client, source, { table: this.table, ...relayOptions });
      this.#relays.set(database.key, relay);
    }
    return relay;
  }

  #placeOf(connection) {
    if (connection.database) return connection.database();
    const { database, databaseUrl } = this.#settings;
    if (databaseUrl !== undefined) return { key: databaseUrl, kind: kindOf(databaseUrl) };
    const place = database === undefined ? undefined : connectionOf(database).database?.();
    if (place !== undefined) return place;
    throw new OJSOutboxError('how does the relay reach this database? Say database or databaseUrl, or run `ojs relay` and say relay: false');
  }

  /** Two copies of SQLite must not open one file: the engine's and the application's. */
  #checkFile(connection) {
    const { url } = this.#settings;
    if (connection.kind !== 'sqlite' || !url?.startsWith('sqlite:')) return;
    const real = (file) => (fs.existsSync(file) ? fs.realpathSync(file) : file);
    const { key } = connection.database();
    if (`sqlite:${real(url.slice('sqlite:'.length).split('?')[0])}` === key) {
      throw new OJSOutboxError('jobs and application share one SQLite file: two copies of SQLite would open it, and destroy it');
    }
  }
}

const kindOf = (url) => (/^(mysql|mariadb):/.test(url) ? 'mysql' : 'postgresql');

/** A row as it was read. */
const seen = ({ type, args, options, id }) => ({ type, args: json.parse(args), options: json.parse(options), id });

module.exports = { Outbox, OJSOutboxError, Relay, TABLE, instrument, migration, requestContext: context, transaction };
