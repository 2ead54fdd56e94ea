// Compiled, never run: what users write has these types, and what is wrong is refused.
import sdk, { OJSClient, OJSWorker, OJSDuplicateError, OJSError, NonRetryableError, Snooze, batch, chain, group, setLogger, testing } from '@openjobspec/sdk';
import type { ExecutionMiddleware, Job, JobContext, Transport } from '@openjobspec/sdk';

const recording: Transport = {
  async request(opts) {
    const body: unknown = opts.body;
    return { status: 201, body: { job: { id: 'test-id', type: opts.path, args: [body] } } };
  },
};

const client = new OJSClient({ url: 'http://unused', transport: recording, timeout: '5s', auth: 'token' });
new OJSClient('memory:');
const job: Job<[string, number]> = await client.enqueue<[string, number]>('email.send', ['a', 1], {
  queue: 'mail', delay: '5m', expiresAt: new Date(), retry: { maxAttempts: 3, initialInterval: 500 },
  unique: { keys: ['type'], onConflict: 'ignore' }, signal: AbortSignal.timeout(100),
});
const to: string = job.args[0];
const state: 'completed' | string | undefined = job.state;
await client.enqueueBatch(['a.b', { type: 'a.b', args: [1], queue: 'x' }, { type: 'a.b', options: { priority: 1 } }]);
await client.workflow(chain({ type: 'a', args: { url: to } }, group('b', 'c')).named(String(state)));
await client.workflow(batch([{ type: 'a' }], { on_complete: 'd', onFailure: { type: 'e' } }));

client.useEnqueue('tenant', async (request, next) => {
  request.meta = { ...request.meta, tenant: 1 };
  return next(request);
});

const timing: ExecutionMiddleware = async (ctx, next) => {
  const result = await next();
  ctx.setResult(result);
};
const worker = new OJSWorker({ client, queues: ['mail'], concurrency: 4, shutdownTimeout: '10s' });
worker.use('timing', timing).use(async (_ctx, next) => { await next(); });
worker.middleware.insertBefore('timing', 'tracing', (ctx: JobContext, next) => next(ctx));
worker.register<[string]>('email.send', async (ctx) => {
  const address: string = ctx.args[0];
  await fetch(`https://example.com/${address}`, { signal: ctx.signal });
  if (ctx.attempt > 2) throw new NonRetryableError('no', { code: 'c' });
  if (!(await ctx.heartbeat())) throw new Snooze('1m');
  return { sent: true };
});
worker.on('failed', (ctx, error) => console.error(ctx.id, error));
await worker.run();

try {
  await client.getJob('x');
} catch (error) {
  if (error instanceof OJSDuplicateError) console.log(error.existingJobId, error.retryable);
  else if (error instanceof OJSError) console.log(error.code.length);
}

const fake = testing.fake();
fake.assertEnqueued('a', { count: 1, args: [1] });
const ran: number = await fake.drain(worker, { throwErrors: false });
console.log(ran, sdk.version, sdk.json.parse('1'));

const items = await client.bulkEnqueue(['a.b', { type: 'c' }], { atomic: true, idempotencyKey: 'once' });
const stored: boolean = items.every((item) => item.ok || item.error?.code === 'x');
console.log(stored, (await client.bulkCancel({ queue: 'mail', states: ['available'] })).succeeded, (await client.bulkDelete({ ids: [job.id] })).skipped);
const sent: { sent: boolean } | undefined = (await client.waitForResult<{ sent: boolean }>(job.id, { timeout: '1m' })).result;
console.log(sent, (await client.results([job.id]))[0]?.ok);
for await (const event of client.events({ types: ['job.*'], after: '' })) console.log(event.subject, event.data);
await client.queues.configure('mail', { concurrency: 20, max_size: null });
const purged: number = await client.queues.purge('mail', ['completed'], { olderThan: 'P7D' });
console.log(purged, await client.deadLetters.retryAll({ queue: 'mail', since: new Date() }), await client.rateLimits.get('tenant-1'));
setLogger(console, { level: 'debug' });
setLogger(null);

// @ts-expect-error a bulk call needs ids or a filter it knows
await client.bulkCancel({ job: 'x' });
// @ts-expect-error a job needs a type
await client.enqueue();
// @ts-expect-error a misspelt option
await client.enqueue('a', [], { prioritiy: 1 });
// @ts-expect-error handlers are functions
worker.register('a', 'b');
// @ts-expect-error args are what was said
worker.register<[string]>('a', (ctx) => ctx.args[0] * 2);
