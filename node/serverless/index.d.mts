/** Handlers of a worker in functions, without the native half: for Node.js and for edge runtimes, by Web APIs alone. */
import type {
  CancelReason,
  ExecutionMiddleware,
  Handler,
  Job,
  JobContext,
  MiddlewareChain,
  OJSWorker,
} from '../index.cjs';

export {
  JobCancelledError,
  JobContext,
  MiddlewareChain,
  NonRetryableError,
  OJSAPIError,
  OJSAuthenticationError,
  OJSConflictError,
  OJSConnectionError,
  OJSError,
  OJSInvalidRequestError,
  OJSMiddlewareError,
  OJSNotFoundError,
  OJSPayloadTooLargeError,
  OJSRateLimitError,
  OJSTimeoutError,
  OJSUntrustedWebhookError,
  OJSValidationError,
  Snooze,
} from '../index.cjs';
export type { CancelReason, ExecutionMiddleware, Handler, Job };
import { OJSError } from '../index.cjs';

/** Environment variables, as edge runtimes pass them with each call; `process.env` elsewhere. */
export type Environment = Record<string, unknown>;

export interface FunctionSettings {
  /** The server that outcomes of jobs from queues go to, and checkpoints and progress; `OJS_URL` in the environment. */
  ojsUrl?: string;
  /** `OJS_AUTH_TOKEN` in the environment. */
  authToken?: string;
  /** More headers for calls to the server. */
  headers?: Record<string, string>;
  /** What calls the server, for tests. */
  fetch?: typeof globalThis.fetch;
  /**
   * Keys that arguments are decrypted with: `name:key,name:key`, or 32 bytes by name; `OJS_ENCRYPTION_KEYS` in the
   * environment.
   */
  encryptionKeys?: string | Record<string, Uint8Array | string>;
  /**
   * What becomes of a job whose type has no handler: `fail` for good (the default), or `release` for another attempt.
   */
  unknownTypes?: 'fail' | 'release';
  /**
   * A run ends so many milliseconds before the platform's limit, with a failure that is tried again (5,000). It is half
   * of the time that is left, if that is less.
   */
  safetyMargin?: number;
  /** Where warnings go (`console`). */
  logger?: { warn(text: string): void; error(text: string): void };
}

export interface PushSettings extends FunctionSettings {
  /**
   * The endpoint's secret, or several while it is being replaced; `OJS_SIGNING_SECRET` in the environment, separated
   * by commas.
   */
  signingSecret?: string | Iterable<string>;
  /** How old a signature may be, in seconds (300). */
  tolerance?: number;
  /** Trusts every request: only where the platform has checked its origin already. */
  unsigned?: boolean;
  /** What the platform allows for one call, in milliseconds. */
  timeout?: number;
  /** The time in milliseconds since the epoch, for tests. */
  clock?: () => number;
}

/** The answer to a request, for every framework and platform. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * Runs the handlers of a worker where a platform calls them: with the registry, the middleware, the context and the
 * errors of a worker.
 */
export class FunctionHandler {
  /** With handlers of its own, or with those of a worker, which is never started. */
  constructor(settings?: FunctionSettings);
  constructor(worker: OJSWorker, settings?: FunctionSettings);
  /** Registers the handler of a job type; `*` stands for every other type. */
  register<Args extends unknown[] = any[]>(type: string, handler: Handler<Args>): this;
  /** Adds a layer around every handler. */
  use(name: string, layer: ExecutionMiddleware): this;
  use(layer: ExecutionMiddleware): this;
  /** Runs around every handler. */
  readonly middleware: MiddlewareChain<ExecutionMiddleware>;
}

/**
 * Answers push deliveries. A request without a valid signature, or one that was signed too long ago, is answered 401
 * and runs nothing. A delivery that arrives twice gets its first answer, and runs once.
 */
export class PushHandler extends FunctionHandler {
  constructor(settings?: PushSettings);
  constructor(worker: OJSWorker, settings?: PushSettings);
  /**
   * The answer to one request: 200 with the outcome of its job; 401, 400, 405 or 413; 500 where the handler has no
   * signing secret. `body` is that of the request byte for byte.
   */
  answer(
    method: string,
    headers: Headers | Record<string, string | readonly string[] | undefined>,
    body: Uint8Array | string,
  ): Promise<Answer>;
  /** Answers a request of fetch: Cloudflare, Vercel, Deno, Bun, Next.js, Hono. */
  fetch(request: Request, env?: Environment): Promise<Response>;
  /** Answers a request of Node.js: Express, Google's functions framework, a server of `node:http`. */
  handleHTTP(request: NodeRequest, response: NodeResponse): Promise<void>;
}

/** A request of Node.js, whose body has not been parsed, or is there as bytes. */
export interface NodeRequest extends AsyncIterable<any> {
  method?: string;
  headers: Record<string, string | string[] | undefined>;
  body?: unknown;
  rawBody?: Uint8Array;
  readableEnded?: boolean;
}
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: string): unknown;
}

/** What `handleSQS` returns: the messages that SQS shall deliver again. */
export interface BatchAnswer {
  batchItemFailures: { itemIdentifier: string }[];
}
/** What a direct call returns. */
export interface DirectAnswer {
  status: 'completed' | 'failed';
  job_id: string;
  result?: unknown;
  error?: { code: string; message: string; retryable: boolean; type?: string; details?: unknown };
}
/** What a function URL or API Gateway sends back. */
export interface URLAnswer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  isBase64Encoded: boolean;
}
/** The context of an invocation. */
export interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/** AWS Lambda. Its members can be passed on alone: `export const handler = ojs.handleSQS`. */
export class LambdaHandler extends PushHandler {
  /** Takes an event of any kind; its members say which. */
  readonly handle: (event: any, context?: LambdaContext) => Promise<BatchAnswer | DirectAnswer | URLAnswer>;
  /**
   * Runs the jobs of a batch. The event source mapping needs `ReportBatchItemFailures`. In a FIFO queue the first
   * failure that will be tried again ends the work on its message group; other messages run beside each other.
   */
  readonly handleSQS: (event: any, context?: LambdaContext) => Promise<BatchAnswer>;
  /** Answers a push delivery that came by a function URL or API Gateway (payload formats 1.0 and 2.0). */
  readonly handleURL: (event: any, context?: LambdaContext) => Promise<URLAnswer>;
  /** Runs the job in `detail`; rejects with DeliveryFailedError when it has failed and no server has stored that. */
  readonly handleEventBridge: (event: any, context?: LambdaContext) => Promise<DirectAnswer>;
  /** Runs the job that the event is. */
  readonly handleDirect: (event: any, context?: LambdaContext) => Promise<DirectAnswer>;
}

/** Google Cloud Functions: `handleHTTP`, and CloudEvents of Pub/Sub. */
export class GoogleHandler extends PushHandler {
  /**
   * Runs the job in a Pub/Sub message, and reports its outcome; rejects with DeliveryFailedError when it has failed
   * and no server has stored that.
   */
  handleCloudEvent(event: { data?: any }): Promise<void>;
}

/** Azure Functions. Its members can be passed on alone. */
export class AzureHandler extends PushHandler {
  /** Answers an `HttpRequest` with an `HttpResponseInit`. */
  readonly handleRequest: (request: { method: string; headers: any; body: any }) => Promise<Answer>;
  /**
   * Runs the job in a message of Service Bus or of a storage queue; rejects with DeliveryFailedError when it has
   * failed and no server has stored that.
   */
  readonly handleQueue: (message: unknown, context?: { triggerMetadata?: Record<string, any> }) => Promise<void>;
}

/**
 * Cloudflare Workers: `export default { fetch: handler.fetch, queue: handler.queue }`. Settings come from bindings too
 * (`env.OJS_URL` and so on). A request has 30 seconds and a batch of a queue 15 minutes; `timeout` replaces both.
 */
export class CloudflareHandler extends PushHandler {
  /** Runs the jobs of a batch, and acknowledges or retries each. */
  readonly queue: (batch: { readonly messages: readonly QueueMessage[] }, env?: Environment) => Promise<void>;
}
export interface QueueMessage {
  readonly id: string;
  readonly body: unknown;
  readonly attempts?: number;
  ack(): void;
  retry(): void;
}

/** Vercel's edge functions: `export const POST = handler.fetch`. */
export class VercelHandler extends PushHandler {}

/** A job has failed, and no OJS server has stored the failure: the platform shall deliver the event again. */
export class DeliveryFailedError extends OJSError {}
