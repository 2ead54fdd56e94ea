// Jobs whose type has no handler: a dead letter, given back, or never asked for; and settings of a connection that
// the core checks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OJSClient, OJSConnectionError, OJSServer, OJSValidationError, OJSWorker } from '@openjobspec/sdk';
import { inState, onEveryConnection } from './support.mjs';

onEveryConnection('unknown types', (make) => {
  for (const [settings, state] of [
    [{}, 'discarded'], [{ unknownTypes: 'release' }, 'retryable'], [{ onlyRegisteredTypes: true }, 'available'],
  ]) {
    test(`${JSON.stringify(settings)}: a job of an unknown type is ${state}`, async (t) => {
      const { client, enqueue, makeWorker } = await make(t);
      await makeWorker({ own: () => undefined }, settings).start();
      const other = await enqueue('other', [], { retry: { maxAttempts: 1 } });
      const own = await enqueue('own');
      await inState(client, own.id, 'completed');
      await inState(client, other.id, state);
    });
  }
});

test('wrong settings are refused by the core', async () => {
  for (const [settings, message] of [
    [{ maxResponseBytes: 0 }, /max_response_bytes must be at least 1/],
    [{ maxResponseBytes: 'many' }, /max_response_bytes must be a number of bytes/],
    [{ proxy: 'http://proxy' }, /'environment' or 'none'/],
  ]) {
    const make = () => new OJSClient({ url: 'http://localhost:1', ...settings });
    assert.throws(make, (error) => error instanceof OJSValidationError && message.test(error.message));
  }
  const worker = new OJSWorker({ url: 'memory:', unknownTypes: 'ignore' }).register('own', () => undefined);
  await assert.rejects(worker.start(), /'fail' or 'release'/);
});

test('an answer has a largest size', async (t) => {
  const server = await OJSServer.start({ store: 'memory:' });
  t.after(() => server.stop());
  const client = new OJSClient({ url: server.url, maxResponseBytes: 10, proxy: 'none', maxSends: 1 });
  t.after(() => client.close());
  await assert.rejects(client.manifest(), OJSConnectionError);
});
