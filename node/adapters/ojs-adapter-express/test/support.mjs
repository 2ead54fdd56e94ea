// Helpers of the tests: databases and servers of their own, the same steps with every driver.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import Sqlite from 'better-sqlite3';
import knex from 'knex';
import pg from 'pg';
import { OJSClient, OJSServer } from '@openjobspec/sdk';
import { instrument } from '@openjobspec/sdk/outbox';
import { PATIENCE, eventually, signal } from '../../../test/support.mjs';

export { PATIENCE, eventually, signal };

let names = 0;
const cleaning = new WeakMap();

/** Done after the test, the last one first (`t.after` does the first one first, and would drop databases that are in use). */
export function defer(t, work) {
  if (!cleaning.has(t)) {
    cleaning.set(t, []);
    t.after(async () => {
      for (const each of cleaning.get(t).reverse()) await each();
    });
  }
  cleaning.get(t).push(work);
}

/** A folder, removed after the test. */
export function folder(t) {
  const made = mkdtempSync(path.join(tmpdir(), 'ojs-adapter-'));
  defer(t, () => rmSync(made, { recursive: true }));
  return made;
}

/** The URL of an empty PostgreSQL database, dropped after the test. */
export async function postgres(t) {
  const server = process.env.OJS_TEST_POSTGRES;
  assert.ok(server, 'OJS_TEST_POSTGRES names no PostgreSQL server: run this under `postgres-fixture --`, as scripts/check.py does');
  const url = new URL(server);
  const name = `node_${process.pid}_${(names += 1)}`;
  const admin = async (sql) => {
    const client = new pg.Client(server);
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await admin(`CREATE DATABASE ${name}`);
  // Without FORCE the server waits up to five seconds for connections that are being closed. A connection that it ends
  // by force gets an error that no longer has a listener.
  defer(t, () => admin(`DROP DATABASE ${name}`).catch(() => admin(`DROP DATABASE ${name} WITH (FORCE)`)));
  url.pathname = `/${name}`;
  return url.href;
}

/** The URL of an empty MariaDB database, dropped after the test. */
export async function mariadb(t) {
  const server = process.env.OJS_TEST_MYSQL;
  assert.ok(server, 'OJS_TEST_MYSQL names no MariaDB server: run this under `mariadb-fixture`, as scripts/check.py does');
  const url = new URL(server);
  const name = `node_${process.pid}_${(names += 1)}`;
  const admin = async (sql) => {
    const client = knex({ client: 'mysql2', connection: server });
    await client.raw(sql).finally(() => client.destroy());
  };
  await admin(`CREATE DATABASE ${name}`);
  defer(t, () => admin(`DROP DATABASE ${name}`));
  url.pathname = `/${name}`;
  return url.href;
}

/** A server, stopped after the test, and what it was sent: `sent(count)` waits for so many jobs and takes them. */
export async function server(t, options) {
  const running = await OJSServer.start(options);
  const client = new OJSClient(running.url);
  defer(t, async () => {
    await client.close();
    await running.stop();
  });
  const taken = async () => (await client.request('POST', '/workers/fetch', { queues: ['default'], count: 100, worker_id: 'test' })).jobs;
  const sent = async (count) => {
    const found = [];
    await eventually(async () => {
      found.push(...await taken());
      return found.length >= count;
    });
    assert.equal(found.length, count, inspect(found));
    return found;
  };
  return { url: running.url, client, sent, taken };
}

/** Generators are written once and run with drivers that wait and with one that cannot: they yield functions. */
const resume = (run, { error, value }) => (error === undefined ? run.next(value) : run.throw(error));
const waiting = (steps) => async (tx) => {
  const run = steps(tx);
  let step = run.next();
  while (!step.done) step = resume(run, await (async () => step.value())().then((value) => ({ value }), (error) => ({ error })));
  return step.value;
};
const atOnce = (steps) => (tx) => {
  const run = steps(tx);
  let step = run.next();
  while (!step.done) {
    let outcome;
    try {
      outcome = { value: step.value() };
    } catch (error) {
      outcome = { error };
    }
    step = resume(run, outcome);
  }
  return step.value;
};

const USERS = 'CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL)';

async function withKnex(t, config) {
  const db = instrument(knex({ useNullAsDefault: true, ...config }));
  defer(t, () => db.destroy());
  await db.raw(USERS);
  return {
    db,
    transaction: (steps) => db.transaction(waiting(steps)),
    nested: (trx, steps) => () => trx.transaction(waiting(steps)),
    insert: (trx, id) => () => trx('users').insert({ id, email: 'a@example.com' }),
    users: async () => (await db('users').select('id').orderBy('id')).map(({ id }) => id),
  };
}

/** The same steps, by driver: `transaction(function* (tx) { yield insert(tx, 1); … })`; `cut(tx)` where there is a connection to lose. */
export const DRIVERS = {
  async 'Knex, PostgreSQL'(t) {
    const url = await postgres(t);
    const driver = await withKnex(t, { client: 'pg', connection: url, pool: { min: 0, max: 4 } });
    return {
      ...driver, url,
      readOnly: (steps) => driver.db.transaction(async (trx) => {
        await trx.raw('SET TRANSACTION READ ONLY');
        return waiting(steps)(trx);
      }),
      cut: (trx) => async () => {
        const { rows: [{ pid }] } = await trx.raw('SELECT pg_backend_pid() AS pid');
        await driver.db.raw('SELECT pg_terminate_backend(?)', [pid]);
      },
    };
  },

  async 'Knex, MariaDB'(t) {
    const url = await mariadb(t);
    const driver = await withKnex(t, { client: 'mysql2', connection: url, pool: { min: 0, max: 4 } });
    return {
      ...driver, url,
      readOnly: (steps) => driver.db.transaction(waiting(steps), { readOnly: true }),
      cut: (trx) => async () => {
        const [[{ id }]] = await trx.raw('SELECT CONNECTION_ID() AS id');
        await driver.db.raw(`KILL CONNECTION ${id}`);
      },
    };
  },

  async 'Knex, SQLite'(t) {
    const filename = path.join(folder(t), 'app.db');
    const driver = await withKnex(t, { client: 'better-sqlite3', connection: { filename } });
    return { ...driver, readOnly: async (steps) => {
      await driver.db.raw('PRAGMA query_only = 1');
      return driver.db.transaction(waiting(steps)).finally(() => driver.db.raw('PRAGMA query_only = 0'));
    } };
  },

  async pg(t, outbox) {
    const url = await postgres(t);
    const db = new pg.Pool({ connectionString: url, max: 4 });
    db.on('error', () => {}); // connections that a test has cut
    defer(t, () => db.end());
    await db.query(USERS);
    return {
      db, url,
      transaction: (steps) => outbox().transaction(db, waiting(steps)),
      nested: (client, steps) => () => outbox().transaction(client, waiting(steps)),
      insert: (client, id) => () => client.query("INSERT INTO users VALUES ($1, 'a@example.com')", [id]),
      users: async () => (await db.query('SELECT id FROM users ORDER BY id')).rows.map(({ id }) => id),
      readOnly: (steps) => outbox().transaction(db, async (client) => {
        await client.query('SET TRANSACTION READ ONLY');
        return waiting(steps)(client);
      }),
      cut: (client) => async () => {
        client.on('error', () => {});
        const { rows: [{ pid }] } = await client.query('SELECT pg_backend_pid() AS pid');
        await db.query('SELECT pg_terminate_backend($1)', [pid]);
      },
    };
  },

  async 'better-sqlite3'(t, outbox) {
    const db = new Sqlite(path.join(folder(t), 'app.db'));
    defer(t, () => db.close());
    db.exec(USERS);
    return {
      db,
      transaction: (steps) => outbox().transaction(db, atOnce(steps)),
      nested: (_db, steps) => () => db.transaction(() => atOnce(steps)(db))(),
      insert: (_db, id) => () => db.prepare("INSERT INTO users VALUES (?, 'a@example.com')").run(id),
      users: async () => db.prepare('SELECT id FROM users ORDER BY id').all().map(({ id }) => id),
      readOnly: (steps) => {
        db.pragma('query_only = 1');
        return outbox().transaction(db, atOnce(steps)).finally(() => db.pragma('query_only = 0'));
      },
    };
  },
};

/** Makes shops: `shop(t, driver, options)` is a database with an outbox of `make`, and a server. */
export const shopOf = (make) => async (t, driver, { migrate = true, ...options } = {}) => {
  let outbox;
  const running = await server(t);
  const made = await DRIVERS[driver](t, () => outbox);
  // Made last: closed before the database goes.
  outbox = await make(t, { url: running.url, database: made.db, pollInterval: 50, ...options });
  if (migrate) await outbox.migrate();
  return { ...running, ...made, outbox };
};

/** As the specification prints it, "Framework Adapters", section 5.2. */
export const PRINTED = `
{
  "adapter": {
    "ojs_url": "http://localhost:8080",
    "backend_type": "external",
    "outbox": {
      "enabled": true,
      "table_name": "ojs_outbox",
      "poll_interval": "PT1S",
      "batch_size": 100
    }
  }
}
`;
