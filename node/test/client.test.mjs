import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRequire } from 'node:module';
import * as esm from '@openjobspec/sdk';
import { OJSClient, OJSWorker, JobRequest, json } from '@openjobspec/sdk';
import { Recorder, onEveryConnection } from './support.mjs';

onEveryConnection('client', (make) => {
  test('enqueue, get, cancel', async (t) => {
    const { client, enqueue } = await make(t);
    const job = await enqueue('email.send', ['ada@example.com'], { priority: 5, meta: { tenant: 'a' }, tags: ['x'] });
    assert.equal(job.state, 'available');
    const found = await client.getJob(job.id);
    assert.deepEqual([found.type, found.args, found.priority, found.meta, found.tags], ['email.send', ['ada@example.com'], 5, { tenant: 'a' }, ['x']]);
    assert.equal((await client.cancelJob(job.id)).state, 'cancelled');
  });

  test('a batch is one request, in order', async (t) => {
    const { client, queue } = await make(t);
    const jobs = await client.enqueueBatch([{ type: 'a', args: [1], queue }, { type: 'b', options: { queue } }, new JobRequest('c', 3, { queue })]);
    assert.deepEqual(jobs.map((job) => [job.type, job.args]), [['a', [1]], ['b', []], ['c', [3]]]);
    assert.deepEqual(await client.enqueueBatch([]), []);
  });

  test('arguments survive: unicode, deep values, big integers, big payloads', async (t) => {
    const { client, enqueue } = await make(t);
    const args = ['žluťoučký 馬 🐎 \u2028', 9007199254740993n, -12345678901234567890n, 1e300, 0.1, { '~bigint:1': [null, true], __proto: 1 }, 'x'.repeat(200_000)];
    const job = await enqueue('a', args);
    assert.deepEqual((await client.getJob(job.id)).args, args);
  });

  test('errors have classes, codes and statuses', async (t) => {
    const { client, enqueue } = await make(t);
    const job = await enqueue('a');
    await client.cancelJob(job.id);
    for (const [call, name, status] of [
      [() => client.enqueue('Not A Type'), 'OJSInvalidRequestError', 400],
      [() => client.getJob('missing'), 'OJSNotFoundError', 404],
      [() => client.cancelJob(job.id), 'OJSInvalidStateTransitionError', 409],
      [() => enqueue('a', [], { id: job.id }), 'OJSDuplicateError', 409],
    ]) {
      await assert.rejects(call, (error) => {
        assert.ok(error instanceof esm.OJSAPIError && error instanceof esm[name] && error instanceof Error, error.stack);
        assert.deepEqual([error.name, error.status, error.retryable], [name, status, false]);
        assert.ok(error.code && error.message);
        return true;
      });
    }
    const first = await enqueue('b', [1], { unique: { keys: ['type', 'args'], period: '1h' } });
    await assert.rejects(enqueue('b', [1], { unique: { keys: ['type', 'args'], period: '1h' } }), (error) => {
      assert.equal(error.existingJobId, first.id);
      return error instanceof esm.OJSConflictError;
    });
  });

  test('a list is longer than a page', async (t) => {
    const { client, queue } = await make(t);
    const many = Array.from({ length: 51 }, (_, n) => `${queue}-${n}`);
    await client.enqueueBatch(many.map((name) => ({ type: 'a', queue: name })));
    const listed = new Set((await client.queues.list()).map(({ name }) => name));
    assert.deepEqual(many.filter((name) => !listed.has(name)), []);
  });

  test('queues, dead letters, cron, workflows, health, manifest', async (t) => {
    const { client, queue, enqueue } = await make(t);
    await enqueue('a');
    assert.equal((await client.queues.stats(queue)).available, 1);
    await client.queues.pause(queue);
    assert.equal((await client.queues.list()).find(({ name }) => name === queue).status, 'paused');
    await client.queues.resume(queue);
    assert.deepEqual(await client.deadLetters.list({ queue }), []);
    await client.cron.register({ name: `nightly-${queue}`, expression: '0 3 * * *', timezone: 'Europe/Prague', overlapPolicy: 'enqueue', job: { type: 'a', queue } });
    assert.ok((await client.cron.list()).some(({ name, overlap_policy: overlap }) => name === `nightly-${queue}` && overlap === 'enqueue'));
    await client.cron.delete(`nightly-${queue}`);
    const workflow = await client.workflow(esm.chain({ type: 'a', args: [1], queue }, { type: 'b', queue }).named('etl'));
    assert.equal((await client.getWorkflow(workflow.id)).name, 'etl');
    assert.equal((await client.cancelWorkflow(workflow.id)).state, 'cancelled');
    assert.throws(() => esm.graph({ type: 'a' }), { message: /a graph is made of nodes/ });
    assert.throws(() => esm.chain(esm.node('a', { type: 'a' })), { message: /a node is a step of a graph/ });
    assert.ok((await client.health()).status);
    assert.ok((await client.manifest()).implementation);
  });

  test('enqueue middleware: order, changes, dropped jobs, batches', async (t) => {
    const { client, queue, enqueue } = await make(t);
    const order = [];
    client.useEnqueue('second', async (request, next) => {
      order.push(`second ${request.type}`);
      return request.type === 'drop.me' ? undefined : next();
    });
    client.middleware.prepend('first', async (request, next) => {
      order.push('first');
      request.meta = { ...request.meta, trace: 'abc' };
      const job = await next(request);
      order.push('back');
      return job;
    });
    assert.equal((await enqueue('a')).meta.trace, 'abc');
    assert.deepEqual(order, ['first', 'second a', 'back']);
    await assert.rejects(enqueue('drop.me'), { name: 'OJSNotEnqueuedError', code: 'not_enqueued' });
    const jobs = await client.enqueueBatch([{ type: 'a', queue }, { type: 'drop.me', queue }]);
    assert.deepEqual(jobs.map((job) => [job.type, job.meta.trace]), [['a', 'abc']]);
    assert.throws(() => client.useEnqueue('late', (request, next) => next(request)), { name: 'OJSMiddlewareError' });
  });

  test('a closed client says so; a second close does nothing', async (t) => {
    const { client } = await make(t);
    await client.health();
    await client.close();
    await client.close();
    await assert.rejects(client.health(), { name: 'OJSClosedError' });
  });

  test('a signal gives a call up', async (t) => {
    const { client } = await make(t);
    await assert.rejects(client.health({ signal: AbortSignal.abort() }), { name: 'AbortError' });
    const controller = new AbortController();
    const call = client.health({ signal: controller.signal });
    controller.abort(new Error('changed my mind'));
    await assert.rejects(call, { message: 'changed my mind' });
    assert.ok((await client.health()).status, 'the client works on');
  });
});

describe('requests', () => {
  const bodyOf = async (...args) => {
    const transport = new Recorder();
    await new OJSClient({ transport }).enqueue(...args);
    return transport.body;
  };

  test('only what differs from the defaults is sent', async () => {
    assert.deepEqual(await bodyOf('a', undefined, { queue: 'default', priority: 0, tags: [] }), { type: 'a', args: [] });
    assert.deepEqual(await bodyOf('a', { to: 'x' }), { type: 'a', args: [{ to: 'x' }] });
    assert.deepEqual(await bodyOf('a', 'one'), { type: 'a', args: ['one'] });
  });

  test('every option, in both spellings', async () => {
    const body = await bodyOf('a', [1], {
      id: '01a1fe8f-b9ba-73b5-a496-6b4e28fbbea0', meta: { a: 1 }, schema: 'urn:x', queue: 'mail', priority: -3, timeout: '2s', visibilityTimeout: 5000,
      resultTtl: 60, delayUntil: new Date(0), expires_at: '2030-01-01T00:00:00Z', totalTimeout: 90_000,
      retry: { maxAttempts: 5, initialInterval: '500ms', backoffCoefficient: 1.5, max_interval: 'PT1M', jitter: false, nonRetryableErrors: ['x'],
        onExhaustion: 'dead_letter', backoffStrategy: 'linear' },
      unique: { key: ['type'], argsKeys: ['id'], metaKeys: ['t'], period: 3_600_000, states: ['active'], onConflict: 'ignore' },
      tags: ['t'], extra: { pending: true },
    });
    assert.deepEqual(body, {
      type: 'a', args: [1], id: '01a1fe8f-b9ba-73b5-a496-6b4e28fbbea0', meta: { a: 1 }, schema: 'urn:x',
      options: {
        queue: 'mail', priority: -3, timeout_ms: 2000, visibility_timeout_ms: 5000, result_ttl: 60, delay_until: '1970-01-01T00:00:00.000Z',
        expires_at: '2030-01-01T00:00:00Z', total_timeout: 'PT1M30S',
        retry: { max_attempts: 5, initial_interval: 'PT0.5S', backoff_coefficient: 1.5, max_interval: 'PT1M', jitter: false,
          non_retryable_errors: ['x'], on_exhaustion: 'dead_letter', backoff_strategy: 'linear' },
        unique: { keys: ['type'], args_keys: ['id'], meta_keys: ['t'], period: 'PT1H', states: ['active'], on_conflict: 'ignore' },
        tags: ['t'], pending: true,
      },
    });
    const before = Date.now();
    const delayed = await bodyOf('a', [], { delay: '5m' });
    const from = Date.parse(delayed.options.delay_until) - 300_000;
    assert.ok(from >= before && from <= Date.now(), delayed.options.delay_until);
  });

  test('what is wrong is said before anything is sent', async () => {
    for (const [args, message] of [
      [['a', [], { prioritiy: 1 }], /unknown option 'prioritiy'; did you mean 'priority'\? There are queue, priority/],
      [['a', [], { retry: { attempts: 1 } }], /unknown option 'attempts' of retry; did you mean 'maxAttempts'/],
      [['a', [], { delay: 1, delayUntil: new Date() }], /both set delay_until/],
      [['a', [], { delay: 'soon' }], /delay must be zero or more milliseconds, .* got 'soon'/],
      [['a', [], { timeout: -1 }], /timeout must be zero or more milliseconds/],
      [['a', [], { expiresAt: new Date(NaN) }], /expiresAt must be a Date or RFC 3339 text/],
      [['', []], /a job needs a type/],
      [[undefined], /a job needs a type/],
      [['a', [() => {}]], /a function has no JSON form/],
      [['a', [Symbol.iterator]], /a symbol has no JSON form/],
      [['a', [{ ratio: 0 / 0 }]], /NaN has no JSON form/],
      [['a', [1n, -Infinity]], /-Infinity has no JSON form/],
      [['a', [new Date('soon')]], /an invalid Date/],
      [['a', [Promise.resolve(1)]], /a Promise has no JSON form: await it/],
      [['a', [{ seen: new Set([1]) }]], /a Set has no JSON form: pass \[\.\.\.set\]/],
      [['a', [new Map([[1, 2]])]], /a Map has no JSON form/],
    ]) {
      await assert.rejects(bodyOf(...args), { name: 'OJSValidationError', message });
    }
    const circle = {};
    circle.self = circle;
    await assert.rejects(bodyOf('a', [circle]), { name: 'OJSValidationError', code: 'serialization_error' });
    assert.throws(() => new OJSClient({ adress: 'http://x' }), { name: 'OJSValidationError', message: /unknown setting 'adress'/ });
    assert.throws(() => new OJSClient({ url: 'ftp://x' }), { name: 'OJSValidationError', message: /use http:/ });
    for (const make of [(url) => new OJSClient(url), (url) => new OJSWorker(url)]) {
      assert.throws(() => make('jobs.db'), { name: 'OJSValidationError', message: /write sqlite:jobs\.db for a file/ });
    }
    await assert.rejects(new OJSClient({ url: 'http://127.0.0.1:1', retryConfig: { maxAttempts: 1 } }).health(), { name: 'OJSConnectionError' });
  });
});

test('an empty URL is as good as none', async (t) => {
  const before = process.env.OJS_URL;
  process.env.OJS_URL = 'memory:from-the-environment';
  t.after(() => { if (before === undefined) delete process.env.OJS_URL; else process.env.OJS_URL = before; });
  const urls = ['memory:from-the-environment', '', { url: '' }, undefined];
  const [named, ...others] = urls.map((url) => new OJSClient(url));
  const { id } = await named.enqueue('a');
  for (const client of others) assert.equal((await client.getJob(id)).id, id);
  await Promise.all([named, ...others].map((client) => client.close()));
});

describe('a transport of the user', () => {
  test('gets the options of a type, though the core keeps them', async () => {
    const transport = new Recorder();
    const client = new OJSClient({ transport });
    new OJSWorker({ url: 'memory:' }).register('typed.custom', () => 1, { queue: 'mail', retry: 3, delay: '1h' });
    await client.enqueue('typed.custom', [], { retry: 5 });
    await client.enqueueBatch(['typed.custom', { type: 'typed.custom', queue: 'default' }]);
    const [{ body: { options } }, { body: { jobs } }] = transport.requests;
    assert.deepEqual([options.queue, options.retry], ['mail', { max_attempts: 5 }]);
    assert.match(options.delay_until, /^\d{4}-/);
    assert.deepEqual(jobs.map((job) => job.options.queue), ['mail', 'default']);
  });

  test('is asked for events as the core says, until the core says that an error ends them', async () => {
    const asked = [];
    const refused = (status) => ({ status, body: { error: { code: 'x', message: 'm' } } });
    const page = (cursor, ...events) => ({ status: 200, body: { events, cursor } });
    const event = { id: 'evt_2', type: 'job.enqueued', subject: '1', data: {} };
    const answers = [page('1'), refused(503), page('2', event), refused(401)];
    const client = new OJSClient({ transport: { request: async ({ path }) => answers[asked.push(path) - 1] } });
    const events = client.events({ types: ['job.*'], queues: ['q'] });
    assert.equal((await events.next()).value.subject, '1');
    await assert.rejects(events.next(), { name: 'OJSAuthenticationError' });
    const path = (after, wait) => `/events?after=${after}&types=job.%2A&queues=q&limit=500&wait_ms=${wait}`;
    assert.deepEqual(asked, [path('latest', 0), path(1, 20_000), path(1, 20_000), path(2, 20_000)]);
  });

  test('gets method, path and body, and its answers are read like a server', async () => {
    const transport = new Recorder();
    const client = new OJSClient({ url: 'http://unused', transport });
    assert.equal((await client.enqueue('a', [1n, 2])).id, 'test-id');
    assert.deepEqual(transport.requests[0], { method: 'POST', path: '/jobs', body: { type: 'a', args: [1, 2] } });
    await assert.rejects(client.getJob('x y'), { name: 'OJSNotFoundError', status: 404, message: 'no /jobs/x%20y' });
    assert.deepEqual((await client.enqueueBatch(['a', 'b'])).map(({ id }) => id), ['test-0', 'test-1']);
    const broken = new OJSClient({ transport: { request: async () => { throw new RangeError('mine'); } } });
    await assert.rejects(broken.health(), { name: 'RangeError', message: 'mine' });
    await assert.rejects(new OJSClient({ transport: {} }).health(), { name: 'OJSValidationError', message: /request\(\)/ });
    const text = new OJSClient({ transport: { request: async () => ({ status: 200, body: '{"status":"ok","n":12345678901234567890}' }) } });
    assert.deepEqual(await text.health(), { status: 'ok', n: 12345678901234567890n });
  });
});

describe('JSON', () => {
  test('integers survive, whatever stands beside them', () => {
    const text = '{"a":[12345678901234567890,-9007199254740993,9007199254740991,1.2345678901234567890,1e20],"12345678901234567890":"12345678901234567890 \\" ~bigint:1"}';
    const value = json.parse(text);
    assert.deepEqual(value.a, [12345678901234567890n, -9007199254740993n, 9007199254740991, 1.234567890123456789, 1e20]);
    assert.equal(value['12345678901234567890'], '12345678901234567890 " ~bigint:1');
    assert.equal(json.stringify({ n: 12345678901234567890n, s: '~bigint:5', t: '"~~bigint:7"' }), '{"n":12345678901234567890,"s":"~bigint:5","t":"\\"~~bigint:7\\""}');
    assert.deepEqual(json.parse(json.stringify([1n, '~bigint:1'])), [1, '~bigint:1']);
    assert.equal(json.stringify([null, undefined, {}, { left: undefined, out: () => {} }]), '[null,null,{},{}]');
    assert.throws(() => json.stringify(undefined), { code: 'serialization_error' });
    assert.throws(() => json.stringify(() => {}), { code: 'serialization_error' });
    assert.throws(() => json.parse('{'), SyntaxError);
    assert.throws(() => json.parse('[1234567890123456789'), SyntaxError);
  });
});

test('both kinds of modules are the same one, and ESM names all of it', () => {
  const cjs = createRequire(import.meta.url)('@openjobspec/sdk');
  const { default: whole, ...named } = esm;
  assert.equal(whole, cjs);
  assert.deepEqual(Object.keys(named).sort(), Object.keys(cjs).sort());
  for (const [name, value] of Object.entries(named)) assert.equal(value, cjs[name], name);
});
