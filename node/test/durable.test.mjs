// Progress, checkpoints and steps of handlers, against the real engine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobCancelledError, OJSClient, OJSWorker, OJSPayloadTooLargeError, testing } from '@openjobspec/sdk';
import { eventually, inState, onEveryConnection, signal } from './support.mjs';

const AGAIN = { retry: { maxAttempts: 5, initialInterval: 'PT0.05S' } };

onEveryConnection('durable', (make) => {
  test('a step runs once across attempts', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const charges = [];
    const seen = [];
    await makeWorker({
      pay: async (ctx) => {
        assert.equal(ctx.hasCheckpoint, ctx.attempt > 1);
        const page = ctx.loadCheckpoint() ?? 0;
        const charge = await ctx.step('charge', async () => ({ id: `ch_${charges.push(ctx.attempt)}` }));
        seen.push([ctx.attempt, charge.id, page, await ctx.checkpoint(page + 1)]);
        if (page < 2) throw new Error('again');
      },
    }).start();
    const job = await enqueue('pay', [], AGAIN);
    await inState(client, job.id, 'completed');
    assert.deepEqual(seen, [[1, 'ch_1', 0, 2], [2, 'ch_1', 1, 3], [3, 'ch_1', 2, 4]]);
    assert.deepEqual(charges, [1]);
    const { state } = await client.getCheckpoint(job.id);
    assert.deepEqual(state, { '$ojs.state': 3, '$ojs.steps': { charge: { id: 'ch_1' } } });
  });

  test('a handler goes on where another language stopped', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const job = await enqueue('import');
    await client.saveCheckpoint(job.id, { '$ojs.state': { row: 7 }, '$ojs.steps': { open: [1, null] } });
    const seen = [];
    await makeWorker({
      import: async (ctx) => {
        const opened = await ctx.step('open', () => assert.fail('run again'));
        seen.push(ctx.loadCheckpoint(), opened, await ctx.step('close', () => 'ä'));
        await assert.rejects(ctx.checkpoint('x'.repeat(1_100_000)), OJSPayloadTooLargeError);
        seen.push(ctx.loadCheckpoint());
      },
    }).start();
    await inState(client, job.id, 'completed');
    assert.deepEqual(seen, [{ row: 7 }, [1, null], 'ä', { row: 7 }]);
  });

  test('a lost lease is the typed error', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const [began, go, refused] = [signal(), signal(), signal()];
    await makeWorker({
      import: async (ctx) => {
        began.set();
        await go.promise;
        refused.set(await ctx.checkpoint(1).catch((error) => error));
      },
    }).start();
    const job = await enqueue('import');
    await began.promise;
    await client.cancelJob(job.id);
    go.set();
    assert.ok((await refused.promise) instanceof JobCancelledError);
    await assert.rejects(client.getCheckpoint(job.id), { code: 'not_found' });
  });

  test('of many reports the latest is sent', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const go = signal();
    await makeWorker({
      import: async (ctx) => {
        for (let percent = 0; percent <= 50; percent += 1) ctx.progress(percent / 100, 'rows', { percent });
        await go.promise;
      },
    }).start();
    const job = await enqueue('import');
    const seen = await eventually(async () => {
      const progress = await client.getProgress(job.id);
      return progress.progress === 0.5 && progress;
    });
    assert.deepEqual([seen.message, seen.data], ['rows', { percent: 50 }]);
    go.set();
    await inState(client, job.id, 'completed');
    assert.equal((await client.getProgress(job.id)).progress, 1);
  });
});

test('without a worker a run keeps what it saves', async () => {
  const worker = new OJSWorker({ url: 'http://127.0.0.1:1' });
  const seen = [];
  worker.register('import', async (ctx) => {
    ctx.progress(0.5);
    await ctx.checkpoint({ row: 1 });
    seen.push(ctx.loadCheckpoint(), await ctx.step('a', () => 2), await ctx.step('a', () => assert.fail('run again')));
  });
  testing.inline(worker);
  await new OJSClient({ url: 'http://127.0.0.1:1' }).enqueue('import');
  testing.restore();
  assert.deepEqual(seen, [{ row: 1 }, 2, 2]);
});
