// Processes and threads: they end when they should, not before, and what ran goes back to the queue.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { OJSClient, OJSServer } from '@openjobspec/sdk';
import { BIN, PACKAGE, eventually, inState, program } from './support.mjs';

const SDK = new URL('../index.mjs', import.meta.url).href;

/** A server for others to reach, stopped after the test, and a client of it. */
async function server(t) {
  const running = await OJSServer.start();
  const client = new OJSClient(running.url);
  t.after(async () => {
    await client.close();
    await running.stop();
  });
  return { url: running.url, client };
}

/** By what the process has sent, which a busy server may take in when that has ended: long before the lease of an hour is over, and before
 * the server takes the jobs of a worker that has been silent for 30 seconds. */
const givenBack = (client, id) => eventually(async () => (await client.getJob(id)).state === 'available', 20_000);

/** A folder, removed after the test. */
function folder(t) {
  const made = mkdtempSync(path.join(tmpdir(), 'ojs-node-'));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

const script = (text, env = {}) => program(['--input-type=module', '-e', `import { OJSClient, OJSWorker, OJSServer } from '${SDK}';\n${text}`], { cwd: PACKAGE, env: { ...process.env, ...env } });

test('a process ends by itself when nothing is awaited any more', async () => {
  for (const text of [
    '',
    'new OJSClient("memory:");',
    'await new OJSClient("memory:").enqueue("a");',
    'const c = new OJSClient("memory:x"); c.enqueue("a").then(() => console.log("sent"));',
    'const w = new OJSWorker("memory:y").register("a", () => 1); await w.start(); await w.stop();',
    'const s = await OJSServer.start(); await new OJSClient(s.url).health(); await s.stop();',
  ]) {
    const { code, signal, lines, errors } = await script(text).ended;
    assert.deepEqual([code, signal, errors], [0, null, ''], text);
    if (text.includes('sent')) assert.deepEqual(lines, ['sent'], 'the answer was awaited');
  }
});

test('a worker and a server keep the process alive; SIGTERM ends run(), a second one the grace period', async (t) => {
  const { url, client } = await server(t);
  const job = await client.enqueue('a');
  const worker = script(`
    const worker = new OJSWorker({ shutdownTimeout: '1h', visibilityTimeout: '1h' }).register('a', async () => {
      // The first job may come before start() has answered, and until then two signals are one.
      while (worker.id === undefined) await new Promise(setImmediate);
      console.log('began');
      return new Promise(() => {});
    });
    await worker.run();
    console.log(worker.state);`, { OJS_URL: url });
  await worker.line('began');
  worker.child.kill('SIGTERM');
  // Quiet first: it still holds its job.
  await eventually(async () => (await client.getJob(job.id)).state === 'active');
  worker.child.kill('SIGINT');
  const { code, signal, lines } = await worker.ended;
  assert.deepEqual([code, signal, lines.at(-1)], [0, null, 'stopped']);
  await givenBack(client, job.id);
});

test('process.exit() and an uncaught error give running jobs back at once', async (t) => {
  const { url, client } = await server(t);
  for (const end of ['process.exit(3)', 'setImmediate(() => { throw new Error("uncaught"); })']) {
    const job = await client.enqueue('a');
    const worker = script(`
      const worker = new OJSWorker({ visibilityTimeout: '1h' }).register('a', () => { ${end}; return new Promise(() => {}); });
      await worker.run();`, { OJS_URL: url });
    const { code } = await worker.ended;
    assert.equal(code, end.includes('3') ? 3 : 1, end);
    await givenBack(client, job.id);
    await client.cancelJob(job.id);
  }
});

test('worker threads: each has its own worker; a terminated one gives its jobs back', async (t) => {
  const { url, client } = await server(t);
  const run = (handler) => new Worker(`
    const { parentPort, threadId } = require('node:worker_threads');
    const { OJSWorker } = require('@openjobspec/sdk');
    const worker = new OJSWorker({ url: '${url}', concurrency: 1 }).register('a', (ctx) => ${handler});
    parentPort.on('message', () => worker.stop().then(() => parentPort.close()));
    worker.start().then(() => parentPort.postMessage('started'));`, { eval: true });
  const threads = [run('threadId'), run('threadId')];
  const exits = threads.map((thread) => new Promise((resolve) => thread.on('exit', resolve)));
  await Promise.all(threads.map((thread) => new Promise((resolve) => thread.once('message', resolve))));
  const jobs = await client.enqueueBatch(Array.from({ length: 40 }, () => 'a'));
  const results = new Set();
  for (const { id } of jobs) results.add((await inState(client, id, 'completed')).result);
  assert.ok(results.size >= 1 && [...results].every((id) => id > 0), `${[...results]}`);
  threads.forEach((thread) => thread.postMessage('stop'));
  assert.deepEqual(await Promise.all(exits), [0, 0]);

  const hung = run('(parentPort.postMessage("began"), new Promise(() => {}))');
  const began = new Promise((resolve) => hung.on('message', (message) => message === 'began' && resolve()));
  const job = await client.enqueue('a');
  await began;
  await hung.terminate();
  await inState(client, job.id, 'available');
});

test('twenty threads load the package and end, one after the other', async () => {
  for (let round = 0; round < 20; round += 1) {
    const thread = new Worker(`
      const { OJSClient } = require('@openjobspec/sdk');
      const client = new OJSClient('memory:threads');
      client.enqueue('a').then(() => client.health());`, { eval: true });
    const code = await new Promise((resolve) => thread.on('exit', resolve));
    assert.equal(code, 0);
  }
});

test('the garbage collector may take clients and workers at any time', async () => {
  const { code, signal, errors } = await program(['--expose-gc', '--input-type=module', '-e', `
    import { OJSClient, OJSWorker, setLogger } from '${SDK}';
    setLogger(null); // the stops below are reported, rightly
    for (let n = 0; n < 50; n += 1) {
      const client = new OJSClient('memory:gc-' + n);
      const worker = new OJSWorker({ client, concurrency: 2 }).register('a', () => gc());
      await worker.start();
      await client.enqueueBatch(['a', 'a', 'a']);
      const call = client.health();
      gc();
      await call;
      if (n % 2) await worker.stop(0); else worker.shutdown(0);
    }
    gc();`], { cwd: PACKAGE }).ended;
  assert.deepEqual([code, signal, errors], [0, null, '']);
});

test('ojs server: says where it listens, serves, ends on SIGTERM with its jobs on disk', async (t) => {
  const store = `sqlite:${path.join(folder(t), 'jobs.db')}`;
  let id;
  for (const round of [1, 2]) {
    const running = program([BIN, 'server', '--listen', '127.0.0.1:0', '--store', store]);
    const url = (await running.line('listening on ')).slice('listening on '.length);
    const client = new OJSClient(url);
    if (round === 1) ({ id } = await client.enqueue('a', [1]));
    else assert.deepEqual((await client.getJob(id)).args, [1]);
    await client.close();
    running.child.kill('SIGTERM');
    const { code, signal, errors } = await running.ended;
    assert.deepEqual([code, signal, errors], [0, null, '']);
  }
});

test('ojs server: asks for the keys of a file; without them only loopback is open to everybody', async (t) => {
  const keys = path.join(folder(t), 'keys.json');
  const sha256 = createHash('sha256').update('secret').digest('hex');
  writeFileSync(keys, JSON.stringify({ keys: [{ name: 'shop', roles: ['producer'], sha256, created_at: '2026-01-01T00:00:00Z' }] }));
  const start = [BIN, 'server', '--store', 'memory:', '--listen'];
  const exposed = await program([...start, '0.0.0.0:0']).ended;
  assert.equal(exposed.code, 2);
  assert.match(exposed.errors, /--keys.*--insecure/);
  const running = program([...start, '127.0.0.1:0', '--keys', keys]);
  const url = (await running.line('listening on ')).slice('listening on '.length);
  const [stranger, client] = [new OJSClient(url), new OJSClient({ url, authToken: 'secret' })];
  await assert.rejects(stranger.enqueue('a', []), { code: 'unauthenticated' });
  assert.equal((await client.enqueue('a', [])).state, 'available');
  await Promise.all([stranger.close(), client.close()]);
  running.child.kill('SIGTERM');
  assert.equal((await running.ended).code, 0);
});

test('ojs server: takes variables of the environment, empty ones are none; writes a log as JSON', async () => {
  const wrong = await program([BIN, 'server'], { env: { ...process.env, OJS_INSECURE: 'maybe' } }).ended;
  assert.deepEqual([wrong.code, wrong.errors], [2, "ojs: OJS_INSECURE must be true or false, got 'maybe'\n"]);
  const log = { OJS_LOG_LEVEL: 'debug', OJS_LOG_FORMAT: 'json' };
  const told = { OJS_STORE: 'memory:', OJS_LISTEN: '127.0.0.1:0', OJS_KEYS: '', ...log };
  const running = program([BIN, 'server'], { env: { ...process.env, ...told } });
  // Records of the last moments of a process may be lost.
  const logged = once(running.child.stderr, 'data');
  const url = (await running.line('listening on ')).slice('listening on '.length);
  assert.match(url, /127\.0\.0\.1:\d+$/);
  assert.equal((await fetch(`${url}/ojs/v1/health`)).status, 200);
  await logged;
  running.child.kill('SIGTERM');
  const { code, errors } = await running.ended;
  assert.equal(code, 0);
  const records = errors.trimEnd().split('\n').map((line) => Object.keys(JSON.parse(line)).join());
  assert.deepEqual([...new Set(records)], ['timestamp,level,message']);
});

test('ojs worker: runs the worker of a file', async (t) => {
  const { url, client } = await server(t);
  const place = folder(t);
  writeFileSync(path.join(place, 'mail.mjs'), `
    import { OJSWorker } from '${SDK}';
    export const worker = new OJSWorker('http://127.0.0.1:1').register('a', (ctx) => { console.log('ran', ctx.queue); });
    export const other = 1;`);
  const running = program([BIN, 'worker', 'mail.mjs:worker', '--url', url, '--queues', 'mail', '--concurrency', '2'], { cwd: place });
  const job = await client.enqueue('a', [], { queue: 'mail' });
  await running.line('ran mail');
  await inState(client, job.id, 'completed');
  running.child.kill('SIGINT');
  assert.equal((await running.ended).code, 0);
  for (const [args, message] of [
    [['worker'], /^ojs: worker takes one FILE\[:NAME\]\n$/],
    [['worker', 'none.mjs'], /cannot load none.mjs/],
    [['worker', 'mail.mjs:other'], /exports no OJSWorker as other/],
    [['worker', 'mail.mjs', '--concurrency', '0'], /^ojs: --concurrency must be a whole number of at least 1, got/],
    [['serve'], /^ojs: unknown command 'serve'; did you mean 'server'\?/],
    [['server', '--liste', 'x'], /^ojs: unknown option '--liste'; did you mean '--listen'\?/],
    [['server', '--store', 'ftp:x'], /ftp/],
    [[], /^ojs: a command is needed: server or worker\n$/],
  ]) {
    const { code, errors } = await program([BIN, ...args], { cwd: place }).ended;
    assert.equal(code, 2, args.join(' '));
    assert.match(errors, message);
  }
});
