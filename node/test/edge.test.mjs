// The serverless part in edge runtimes: Cloudflare's workerd, and the runtime of Vercel's edge functions. Neither has
// Node.js nor the native half.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { OJSClient } from '@openjobspec/sdk';
import { CloudflareHandler } from '@openjobspec/sdk/serverless';
import {
  NOW,
  SECRET,
  clock,
  edge,
  engine,
  failures,
  job,
  lambda,
  pushed,
  signed,
  sqsEvent,
} from './serverless_support.mjs';
import { eventually } from './support.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const KEY = 'k-1:'.concat('00'.repeat(32));

const HANDLERS = `
handler.use(async (ctx, next) => next());
handler.register('email.send', async (ctx) => {
  if (ctx.args[0] === 'fail') throw new Error('boom');
  if (ctx.args[0] === 'decline') throw new NonRetryableError('no', { code: 'card_declined' });
  if (ctx.args[0] === 'later') throw new Snooze('1h30m');
  if (ctx.args[0] === 'map') return new Map();
  return { sent: ctx.args };
});`;
const SETTINGS = `{ clock: () => ${NOW * 1000} }`;
const WORKER = `
import { CloudflareHandler, NonRetryableError, Snooze } from '@openjobspec/sdk/serverless';
const handler = new CloudflareHandler(${SETTINGS});
${HANDLERS}
export default { fetch: handler.fetch, queue: handler.queue };`;
const EDGE = `
import { NonRetryableError, Snooze, VercelHandler } from '@openjobspec/sdk/serverless';
const handler = new VercelHandler({ signingSecret: '${SECRET}', encryptionKeys: '${KEY}', clock: () => ${NOW * 1000} });
${HANDLERS}
addEventListener('fetch', (event) => event.respondWith(handler.fetch(event.request)));`;

let place;

/** One file of a program, made as Cloudflare's and Vercel's own tools do. */
function bundled(source, format) {
  const [from, to] = [path.join(place, `${format}.mjs`), path.join(place, `${format}.out.js`)];
  writeFileSync(from, source);
  const { outputFiles, metafile } = edge('esbuild').buildSync({
    entryPoints: [from],
    bundle: true,
    format,
    outfile: to,
    write: false,
    metafile: true,
    platform: 'browser',
    conditions: ['workerd', 'worker'],
    target: 'es2022',
  });
  assert.deepEqual(
    Object.keys(metafile.inputs).filter((name) => /node:|\.cjs$|\.node$/.test(name)),
    [],
    'Web APIs and ES modules alone',
  );
  return outputFiles[0].text;
}

before(() => {
  place = mkdtempSync(path.join(tmpdir(), 'ojs-edge-'));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(place, 'node_modules'));
});
process.on('exit', () => rmSync(place, { recursive: true, force: true }));

/** A Worker of Cloudflare in workerd. */
async function cloudflare(t, bindings, options = {}) {
  const { Miniflare } = edge('miniflare');
  const worker = new Miniflare({
    modules: true,
    script: bundled(WORKER, 'esm'),
    compatibilityDate: '2025-01-01',
    bindings,
    ...options,
  });
  t.after(() => worker.dispose());
  await worker.ready;
  return worker;
}

const send = (target, body, headers = signed(body)) =>
  target.dispatchFetch('http://localhost/', { method: 'POST', body, headers });

/** What every edge runtime answers to deliveries. */
async function deliveries(target) {
  let count = 0;
  const answer = async (of) => (await send(target, pushed(of, `del_${(count += 1)}`))).json();
  assert.deepEqual(await answer(job('email.send', ['ada'])), { status: 'completed', result: { sent: ['ada'] } });
  for (const [arg, code, retryable] of [
    ['fail', 'handler_error', true],
    ['decline', 'card_declined', false],
    ['later', 'snooze', true],
    ['map', 'serialization_error', false],
  ]) {
    const { status, error, ...rest } = await answer(job('email.send', [arg]));
    assert.deepEqual([status, error.code, error.retryable], ['failed', code, retryable], error.message);
    assert.deepEqual(rest, arg === 'later' ? { requeue: true, delay_ms: 5_400_000 } : {});
  }
  assert.equal((await answer(job('other'))).error.code, 'no_handler');
  // An integer that no number of JavaScript holds comes back as it went.
  const body = pushed(job('email.send', [0]), 'del_big').replace('[0]', '[12345678901234567890]');
  assert.equal(
    await (await send(target, body)).text(),
    '{"status":"completed","result":{"sent":[12345678901234567890]}}',
  );
  const plain = pushed(job());
  assert.equal((await send(target, plain, {})).status, 401);
  assert.equal((await send(target, plain, signed(plain, 'whsec_other'))).status, 401);
  assert.equal((await send(target, plain, signed(plain, SECRET, NOW - 301))).status, 401);
  const empty = await target.dispatchFetch('http://localhost/');
  assert.equal(empty.status, 405);
}

test('on Cloudflare Workers, with settings from bindings', async (t) => {
  await deliveries(await cloudflare(t, { OJS_SIGNING_SECRET: `whsec_next,${SECRET}` }));
});

test('on Cloudflare Workers, encrypted arguments', async (t) => {
  const { client, claim, url } = await engine(t);
  const producer = new OJSClient({ url, encryptionKeys: KEY });
  t.after(() => producer.close());
  await producer.enqueue('email.send', ['secret']);
  const [delivered] = await claim();
  assert.ok(!JSON.stringify(delivered).includes('secret'));
  const worker = await cloudflare(t, { OJS_SIGNING_SECRET: SECRET, OJS_ENCRYPTION_KEYS: KEY });
  const answer = await send(worker, pushed(delivered));
  assert.deepEqual((await answer.json()).result, { sent: ['secret'] });
  assert.ok(await client.getJob(delivered.id));
});

test("a queue of Cloudflare's, whose jobs are acked at the server", async (t) => {
  const { jobs, states, url } = await engine(t);
  const worker = await cloudflare(
    t,
    { OJS_URL: url },
    {
      queueProducers: { QUEUE: 'ojs' },
      queueConsumers: { ojs: { maxBatchSize: 10, maxBatchTimeout: 0, maxRetries: 0 } },
    },
  );
  const { QUEUE } = await worker.getBindings();
  const all = await jobs('ada', 'fail', 'decline');
  for (const one of all) await QUEUE.send(one);
  const expected = ['completed', 'retryable', 'discarded'];
  await eventually(async () => (await states(all)).join() === expected.join());
});

test('a consumer of a queue acknowledges what is done, and what cannot be read', async (t) => {
  const worker = await cloudflare(t, {});
  const consumer = await worker.getWorker();
  const messages = [job('email.send', ['ada']), job('email.send', ['fail']), 'not a job'].map((body, index) => ({
    id: `m${index}`,
    timestamp: new Date(NOW * 1000),
    attempts: 1,
    body,
  }));
  const { outcome, explicitAcks, retryMessages } = await consumer.queue('ojs', messages);
  assert.equal(outcome, 'ok');
  assert.deepEqual(explicitAcks, ['m0', 'm2']);
  assert.deepEqual(
    retryMessages.map(({ msgId }) => msgId),
    ['m1'],
  );
});

test('a request to Cloudflare has 30 seconds, a batch of its queues 15 minutes, or what a setting says', async (t) => {
  const timers = t.mock.method(globalThis, 'setTimeout');
  /** The seconds after which a run would have been ended. */
  const limit = async (call) => {
    timers.mock.resetCalls();
    await call();
    return Math.round(Math.max(...timers.mock.calls.map(({ arguments: [, millis] }) => millis)) / 1000);
  };
  for (const [settings, request, batch] of [
    [{}, 25, 895],
    [{ timeout: 60_000 }, 55, 55],
  ]) {
    const handler = new CloudflareHandler({ signingSecret: SECRET, clock, ...settings });
    handler.register('email.send', async () => {});
    const body = pushed(job());
    const delivery = new Request('http://localhost/', { method: 'POST', body, headers: signed(body) });
    assert.equal(await limit(() => handler.fetch(delivery)), request);
    const acks = [];
    const message = { id: 'm1', body: job(), attempts: 1, ack: () => acks.push('m1') };
    assert.equal(await limit(() => handler.queue({ messages: [message] })), batch);
    assert.deepEqual(acks, ['m1']);
  }
});

test("in the runtime of Vercel's edge functions", async () => {
  const { EdgeRuntime } = edge('edge-runtime');
  const runtime = new EdgeRuntime({ initialCode: bundled(EDGE, 'iife') });
  await deliveries(runtime);
});

test('it loads where there is neither the native half nor a Node.js module', () => {
  const program = bundled(
    "import * as all from '@openjobspec/sdk/serverless'; globalThis.names = Object.keys(all);",
    'iife',
  );
  const check = `
    const vm = require('node:vm');
    const context = vm.createContext({ crypto, performance, console });
    vm.runInContext(${JSON.stringify(program)}, context);
    console.log(context.names.includes('LambdaHandler'));`;
  assert.equal(execFileSync(process.execPath, ['-e', check], { encoding: 'utf8' }), 'true\n');
});

test('the example for Cloudflare runs', async (t) => {
  const source = readFileSync(new URL('../../examples/serverless/cloudflare/worker.mjs', import.meta.url), 'utf8');
  const worker = await cloudflare(t, { OJS_SIGNING_SECRET: SECRET }, { script: bundled(source, 'esm') });
  const body = pushed(job('email.send', ['ada@example.com']));
  // Its clock is the true one.
  const now = Math.floor(Date.now() / 1000);
  assert.deepEqual(await (await send(worker, body, signed(body, SECRET, now))).json(), {
    status: 'completed',
    result: { sent: true },
  });
});

test('the example for Vercel runs', async () => {
  const { EdgeRuntime } = edge('edge-runtime');
  const example = path.join(ROOT, 'examples', 'serverless', 'vercel', 'api', 'ojs.mjs');
  const copy = path.join(place, 'ojs.mjs');
  copyFileSync(example, copy);
  const source = `
import POST, { config } from './ojs.mjs';
if (config.runtime !== 'edge') throw new Error(config.runtime);
addEventListener('fetch', (event) => event.respondWith(POST(event.request)));`;
  const extend = (context) => Object.assign(context, { process: { env: { OJS_SIGNING_SECRET: SECRET } } });
  const runtime = new EdgeRuntime({ initialCode: bundled(source, 'iife'), extend });
  const body = pushed(job('email.send', ['ada@example.com']));
  // Its clock is the true one.
  const now = Math.floor(Date.now() / 1000);
  assert.deepEqual(await (await send(runtime, body, signed(body, SECRET, now))).json(), {
    status: 'completed',
    result: { sent: true },
  });
  assert.equal((await send(runtime, body, {})).status, 401);
});

const isRunnable = process.platform === 'linux' && Number(process.versions.node.split('.')[0]) >= 20;
const aws = { skip: isRunnable ? false : "AWS's runtime client is for Linux and Node.js 20 or later" };
test("events of SQS and of a function's URL through AWS's own runtime client", aws, async (t) => {
  const source = readFileSync(new URL('../../examples/serverless/node/app.mjs', import.meta.url), 'utf8');
  const invoke = await lambda(t, source, { env: { OJS_SIGNING_SECRET: SECRET }, isAwsClient: true });
  const batch = sqsEvent([job('email.send', ['ada@example.com']), job('email.send', ['nobody']), 'no job']);
  assert.deepEqual(failures(await invoke(batch)), ['m2', 'm3']);
  const body = pushed(job('email.send', ['ada@example.com']));
  // Its clock is the true one.
  const headers = signed(body, SECRET, Math.floor(Date.now() / 1000));
  const event = { version: '2.0', requestContext: { http: { method: 'POST' } }, headers, body };
  const { statusCode, body: text } = await invoke(event);
  assert.deepEqual([statusCode, JSON.parse(text)], [200, { status: 'completed', result: { sent: true } }]);
  assert.equal((await invoke({ ...event, headers: {} })).statusCode, 401);
  await assert.rejects(invoke({ source: 'app', detail: {} }), 'an error of the handler is one of the function');
});

test('the example for Lambda runs', async (t) => {
  const source = readFileSync(new URL('../../examples/serverless/node/app.mjs', import.meta.url), 'utf8');
  const invoke = await lambda(t, source);
  const answer = await invoke(job('email.send', ['nobody']));
  assert.deepEqual([answer.error.code, answer.error.retryable], ['invalid_address', false]);
  assert.deepEqual((await invoke(job('email.send', ['ada@example.com']))).result, { sent: true });
});
