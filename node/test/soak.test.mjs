// Memory does not grow with the number of jobs. The engine is another process: it keeps the events of all jobs for a while.
// OJS_SOAK_JOBS=1000000 (make soak) is the long form.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { OJSClient, OJSWorker } from '@openjobspec/sdk';
import { BIN, eventually } from './support.mjs';

const JOBS = Number(process.env.OJS_SOAK_JOBS ?? 20_000);
const BATCH = 1000;
// Bytes. The heap is exact after a collection; what the process holds is not.
const MAY_GROW = { heapUsed: 3 << 20, rss: 40 << 20 };

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

function held() {
  collect();
  return process.memoryUsage();
}

test('memory does not grow with the jobs', async (t) => {
  const server = spawn(process.execPath, [BIN, 'server', '--store', 'memory:', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(server.stdout), 'line');
  const client = new OJSClient({ url: line.split(' ').at(-1) });
  const worker = new OJSWorker({ client, concurrency: 16 }).register('a', (ctx) => ctx.args[0]);
  t.after(async () => {
    await worker.stop(0);
    await client.close();
    server.kill();
  });
  await worker.start();
  const run = async (jobs) => {
    for (let sent = 0; sent < jobs; sent += BATCH) {
      await client.enqueueBatch(Array.from({ length: BATCH }, (_, n) => ({ type: 'a', args: [n, 'x'.repeat(200)] })));
      await eventually(async () => (await client.queues.stats('default')).completed === BATCH);
      await client.queues.purge('default', ['completed']);
    }
  };
  await run(JOBS / 2);
  const before = held();
  await run(JOBS);
  const after = held();
  for (const [kind, limit] of Object.entries(MAY_GROW)) {
    assert.ok(after[kind] - before[kind] < limit, `${JOBS} jobs left ${(after[kind] - before[kind]) >> 10} KB behind (${kind})`);
  }
});
