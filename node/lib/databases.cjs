'use strict';
// The connections that applications write with, known by what they can do: none of their packages is needed here.
//
//   Database     where the rows are: one for every name of it (`key`)
//   Connection   what one driver's connection, pool or transaction does with it
const fs = require('node:fs');
const path = require('node:path');
const { OJSOutboxError } = require('./outbox_error.cjs');

/** A database as the relay sees it: with connections of its own. */
class Database {
  /**
   * @param kind `postgresql`, `mysql` or `sqlite`; @param key the same for all that name the same one; @param source a URL, or a function that
   * opens it; @param client makes a connection of pg that is not connected yet.
   */
  constructor(kind, key, { source, client } = {}) {
    this.kind = kind;
    this.key = key;
    this.source = source;
    this.client = client;
  }

  /** Runs a statement on a connection of its own; resolves to the first value of its first row. */
  async query(sql) {
    const client = this.client();
    // A connection that is lost at rest is reported as an event, and there is no other listener.
    client.on('error', () => {});
    await client.connect();
    try {
      const { rows } = await client.query({ text: sql, rowMode: 'array' });
      return rows[0]?.[0];
    } finally {
      await client.end();
    }
  }
}

function login({ user, password }) {
  if (typeof password === 'function') {
    throw new OJSOutboxError('the relay needs a password that does not change: say databaseUrl, or run `ojs relay` and say relay: false');
  }
  return encodeURIComponent(user ?? '') + (password ? `:${encodeURIComponent(password)}` : '');
}

/** What a URL says of PostgreSQL. */
function postgresUrl({ host, port, user, password, database, ssl }) {
  const place = encodeURIComponent(host || '/var/run/postgresql').replaceAll('%3A', ':') + (port ? `:${port}` : '');
  const tls = ssl ? `?sslmode=${ssl.rejectUnauthorized === false ? 'require' : 'verify-full'}` : '';
  return `postgresql://${login({ user, password })}@${place}/${encodeURIComponent(database ?? '')}${tls}`;
}

/** PostgreSQL as pg's classes name it. */
function postgres(client) {
  const { host, port, user, database, password } = client.connectionParameters;
  const settings = { host, port, user, database, password, ssl: client.ssl ?? client.connectionParameters.ssl };
  return new Database('postgresql', `postgresql://${user}@${host}:${port}/${database}`, {
    source: () => postgresUrl(settings),
    client: () => new client.constructor(settings),
  });
}

/** MySQL or MariaDB as the settings of mysql2 name it. */
function mysql({ host = 'localhost', port = 3306, user, password, database, socketPath, ssl }) {
  const query = new URLSearchParams();
  if (socketPath) query.set('socket', socketPath);
  if (ssl) query.set('ssl-mode', ssl.rejectUnauthorized === false ? 'REQUIRED' : 'VERIFY_IDENTITY');
  const place = `@${host}:${port}/${encodeURIComponent(database ?? '')}${query.size > 0 ? `?${query}` : ''}`;
  return new Database('mysql', `mysql://${user}${place}`, { source: () => `mysql://${login({ user, password })}${place}` });
}

/** An SQLite file; `Driver` is better-sqlite3. */
function sqlite(Driver, file) {
  if (!file || file === ':memory:') {
    throw new OJSOutboxError('an SQLite database in memory has no outbox: the relay needs a connection of its own, so give it a file');
  }
  const name = fs.existsSync(file) ? fs.realpathSync(file) : path.resolve(file);
  // No waiting inside of SQLite: the lock may be held by code of this very thread.
  return new Database('sqlite', `sqlite:${name}`, { source: () => () => new Driver(name, { timeout: 0 }) });
}

/** By what owns the settings: a pool, a client, the configuration that a Knex shares with its transactions. */
const known = new WeakMap();

function once(owner, make) {
  let database = known.get(owner);
  if (database === undefined) known.set(owner, (database = make()));
  return database;
}

/** Databases that an outbox may be in, and Knex's drivers for them. */
const KINDS = ['postgresql', 'mysql', 'sqlite'];
const KNEX = { pg: 'postgresql', mysql2: 'mysql', 'better-sqlite3': 'sqlite' };

const isPgPool = (it) => typeof it?.connect === 'function' && typeof it.query === 'function' && 'totalCount' in it;
const isPgClient = (it) => typeof it?.query === 'function' && it.connectionParameters !== undefined;
const isKnex = (it) => typeof it === 'function' && typeof it.raw === 'function' && it.client?.config !== undefined;
const isSqlite = (it) => typeof it?.prepare === 'function' && typeof it.inTransaction === 'boolean';
const isOwn = (it) => typeof it?.execute === 'function' && KINDS.includes(it.database);

/** Writes through a pool or client of pg. */
function ofPg(it) {
  const pool = isPgPool(it);
  return {
    handle: it, style: 'numeric_dollar', transaction: !pool,
    database: () => once(it, () => postgres(pool ? new it.Client(it.options) : it)),
    execute: async (sql, params) => (await it.query(sql, params)).rows,
  };
}

/** Writes through Knex, or through one of its transactions. */
function ofKnex(it) {
  const { client } = it;
  const { driver, connectionSettings, driverName } = client;
  if (!Object.hasOwn(KNEX, driverName)) {
    throw new OJSOutboxError(`no outbox through Knex's client '${client.config.client}': there is one with 'pg', 'mysql2' and 'better-sqlite3'`);
  }
  const make = () => {
    if (driverName === 'better-sqlite3') return sqlite(driver, connectionSettings.filename);
    if (Object.keys(connectionSettings ?? {}).length === 0) {
      if (!client.config.connection) {
        const why = 'set its `connection`; most often a variable of the environment is not set';
        throw new OJSOutboxError(`this Knex has no connection: ${why}`);
      }
      throw new OJSOutboxError('the connection of this Knex is a function, which the relay cannot call: say databaseUrl');
    }
    return driverName === 'mysql2' ? mysql(connectionSettings) : postgres(new driver.Client(connectionSettings));
  };
  return {
    handle: it, style: 'qmark', transaction: it.isTransaction === true, database: () => once(client.config, make),
    kind: KNEX[driverName],
    execute: async (sql, params = []) => {
      const answer = await it.raw(sql, params);
      return driverName === 'mysql2' ? answer[0] : answer?.rows ?? answer;
    },
  };
}

/** Writes through better-sqlite3, at once: its transactions cannot wait. */
function ofSqlite(it) {
  return {
    handle: it, style: 'qmark', sync: true, kind: 'sqlite',
    get transaction() {
      return it.inTransaction;
    },
    database: () => once(it, () => sqlite(it.constructor, it.memory ? ':memory:' : it.name)),
    execute: (sql, params = []) => {
      const statement = it.prepare(sql);
      if (statement.reader) return statement.all(...params);
      statement.run(...params);
      return [];
    },
  };
}

/** Writes through whatever has `{ database, execute(sql, params) }`. */
function ofOwn(it) {
  const style = it.style ?? (it.database === 'postgresql' ? 'numeric_dollar' : 'qmark');
  return { handle: it, style, kind: it.database, transaction: true, execute: async (sql, params) => it.execute(sql, params) };
}

/** What can be done with a connection, pool or transaction of the application. */
function connectionOf(it) {
  if (isKnex(it)) return ofKnex(it);
  if (isPgPool(it) || isPgClient(it)) return { kind: 'postgresql', ...ofPg(it) };
  if (isSqlite(it)) return ofSqlite(it);
  if (isOwn(it)) return ofOwn(it);
  throw new OJSOutboxError('this is no connection that the outbox knows: there are pg, Knex, better-sqlite3, and any object '
    + "{ database: 'postgresql', execute: (sql, params) => … }");
}

module.exports = { connectionOf, isKnex, isPgClient, isPgPool, isSqlite, postgresUrl };
