// Express: the example of the specification, the example of the README, the metadata of requests.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import express from 'express';
import express4 from 'express4';
import knex from 'knex';
import pg from 'pg';
import { OJSWorker } from '@openjobspec/sdk';
import { Outbox } from '@openjobspec/sdk/outbox';
import { instrument, ojsMiddleware, requestContext } from '../index.mjs';
import { PRINTED, defer, folder, postgres, server, signal } from './support.mjs';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const USERS = (table) => {
  table.increments('id');
  table.string('email').notNullable();
};

/** Serves an application; `post(path, body, headers)`. */
async function serve(t, app) {
  const listening = app.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  defer(t, () => listening.close());
  const { port } = listening.address();
  return (place, body = {}, headers = {}) => fetch(`http://127.0.0.1:${port}${place}`, {
    method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', 'accept-language': '', connection: 'close', ...headers },
  });
}

const DATABASES = {
  PostgreSQL: async (t) => ({ client: 'pg', connection: await postgres(t), pool: { min: 0 } }),
  SQLite: async (t) => ({ client: 'better-sqlite3', connection: { filename: path.join(folder(t), 'app.db') }, useNullAsDefault: true }),
};

/** Knex with the tables of a shop. */
async function database(t, kind) {
  const config = await DATABASES[kind](t);
  const db = knex(config);
  defer(t, () => db.destroy());
  await db.schema.createTable('users', USERS);
  await new Outbox({ database: db }).migrate();
  return { db, config };
}

for (const kind of Object.keys(DATABASES)) {
  describe(`the example of "Framework Adapters", section 8.3, as printed: ${kind}`, () => {
    test('FA-001 the server gets the job after the commit, FA-002 and none of a request that fails', async (t) => {
      const { url, sent } = await server(t);
      const { db: plain } = await database(t, kind);
      const db = instrument(plain);
      process.env.OJS_URL = url;
      const app = express().use(express.json());
      let middleware;
      const watched = (options) => (middleware = ojsMiddleware(options));
      new Function('app', 'ojsMiddleware', 'db', 'process', readFileSync(here('seed_8_3.txt'), 'utf8'))(app, watched, db, process);
      defer(t, () => middleware.close(0));
      app.use((error, _req, res, _next) => res.status(500).json({ error: error.message }));
      const post = await serve(t, app);
      // No email: the database refuses the row, and with it the job.
      assert.match((await (await post('/signup')).json()).error, /null|NULL/);
      const answer = await post('/signup', { email: 'ada@example.com' }, { 'x-request-id': 'r-1' });
      const [job] = await sent(1);
      // What is printed answers with a name that ended with the callback, and Knex's insert() answers no object with an id: null is what is sent.
      assert.deepEqual([answer.status, await answer.json()], [500, { error: 'user is not defined' }]);
      assert.deepEqual([job.type, job.args, job.meta], ['email.welcome', [null], { 'ojs.context.request_id': 'r-1' }]);
      assert.deepEqual(await db('users').pluck('email'), ['ada@example.com']);
    });
  });
}

test('the configuration of "Framework Adapters", section 5.2, as printed', async (t) => {
  const { url, sent } = await server(t);
  const { db } = await database(t, 'SQLite');
  const kept = ojsMiddleware({ ...JSON.parse(PRINTED), database: db });
  await kept.close();
  const ojs = ojsMiddleware({ ...JSON.parse(PRINTED.replace('http://localhost:8080', url)), database: instrument(db) });
  defer(t, () => ojs.close(0));
  assert.equal(ojs.outbox.table, 'ojs_outbox');
  await db.transaction(async () => { ojs.outbox.enqueueAfterCommit('a', [1]); });
  assert.deepEqual((await sent(1)).map(({ args }) => args), [[1]]);
  assert.throws(() => ojsMiddleware({ adapter: { backend_type: 'redis' } }), /'external' .* or 'database'/);
  assert.throws(() => ojsMiddleware({ url, adapter: { ojs_url: url } }), /'url' is given twice/);
  assert.throws(() => ojsMiddleware({ url, outbox: { table_nam: 'x' } }), /unknown setting 'table_nam'/);
});

test('the example of the README, as printed', async (t) => {
  const { url, sent } = await server(t);
  const { db, config } = await database(t, 'PostgreSQL');
  Object.assign(process.env, { OJS_URL: url, DATABASE_URL: config.connection });
  const [, code] = /```js\n([^]*?)```/.exec(readFileSync(here('../README.md'), 'utf8'));
  const place = folder(t);
  mkdirSync(path.join(place, 'node_modules'));
  for (const name of ['express', 'knex', 'ojs-adapter-express']) symlinkSync(here(`../../node_modules/${name}`), path.join(place, 'node_modules', name));
  writeFileSync(path.join(place, 'app.mjs'), code);
  const { app, close } = await import(pathToFileURL(path.join(place, 'app.mjs')));
  defer(t, close);
  const post = await serve(t, app);
  assert.equal((await post('/signup')).status, 500);
  const answer = await post('/signup', { email: 'ada@example.com' });
  const { id } = await answer.json();
  assert.equal(answer.status, 201);
  assert.deepEqual((await sent(1)).map(({ args }) => args), [[id]]);
  assert.deepEqual(await db('users').pluck('id'), [id]);
});

const VERSIONS = { 5: express, 4: express4 };

const overVersions = (name, run) => {
  for (const [version, framework] of Object.entries(VERSIONS)) test(`${name}; Express ${version}`, (t) => run(t, framework));
};

overVersions('FA-R001 jobs carry who, which request, trace, tenant and language; a worker hands them on', async (t, express) => {
  const { url, sent, client } = await server(t);
  const ojs = ojsMiddleware({ url, tenantId: (req) => req.get('x-company') });
  defer(t, () => ojs.close(0));
  const app = express().use(ojs, express.json());
  app.use((req, _res, next) => {
    req.user = { id: 7 }; // authentication comes after the middleware
    next();
  });
  app.post('/jobs', async (req, res) => {
    await req.ojs.enqueue('a', [1]);
    await ojs.outbox.enqueue('a', [2], { meta: { tenant_id: 'own' } });
    await req.ojs.enqueueBulk([{ type: 'a', args: [3] }]);
    await req.ojs.enqueueAfterCommit('a', [4]);
    res.json(req.ojs.meta);
  });
  const post = await serve(t, app);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headers = { 'x-request-id': 'r-1', traceparent, 'x-company': 'acme', 'accept-language': 'fr-CH, fr;q=0.9' };
  const wanted = { 'ojs.context.user_id': '7', 'ojs.context.request_id': 'r-1', traceparent, tenant_id: 'acme', 'ojs.context.locale': 'fr-CH' };
  assert.deepEqual(await (await post('/jobs', {}, headers)).json(), wanted);
  const jobs = (await sent(4)).sort((a, b) => a.args[0] - b.args[0]);
  assert.deepEqual(jobs.map(({ meta }) => meta), [wanted, { ...wanted, tenant_id: 'own' }, wanted, wanted]);

  const seen = signal();
  const worker = new OJSWorker({ client, queues: ['mail'] }).use(requestContext.restored);
  worker.register('outer', async () => {
    const { id } = await ojs.outbox.enqueue('inner', [], { queue: 'other' });
    seen.set(await client.getJob(id));
  });
  await worker.start();
  defer(t, () => worker.stop(0));
  await client.enqueue('outer', [], { queue: 'mail', meta: { tenant_id: 'acme', other: 1 } });
  assert.deepEqual((await seen.promise).meta, { tenant_id: 'acme' });
});

overVersions('FA-R003 the relay starts with the application and is flushed with it; an exception in the handler', async (t, express) => {
  const { url, sent } = await server(t);
  const connectionString = await postgres(t);
  const pool = new pg.Pool({ connectionString });
  pool.on('error', () => {});
  defer(t, () => pool.end());
  const ojs = ojsMiddleware({ url, database: pool, outbox: { enabled: true, table_name: 'app_outbox', poll_interval: 'PT1H', batch_size: 10 } });
  await ojs.outbox.migrate();
  await ojs.start();
  const relay = ojs.outbox.relay();
  assert.equal(relay.running, true);
  const app = express().use(express.json(), ojs);
  app.post('/ambient', (req, res, next) => {
    const signedUp = req.ojs.transaction(pool, async () => {
      req.ojs.enqueueAfterCommit('a', [1]);
      if (req.body.fail) throw new Error('the payment was refused');
    });
    // Express 4 does not wait for handlers.
    signedUp.then(() => res.sendStatus(201), next);
  });
  app.post('/named', async (req, res) => {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      await req.ojs.enqueueAfterCommit('a', [2], { transaction: client });
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    res.sendStatus(201);
  });
  app.use((error, _req, res, _next) => res.status(500).send(error.message));
  const post = await serve(t, app);
  assert.equal(await (await post('/ambient', { fail: true })).text(), 'the payment was refused');
  assert.equal((await post('/ambient')).status, 201);
  assert.deepEqual((await sent(1)).map(({ args }) => args), [[1]]);
  // A commit on a client of one's own is not noticed: the end of the request has the relay look (the next look of its
  // own is in an hour).
  assert.equal((await post('/named')).status, 201);
  assert.deepEqual((await sent(1)).map(({ args }) => args), [[2]]);
  await ojs.close();
  assert.equal(relay.running, false);
});

test('a relay that cannot start is told of, and requests go on', async (t) => {
  const { url } = await server(t);
  const warned = once(process, 'warning');
  const ojs = ojsMiddleware({ url, database: { database: 'postgresql', execute: () => [] } });
  defer(t, () => ojs.close(0));
  const app = express().use(ojs);
  app.post('/', (_req, res) => res.sendStatus(204));
  assert.equal((await (await serve(t, app))('/')).status, 204);
  assert.match((await warned)[0].message, /databaseUrl/);
});
