// Push deliveries: signatures, replays, and the frameworks that pass them on.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { OJSClient, verifyWebhook } from '@openjobspec/sdk';
import { PushHandler, VercelHandler } from '@openjobspec/sdk/serverless';
import { Replays } from '../serverless/replays.mjs';
import { NOW, SECRET, clock, edge, job, pushed, signed, silent } from './serverless_support.mjs';
import { eventually, inState, signal } from './support.mjs';

/** A secret in the form of Standard Webhooks. */
const STANDARD = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = pushed(job());

function endpoint(run = () => ({ message_id: 'msg_123' }), settings = {}) {
  return new PushHandler({ signingSecret: SECRET, clock, logger: silent, ...settings }).register('email.send', run);
}

test("the document's request gets the document's answer", async () => {
  const body = pushed(job('email.send', [{ to: 'user@example.com' }]));
  const answer = await endpoint().answer('POST', signed(body), body);
  assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'application/json']);
  assert.equal(answer.body, '{"status":"completed","result":{"message_id":"msg_123"}}');
  const failing = endpoint(() => {
    throw new Error('SMTP connection refused');
  });
  const { status, error } = JSON.parse((await failing.answer('POST', signed(body), Buffer.from(body))).body);
  assert.deepEqual(
    [status, error.code, error.message, error.retryable],
    ['failed', 'handler_error', 'SMTP connection refused', true],
  );
});

const WRONG = [
  [{}, 'missing_header'],
  [{ ...signed(BODY), 'X-OJS-Signature': '' }, 'signature_mismatch'],
  [{ ...signed(BODY), 'X-OJS-Signature': 'sha256=zz, sha256=0, md5=00' }, 'signature_mismatch'],
  [{ 'X-OJS-Signature': signed(BODY)['X-OJS-Signature'] }, 'missing_header'],
  [{ ...signed(BODY), 'X-OJS-Timestamp': 'soon' }, 'invalid_header'],
  [signed(BODY, 'whsec_of_another_endpoint'), 'signature_mismatch'],
  [signed(`${BODY} `), 'signature_mismatch'],
  [signed(BODY, SECRET, NOW - 301), 'stale_timestamp'],
  [signed(BODY, SECRET, NOW + 301), 'stale_timestamp'],
  [{ 'webhook-signature': 'v1,AAAA', 'webhook-timestamp': String(NOW) }, 'missing_header'],
  [
    { 'webhook-signature': 'v1,AAAA v2,AAAA ?', 'webhook-timestamp': String(NOW), 'webhook-id': 'a' },
    'signature_mismatch',
  ],
];

test('a wrong or missing signature is 401 and runs nothing, for the reason that the core gives', async () => {
  let ran = 0;
  const handler = endpoint(() => {
    ran += 1;
  });
  for (const [headers, reason] of WRONG) {
    const answer = await handler.answer('POST', headers, BODY);
    assert.deepEqual([answer.status, JSON.parse(answer.body).error.details.reason, ran], [401, reason, 0]);
    assert.throws(
      () => verifyWebhook(BODY, headers, SECRET, { now: NOW }),
      (error) => error.details.reason === reason,
      JSON.stringify(headers),
    );
  }
});

test('what the core takes is taken', async () => {
  const plain = '{"type":"job.completed"}';
  const printed = {
    'x-ojs-timestamp': '1708030665',
    'X-OJS-SIGNATURE': 'sha256=8546408988b294b4617e3d0fe20e0d3136e60d027dacc02a97a3c59632ee4fa0',
  };
  verifyWebhook(plain, printed, SECRET, { now: NOW });
  assert.equal(
    (await endpoint().answer('POST', printed, plain)).status,
    400,
    'the check value of the specification: signed, and no job',
  );
  const rotating = endpoint(undefined, { signingSecret: ['whsec_new', 'whsec_old'] });
  for (const [delivery, secret] of [
    ['del_1', 'whsec_new'],
    ['del_2', 'whsec_old'],
  ]) {
    const body = pushed(job(), delivery);
    assert.equal((await rotating.answer('POST', new Headers(signed(body, secret)), body)).status, 200);
  }
  const several = {
    ...signed(BODY),
    'X-OJS-Signature': ['whsec_newer', 'whsec_new'].map((secret) => signed(BODY, secret)['X-OJS-Signature']).join(', '),
  };
  assert.equal((await rotating.answer('POST', several, BODY)).status, 200);
});

test('Standard Webhooks signs what we verify', async () => {
  const { Webhook } = edge('standardwebhooks');
  const sign = (secret) => ({
    'webhook-id': 'del_1',
    'webhook-timestamp': String(NOW),
    'webhook-signature': new Webhook(secret).sign('del_1', new Date(NOW * 1000), BODY),
  });
  const handler = endpoint(undefined, { signingSecret: STANDARD });
  assert.equal((await handler.answer('POST', sign(STANDARD), BODY)).status, 200);
  assert.equal((await handler.answer('POST', { ...sign(STANDARD), 'webhook-id': 'del_2' }, BODY)).status, 401);
  assert.equal((await handler.answer('POST', sign('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx'), BODY)).status, 401);
});

/** A client of `ojs server`, because a server of this package sends nothing to addresses of this machine. */
async function sender(t) {
  const place = mkdtempSync(path.join(tmpdir(), 'ojs-push-'));
  const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../../target', import.meta.url));
  const binary = process.env.OJS_BIN ?? path.join(target, 'release', 'ojs');
  const store = ['--store', `sqlite:${path.join(place, 'jobs.db')}`];
  const rest = ['--listen', '127.0.0.1:0', '--webhook-allow', '127.0.0.1', '--log-level', 'error'];
  const child = spawn(binary, ['server', ...store, ...rest], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  let client;
  t.after(async () => {
    await client?.close();
    child.kill('SIGKILL');
    await ended;
    rmSync(place, { recursive: true });
  });
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
  assert.match(String(line), /^listening on http:\/\/127\.0\.0\.1:/);
  client = new OJSClient(line.replace('listening on ', ''));
  return client;
}

/** An endpoint that checks requests with the library of Standard Webhooks alone, with each of its secrets. */
async function receiver(t, Webhook) {
  const requests = [];
  const made = {
    secrets: [],
    /** Headers and body of the next request, which was signed with all secrets. */
    async next() {
      const { wrong, ...request } = await eventually(() => requests.shift());
      if (wrong) throw wrong;
      return request;
    },
  };
  const server = createServer(async (request, response) => {
    const { headers } = request;
    const body = await buffer(request);
    let wrong;
    try {
      for (const secret of made.secrets) new Webhook(secret).verify(body, headers);
    } catch (error) {
      wrong = error;
    }
    requests.push({ headers, body, wrong });
    response.writeHead(wrong ? 401 : 200, { 'content-type': 'application/json' });
    response.end(wrong ? '' : '{"status":"completed"}');
  }).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  made.url = `http://127.0.0.1:${server.address().port}/`;
  return made;
}

test('Standard Webhooks verifies what a server signs', async (t) => {
  const { Webhook } = edge('standardwebhooks');
  const client = await sender(t);
  const endpoint = await receiver(t, Webhook);
  const settings = { endpoint: endpoint.url, job_types: ['t'], queues: ['q'] };
  const refused = (secret, body, headers) =>
    assert.throws(() => new Webhook(secret).verify(body, headers), /No matching signature/);
  const changed = (body, from, to) => Buffer.from(body.toString().replace(from, to));

  const registered = await client.createPushEndpoint(settings);
  const old = registered.config.signing_secret;
  endpoint.secrets = [old];
  let enqueued = await client.enqueue('t', ['ada'], { queue: 'q' });
  let { body, headers } = await endpoint.next();
  const delivered = new Webhook(old).verify(body, headers);
  assert.deepEqual([delivered.job.id, delivered.job.args], [enqueued.id, ['ada']]);
  await inState(client, enqueued.id, 'completed');

  const rotated = (await client.rotatePushSecret(registered.id)).config.signing_secret;
  refused(old, changed(body, 'ada', 'adb'), headers);
  refused(rotated, body, headers);

  // For a day requests are signed with both, so that a function may take the new secret later than the server.
  endpoint.secrets = [old, rotated];
  enqueued = await client.enqueue('t', ['bob'], { queue: 'q' });
  ({ body, headers } = await endpoint.next());
  for (const secret of endpoint.secrets) {
    assert.equal(new Webhook(secret).verify(body, headers).job.id, enqueued.id);
    refused(secret, changed(body, 'bob', 'bop'), headers);
  }
  await inState(client, enqueued.id, 'completed');
});

test('secrets come from the environment', async (t) => {
  t.after(() => delete process.env.OJS_SIGNING_SECRET);
  process.env.OJS_SIGNING_SECRET = `whsec_next,${SECRET}`;
  assert.equal(
    (await endpoint(undefined, { signingSecret: undefined }).answer('POST', signed(BODY), BODY)).status,
    200,
  );
  delete process.env.OJS_SIGNING_SECRET;
  assert.equal(
    (await endpoint(undefined, { signingSecret: undefined, unsigned: true }).answer('POST', {}, BODY)).status,
    200,
  );
});

// 401 would end the job and disable the endpoint, although only a setting is missing.
test('a handler without a secret answers what is tried again and logs what to set', async () => {
  const lines = [];
  let ran = 0;
  const run = () => {
    ran += 1;
  };
  const handler = endpoint(run, { signingSecret: '', logger: { ...silent, error: (line) => lines.push(line) } });
  const answer = await handler.answer('POST', signed(BODY), BODY);
  const { error } = JSON.parse(answer.body);
  assert.deepEqual([answer.status, error.code, error.retryable, ran], [500, 'internal_error', true, 0]);
  assert.match(lines.join('\n'), /OJS_SIGNING_SECRET/);
});

test('what is no delivery is refused', async () => {
  for (const [method, body, status, code] of [
    ['GET', BODY, 405, 'method_not_allowed'],
    ['POST', '{', 400, 'invalid_request'],
    ['POST', '{"job":7}', 400, 'invalid_request'],
    ['POST', '{"id":"1","type":"a","attempt":"x"}', 400, 'invalid_request'],
    ['POST', ' '.repeat(6 * 1024 * 1024 + 1), 413, 'payload_too_large'],
  ]) {
    const answer = await endpoint().answer(method, signed(body), body);
    const { error } = JSON.parse(answer.body);
    assert.deepEqual([answer.status, error.code, error.retryable], [status, code, false]);
  }
});

test('a delivery that arrives twice runs once, also while it runs', async () => {
  const [began, goOn] = [signal(), signal()];
  let ran = 0;
  const handler = endpoint(async () => {
    began.set();
    await goOn.promise;
    return (ran += 1);
  });
  const first = handler.answer('POST', signed(BODY), BODY);
  await began.promise;
  const second = handler.answer('POST', { ...signed(BODY), 'X-OJS-Delivery-ID': 'del_forged' }, BODY);
  goOn.set();
  assert.deepEqual(await second, await first);
  assert.deepEqual(await handler.answer('POST', signed(BODY, SECRET, NOW - 9), BODY), await first, 'signed anew');
  assert.equal(ran, 1);
  const other = pushed(job(), 'del_2');
  await handler.answer('POST', signed(other), other);
  const bare = JSON.stringify(job());
  for (let time = 0; time < 2; time += 1) await handler.answer('POST', signed(bare), bare);
  assert.equal(ran, 3);
});

test('the memory of deliveries is bounded', async () => {
  let now = 0;
  const memory = new Replays(600, { clock: () => now, entries: 3, size: 100 });
  const arrive = async (delivery, length = 1) => {
    let isFirst = false;
    await memory.once(delivery, async () => {
      isFirst = true;
      return { body: ' '.repeat(length) };
    });
    return isFirst;
  };
  for (const [delivery, expected] of [
    ['a', true],
    ['b', true],
    ['c', true],
    ['a', false],
    ['d', true],
    ['a', true],
  ]) {
    assert.equal(await arrive(delivery), expected, 'number');
  }
  now = 601;
  assert.ok(await arrive('d'), 'time');
  assert.ok(await arrive('e', 200));
  assert.ok(await arrive('f'));
  assert.ok(await arrive('e'), 'size');
  assert.ok(memory.count <= 3);
  await assert.rejects(
    memory.once('g', async () => {
      throw new Error('given up');
    }),
  );
  assert.ok(await arrive('g'), 'it may come again');
});

test('requests of fetch and of Node.js are passed on, and bounded', async (t) => {
  const handler = endpoint();
  const send = (url, body, headers = signed(body)) => fetch(url, { method: 'POST', body, headers });
  const vercel = new VercelHandler({ signingSecret: SECRET, clock }).register('email.send', () => 'edge');
  for (const [fetched, result] of [
    [handler.fetch.bind(handler), { message_id: 'msg_123' }],
    [vercel.fetch, 'edge'],
  ]) {
    const answer = await fetched(
      new Request('http://localhost/', { method: 'POST', body: BODY, headers: signed(BODY) }),
    );
    assert.deepEqual([answer.status, (await answer.json()).result], [200, result]);
    const large = new Request('http://localhost/', { method: 'POST', body: ' '.repeat(7_000_000) });
    assert.equal((await fetched(large)).status, 413);
  }
  const server = createServer((request, response) => handler.handleHTTP(request, response)).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/`;
  const other = pushed(job(), 'del_2');
  assert.equal((await (await send(url, other)).json()).status, 'completed');
  assert.equal((await send(url, other, {})).status, 401);
  assert.equal((await fetch(url)).status, 405);
});

test('a body that a framework has parsed already is an error that says what to do', async () => {
  await assert.rejects(
    endpoint().handleHTTP({ method: 'POST', headers: {}, body: {}, readableEnded: true }, {}),
    /express\.raw/,
  );
});
