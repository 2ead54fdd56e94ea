// Helpers of the tests: engines of their own, waiting for conditions, a transport that records.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { after, describe } from 'node:test';
import { OJSClient, OJSServer, OJSWorker } from '@openjobspec/sdk';

/** Longest time a test waits for something that takes milliseconds. Reached only by failures. */
export const PATIENCE = 60_000;
export const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
export const BIN = fileURLToPath(new URL('../bin/ojs.cjs', import.meta.url));

/** The first true value of `probe`. */
export async function eventually(probe, patience = PATIENCE) {
  const until = Date.now() + patience;
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > until) throw new Error(`not within ${patience} ms: ${probe}`);
    await pause(2);
  }
}

/** The job, once it is in one of these states. */
export const inState = (client, id, ...states) => eventually(async () => {
  const job = await client.getJob(id);
  return states.includes(job.state) && job;
});

/** Something to wait for: `await signal.promise` until `signal.set(value)`. */
export function signal() {
  let set;
  const promise = new Promise((resolve) => { set = resolve; });
  return { promise, set };
}

let names = 0;

/** Runs the same tests against an engine in this process, and against a server over HTTP. `t` makes clients and workers. */
export function onEveryConnection(title, tests) {
  for (const kind of ['memory', 'http']) {
    describe(`${title} (${kind})`, () => {
      let server;
      const url = async () => {
        if (kind === 'memory') return `memory:test-${process.pid}-${(names += 1)}`;
        server ??= await OJSServer.start();
        return server.url;
      };
      after(() => server?.stop());
      tests(async (t, options) => {
        const client = new OJSClient({ url: await url(), ...options });
        const queue = `queue-${(names += 1)}`;
        const workers = [];
        t.after(async () => {
          for (const worker of workers) await worker.stop(0);
          await client.close();
        });
        const makeWorker = (handlers = {}, settings = {}) => {
          const worker = new OJSWorker({ client, queues: [queue], ...settings });
          for (const [type, handler] of Object.entries(handlers)) worker.register(type, handler);
          workers.push(worker);
          return worker;
        };
        const enqueue = (type, args, more) => client.enqueue(type, args, { queue, ...more });
        return { client, queue, enqueue, makeWorker };
      });
    });
  }
}

/** A custom transport: remembers requests, answers like a server. */
export class Recorder {
  requests = [];

  async request({ method, path, body }) {
    this.requests.push({ method, path, body });
    if (path === '/jobs') return { status: 201, body: { job: { id: 'test-id', state: 'available', ...body } } };
    if (path === '/jobs/batch') return { status: 201, body: { jobs: body.jobs.map((job, n) => ({ id: `test-${n}`, ...job })) } };
    if (path === '/workflows') return { status: 201, body: { workflow: { id: 'wf', state: 'running', ...body } } };
    return { status: 404, body: { error: { code: 'not_found', message: `no ${path}`, retryable: false } } };
  }

  get body() {
    return this.requests.at(-1).body;
  }
}

/** A node program: `line(text)` waits for a line, `ended` is its exit. */
export function program(args, options = {}) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const lines = [];
  let errors = '';
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  child.stderr.on('data', (data) => { errors += data; });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, lines, errors }));
  const line = (text) => eventually(() => {
    const found = lines.find((one) => one.includes(text));
    if (found === undefined && child.exitCode !== null) throw new Error(`it ended before it said '${text}': ${errors}`);
    return found;
  });
  const overdue = setTimeout(() => child.kill('SIGKILL'), PATIENCE).unref();
  ended.then(() => clearTimeout(overdue));
  return { child, line, ended };
}

/** Names of error classes by the number all languages share. */
export const CLASSES = {
  1: 'OJSAPIError', 2: 'OJSDuplicateError', 3: 'OJSNotFoundError', 4: 'OJSQueuePausedError', 5: 'OJSRateLimitError',
  6: 'OJSInvalidStateTransitionError', 7: 'OJSPayloadTooLargeError', 8: 'OJSInvalidRequestError', 9: 'OJSAuthenticationError',
  11: 'OJSUnsupportedExtensionError', 30: 'OJSValidationError',
};
