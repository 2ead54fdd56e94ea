// Runs the guide's own transport and polling loop (inside_an_sdk.mts) against a server, and the package on the guide's transport.
import assert from 'node:assert';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { OJSClient, OJSError, OJSServer, OJSWorker } from '@openjobspec/sdk';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const typescript = createRequire(here('../../node/package.json'))('typescript');
const PATIENCE = 60_000;
const folder = mkdtempSync(path.join(tmpdir(), 'ojs-seeds-'));
let guide;
let server;
let client;

before(async () => {
  const { outputText } = typescript.transpileModule(readFileSync(here('inside_an_sdk.mts'), 'utf8'), { compilerOptions: {
    module: typescript.ModuleKind.ESNext, target: typescript.ScriptTarget.ES2022,
  } });
  const place = path.join(folder, 'inside.mjs');
  symlinkSync(here('../../node_modules'), path.join(folder, 'node_modules'));
  writeFileSync(place, outputText);
  guide = await import(pathToFileURL(place));
  server = await OJSServer.start();
  client = new OJSClient({ url: server.url });
});
after(async () => {
  await client.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function ended(job) {
  for (const until = Date.now() + PATIENCE; Date.now() < until;) {
    const now = await client.getJob(job.id);
    if (now.state === 'completed' || now.error) return now;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`${job.id} is not over`);
}

test('the transport and the polling loop as printed', async () => {
  const transport = new guide.HttpTransport({ url: server.url });
  const worker = new guide.PollingWorker(transport, {
    'email.send': async (job) => ({ delivered: job.args[0] }),
    'email.fail': async () => { throw new Error('Connection refused to smtp.example.com:587'); },
  }, { concurrency: 2, pollInterval: 5 });
  worker.start();
  const jobs = await client.enqueueBatch([1, 2, 3, 4, 5].map((number) => ({ type: 'email.send', args: [number] })));
  for (const job of jobs) assert.deepEqual((await ended(job)).result, { delivered: job.args[0] });
  const failed = await ended(await client.enqueue('email.fail'));
  assert.equal(failed.error.message, 'Connection refused to smtp.example.com:587');
  await worker.stop();
  assert.equal(worker.activeJobs.size, 0);
});

test('the error of the transport as printed is a structured one', async () => {
  const transport = new guide.HttpTransport({ url: server.url });
  await assert.rejects(transport.request({ method: 'GET', path: '/jobs/019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f' }), (error) => {
    assert.ok(error instanceof OJSError);
    const { code, message, retryable } = error;
    assert.deepEqual([code, retryable], ['not_found', false]);
    assert.match(message, /019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f/);
    return true;
  });
});

test('the package runs on the transport as printed', async () => {
  const transport = new guide.HttpTransport({ url: server.url });
  const own = new OJSClient({ transport });
  const worker = new OJSWorker({ transport, queues: ['over-transport'], pollInterval: 5 });
  worker.register('email.send', (ctx) => ({ delivered: ctx.args[0] }));
  await worker.start();
  const job = await own.enqueue('email.send', ['ada'], { queue: 'over-transport' });
  assert.deepEqual((await ended(job)).result, { delivered: 'ada' });
  await worker.stop();
});
