// OpenTelemetry spans, with OpenTelemetry's own SDK and an exporter in memory. What they are: tests/vectors/spans.json.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { OJSClient, OJSWorker, Snooze } from '@openjobspec/sdk';
import { Spans } from '@openjobspec/sdk/spans';
import { PATIENCE, program as run, signal } from './support.mjs';

const { spans: CASES } = JSON.parse(readFileSync(new URL('../../tests/vectors/spans.json', import.meta.url)));
/** What differs from run to run. */
const PLACEHOLDERS = {
  'ojs.job.id': '@id', 'messaging.message.id': '@id', 'ojs.job.scheduled_at': '@time', 'error.message': '@text',
};

class NotYet extends Error {
  get name() {
    return 'NotYet';
  }
}

// The context of a program is global in Node.js, as an SDK sets it.
api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

/** A program with telemetry: a client, and a worker for the queues of the vectors. */
function program(t, options = {}) {
  const exporter = new InMemorySpanExporter();
  // Start times are whole milliseconds, so they do not tell in which order spans began.
  const begun = [];
  const onStart = (span) => begun.push(span.spanContext().spanId);
  const order = { onStart, onEnd() {}, async shutdown() {}, async forceFlush() {} };
  const provider = new BasicTracerProvider({ spanProcessors: [order, new SimpleSpanProcessor(exporter)] });
  const spans = new Spans({ tracerProvider: provider });
  const client = new OJSClient({ url: 'memory:', ...options });
  client.middleware.prepend('trace_inject', spans.enqueue);
  const worker = new OJSWorker({ client, queues: ['mail', 'default'], workerId: 'w' });
  worker.middleware.prepend('trace_extract', spans.process);
  t.after(async () => {
    await worker.stop(0);
    await client.close();
  });
  const place = (span) => begun.indexOf(span.spanContext().spanId);
  // In the order in which they began: a job may be over before the answer to its enqueue is read.
  const finished = (name) => {
    const found = exporter.getFinishedSpans().filter((span) => name === undefined || span.name === name);
    return found.sort((one, other) => place(one) - place(other));
  };
  return { client, worker, finished, tracer: provider.getTracer('program') };
}

const ended = (client, job) => client.waitForResult(job.id, { timeout: PATIENCE });

/** A span in the words of the vectors. */
function described(span, all) {
  const place = (id) => all.find((other) => other.spanContext().spanId === id)?.name ?? id;
  return {
    name: span.name,
    kind: api.SpanKind[span.kind].toLowerCase(),
    status: api.SpanStatusCode[span.status.code].toLowerCase(),
    parent: span.parentSpanContext === undefined ? null : place(span.parentSpanContext.spanId),
    links: span.links.map((link) => place(link.context.spanId)),
    attributes: Object.fromEntries(
      Object.entries(span.attributes).map(([name, value]) => [name, PLACEHOLDERS[name] ?? value]),
    ),
    events: span.events.map((event) => event.name),
  };
}

describe('spans are those of the core', () => {
  for (const { name, runs, job, spans } of CASES) {
    test(name, async (t) => {
      const { client, worker, finished } = program(t);
      let snoozed = false;
      worker.register('t.ok', () => {});
      worker.register('t.mail', () => {}, { queue: 'mail' });
      worker.register('t.fail', () => { throw new NotYet('not yet'); });
      worker.register('t.snooze', () => {
        if (snoozed) return;
        snoozed = true;
        throw new Snooze(0);
      });
      await worker.start();
      const { type, args, times = 1, max_attempts: attempts, delay_until: delayUntil, ...options } = job;
      if (attempts !== undefined) options.retry = attempts;
      if (delayUntil !== undefined) options.delayUntil = delayUntil;
      for (let count = 1; count <= times; count += 1) {
        const made = client.enqueue(type, args, options);
        if (count > 1) await assert.rejects(made, { code: 'duplicate' });
        else if (runs) await ended(client, await made);
        else await made;
      }
      await worker.stop();
      const all = finished();
      assert.deepEqual(all.map((span) => described(span, all)), spans);
    });
  }
});

test('what a handler does is inside of its span', async (t) => {
  const { client, worker, finished, tracer } = program(t);
  let tenant;
  worker.register('t.outer', async (ctx) => {
    tenant = api.propagation.getActiveBaggage()?.getEntry('tenant')?.value;
    await tracer.startActiveSpan('work', async (span) => {
      await new Promise(setImmediate);
      span.end();
    });
    await ctx.client.enqueue('t.inner');
  });
  const inner = signal();
  worker.register('t.inner', () => inner.set());
  await worker.start();
  const baggage = api.propagation.createBaggage({ tenant: { value: 'acme' } });
  const request = tracer.startSpan('request');
  const here = api.trace.setSpan(api.propagation.setBaggage(api.ROOT_CONTEXT, baggage), request);
  const job = await api.context.with(here, () => client.enqueue('t.outer'));
  await ended(client, job);
  await inner.promise;
  await worker.stop();
  const [made, more] = finished('default enqueue');
  const outer = finished('default process').find((span) => span.attributes['ojs.job.type'] === 't.outer');
  assert.equal(made.parentSpanContext.spanId, request.spanContext().spanId);
  assert.equal(finished('work')[0].parentSpanContext.spanId, outer.spanContext().spanId);
  assert.equal(more.parentSpanContext.spanId, outer.spanContext().spanId);
  // A link and no child: the job may run long after the request, and more than once.
  assert.equal(outer.parentSpanContext, undefined);
  assert.deepEqual(outer.links.map((link) => link.context.spanId), [made.spanContext().spanId]);
  assert.equal(tenant, 'acme');
});

test('each job of a batch has a span', async (t) => {
  const { client, finished } = program(t);
  const jobs = await client.enqueueBatch([{ type: 't.ok', args: ['a'] }, { type: 't.ok', args: ['b'] }]);
  const made = finished('default enqueue').map((span) => span.spanContext());
  const parents = made.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
  assert.deepEqual(jobs.map((job) => job.meta.traceparent), parents);
});

test('a cancelled job has not failed', async (t) => {
  const { client, worker, finished } = program(t);
  const begun = signal();
  worker.register('t.long', async (ctx) => {
    begun.set();
    while (await ctx.heartbeat());
    throw new Error('it was stopped');
  });
  await worker.start();
  const job = await client.enqueue('t.long');
  await begun.promise;
  await client.cancelJob(job.id);
  await worker.stop();
  const [span] = finished('default process');
  assert.equal(span.status.code, api.SpanStatusCode.OK);
  assert.deepEqual(span.events, []);
});

test('EI-002: neither plaintext nor ciphertext is on a span', async (t) => {
  const { client, worker, finished } = program(t, { encryptionKeys: { 'k-1': Buffer.alloc(32, 1) } });
  worker.register('t.ok', () => {});
  worker.register('t.fail', () => { throw new NotYet('not yet'); });
  await worker.start();
  const stored = [];
  for (const type of ['t.ok', 't.fail']) {
    const job = await client.enqueue(type, ['4111 1111'], { retry: 1 });
    stored.push(JSON.stringify((await client.getJob(job.id)).args));
    await ended(client, job);
  }
  await worker.stop();
  const shown = ({ name, attributes, events, status }) => ({ name, attributes, events, status });
  const text = JSON.stringify(finished().map(shown));
  assert.equal(finished('default process').length, 2);
  assert.ok(!text.includes('4111 1111') && !text.includes('"args"'), text);
  const ciphertexts = stored.flatMap((args) => args.split('"')).filter((word) => word.length > 20);
  assert.ok(ciphertexts.length >= 2);
  for (const word of ciphertexts) assert.ok(!text.includes(word));
});

test('without a provider the trace of a request goes on; without the module nothing is loaded', async () => {
  const body = `
    const { OJSClient } = require('@openjobspec/sdk');
    const loaded = () => Object.keys(require.cache).filter((name) => name.includes('@opentelemetry'));
    if (loaded().length > 0) throw new Error(loaded());
    const { Spans } = require('@openjobspec/sdk/spans');
    const client = new OJSClient('memory:');
    client.middleware.prepend('trace_inject', new Spans().enqueue);
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    (async () => {
      const jobs = [await client.enqueue('t.ok'), await client.enqueue('t.ok', [], { meta: { traceparent } })];
      console.log(jobs.map((job) => String(job.meta?.traceparent)).join(' '));
      await client.close();
    })();`;
  const { code, lines, errors } = await run(['-e', body], { cwd: new URL('..', import.meta.url) }).ended;
  assert.deepEqual([code, lines], [0, ['undefined 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01']], errors);
});
