// Versions of the arguments of a job type: what a worker takes, and how old arguments become new ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OJSClient, OJSValidationError, OJSWorker, testing } from '@openjobspec/sdk';
import { eventually, onEveryConnection } from './support.mjs';

const addressed = ([to]) => [{ to }];
const copied = async ([message]) => [{ ...message, copy: null }];

onEveryConnection('versions', (make) => {
  test('a worker takes the versions of its handler', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const [old, recent] = [makeWorker(), makeWorker()];
    old.register('versions.mail', (ctx) => `old ${ctx.args[0]}`, { versions: ['1'] });
    recent.register('versions.mail', (ctx) => `new ${ctx.args[0]}`, { versions: '>=2.0 <3.0' });
    const held = await enqueue('versions.mail', ['3'], { version: '3' });
    await Promise.all([old.start(), recent.start()]);
    const wanted = { 1: 'old 1', 2.4: 'new 2.4', 2: 'new 2', '1.0.0': 'old 1.0.0' };
    for (const [version, result] of Object.entries(wanted)) {
      const job = await enqueue('versions.mail', [version], { version });
      assert.equal((await client.waitForResult(job.id)).result, result);
    }
    const { state, attempt } = await client.getJob(held.id);
    assert.deepEqual([state, attempt], ['available', 0]);
  });

  test('old arguments become those of the handler', async (t) => {
    const { client, enqueue, makeWorker, queue } = await make(t);
    const seen = [];
    const worker = makeWorker().use('outer', (ctx, next) => {
      seen.push(ctx.args);
      return next();
    });
    const task = worker.register('versions.mail', (ctx) => [ctx.args[0], ctx.job.version], { version: '3.1', queue });
    worker.transform('versions.mail', '2', '3.0', copied).transform('versions.mail', '1.0', '2', addressed);
    await worker.start();
    const jobs = [];
    for (const [argument, version] of [['ada', '1'], [{ to: 'bob' }, '2.0'], [{ to: 'eve' }, '3.9']]) {
      jobs.push(await enqueue('versions.mail', [argument], { version }));
    }
    jobs.push(await task.enqueue({ to: 'joe' }));
    const results = [];
    for (const job of jobs) results.push((await client.waitForResult(job.id)).result);
    assert.deepEqual(results, [
      [{ to: 'ada', copy: null }, '3.0'], [{ to: 'bob', copy: null }, '3.0'], [{ to: 'eve' }, '3.9'],
      [{ to: 'joe' }, '3.1'],
    ]);
    const changed = seen.some(([message]) => message.to === 'ada' && message.copy === null);
    assert.ok(changed, 'the middleware sees what the handler sees');
  });

  test('a change that fails ends the job', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const worker = makeWorker({ 'versions.mail': () => undefined, 'versions.note': () => undefined });
    worker.transform('versions.note', '1', '2', () => { throw new Error('no address'); });
    worker.transform('versions.mail', '1', '2', () => ({ no: 'array' }));
    await worker.start();
    for (const [type, message] of [
      ['versions.note', /cannot become those of version 2: no address/],
      ['versions.mail', /must return an array of arguments/],
    ]) {
      const job = await enqueue(type, [], { version: '1' });
      const { error } = await client.waitForResult(job.id);
      assert.equal(error.code, 'version_transform');
      assert.match(error.message, message);
    }
  });
});

test('a version that no handler runs is refused by the worker too', async (t) => {
  const id = '019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f';
  const job = { id, type: 'versions.mail', args: [], version: '4.0', attempt: 1 };
  const waiting = [job];
  const [asked, refused] = [[], []];
  const transport = {
    async request({ path, body }) {
      if (path === '/workers/fetch') {
        asked.push(body);
        return { status: 200, body: { jobs: waiting.splice(0) } };
      }
      if (path === '/workers/nack') refused.push(body);
      return path.includes('manifest') ? { status: 404, body: {} } : { status: 200, body: {} };
    },
  };
  const worker = new OJSWorker({ transport, pollInterval: 10 });
  worker.register('versions.mail', () => undefined, { version: '2' }).transform('versions.mail', '1', '2', addressed);
  t.after(() => worker.stop(0));
  await worker.start();
  const { error } = await eventually(() => refused[0]);
  assert.deepEqual(asked[0].handlers, [{ type: 'versions.mail', versions: ['>=2.0 <3.0', '1.0.0'] }]);
  assert.equal(error.code, 'unsupported_version');
  assert.match(error.message, /'versions\.mail' in versions >=2\.0 <3\.0; the arguments have version 4\.0\.0/);
});

test('changes that contradict each other are refused at the start', async () => {
  for (const [changes, message] of [
    [[['1', '2'], ['1.0', '3']], /has a transform already/],
    [[['1', '2'], ['2', '1']], /back to it/],
    [[['1', 'two']], /must be a version such as 2 or 2\.1, got 'two'/],
    [[['1', '1.5']], /which transforms change into 1\.5\.0/],
  ]) {
    const worker = new OJSWorker('memory:').register('versions.mail', () => undefined, { version: '2' });
    for (const [from, to] of changes) worker.transform('versions.mail', from, to, addressed);
    await assert.rejects(worker.start(), (error) => error instanceof OJSValidationError && message.test(error.message));
  }
  assert.throws(() => new OJSWorker('memory:').transform('versions.mail', '1', '2', 7), OJSValidationError);
});

test('a fake changes old arguments too', async () => {
  const fake = testing.fake();
  const seen = [];
  const worker = new OJSWorker('memory:');
  worker.register('versions.fake', (ctx) => { seen.push(ctx.args); }, { version: '2.0.0' });
  worker.transform('versions.fake', '1', '2', addressed);
  const client = new OJSClient('memory:');
  await client.enqueue('versions.fake', ['ada'], { version: '1' });
  assert.equal(await fake.drain(worker), 1);
  assert.deepEqual(seen, [[{ to: 'ada' }]]);
  await fake.restore();
});
