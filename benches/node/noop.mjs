// Handlers that do nothing, in one Node.js process. Prints one line of JSON; languages.py says what it is compared with.
//
//     node benches/node/noop.mjs --url sqlite:/tmp/jobs.db [--jobs 100000] [--payload 150] [--concurrency 100]
import { parseArgs } from 'node:util';
import { OJSClient, OJSWorker } from '@openjobspec/sdk';

const { values } = parseArgs({ options: {
  url: { type: 'string' },
  jobs: { type: 'string', default: '100000' },
  payload: { type: 'string', default: '150' },
  concurrency: { type: 'string', default: '100' },
} });
const jobs = Number(values.jobs);
const text = 'x'.repeat(Number(values.payload));
const client = new OJSClient({ url: values.url });
for (let first = 0; first < jobs; first += 1000) {
  const count = Math.min(1000, jobs - first);
  await client.enqueueBatch(Array.from({ length: count }, (_, n) => ({ type: 'bench.noop', args: [first + n, text] })));
}
const runs = new Uint8Array(jobs);
let ran = 0;
let done;
const over = new Promise((resolve) => { done = resolve; });
const worker = new OJSWorker({ client, concurrency: Number(values.concurrency) });
worker.register('bench.noop', (ctx) => {
  runs[ctx.args[0]] += 1;
  ran += 1;
  if (ran === jobs) done();
});
const cpu = process.cpuUsage();
const began = performance.now();
await worker.start();
await over;
const seconds = (performance.now() - began) / 1000;
const { user, system } = process.cpuUsage(cpu);
await worker.stop();
const { completed } = await client.queues.stats('default');
await client.close();
if (completed !== jobs || runs.some((count) => count !== 1)) throw new Error(`not each job once: ${ran} ran, ${completed} completed`);
console.log(JSON.stringify({ jobs_per_second: jobs / seconds, cpu_us: (user + system) / jobs }));
