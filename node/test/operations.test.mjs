// What operators and dashboards call: bulk, results, events, settings, dead letters, limits.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OJSClient, OJSError, setLogger } from '@openjobspec/sdk';
import { PATIENCE, eventually, inState, onEveryConnection, program } from './support.mjs';

const fatal = { retry: { maxAttempts: 1, onExhaustion: 'dead_letter' } };

onEveryConnection('operations', (make) => {
  test('jobs are listed by filter, in pages', async (t) => {
    const { client, queue, enqueue } = await make(t);
    const before = new Date(Date.now() - 60_000);
    const made = [];
    for (const n of [1, 2, 3, 4, 5]) made.push(await enqueue(n === 5 ? 'list.other' : 'list.this', [n], { priority: n }));
    await client.cancelJob(made[0].id);
    const numbers = async (filter) => (await client.listJobs({ queue, ...filter })).jobs.map(({ args }) => args[0]);
    assert.deepEqual(await numbers({ sort: 'priority', order: 'asc' }), [1, 2, 3, 4, 5]);
    assert.deepEqual(await numbers({ sort: 'priority', type: 'list.th*', state: 'available' }), [4, 3, 2]);
    assert.deepEqual(await numbers({ state: 'cancelled', since: before }), [1]);
    assert.deepEqual(await numbers({ until: before }), []);
    const page = await client.listJobs({ queue, sort: 'priority', page: 2, perPage: 2 });
    assert.deepEqual([page.jobs.map(({ id }) => id), page.total, page.page, page.perPage, page.hasMore], [[made[2].id, made[1].id], 5, 2, 2, true]);
    assert.equal((await client.listJobs({ queue, page: 3, perPage: 2 })).hasMore, false);
    await assert.rejects(client.listJobs({ state: 'done' }), { name: 'OJSInvalidRequestError', message: /use one of .*completed/ });
  });

  test('bulk enqueue: each job has an outcome, a key makes it safe to send twice', async (t) => {
    const { client, queue } = await make(t);
    const jobs = [{ type: 'a', args: [1], queue }, { type: 'NO SUCH TYPE', queue }, { type: 'b', queue }];
    const items = await client.bulkEnqueue(jobs, { idempotencyKey: `key-${queue}` });
    assert.deepEqual(items.map(({ index, status, ok }) => [index, status, ok]), [[0, 'created', true], [1, 'failed', false], [2, 'created', true]]);
    assert.deepEqual(items[0].job.args, [1]);
    assert.ok(items[1].error instanceof OJSError && items[1].error.code && items[1].job === undefined);
    const again = await client.bulkEnqueue(jobs, { idempotencyKey: `key-${queue}` });
    assert.deepEqual(again.map(({ job }) => job?.id), items.map(({ job }) => job?.id));
    assert.deepEqual((await client.bulkEnqueue(jobs, { atomic: true })).map(({ ok }) => ok), [false, false, false]);
    assert.equal((await client.queues.stats(queue)).available, 2);
    assert.deepEqual(await client.bulkEnqueue([]), []);
  });

  test('bulk cancel, retry and delete: by ids, by filter, and never by both or neither', async (t) => {
    const { client, queue, enqueue } = await make(t);
    const [first, second] = [await enqueue('a'), await enqueue('b.c')];
    const cancelled = await client.bulkCancel({ ids: [first.id, '01a1fe8f-b9ba-73b5-a496-6b4e28fbbea0'] });
    assert.deepEqual([cancelled.matched, cancelled.succeeded, cancelled.skipped], [2, 1, 1]);
    assert.deepEqual(cancelled.items.map(({ id, status }) => [id, status])[0], [first.id, 'cancelled']);
    assert.ok(cancelled.items[1].error instanceof OJSError);
    assert.equal((await client.bulkCancel({ queue, type: 'b.*' })).succeeded, 1);
    assert.equal((await client.bulkDelete({ ids: [first.id, second.id] })).succeeded, 2);
    await assert.rejects(client.getJob(first.id), { name: 'OJSNotFoundError' });
    assert.equal((await client.bulkRetry({ queue })).matched, 0);
    for (const [wrong, message] of [
      [{}, /by ids or by a filter/], [{ ids: [], queue }, /not by both/], [{ ids: first.id }, /a list of ids/], [{ kueue: 'x' }, /unknown filter 'kueue'/],
    ]) {
      await assert.rejects(client.bulkCancel(wrong), { name: 'OJSValidationError', message });
    }
  });

  test('results: now, waited for, many', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const job = await enqueue('sum', [1, 2]);
    await assert.rejects(client.result(job.id), { status: 408 });
    await assert.rejects(client.waitForResult(job.id, { timeout: 1 }), { name: 'OJSTimeoutError', code: 'timeout' });
    const waiting = client.waitForResult(job.id, { timeout: PATIENCE });
    await makeWorker({ sum: (ctx) => ({ sum: ctx.args[0] + ctx.args[1], big: 2n ** 60n }) }).start();
    const result = await waiting;
    assert.deepEqual([result.ok, result.state, result.result, result.jobId, result.attempt], [true, 'completed', { sum: 3, big: 2n ** 60n }, job.id, 1]);
    const many = await client.results([job.id, '01a1fe8f-b9ba-73b5-a496-6b4e28fbbea0']);
    assert.deepEqual([many[0].result.sum, many[1]], [3, null]);
    const controller = new AbortController();
    const given = client.waitForResult((await enqueue('never')).id, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await assert.rejects(given, { message: 'enough' });
  });

  test('events: from the oldest, filtered, live, given up', async (t) => {
    const { client, queue, enqueue } = await make(t);
    const job = await enqueue('a');
    const controller = new AbortController();
    const events = client.events({ types: ['job.*'], queues: [queue], after: '', signal: controller.signal });
    const { value: first } = await events.next();
    assert.deepEqual([first.type, first.subject], ['job.enqueued', job.id]);
    const next = events.next();
    await client.cancelJob(job.id);
    assert.equal((await next).value.type, 'job.cancelled');
    const resumed = client.events({ queues: [queue], after: first.id });
    assert.equal((await resumed.next()).value.type, 'job.cancelled');
    await resumed.return();
    const last = events.next();
    controller.abort(new Error('enough'));
    await assert.rejects(last, { message: 'enough' });
    await assert.rejects(client.events({ after: 'no such event' }).next(), (error) => error instanceof OJSError && error.status === 400);
  });

  test('queues: create, configure, get, drain, purge, delete', async (t) => {
    const { client, queue, enqueue } = await make(t);
    await client.queues.create(queue, { concurrency: 20 });
    assert.deepEqual((await client.queues.configure(queue, { max_size: 1000 })).config, { concurrency: 20, max_size: 1000 });
    assert.equal((await client.queues.get(queue)).name, queue);
    const job = await enqueue('a');
    await client.cancelJob(job.id);
    assert.equal(await client.queues.purge(queue, ['cancelled'], { olderThan: '1h' }), 0);
    assert.equal(await client.queues.purge(queue, ['cancelled']), 1);
    await client.queues.drain(queue);
    await assert.rejects(enqueue('a'), (error) => error instanceof OJSError);
    await client.queues.resume(queue);
    await enqueue('a');
    await assert.rejects(client.queues.delete(queue), { status: 409 });
    await client.queues.delete(queue, { strategy: 'discard' });
    await assert.rejects(client.queues.get(queue), { name: 'OJSNotFoundError' });
  });

  test('dead letters: get, stats, retry and discard by filter', async (t) => {
    const { client, queue, enqueue, makeWorker } = await make(t);
    const worker = makeWorker({ 'a.b': () => { throw new TypeError('no'); } });
    await worker.start();
    const jobs = [await enqueue('a.b', [], fatal), await enqueue('a.b', [], fatal)];
    for (const { id } of jobs) await inState(client, id, 'discarded');
    await worker.stop();
    assert.equal((await client.deadLetters.get(jobs[0].id)).id, jobs[0].id);
    assert.ok((await client.deadLetters.stats()).total >= 2);
    assert.equal(await client.deadLetters.retryAll({ queue, since: new Date(Date.now() - 3_600_000) }), 2);
    assert.equal((await client.getJob(jobs[0].id)).state, 'available');
    assert.equal(await client.deadLetters.discardAll({ queue }), 0);
  });

  test('limits of keys', async (t) => {
    const { client, queue, enqueue } = await make(t);
    const key = `tenant-${queue}`;
    await enqueue('a', [], { extra: { rate_limit: { key, concurrency: 1 } } });
    assert.equal((await client.rateLimits.get(key)).key, key);
    assert.ok((await client.rateLimits.list()).some((one) => one.key === key));
    await client.rateLimits.override(key, { concurrency: 5 }, { expiresAt: new Date(Date.now() + 60_000) });
    await client.rateLimits.override(key, {});
    await assert.rejects(client.rateLimits.get('no-such-key'), { name: 'OJSNotFoundError' });
  });
});

describe('log records of the core', () => {
  const script = (settings) => `
    import { OJSWorker, setLogger } from '@openjobspec/sdk';
    ${settings}
    const worker = new OJSWorker('http://127.0.0.1:1');
    worker.register('a', () => {});
    await worker.start().catch((error) => console.log('refused', error.name));
    setTimeout(() => {}, 50);
  `;
  const run = (settings) => program(['--input-type=module', '-e', script(settings)], { cwd: new URL('.', import.meta.url) });

  test('reach the logger that was set', async () => {
    const { child, line } = run(`setLogger({ warn: (text) => console.log('warned', text), info: (text) => console.log('told', text),
      debug: (text) => console.log('told', text) }, { level: 'trace' }); setInterval(() => {}, 1000);`);
    await line('refused');
    await line('told');
    child.kill();
  });

  test('that it writes while the process exits reach the logger', async () => {
    const { code, lines } = await program(['--input-type=module', '-e', `
      import { OJSClient, OJSWorker, setLogger } from '@openjobspec/sdk';
      setLogger({ warn: (text) => console.log('warned', text) });
      const client = new OJSClient('memory:exit');
      const worker = new OJSWorker({ client, handleSignals: false });
      worker.register('a', () => { process.exit(0); });
      await worker.start();
      await client.enqueue('a');`], { cwd: new URL('.', import.meta.url) }).ended;
    assert.equal(code, 0);
    assert.match(lines.join('\n'), /^warned ojs: grace period over with unfinished jobs.* jobs=1 /m);
  });

  test('are not lost on a wrong setting', () => {
    assert.throws(() => setLogger(console, { level: 'loud' }), { name: 'OJSValidationError', message: /unknown level 'loud'/ });
    assert.throws(() => setLogger({}), { name: 'OJSValidationError' });
  });
});
