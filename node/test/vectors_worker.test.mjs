// The vectors of workers, chains, policies and keys. tests/vectors/judge.py is the server that workers talk to.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as sdk from '@openjobspec/sdk';
import { CLASSES, PATIENCE, eventually } from './support.mjs';
import { vectors } from './vectors_read.mjs';

const folder = new URL('../../tests/vectors/', import.meta.url);
const outcomes = vectors('outcomes', 'answers cancelled does job name requests type');
const lives = vectors('lives', 'concurrency directive grace_ms jobs name requests steps', { jobs: 'args type' });
const policies = vectors('policies', 'args error name options type', { error: 'class code field' });
const keys = vectors('keys', 'args key name options type unique');
const chains = vectors('chains', 'chain do layers name names steps trace');

let process_;
let judge;

before(async () => {
  process_ = spawn('python3', [fileURLToPath(new URL('judge.py', folder))], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(process_.stdout), 'line');
  judge = line.split(' ').at(-1);
});
// It ends with its standard input.
after(() => process_.stdin.end());

const verdicts = async (kind) => new Map((await (await fetch(`${judge}/verdicts/${kind}`)).json()).map((verdict) => [verdict.name, verdict]));

const worker = (queue, options) => new sdk.OJSWorker({ url: judge, queues: [queue], heartbeatInterval: 20, retryConfig: { maxAttempts: 1 }, ...options });

/** The handler that does what its argument says. */
async function does(ctx) {
  const [what] = ctx.args;
  if ('fail' in what) throw new Error(what.fail);
  if ('refuse' in what) throw new sdk.NonRetryableError(what.refuse, { code: what.code, details: what.details });
  if ('snooze_ms' in what) throw new sdk.Snooze(what.snooze_ms);
  if ('unserializable' in what) return () => 1;
  if ('wait' in what || 'wait_and_return' in what) {
    if (!ctx.signal.aborted) await once(ctx.signal, 'abort');
    if ('wait' in what) ctx.throwIfCancelled();
    return what.wait_and_return;
  }
  return what.return;
}

let found;
async function outcomesFound() {
  const one = worker('outcomes', { workerId: 'vectors' }).register('vector', does);
  await one.start();
  const all = await verdicts('outcomes');
  await one.stop(0);
  return all;
}

for (const { name } of outcomes) {
  test(`outcome: ${name}`, async () => {
    const verdict = (await (found ??= outcomesFound())).get(name);
    assert.equal(verdict.found, verdict.expected);
  });
}

for (const { name, jobs, steps, concurrency, grace_ms: gracePeriod } of lives) {
  test(`life: ${name}`, async () => {
    let began = 0;
    let go = false;
    const one = worker(name, { workerId: name, concurrency, gracePeriod });
    one.register('hold', async (ctx) => {
      began += 1;
      while (!go) {
        ctx.throwIfCancelled();
        await pause(2);
      }
    });
    await one.start();
    const act = {
      began: () => eventually(() => began === jobs.length), go: () => { go = true; }, quiet: () => one.quiet(), stop: () => one.shutdown(),
      stop_now: () => one.shutdown(0), stopped: () => Promise.race([one.wait(), pause(PATIENCE, undefined, { ref: false })]),
    };
    for (const step of steps) await act[step]();
    await one.stop(0);
    const verdict = (await verdicts('lives')).get(name);
    assert.equal(verdict.found, verdict.expected);
  });
}

async function withMemory(run) {
  const client = new sdk.OJSClient({ url: 'memory:' });
  try {
    await run(client);
  } finally {
    await client.close();
  }
}

for (const { name, type, args, options, error: expected } of policies) {
  test(`policy: ${name}`, () => withMemory(async (client) => {
    const error = await client.enqueue(type, args, { extra: options }).then(() => null, (refused) => refused);
    if (expected === null) return assert.equal(error, null);
    assert.equal(error.name, CLASSES[expected.class]);
    assert.deepEqual({ code: error.code, field: error.details?.field ?? null }, { code: expected.code, field: expected.field });
  }));
}

for (const { name, type, args, unique, options, key } of keys) {
  test(`key: ${name}`, () => withMemory(async (client) => {
    const all = { ...options, unique: { ...unique, on_conflict: 'reject' } };
    await client.enqueue(type, args, all);
    await assert.rejects(client.enqueue(type, args, all), (error) => error.details.unique_key === key);
  }));
}

/** A layer of either chain that writes down when it is passed. */
const layer = (name, act, trace) => async (subject, next) => {
  trace.push(`${name}>`);
  if (act === 'stop') return undefined;
  if (act === 'fail_before') throw new Error(name);
  if (act === 'change') subject.meta = { ...subject.meta, by: name };
  const result = await next(subject);
  if (act === 'fail_after') throw new Error(name);
  trace.push(`<${name}`);
  return result;
};

const METHODS = { add: 'add', prepend: 'prepend', insert_before: 'insertBefore', insert_after: 'insertAfter', remove: 'remove' };

for (const vector of chains) {
  test(`chain: ${vector.name}`, () => withMemory(async (client) => {
    const one = new sdk.OJSWorker({ client });
    const [sent, ran] = [[], []];
    for (const [which, chain, trace] of [['enqueue', client.middleware, sent], ['execution', one.middleware, ran]]) {
      if (!['both', which].includes(vector.chain)) continue;
      const steps = vector.do.map(([method, ...names]) => {
        try {
          chain[METHODS[method]](...names, ...(method === 'remove' ? [] : [layer(names.at(-1), vector.layers[names.at(-1)], trace)]));
          return 'ok';
        } catch (error) {
          assert.equal(error.name, 'OJSMiddlewareError');
          return 'error';
        }
      });
      assert.deepEqual([steps, chain.names()], [vector.steps, vector.names]);
    }
    if (vector.trace) assert.deepEqual(await oneJob(client, one, sent, ran), vector.trace);
  }));
}

/** What a job went through in both chains. */
async function oneJob(client, one, sent, ran) {
  one.register('a', () => { ran.push('handler'); });
  let job;
  try {
    job = await client.enqueue('a', [], { retry: { maxAttempts: 1 } });
  } catch (error) {
    return { enqueue: error.name === 'OJSNotEnqueuedError' ? 'dropped' : 'failed', sent };
  }
  await one.start();
  const ended = await eventually(async () => {
    const now = await client.getJob(job.id);
    return ['completed', 'discarded'].includes(now.state) && now;
  });
  await one.stop(0);
  return { enqueue: 'enqueued', sent, ran, state: ended.state, by: ended.meta?.by ?? null };
}

// tests/vectors/published.py: no exchange, no route for results, attempts from 0, lists that are null, other forms of
// errors.
test('a published server costs features and no jobs', async () => {
  const { url } = await (await fetch(`${judge}/published`)).json();
  const client = new sdk.OJSClient(url);
  const one = new sdk.OJSWorker({ client, workerId: 'w', heartbeatInterval: 20 });
  one.register('email.send', async ({ attempt }) => {
    if (attempt === 1) throw new Error('the first attempt fails');
    return { attempt };
  });
  await one.start();
  const { id } = await client.enqueue('email.send', [7]);
  assert.deepEqual((await client.waitForResult(id, { timeout: PATIENCE })).result, { attempt: 2 });
  await one.stop(0);
  for (const part of ['queues', 'deadLetters', 'cron']) assert.deepEqual(await client[part].list(), []);
  for (const ask of ['getJob', 'cancelJob']) {
    await assert.rejects(client[ask]('019461a8-0000-7000-8000-00000000ffff'), sdk.OJSNotFoundError);
  }
  await client.close();
});
