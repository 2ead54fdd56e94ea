// NestJS: the example of the README, handlers, lifecycle, the metadata of requests.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Body, Controller, Inject, Injectable, Module, Post, Scope } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import knex from 'knex';
import { OJSClient } from '@openjobspec/sdk';
import typescript from '../../../node_modules/typescript/lib/typescript.js';
import { OjsHandler, OjsModule, OjsService, OjsWorkerHost, instrument } from '../index.mjs';
import { PATIENCE, PRINTED, defer, eventually, folder, postgres, server, signal } from '../../ojs-adapter-express/test/support.mjs';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

/** TypeScript with decorators, as Nest's own command compiles it, and imported. */
async function run(t, source, name = 'app') {
  const place = folder(t);
  symlinkSync(here('../../node_modules'), path.join(place, 'node_modules'));
  const { outputText } = typescript.transpileModule(source, { compilerOptions: {
    module: typescript.ModuleKind.ESNext, target: typescript.ScriptTarget.ES2022, experimentalDecorators: true, emitDecoratorMetadata: true,
  } });
  writeFileSync(path.join(place, `${name}.mjs`), outputText);
  return import(pathToFileURL(path.join(place, `${name}.mjs`)));
}

/** Knex with the tables of a shop. */
async function database(t) {
  const url = await postgres(t);
  const db = instrument(knex({ client: 'pg', connection: url, pool: { min: 0 } }));
  defer(t, () => db.destroy());
  await db.schema.createTable('users', (table) => {
    table.increments('id');
    table.string('email').notNullable();
  });
  const outbox = new OjsService({ database: db });
  await outbox.migrate();
  return { db, url };
}

/** An application context without HTTP; closed after the test. */
async function context(t, metadata) {
  class App {}
  Module(metadata)(App);
  const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false });
  defer(t, () => app.close());
  return app;
}

const decorated = (Class, method, decorator) => {
  decorator(Class.prototype, method, Object.getOwnPropertyDescriptor(Class.prototype, method));
  Injectable()(Class);
  return Class;
};

test('the configuration of "Framework Adapters", section 5.2, as printed', async (t) => {
  const { url, sent } = await server(t);
  const { db } = await database(t);
  const config = JSON.parse(PRINTED.replace('http://localhost:8080', url));
  const app = await context(t, { imports: [OjsModule.forRoot({ ...config, database: db })] });
  await db.transaction(async () => { app.get(OjsService).enqueueAfterCommit('a', [1]); });
  assert.deepEqual((await sent(1)).map(({ args }) => args), [[1]]);
});

test('FA-001, FA-002, FA-R001, FA-R003: the example of the README, as printed', async (t) => {
  const { url, client } = await server(t);
  const { db, url: databaseUrl } = await database(t);
  Object.assign(process.env, { OJS_URL: url, DATABASE_URL: databaseUrl, PORT: '0' });
  const [, code] = /```ts\n([^]*?)```/.exec(readFileSync(here('../README.md'), 'utf8'));
  const printed = signal();
  const log = console.log;
  console.log = (...words) => (words[0] === 'welcome' ? printed.set(words) : log(...words));
  defer(t, () => { console.log = log; });
  const { app } = await run(t, code);
  let open = true;
  defer(t, async () => {
    if (open) await app.close();
    await app.get('db', { strict: false }).destroy();
  });
  const post = (body) => fetch(`${base}/signup`, {
    method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', 'x-request-id': 'r-1', connection: 'close' },
  });
  const base = (await app.getUrl()).replace('[::1]', 'localhost');
  assert.equal((await post({})).status, 500, 'the database refuses the row');
  const answer = await post({ email: 'ada@example.com' });
  const { id } = await answer.json();
  assert.equal(answer.status, 201);
  assert.deepEqual(await printed.promise, ['welcome', id, 'r-1']);
  const counts = await eventually(async () => {
    const found = await client.queues.stats('default');
    return found.completed === 1 && found;
  });
  assert.deepEqual([counts.available ?? 0, counts.active ?? 0], [0, 0], 'nothing of the request that failed');
  assert.deepEqual(await db('users').pluck('id'), [id]);
  const ojs = app.get(OjsService, { strict: false });
  const host = app.get(OjsWorkerHost, { strict: false });
  assert.equal(ojs.relay().running, true);
  await app.close();
  open = false;
  assert.deepEqual([host.worker.state, ojs.client.constructor.name], ['stopped', 'OJSClient']);
  await assert.rejects(ojs.client.health(), { name: 'OJSClosedError' });
});

test('the lines of the README for TypeORM, as printed: with what an EntityManager does, query(sql, params)', async (t) => {
  const { url, sent } = await server(t);
  const { db, url: databaseUrl } = await database(t);
  const ojs = new OjsService({ url, databaseUrl });
  defer(t, () => ojs.close(0));
  const [, code] = /```js\n([^]*?)```/.exec(readFileSync(here('../README.md'), 'utf8'));
  const lines = new (Object.getPrototypeOf(async () => {}).constructor)('ojs', 'manager', 'user', code);
  for (const end of ['ROLLBACK', 'COMMIT']) {
    const connection = await db.client.acquireConnection();
    const manager = { query: async (sql, params) => (await connection.query(sql, params)).rows };
    await manager.query('BEGIN');
    await lines(ojs, manager, { id: end });
    await manager.query(end);
    await db.client.releaseConnection(connection);
  }
  ojs.wake();
  assert.deepEqual((await sent(1)).map(({ args }) => args), [['COMMIT']]);
});

test('FA-003, FA-R002, EI-001, EI-012, EI-013: encrypted rows that an earlier process left go together when the application starts', async (t) => {
  const { url, sent } = await server(t);
  const { db } = await database(t);
  const client = new OJSClient({ url, encryptionKeys: { 'k-1': Buffer.alloc(32, 7) } });
  defer(t, () => client.close());
  const earlier = new OjsService({ client, database: db, relay: false });
  const unique = { keys: ['type', 'args'], onConflict: 'ignore' };
  await db.transaction(async (trx) => {
    for (const number of ['4111 1111', '4111 1111', '4222 2222']) {
      await earlier.enqueueAfterCommit('card.charge', [number], { unique });
    }
    const rows = JSON.stringify(await earlier.staged(trx));
    assert.ok(!rows.includes('4111 1111') && rows.includes('ojs_encoded'), rows);
  });
  await context(t, { imports: [OjsModule.forRoot({ url, database: db })] });
  assert.ok(!JSON.stringify(await sent(2)).includes('4111 1111'));
});

test('FA-002 an exception in the controller behind the job', async (t) => {
  const { url, sent } = await server(t);
  const { db } = await database(t);
  class Signup {
    constructor(ojs) {
      this.ojs = ojs;
    }

    async create({ email, fail }) {
      return db.transaction(async (trx) => {
        await trx('users').insert({ email });
        this.ojs.enqueueAfterCommit('email.welcome', [email]);
        if (fail) throw new Error('the payment was refused');
        return { email };
      });
    }
  }
  Inject(OjsService)(Signup, undefined, 0);
  Body()(Signup.prototype, 'create', 0);
  Post()(Signup.prototype, 'create', Object.getOwnPropertyDescriptor(Signup.prototype, 'create'));
  Controller('signup')(Signup);
  class App {}
  Module({ imports: [OjsModule.forRoot({ url, database: db })], controllers: [Signup] })(App);
  const app = await NestFactory.create(App, { logger: false, abortOnError: false });
  defer(t, () => app.close());
  await app.listen(0, '127.0.0.1');
  const post = async (body) => (await fetch(`${await app.getUrl()}/signup`, {
    method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', connection: 'close' },
  })).status;
  assert.deepEqual([await post({ email: 'eve@example.com', fail: true }), await post({ email: 'ada@example.com' })], [500, 201]);
  assert.deepEqual((await sent(1)).map(({ args }) => args), [['ada@example.com']]);
  assert.deepEqual(await db('users').pluck('email'), ['ada@example.com']);
});

test('handlers see the services of the application; the jobs that they enqueue carry on the context', async (t) => {
  const { url, client } = await server(t);
  const { db } = await database(t);
  const seen = signal();
  class Mails {
    constructor(ojs) {
      this.ojs = ojs;
    }

    async first(ctx) {
      await this.ojs.transaction(db, async () => { this.ojs.enqueueAfterCommit('second', [ctx.args[0] + 1]); });
      return 'done';
    }

    second(ctx) {
      seen.set([ctx.args, ctx.meta]);
    }
  }
  Inject(OjsService)(Mails, undefined, 0);
  decorated(Mails, 'first', OjsHandler('first'));
  decorated(Mails, 'second', OjsHandler('second'));
  const app = await context(t, {
    imports: [OjsModule.forRootAsync({ inject: ['URL'], imports: [await settings({ URL: url })], useFactory: async (from) => ({ url: from, database: db, pollInterval: 50 }) })],
    providers: [Mails],
  });
  const { id } = await client.enqueue('first', [1], { meta: { tenant_id: 'acme' } });
  assert.equal((await client.waitForResult(id, { timeout: PATIENCE })).result, 'done');
  assert.deepEqual(await seen.promise, [[2], { tenant_id: 'acme' }]);
  assert.equal(app.get(OjsWorkerHost).worker.state, 'running');
});

/** A module that provides values. */
async function settings(values) {
  class Settings {}
  const providers = Object.entries(values).map(([provide, useValue]) => ({ provide, useValue }));
  Module({ providers, exports: providers.map(({ provide }) => provide) })(Settings);
  return Settings;
}

test('no worker where it is not wanted, nor without handlers; handlers of a request are refused', async (t) => {
  const { url } = await server(t);
  class Mails {
    welcome() {}
  }
  decorated(Mails, 'welcome', OjsHandler('email.welcome'));
  const quiet = await context(t, { imports: [OjsModule.forRoot({ url, worker: false })], providers: [Mails] });
  assert.equal(quiet.get(OjsWorkerHost).worker, undefined);
  const empty = await context(t, { imports: [OjsModule.forRoot({ url })] });
  assert.equal(empty.get(OjsWorkerHost).worker, undefined);
  assert.equal((await empty.get(OjsService).enqueueAfterCommit('a', [1])).state, 'available');
  class PerRequest {
    welcome() {}
  }
  decorated(PerRequest, 'welcome', OjsHandler('email.welcome'));
  Injectable({ scope: Scope.REQUEST })(PerRequest);
  await assert.rejects(context(t, { imports: [OjsModule.forRoot({ url })], providers: [PerRequest] }), /make it a singleton/);
  await assert.rejects(context(t, { imports: [OjsModule.forRoot({ url, tabel: 'x' })] }), /unknown setting 'tabel'/);
});

test('settings of a worker without a handler are warned of', async (t) => {
  for (const [worker, warned] of [[{ queues: ['mail'] }, 1], [undefined, 0], [false, 0]]) {
    const said = [];
    class App {}
    Module({ imports: [OjsModule.forRoot({ url: 'memory:', worker })] })(App);
    const logger = { log() {}, error() {}, warn: (text) => said.push(text) };
    const app = await NestFactory.createApplicationContext(App, { logger, abortOnError: false });
    defer(t, () => app.close());
    assert.equal(said.filter((text) => /no method .* has @OjsHandler/.test(text)).length, warned, said.join());
  }
});

test('options of a handler hold for all jobs of its type, also where another process has the worker', async (t) => {
  class Mails {
    defaults() {}
  }
  decorated(Mails, 'defaults', OjsHandler('mail.defaults', { queue: 'mail', retry: 7, timeout: '30s' }));
  const module = OjsModule.forRoot({ url: 'memory:', relay: false, worker: false });
  const app = await context(t, { imports: [module], providers: [Mails] });
  assert.equal(app.get(OjsWorkerHost).worker, undefined);
  const ojs = app.get(OjsService);
  const job = await ojs.enqueue('mail.defaults', [1]);
  assert.deepEqual([job.queue, job.maxAttempts, job.timeoutMs], ['mail', 7, 30_000]);
  assert.equal((await ojs.enqueue('mail.defaults', [1], { queue: 'urgent' })).queue, 'urgent');

  class Wrong {
    wrong() {}
  }
  decorated(Wrong, 'wrong', OjsHandler('mail.wrong', { retries: 7 }));
  const other = OjsModule.forRoot({ url: 'memory:', relay: false });
  await assert.rejects(context(t, { imports: [other], providers: [Wrong] }),
    { message: /unknown option 'retries'; did you mean 'retry'/ });
});
