// Handlers: what may be registered, defaults of a type, and what register() returns, which enqueues.
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import typescript from 'typescript';
import { OJSClient, OJSServer, OJSWorker, JobRequest, Task, chain, setLogger, testing } from '@openjobspec/sdk';
import { Outbox } from '@openjobspec/sdk/outbox';
import { PACKAGE, inState, onEveryConnection, program } from './support.mjs';

test('what cannot be called with the context alone is refused when it is registered', () => {
  const worker = new OJSWorker('memory:');
  for (const [handler, message] of [
    [undefined, /must be a function/],
    ['send', /must be a function/],
    [{ perform() {} }, /must be a function/],
    [(to, subject) => [to, subject], /takes 2 parameters, and is called with the context alone: write async \(ctx\) => \{ const \[a, b\] = ctx\.args/],
    [async (ctx, done) => done(ctx), /takes 2 parameters/],
    [function* all(ctx) { yield ctx; }, /is a generator function, which would not run/],
    [async function* all(ctx) { yield ctx; }, /is a generator function/],
    [class Send { perform() {} }, /is a class: pass \(ctx\) => new TheClass/],
  ]) assert.throws(() => worker.register('a', handler), { name: 'OJSValidationError', message });
  for (const [type, handler] of Object.entries({ none: () => 1, one: (ctx) => ctx, rest: (...all) => all, usual: (ctx, limit = 5) => limit, bound: function bound(ctx) { return ctx; }.bind({}) })) {
    worker.register(type, handler);
  }
  assert.throws(() => worker.register('none', () => 1), { message: /registered already/ });
  assert.throws(() => worker.register('d', () => 1, { delayUntil: new Date() }), { message: /'delayUntil' belongs to one job/ });
  assert.throws(() => worker.register('*', () => 1, { queue: 'x' }), { message: /defaults belong to one type/ });
});

onEveryConnection('tasks', (make) => {
  test('register() returns what enqueues jobs of the type, and is the worker as well', async (t) => {
    const { client, queue, makeWorker } = await make(t);
    const worker = makeWorker();
    const send = worker.register('task.send', async (ctx) => `to ${ctx.args.join()}`, { queue, retry: 7, timeout: '30s' });
    assert.ok(send instanceof OJSWorker && send.register('task.other', () => 1).use(async (_ctx, next) => next()) === worker);
    assert.deepEqual([send.type, send.queues, send.state, worker.client === client], ['task.send', [queue], 'new', true]);
    await send.start();
    const job = await send.enqueue('ada@example.com', 2);
    assert.deepEqual([job.args, job.queue, job.maxAttempts, job.timeoutMs], [['ada@example.com', 2], queue, 7, 30_000]);
    assert.equal((await inState(client, job.id, 'completed')).result, 'to ada@example.com,2');
    const later = await send.options({ delay: '1h', retry: { maxAttempts: 2 }, meta: { tenant: 'a' } }).enqueue();
    assert.deepEqual([later.state, later.args, later.maxAttempts, later.meta], ['scheduled', [], 2, { tenant: 'a' }]);
    assert.throws(() => send.options({ retries: 1 }), { message: /unknown option 'retries'/ });
    assert.ok(send.options({}) instanceof Task && send.request(1) instanceof JobRequest);
    const jobs = await client.enqueueBatch([send.request('a'), send.options({ priority: 3 }).request('b')]);
    assert.deepEqual(jobs.map(({ type, args, priority }) => [type, args, priority]), [['task.send', ['a'], 0], ['task.send', ['b'], 3]]);
  });

  test('defaults of a type hold through every door, and what a job says wins', async (t) => {
    const { client, queue, makeWorker } = await make(t);
    const type = `defaults.${queue}`;
    makeWorker().register(type, () => 1, { queue, retry: { maxAttempts: 9 }, timeout: '45s', tags: ['default'] });
    const seen = ({ queue: where, max_attempts: most, timeout_ms: timeout, tags }) => [where, most, timeout, tags];
    const all = [queue, 9, 45_000, ['default']];
    assert.deepEqual(seen(await client.enqueue(type)), all);
    assert.deepEqual((await client.enqueueBatch([type])).map(seen), [all]);
    assert.deepEqual((await client.bulkEnqueue([{ type }])).map(({ job }) => seen(job)), [all]);
    await client.workflow(chain({ type, args: ['step'] }, { type: 'other' }));
    const { jobs } = await client.listJobs({ type, queue });
    assert.deepEqual(jobs.filter(({ args }) => args[0] === 'step').map(seen), [all]);
    const { job } = await new Outbox({ client }).stage({ type }, { database: 'sqlite' });
    assert.deepEqual([job.queue, job.retry.max_attempts, job.timeout_ms], [queue, 9, 45_000]);
    // The usual queue too, though it is not written on the wire.
    assert.deepEqual(seen(await client.enqueue(type, [], { queue: 'default', retry: 2, timeoutMs: 1000, tags: ['own'] })), ['default', 2, 1000, ['own']]);
    assert.equal((await client.enqueue('without.defaults')).queue, 'default');
    makeWorker().register(`${type}.zero`, () => 1, { queue, priority: 7 });
    const seven = await client.enqueue(`${type}.zero`);
    const zero = await client.enqueue(`${type}.zero`, [], { priority: 0, queue: 'default' });
    assert.deepEqual([seven.priority, seven.queue, zero.priority, zero.queue], [7, queue, 0, 'default']);
    makeWorker().register(`${type}.once`, () => 1, { unique: true });
    await client.enqueue(`${type}.once`);
    await assert.rejects(client.enqueue(`${type}.once`), { name: 'OJSDuplicateError' });
    await client.enqueue(`${type}.once`, [], { unique: false });
  });
});

test('a worker that does not ask for the queue of its own type says so when it starts', async (t) => {
  const said = [];
  setLogger({ warn: (text) => said.push(text), error() {} });
  t.after(() => setLogger(console));
  const worker = new OJSWorker({ url: 'memory:elsewhere', queues: ['default'] });
  worker.register('mail.elsewhere', () => 1, { queue: 'mail' });
  await worker.start();
  await worker.stop(0);
  assert.match(said.join(), /jobs of type 'mail\.elsewhere' go to the queue 'mail', and this worker asks for default only/);
});

test('inline and fake mode: a type without a handler is the package\'s own error, and a failure for good', async () => {
  const worker = new OJSWorker('memory:').register('email.send', () => 1);
  const missing = { name: 'OJSValidationError', code: 'no_handler', message: "No handler is registered for job type 'email.snd'; there are handlers for 'email.send'." };
  const inline = testing.inline(worker);
  await assert.rejects(worker.client.enqueue('email.snd'), missing);
  await inline.restore();
  const fake = testing.fake();
  const job = await worker.client.enqueue('email.snd');
  await assert.rejects(fake.drain(worker), missing);
  const { state, attempt, error } = await worker.client.getJob(job.id);
  assert.deepEqual([state, attempt, error.code], ['discarded', 1, 'no_handler']);
  await fake.restore();
  assert.throws(() => testing.inline(), { name: 'OJSValidationError', message: /needs the worker/ });
});

test('the TypeScript of the README compiles, and does over HTTP what it says', async (t) => {
  const server = await OJSServer.start();
  const client = new OJSClient(server.url);
  t.after(async () => {
    await client.close();
    await server.stop();
  });
  const [, code] = /```ts\n([^]*?)```/.exec(readFileSync(path.join(PACKAGE, 'README.md'), 'utf8'));
  const file = path.join(PACKAGE, 'test', 'types', `readme-${process.pid}.mts`);
  writeFileSync(file, code);
  t.after(() => rmSync(file));
  const { ModuleKind, ScriptTarget } = typescript;
  const options = { module: ModuleKind.NodeNext, target: ScriptTarget.ES2022, strict: true, noEmit: true, types: ['node'],
    typeRoots: [path.join(PACKAGE, 'node_modules', '@types')] };
  const found = typescript.getPreEmitDiagnostics(typescript.createProgram([file], options));
  assert.deepEqual(found.map(({ messageText }) => messageText), []);
  const { outputText } = typescript.transpileModule(code, { compilerOptions: { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 } });
  const { code: status, errors } = await program(['--input-type=module', '-e', outputText], { cwd: PACKAGE, env: { ...process.env, OJS_URL: server.url } }).ended;
  assert.deepEqual([status, errors], [0, '']);
  const { jobs } = await client.listJobs({ queue: 'mail', order: 'asc' });
  assert.deepEqual(jobs.map((job) => [job.args[0], job.state, job.maxAttempts, job.timeoutMs]), [['ada@example.com', 'available'], ['bob@example.com', 'scheduled'],
    ['a@example.com', 'available'], ['b@example.com', 'available']].map((job) => [...job, 5, 30_000]));
});
