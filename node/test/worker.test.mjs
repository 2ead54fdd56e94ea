import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { JobCancelledError, NonRetryableError, OJSClient, OJSWorker, Snooze, chain } from '@openjobspec/sdk';
import { eventually, inState, onEveryConnection, signal } from './support.mjs';

onEveryConnection('worker', (make) => {
  test('runs jobs; the return value is the result', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const seen = [];
    await makeWorker({
      'email.send': async (ctx) => {
        seen.push([ctx.type, ctx.attempt, ctx.args, ctx.meta, ctx.job.id === ctx.id]);
        return { sent: true, n: 12345678901234567890n };
      },
      'no.result': () => undefined,
    }).start();
    const sent = await enqueue('email.send', ['馬'], { meta: { a: 1 } });
    const none = await enqueue('no.result');
    assert.deepEqual((await inState(client, sent.id, 'completed')).result, { sent: true, n: 12345678901234567890n });
    assert.equal((await inState(client, none.id, 'completed')).result ?? null, null);
    assert.deepEqual(seen, [['email.send', 1, ['馬'], { a: 1 }, true]]);
  });

  test('a thousand jobs, as many at a time as was said', async (t) => {
    const { client, queue, makeWorker } = await make(t);
    let now = 0;
    let most = 0;
    const ids = new Set();
    await makeWorker({
      a: async (ctx) => {
        most = Math.max(most, (now += 1));
        ids.add(ctx.args[0]);
        await new Promise((resolve) => setImmediate(resolve));
        now -= 1;
      },
    }, { concurrency: 7 }).start();
    await client.enqueueBatch(Array.from({ length: 1000 }, (_, n) => ({ type: 'a', args: [n], queue })));
    await eventually(async () => (await client.queues.stats(queue)).completed === 1000);
    assert.deepEqual([ids.size, now, most], [1000, 0, 7]);
  });

  test('execution middleware: order, the result survives, one next()', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const order = [];
    const worker = makeWorker({ a: () => 'ok', twice: () => 1 });
    worker.use('second', async (ctx, next) => {
      order.push('second-before');
      await next();
      if (ctx.type === 'twice') await next();
      order.push('second-after');
    });
    worker.middleware.insertBefore('second', 'first', async (ctx, next) => {
      order.push('first-before');
      ctx.metadata.x = 1;
      await next();
      order.push('first-after');
    });
    worker.use(async (ctx, next) => next());
    worker.middleware.add('gone', () => assert.fail()).remove('gone');
    assert.deepEqual(worker.middleware.names(), ['first', 'second', 'middleware']);
    assert.throws(() => worker.middleware.insertAfter('nobody', 'x', () => {}), { message: /no middleware named 'nobody'; there is: first, second/ });
    assert.throws(() => worker.use('first', () => {}), { name: 'OJSMiddlewareError', message: /named 'first' already/ });
    await worker.start();
    const job = await enqueue('a');
    assert.equal((await inState(client, job.id, 'completed')).result, 'ok');
    assert.deepEqual(order, ['first-before', 'second-before', 'second-after', 'first-after']);
    const twice = await enqueue('twice', [], { retry: { maxAttempts: 1 } });
    assert.match((await inState(client, twice.id, 'discarded')).error.message, /next\(\) twice/);
    assert.throws(() => worker.use('late', () => {}), { message: /the chain is in use/ });
  });

  test('what a handler throws is the failure', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const odd = Object.create(null);
    const throwing = { get message() { throw new Error('no'); }, get stack() { throw new Error('no'); } };
    const things = [new TypeError('nö'), 'text', undefined, null, 7, odd, throwing, new AggregateError([], 'many'), { toString() { throw new Error('x'); } }];
    await makeWorker({
      'throw.it': (ctx) => { throw things[ctx.args[0]]; },
      'reject.it': async () => { throw new Error(''); },
      'for.good': () => { throw new NonRetryableError('declined', { code: 'card_declined', details: { card: 1 } }); },
      'bad.result': () => ({ self: Symbol.iterator, big: { toJSON() { throw new Error('cannot'); } } }),
      'function.result': () => () => 1,
    }).start();
    const retry = { maxAttempts: 1 };
    const jobs = await Promise.all(things.map((_, n) => enqueue('throw.it', [n], { retry })));
    const ended = await Promise.all(jobs.map(({ id }) => inState(client, id, 'discarded')));
    assert.deepEqual(ended.map(({ error }) => error.code), things.map(() => 'handler_error'));
    assert.equal(ended[0].error.message, 'nö');
    assert.equal(ended[0].error.type, 'TypeError');
    assert.match(ended[0].error.details.stack, /worker\.test\.mjs/);
    assert.match(ended[0].error.backtrace[0], /worker\.test\.mjs/);
    assert.doesNotMatch(ended[0].error.backtrace.join(' '), /node\/lib\//);
    assert.equal(ended[1].error.message, 'text');
    assert.ok(ended.every(({ error }) => error.message));
    const empty = await inState(client, (await enqueue('reject.it', [], { retry })).id, 'discarded');
    assert.equal(empty.error.message, 'Error');
    const final = await inState(client, (await enqueue('for.good')).id, 'discarded');
    assert.deepEqual([final.error.code, final.error.message, final.attempt, final.error.details.card], ['card_declined', 'declined', 1, 1]);
    for (const type of ['bad.result', 'function.result']) {
      const bad = await inState(client, (await enqueue(type)).id, 'discarded');
      assert.equal(bad.error.code, 'serialization_error', type);
    }
    const unknown = await inState(client, (await enqueue('nobody.does')).id, 'discarded');
    assert.match(unknown.error.message, /No handler is registered for job type 'nobody.does'/);
  });

  test('a failed job is tried again; events tell', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const told = [];
    const worker = makeWorker({ flaky: (ctx) => { if (ctx.attempt < 3) throw new Error('not yet'); return ctx.attempt; } });
    worker.on('failed', (ctx, error) => told.push([ctx.attempt, error.message]));
    worker.on('completed', (ctx) => told.push(ctx.attempt));
    await worker.start();
    const job = await enqueue('flaky', [], { retry: { maxAttempts: 3, initialInterval: 1, jitter: false } });
    assert.equal((await inState(client, job.id, 'completed')).result, 3);
    assert.deepEqual(told, [[1, 'not yet'], [2, 'not yet'], 3]);
  });

  test('Snooze runs it again without counting an attempt', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    let runs = 0;
    await makeWorker({ nap: () => { if ((runs += 1) === 1) throw new Snooze('10ms'); return runs; } }).start();
    const job = await inState(client, (await enqueue('nap', [], { retry: { maxAttempts: 1 } })).id, 'completed');
    assert.equal(job.result, 2);
  });

  test('a timeout fails the attempt and aborts the signal', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const reason = signal();
    let began = false;
    await makeWorker({
      slow: (ctx) => new Promise((_, reject) => {
        began = true;
        ctx.signal.addEventListener('abort', () => {
          reason.set(ctx.signal.reason);
          reject(ctx.signal.reason);
        });
      }),
    }).start();
    // On a busy machine the time may be up before the handler begins. Then no handler is there to be cancelled, and
    // another job is tried.
    await eventually(async () => {
      const job = await enqueue('slow', [], { timeout: 500, retry: { maxAttempts: 1 } });
      const failed = await inState(client, job.id, 'discarded');
      assert.equal(failed.error.code, 'timeout');
      return began;
    });
    const why = await reason.promise;
    assert.ok(why instanceof JobCancelledError);
    assert.equal(why.reason, 'timed_out');
  });

  test('a cancelled job aborts its handler, at the next heartbeat or when asked', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const started = signal();
    const ended = signal();
    await makeWorker({
      long: async (ctx) => {
        assert.equal(await ctx.heartbeat(), true);
        started.set(ctx.id);
        await eventually(async () => !(await ctx.heartbeat()));
        ended.set([ctx.cancelled, ctx.signal.aborted, ctx.cancelReason]);
        ctx.throwIfCancelled();
      },
    }).start();
    const job = await enqueue('long');
    await started.promise;
    await client.cancelJob(job.id);
    const [cancelled, aborted, reason] = await ended.promise;
    assert.deepEqual([cancelled, aborted], [true, true]);
    assert.ok(['cancelled', 'lease_lost'].includes(reason), reason);
    assert.equal((await client.getJob(job.id)).state, 'cancelled');
  });

  test('stop lets running handlers finish; jobs that do not end go back uncharged', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const [began, goOn] = [signal(), signal()];
    const worker = makeWorker({ a: async () => { began.set(); await goOn.promise; return 'finished'; } });
    await worker.start();
    const job = await enqueue('a');
    await began.promise;
    const stopping = worker.stop();
    assert.equal(worker.activeJobs, 1);
    goOn.set();
    await stopping;
    assert.equal(worker.state, 'stopped');
    assert.equal((await client.getJob(job.id)).result, 'finished');

    const [hung, aborted] = [signal(), signal()];
    const other = makeWorker({ b: (ctx) => { hung.set(); ctx.signal.addEventListener('abort', () => aborted.set(ctx.cancelReason)); return new Promise(() => {}); } });
    await other.start();
    const stuck = await enqueue('b');
    await hung.promise;
    await other.stop(20);
    const back = await client.getJob(stuck.id);
    assert.deepEqual([back.state, await aborted.promise], ['available', 'shutdown']);
    await other.stop();
  });

  test('quiet fetches no more, resume does', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const worker = makeWorker({ a: () => 1 });
    await worker.start();
    worker.quiet();
    await eventually(() => worker.state === 'quiet');
    const job = await enqueue('a');
    worker.resume();
    await inState(client, job.id, 'completed');
  });

  test('a chain hands results on', async (t) => {
    const { client, queue, makeWorker } = await make(t);
    await makeWorker({ one: (ctx) => ctx.args[0] + 1, two: (ctx) => ctx.parentResults }).start();
    const workflow = await client.workflow(chain({ type: 'one', args: [1], queue }, { type: 'two', queue }));
    const status = await eventually(async () => {
      const now = await client.getWorkflow(workflow.id);
      return now.state === 'completed' && now;
    });
    const job = await client.getJob(status.steps[1].job_id);
    assert.deepEqual([job.result, job.workflowId], [[2], workflow.id]);
  });

  test('* takes every other type', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    await makeWorker({ '*': (ctx) => `any ${ctx.type}`, known: () => 'known' }).start();
    const [any, known] = [await enqueue('x.y'), await enqueue('known')];
    assert.equal((await inState(client, any.id, 'completed')).result, 'any x.y');
    assert.equal((await inState(client, known.id, 'completed')).result, 'known');
  });

  test('handlers may use the client, and a listener that throws does no harm', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const worker = makeWorker({
      parent: async (ctx) => (await enqueue('child', [ctx.id])).id,
      child: (ctx) => ctx.args[0],
    }, { concurrency: 1 });
    const warned = signal();
    process.once('warning', warned.set);
    worker.on('completed', () => { throw new Error('listener'); });
    await worker.start();
    const parent = await inState(client, (await enqueue('parent')).id, 'completed');
    assert.equal((await inState(client, parent.result, 'completed')).result, parent.id);
    assert.match((await warned.promise).message, /listener/);
  });
});

describe('settings', () => {
  test('what is wrong is said at once', async () => {
    assert.throws(() => new OJSWorker({ url: 'memory:', queues: [] }), { message: /at least one queue/ });
    assert.throws(() => new OJSWorker({ url: 'memory:', concurrency: 0 }), { message: /concurrency must be at least 1/ });
    const yes = { url: 'memory:', concurrency: true };
    assert.throws(() => new OJSWorker(yes), { message: /concurrency must be at least 1, got true/ });
    const five = { url: 'memory:', queues: 5 };
    assert.throws(() => new OJSWorker(five), { message: /queues is a list of names, .* got 5/ });
    assert.throws(() => new OJSWorker({ url: 'memory:', queues: [1] }), { message: /queues is a list of names/ });
    assert.throws(() => new OJSWorker({ url: 'memory:', heartbeatInterval: 'x' }), { name: 'OJSValidationError' });
    for (const [settings, message] of [
      [{ queues: ['Mail Room'] }, /queues: queue must be lowercase letters/],
      [{ labels: 'eu' }, /labels must be a list of words, got "eu"/],
      [{ workerId: 'two\nlines' }, /worker_id: it must be 1 to 255 bytes/],
      [{ visibilityTimeout: 500 }, /visibility_timeout: it must be at least 1000/],
      [{ heartbeatInterval: 0 }, /heartbeat_interval: must be longer than zero/],
      [{ pollInterval: 0 }, /poll_interval: must be longer than zero/],
    ]) {
      const worker = new OJSWorker({ url: 'memory:', ...settings });
      worker.register('a', () => 1);
      await assert.rejects(worker.start(), { name: 'OJSValidationError', message });
    }
    assert.throws(() => new OJSClient({ url: 'memory:', timeout: 0 }), { message: /timeout must be longer than zero/ });
    const unpaired = { url: 'memory:', headers: ['a'] };
    assert.throws(() => new OJSClient(unpaired), { message: /headers must be names with a text each/ });
    const unknown = { name: 'OJSValidationError', message:
      /unknown setting 'queue'; did you mean 'queues'\? There are client, queues, concurrency, .*url/ };
    assert.throws(() => new OJSWorker({ url: 'memory:', queue: 'a' }), unknown);
    const client = new OJSClient({ url: 'memory:' });
    assert.throws(() => new OJSWorker({ client, queue: 'a' }), unknown);
    await client.close();
    const worker = new OJSWorker('memory:');
    await assert.rejects(worker.start(), { message: /no handlers/ });
    assert.throws(() => worker.register('a'), { message: /must be a function/ });
    worker.register('a', () => 1);
    assert.throws(() => worker.register('a', () => 1), { message: /registered already/ });
    assert.throws(() => worker.quiet(), { message: /has not been started/ });
    await worker.stop();
    assert.equal(worker.state, 'new');
    await worker.start();
    await assert.rejects(worker.start(), { message: /started once/ });
    assert.throws(() => worker.register('b', () => 1), { message: /before the worker starts/ });
    await worker.stop();
  });

  test('a worker that cannot connect says so and lets the process end', async () => {
    const worker = new OJSWorker({ url: 'sqlite:/nowhere/at/all/jobs.db' }).register('a', () => 1);
    await assert.rejects(worker.start(), { name: /OJS/ });
    assert.equal(worker.activeJobs, 0);
  });
});

describe('a transport of the user', () => {
  test('serves a worker; directives of the server are obeyed', async () => {
    for (const [directive, state] of [['quiet', 'quiet'], ['terminate', 'stopped']]) {
      const jobs = [{ id: '019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f', type: 'a', args: [12345678901234567890n], attempt: 1, queue: 'default' }];
      const seen = [];
      let say = 'running';
      const transport = {
        async request({ path, body }) {
          seen.push([path, body]);
          if (path === '/workers/fetch') return { status: 200, body: { jobs: jobs.splice(0) } };
          if (path === '/workers/heartbeat') return { status: 200, body: { state: say } };
          if (path === '/workers/ack') return { status: 200, body: { acknowledged: true } };
          return { status: 404, body: { error: { code: 'not_found', message: 'no' } } };
        },
      };
      const worker = new OJSWorker({ transport, heartbeatInterval: 10, workerId: 'w1', pollInterval: 5 }).register('a', (ctx) => ctx.args);
      await worker.start();
      const [, ack] = await eventually(() => seen.find(([path]) => path === '/workers/ack'));
      assert.deepEqual(ack.result, [12345678901234567890n]);
      const [, fetch] = seen.find(([path]) => path === '/workers/fetch');
      assert.deepEqual([fetch.worker_id, fetch.queues, fetch.visibility_timeout_ms], ['w1', ['default'], 30000]);
      say = directive;
      await eventually(() => worker.state === state);
      await worker.stop();
    }
  });
});
