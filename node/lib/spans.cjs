'use strict';
// OpenTelemetry spans around jobs (extensions section 12): `{queue} enqueue` and `{queue} process`. Arguments and
// results are on none.
const api = require('@opentelemetry/api');
const { W3CBaggagePropagator, W3CTraceContextPropagator } = require('@opentelemetry/core');
const { OJSError } = require('./errors.cjs');
const json = require('./json.cjs');
const outcomes = require('./outcome.cjs');
const { version } = require('../package.json');

const TRACE = new W3CTraceContextPropagator();
const BAGGAGE = new W3CBaggagePropagator();
const FIELDS = ['traceparent', 'tracestate', 'baggage'];
/** Before the names that an older document gave them; read, never written. */
const OLD = 'ojs.otel.';

class Spans {
  #tracer;

  constructor({ tracerProvider = api.trace } = {}) {
    this.#tracer = tracerProvider.getTracer('ojs', version);
    // Functions, not methods: a chain calls them on their own.
    this.enqueue = (request, next) => this.#enqueue(request, next);
    this.process = (ctx, next) => this.#process(ctx, next);
  }

  async #enqueue(request, next) {
    const queue = request.options?.queue ?? 'default';
    const parent = parentOf(request.meta);
    const attributes = {
      ...messaging('publish', queue), 'ojs.job.type': request.type, 'ojs.job.priority': request.options?.priority ?? 0,
    };
    const span = this.#tracer.startSpan(`${queue} enqueue`, { kind: api.SpanKind.PRODUCER, attributes }, parent);
    const context = api.trace.setSpan(parent, span);
    const carrier = {};
    for (const propagator of [TRACE, BAGGAGE]) propagator.inject(context, carrier, api.defaultTextMapSetter);
    if (Object.keys(carrier).length > 0) request.meta = { ...request.meta, ...carrier };
    sized(span, request.args);
    return around(span, context, () => next(request), (job) => enqueued(span, job, queue), (error) => {
      const kind = error instanceof OJSError ? error.code : error?.name ?? typeof error;
      failed(span, kind, error, String(error?.message ?? error));
    });
  }

  async #process(ctx, next) {
    const carrier = carried(ctx.meta);
    const named = spanOf(carrier);
    const context = BAGGAGE.extract(api.context.active(), carrier, api.defaultTextMapGetter);
    const span = this.#tracer.startSpan(`${ctx.queue} process`, {
      kind: api.SpanKind.CONSUMER,
      attributes: { ...messaging('process', ctx.queue), ...about(ctx) },
      // A link, no parent: the job may run long after its producer's trace is over, and more than once.
      links: named === undefined ? [] : [{ context: named }],
    }, context);
    sized(span, ctx.args);
    return around(span, api.trace.setSpan(context, span), next, () => succeeded(span), (error) => {
      const failure = failureOf(ctx, error);
      if (failure === undefined) return succeeded(span);
      span.setAttribute('ojs.job.error.attempt', ctx.attempt);
      return failed(span, failure.type, error, failure.message);
    });
  }
}

/** Runs what is inside a span, and ends it. */
async function around(span, context, inner, onDone, onFailed) {
  try {
    const result = await api.context.with(context, inner);
    onDone(result);
    return result;
  } catch (error) {
    onFailed(error);
    throw error;
  } finally {
    span.end();
  }
}

/** What spans of every kind have: the operation's place in OpenTelemetry's conventions for messaging. */
const messaging = (operation, queue) => ({
  'messaging.system': 'ojs',
  'messaging.operation.type': operation,
  'messaging.destination.name': queue,
  'ojs.job.queue': queue,
});

/** How many bytes the arguments are as JSON. */
function sized(span, args) {
  if (!span.isRecording()) return;
  try {
    span.setAttribute('messaging.message.body.size', Buffer.byteLength(json.stringify(args ?? [])));
  } catch {
    // What cannot be sent is refused where it is sent.
  }
}

function about(ctx) {
  const { job } = ctx;
  const found = {
    'ojs.job.id': ctx.id,
    'messaging.message.id': ctx.id,
    'ojs.job.type': ctx.type,
    'ojs.job.attempt': ctx.attempt,
    'ojs.job.priority': Number(job.priority ?? 0),
    'ojs.job.state': 'active',
    'ojs.worker.id': ctx.workerId,
    'ojs.workflow.id': ctx.workflowId,
  };
  if (ctx.workflowId !== undefined) {
    found['ojs.workflow.type'] = job.workflow_type;
    found['ojs.workflow.step'] = job.workflow_step?.toString();
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined && value !== null));
}

/** The job as it was stored, or as it will be sent in a batch. */
function enqueued(span, job, queue) {
  if (typeof job?.state === 'string' && job.queue !== queue) {
    // The request names none, and the core has filled in the queue of its type.
    span.updateName(`${job.queue} enqueue`).setAttributes(messaging('publish', job.queue));
  }
  if (typeof job?.id === 'string') span.setAttributes({ 'ojs.job.id': job.id, 'messaging.message.id': job.id });
  if (typeof job?.state === 'string') span.setAttribute('ojs.job.state', job.state);
  if (typeof job?.scheduled_at === 'string') span.setAttribute('ojs.job.scheduled_at', job.scheduled_at);
  succeeded(span);
}

const succeeded = (span) => span.setStatus({ code: api.SpanStatusCode.OK });

/** `kind`: a code or the name of a type, never a text of many values. */
function failed(span, kind, error, message) {
  span.recordException(error instanceof Error ? error : { name: kind, message });
  span.setAttributes({ 'error.type': kind, 'error.message': message });
  span.setStatus({ code: api.SpanStatusCode.ERROR, message });
}

/** What the server gets to know of a failure; none where the attempt was snoozed, given back or cancelled. */
function failureOf(ctx, error) {
  if (ctx.cancelReason === 'cancelled') return undefined;
  const { kind, payload } = outcomes.failure(ctx, error);
  if (kind === outcomes.FAILED) return json.parse(payload);
  // The handler stopped when its time was up: the server counts a failure.
  if (ctx.cancelReason !== 'timed_out') return undefined;
  return { type: 'JobCancelledError', message: "the attempt's time is up" };
}

/** The trace in metadata: the W3C names, the older ones, and `trace_id` with `span_id` where there is nothing else. */
function carried(meta) {
  const text = (name) => {
    const value = meta?.[name] ?? meta?.[OLD + name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const found = Object.fromEntries(FIELDS.map((name) => [name, text(name)]).filter(([, value]) => value !== undefined));
  // Whether it was sampled is not known then; 01 leaves it to the sampler.
  if (text('trace_id') && text('span_id')) found.traceparent ??= `00-${text('trace_id')}-${text('span_id')}-01`;
  return found;
}

/** The span that the metadata names. */
function spanOf(carrier) {
  const found = api.trace.getSpanContext(TRACE.extract(api.ROOT_CONTEXT, carrier, api.defaultTextMapGetter));
  return found !== undefined && api.isSpanContextValid(found) ? found : undefined;
}

/** The current span; where there is none, or the job names another trace, what the job names. */
function parentOf(meta) {
  const current = api.context.active();
  const here = api.trace.getSpanContext(current);
  const named = spanOf(carried(meta));
  const isHere = here !== undefined && api.isSpanContextValid(here) && here.traceId === named?.traceId;
  return named === undefined || isHere ? current : api.trace.setSpanContext(current, named);
}

module.exports = { Spans };
