// The relay, and a server in the application's own database.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import knex from 'knex';
import pg from 'pg';
import { OJSClient, OJSWorker } from '@openjobspec/sdk';
import { OJSOutboxError, Outbox, Relay, instrument, transaction } from '@openjobspec/sdk/outbox';
import { PATIENCE, defer, eventually, folder, postgres, server, signal } from './support.mjs';

/** A better-sqlite3 database with a table. */
async function shop(t, options) {
  const db = new Sqlite(path.join(folder(t), 'app.db'));
  defer(t, () => db.close());
  const outbox = new Outbox({ database: db, pollInterval: 50, ...options });
  defer(t, () => outbox.close(0));
  await outbox.migrate();
  return { db, outbox };
}

test('FA-003 the server is away when the transaction commits: the job arrives when it is back, and once', async (t) => {
  // Every connection is closed, and the port stays ours: the tests beside this one take ports as well.
  const place = createServer((socket) => socket.destroy());
  await once(place.listen(0, '127.0.0.1'), 'listening');
  defer(t, () => place.close());
  const url = `http://127.0.0.1:${place.address().port}`;
  const { db, outbox } = await shop(t, { url });
  // A process without a worker says it, too.
  const warned = new Promise((resolve) => {
    t.mock.method(console, 'warn', (text) => /the outbox is held up/.test(text) && resolve());
  });
  await outbox.start();
  let staged;
  db.transaction(() => { staged = outbox.enqueueAfterCommit('a', [1]); })();
  await eventually(() => outbox.relay().status().heldUp > 0);
  await warned;
  await new Promise((resolve) => place.close(resolve));
  const back = await server(t, { listen: new URL(url).host });
  assert.deepEqual((await back.sent(1)).map(({ id }) => id), [(await staged).id]);
  await eventually(async () => (await outbox.staged()).length === 0);
  assert.equal(outbox.relay().status().parked, 0);
});

test('FA-R002 rows that wait are sent in one request; a transport of one\'s own', async (t) => {
  const requests = [];
  const { url } = await server(t);
  const real = new OJSClient(url);
  defer(t, () => real.close());
  const transport = { request: async ({ method, path: place, body }) => {
    requests.push([place, body?.jobs?.length]);
    return { status: 200, body: await real.request(method, place, body) };
  } };
  const { db, outbox } = await shop(t, { transport });
  db.transaction(() => { for (let number = 0; number < 7; number += 1) outbox.enqueueAfterCommit('a', [number]); })();
  await eventually(() => outbox.relay().status()?.sent === 7);
  assert.deepEqual(requests.filter(([, count]) => count !== undefined), [['/jobs/batch', 7]]);
});

test('EI-001, EI-012, EI-013 arguments are encrypted before the row is written, and unique keys made before that', async (t) => {
  const SECRET = '4111-1111-1111-1111';
  const { url, sent } = await server(t);
  const db = new Sqlite(path.join(folder(t), 'app.db'));
  defer(t, () => db.close());
  const client = new OJSClient({ url, encryptionKeys: { 'k-1': Buffer.alloc(32, 7) } });
  const outbox = new Outbox({ client, database: db });
  await outbox.migrate();
  const unique = { keys: ['type', 'args'], onConflict: 'ignore' };
  db.transaction(() => [SECRET, SECRET, 'another'].forEach((secret) => outbox.enqueueAfterCommit('card.charge', [secret], { unique, priority: 7 })))();
  const rows = JSON.stringify(db.prepare('SELECT job_args, job_options FROM ojs_outbox').all());
  assert.ok(!rows.includes(SECRET) && rows.includes('ojs_encoded') && rows.includes('priority'), rows);
  await outbox.start();
  await outbox.close(PATIENCE);
  const jobs = await sent(2);
  assert.equal(jobs.length, 2);
  assert.ok(!JSON.stringify(jobs).includes(SECRET));
  await client.close();
});

test('the relay waits for the lock of a transaction in this thread without holding the thread up', async (t) => {
  const { client, sent } = await server(t);
  const { db, outbox } = await shop(t, { client, relay: false });
  db.exec('BEGIN IMMEDIATE');
  outbox.enqueueAfterCommit('a', [1]);
  let looks = 0;
  const relay = new Relay(client, () => {
    const own = new Sqlite(db.name, { timeout: 0 });
    const plain = own.transaction.bind(own);
    own.transaction = (work) => {
      looks += 1;
      return plain(work);
    };
    return own;
  }, { pollInterval: 50 });
  await relay.start();
  defer(t, () => relay.stop(0));
  await eventually(() => looks > 5);
  db.exec('COMMIT');
  assert.deepEqual((await sent(1)).map(({ args }) => args), [[1]]);
});

test('close() right after a commit flushes it', async (t) => {
  const { url, sent } = await server(t);
  const { db, outbox } = await shop(t, { url, pollInterval: '1h' });
  db.transaction(() => { outbox.enqueueAfterCommit('a', [1]); })();
  await outbox.close(PATIENCE); // by default it is five seconds, which a busy machine may need
  assert.deepEqual((await sent(1)).map(({ args }) => args), [[1]]);
});

test('any other driver: an object that executes, and a URL for the relay', async (t) => {
  const { url, sent } = await server(t);
  const databaseUrl = await postgres(t);
  const client = new pg.Client(databaseUrl);
  await client.connect();
  defer(t, () => client.end());
  const outbox = new Outbox({ url, databaseUrl, pollInterval: 50 });
  defer(t, () => outbox.close(0));
  await outbox.start();
  assert.equal(outbox.relay().running, true);
  const own = { database: 'postgresql', execute: async (sql, params) => (await client.query(sql, params)).rows };
  await outbox.migrate(own);
  await client.query('BEGIN');
  await outbox.add(own, 'a', ['lost']);
  await client.query('ROLLBACK');
  await client.query('BEGIN');
  await outbox.add(own, 'a', [1], { meta: { k: 'v' } });
  assert.deepEqual((await outbox.staged(own)).map(({ args, options }) => [args, options]), [[[1], { meta: { k: 'v' } }]]);
  await client.query('COMMIT');
  assert.deepEqual((await sent(1)).map(({ args }) => args), [[1]]);
});

test('migrations at the same time all succeed', async (t) => {
  const connection = await postgres(t);
  const pools = Array.from({ length: 6 }, () => knex({ client: 'pg', connection, pool: { min: 0 } }));
  defer(t, () => Promise.all(pools.map((pool) => pool.destroy())));
  const outbox = new Outbox({ url: 'memory:' });
  defer(t, () => outbox.close(0));
  await Promise.all(pools.map((pool) => outbox.migrate(pool)));
  assert.deepEqual(await outbox.staged(pools[0]), []);
});

test('two databases at once: each job goes with its own transaction', async (t) => {
  const { url, sent } = await server(t);
  const make = async () => instrument(knex({ client: 'pg', connection: await postgres(t), pool: { min: 0 } }));
  const [one, two] = [await make(), await make()];
  defer(t, () => Promise.all([one.destroy(), two.destroy()]));
  const outbox = new Outbox({ url, pollInterval: 50 });
  defer(t, () => outbox.close(0));
  await Promise.all([outbox.migrate(one), outbox.migrate(two)]);
  await assert.rejects(one.transaction(async (first) => {
    outbox.enqueueAfterCommit('a', ['lost']);
    await two.transaction(async () => {
      outbox.enqueueAfterCommit('a', ['innermost']);
      outbox.enqueueAfterCommit('a', ['named, lost'], { transaction: first });
    });
    throw new Error('back');
  }), /back/);
  assert.deepEqual((await sent(1)).map(({ args }) => args[0]), ['innermost']);
  // The row is marked after the server has the job.
  await eventually(async () => (await outbox.staged(two)).length === 0);
  assert.deepEqual(await outbox.staged(one), []);
});

test('a connection that is lost, or given back, in mid-transaction takes its jobs along', async (t) => {
  const { url, sent } = await server(t);
  const connectionString = await postgres(t);
  const pool = new pg.Pool({ connectionString });
  pool.on('error', () => {});
  defer(t, () => pool.end());
  const outbox = new Outbox({ url, database: pool, pollInterval: 50 });
  defer(t, () => outbox.close(0));
  await outbox.migrate();
  await assert.rejects(outbox.transaction(async (client) => {
    client.on('error', () => {});
    await outbox.enqueueAfterCommit('a', ['lost']);
    const { rows: [{ pid }] } = await client.query('SELECT pg_backend_pid() AS pid');
    await pool.query('SELECT pg_terminate_backend($1)', [pid]);
    await client.query('SELECT 1');
  }));
  const client = await pool.connect();
  await client.query('BEGIN');
  await outbox.add(client, 'a', ['given back']);
  client.release(true);
  await outbox.transaction(async () => { outbox.enqueueAfterCommit('a', ['kept']); });
  assert.deepEqual((await sent(1)).map(({ args }) => args[0]), ['kept']);
  await assert.rejects(outbox.transaction(async (inner) => {
    outbox.enqueueAfterCommit('a', ['lost']);
    await inner.query('SELECT nothing').catch(() => {});
  }), (error) => error instanceof OJSOutboxError || /aborted/.test(error.message));
  await outbox.close();
});

test('transactions of Knex without a callback are named; stray code after the end is told so', async (t) => {
  const { url, sent } = await server(t);
  const db = instrument(knex({ client: 'pg', connection: await postgres(t), pool: { min: 0 } }));
  defer(t, () => db.destroy());
  const outbox = new Outbox({ url, database: db, pollInterval: 50 });
  defer(t, () => outbox.close(0));
  await outbox.migrate();
  const trx = await db.transaction();
  outbox.enqueueAfterCommit('a', [1], { transaction: trx });
  await trx.commit();
  const back = await db.transaction();
  outbox.enqueueAfterCommit('a', [2], { transaction: back });
  await back.rollback();
  const later = signal();
  const seen = signal();
  await assert.rejects(db.transaction(async () => {
    later.promise.then(() => {
      try {
        outbox.enqueueAfterCommit('a', [3]);
      } catch (error) {
        seen.set(error);
      }
    });
    throw new Error('back');
  }), /back/);
  later.set();
  assert.equal((await seen.promise).code, 'transaction_over');
  assert.deepEqual((await sent(1)).map(({ args }) => args), [[1]]);
  await db.destroy();
});

test('a process that ends by itself has flushed its outbox', async (t) => {
  const { url, sent } = await server(t);
  const { db } = await shop(t, { url });
  const code = `
    import Sqlite from 'better-sqlite3';
    import { Outbox } from '@openjobspec/sdk/outbox';
    const db = new Sqlite(process.argv[1]);
    const outbox = new Outbox({ url: process.env.OJS_URL, database: db, pollInterval: '1h' });
    await outbox.start();
    db.transaction(() => { outbox.enqueueAfterCommit('a', [1]); })();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', code, db.name], { env: { ...process.env, OJS_URL: url }, cwd: fileURLToPath(new URL('.', import.meta.url)), timeout: PATIENCE });
  assert.deepEqual((await sent(1)).map(({ args }) => args), [[1]]);
});

test('Framework Adapters, section 6.1: a server in the same PostgreSQL: the transaction inserts the job itself', async (t) => {
  const url = await postgres(t);
  const pool = new pg.Pool({ connectionString: url });
  const db = instrument(knex({ client: 'pg', connection: url, pool: { min: 0 } }));
  defer(t, () => Promise.all([pool.end(), db.destroy()]));
  const running = await server(t, { store: url });
  for (const [database, begin] of [[pool, (work) => transaction(pool, work)], [db, (work) => db.transaction(work)]]) {
    const outbox = new Outbox({ url: running.url, database }); // and no table: there is nothing to fall back to
    let seen;
    const job = await begin(async (tx) => {
      const staged = await outbox.enqueueAfterCommit('a', [2n ** 60n], { priority: 7, meta: { k: 'v' } });
      seen = await outbox.staged(tx);
      return staged;
    });
    assert.deepEqual(seen.map(({ id }) => id), [job.id]);
    await assert.rejects(begin(async () => {
      outbox.enqueueAfterCommit('a', ['lost']);
      throw new Error('back');
    }), /back/);
    const done = signal();
    const worker = new OJSWorker({ url: running.url }).register('a', (ctx) => done.set([ctx.id, ctx.args, ctx.job.priority, ctx.meta.k]));
    await worker.start();
    assert.deepEqual(await done.promise, [job.id, [2n ** 60n], 7, 'v']);
    await worker.stop();
    assert.equal((await running.client.queues.stats('default')).available ?? 0, 0);
    assert.equal(outbox.relay().running, false, 'there is nothing to send');
    await outbox.close();
  }
});

test('tables of another server in the database: jobs go through the outbox', async (t) => {
  const url = await postgres(t);
  await server(t, { store: url });
  const other = await server(t);
  const pool = new pg.Pool({ connectionString: url });
  defer(t, () => pool.end());
  const outbox = new Outbox({ url: other.url, database: pool, pollInterval: 50 });
  defer(t, () => outbox.close(0));
  await outbox.migrate();
  const job = await outbox.transaction(() => outbox.enqueueAfterCommit('a', [1]));
  assert.deepEqual((await other.sent(1)).map(({ id }) => id), [job.id]);
  const { rows } = await pool.query('SELECT count(*)::int AS count FROM ojs_jobs');
  assert.equal(rows[0].count, 0);
});

test('the Knex that an outbox is given is instrumented by it', async (t) => {
  const db = knex({ client: 'pg', connection: await postgres(t), pool: { min: 0 } });
  defer(t, () => db.destroy());
  const outbox = new Outbox({ url: 'memory:', database: db, relay: false });
  defer(t, () => outbox.close());
  await outbox.migrate();
  await db.transaction(async (trx) => {
    outbox.enqueueAfterCommit('a', [1]);
    await Promise.resolve();
    assert.deepEqual((await outbox.staged(trx)).map(({ args }) => args), [[1]]);
    await trx.rollback();
  }).catch(() => undefined);
  assert.deepEqual(await outbox.staged(db), []);
});

test('what cannot work says so', async (t) => {
  const file = path.join(folder(t), 'app.db');
  const db = new Sqlite(file);
  const memory = new Sqlite(':memory:');
  defer(t, () => [db, memory].forEach((one) => one.close()));
  assert.throws(() => new Outbox({ url: `sqlite:${file}`, database: db }), /two copies/);
  assert.throws(() => new Outbox({ tabel: 'x' }), /unknown setting 'tabel'/);
  assert.throws(() => new Outbox({ database: 7 }), OJSOutboxError);
  assert.throws(() => instrument(db), /Knex/);
  const nowhere = knex({ client: 'pg', connection: undefined });
  await assert.rejects(new Outbox({ url: 'memory:', database: nowhere }).start(), /this Knex has no connection/);
  const called = knex({ client: 'pg', connection: () => ({}) });
  await assert.rejects(new Outbox({ url: 'memory:', database: called }).start(), /say databaseUrl/);
  await Promise.all([nowhere.destroy(), called.destroy()]);
  assert.throws(() => new Relay(new OJSClient('memory:'), 'sqlite:app.db'), /PostgreSQL and MySQL by URL/);
  await assert.rejects(new Outbox({ url: 'memory:', database: memory }).start(), /in memory/);
  await assert.rejects(transaction(db, async () => 1), /must not be async/);
  await assert.rejects(transaction({}, () => 1), /takes a pool/);
  const outbox = new Outbox({ url: 'memory:', table: 'No Table', database: db });
  await assert.rejects(outbox.migrate(), /table/);
  await assert.rejects(new Outbox('memory:').migrate(), /which database/);
});
