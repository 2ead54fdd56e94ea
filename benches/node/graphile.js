// graphile-worker with handlers that do nothing. Prints one line of JSON.
//
//   graphile.js --url URL --how tuned|defaults --jobs N                      N jobs inserted beforehand, then worked off
//   graphile.js --url URL --how tuned|defaults --seconds S --backlog N       a producer keeps N jobs waiting for S seconds
//
// Every handler reads its payload and counts per job; a job that ran twice, or never, is an error.
import { parseArgs } from "node:util";
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";

const CONCURRENCY = 24; // as in its own benchmark
const BATCH = 1000;
const TOP_UP_MS = 250; // as River's benchmark does
const { values: options } = parseArgs({
  options: {
    url: { type: "string" },
    how: { type: "string" },
    jobs: { type: "string", default: "0" },
    seconds: { type: "string", default: "0" },
    backlog: { type: "string", default: "0" },
    payload: { type: "string", default: "150" },
  },
});
const tuned = options.how === "tuned";
const text = "x".repeat(Number(options.payload));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const pool = new pg.Pool({ connectionString: options.url, max: 25 });
const logger = new Logger(() => () => {});
const utils = await makeWorkerUtils({ pgPool: pool, logger });
await utils.migrate();

const runs = [];
let inserted = 0;
let ran = 0;

async function insert(count) {
  const specs = [];
  for (let n = 0; n < count; n++) specs.push({ identifier: "noop", payload: { n: inserted + n, text } });
  inserted += count;
  await utils.addJobs(specs);
}

async function fill(upTo) {
  while (inserted - ran < upTo) await insert(Math.min(BATCH, upTo - (inserted - ran)));
}

const waiting = async () => Number((await pool.query("select count(*) from graphile_worker._private_jobs")).rows[0].count);

const jobs = Number(options.jobs);
const seconds = Number(options.seconds);
await fill(jobs || Number(options.backlog));

const runner = await run({
  pgPool: pool,
  noHandleSignals: true,
  taskList: {
    noop: async ({ n, text }) => {
      if (text.length === 0) throw new Error("no text");
      runs[n] = (runs[n] ?? 0) + 1;
      ran++;
    },
  },
  preset: {
    worker: {
      concurrentJobs: CONCURRENCY,
      logger,
      ...(tuned ? { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {}),
    },
  },
});
const started = performance.now();
let rate;
if (jobs) {
  while (ran < jobs) await pause(2);
  // Finished is what the database says: completed rows are deleted.
  while ((await waiting()) > 0) await pause(2);
  rate = (jobs / (performance.now() - started)) * 1000;
} else {
  const end = started + seconds * 1000;
  let producing = true;
  const producer = (async () => {
    while (producing) {
      await fill(Number(options.backlog));
      await pause(TOP_UP_MS);
    }
  })();
  while (performance.now() < end) await pause(5);
  rate = (ran / (performance.now() - started)) * 1000;
  producing = false;
  await producer;
  while (ran < inserted) await pause(5);
}
await runner.stop();
for (let n = 0; n < inserted; n++) if (runs[n] !== 1) throw new Error(`job ${n} ran ${runs[n] ?? 0} times`);
const left = await waiting();
if (left > 0) throw new Error(`${left} jobs are not completed`);
await pool.end();
const how = tuned ? "local queue of 500, completions in batches" : "queue and completion settings left alone";
console.log(JSON.stringify({ jobs_per_second: rate, how: `1 process, ${CONCURRENCY} at a time, ${how}` }));
