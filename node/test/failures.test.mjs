// Failures are seen without any setting: a worker process that does nothing about logging writes them to its stderr, once each.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OJSClient, OJSServer } from '@openjobspec/sdk';
import { PACKAGE, eventually, inState, program } from './support.mjs';

const SDK = new URL('../index.mjs', import.meta.url).href;

/**
 * A worker in a process of its own, which logs as it comes. It runs one job at a time, so that it does not wait for
 * another one while it is stopped. `seen(words)` is its stderr once all of them are in it.
 */
async function worker(t, code) {
  const server = await OJSServer.start();
  const client = new OJSClient(server.url);
  const running = program(['--input-type=module', '-e', `
    import { OJSWorker } from '${SDK}';
    const worker = new OJSWorker({ concurrency: 1, heartbeatInterval: 100, visibilityTimeout: '5s' });
    ${code}
    console.log('ready');
    await worker.run();`], { cwd: PACKAGE, env: { ...process.env, OJS_URL: server.url } });
  let errors = '';
  running.child.stderr.on('data', (data) => { errors += data; });
  t.after(async () => {
    running.child.kill('SIGKILL');
    await running.ended;
    await client.close();
    await server.stop();
  });
  await running.line('ready');
  return { client, ...running, seen: (...words) => eventually(() => words.every((word) => errors.includes(word)) && errors) };
}

const count = (text, word) => text.split(word).length - 1;

test('a handler that throws: each attempt, the next retry, the error with its trace; the last one says that it was', async (t) => {
  const { client, seen } = await worker(t, `worker.register('report.make', function makeReport(ctx) { throw new RangeError('no paper in tray ' + ctx.args[0]); });`);
  const job = await client.enqueue('report.make', [7], { retry: { maxAttempts: 2, initialInterval: 1, jitter: false } });
  await inState(client, job.id, 'discarded');
  const text = await seen('no paper in tray 7', 'makeReport', job.id, 'report.make', 'RangeError');
  const whole = await seen('attempt=2 of 2', 'job failed for good');
  assert.deepEqual(['attempt=1 of 2', 'attempt=2 of 2', 'runs_again', 'job failed for good'].map((word) => count(whole, word)), [1, 1, 1, 1], text);
});

test('a misspelt type, a result that cannot be kept, a time-out', async (t) => {
  const { client, seen } = await worker(t, `
    worker.register('email.send', () => 1);
    worker.register('bad.result', () => ({ list: [new Map()] }));
    worker.register('too.slow', async (ctx) => new Promise((resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))));`);
  const retry = { maxAttempts: 1 };
  const jobs = await client.enqueueBatch([{ type: 'email.snd' }, { type: 'bad.result' }, { type: 'too.slow', timeout: 50, retry }]);
  for (const { id } of jobs) await inState(client, id, 'discarded');
  await seen('email.snd', 'No handler is registered', 'bad.result', 'result.list[0]: a Map has no JSON form', 'too.slow', ...jobs.map(({ id }) => id));
});

test('a lost lease', async (t) => {
  const { client, child, seen, line } = await worker(t, `
    worker.register('held', async (ctx) => { console.log('began'); await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)); });`);
  const job = await client.enqueue('held');
  await line('began');
  // As a machine does that sleeps: it is silent until the lease is over, and another one has the job by then.
  child.kill('SIGSTOP');
  await inState(client, job.id, 'available');
  assert.equal((await client.request('POST', '/workers/fetch', { queues: ['default'], count: 1, worker_id: 'other' })).jobs[0].id, job.id);
  child.kill('SIGCONT');
  await seen(job.id, 'held', 'lease');
});
