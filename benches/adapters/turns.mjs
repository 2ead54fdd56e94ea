// Transactions without and with a job, in turns: what the programs for Node.js share (scripts/bench_adapters.py runs them).
import { createRequire } from 'node:module';

/** Packages are those that the adapters are tested with. */
export const require = createRequire(new URL('../../node/adapters/package.json', import.meta.url));

/** No server listens there: staging a job in an outbox sends no request. */
export const SERVER = 'http://127.0.0.1:9';

const [url, ...numbers] = process.argv.slice(2);
const [warm, without, along] = numbers.map(Number);
export { url };

const spent = new Map([[false, []], [true, []]]);

/** Gives, transaction by transaction, whether it is to enqueue a job; the time counts from there until the next is asked for. */
export function* turns() {
  for (let number = 0; number < warm; number += 1) {
    yield false;
    yield true;
  }
  for (let number = 0; number < Math.max(without, along); number += 1) {
    for (const [staged, wanted] of [[false, without], [true, along]]) {
      if (number >= wanted) continue;
      const started = performance.now();
      yield staged;
      spent.get(staged).push(performance.now() - started);
    }
  }
}

/** Prints the line of JSON; `rows` is how many the outbox holds: no figure without its job. */
export function report(adapter, rows) {
  if (Number(rows) !== warm + along) throw new Error(`${adapter}: ${rows} rows in the outbox, ${warm + along} jobs enqueued`);
  console.log(JSON.stringify({ adapter, without_ms: median(spent.get(false)), with_ms: median(spent.get(true)), transactions: along }));
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return 0;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Runs `work(req)` in a request to an Express application with this middleware. */
export async function inRequest(middleware, work) {
  const app = require('express')();
  app.use(middleware);
  app.post('/', async (req, res) => {
    await work(req);
    res.end();
  });
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    const answer = await fetch(`http://127.0.0.1:${server.address().port}/`, { method: 'POST' });
    if (!answer.ok) throw new Error(await answer.text());
  } finally {
    server.close();
  }
}
