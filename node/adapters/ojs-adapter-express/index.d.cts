import type { CallOptions, Duration, EnqueueOptions, Job, JobLike, JsonOf } from '@openjobspec/sdk';
import type { AfterCommitOptions, DatabaseHandle, Outbox, OutboxOptions } from '@openjobspec/sdk/outbox';
import type { Request, RequestHandler } from 'express';

export { instrument, requestContext, transaction } from '@openjobspec/sdk/outbox';

/** What a request enqueues with: the application's outbox, and the metadata of the request. */
export class RequestOjs {
  private constructor();
  /** Sends a job now, whatever becomes of any transaction. */
  enqueue<Args extends unknown[] = any[], Given = Args>(type: string, args?: Given & JsonOf<Given>, options?: EnqueueOptions): Promise<Job<Args>>;
  /** Sends many jobs now, in one request: all are stored or none. */
  enqueueBulk(jobs: Iterable<JobLike>, options?: CallOptions): Promise<Job[]>;
  /** Sends a job if, and only if, the transaction around the call (or `options.transaction`) commits; outside of one: now. */
  enqueueAfterCommit<Args extends unknown[] = any[], Given = Args>(type: string, args?: Given & JsonOf<Given>, options?: AfterCommitOptions): Promise<Job<Args>>;
  /** The same for many jobs. */
  enqueueBulkAfterCommit(jobs: Iterable<JobLike>, options?: Pick<AfterCommitOptions, 'transaction'>): Promise<Job[]>;
  /** Runs `work(connection)` in a transaction that jobs join by themselves. */
  transaction<Result>(database: DatabaseHandle, work: (connection: any) => Result): Promise<Awaited<Result>>;
  /** Has the relay look for what this request has staged; the end of the response does so. */
  flush(): void;
  /** The metadata that this request's jobs carry. */
  readonly meta: Record<string, unknown>;
}

export interface OjsMiddlewareOptions extends Omit<OutboxOptions, 'outbox'> {
  /** Settings of the outbox, by their names in the specification or in the SDK; or one that was made before. */
  outbox?: Outbox | OutboxOptions['outbox'];
  /** Who makes the request; `req.user?.id`. Asked when a job is made. */
  userId?: (req: Request) => unknown;
  /** Whose request it is; without it the header `X-OJS-Tenant`. */
  tenantId?: (req: Request) => unknown;
}
export interface OjsMiddleware extends RequestHandler {
  readonly outbox: Outbox;
  /** Starts the relay; the first request does so, too. */
  start(): Promise<OjsMiddleware>;
  /** Flushes the outbox for at most `grace` (5 s), stops the relay, closes the client. */
  close(grace?: Duration): Promise<void>;
}
/** Middleware that gives each request `req.ojs`. */
export function ojsMiddleware(options?: OjsMiddlewareOptions): OjsMiddleware;

declare global {
  namespace Express {
    interface Request {
      ojs: RequestOjs;
    }
  }
}
