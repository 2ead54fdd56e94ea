/// <reference types="node" />
import type { EventEmitter } from 'node:events';
import { JobContext } from './context.cjs';

export { JobContext };

/** Milliseconds, or text: `'500ms'`, `'5m'`, `'1h'`, `'PT30S'`. */
export type Duration = number | string;
/** A point in time; text is RFC 3339. */
export type When = Date | string;
/** Whatever JSON has a form for, and bigints for integers that a number cannot hold. */
export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };

/**
 * A type whose values arrive at a handler as they were passed; other members are `never`: a Date, a Map, an Error, a function. Interfaces are
 * fine, and so are members that may be undefined: they are left out.
 */
export type JsonOf<T> = unknown extends T ? T
  : T extends null | boolean | number | bigint | string | undefined ? T
  : T extends NotJson ? never
  : T extends { toJSON(): unknown } ? T
  : T extends object ? { [Name in keyof T]: JsonOf<T[Name]> }
  : never;
/** What has no JSON form: pass `.toISOString()`, `[...set]`, `Object.fromEntries(map)`, `.message` … */
export type NotJson = Date | RegExp | Error | Promise<any> | ReadonlyMap<any, any> | ReadonlySet<any> | ArrayBufferView | ArrayBuffer | symbol | ((...args: any[]) => any);

// gen:node/policy.d.j2:RetryPolicy (make gen; do not edit)
/** What happens when a job fails, how often and when it runs again. What is left out is decided by the server. */
export interface RetryPolicy {
  /** Runs in all, the first included. */
  maxAttempts?: number;
  /** Pause before the first retry. */
  initialInterval?: Duration;
  /** Growth of the pause from one retry to the next. */
  backoffCoefficient?: number;
  /** Longest pause. */
  maxInterval?: Duration;
  /** Spread the pauses at random, so that jobs that failed together do not come back together. */
  jitter?: boolean;
  /** Error types or codes that end the job at once. */
  nonRetryableErrors?: readonly string[];
  /** Where the job goes when all attempts have failed. */
  onExhaustion?: 'discard' | 'dead_letter';
  /** The formula of the pauses. */
  backoffStrategy?: 'exponential' | 'linear' | 'constant' | 'none' | 'polynomial';
}
// gen:end

// gen:node/policy.d.j2:UniquePolicy (make gen; do not edit)
/** When two jobs count as the same, and what happens to the second. What is left out is decided by the server. */
export interface UniquePolicy {
  /** What is compared: of type, queue, args, meta. */
  keys?: readonly string[];
  /** Only these members of the arguments count. */
  argsKeys?: readonly string[];
  /** Only these members of the metadata count. */
  metaKeys?: readonly string[];
  /** Only jobs made within this time count. */
  period?: Duration;
  /** Only jobs in these states count. */
  states?: readonly string[];
  /** What to do with the second job. */
  onConflict?: 'reject' | 'replace' | 'replace_except_schedule' | 'ignore';
}
// gen:end

// gen:node/policy.d.j2:Train (make gen; do not edit)
/** The train of a job: jobs of one train run one after the other, in the order in which they were stored. What is left out is decided by the server. */
export interface Train {
  /** The train, such as dest_123; dest_{destination_id} is filled in with an argument of the job. */
  id?: string;
  /** What the train does when the job is cancelled: without it the next job runs. */
  onCancelled?: 'advance' | 'hold';
  /** What the train does when the job has failed for good: without it the next job runs. */
  onDiscarded?: 'advance' | 'hold';
  /** When a job that is cancelled while it runs leaves the train: without it when its worker has let go of it. */
  cancelActive?: 'drain' | 'immediate';
}
// gen:end

// gen:node/options.d.j2 (make gen; do not edit)
/** What may be said about a job besides its type and arguments. */
export interface JobOptions {
  /** The queue; `default` when it is left out. */
  queue?: string;
  /** −100 to 100, higher first. */
  priority?: number;
  /** The most one run may take. */
  timeout?: Duration;
  /** How long a worker may be silent before the job is given to another. */
  visibilityTimeout?: Duration;
  /** How long the result is kept (0 keeps none), in seconds. */
  resultTtl?: number;
  /** Run after this long. */
  delay?: Duration;
  /** Do not run before this time. */
  delayUntil?: When;
  /** Throw the job away when it has not started by then. */
  expiresAt?: When;
  /** How long the job's whole life may take. */
  totalTimeout?: Duration;
  /** What happens when it fails. */
  retry?: RetryPolicy | number;
  /** What makes it a duplicate. */
  unique?: UniquePolicy | boolean;
  /** How many of its kind may start or run at a time. */
  rateLimit?: Record<string, unknown>;
  /** The train that it joins: jobs of one train run one after the other. */
  train?: Train | string | false;
  /** Words to find it by. */
  tags?: readonly string[];
  /** The version of the arguments: `2`, `2.1` or `2.1.0`. */
  version?: string;
  /** The tenant that it belongs to: `meta.tenant_id`. */
  tenant?: string;
  /** The key of its line in a queue that is shared by keys: keys get jobs handed out in turn. */
  fairnessKey?: string;
  /** More options, by their names on the wire. */
  extra?: { [name: string]: Json };
}

/** The options of a call that enqueues. */
export interface EnqueueOptions extends JobOptions, CallOptions {
  /** An id of your own (UUIDv7, lower case), so that sending it twice makes one job. */
  id?: string;
  /** Any JSON object that travels with the job. */
  meta?: Record<string, unknown>;
  /** URI of the schema its arguments follow. */
  schema?: string;
}
// gen:end

/** The options of every call. */
export interface CallOptions {
  /** Gives the call up; whether the server has acted is then unknown. */
  signal?: AbortSignal;
}

/** A job in the forms that are handy to write. */
export type JobLike = string | JobRequest | JobSpec;
/** A job, its options beside its type or below `options`. */
export interface JobSpec extends Omit<EnqueueOptions, 'signal'> {
  type: string;
  args?: unknown;
  options?: JobOptions;
}

/** A job to be. Enqueue middleware gets it and may change everything but its id. */
export class JobRequest {
  constructor(type: string, args?: unknown, options?: Omit<EnqueueOptions, 'signal'>);
  static of(value: JobLike): JobRequest;
  type: string;
  args: unknown[];
  readonly id?: string;
  meta?: Record<string, unknown>;
  schema?: string;
  options: JobOptions;
  /** The request as the wire has it. */
  toJSON(): { type: string; args: unknown[]; [name: string]: unknown };
}

// gen:node/job_states.d.j2 (make gen; do not edit)
/** Where a job is in its life. */
export type JobState =
  /** A worker may take it. */
  | 'available'
  /** It waits to be activated. */
  | 'pending'
  /** It waits for its time. */
  | 'scheduled'
  /** A worker has it. */
  | 'active'
  /** It is done. */
  | 'completed'
  /** It failed and will run again. */
  | 'retryable'
  /** It was cancelled. */
  | 'cancelled'
  /** It failed for good. */
  | 'discarded';
// gen:end

// gen:node/records.d.j2:jobs (make gen; do not edit)
/** A job as the server describes it. Its members have their names on the wire; those of several words have a name in camel case as well. */
export class Job<Args extends unknown[] = any[], Result = any> {
  private constructor();
  /** A UUIDv7, the same in every attempt and redelivery. */
  readonly id: string;
  /** The job type, with dots between its parts. */
  readonly type: string;
  /** The queue that the job is in. */
  readonly queue: string;
  /** Where the job is in its life; undefined in a job that no server has seen. */
  readonly state?: JobState;
  /** The arguments. */
  readonly args: Args;
  /** What travels with the job besides its arguments. */
  readonly meta?: Record<string, any>;
  /** Higher runs earlier. */
  readonly priority?: number;
  /** The number of the attempt, 1 during the first run. */
  readonly attempt?: number;
  /** How many attempts there may be; undefined when the server did not say. */
  readonly maxAttempts?: number;
  /** Words to find the job by. */
  readonly tags?: string[];
  /** What the handler returned; undefined when there is no result. */
  readonly result?: Result;
  /** The latest failure; undefined when no attempt has failed. */
  readonly error?: JobFailure;
  /** All failures, the oldest first. */
  readonly errors?: JobFailure[];
  /** The results of the steps before this one, in a workflow. */
  readonly parentResults?: any[];
  /** The workflow that the job belongs to; undefined when it belongs to none. */
  readonly workflowId?: string;
  /** The job's place in its train; undefined when it runs in none. */
  readonly train?: JobTrain;
  /** When the job was created. */
  readonly createdAt?: string;
  /** When the job was enqueued. */
  readonly enqueuedAt?: string;
  /** When the job may run; undefined when it need not wait. */
  readonly scheduledAt?: string;
  /** When the latest attempt began. */
  readonly startedAt?: string;
  /** When the job was completed; undefined when it was not. */
  readonly completedAt?: string;
  /** When the job is thrown away unless it has started. */
  readonly expiresAt?: string;
  /** The most that one run may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** Any other member. */
  readonly [name: string]: any;
}

/** A failed attempt. */
export interface JobFailure {
  /** For programs and retry policies. */
  code: string;
  /** For people. */
  message: string;
  /** The type of the error in the language of its handler. */
  type?: string;
  /** Whether the failure lets the job run again; undefined when the worker did not say. */
  retryable?: boolean;
  /** The number of the attempt that failed. */
  attempt?: number;
  /** More about the failure, as JSON. */
  details?: any;
  /** Any other member. */
  [name: string]: any;
}

/** Where a job stands in its train. The server decides all of it. */
export interface JobTrain {
  /** The train's id. */
  id: string;
  /** The job's number in the train, from 1, in the order in which jobs joined it. */
  position: number;
  /** `locomotive`: the one job of the train that may run; `car`: it waits; `left`: its turn is over. */
  role: string;
  /** How many jobs of the train run before it. */
  ahead: number;
  /** The state of the train: `running`, `draining` (a cancelled job still runs) or `held`. */
  state: string;
  /** A number that grows with every delivery of a job of this train. A resource that remembers the largest one can refuse
   * what the handler of an earlier delivery still sends: a fencing token. Only the locomotive has it. */
  epoch?: number;
}

/** One page of a list of jobs. */
export interface JobPage {
  /** The jobs of this page. */
  jobs: Job[];
  /** How many jobs the filter finds, on all pages. */
  total: number;
  /** The number of this page. The first page is 1. */
  page: number;
  /** The most jobs on one page. */
  perPage: number;
  /** Whether there is a page after this one. */
  hasMore: boolean;
}
// gen:end

/** Named layers around an enqueue or a handler. The first one added is the outermost. */
export class MiddlewareChain<Layer> {
  /** Adds the innermost layer. */
  add(name: string, layer: Layer): this;
  add(layer: Layer): this;
  /** Adds the outermost layer. */
  prepend(name: string, layer: Layer): this;
  prepend(layer: Layer): this;
  /** Adds a layer just outside another. */
  insertBefore(existing: string, name: string, layer: Layer): this;
  /** Adds a layer just inside another. */
  insertAfter(existing: string, name: string, layer: Layer): this;
  /** Takes a layer out. */
  remove(name: string): this;
  /** The names, outermost first. */
  names(): string[];
}

/** Runs around an enqueue. Without `next` the job is dropped. */
export type EnqueueMiddleware = (request: JobRequest, next: (request?: JobRequest) => Promise<Job>) => Promise<Job | undefined> | Job | undefined;
/** Runs around a handler. Without `next` the handler does not run. */
export type ExecutionMiddleware = (ctx: JobContext, next: (ctx?: JobContext) => Promise<unknown>) => unknown;
/** Runs a job. What it returns is the result; what it throws is the failure. */
export type Handler<Args extends unknown[] = any[]> = (ctx: JobContext<Args>) => unknown;

/** A transport of your own. */
export interface Transport {
  request(opts: TransportRequest): Promise<TransportResponse>;
}
export interface TransportRequest {
  method: string;
  /** Relative to `/ojs/v1`, or `/ojs/manifest`. */
  path: string;
  /** The decoded JSON. */
  body?: any;
  signal?: AbortSignal;
}
export interface TransportResponse {
  status: number;
  /** Decoded, or JSON text. */
  body: unknown;
}

/** How a server is reached. */
export interface ConnectionOptions {
  /** `http://host:8080`, `https://…`, `sqlite:jobs.db`, `memory:`; without it `OJS_URL`, else `http://localhost:8080`. */
  url?: string;
  // gen:node/settings.d.j2:client (make gen; do not edit)
  /** The bearer token. Without it `OJS_AUTH_TOKEN`. */
  authToken?: string;
  /** Further headers of every request. */
  headers?: Record<string, string>;
  /** The tenant of all requests: the client sees and changes what belongs to it, and its jobs are the tenant's. */
  tenant?: string;
  /** For a whole call; a long poll's wait is added. Without it `30 s`. */
  timeout?: Duration;
  /** For connecting. Without it `5 s`. */
  connectTimeout?: Duration;
  /** How often a request that did not arrive is sent, the first time included. Without it `5`. */
  maxSends?: number;
  /** Certificates to trust, a PEM file. Without it `OJS_TLS_CA_FILE`. */
  caFile?: string;
  /** The client's own certificate and its key, PEM files. Without it `OJS_TLS_CERT_FILE` and `OJS_TLS_KEY_FILE`. */
  clientCert?: { cert: string; key: string };
  /**
   * Encrypts the arguments of jobs, and decrypts them in workers; the first key is the one for new jobs.
   * `name:key,name:key`, where a key is 64 hexadecimal characters, or base64 of 32 bytes. Without it
   * `OJS_ENCRYPTION_KEYS`.
   */
  encryptionKeys?: Record<string, Uint8Array> | string;
  /**
   * Most bytes of one answer (256 MiB); a longer one is an error, and what it asked for may have happened. Without
   * it `OJS_MAX_RESPONSE_BYTES`, else `268435456`.
   */
  maxResponseBytes?: number;
  /**
   * `environment`: requests go through the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names; `none`: those
   * variables are not read. Requests to a loopback address go through none. Without it `OJS_PROXY`, else
   * `environment`.
   */
  proxy?: 'environment' | 'none';
  // gen:end
  /** The same as `authToken`. */
  auth?: string;
  /** The same as `maxSends`. */
  retryConfig?: { maxAttempts?: number };
  /** Replaces the network. */
  transport?: Transport;
}

/** Talks to an OJS server, or to an engine in this process. Making a client opens nothing: it connects with its first call. */
export class OJSClient {
  constructor(options?: ConnectionOptions | string);
  /** Runs around every enqueue. */
  readonly middleware: MiddlewareChain<EnqueueMiddleware>;
  readonly queues: Queues;
  readonly rateLimits: RateLimits;
  readonly trains: Trains;
  readonly tenants: Tenants;
  readonly deadLetters: DeadLetters;
  readonly cron: Cron;
  readonly workers: Workers;
  /** Adds enqueue middleware. */
  useEnqueue(name: string, layer: EnqueueMiddleware): this;
  useEnqueue(layer: EnqueueMiddleware): this;
  /** Sends a job; resolves to it as the server stored it. `args` is an array; a single value is wrapped in one. */
  enqueue<Args extends unknown[] = any[], Given = Args>(type: string, args?: Given & JsonOf<Given>, options?: EnqueueOptions): Promise<Job<Args>>;
  /**
   * The same client with the requests of one tenant: they see and change what belongs to it, and the jobs are the
   * tenant's. It shares connection and middleware; closing it leaves them open.
   */
  ofTenant(tenant: string): OJSClient;
  /**
   * Any request of the protocol, for operations that have no method; the decoded body of a 2xx answer.
   * @param path Relative to `/ojs/v1`.
   * @example await client.request('GET', '/admin/pools')
   */
  request(method: string, path: string, body?: unknown, options?: CallOptions): Promise<any>;
  /** Sends many jobs in one request: all are stored or none. */
  enqueueBatch(jobs: Iterable<JobLike>, options?: CallOptions): Promise<Job[]>;
  /** Sends many jobs, each with an outcome of its own: a wrong one does not keep the others out, unless `atomic`. */
  bulkEnqueue(jobs: Iterable<JobLike>, options?: { atomic?: boolean; idempotencyKey?: string } & CallOptions): Promise<BulkItem[]>;
  /** Waits for the end of the job, for ever without a `timeout`; rejects with OJSTimeoutError when that is over. */
  waitForResult<Result = any>(id: string, options?: { timeout?: Duration } & CallOptions): Promise<JobResult<Result>>;
  /**
   * What happens, as it happens: an iterable without end. It begins where the log ends; `after` is the id of the last event that was
   * dealt with, and `''` the oldest that is kept. When the connection is lost it asks again from there: none is missed, none comes twice.
   */
  events(options?: EventsOptions): AsyncGenerator<OJSEvent, never, void>;
  /** Starts a workflow. */
  workflow(definition: Workflow | object, options?: CallOptions): Promise<WorkflowStatus>;
  // gen:node/operations.d.j2:client (make gen; do not edit)
  /**
   * Cancels many jobs. By ids: every job that has not ended. By a filter: the jobs that wait, unless the filter
   * names other states. Jobs that cannot be cancelled are skipped, and their items say why; with `atomic` one such
   * job keeps the others from being cancelled.
   * @param target Which jobs: ids, or a filter.
   * @param options.atomic All of the jobs, or none.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSPayloadTooLargeError} The job, its metadata, its result or the batch is larger than the server
   *   takes.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.bulkCancel({ queue: 'reports' })
   */
  bulkCancel(target: BulkTarget, options?: { atomic?: boolean } & CallOptions): Promise<BulkResult>;
  /**
   * Runs many jobs again: discarded jobs with all their attempts, retryable jobs at once instead of after their
   * pause. Jobs that cannot be retried are skipped, and their items say why; with `atomic` one such job keeps the
   * others from being retried.
   * @param target Which jobs: ids, or a filter.
   * @param options.atomic All of the jobs, or none.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSPayloadTooLargeError} The job, its metadata, its result or the batch is larger than the server
   *   takes.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.bulkRetry({ ids: ['019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f'] }, { atomic: true })
   */
  bulkRetry(target: BulkTarget, options?: { atomic?: boolean } & CallOptions): Promise<BulkResult>;
  /**
   * Deletes many jobs that have ended. A deleted job cannot be brought back. Jobs that cannot be deleted are
   * skipped, and their items say why; with `atomic` one such job keeps the others from being deleted.
   * @param target Which jobs: ids, or a filter.
   * @param options.atomic All of the jobs, or none.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSPayloadTooLargeError} The job, its metadata, its result or the batch is larger than the server
   *   takes.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.bulkDelete({ type: 'email.*', states: ['completed', 'cancelled'] })
   */
  bulkDelete(target: BulkTarget, options?: { atomic?: boolean } & CallOptions): Promise<BulkResult>;
  /**
   * The job with this id.
   * @param id The job's id.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.getJob('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  getJob(id: string, options?: CallOptions): Promise<Job>;
  /**
   * Why a job is not running: a `summary`, and `reasons` in the order in which they have to end. Each reason has
   * `code` and `message`, and where they are known `since`, `until`, `link` (a path of the API that shows what holds
   * the job), `command` (one of the tool `ojs` that helps) and `details`. A job that runs, has ended, or is handed
   * out by the next fetch has no reasons. The answer reads a bounded number of rows, however many jobs there are.
   * @param id The job's id.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.explainJob('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  explainJob(id: string, options?: CallOptions): Promise<any>;
  /**
   * One page of the jobs that the filter finds, the newest first unless the list is sorted otherwise. There is
   * another page while the page says that it has more. Jobs that come and go between two pages move the others, but
   * not after a `cursor`, which is the `next_cursor` of the page before. With a cursor, or with `count=false`, a
   * page looks at 5,000 rows at most and has no total: it may be short, or empty, say `complete: false`, and have a
   * `next_cursor` all the same. Pages with numbers look at a million rows at most, count what is in the first
   * 20,000, and begin at most 10,000 jobs behind the first. With `q`, a page compares 1,000 jobs at most and always
   * goes on by cursors; the guide of the dashboard has the words of the language.
   * @param filter Which jobs, in which order.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.listJobs({ queue: 'mail', type: 'email.*', state: 'available', page: 2, perPage: 50 })
   */
  listJobs(filter?: JobFilter & CallOptions): Promise<JobPage>;
  /**
   * Cancels the job. A worker that runs it is told to stop.
   * @param id The job's id.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.cancelJob('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  cancelJob(id: string, options?: CallOptions): Promise<Job>;
  /**
   * Changes the priority of a job that waits.
   * @param id The job's id.
   * @param priority The new priority. Higher runs earlier.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.setPriority('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f', 5)
   */
  setPriority(id: string, priority: number, options?: CallOptions): Promise<Job>;
  /**
   * Makes a job available that was enqueued as pending.
   * @param id The job's id.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.activateJob('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  activateJob(id: string, options?: CallOptions): Promise<Job>;
  /**
   * Runs a discarded job again, with all its attempts. A cancelled job stays cancelled.
   * @param id The job's id.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.retryJob('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  retryJob(id: string, options?: CallOptions): Promise<Job>;
  /**
   * How the job ended, and what its handler returned. The request is refused with status 408 while the job has not
   * ended, and with 410 when its result is no longer kept.
   * @param id The job's id.
   * @throws {OJSAPIError} The server answered, and the answer is an error.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.result('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  result<Result = any>(id: string, options?: CallOptions): Promise<JobResult<Result>>;
  /**
   * How up to 1,000 jobs ended, in the order of the ids. Nothing stands for a job that is unknown, that has not
   * ended, or whose result is no longer kept.
   * @param ids The ids of the jobs.
   * @throws {OJSPayloadTooLargeError} The job, its metadata, its result or the batch is larger than the server
   *   takes.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.results(['019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f', '019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e10'])
   */
  results(ids: Iterable<string>, options?: CallOptions): Promise<(JobResult | null)[]>;
  /**
   * The state of the workflow and of its steps.
   * @param id The workflow's id.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.getWorkflow('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  getWorkflow(id: string, options?: CallOptions): Promise<WorkflowStatus>;
  /**
   * Cancels the jobs of the workflow that have not begun. Jobs that run may finish.
   * @param id The workflow's id.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.cancelWorkflow('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  cancelWorkflow(id: string, options?: CallOptions): Promise<WorkflowStatus>;
  /**
   * Workflows without their steps, the newest first. A workflow inside another one is a step of it, and not listed.
   * @param options.state Only workflows in this state.
   * @param options.page The number of the page. The first page is 1.
   * @param options.perPage The most workflows on one page, 1 to 100; 20 without it.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.listWorkflows({ state: 'running', perPage: 50 })
   */
  listWorkflows(options?: { state?: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'; page?: number; perPage?: number } & CallOptions): Promise<any[]>;
  /**
   * Whether the server works, with its version, its store and how long it has run.
   * @throws {OJSAPIError} The server answered, and the answer is an error.
   * @example await client.health()
   */
  health(options?: CallOptions): Promise<any>;
  /**
   * What the server is, and what it can do.
   * @example await client.manifest()
   */
  manifest(options?: CallOptions): Promise<any>;
  /**
   * Jobs by state, throughput, latency and workers of the whole server.
   * @example await client.serverStats()
   */
  serverStats(options?: CallOptions): Promise<any>;
  /**
   * Throughput and latency over time, oldest first. Periods in which nothing ran are left out.
   * @param options.period The length of each period; `1m` without it.
   * @param options.queue Only this queue.
   * @param options.since From this time on.
   * @param options.until Up to this time.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.statsHistory({ period: '1h', queue: 'mail', since: '2031-01-01T00:00:00Z' })
   */
  statsHistory(options?: { period?: '1m' | '5m' | '1h' | '1d'; queue?: string; since?: When; until?: When } & CallOptions): Promise<any[]>;
  /**
   * What happened to the jobs of each type over a length of time: how many, how long they ran and waited. An item
   * has `type`, `enqueued`, `processed`, `failed`, `discarded`, `busy_ms` (the time that completed attempts have
   * taken), `latency_ms` and `wait_ms` with `p50`, `p95` and `p99`. In a minute and in an hour 200 types are told
   * apart; the others are the type `_other`. Figures are kept by minutes for two hours and by hours for 30 days, so
   * an earlier `since` counts from the beginning of its hour.
   * @param options.since From this time on; an hour ago without it.
   * @param options.until Up to this time, at most 7 days later; now without it.
   * @param options.sort What comes first, the largest: `processed` (the default), `enqueued`, `failed`, `discarded`,
   *   `busy`, `latency` or `wait`.
   * @param options.limit The most types in the answer, 1 to 200; 50 without it.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.typeStats({ since: '2031-01-01T00:00:00Z', sort: 'failed', limit: 20 })
   */
  typeStats(options?: { since?: When; until?: When; sort?: string; limit?: number } & CallOptions): Promise<any[]>;
  /**
   * Whether the server is in maintenance, since when and why.
   * @example await client.maintenance()
   */
  maintenance(options?: CallOptions): Promise<any>;
  /**
   * Begins or ends maintenance. During it jobs are accepted, and none is handed out.
   * @param enabled Whether the server is in maintenance.
   * @param options.reason Why, for those who ask.
   * @param options.estimatedDuration How long it will take, such as `PT30M`.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.setMaintenance(true, { reason: 'moving the database', estimatedDuration: 'PT30M' })
   */
  setMaintenance(enabled: boolean, options?: { reason?: string; estimatedDuration?: Duration } & CallOptions): Promise<any>;
  /**
   * Compares the rows of the server's store with each other and changes nothing: counts with jobs, jobs with their
   * bodies, workflows with their steps, and so on. `sound` is true when nothing contradicts anything. `findings` has
   * the first 1,000 contradictions, each with the check, the row, what was compared, and both values; `total` counts
   * them all. The time grows with the number of jobs. It takes one of the two connections for lists and searches;
   * everything else goes on, but for a store in memory, where all wait.
   * @example await client.audit()
   */
  audit(options?: CallOptions): Promise<any>;
  /**
   * The settings that the server runs with. There are no secrets among them.
   * @example await client.serverConfig()
   */
  serverConfig(options?: CallOptions): Promise<any>;
  /**
   * The registered schemas of all job types, without their texts, in order of job type and version.
   * @example await client.listSchemas()
   */
  listSchemas(options?: CallOptions): Promise<any[]>;
  /**
   * Registers the JSON Schema of the arguments of a job type. A registered version never changes. With `mode`
   * `strict` jobs that do not match are refused, with `warn`, the default, they are accepted with warnings, with
   * `off` they are not compared. Within a major version, a schema that refuses what the version before accepted is
   * refused itself.
   * @param type The job type.
   * @param version The version: `2`, `2.1` or `2.1.0`.
   * @param schema A JSON Schema, draft 2020-12, for the array of arguments.
   * @param options.mode What happens to jobs that do not match.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.registerSchema('email.send', '1.0.0', { items: { type: 'string' }, minItems: 1 }, { mode: 'strict' })
   */
  registerSchema(type: string, version: string, schema: Record<string, unknown>, options?: { mode?: 'strict' | 'warn' | 'off' } & CallOptions): Promise<any>;
  /**
   * The schema of the highest version of a job type.
   * @param type The job type, or the URI of a schema.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.getSchema('email.send')
   */
  getSchema(type: string, options?: CallOptions): Promise<any>;
  /**
   * The schema of a version of a job type.
   * @param type The job type.
   * @param version The version.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.getSchemaVersion('email.send', '1.0.0')
   */
  getSchemaVersion(type: string, version: string, options?: CallOptions): Promise<any>;
  /**
   * The versions of a job type, highest first.
   * @param type The job type.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.listSchemaVersions('email.send')
   */
  listSchemaVersions(type: string, options?: CallOptions): Promise<any[]>;
  /**
   * Changes what happens to jobs that do not match a version. Jobs that are stored are not looked at again.
   * @param type The job type.
   * @param version The version.
   * @param mode `strict`, `warn` or `off`.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.setSchemaMode('email.send', '1.0.0', 'strict')
   */
  setSchemaMode(type: string, version: string, mode: 'strict' | 'warn' | 'off', options?: CallOptions): Promise<any>;
  /**
   * Deletes a version. Jobs that were stored under it stay.
   * @param type The job type.
   * @param version The version.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.deleteSchema('email.send', '1.0.0')
   */
  deleteSchema(type: string, version: string, options?: CallOptions): Promise<void>;
  /**
   * The subscriptions, the oldest first, without their secrets. `dropped` says how many events became no delivery
   * because too many deliveries waited for the subscription; `dropped_since` when the first of them happened, or
   * null.
   * @example await client.listWebhooks()
   */
  listWebhooks(options?: CallOptions): Promise<any[]>;
  /**
   * Creates a subscription: events are sent to `url` as signed POST requests. Only this answer has the secret.
   * Events that happen from then on become deliveries, which are sent until the endpoint answers with 2xx: eight
   * attempts within 41 hours. `filter` is an object with `queues` and `job_types`. The URL must begin with https://
   * and lead to a public address, unless the server allows others.
   * @param subscription Its members: `url` and `events` (such as `job.completed`, `job.*` or `*`); if wanted
   *   `secret` (8 to 255 characters; without it the server makes one), `filter`, `metadata` (an object of at most 4096
   *   bytes), `active` and `format` (`ojs`, `cloudevents` or `cloudevents-binary`).
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.createWebhook({ events: ['job.completed', 'job.failed'], secret: 'whsec_test_secret', url: 'https://example.com/hooks/ojs' })
   */
  createWebhook(subscription: { [name: string]: Json }, options?: CallOptions): Promise<any>;
  /**
   * A subscription, without its secret. `dropped` says how many events became no delivery because too many
   * deliveries waited for it; `dropped_since` when the first of them happened, or null.
   * @param id The id of the subscription, `sub_…`.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.getWebhook('sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  getWebhook(id: string, options?: CallOptions): Promise<any>;
  /**
   * Changes a subscription; what is left out stays. Deliveries that wait go to the new URL. A subscription that is
   * not active gets no new deliveries, and those that wait are not sent until it is active again.
   * @param id The id of the subscription.
   * @param changes The members that change: `url`, `events`, `active`, `filter`, `metadata`, `format`.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.updateWebhook('sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f', { events: ['job.*'] })
   */
  updateWebhook(id: string, changes: { [name: string]: Json }, options?: CallOptions): Promise<any>;
  /**
   * Deletes a subscription and its deliveries: nothing more is sent to it.
   * @param id The id of the subscription.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.deleteWebhook('sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  deleteWebhook(id: string, options?: CallOptions): Promise<void>;
  /**
   * Sends an event `webhook.test` now, once, and answers with what the endpoint said: `success`, `status_code`,
   * `response_time_ms`, `response_body`.
   * @param id The id of the subscription.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.testWebhook('sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  testWebhook(id: string, options?: CallOptions): Promise<any>;
  /**
   * Gives a subscription a new secret. For 24 hours requests are signed with both; only this answer has the new one.
   * @param id The id of the subscription.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.rotateWebhookSecret('sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  rotateWebhookSecret(id: string, options?: CallOptions): Promise<any>;
  /**
   * Deliveries, the newest first, without the events that they carry. Delivered ones are kept for a day, dead ones
   * for 30 days. `total` counts at most 10000.
   * @param options.subscriptionId Only of this subscription.
   * @param options.status Only in this state.
   * @param options.limit The most deliveries in the answer, 1 to 200.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.listWebhookDeliveries({ status: 'dead', limit: 50 })
   */
  listWebhookDeliveries(options?: { subscriptionId?: string; status?: 'pending' | 'sending' | 'delivered' | 'dead'; limit?: number } & CallOptions): Promise<any[]>;
  /**
   * A delivery with its event, and how its latest attempt ended.
   * @param id The id of the delivery, `del_…`.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.getWebhookDelivery('del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  getWebhookDelivery(id: string, options?: CallOptions): Promise<any>;
  /**
   * Sends a delivery again now, with the same id and the attempts of a new one. It may be dead, delivered or
   * waiting.
   * @param id The id of the delivery.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.retryWebhookDelivery('del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  retryWebhookDelivery(id: string, options?: CallOptions): Promise<any>;
  /**
   * How far the latest attempt of a job has come: `progress` from 0 to 1, `data`, `message` and `updated_at`, which
   * are null when nothing was reported.
   * @param id The job's id.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.getProgress('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  getProgress(id: string, options?: CallOptions): Promise<any>;
  /**
   * How far a workflow has come: `progress` from 0 to 1, and the progress of each of its `steps`. Of a chain it is
   * the completed steps and the fraction of the current one, of a group the mean of its steps, of a batch the share
   * of its jobs that have ended.
   * @param id The workflow's id.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.getWorkflowProgress('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  getWorkflowProgress(id: string, options?: CallOptions): Promise<any>;
  /**
   * Saves the checkpoint of a job, in place of the one before. It is on disk when the request has been answered, and
   * the next attempt of the job is delivered with it. The handler of a job saves its own checkpoint, under its
   * lease. This method is for other programs, which have no lease: it is refused while a worker with lease tokens
   * holds the job, and when the job has ended.
   * @param id The job's id.
   * @param state JSON of at most 1 MiB.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSPayloadTooLargeError} The job, its metadata, its result or the batch is larger than the server
   *   takes.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.saveCheckpoint('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f', { cursor: 'abc-750', rows: 750 })
   */
  saveCheckpoint(id: string, state: Record<string, unknown>, options?: CallOptions): Promise<any>;
  /**
   * The checkpoint of a job: `state`, `sequence` and `created_at`. It can be read as long as the job.
   * @param id The job's id.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.getCheckpoint('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  getCheckpoint(id: string, options?: CallOptions): Promise<any>;
  /**
   * Deletes the checkpoint of a job, if it has one: its next attempt begins from the start.
   * @param id The job's id.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.deleteCheckpoint('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  deleteCheckpoint(id: string, options?: CallOptions): Promise<void>;
  /**
   * The endpoints that jobs are sent to, the oldest first, without their secrets. `status` is `active`, `failing`,
   * `open` (sent nothing for a minute after five failures), `probing`, `waiting` (it has asked for a pause),
   * `disabled` (it answered 401, 403, 404 or 410) or `paused`; `last_failure` says why.
   * @example await client.listPushEndpoints()
   */
  listPushEndpoints(options?: CallOptions): Promise<any[]>;
  /**
   * Registers an endpoint: jobs of its types are sent to it as signed POST requests. Only this answer has the
   * secret. A job is active under a lease before it is sent, and the answer settles it. The address must begin with
   * https:// and be public, unless the server allows others.
   * @param endpoint Its members: `endpoint` (the URL, or `sqs:` and the URL of a queue of Amazon SQS) and
   *   `job_types` (`*` stands for any characters); if wanted `queues`, `config` (`max_concurrency`, `timeout_ms`,
   *   `signing_secret`, `weight`, `retry_429`), `routing`, `provider` and `active`.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.createPushEndpoint({ config: { max_concurrency: 100, signing_secret: 'whsec_test_secret', timeout_ms: 30000 }, endpoint: 'https://example.com/functions/jobs', job_types: ['email.send', 'report.*'], queues: ['default'] })
   */
  createPushEndpoint(endpoint: { [name: string]: Json }, options?: CallOptions): Promise<any>;
  /**
   * An endpoint, without its secret.
   * @param id The id of the endpoint, `push_…`.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.getPushEndpoint('push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  getPushEndpoint(id: string, options?: CallOptions): Promise<any>;
  /**
   * Changes an endpoint; what is left out stays. One that failures have closed or disabled is sent jobs again. With
   * `active` false it is sent nothing; its jobs stay available for workers that fetch.
   * @param id The id of the endpoint.
   * @param changes The members that change: `endpoint`, `job_types`, `queues`, `config`, `routing`, `provider`,
   *   `active`.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.updatePushEndpoint('push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f', { active: false })
   */
  updatePushEndpoint(id: string, changes: { [name: string]: Json }, options?: CallOptions): Promise<any>;
  /**
   * Deletes an endpoint. Deliveries that are under way are settled; its other jobs stay available.
   * @param id The id of the endpoint.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.deletePushEndpoint('push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  deletePushEndpoint(id: string, options?: CallOptions): Promise<void>;
  /**
   * Sends a job of the type `push.test` now, once, and explains the answer: `success`, `outcome`, `explanation`,
   * `status_code`, `response_time_ms`, `response_body`.
   * @param id The id of the endpoint.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.testPushEndpoint('push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  testPushEndpoint(id: string, options?: CallOptions): Promise<any>;
  /**
   * Gives an endpoint a new secret. For 24 hours requests are signed with both; only this answer has the new one.
   * @param id The id of the endpoint.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.rotatePushSecret('push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  rotatePushSecret(id: string, options?: CallOptions): Promise<any>;
  /**
   * What happened to a job: its events, the oldest first, and its attempts with worker, wait, duration and error. It
   * is read from the job and from the event log, so it is there for as long as the job. `fingerprint` of a failed
   * attempt is the same for errors that differ only in numbers, ids and quoted text. The history of a job has at
   * most the newest 50 failures.
   * @param id The job's id.
   * @param options.limit The most events in the answer, 1 to 1,000; 50 without it.
   * @param options.cursor The `next_cursor` of the page before.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.getHistory('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  getHistory(id: string, options?: { limit?: number; cursor?: string } & CallOptions): Promise<any>;
  /**
   * The workflow that a job is part of, with all its steps as a `tree`; a job without a workflow is a tree of its
   * own. `root_id` is the outermost workflow. `parent_id` and `root_id` of a job without a workflow are what its
   * client has sent under these names. A tree has at most 1,000 nodes; `truncated` says that there are more.
   * @param id The job's id.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.getLineage('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  getLineage(id: string, options?: CallOptions): Promise<any>;
  /**
   * Deletes the history of a job: what happened up to now is not shown any more. The job stays as it is. The errors
   * and the result of the job are parts of the job: they go when the job is deleted.
   * @param id The job's id.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.deleteHistory('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  deleteHistory(id: string, options?: CallOptions): Promise<any>;
  /**
   * How many events happened in each minute, hour or day, with average and 95th percentile of the durations, the
   * oldest first. Periods in which nothing happened are left out. Figures are kept for a day by minutes and for a
   * month by hours. Durations come from classes, so they are off by 10 % at most. Figures are kept by queue, not by
   * job type: `job_types` is answered with 501.
   * @param options.since From this time on; without it an hour, a day or a month back.
   * @param options.before Before this time.
   * @param options.queues Only events of jobs of these queues, with commas between them.
   * @param options.groupBy The length of each period; `hour` without it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.historyStats({ since: '2031-01-01T00:00:00Z', queues: 'mail', groupBy: 'day' })
   */
  historyStats(options?: { since?: When; before?: When; queues?: string; groupBy?: 'minute' | 'hour' | 'day' } & CallOptions): Promise<any[]>;
  /**
   * Failed attempts put together by their fingerprint, which is the same for errors that differ only in ids, numbers
   * and quoted text. A group has `fingerprint`, `error_type`, `message` (the last one), `count`, `first_seen_at`,
   * `last_seen_at`, `queues`, `types` and `job_ids`, the newest jobs of each queue and type, 50 at most. The server
   * keeps the 2,000 groups of a queue and type that failed last, for 30 days after their last failure. Failures of
   * the last five seconds before a crash may be missing.
   * @param options.queue Only failures of jobs of this queue.
   * @param options.type Only this job type; `email.*` is all types that start with `email.`.
   * @param options.errorType Only errors of this type.
   * @param options.tenant Only failures of jobs of this tenant.
   * @param options.since Only groups with a failure at this time or later.
   * @param options.sort What comes first: `last_seen_at` (the default), `first_seen_at` or `count`, the latest or
   *   the largest.
   * @param options.page The page, from 1.
   * @param options.perPage The most groups on the page, 1 to 100; 20 without it.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.listErrorGroups({ queue: 'mail', type: 'email.*', errorType: 'Timeout', tenant: 'acme', since: '2031-01-01T00:00:00Z', sort: 'count', page: 2, perPage: 50 })
   */
  listErrorGroups(options?: { queue?: string; type?: string; errorType?: string; tenant?: string; since?: When; sort?: string; page?: number; perPage?: number } & CallOptions): Promise<any[]>;
  /**
   * One group of errors, with its `places` (the failures by queue and type) and those of its `jobs` that there still
   * are.
   * @param fingerprint The fingerprint, as the history of a job has it.
   * @param options.queue Only failures of jobs of this queue.
   * @param options.type Only this job type.
   * @param options.tenant Only failures of jobs of this tenant.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.getErrorGroup('1f0c5f9d2a7be643', { queue: 'mail' })
   */
  getErrorGroup(fingerprint: string, options?: { queue?: string; type?: string; tenant?: string } & CallOptions): Promise<any>;
  /**
   * Begins to retry, cancel or delete all jobs that a filter finds, and answers at once with the operation. The
   * server carries it out in slices of 500 jobs, each in a transaction of its own that also keeps the place which
   * the operation has reached: after a crash it goes on there, on any node. Jobs that were enqueued or have ended
   * since the request are not meant. Those that cannot be changed are counted by reason. With `dry_run` nothing is
   * changed: the answer has `matched`, the number of jobs (`relation` is `eq`, `about` or `gte`; at most 50,000 rows
   * are looked at), the numbers by state, queue and type, and a `sample`. To delete needs the permission to
   * administer. At most 100 operations of a tenant, and 100 of operators, may be under way.
   * @param action `retry`, `cancel` or `delete`.
   * @param filter Which jobs: `queue`, `type`, `state` (one or a list), `since`, `until`, `priority`, `meta`,
   *   `error_type` (of the latest error), `dead_letters` (true: only dead letters) and `q` (a search, as lists of jobs
   *   have it). An empty one means all that the action can reach.
   * @param options.reason Why, at most 500 characters; it is kept with the operation.
   * @param options.dryRun Say what would be found, and change nothing.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @throws {OJSAuthenticationError} The token is missing, wrong, or not allowed to do this.
   * @example await client.startBulkOperation('retry', { queue: 'mail', state: 'discarded' }, { reason: 'the mail server was down' })
   */
  startBulkOperation(action: string, filter: Record<string, unknown>, options?: { reason?: string; dryRun?: boolean } & CallOptions): Promise<any>;
  /**
   * Bulk operations, the newest first. They are kept for 30 days after their end, and the last 1,000 of them.
   * @param options.state Only those in this state: `running`, `paused`, `completed`, `cancelled` or `failed`.
   * @param options.cursor Only those before this one: the id of the last one on the page before.
   * @param options.perPage The most on the page, 1 to 100; 20 without it.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.listBulkOperations({ state: 'running', perPage: 50 })
   */
  listBulkOperations(options?: { state?: string; cursor?: string; perPage?: number } & CallOptions): Promise<any[]>;
  /**
   * A bulk operation: its state, how far it is, how many jobs were changed, and how many were refused and why.
   * `counts` has `seen`, `changed` and `refused`; `refusals` has `count`, the first `job_id` and its `message` for
   * each `reason`; `progress` has the number of jobs that is `expected` and the `fraction` that is done, where it
   * can be said.
   * @param id The id of the operation.
   * @param options.waitMs Answer as soon as it does not run any more, at the latest after so many milliseconds:
   *   60,000 at most.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.getBulkOperation('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f', { waitMs: 30000 })
   */
  getBulkOperation(id: string, options?: { waitMs?: number } & CallOptions): Promise<any>;
  /**
   * Stops a bulk operation until it is resumed. The slice that is under way is finished.
   * @param id The id of the operation.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.pauseBulkOperation('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  pauseBulkOperation(id: string, options?: CallOptions): Promise<any>;
  /**
   * Goes on with a bulk operation that was paused, or that has failed, where it stopped.
   * @param id The id of the operation.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSAuthenticationError} The token is missing, wrong, or not allowed to do this.
   * @example await client.resumeBulkOperation('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  resumeBulkOperation(id: string, options?: CallOptions): Promise<any>;
  /**
   * Ends a bulk operation for good. Jobs that it has changed stay changed.
   * @param id The id of the operation.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.cancelBulkOperation('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  cancelBulkOperation(id: string, options?: CallOptions): Promise<any>;
  /**
   * The relays that send rows of outboxes to this server, with what each of them said last. An item has `id`,
   * `name`, `tenant_id`, `database` (its kind), `outbox` (the table), `state` (`running`; `stuck` while a row has
   * waited for more than a minute; `silent` after 20 seconds without a heartbeat), `leading` (whether it is the one
   * that sends), `waiting` (rows, with `waiting_relation`: `gte` when there are more than were counted),
   * `oldest_waiting_ms`, `parked` (rows that the server has refused for good), `sent` since its start,
   * `sent_per_minute`, `error` (what holds it up), `first_heartbeat_at` and `last_heartbeat_at`. `summary` counts
   * the relays by state. A relay that stops is forgotten at once, a silent one after 15 minutes. At most 200 of a
   * tenant are kept, and 1,000 in all.
   * @param options.state Only relays in this state: `running`, `stuck` or `silent`.
   * @param options.page The page, from 1.
   * @param options.perPage The most relays on the page, 1 to 100; 20 without it.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.listRelays({ state: 'stuck', page: 2, perPage: 50 })
   */
  listRelays(options?: { state?: string; page?: number; perPage?: number } & CallOptions): Promise<any[]>;
  // gen:end
  /** Any call of the protocol; resolves to the decoded body of a 2xx answer. */
  request(method: string, path: string, body?: unknown, options?: CallOptions & {
    /** Milliseconds the server may hold back its answer; the call is then sent once. */
    wait?: number;
  }): Promise<any>;
  /** Releases the connection; an embedded engine is flushed. */
  close(): Promise<void>;
}

// gen:node/operations.d.j2:parts (make gen; do not edit)
/** Which dead letters an operation changes. What is left out does not matter. */
export interface DeadLetterFilter {
  /** Only jobs of this queue. */
  queue?: string;
  /** Only this job type; `email.*` is all types that start with `email.`. */
  type?: string;
  /** Only jobs whose last error is of this type. */
  errorType?: string;
  /** Only jobs discarded at this time or later. */
  since?: When;
  /** Only jobs discarded before this time. */
  until?: When;
}

/** Which jobs a list shows. What is left out does not matter. */
export interface JobFilter {
  /** Only jobs of this queue. */
  queue?: string;
  /** Only this job type; `email.*` is all types that start with `email.`. */
  type?: string;
  /** Only jobs in this state. */
  state?: JobState;
  /** Only jobs created at this time or later. */
  since?: When;
  /** Only jobs created before this time. */
  until?: When;
  /** What the list is sorted by; `created_at` without it. */
  sort?: 'created_at' | 'scheduled_at' | 'priority';
  /** The direction of the sort; `desc` without it: the newest or the highest priority first. */
  order?: 'asc' | 'desc';
  /** The number of the page. The first page is 1. */
  page?: number;
  /** The most jobs on one page, 1 to 100. */
  perPage?: number;
}

/** Queues: `client.queues`. */
export interface Queues {
  /**
   * All queues with their status.
   * @example await client.queues.list()
   */
  list(options?: CallOptions): Promise<any[]>;
  /**
   * How many jobs of the queue are in which state.
   * @param name The name of the queue.
   * @example await client.queues.stats('mail')
   */
  stats(name: string, options?: CallOptions): Promise<any>;
  /**
   * Stops handing out jobs of the queue until `queues.resume()`. Jobs can still be enqueued. A queue that does not
   * exist is made, paused: the protocol answers 200 for every name. `ojs queues pause` asks first.
   * @param name The name of the queue.
   * @example await client.queues.pause('mail')
   */
  pause(name: string, options?: CallOptions): Promise<any>;
  /**
   * Hands out jobs of the queue again, and accepts new ones.
   * @param name The name of the queue.
   * @example await client.queues.resume('mail')
   */
  resume(name: string, options?: CallOptions): Promise<any>;
  /**
   * Creates a queue with settings, such as `concurrency`, `max_size`, `rate_limit` and `retention`.
   * @param name The name of the queue.
   * @param config The settings, by their names on the wire.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.queues.create('mail', { concurrency: 20, rate_limit: { limit: 100, period: 'PT1M' } })
   */
  create(name: string, config?: { [name: string]: Json }, options?: CallOptions): Promise<any>;
  /**
   * A queue with its settings and counts.
   * @param name The name of the queue.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.queues.get('mail')
   */
  get(name: string, options?: CallOptions): Promise<any>;
  /**
   * Changes the settings that are named and leaves the others. A setting of null goes back to the template, the
   * queue `_default`.
   * @param name The name of the queue.
   * @param config The settings, by their names on the wire.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.queues.configure('mail', { max_size: 1000 })
   */
  configure(name: string, config: { [name: string]: Json }, options?: CallOptions): Promise<any>;
  /**
   * Deletes the queue. A queue that holds jobs is deleted only if they may be discarded or moved.
   * @param name The name of the queue.
   * @param options.strategy What happens to the jobs of the queue. Without it: `reject`.
   * @param options.targetQueue Where the jobs go, for the strategy `move`.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.queues.delete('mail', { strategy: 'move', targetQueue: 'letters' })
   */
  delete(name: string, options?: { strategy?: 'reject' | 'discard' | 'move'; targetQueue?: string } & CallOptions): Promise<any>;
  /**
   * Accepts no more jobs for the queue and hands out those that are in it, until `queues.resume()`.
   * @param name The name of the queue.
   * @example await client.queues.drain('mail')
   */
  drain(name: string, options?: CallOptions): Promise<any>;
  /**
   * Removes the jobs of the queue that are in one of these states, and returns how many. They cannot be brought
   * back. Jobs that wait are cancelled first, so that workflows go on. Active jobs are never removed.
   * @param name The name of the queue.
   * @param states The states of the jobs to remove.
   * @param options.olderThan Only jobs older than this: a time, or a length of time before now.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.queues.purge('reports', ['completed', 'cancelled'], { olderThan: 'PT1H' })
   */
  purge(name: string, states: Iterable<JobState>, options?: { olderThan?: When | Duration } & CallOptions): Promise<number>;
  /**
   * How the jobs of a queue are shared: by tenant or by key, and with which weights.
   * @param name The name of the queue.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.queues.getFairness('mail')
   */
  getFairness(name: string, options?: CallOptions): Promise<any>;
  /**
   * Shares the jobs of a queue, those that wait included: among jobs of one priority, keys get jobs handed out in
   * turn, in proportion to their weights. The settings are `by` (`tenant`, the default, or `key`: the `fairness_key`
   * of a job, and its tenant where it names none), `weights` by id of the tenant or by key (1 to 1000, at most 100),
   * and `default_weight` for all others (1). A tenant without a weight has the `fairness_weight` of its limits. What
   * is left out has its default, and `enabled` of `false` ends the sharing. The answer is 201 when the queue was not
   * shared before.
   * @param name The name of the queue. It is made when there is none.
   * @param sharing The settings, by their names on the wire.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.queues.setFairness('mail', { by: 'tenant', weights: { acme: 4 } })
   */
  setFairness(name: string, sharing: { [name: string]: Json }, options?: CallOptions): Promise<any>;
  /**
   * Ends the sharing of a queue: its jobs are handed out in their order again.
   * @param name The name of the queue.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.queues.deleteFairness('mail')
   */
  deleteFairness(name: string, options?: CallOptions): Promise<void>;
}

/** Rate limits: `client.rateLimits`. */
export interface RateLimits {
  /**
   * The keys that have limits, with how much of each limit is used.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.rateLimits.list()
   */
  list(options?: CallOptions): Promise<any[]>;
  /**
   * The limits of a key, with how much of each is used.
   * @param key The key.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.rateLimits.get('stripe')
   */
  get(key: string, options?: CallOptions): Promise<any>;
  /**
   * Gives a key other limits until a time, for example `concurrency` 2. Without any limit the override ends.
   * @param key The key.
   * @param limits The limits, by their names on the wire.
   * @param options.expiresAt When the override ends.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.rateLimits.override('stripe', { concurrency: 2 }, { expiresAt: '2031-01-01T00:00:00Z' })
   */
  override(key: string, limits: { [name: string]: Json }, options?: { expiresAt?: When } & CallOptions): Promise<any>;
}

/** Dead letters: `client.deadLetters`. */
export interface DeadLetters {
  /**
   * Jobs that failed for good and were kept, the newest first. Where more than 20,000 dead letters are kept, a
   * filter is compared with 20,000 of them at a time. The answer says so: `total_relation` is `gte`, and `total`
   * counts what was found among the newest 20,000. A page may be short then, or empty; `next_cursor` leads on while
   * it is there.
   * @param options.queue Only jobs of this queue.
   * @param options.type Only this job type.
   * @param options.limit The most jobs in the answer, 1 to 200; 50 without it.
   * @param options.offset How many jobs are passed over.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.deadLetters.list({ queue: 'mail', limit: 10, offset: 20 })
   */
  list(options?: { queue?: string; type?: string; limit?: number; offset?: number } & CallOptions): Promise<Job[]>;
  /**
   * The dead letter with this id.
   * @param id The job's id.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.deadLetters.get('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  get(id: string, options?: CallOptions): Promise<Job>;
  /**
   * Runs a dead letter again, with all its attempts.
   * @param id The job's id.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSPayloadTooLargeError} The job, its metadata, its result or the batch is larger than the server
   *   takes.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.deadLetters.retry('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  retry(id: string, options?: CallOptions): Promise<Job>;
  /**
   * Deletes a dead letter. It cannot be brought back.
   * @param id The job's id.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.deadLetters.discard('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')
   */
  discard(id: string, options?: CallOptions): Promise<void>;
  /**
   * Runs all dead letters again that the filter finds, and returns how many. Without a filter it is all of them.
   * @param filter Which dead letters.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.deadLetters.retryAll({ queue: 'mail', errorType: 'Timeout', since: '2031-01-01T00:00:00Z' })
   */
  retryAll(filter?: DeadLetterFilter & CallOptions): Promise<number>;
  /**
   * Deletes all dead letters that the filter finds, and returns how many. Without a filter it is all of them.
   * @param filter Which dead letters.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.deadLetters.discardAll({ type: 'email.*', until: '2031-01-01T00:00:00Z' })
   */
  discardAll(filter?: DeadLetterFilter & CallOptions): Promise<number>;
  /**
   * How many dead letters there are, by queue and by type of error, and since when. Where more than 20,000 are kept,
   * the numbers in `by_error_type` are those of the newest 20,000: `by_error_type_relation` is `gte`. A caller of a
   * tenant gets all numbers so, with `total_relation` and `by_queue_relation`.
   * @example await client.deadLetters.stats()
   */
  stats(options?: CallOptions): Promise<any>;
  /**
   * What would come of running dead letters again: which would be refused, which would wait and for what, and which
   * would run although an enqueue of the same job would be refused. Nothing is changed. `matched` dead letters are
   * meant (at least so many where `matched_relation` is `gte`: a filter is compared with 20,000), of which the
   * newest 500 are looked at (`looked_at`, `complete`). Of these `would_run`, `would_wait` and `would_be_refused`
   * say how many; `with_warnings` run or wait beside that. Each of `reasons` has `code`, `effect` (`refused`,
   * `waits` or `warning`), `message`, the number of `jobs`, the first of them as `job_id` and, where there is one,
   * the `command` that helps. `jobs` has the first 20 jobs that meet one. Limits that free themselves as jobs end
   * (full workers, concurrency, rates) are no reason.
   * @param options.queue Only jobs of this queue.
   * @param options.type Only this job type; `email.*` is all types that start with `email.`.
   * @param options.errorType Only jobs whose last error is of this type.
   * @param options.since Only jobs discarded at this time or later.
   * @param options.until Only jobs discarded before this time.
   * @param options.jobs These jobs instead: their ids with commas between them, 100 at most.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.deadLetters.preview({ queue: 'mail', errorType: 'Timeout' })
   */
  preview(options?: { queue?: string; type?: string; errorType?: string; since?: When; until?: When; jobs?: string } & CallOptions): Promise<any>;
}

/** Cron: `client.cron`. */
export interface Cron {
  /**
   * All cron entries.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.cron.list()
   */
  list(options?: CallOptions): Promise<any[]>;
  /**
   * The cron entry of this name.
   * @param name The name of the entry.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.cron.get('digest')
   */
  get(name: string, options?: CallOptions): Promise<any>;
  /**
   * Enables the cron entry, or disables it. A disabled entry enqueues no jobs.
   * @param name The name of the entry.
   * @param enabled Whether the entry enqueues jobs.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.cron.enable('digest', false)
   */
  enable(name: string, enabled: boolean, options?: CallOptions): Promise<any>;
  /**
   * Enqueues a job of the cron entry now, whether the entry is enabled or not. Its schedule stays. The overlap
   * policy holds: while the latest job of the entry goes on, `skip` and `enqueue` answer with 409 `conflict`, and
   * `cancel_previous` cancels that job.
   * @param name The name of the entry.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.cron.run('digest')
   */
  run(name: string, options?: CallOptions): Promise<Job>;
  /**
   * Deletes the cron entry. The jobs that it has enqueued stay.
   * @param name The name of the entry.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.cron.delete('digest')
   */
  delete(name: string, options?: CallOptions): Promise<void>;
}

/** Workers: `client.workers`. */
export interface Workers {
  /**
   * The workers that the server knows, with what each of them does.
   * @param options.state Only workers in this state.
   * @param options.page The number of the page. The first page is 1.
   * @param options.perPage The most workers on one page, 1 to 100; 20 without it.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.workers.list({ state: 'running', page: 1, perPage: 100 })
   */
  list(options?: { state?: string; page?: number; perPage?: number } & CallOptions): Promise<any[]>;
  /**
   * The worker with this id.
   * @param id The worker's id.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.workers.get('mail-1')
   */
  get(id: string, options?: CallOptions): Promise<any>;
  /**
   * Tells a worker to take no more jobs (`quiet`), to stop (`terminate`), or to take jobs again (`resume`). The
   * worker hears of it with its next heartbeat.
   * @param id The worker's id.
   * @param directive What the worker shall do.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.workers.direct('mail-1', 'quiet')
   */
  direct(id: string, directive: 'quiet' | 'terminate' | 'resume', options?: CallOptions): Promise<any>;
  /**
   * Removes a worker that no longer sends heartbeats. Its jobs go back to their queues.
   * @param id The worker's id.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.workers.remove('mail-1')
   */
  remove(id: string, options?: CallOptions): Promise<any>;
}

/** Job trains: `client.trains`. */
export interface Trains {
  /**
   * The trains that have jobs, in the order of their ids, or only those in one state; the one that was held first
   * comes first.
   * @param options.state Only trains in this state: `running`, `draining` or `held`.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.trains.list({ state: 'held' })
   */
  list(options?: { state?: string } & CallOptions): Promise<any[]>;
  /**
   * A train: its state, its locomotive, which is the one job that may run, and its jobs in the order in which they
   * run.
   * @param id The id of the train.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.trains.get('dest_7')
   */
  get(id: string, options?: CallOptions): Promise<any>;
  /**
   * Ends the hold of a train: a locomotive that has ended leaves it, and the next job may run.
   * @param id The id of the train.
   * @param options.jobId Only if this job is the locomotive.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.trains.advance('dest_7', { jobId: '019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f' })
   */
  advance(id: string, options?: { jobId?: string } & CallOptions): Promise<any>;
  /**
   * Holds a train: a job of it that runs may end, and no further one starts until `trains.advance()`.
   * @param id The id of the train.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.trains.hold('dest_7')
   */
  hold(id: string, options?: CallOptions): Promise<any>;
}

/** Tenants: `client.tenants`. */
export interface Tenants {
  /**
   * The tenants of the server by id, with the number of their jobs and their limits.
   * @param options.page The page, from 1.
   * @param options.perPage The most tenants on the page, 1 to 100; 20 without it.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.tenants.list({ page: 2, perPage: 50 })
   */
  list(options?: { page?: number; perPage?: number } & CallOptions): Promise<any[]>;
  /**
   * A tenant with its status, its limits and the number of its jobs by state.
   * @param id The id of the tenant.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.tenants.get('acme')
   */
  get(id: string, options?: CallOptions): Promise<any>;
  /**
   * Makes a tenant, or changes what the body names of one. A job that names a new tenant makes it as well.
   * @param id The id of the tenant.
   * @param changes Its members: `name` (for people), `limits` (as in `PUT /admin/tenants/{id}/limits`),
   *   `fairness_weight` (which leaves the other limits as they are) and `status` (`active` or `suspended`).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.tenants.put('acme', { limits: { max_concurrency: 10 }, name: 'Acme Ltd.', status: 'active' })
   */
  put(id: string, changes: { [name: string]: Json }, options?: CallOptions): Promise<any>;
  /**
   * Deletes a tenant with its ended jobs. It is refused while the tenant has jobs that have not ended.
   * @param id The id of the tenant.
   * @throws {OJSInvalidStateTransitionError} The state of the job, schema, workflow or other thing does not allow
   *   the operation; for a job, current_state in the details names it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.tenants.delete('acme')
   */
  delete(id: string, options?: CallOptions): Promise<any>;
  /**
   * Sets what a tenant may use: `max_concurrency`, `max_enqueue_rate`, `max_queue_depth` and `max_scheduled`; and
   * `fairness_weight`, its weight in shared queues. What the body leaves out is not limited any more. Jobs that have
   * more than the new limits allow stay.
   * @param id The id of the tenant.
   * @param limits Its members: `max_concurrency` (jobs that are active at a time), `max_enqueue_rate` (`limit` jobs
   *   in each `period`, an ISO 8601 duration), `max_queue_depth` (jobs that wait, in all queues together),
   *   `max_scheduled`, and `fairness_weight` (jobs that it gets while a tenant of weight 1 gets one, in queues that
   *   tenants share: 1 to 1,000); and `reason`, a text for the log of the server.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.tenants.setLimits('acme', { max_concurrency: 10, max_enqueue_rate: { limit: 100, period: 'PT1S' }, max_queue_depth: 10000, max_scheduled: 500 })
   */
  setLimits(id: string, limits: { [name: string]: Json }, options?: CallOptions): Promise<any>;
  /**
   * Stops a tenant: its jobs are refused with 403, and those that wait are not handed out. Active jobs go on.
   * @param id The id of the tenant.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.tenants.suspend('acme')
   */
  suspend(id: string, options?: CallOptions): Promise<any>;
  /**
   * Ends the suspension of a tenant: its jobs are taken and handed out again.
   * @param id The id of the tenant.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.tenants.resume('acme')
   */
  resume(id: string, options?: CallOptions): Promise<any>;
  /**
   * What a tenant has: jobs by state and queue, how much of its limits is used, and what was done so far.
   * @param id The id of the tenant, or `_default`.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @example await client.tenants.stats('acme')
   */
  stats(id: string, options?: CallOptions): Promise<any>;
  /**
   * The jobs of a tenant, newest first; with the filters of `GET /admin/jobs`.
   * @param id The id of the tenant, or `_default`.
   * @param options.queue Only this queue.
   * @param options.state Only this state.
   * @param options.page The page, from 1.
   * @param options.perPage The most jobs on the page, 1 to 100; 20 without it.
   * @throws {OJSNotFoundError} There is no such job, queue, workflow or schedule (any more).
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.tenants.jobs('acme', { queue: 'mail', state: 'available', page: 1, perPage: 10 })
   */
  jobs(id: string, options?: { queue?: string; state?: JobState; page?: number; perPage?: number } & CallOptions): Promise<JobPage>;
  /**
   * Tenants that use far more than the others do, those with the most signals first. Each tenant that has jobs, or
   * had some in the last five minutes, is compared with the others. An item has `tenant_id`, `signals`,
   * `queue_depth`, `active`, `error_rate`, and jobs per minute; a signal has `signal` (`queue_depth_ratio`,
   * `enqueue_rate_ratio`, `active_job_ratio` or `error_rate`), `value`, `compared_with`, `ratio` (null where the
   * others have none) and `threshold`. The default tenant is left out. Nothing is read of jobs.
   * @param options.depthFactor The signal is more waiting jobs than so many times the median of the others; 10
   *   without it.
   * @param options.rateFactor The signal is more jobs enqueued lately than so many times the average of the others;
   *   5 without it.
   * @param options.activePercent The signal is a larger share of the active jobs of all tenants, 1 to 100; 50
   *   without it.
   * @param options.errorFactor The signal is a larger share of failed attempts than so many times that of the
   *   others; 3 without it.
   * @param options.minJobs With fewer jobs that wait or were enqueued lately there is no signal, nor with fewer than
   *   a tenth of it that are active or failed; 100 without it.
   * @param options.limit The most tenants in the answer, 1 to 1,000; 100 without it.
   * @throws {OJSInvalidRequestError} The server found the request wrong; field in the details names the place.
   * @example await client.tenants.noisy({ depthFactor: 20, minJobs: 50, limit: 10 })
   */
  noisy(options?: { depthFactor?: number; rateFactor?: number; activePercent?: number; errorFactor?: number; minJobs?: number; limit?: number } & CallOptions): Promise<any[]>;
}
// gen:end

/** Which jobs a bulk call means: ids, or a filter. */
export type BulkTarget = { ids: Iterable<string> } | {
  queue?: string;
  /** `email.*` is all that start so. */
  type?: string;
  states?: readonly JobState[];
  enqueuedAfter?: When;
  enqueuedBefore?: When;
  priority?: number;
  meta?: Record<string, unknown>;
};
// gen:node/records.d.j2:answers (make gen; do not edit)
/** How a job ended, and what its handler returned. Its members have their names on the wire; those of several words have a name in camel case as well. */
export class JobResult<Result = any> {
  private constructor();
  /** The job's id. */
  readonly jobId: string;
  /** Completed, discarded or cancelled. */
  readonly state: 'completed' | 'discarded' | 'cancelled';
  /** Whether the job was completed. */
  readonly ok: boolean;
  /** What the handler returned; undefined when it returned nothing, or when its result is not kept. */
  readonly result?: Result;
  /** The failure that ended the job; undefined when none did. */
  readonly error?: JobFailure;
  /** How many attempts were begun. */
  readonly attempt: number;
  /** When the result was stored. */
  readonly storedAt?: string;
  /** When the result is removed; undefined when it is kept. */
  readonly expiresAt?: string;
  /** Any other member. */
  readonly [name: string]: any;
}

/** A workflow as the server describes it. */
export interface WorkflowStatus {
  /** The workflow's id. */
  id: string;
  /** The name that it was given; undefined without one. */
  name?: string;
  /** `chain`, `group`, `batch` or `graph`. */
  type: string;
  /** The state, in the server's word. */
  state: string;
  /** Any other member. */
  [name: string]: any;
}

/** An event: a change of a job, queue, workflow or worker. */
export interface OJSEvent {
  /** The id of the event, for reading on from it. */
  id: string;
  /** What happened, such as `job.completed`. */
  type: string;
  /** When it happened, in RFC 3339. */
  time: string;
  /** The id of the job or workflow, or the name of the queue or worker. */
  subject: string;
  /** Everything else, by type of event. */
  data: any;
  /** Any other member. */
  [name: string]: any;
}

/** What happened to one job of a bulk enqueue. */
export interface BulkItem {
  /** The place of the job in the request, from 0. */
  index: number;
  /** `created`; `duplicate`, with the job that existed before; or `failed`. */
  status: 'created' | 'duplicate' | 'failed';
  /** The job; undefined when it was refused. */
  job?: Job;
  /** Why the job was refused; undefined when it was not. */
  error?: OJSError;
  /** Whether the server has the job. */
  ok: boolean;
}

/** What happened to one job of a bulk cancel, retry or delete. */
export interface BulkChange {
  /** The job's id. */
  id: string;
  /** `cancelled`, `retried`, `deleted` or `skipped`. */
  status: string;
  /** Why the job was skipped; undefined when it was not. */
  error?: OJSError;
}

/** What a bulk cancel, retry or delete did. */
export interface BulkResult {
  /** How many jobs were named or found. */
  matched: number;
  /** How many jobs were left as they are; their items say why. */
  skipped: number;
  /** One for each job, in the order of the ids; of a filter the first 1,000. */
  items: BulkChange[];
  /** How many jobs were changed. */
  succeeded: number;
}
// gen:end

export interface EventsOptions extends CallOptions {
  /** May end in `*`: `job.*`. */
  types?: readonly string[];
  queues?: readonly string[];
  jobTypes?: readonly string[];
  after?: string;
}
/** A schedule. Further settings go by their names on the wire. */
export interface CronEntry {
  name: string;
  /** Five fields, or six with seconds. */
  expression: string;
  /** Of the IANA, such as `Europe/Prague`; UTC without it. */
  timezone?: string;
  /** What happens while the job before is not over; `skip`. */
  overlapPolicy?: 'skip' | 'allow' | 'cancel_previous' | 'enqueue';
  job: JobLike;
  enabled?: boolean;
}
export interface Cron {
  /** Enqueues `job` whenever `expression` matches; replaces a schedule of the same name. */
  register(entry: CronEntry, options?: CallOptions): Promise<any>;
}

/** Settings of a worker. */
export interface WorkerOptions extends ConnectionOptions {
  /** Shares this client's connection. */
  client?: OJSClient;
  // gen:node/settings.d.j2:worker (make gen; do not edit)
  /** In order of preference. Without it `OJS_QUEUE`, else `default`. */
  queues?: string | readonly string[];
  /** Handlers at a time. Without it `OJS_CONCURRENCY`, else `10`. */
  concurrency?: number;
  /** Its name on the server; without it a random one. */
  workerId?: string;
  /** Between heartbeats. Without it `5 s`. */
  heartbeatInterval?: Duration;
  /** How long a silent worker keeps a job. Without it `30 s`. */
  visibilityTimeout?: Duration;
  /**
   * How long running handlers may finish after a stop. With 0 they are cancelled at once. Without it
   * `OJS_SHUTDOWN_TIMEOUT`, else `25 s`.
   */
  gracePeriod?: Duration;
  /**
   * How long the outcomes of jobs may take to reach the server after the grace period. Without it as long as the
   * visibility timeout, at most 30 s.
   */
  flushTimeout?: Duration;
  /** The longest pause between fetches, where a server cannot wake a worker. Without it `2 s`. */
  pollInterval?: Duration;
  /** Labels of the worker, sent to the server. */
  labels?: readonly string[];
  /** Gives unfinished jobs back when it stops; else they wait until their leases end. Without it `true`. */
  releaseOnShutdown?: boolean;
  /**
   * What happens to a job whose type has no handler: `fail` makes it a dead letter whose reason is no_handler;
   * `release` gives it back to its queue, and no attempt is counted. Without it `fail`.
   */
  unknownTypes?: 'fail' | 'release';
  /**
   * Asks only for jobs of the types that have a handler, where the server's manifest names `fetch_types`. Jobs of
   * other types that come all the same are given back. Without it `false`.
   */
  onlyRegisteredTypes?: boolean;
  // gen:end
  /** The same as `gracePeriod`. */
  shutdownTimeout?: Duration;
  /** start() listens to SIGTERM and SIGINT, as run() does. */
  handleSignals?: boolean;
}

/** Fetches jobs and runs their handlers on this thread's event loop. */
export class OJSWorker extends EventEmitter {
  constructor(options?: WorkerOptions | string);
  /** Runs around every handler. */
  readonly middleware: MiddlewareChain<ExecutionMiddleware>;
  /**
   * Registers the handler of a job type; `*` stands for every other type. `defaults` are options for all jobs of the type that this process
   * enqueues. Returns the worker, which enqueues jobs of this type, too:
   * `const sendEmail = worker.register<[string]>('email.send', …)`, `await sendEmail.enqueue('ada@example.com')`.
   */
  register<Args extends unknown[] = any[]>(type: string, handler: Handler<Args>, defaults?: JobDefaults): OJSWorker & Task<Args>;
  /**
   * Registers how arguments of version `from` become those of version `to`, before the middleware and the handler see
   * the job. One that throws ends the job with the code `version_transform`.
   */
  transform(type: string, from: string, to: string, change: (args: any[]) => unknown[] | Promise<unknown[]>): this;
  /** What tasks enqueue with: the client that the worker was given, else one on the worker's own connection. */
  readonly client: OJSClient;
  /** Adds a layer around every handler. */
  use(name: string, layer: ExecutionMiddleware): this;
  use(layer: ExecutionMiddleware): this;
  /** Changes what was given at creation, before the start. */
  configure(options: { url?: string; queues?: string | readonly string[]; concurrency?: number }): this;
  /** Connects and begins to work; resolves when it does. The process stays alive until the worker is over. */
  start(): Promise<this>;
  /** Works until SIGTERM, SIGINT, stop(), or a directive of the server. */
  run(): Promise<void>;
  /** Stops gracefully; resolves when it is over. */
  stop(grace?: Duration): Promise<void>;
  /** Begins to stop. A second call ends the grace period. */
  shutdown(grace?: Duration): void;
  /** Fetches no more; what runs goes on. */
  quiet(): void;
  /** Fetches again after quiet(). */
  resume(): void;
  /** Resolves when the worker is over. */
  wait(): Promise<void>;
  readonly id: string | undefined;
  readonly state: 'new' | 'running' | 'quiet' | 'terminate' | 'stopped';
  readonly queues: string[];
  /** Handlers that run now. */
  readonly activeJobs: number;
  on(event: 'completed', listener: (ctx: JobContext) => void): this;
  on(event: 'failed', listener: (ctx: JobContext, error: unknown) => void): this;
  on(event: 'stopped', listener: () => void): this;
}

/** Options for all jobs of a type. */
export type JobDefaults = Omit<JobOptions, 'delayUntil' | 'expiresAt' | 'tenant'> & {
  /** Ranges of versions that the handler runs, such as `>=2.0 <4.0`, in place of those that follow from `version`. */
  versions?: string | readonly string[];
};

/** A job type that has a handler, as those who enqueue its jobs see it. */
export class Task<Args extends unknown[] = any[]> {
  private constructor();
  /** The job type. */
  readonly type: string;
  /** Sends a job with these arguments, through the worker's client. */
  enqueue(...args: Args & JsonOf<Args>): Promise<Job<Args>>;
  /** The job, not sent: for a batch, a workflow, an outbox or another client. */
  request(...args: Args & JsonOf<Args>): JobRequest;
  /** The same task with options for its next jobs: `sendEmail.options({ delay: '5m' }).enqueue('ada@example.com')`. */
  options(options: Omit<EnqueueOptions, 'signal'>): Task<Args>;
}

// gen:node/cancel_reasons.d.j2 (make gen; do not edit)
/** Why a handler should stop. */
export type CancelReason =
  /** The job was cancelled on the server. */
  | 'cancelled'
  /** Another worker has the job by now, or it was answered before. */
  | 'lease_lost'
  /** The attempt's time is up. */
  | 'timed_out'
  /** The worker stops and its grace period is over. */
  | 'shutdown';
// gen:end

/** A description of jobs that belong together. May be a step of another one. */
export class Workflow {
  private constructor();
  readonly type: 'chain' | 'group' | 'batch' | 'graph';
  readonly name?: string;
  /** The same with a name. */
  named(name: string): Workflow;
  /** The same with options for the workflow as a whole, by their names on the wire. */
  with(options: { [name: string]: Json }): Workflow;
  /** The description as the wire has it. */
  toJSON(): any;
}
export type Step = JobLike | Workflow;
/** One after the other; every step sees the results of those before it as `ctx.parentResults`. */
export function chain(...steps: Step[]): Workflow;
export function chain(steps: Step[]): Workflow;
/** All at the same time, in no order. */
export function group(...jobs: Step[]): Workflow;
export function group(jobs: Step[]): Workflow;
/** All at the same time, then callbacks. */
export function batch(jobs: Step[], callbacks?: BatchCallbacks): Workflow;
/** A step of a graph. */
export interface Node {
  readonly id: string;
  readonly after: string[];
}
/** A step of a graph: `id` is its name there, `after` names the nodes that must have completed before it begins. */
export function node(id: string, step: Step, options?: { after?: string | string[] }): Node;
/** Each node runs as soon as those before it have completed, and sees their results as `ctx.parentResults`. */
export function graph(...nodes: Node[]): Workflow;
export function graph(nodes: Node[]): Workflow;
export interface BatchCallbacks {
  /** In any case. */
  on_complete?: JobLike;
  onComplete?: JobLike;
  /** When all succeeded. */
  on_success?: JobLike;
  onSuccess?: JobLike;
  /** When any failed. */
  on_failure?: JobLike;
  onFailure?: JobLike;
}

/** An OJS server in this process. */
export class OJSServer {
  private constructor();
  /** Opens the store and listens; port 0 takes a free one. Keeps the process alive until stop(). */
  static start(options?: { store?: string; listen?: string; testMode?: boolean; keys?: string; insecure?: boolean }): Promise<OJSServer>;
  readonly url: string;
  stop(): Promise<void>;
}

/** JSON in which integers survive: those that a number cannot hold are bigints, in both directions. */
export const json: { parse(text: string): any; stringify(value: unknown): string };
export const version: string;

export { verifyWebhook } from './lib/webhooks.cjs';

/** What log records can be given to: `console`, pino, winston. */
export interface Logger {
  error?(message: string): void;
  warn(message: string): void;
  info?(message: string): void;
  debug?(message: string): void;
}
/** Where the core's log records go, from the start of the first worker on: to `console`, from `warn` up, unless said otherwise; null is nowhere. */
export function setLogger(logger: Logger | null, options?: { level?: 'off' | 'error' | 'warn' | 'info' | 'debug' | 'trace' }): void;

export namespace testing {
  /** What was enqueued while it is active. The newest active one gets the jobs of all clients. */
  class Fake {
    private constructor();
    /** Every enqueue request as it went to the server, oldest first. */
    readonly requests: any[];
    /** The requests of this type that match: `args`, `meta` (a part of it), `id`, `schema`, or any option by its name on the wire. */
    enqueued(type?: string, wanted?: Record<string, unknown>): any[];
    /** Fails unless such a job was enqueued (`count` times, when given). Returns the requests. */
    assertEnqueued(type: string, wanted?: { count?: number; [name: string]: unknown }): any[];
    /** Fails when such a job was enqueued. */
    assertNotEnqueued(type?: string, wanted?: Record<string, unknown>): void;
    /** Forgets all jobs. */
    clear(): Promise<void>;
    /** Runs the handlers of the workers on everything that is available; resolves to how many ran. */
    drain(...workers: [OJSWorker, ...(OJSWorker | { throwErrors?: boolean })[]]): Promise<number>;
    /** Ends it: clients reach their servers again. */
    restore(): Promise<void>;
  }
  /** Keeps the jobs of all clients in memory, until `restore()`. */
  function fake(): Fake;
  /** Runs jobs with the handlers of the workers as soon as they are enqueued; what they throw reaches who enqueues. */
  function inline(...workers: OJSWorker[]): Fake;
  /** Ends all that are active. */
  function restore(): Promise<void>;
}

export interface OJSErrorOptions {
  code?: string;
  retryable?: boolean;
  status?: number;
  details?: any;
  hint?: string;
  requestId?: string;
  numeric?: string;
  cause?: unknown;
}
/** Base of all errors of this package. */
export class OJSError extends Error {
  constructor(message: string, options?: OJSErrorOptions);
  /** By what a server answered: `new OJSError(await response.json())`. */
  constructor(body: object);
  /** Machine-readable code, as the server wrote it. */
  readonly code: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly details?: any;
  /** What to do next, in the server's words. */
  readonly hint?: string;
  readonly requestId?: string;
  /** Number of the code in the catalogue of OJS errors, such as `OJS-3000`. */
  readonly numeric?: string;
}
// gen:node/classes.d.j2 (make gen; do not edit)
/** The server answered, and the answer is an error. */
export class OJSAPIError extends OJSError {}
/** The job's present state or another job is in the way. */
export class OJSConflictError extends OJSAPIError {}
/** The job exists already: same id, or a unique policy said so. */
export class OJSDuplicateError extends OJSConflictError {
  /** The id of the job that was there first. */
  get existingJobId(): string | undefined;
}
/** The state of the job, schema, workflow or other thing does not allow the operation; for a job, current_state in the details names it. */
export class OJSInvalidStateTransitionError extends OJSConflictError {}
/** There is no such job, queue, workflow or schedule (any more). */
export class OJSNotFoundError extends OJSAPIError {}
/** The queue is paused and refuses jobs. */
export class OJSQueuePausedError extends OJSAPIError {}
/** The request came too fast, or the queue is full. */
export class OJSRateLimitError extends OJSAPIError {}
/** The job, its metadata, its result or the batch is larger than the server takes. */
export class OJSPayloadTooLargeError extends OJSAPIError {}
/** The server found the request wrong; field in the details names the place. */
export class OJSInvalidRequestError extends OJSAPIError {}
/** The server does not have an extension that the request needs, such as job trains; extension in the details names it. Nothing was done. */
export class OJSUnsupportedExtensionError extends OJSInvalidRequestError {}
/** The token is missing, wrong, or not allowed to do this. */
export class OJSAuthenticationError extends OJSAPIError {}
/** There was no OJS answer. */
export class OJSConnectionError extends OJSError {}
/** There was no answer in time; the server may have acted. */
export class OJSTimeoutError extends OJSConnectionError {}
/** The request, an argument or a setting was found wrong before anything was sent. */
export class OJSValidationError extends OJSError {}
/** An enqueue middleware did not call next: the job was dropped on purpose. */
export class OJSNotEnqueuedError extends OJSError {}
/** A chain was used wrongly: unknown name, name taken, changed while in use, next called twice. */
export class OJSMiddlewareError extends OJSError {}
/** The outbox cannot be used as it is set up, or not here: the message says what to do. */
export class OJSOutboxError extends OJSError {}
/** A request of a webhook is not to be trusted: a header is missing, the signature is old, or no secret fits. reason in the details is a word for it. */
export class OJSUntrustedWebhookError extends OJSError {}
/** The client, worker or server was closed. */
export class OJSClosedError extends OJSError {}
/** A bug in OJS. Please report it. */
export class OJSInternalError extends OJSError {}
// gen:end

/** Throw it in a handler: the job fails for good, whatever its retry policy says. */
export class NonRetryableError extends Error {
  constructor(message: string, options?: { code?: string; details?: object; cause?: unknown });
  readonly code: string;
  readonly details?: object;
}
/** Throw it in a handler: the job runs again after `delay`, and no attempt is counted. */
export class Snooze extends Error {
  constructor(delay: Duration);
  /** Milliseconds. */
  readonly delay: number;
}
/** Thrown by `ctx.throwIfCancelled()`; a handler that lets it through ends its job quietly. */
export class JobCancelledError extends Error {
  constructor(reason: CancelReason);
  readonly reason: CancelReason;
}
