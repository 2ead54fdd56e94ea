// Options and filters: what is misspelt or cannot be is refused with what there is, through every door; short forms mean what they seem to.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OJSClient, OJSServer, OJSWorker, JobRequest, batch, chain, setLogger, testing } from '@openjobspec/sdk';
import { Outbox, Relay } from '@openjobspec/sdk/outbox';

const client = new OJSClient('memory:options');
const refused = (message) => ({ name: 'OJSValidationError', retryable: false, message });

const WRONG = [
  [{ retries: 5 }, /unknown option 'retries'; did you mean 'retry'\? There are queue, priority, timeout, .*, retry, unique/],
  [{ timeOut: 5 }, /unknown option 'timeOut'; did you mean 'timeout'\? .*visibilityTimeout/],
  [{ retry: '5' }, /retry is how many attempts there are in all, or \{ maxAttempts/],
  [{ retry: true }, /retry is how many/],
  [{ retry: [5] }, /retry is how many.*got an array/],
  [{ retry: { max_attemps: 5 } }, /unknown option 'max_attemps' of retry; did you mean 'maxAttempts'\? There are maxAttempts, initialInterval/],
  [{ retry: { maxAttempts: '5' } }, /retry\.maxAttempts must be a whole number, zero or more; got '5'/],
  [{ retry: { maxAttempts: -1 } }, /retry\.maxAttempts/],
  [{ retry: { initialInterval: -1 } }, /retry\.initialInterval must be zero or more milliseconds/],
  [{ unique: 'type' }, /unique is true \(the same type and arguments\), or/],
  [{ unique: { key: 'type' } }, /unique\.key is a list/],
  [{ timeoutMs: 0 }, /timeoutMs must be more than zero/],
  [{ timeout: 0 }, /timeout must be more than zero/],
  [{ timeout: '0s' }, /timeout must be more than zero/],
  [{ visibilityTimeout: 0 }, /visibilityTimeout must be more than zero/],
  [{ delay: -5 }, /delay must be zero or more milliseconds/],
  [{ delay: 'soon' }, /'soon'/],
  [{ resultTtl: -1 }, /resultTtl must be a whole number, zero or more/],
  [{ priority: 1.5 }, /priority must be a whole number/],
  [{ queue: 7 }, /queue must be text/],
  [{ tags: 'yearly' }, /tags is a list, such as \['a', 'b'\]; got 'yearly'/],
  [{ rateLimit: 5 }, /rateLimit is \{ key: 'api\.example\.com'/],
  [{ rateLimit: { key: 'x', concurency: 1 } }, /unknown option 'concurency' of rateLimit; did you mean 'concurrency'\? There are key, concurrency, rate/],
  [{ rateLimit: { key: 'x', rate: 5 } }, /rateLimit\.rate is \{ limit: 100/],
  [{ meta: 'x' }, /meta is an object/],
  [{ extra: 5 }, /extra is an object/],
];

describe('an option that cannot be', () => {
  const doors = {
    enqueue: (options) => client.enqueue('a', [], options),
    enqueueBatch: (options) => client.enqueueBatch([{ type: 'a', ...options }]),
    'enqueueBatch, below options': (options) => client.enqueueBatch([{ type: 'a', options }]),
    bulkEnqueue: (options) => client.bulkEnqueue([{ type: 'a', ...options }]),
    'a step of a workflow': (options) => client.workflow(chain({ type: 'b' }, { type: 'a', ...options })),
    'a callback of a batch': (options) => client.workflow(batch(['b'], { onComplete: { type: 'a', ...options } })),
    'the job of a schedule': (options) => client.cron.register({ name: 'x', expression: '0 0 * * *', job: { type: 'a', ...options } }),
    'a row of an outbox': (options) => new Outbox({ client }).stage({ type: 'a', ...options }, { database: 'sqlite' }),
    'defaults of a type': (options) => new OJSWorker({ client }).register('wrong.defaults', () => {}, options),
  };
  for (const [door, call] of Object.entries(doors)) {
    test(door, async () => {
      for (const [options, message] of WRONG) {
        if (door === 'defaults of a type' && 'meta' in options) continue;
        await assert.rejects(async () => call(options), refused(message), JSON.stringify(options));
      }
      assert.deepEqual([(await client.listJobs()).total, await client.cron.list()], [0, []], 'nothing was sent');
    });
  }

  test('options that are no object', async () => {
    await assert.rejects(client.enqueue('a', [], 'mail'), refused(/options are an object, such as \{ queue: 'mail' \}; got 'mail'/));
    await assert.rejects(client.enqueueBatch([{ type: 'a', options: 5 }]), refused(/options are an object/));
  });
});

test('misspelt filters and settings of calls: none is taken for "all"', async () => {
  for (const [call, message] of [
    [() => client.bulkEnqueue(['a'], { atomik: true }), /unknown option 'atomik'; did you mean 'atomic'\? There are atomic, idempotencyKey/],
    [() => client.bulkCancel({ que: 'x' }), /unknown filter 'que'/],
    [() => client.bulkCancel({ queue: 'x' }, { atomik: true }), /unknown option 'atomik'/],
    [() => client.bulkCancel({ queue: 'x', states: 'available' }), /states is a list/],
    [() => client.bulkDelete(undefined), /which jobs\?/],
    [() => client.deadLetters.list({ que: 'x' }), /unknown filter 'que'; did you mean 'queue'\? There are queue, type, limit/],
    [() => client.deadLetters.retryAll({ que: 'x' }), /unknown filter 'que'; did you mean 'queue'\? There are queue, type, errorType/],
    [() => client.deadLetters.discardAll({ error_type: 'x' }), /unknown filter 'error_type'/],
    [() => client.queues.purge('x', ['completed'], { olderThn: '7d' }), /unknown option 'olderThn'; did you mean 'olderThan'\? There are olderThan/],
    [() => client.queues.purge('x', 'completed'), /states is a list/],
    [() => client.queues.delete('x', { strategi: 'discard' }), /unknown option 'strategi'/],
    [() => client.rateLimits.override('x', {}, { expires: 5 }), /unknown option 'expires'/],
    [() => client.waitForResult('x', { timout: 1 }), /unknown option 'timout'/],
    [() => client.events({ type: ['x'] }).next(), /unknown filter 'type'; did you mean 'types'\? There are types/],
    [() => client.listJobs({ stat: 'x' }), /unknown filter 'stat'; did you mean 'state'\? There are queue, type, state/],
    [() => client.cron.register({ name: 'x', expresion: '0 0 * * *', job: 'a' }), /unknown member of a schedule 'expresion'/],
    [() => client.cron.register({ name: 'x', expression: '0 0 * * *' }), /a schedule needs a job/],
    [() => client.getJob('x', { sgnal: 1 }), /unknown option of a call 'sgnal'/],
    [() => client.getJob(undefined), /a path under \/jobs needs an id or a name as text, such as job.id; got undefined/],
    [() => client.cancelJob({ id: 'x' }), /such as job.id; got an object/],
    [() => client.queues.pause(''), /a path under \/queues needs .*; got ''/],
    [() => client.enqueue('a', [], null), /options are an object, such as \{ queue: 'mail' \}; got null/],
    [() => new OJSClient(null), /a URL as text, or an object of settings is wanted, .*; got null/],
    [() => new OJSClient(5), /a URL as text, or an object of settings is wanted, .*; got 5/],
    [() => new OJSClient('memory:', { authToken: 'x' }), /in one object: .*, authToken: … \}; a second/],
    [() => new OJSWorker('memory:', { queues: ['mail'] }), /in one object: .*, queues: … \}; a second/],
    [() => new OJSWorker('memory:', null), /settings stand in one object/],
    [() => client.enqueue('a', [], { delay: '5 minutes' }), /delay must be zero or more milliseconds, or text such as '5m' or 'PT5M'; got '5 minutes'/],
    [() => OJSServer.start({ stor: 'memory:' }), /unknown setting 'stor'/],
    [() => new Relay(client, 'postgres://localhost/x', { batchsize: 1 }), /unknown setting 'batchsize'/],
    [() => new OJSWorker({ client }).configure({ queue: 'x' }), /unknown setting 'queue'; did you mean 'queues'\? There are url, queues/],
    [() => setLogger(console, { levl: 'debug' }), /unknown option 'levl'/],
    [() => testing.fake().drain(new OJSWorker({ client }), { throwError: false }), /unknown option 'throwError'/],
  ]) await assert.rejects(async () => call(), refused(message), String(call));
  await testing.restore();
});

test('short forms: retry is a number of attempts, unique is by type and arguments, lengths are text', async () => {
  const body = (options) => new JobRequest('a', [], options).toJSON().options;
  assert.deepEqual(body({ retry: 5 }), { retry: { max_attempts: 5 } });
  assert.deepEqual(body({ retry: { maxAttempts: 0 } }), { retry: { max_attempts: 0 } });
  assert.deepEqual(body({ unique: true }), { unique: { keys: ['type', 'args'] } });
  assert.deepEqual(body({ timeout: '30s', totalTimeout: '1h' }), { timeout_ms: 30_000, total_timeout: 'PT1H' });
  assert.deepEqual(body({ rateLimit: { key: 'x', concurrency: 1, rate: { limit: 10, period: '1m' }, onLimit: 'wait' } }),
    { rate_limit: { key: 'x', concurrency: 1, rate: { limit: 10, period: 'PT1M' }, on_limit: 'wait' } });
  for (const n of [1, 2]) await client.enqueue('short.limited', [n], { queue: 'limited', rateLimit: { key: 'short', concurrency: 1 } });
  const { jobs } = await client.request('POST', '/workers/fetch', { queues: ['limited'], count: 10, worker_id: 'test' });
  assert.deepEqual([jobs.length, (await client.rateLimits.get('short')).waiting_count], [1, 1]);
  const first = await client.enqueue('short', [1], { unique: true, retry: 7 });
  assert.equal(first.maxAttempts, 7);
  await client.enqueue('short', [2], { unique: true });
  await assert.rejects(client.enqueue('short', [1], { unique: true }), { name: 'OJSDuplicateError', existingJobId: first.id });
});
