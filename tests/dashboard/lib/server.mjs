// A real `ojs server` on a port of the system's choice, and requests to it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? `${root}target`;

/** The binary that OJS_BIN names, else what was built last for releases, else for debugging. */
export function binary() {
  const named = process.env.OJS_BIN;
  const found = (named ? [named] : [`${target}/release/ojs`, `${target}/debug/ojs`]).find(existsSync);
  if (!found) throw new Error('no ojs binary: cargo build --locked --workspace --bins, or name one in OJS_BIN');
  return found;
}

/** Runs the command to its end; what it printed. */
export async function ojs(...args) {
  const child = spawn(binary(), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (part) => { text += part; });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`ojs ${args.join(' ')} ended with ${code}`);
  return text;
}

export class Server {
  #child;

  /**
   * Starts a server on a store in memory, or only the page with `--ui-server`, with further options, and waits for its
   * first lines.
   */
  static async start(...options) {
    const server = new Server();
    const listen = options.includes('--listen') ? [] : ['--listen', '127.0.0.1:0'];
    const store = options.includes('--ui-server') ? [] : ['--store', 'memory:', '--webhook-allow-insecure'];
    const args = ['server', ...listen, ...store, '--log-level', 'error', ...options];
    server.#child = spawn(binary(), args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: server.#child.stdout })[Symbol.asyncIterator]();
    server.url = (await lines.next()).value.replace('listening on ', '');
    server.page = options.includes('--no-ui') ? null : (await lines.next()).value.replace('dashboard at ', '');
    return server;
  }

  async stop() {
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGTERM');
    await ended;
  }

  /** A request below /ojs/v1; the parsed answer. With `status`, the answer must have it. */
  async call(method, path, body, { key, headers = {}, status } = {}) {
    const answer = await fetch(`${this.url}/ojs/v1${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key ? { authorization: `Bearer ${key}` } : {}),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (status ? answer.status !== status : !answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  get(path, options) { return this.call('GET', path, undefined, options); }
  post(path, body, options) { return this.call('POST', path, body ?? {}, options); }

  /** Enqueues a job; its id. */
  async enqueue(type, args = [], options = {}, more = {}) {
    const answer = await this.post('/jobs', { type, args, options, ...more });
    return answer.job.id;
  }

  /** Takes jobs of a queue as a worker; their envelopes. */
  async fetch(queue, { worker = 'worker-1', count = 1 } = {}) {
    const answer = await this.post('/workers/fetch', { queues: [queue], count, worker_id: worker,
      visibility_timeout_ms: 600_000 });
    return answer.jobs ?? (answer.job ? [answer.job] : []);
  }

  ack(job, result) { return this.post('/workers/ack', { job_id: job.id, lease_token: job.lease_token, result }); }

  nack(job, error) {
    return this.post('/workers/nack', { job_id: job.id, lease_token: job.lease_token,
      error: { type: 'TimeoutError', message: 'it took too long', retryable: true, ...error } });
  }
}
