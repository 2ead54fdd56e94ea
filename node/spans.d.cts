import type { TracerProvider } from '@opentelemetry/api';
import type { EnqueueMiddleware, ExecutionMiddleware } from './index.cjs';

/**
 * OpenTelemetry spans around jobs, one object for clients and workers:
 *
 * ```js
 * const spans = new Spans(); // of the provider that the program has set
 * client.middleware.prepend('trace_inject', spans.enqueue);
 * worker.middleware.prepend('trace_extract', spans.process);
 * ```
 *
 * | span | kind | |
 * |---|---|---|
 * | `{queue} enqueue` | producer | one per job, in batches and outboxes too; a child of the current span |
 * | `{queue} process` | consumer | one per attempt, linked to the enqueue span, parent of what the handler does |
 *
 * The trace travels in the job's metadata (W3C). Arguments and results are on no span. Wanted: the packages
 * `@opentelemetry/api` and `@opentelemetry/core`.
 */
export class Spans {
  /** `tracerProvider` is the program's; without it the global one, which may be set later. */
  constructor(options?: { tracerProvider?: TracerProvider });
  /** The layer `trace_inject` of a client. */
  readonly enqueue: EnqueueMiddleware;
  /** The layer `trace_extract` of a worker. */
  readonly process: ExecutionMiddleware;
}
