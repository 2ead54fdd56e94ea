// The Node.js side of languages.py: a worker for the queue `node`, until SIGTERM.
import { OJSClient, OJSWorker } from '@openjobspec/sdk';

const client = new OJSClient(); // OJS_URL
const worker = new OJSWorker({ client, queues: ['node'], concurrency: 8 });

/** Gives back what it got: numbers that JavaScript cannot hold are bigints, and go out as they came in. */
worker.register('node.echo', (ctx) => ctx.args);

/** Sends jobs to another language. */
worker.register('node.send', async (ctx) => {
  const [count, type, queue, args] = ctx.args;
  const jobs = await client.enqueueBatch(Array.from({ length: count }, () => ({ type, args, queue })));
  return jobs.length;
});

/** Reads the result of the step before. */
worker.register('node.reverse', (ctx) => ({ words: ctx.parentResults.at(-1).words.reverse() }));

worker.start().then(() => console.log('ready'));
process.once('SIGTERM', async () => {
  await worker.stop();
  await client.close();
});
