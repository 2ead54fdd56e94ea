// The TypeScript of the guide "Implement an SDK", as it is printed.
import assert from 'node:assert';
import { OJSClient, OJSError as PackageError, OJSWorker, batch, chain, group, type Transport } from '@openjobspec/sdk';

const mockTransport: Transport = {
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

const worker = new OJSWorker({ client });
worker.use(async (ctx, next) => {
  console.log(`Starting ${ctx.job.type} attempt ${ctx.attempt}`);
  const start = Date.now();
  await next();
  console.log(`Completed ${ctx.job.type} in ${Date.now() - start}ms`);
});

const wf = chain(
  { type: 'data.fetch', args: { url: '...' } },
  { type: 'data.transform', args: { format: 'csv' } },
  { type: 'data.load', args: { dest: 'warehouse' } },
);

await client.workflow(wf);
group({ type: 'export.csv', args: { reportId: 'rpt_456' } });
batch([{ type: 'email.send', args: ['user1@example.com'] }], { on_complete: { type: 'batch.report', args: [] } });

interface OJSError {
  code: string; // Machine-readable error code
  message: string; // Human-readable description
  retryable: boolean; // Whether the client should retry
  details?: unknown; // Additional context
}
const error: OJSError = new PackageError('no', { code: 'not_found' });
assert(error.code === new PackageError({ error }).code);
