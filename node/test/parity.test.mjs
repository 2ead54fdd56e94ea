// Behaviours of tests/parity that no other test shows.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { OJSClient } from '@openjobspec/sdk';

test('a server that does not answer in time', async (t) => {
  const sockets = [];
  const server = createServer((socket) => sockets.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = new OJSClient({ url: `http://127.0.0.1:${server.address().port}`, timeout: 50, retryConfig: { maxAttempts: 1 } });
  t.after(async () => {
    await client.close();
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  await assert.rejects(client.health(), { name: 'OJSTimeoutError', retryable: true });
});
