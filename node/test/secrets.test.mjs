// Passwords and tokens are neither in errors nor in what is printed of clients, workers, servers, outboxes and relays.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { OJSClient, OJSWorker } from '@openjobspec/sdk';
import { Outbox, Relay } from '@openjobspec/sdk/outbox';

const SECRET = 'planted-secret';
const told = (error) => `${inspect(error, { depth: 9, showHidden: true })} ${JSON.stringify(error)} ${error.stack} ${error.cause}`;

const clean = (text, what) => assert.ok(!text.includes(SECRET), `${what}: ${text}`);

test('printed objects', async () => {
  const url = `http://ada:${SECRET}@127.0.0.1:1/`;
  const settings = { url, authToken: SECRET, headers: { 'x-key': SECRET }, encryptionKeys: { k: Buffer.from(SECRET.padEnd(32)) }, maxSends: 1 };
  const client = new OJSClient(settings);
  const worker = new OJSWorker(settings);
  const task = worker.register('a', () => 1);
  const outbox = new Outbox({ client, databaseUrl: `postgres://ada:${SECRET}@127.0.0.1:1/app` });
  const relay = new Relay(client, `postgres://ada:${SECRET}@127.0.0.1:1/app`);
  for (const [what, object] of Object.entries({ client, queues: client.queues, worker, task, outbox, relay, home: outbox.relay() })) {
    clean(inspect(object, { depth: 9 }), what);
    clean(`${object} ${JSON.stringify(object)}`, what);
  }
  await client.health().then(() => assert.fail(), (error) => clean(told(error), 'an error of the connection'));
  await worker.start().then(() => worker.stop(0), (error) => clean(told(error), 'an error of the worker'));
  await client.close();
});
