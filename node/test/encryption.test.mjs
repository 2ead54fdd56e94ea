import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OJSClient, OJSWorker } from '@openjobspec/sdk';
import { Outbox } from '@openjobspec/sdk/outbox';
import { signal } from './support.mjs';

const SECRET = '4111 1111 1111 1111';
const encryptionKeys = { 'k-2': Buffer.alloc(32, 2), 'k-1': Buffer.alloc(32, 1) };

test('EI-012: the handler sees what the server does not', async () => {
  const client = new OJSClient({ url: 'memory:node-encryption', encryptionKeys });
  const job = await client.enqueue('card.charge', [SECRET, { n: 1.5 }], { meta: { tenant_id: 'acme' } });
  const stored = await client.getJob(job.id);
  assert.ok(!JSON.stringify(stored.args).includes(SECRET));
  assert.equal(stored.meta['ojs.codec.key_id'], 'k-2');
  const seen = signal();
  const worker = new OJSWorker({ client });
  worker.register('card.charge', (ctx) => seen.set([ctx.args, ctx.meta]));
  await worker.start();
  assert.deepEqual(await seen.promise, [[SECRET, { n: 1.5 }], { tenant_id: 'acme' }]);
  await worker.stop();
  await client.close();
});

test('EI-013: rows of an outbox hold ciphertext', async () => {
  const client = new OJSClient({ url: 'memory:', encryptionKeys: `k-1:${'ab'.repeat(32)}` });
  const written = [];
  const outbox = new Outbox({ client, relay: false });
  const transaction = { database: 'sqlite', execute: (sql, params) => written.push(params) };
  await outbox.enqueueAfterCommit('card.charge', [SECRET], { transaction });
  assert.equal(written.length, 1);
  assert.ok(!JSON.stringify(written).includes(SECRET) && JSON.stringify(written).includes('ojs_encoded'));
  await client.close();
});

test('a wrong key is refused without being repeated', () => {
  for (const keys of ['nonsense', 'k:short', { k: Buffer.from('short') }]) {
    assert.throws(() => new OJSClient({ url: 'memory:', encryptionKeys: keys }), (error) => error.name === 'OJSValidationError' && !error.message.includes('short'));
  }
});
