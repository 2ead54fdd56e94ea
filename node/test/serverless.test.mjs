// Handlers in functions: the context, middleware, keys and outcomes of a worker; AWS Lambda, Google, Azure.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NonRetryableError, OJSClient, OJSWorker, Snooze } from '@openjobspec/sdk';
import * as serverless from '@openjobspec/sdk/serverless';
import {
  edge,
  engine,
  failures,
  job,
  lambda,
  pushed,
  remaining,
  signed,
  silent,
  sqsEvent,
  SECRET,
  clock,
} from './serverless_support.mjs';
import { eventually, signal } from './support.mjs';

const { AzureHandler, DeliveryFailedError, GoogleHandler, LambdaHandler } = serverless;
const KEY = Uint8Array.from({ length: 32 }, (_, index) => index);

/** A handler whose jobs do what their first argument says. */
function handlerOf(ran = [], settings = {}, Handler = LambdaHandler) {
  return new Handler({ logger: silent, ...settings }).register('email.send', async (ctx) => {
    ran.push(ctx.id);
    if (ctx.args[0] === 'fail') throw new TypeError('boom');
    if (ctx.args[0] === 'decline') throw new NonRetryableError('no', { code: 'card_declined' });
    if (ctx.args[0] === 'later') throw new Snooze(1500);
    return { sent: ctx.args[0] };
  });
}

test('a handler gets what a worker gives it, inside its middleware', async () => {
  const order = [];
  let seen;
  const handler = new LambdaHandler()
    .use('outer', async (ctx, next) => {
      order.push('outer');
      await next(); // the result is not lost
    })
    .use(async (ctx, next) => {
      order.push('inner');
      ctx.metadata.layers = 2;
      return next();
    })
    .register('email.send', (ctx) => {
      seen = {
        id: ctx.id,
        type: ctx.type,
        queue: ctx.queue,
        attempt: ctx.attempt,
        meta: ctx.meta,
        args: ctx.args,
        layers: ctx.metadata.layers,
      };
      return 'sent';
    });
  const given = job('email.send', ['ada', 12345678901234567890n], {
    queue: 'mail',
    attempt: 3,
    meta: { tenant_id: 'acme' },
  });
  const answer = await handler.handle(given);
  assert.deepEqual(answer, { status: 'completed', job_id: given.id, result: 'sent' });
  assert.deepEqual(order, ['outer', 'inner']);
  assert.deepEqual(seen, {
    id: given.id,
    type: 'email.send',
    queue: 'mail',
    attempt: 3,
    meta: { tenant_id: 'acme' },
    args: given.args,
    layers: 2,
  });
});

test('errors are those of a worker, and their classes are the same', async () => {
  assert.equal(serverless.NonRetryableError, NonRetryableError);
  for (const [arg, code, retryable] of [
    ['fail', 'handler_error', true],
    ['decline', 'card_declined', false],
    ['later', 'snooze', true],
  ]) {
    const { status, error } = await handlerOf().handle(job('email.send', [arg]));
    assert.deepEqual([status, error.code, error.retryable], ['failed', code, retryable]);
  }
  assert.equal((await handlerOf().handle(job('email.send', ['later']))).delay_ms, 1500);
  const unknown = await handlerOf().handle(job('other'));
  assert.deepEqual([unknown.error.code, unknown.error.retryable], ['no_handler', false]);
  assert.equal((await handlerOf([], { unknownTypes: 'release' }).handle(job('other'))).error.retryable, true);
  assert.equal((await new LambdaHandler().register('*', (ctx) => ctx.type).handle(job('other'))).result, 'other');
});

test('wrong settings and handlers are refused by name', () => {
  for (const settings of [
    { urls: 'x' },
    { safetyMargin: -1 },
    { timeout: 0 },
    { unknownTypes: 'x' },
    { unsigned: true, signingSecret: 'a' },
  ]) {
    assert.throws(() => new LambdaHandler(settings), serverless.OJSValidationError, JSON.stringify(settings));
  }
  assert.throws(() => new LambdaHandler().register('a', (ctx, to) => to), /context alone/);
  assert.throws(() => handlerOf().register('email.send', () => 1), /registered already/);
});

test('arguments are decrypted, in every form that the core writes', async (t) => {
  const { client, claim, url } = await engine(t);
  const producer = new OJSClient({ url, encryptionKeys: { 'k-1': KEY } });
  t.after(() => producer.close());
  await producer.enqueue('email.send', ['secret', { n: 1 }], { meta: { tenant_id: 'acme' } });
  const [delivered] = await claim();
  assert.ok(!JSON.stringify(delivered).includes('secret'));
  const read = (settings, of = delivered) =>
    new LambdaHandler({ logger: silent, ...settings }).register('email.send', (ctx) => [ctx.args, ctx.meta]).handle(of);
  assert.deepEqual((await read({ encryptionKeys: { 'k-1': KEY } })).result, [
    ['secret', { n: 1 }],
    { tenant_id: 'acme' },
  ]);
  const hex = Buffer.from(KEY).toString('hex');
  // The test vectors of extensions section 8.3.
  const detached = {
    'ojs.codec.encodings': ['binary/encrypted'],
    'ojs.codec.key_id': 'k-07',
    'ojs.codec.nonce': 'AAECAwQFBgcICQoL',
  };
  const { 'ojs.codec.nonce': _, ...inline } = detached;
  for (const [args, meta] of [
    [
      [
        {
          ojs_encoded: true,
          encoding: 'binary/encrypted',
          data: 'AQABAgMEBQYHCAkKCxwgo2igl4J+9SD6+92MVg7su6UYi1kxXgJWmNhXs4U8rLYbcuouHWUukazI',
        },
      ],
      inline,
    ],
    [['AAECAwQFBgcICQoLHCCjaKCXgn71IPr73YxWDuy7pRiLWTFeAlaY2FezhTysthty6i4dZS6RrMg='], inline],
    [['HCCjaKCXgn71IPr73YxWDuy7pRiLWTFeAlaY2FezhTysthty6i4dZS6RrMg='], detached],
  ]) {
    const { result } = await read(
      { encryptionKeys: `k-08:${hex.replaceAll('0', '1')},k-07:${hex}` },
      job('email.send', args, { meta }),
    );
    assert.deepEqual(result, [['user@example.com', { n: 1 }], {}]);
  }
  for (const [keys, code, retryable] of [
    [{ 'k-2': KEY }, 'x_codec_unknown_key', true],
    [{ 'k-1': new Uint8Array(32) }, 'x_codec_auth_failed', false],
  ]) {
    const { error } = await read({ encryptionKeys: keys });
    assert.deepEqual([error.code, error.type, error.retryable], [code, 'DecryptionError', retryable]);
  }
  const { error } = await read({ encryptionKeys: { 'k-1': KEY } }, { ...delivered, args: ['?'] });
  assert.equal(error.code, 'x_codec_malformed');
  await assert.rejects(read({ encryptionKeys: 'k-1:short' }), /32 bytes/);
  assert.equal((await client.getJob(delivered.id)).state, 'active');
});

test('compressed arguments are read where the runtime can, and bounded', async () => {
  const { gzipSync } = await import('node:zlib');
  const { webcrypto } = await import('node:crypto');
  const seal = async (plain) => {
    const key = await webcrypto.subtle.importKey('raw', KEY, 'AES-GCM', false, ['encrypt']);
    const nonce = new Uint8Array(12);
    const sealed = await webcrypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, key, gzipSync(plain));
    const meta = { 'ojs.codec.encodings': ['gzip/plain', 'binary/encrypted'], 'ojs.codec.key_id': 'k' };
    return job('email.send', [Buffer.concat([nonce, Buffer.from(sealed)]).toString('base64')], { meta });
  };
  const handler = new LambdaHandler({ encryptionKeys: { k: KEY } }).register('email.send', (ctx) => ctx.args);
  assert.deepEqual((await handler.handle(await seal('["small"]'))).result, ['small']);
  const { error } = await handler.handle(await seal(`["${' '.repeat(17_000_000)}"]`));
  assert.match(error.message, /too large/);
  const zstd = await seal('[]');
  zstd.meta['ojs.codec.encodings'] = ['zstd/plain', 'binary/encrypted'];
  assert.match((await handler.handle(zstd)).error.message, /'zstd\/plain' is not known here/);
});

test('a run ends before the limit of the platform, and of the job', async () => {
  let aborted = 0;
  const wait = (ctx) =>
    new Promise((resolve, reject) => {
      ctx.signal.addEventListener('abort', () => {
        aborted += ctx.cancelReason === 'timed_out';
        if (ctx.args[0] === 'completes') resolve('late');
        else reject(ctx.signal.reason);
      });
    });
  const handler = new LambdaHandler({ safetyMargin: 20 }).register('email.send', wait);
  for (const [given, context] of [
    [job(), remaining(40)],
    [job('email.send', [], { timeout_ms: 10 }), undefined],
  ]) {
    const { error } = await handler.handle(given, context);
    assert.deepEqual([error.code, error.retryable], ['timeout', true]);
  }
  assert.equal((await handler.handle(job('email.send', ['completes']), remaining(40))).result, 'late');
  assert.equal(aborted, 3);
});

test('checkpoints, steps, progress and heartbeats reach the server', async (t) => {
  const { client, claim, url } = await engine(t);
  let charges = 0;
  const handler = new LambdaHandler({ ojsUrl: url, logger: silent }).register('import.run', async (ctx) => {
    const charged = await ctx.step('charge', () => ({ id: `ch_${(charges += 1)}` }));
    if (ctx.hasCheckpoint) return [ctx.loadCheckpoint(), charged];
    assert.ok(await ctx.heartbeat());
    ctx.progress(0.1);
    ctx.progress(0.5, 'half', { row: 7 });
    assert.equal(await ctx.checkpoint({ page: 7 }), 2);
    throw new Error('again');
  });
  const { id } = await client.enqueue('import.run', [], { retry: { maxAttempts: 3, initialInterval: 1 } });
  const [delivered] = await claim();
  assert.equal((await handler.handle({ ...delivered, worker_id: 'push_worker_1' })).status, 'failed');
  assert.equal((await client.getProgress(id)).progress, 0.5);
  const again = await eventually(async () => (await claim())[0]);
  assert.equal(again.attempt, 2);
  assert.deepEqual((await handler.handle(again)).result, [{ page: 7 }, { id: 'ch_1' }]);
  assert.equal((await client.getJob(id)).state, 'completed');
});

test('a lost lease stops the run, and a checkpoint without a server says what is missing', async (t) => {
  const { client, jobs, url } = await engine(t);
  const handler = new LambdaHandler({ ojsUrl: url, logger: silent }).register('email.send', async (ctx) => {
    await client.cancelJob(ctx.id);
    await ctx.checkpoint(1);
  });
  const [delivered] = await jobs('a');
  assert.equal((await handler.handle(delivered)).error.code, 'released');
  const alone = new LambdaHandler().register('email.send', (ctx) => ctx.checkpoint(1));
  assert.match((await alone.handle(job())).error.message, /ojsUrl/);
});

test('the registry of a worker serves a function too', async (t) => {
  const { url, jobs, states } = await engine(t);
  const worker = new OJSWorker(url);
  worker.use(async (ctx, next) => ({ ...(await next()), layer: true }));
  worker.register('email.send', () => ({ sent: true }));
  const all = await jobs('a');
  assert.deepEqual((await new LambdaHandler(worker, { ojsUrl: url }).handle(all[0])).result, {
    sent: true,
    layer: true,
  });
  assert.deepEqual(await states(all), ['completed']);
});

test('a batch acks and nacks at the server', async (t) => {
  const { client, jobs, states, url } = await engine(t);
  const all = await jobs('ok', 'fail', 'decline', 'ok');
  const ran = [];
  assert.deepEqual(failures(await handlerOf(ran, { ojsUrl: url }).handleSQS(sqsEvent([...all, 'not a job']))), ['m5']);
  assert.deepEqual(await states(all), ['completed', 'retryable', 'discarded', 'completed']);
  assert.deepEqual((await client.waitForResult(all[0].id)).result, { sent: 'ok' });
  assert.equal(ran.length, 4);
});

test('without a server every failure comes again, and so does an outcome that does not reach the server', async () => {
  const messages = ['ok', 'fail', 'decline'].map((arg) => job('email.send', [arg], { id: arg }));
  assert.deepEqual(failures(await handlerOf().handleSQS(sqsEvent([...messages, job('unknown')]))), ['m2', 'm3', 'm4']);
  assert.deepEqual(failures(await handlerOf([], { ojsUrl: 'http://127.0.0.1:9' }).handleSQS(sqsEvent([messages[0]]))), [
    'm1',
  ]);
});

test('scenario 41: FIFO stops a group at its first failure and goes on with others', async (t) => {
  const { jobs, states, url } = await engine(t);
  const all = await jobs('ok', 'fail', 'ok', 'ok', 'ok', 'decline', 'ok');
  const ran = [];
  const event = sqsEvent(all, { fifo: true, groups: ['a', 'a', 'a', 'b', 'a', 'c', 'c'] });
  assert.deepEqual(failures(await handlerOf(ran, { ojsUrl: url }).handleSQS(event)), ['m2', 'm3', 'm5']);
  assert.deepEqual(await states(all), [
    'completed',
    'retryable',
    'active',
    'completed',
    'active',
    'discarded',
    'completed',
  ]);
  assert.deepEqual([...ran].sort(), [0, 1, 3, 5, 6].map((place) => all[place].id).sort());
});

test('a message that comes again runs only while its lease holds; without time nothing begins', async (t) => {
  const { client, jobs, states, url } = await engine(t);
  const all = await jobs('fail', 'ok', 'ok', 'ok');
  const ran = [];
  const handler = handlerOf(ran, { ojsUrl: url });
  await handler.handleSQS(sqsEvent(all.slice(0, 2)));
  await client.cancelJob(all[2].id);
  ran.length = 0;
  const again = sqsEvent([...all, job('email.send', ['ok'])], { received: 2 });
  assert.deepEqual(failures(await handler.handleSQS(again, remaining(0))), ['m1', 'm2', 'm3', 'm4', 'm5']);
  assert.deepEqual(ran, []);
  assert.deepEqual(failures(await handler.handleSQS(again)), []);
  assert.deepEqual(ran, [all[3].id]);
  assert.deepEqual(await states(all), ['retryable', 'completed', 'cancelled', 'completed']);
});

test('a result that the server refuses fails the job for good', async (t) => {
  const { jobs, states, url } = await engine(t);
  const all = await jobs('a');
  const handler = new LambdaHandler({ ojsUrl: url, logger: silent }).register('email.send', () =>
    'x'.repeat(3_000_000),
  );
  assert.deepEqual(failures(await handler.handleSQS(sqsEvent(all))), []);
  assert.deepEqual(await states(all), ['discarded']);
});

test('every event of AWS finds its way', async () => {
  const handler = handlerOf([], { signingSecret: SECRET, clock });
  const body = pushed(job('email.send', ['ok']));
  const url = { version: '2.0', requestContext: { http: { method: 'POST' } }, headers: signed(body), body };
  const gateway = {
    httpMethod: 'POST',
    requestContext: {},
    headers: signed(body),
    isBase64Encoded: true,
    body: Buffer.from(body).toString('base64'),
  };
  for (const event of [url, gateway]) {
    const answer = await handler.handle(event, remaining(30_000));
    assert.deepEqual(
      [answer.statusCode, JSON.parse(answer.body).status, answer.isBase64Encoded],
      [200, 'completed', false],
    );
  }
  assert.equal((await handler.handle({ ...url, headers: {} })).statusCode, 401);
  assert.equal((await handler.handle({ ...url, requestContext: { http: { method: 'GET' } } })).statusCode, 405);
  assert.equal(
    (await handler.handle({ source: 'app', 'detail-type': 'job', detail: job('email.send', ['ok']) })).status,
    'completed',
  );
  assert.deepEqual(await handler.handle({ Records: [] }), { batchItemFailures: [] });
  await assert.rejects(
    handler.handleEventBridge({ detail: job('email.send', ['fail']) }),
    (error) => error instanceof DeliveryFailedError && error.retryable,
  );
  assert.throws(() => handler.handle([]), /object/);
});

test('either variable names the server, and an empty one counts as unset', () => {
  const server = (env) => new LambdaHandler().given(env).server;
  assert.ok(server({ OJS_URL: 'http://localhost:1' }) && server({ OJS_BACKEND_URL: 'http://localhost:1' }));
  assert.ok(server({ OJS_URL: '', OJS_BACKEND_URL: 'http://localhost:1' }));
  assert.equal(server({ OJS_URL: '' }), undefined);
});

test('in the loop of a runtime of Lambda', async (t) => {
  const { jobs, states, url } = await engine(t);
  const invoke = await lambda(
    t,
    `
    import { LambdaHandler } from '@openjobspec/sdk/serverless';
    const ojs = new LambdaHandler();
    ojs.register('email.send', async (ctx) => {
      if (ctx.args[0] === 'wait') await new Promise(() => {});
      if (ctx.args[0] === 'fail') throw new Error('boom');
      return { sent: ctx.args[0] };
    });
    export const handler = ojs.handle;`,
    { env: { OJS_URL: url } },
  );
  const all = await jobs('ada', 'fail', 'wait');
  assert.deepEqual(failures(await invoke(sqsEvent(all.slice(0, 2)))), []);
  assert.deepEqual(await states(all), ['completed', 'retryable', 'active']);
  const { error } = await invoke(all[2], 1000);
  assert.equal(error.code, 'timeout');
  await assert.rejects(invoke([]), /object/);
});

test("Google's functions framework passes requests and events on", async (t) => {
  const { client, jobs, states, url } = await engine(t);
  const framework = edge('@google-cloud/functions-framework');
  const { getTestServer } = edge('@google-cloud/functions-framework/testing');
  const handler = handlerOf([], { ojsUrl: url, signingSecret: SECRET, clock }, GoogleHandler);
  framework.http('push', (request, response) => handler.handleHTTP(request, response));
  framework.cloudEvent('event', (event) => handler.handleCloudEvent(event));
  const start = async (name) => {
    const server = getTestServer(name).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await new Promise((resolve) => {
      server.on('listening', resolve);
    });
    return `http://127.0.0.1:${server.address().port}/`;
  };
  const push = await start('push');
  const body = pushed(job('email.send', ['ada']));
  const answer = await fetch(push, { method: 'POST', headers: signed(body), body });
  assert.deepEqual(await answer.json(), { status: 'completed', result: { sent: 'ada' } });
  assert.equal(
    (await fetch(push, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status,
    401,
  );
  const event = await start('event');
  const all = await jobs('ada', 'fail');
  for (const one of all) {
    const data = { message: { data: Buffer.from(JSON.stringify(one)).toString('base64') } };
    const headers = {
      'content-type': 'application/json',
      'ce-id': '1',
      'ce-source': '//pubsub',
      'ce-specversion': '1.0',
      'ce-type': 'google.cloud.pubsub.topic.v1.messagePublished',
    };
    assert.ok((await fetch(event, { method: 'POST', headers, body: JSON.stringify(data) })).ok);
  }
  assert.deepEqual(await states(all), ['completed', 'retryable']);
  await assert.rejects(
    handlerOf([], {}, GoogleHandler).handleCloudEvent({ data: job('email.send', ['fail']) }),
    DeliveryFailedError,
  );
  assert.ok(client);
});

test('Azure passes requests and messages on', async (t) => {
  const { jobs, states, url } = await engine(t);
  const ran = [];
  const { handleRequest, handleQueue } = handlerOf(ran, { ojsUrl: url, signingSecret: SECRET, clock }, AzureHandler);
  const body = pushed(job('email.send', ['ada']));
  const answer = await handleRequest(
    new Request('http://localhost/api/ojs', { method: 'POST', headers: signed(body), body }),
  );
  assert.deepEqual([answer.status, JSON.parse(answer.body).status], [200, 'completed']);
  const all = await jobs('ok', 'fail');
  await handleQueue(all[0], { triggerMetadata: { deliveryCount: 1 } });
  await handleQueue(JSON.stringify(all[1]), { triggerMetadata: { dequeueCount: '1' } });
  assert.deepEqual(await states(all), ['completed', 'retryable']);
  await handleQueue(all[0], { triggerMetadata: { deliveryCount: 2 } });
  assert.equal(ran.length, 3, 'the server has moved on');
  await assert.rejects(handlerOf([], {}, AzureHandler).handleQueue(job('email.send', ['fail'])), DeliveryFailedError);
});

test('plain jobs run beside each other', async () => {
  const both = signal();
  let running = 0;
  const handler = new LambdaHandler().register('email.send', async () => {
    running += 1;
    if (running === 2) both.set();
    await both.promise;
  });
  assert.deepEqual(failures(await handler.handleSQS(sqsEvent([job(), job()]))), []);
});

test('a reference is not run where no server is named', async () => {
  const ran = [];
  const reference = { id: '1', type: 'email.send', lease_token: 7 };
  const handler = handlerOf(ran);
  assert.deepEqual(failures(await handler.handleSQS(sqsEvent([reference]))), ['m1']);
  const error = { code: 'invalid_job', retryable: true, message: /ojsUrl/ };
  await assert.rejects(handler.handleDirect(reference), error);
  await assert.rejects(handler.handleEventBridge({ detail: reference }), error);
  assert.deepEqual(ran, []);
});

test('a reference to a job that is gone is done', async (t) => {
  const ran = [];
  const { url } = await engine(t);
  const reference = { id: '019539a4-0000-7000-8000-00000000dead', type: 'email.send', lease_token: 7 };
  const handler = handlerOf(ran, { ojsUrl: url });
  assert.deepEqual(failures(await handler.handleSQS(sqsEvent([reference]))), []);
  const { status, error } = await handler.handleEventBridge({ detail: reference });
  assert.deepEqual([status, error.code, error.retryable], ['failed', 'not_found', false]);
  await handlerOf(ran, { ojsUrl: url }, GoogleHandler).handleCloudEvent({ data: reference });
  assert.deepEqual(ran, []);
});
