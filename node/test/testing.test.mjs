import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { OJSClient, OJSWorker, Snooze, testing } from '@openjobspec/sdk';

afterEach(() => testing.restore());

const client = new OJSClient({ url: 'http://127.0.0.1:1' });
const worker = () => new OJSWorker({ url: 'http://127.0.0.1:1', queues: ['mail', 'default'] });

test('jobs stay in memory and can be asked about', async () => {
  const fake = testing.fake();
  const job = await client.enqueue('email.send', ['a'], { queue: 'mail', meta: { tenant: 1, other: 2 } });
  await client.enqueueBatch(['b', 'b']);
  assert.equal((await client.getJob(job.id)).state, 'available');
  assert.equal(fake.assertEnqueued('email.send', { args: ['a'], queue: 'mail', meta: { tenant: 1 } }).length, 1);
  fake.assertEnqueued('b', { count: 2, queue: 'default', priority: 0 });
  fake.assertNotEnqueued('email.send', { args: ['z'] });
  assert.throws(() => fake.assertEnqueued('c'), { name: 'AssertionError', message: /expected at least one 'c', found 0; enqueued were: email.send\(\["a"\]\), b/ });
  assert.throws(() => fake.assertNotEnqueued('b'), { name: 'AssertionError' });
  await fake.clear();
  assert.deepEqual(fake.enqueued(), []);
  await assert.rejects(client.getJob(job.id), { name: 'OJSNotFoundError' });
});

test('drain runs handlers and middleware, and throws what they throw', async () => {
  const fake = testing.fake();
  const ran = [];
  const mail = worker().register('email.send', async (ctx) => {
    ran.push(ctx.args[0]);
    if (ctx.args[0] === 'more') await client.enqueue('email.send', ['last'], { queue: 'mail' });
    if (ctx.args[0] === 'bad') throw new RangeError('bad address');
    if (ctx.args[0] === 'nap') throw new Snooze('1h');
    return ctx.args[0];
  });
  mail.use(async (ctx, next) => { ran.push('layer'); await next(); });
  await client.enqueue('email.send', ['more'], { queue: 'mail' });
  assert.equal(await fake.drain(mail), 2);
  assert.deepEqual(ran, ['layer', 'more', 'layer', 'last']);
  const bad = await client.enqueue('email.send', ['bad'], { retry: { maxAttempts: 1 } });
  await assert.rejects(fake.drain(mail), { name: 'RangeError', message: 'bad address' });
  assert.equal((await client.getJob(bad.id)).state, 'discarded');
  const nap = await client.enqueue('email.send', ['nap'], { retry: { maxAttempts: 1 } });
  const again = await client.enqueue('email.send', ['bad'], { retry: { maxAttempts: 1 } });
  assert.equal(await fake.drain(mail, { throwErrors: false }), 2);
  assert.notEqual((await client.getJob(nap.id)).state, 'discarded', 'a nap is no failure');
  assert.equal((await client.getJob(again.id)).error.message, 'bad address');
  await assert.rejects(fake.drain(), TypeError);
});

test('inline runs jobs as they are enqueued; fakes nest; restore ends them', async () => {
  const results = [];
  const fake = testing.inline(worker().register('a', (ctx) => { results.push(ctx.args[0]); if (ctx.args[0] < 0) throw new Error('negative'); }));
  await client.enqueue('a', [1]);
  await assert.rejects(client.enqueue('a', [-1]), { message: 'negative' });
  assert.deepEqual(results, [1, -1]);
  const inner = testing.fake();
  await client.enqueue('a', [2]);
  assert.deepEqual(results, [1, -1]);
  await inner.restore();
  await client.enqueue('a', [3]);
  assert.deepEqual(results, [1, -1, 3]);
  await fake.restore();
  await fake.restore();
  await assert.rejects(new OJSClient({ url: 'http://127.0.0.1:1', retryConfig: { maxAttempts: 1 } }).enqueue('a'), { name: 'OJSConnectionError' });
});
