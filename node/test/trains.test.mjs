// The train of a job: how it is said, what a type says once, what comes back. A server of this test listens.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { NonRetryableError, OJSClient, OJSUnsupportedExtensionError, OJSWorker, testing } from '@openjobspec/sdk';

const { Job } = createRequire(import.meta.url)('../lib/records.cjs');
const TRAINS = 'urn:ojs:ext:x:openjobspec:job-trains';

let server;
let client;
let received;
let required;
let answer;

before(async () => {
  server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    received = JSON.parse(Buffer.concat(chunks).toString());
    required = request.headers['ojs-requires-extension'];
    const [status, body] = answer ?? [201, { job: { id: 'x' } }];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  client = new OJSClient({ url: `http://127.0.0.1:${server.address().port}`, retryConfig: { maxAttempts: 1 } });
});

after(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
});

/** The train of the latest request; its metadata says the same. */
function train() {
  const { options = {}, meta = {} } = received;
  assert.equal(options.train?.id, meta.train_id);
  assert.equal(required, options.train && TRAINS);
  return options.train;
}

test('a train is an id or an object, and the request requires the extension', async () => {
  await client.enqueue('deploy', [], { train: 'dest_1' });
  assert.deepEqual(train(), { id: 'dest_1' });
  await client.enqueue('deploy', [], { train: { id: 'dest_1', onCancelled: 'hold', cancelActive: 'immediate' } });
  assert.deepEqual(train(), { id: 'dest_1', on_cancelled: 'hold', cancel_active: 'immediate' });
  await client.enqueue('deploy', [7], { train: 'dest_{0}' });
  assert.deepEqual(train(), { id: 'dest_7' });
  await client.enqueue('deploy');
  assert.equal(train(), undefined);
});

test('a wrong train is refused by field and rule', async () => {
  for (const [wrong, message] of [
    ['a b', /train\.id: must be 1 to 255 letters/],
    [{ onCancelled: 'hold' }, /train\.id: is missing/],
    [{ id: 'a', onCancelled: 'wait' }, /train\.on_cancelled: must be "advance" or "hold", got "wait"/],
    [{ id: 'a', onCanceled: 'hold' }, /did you mean 'onCancelled'/],
    [7, /train is the id of a train/],
  ]) await assert.rejects(client.enqueue('deploy', [], { train: wrong }), { name: 'OJSValidationError', message });
});

test('a type says its train once', async () => {
  const worker = new OJSWorker({ client });
  const policy = worker.register('trains.policy', () => 1, { train: { onCancelled: 'hold' } });
  await policy.enqueue();
  assert.equal(train(), undefined, 'policies alone are no train');
  await policy.options({ train: 'dest_1' }).enqueue();
  assert.deepEqual(train(), { id: 'dest_1', on_cancelled: 'hold' });
  await client.enqueue('trains.policy', [], { train: { id: 'dest_1', onCancelled: 'advance' } });
  assert.deepEqual(train(), { id: 'dest_1', on_cancelled: 'advance' });
  worker.register('trains.derived', () => 1, { train: 'dest_{destination_id}' });
  await client.enqueue('trains.derived', { destination_id: 123, action: 'deploy' });
  assert.deepEqual(train(), { id: 'dest_123' });
  await client.enqueue('trains.derived', { destination_id: 123 }, { train: false });
  assert.equal(train(), undefined);
  await assert.rejects(client.enqueue('trains.derived', {}), { message: /names the argument 'destination_id'/ });
});

test('a server without trains is an error of its own', async (t) => {
  t.after(() => { answer = undefined; });
  const error = { code: 'EXTENSION_NOT_SUPPORTED', message: 'no', retryable: false, details: { extension: TRAINS } };
  answer = [422, { error }];
  await assert.rejects(client.enqueue('deploy', [], { train: 'dest_1' }), (error) => {
    assert.ok(error instanceof OJSUnsupportedExtensionError);
    assert.equal(error.details.extension, TRAINS);
    return true;
  });
});

test('a job knows its place', () => {
  const train = { id: 'dest_1', position: 3, role: 'locomotive', ahead: 0, state: 'running', epoch: 9 };
  const job = Job.from({ id: '1', train });
  assert.deepEqual([job.train.position, job.train.role, job.train.epoch], [3, 'locomotive', 9]);
});

test('a fake runs the jobs of a train in order', async (t) => {
  t.after(() => testing.restore());
  const own = new OJSClient('http://127.0.0.1:1');
  const ran = [];
  const worker = new OJSWorker({ url: 'http://127.0.0.1:1' });
  worker.register('trains.fake', (ctx) => {
    ran.push([ctx.args[0], ctx.train?.position]);
    if (ctx.args[0] < 0) throw new NonRetryableError('no such destination');
  }, { train: { onDiscarded: 'hold' } });
  const fake = testing.fake();
  for (const [number, priority] of [[1, -5], [2, 0], [3, 5]]) {
    await own.enqueue('trains.fake', [number], { train: 'dest_1', priority });
  }
  fake.assertEnqueued('trains.fake', { train: 'dest_1', count: 3 });
  fake.assertNotEnqueued('trains.fake', { train: 'dest_2' });
  assert.equal(await fake.drain(worker), 3);
  assert.deepEqual(ran, [[1, 1], [2, 2], [3, 3]]);

  for (const number of [-1, 5]) await own.enqueue('trains.fake', [number], { train: 'dest_2' });
  assert.equal(await fake.drain(worker, { throwErrors: false }), 1);
  assert.deepEqual((await own.trains.list({ state: 'held' })).map(({ id }) => id), ['dest_2']);
  await own.trains.advance('dest_2');
  assert.equal(await fake.drain(worker), 1);
  assert.deepEqual(ran.at(-1), [5, 2]);
});
