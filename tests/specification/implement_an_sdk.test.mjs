// The JavaScript of "Implement an SDK" as it is printed, against a server over HTTP and an engine in this process.
import assert from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { OJSClient, OJSServer, OJSWorker, OJSError } from '@openjobspec/sdk';
// --- as printed
import { chain } from '@openjobspec/sdk';
import { group } from '@openjobspec/sdk';
import { batch } from '@openjobspec/sdk';
// ---

const PATIENCE = 60_000;

/** The first true value of `probe`. */
async function eventually(probe) {
  for (const until = Date.now() + PATIENCE; ;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > until) throw new Error(`not within ${PATIENCE} ms: ${probe}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

for (const kind of ['memory', 'http']) {
  describe(`Implement an SDK (${kind})`, () => {
    let server;
    let client;
    let worker;

    before(async () => {
      server = kind === 'http' ? await OJSServer.start() : undefined;
      client = new OJSClient({ url: server?.url ?? 'memory:seeds' });
      worker = new OJSWorker({ client });
    });
    after(async () => {
      await worker.stop();
      await client.close();
      await server?.stop();
    });

    test('logging middleware', async (t) => {
      const lines = [];
      t.mock.method(console, 'log', (line) => lines.push(line));
      // --- as printed
      worker.use(async (ctx, next) => {
        console.log(`Starting ${ctx.job.type} attempt ${ctx.attempt}`);
        const start = Date.now();
        await next();
        console.log(`Completed ${ctx.job.type} in ${Date.now() - start}ms`);
      });
      // ---
      worker.register('email.send', async (ctx) => ({ delivered: ctx.args[0] }));
      for (const type of ['data.fetch', 'data.transform', 'data.load']) worker.register(type, (ctx) => ctx.args);
      worker.register('*', (ctx) => ctx.type);
      await worker.start();
      const job = await client.enqueue('email.send', ['test']);
      const done = await eventually(async () => (({ state, result }) => state === 'completed' && { result })(await client.getJob(job.id)));
      assert.deepEqual(done.result, { delivered: 'test' });
      assert.equal(lines[0], 'Starting email.send attempt 1');
      assert.match(lines[1], /^Completed email\.send in \d+ms$/);
    });

    const ended = (workflow) => eventually(async () => {
      const status = await client.getWorkflow(workflow.id);
      return status.state === 'completed' && status;
    });

    test('chain', async () => {
      // --- as printed (the server answers with the workflow)
      const wf = chain(
        { type: 'data.fetch', args: { url: '...' } },
        { type: 'data.transform', args: { format: 'csv' } },
        { type: 'data.load', args: { dest: 'warehouse' } },
      );

      const started = await client.workflow(wf);
      // ---
      await ended(started);
    });

    test('group', async () => {
      // --- as printed
      const wf = group(
        { type: 'export.csv', args: { reportId: 'rpt_456' } },
        { type: 'export.pdf', args: { reportId: 'rpt_456' } },
        { type: 'export.xlsx', args: { reportId: 'rpt_456' } },
      );
      // ---
      await ended(await client.workflow(wf));
    });

    test('batch', async () => {
      // --- as printed
      const wf = batch(
        [
          { type: 'email.send', args: ['user1@example.com'] },
          { type: 'email.send', args: ['user2@example.com'] },
        ],
        {
          on_complete: { type: 'batch.report', args: [] },
          on_failure: { type: 'batch.alert', args: [] },
        },
      );
      // ---
      await ended(await client.workflow(wf));
    });

    test('structured errors', async () => {
      await assert.rejects(client.getJob('missing'), (error) => {
        assert.ok(error instanceof OJSError);
        const { code, message, retryable } = error;
        assert.deepEqual([code, typeof message, retryable], ['not_found', 'string', false]);
        return true;
      });
    });
  });
}

test('mock transport', async () => {
  // --- as printed, less the type `: Transport`, which node/test/types/seeds.mts has
  const mockTransport = {
    async request(opts) {
      if (opts.path === '/jobs' && opts.method === 'POST') {
        return {
          status: 201,
          body: {
            job: { id: 'test-id', type: 'email.send', state: 'available', args: ['test'] },
          },
        };
      }
      throw new Error(`Unexpected request: ${opts.method} ${opts.path}`);
    },
  };

  const client = new OJSClient({ url: 'http://unused', transport: mockTransport });
  const job = await client.enqueue('email.send', ['test']);
  assert(job.id === 'test-id');
  // ---
  await assert.rejects(client.getJob('x'), { message: 'Unexpected request: GET /jobs/x' });
});
