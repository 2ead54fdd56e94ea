// Push deliveries to an application with Express.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';
import express from 'express';
import express4 from 'express4';
import { PushHandler } from '@openjobspec/sdk/serverless';
import { SECRET, job, pushed, signed } from '../../../test/serverless_support.mjs';
import { defer } from './support.mjs';

/** Sends a job to an application, signed with a secret. */
async function sender(t, app) {
  const listening = app.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  defer(t, () => listening.close());
  return (place, secret) => {
    const body = pushed(job('email.send', ['ada']), `del_${randomUUID()}`);
    // The clock of the handler is the true one.
    const headers = { connection: 'close', ...signed(body, secret, Math.floor(Date.now() / 1000)) };
    return fetch(`http://127.0.0.1:${listening.address().port}${place}`, { method: 'POST', body, headers });
  };
}

for (const [name, framework] of [['Express 5', express], ['Express 4', express4]]) {
  test(`${name} takes push deliveries`, async (t) => {
    const seen = [];
    const handler = new PushHandler({ signingSecret: SECRET });
    handler.register('email.send', async ({ job }) => {
      seen.push(job.args);
      return { sent: true };
    });
    const app = framework();
    app.post('/raw', framework.raw({ type: '*/*' }), (request, response) => handler.handleHTTP(request, response));
    app.post('/plain', (request, response) => handler.handleHTTP(request, response));
    const send = await sender(t, app);
    for (const place of ['/raw', '/plain']) {
      const answer = await send(place, SECRET);
      assert.deepEqual([answer.status, await answer.json()], [200, { status: 'completed', result: { sent: true } }]);
      assert.equal((await send(place, 'whsec_other')).status, 401);
    }
    assert.deepEqual(seen, [['ada'], ['ada']], 'what is not signed runs nothing');
  });
}
