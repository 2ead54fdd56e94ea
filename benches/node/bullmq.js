// The rival: BullMQ on Redis, one worker in one process. Prints one line of JSON.
//
//     node bullmq.js --url redis://127.0.0.1:6379 --jobs 20000 --payload 150 --concurrency 100
import { parseArgs } from "node:util";
import { Queue, Worker } from "bullmq";

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    jobs: { type: "string" },
    payload: { type: "string", default: "150" },
    concurrency: { type: "string", default: "100" },
  },
});
const jobs = Number(values.jobs);
const address = new URL(values.url);
const connection = { host: address.hostname, port: Number(address.port), maxRetriesPerRequest: null };
const text = "x".repeat(Number(values.payload));
const queue = new Queue("bench", { connection });
for (let first = 0; first < jobs; first += 1000) {
  const count = Math.min(1000, jobs - first);
  const specs = Array.from({ length: count }, (_, n) => ({ name: "noop", data: { n: first + n, text }, opts: { removeOnComplete: true } }));
  await queue.addBulk(specs);
}
const runs = new Uint8Array(jobs);
let ran = 0;
let done;
const over = new Promise((resolve) => {
  done = resolve;
});
const perform = async (job) => {
  runs[job.data.n] += 1;
  ran += 1;
  if (ran === jobs) done();
};
const cpu = process.cpuUsage();
const began = performance.now();
const worker = new Worker("bench", perform, { connection, concurrency: Number(values.concurrency) });
await over;
const seconds = (performance.now() - began) / 1000;
const { user, system } = process.cpuUsage(cpu);
await worker.close();
await queue.close();
if (runs.some((count) => count !== 1)) throw new Error(`not each job once: ${ran} ran`);
console.log(JSON.stringify({ jobs_per_second: jobs / seconds, cpu_us: (user + system) / jobs }));
