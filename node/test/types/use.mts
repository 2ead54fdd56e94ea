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
await client.enqueue('deploy', [], { train: 'dest_123' });
const held = await client.enqueue('deploy', [], { train: { id: 'x', onCancelled: 'hold' } });
const place: number | undefined = held.train?.position;
// @ts-expect-error a policy is one of two words
await client.enqueue('deploy', [], { train: { id: 'x', onCancelled: 'wait' } });
void place;
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

// Tasks: a handler, its job's arguments, and defaults for all its jobs.
const sendEmail = worker.register<[to: string, copies?: number]>('email.typed', async (ctx) => ctx.args[0].length, { queue: 'mail', retry: { maxAttempts: 5 }, timeout: '30s' });
const typed: Job<[to: string, copies?: number]> = await sendEmail.enqueue('ada@example.com');
await sendEmail.options({ delay: '5m', id: typed.id }).enqueue('ada@example.com', 2);
const pools: unknown = await client.request('GET', '/admin/pools');
void pools;
await client.enqueueBatch([sendEmail.request('a@example.com'), sendEmail.request('b@example.com', 3)]);
worker.register('a.b', async () => {}).register('c.d', async () => {}).use(async (_ctx, next) => { await next(); });
console.log(sendEmail.type.length, worker.client === client);
// @ts-expect-error the argument of this task is text
await sendEmail.enqueue(7);
// @ts-expect-error a task has no third argument
await sendEmail.enqueue('ada@example.com', 1, 2);
// @ts-expect-error a time belongs to one job
worker.register('e.f', async () => {}, { delayUntil: new Date() });

// Arguments are JSON's types; interfaces, optional members, unknown and any are fine.
interface User { id: number; name?: string; tags: readonly string[]; more: Record<string, unknown> }
const user: User = { id: 1, tags: [], more: {} };
const something: unknown = JSON.parse('1');
await client.enqueue('a', [user, null, 1n, { deep: [user] }]);
await client.enqueue('a', { user, when: new Date().toISOString(), nick: user.name });
await client.enqueue('a', [something, JSON.parse('{}')]);
await client.enqueue('a', [], { retry: 5, unique: true, rateLimit: { key: 'api', concurrency: 1 } });
// @ts-expect-error attempts are a number
await client.enqueue('a', [], { retry: '5' });
// @ts-expect-error a Date is not
await client.enqueue('a', [{ when: new Date() }]);
// @ts-expect-error a Map is not
await client.enqueue('a', [new Map([[1, 2]])]);
// @ts-expect-error an Error is not
await client.enqueue('a', { error: new Error('no') });
// @ts-expect-error a function is not
await client.enqueue('a', [() => 1]);
const dated = worker.register<[when: Date]>('g.h', async () => {});
// @ts-expect-error a task whose argument has no JSON form cannot be enqueued
await dated.enqueue(new Date());

const page = await client.listJobs({ queue: 'mail', type: 'email.*', state: 'discarded', since: new Date(), sort: 'priority', order: 'asc', page: 2, perPage: 50 });
console.log(page.jobs[0]?.id, page.total, page.hasMore);
// @ts-expect-error a misspelt filter
await client.listJobs({ quue: 'mail' });

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
