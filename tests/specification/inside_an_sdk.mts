// The inside of an SDK as "Implement an SDK" prints it, in TypeScript: what stands between `--- as printed` and `---` is the guide's own, to
// the letter. inside_an_sdk.test.mjs runs it against a server.
import { OJSError } from '@openjobspec/sdk';

// --- as printed: "The transport layer"
// Pseudocode for the transport layer
export class HttpTransport {
  private baseUrl: string;

  constructor(config: { url: string; auth?: string; headers?: Record<string, string> }) {
    this.baseUrl = config.url + '/ojs/v1';
  }

  async request<T>(opts: {
    method: string;
    path: string;
    body?: unknown;
  }): Promise<{ status: number; body: T }> {
    const url = this.baseUrl + opts.path;
    const response = await fetch(url, {
      method: opts.method,
      headers: {
        'Content-Type': 'application/openjobspec+json',
        'Accept': 'application/openjobspec+json',
      },
      body: opts.body ? JSON.stringify(opts.body) : undefined,
    });

    if (!response.ok) {
      const error = await response.json();
      throw new OJSError(error);
    }

    return {
      status: response.status,
      body: await response.json(),
    };
  }
}
// ---

interface FetchedJob { id: string; type: string; args: unknown[] }
type Handler = (job: FetchedJob) => Promise<unknown>;

/** What the guide's loop belongs to. */
export class PollingWorker {
  readonly activeJobs = new Map<string, Promise<unknown>>();
  state: 'running' | 'terminate' = 'running';
  private pollTimer?: NodeJS.Timeout;

  constructor(
    private readonly transport: HttpTransport,
    private readonly handlers: Record<string, Handler>,
    private readonly config: { concurrency: number; pollInterval: number },
  ) {}

  start(): void {
    this.poll();
  }

  async stop(): Promise<void> {
    this.state = 'terminate';
    clearTimeout(this.pollTimer);
    await Promise.all(this.activeJobs.values());
  }

  // --- as printed: "The polling loop"
  private poll(): void {
    if (this.state !== 'running') return;
    if (this.activeJobs.size >= this.config.concurrency) {
      // At capacity. Wait and try again.
      this.pollTimer = setTimeout(() => this.poll(), this.config.pollInterval);
      return;
    }

    this.fetchAndProcess()
      .then((fetched) => {
        // Got jobs? Poll immediately for more. Otherwise, back off.
        const delay = fetched > 0 ? 0 : this.config.pollInterval;
        this.pollTimer = setTimeout(() => this.poll(), delay);
      })
      .catch(() => {
        // On error, back off before retrying.
        this.pollTimer = setTimeout(() => this.poll(), this.config.pollInterval * 2);
      });
  }
  // ---

  private async fetchAndProcess(): Promise<number> {
    const { body } = await this.transport.request<{ jobs: FetchedJob[] }>({
      method: 'POST',
      path: '/workers/fetch',
      body: { queues: ['default'], count: this.config.concurrency - this.activeJobs.size, worker_id: 'worker_abc123', visibility_timeout_ms: 30000 },
    });
    for (const job of body.jobs) this.activeJobs.set(job.id, this.process(job).finally(() => this.activeJobs.delete(job.id)));
    return body.jobs.length;
  }

  private async process(job: FetchedJob): Promise<void> {
    try {
      const result = await this.handlers[job.type]?.(job);
      await this.transport.request({ method: 'POST', path: '/workers/ack', body: { job_id: job.id, result } });
    } catch (failure) {
      const error = { code: 'handler_error', message: (failure as Error).message, retryable: true };
      await this.transport.request({ method: 'POST', path: '/workers/nack', body: { job_id: job.id, error } });
    }
  }
}
