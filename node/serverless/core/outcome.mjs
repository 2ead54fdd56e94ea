// Made from node/lib/outcome.cjs by scripts/edge.py (make gen); do not edit.
import context from './context.mjs';
import errors from './errors.mjs';
import json from './json.mjs';
import platform from './platform.mjs';
import values from './values.mjs';
// From what a handler did to what the core gets.
const { JobCancelledError, NonRetryableError, OJSError, Snooze } = errors;
const { inside } = context;
const { clean, isOwnFrame } = platform;
const { checkResult } = values;

// gen:node/outcomes.j2 (make gen; do not edit)
/** Done; the payload is the result as JSON text, or empty. */
const COMPLETED = 0;
/** Failed; the payload is a JSON object: message, perhaps code, type, retryable, details, backtrace. */
const FAILED = 1;
/** Given back without counting an attempt; no payload. */
const RELEASED = 2;
/** To run again after the delay, without counting a failure; no payload. */
const SNOOZED = 3;
// gen:end

/** The server keeps no more frames. */
const FRAMES = 50;

/** The handler returned. */
function success(ctx, returned) {
  const result = returned ?? inside.result(ctx);
  if (result === undefined || result === null) return outcome(ctx, COMPLETED);
  try {
    checkResult(result);
    return outcome(ctx, COMPLETED, json.stringify(result));
  } catch (error) {
    const message = `the handler's result cannot be kept: ${text(error)}`;
    return failed(ctx, error, { code: 'serialization_error', message, retryable: false });
  }
}

/** The handler threw: anything. */
function failure(ctx, error) {
  if (error instanceof Snooze) return outcome(ctx, SNOOZED, undefined, error.delay);
  if (ctx.cancelled && (error instanceof JobCancelledError || error?.name === 'AbortError')) return outcome(ctx, RELEASED);
  if (error instanceof JobCancelledError) return failed(ctx, error, { code: 'cancelled', retryable: false });
  if (error instanceof NonRetryableError) {
    return failed(ctx, error, { code: String(error.code), retryable: false, details: error.details });
  }
  if (error instanceof OJSError && error.code === 'no_handler') return failed(ctx, error, { code: 'no_handler', retryable: false });
  return failed(ctx, error, { code: 'handler_error', retryable: true });
}

/** What is sent instead of an outcome that the core cannot read. */
function unreadable(ctx, error) {
  return failed(ctx, error, { code: 'serialization_error', message: `the handler's result was not accepted: ${text(error)}`, retryable: false });
}

/** How the plain protocol reports an outcome: the path of the call, and its members beside those that name the job. */
function reported({ kind, payload, delay }) {
  if (kind === COMPLETED) return ['/workers/ack', payload === '' ? {} : { result: json.parse(payload) }];
  if (kind === FAILED) return ['/workers/nack', { error: json.parse(payload) }];
  const code = kind === SNOOZED ? 'snooze' : 'released';
  const error = { code, type: code, message: 'given back by the handler', retryable: true };
  if (kind !== SNOOZED) return ['/workers/nack', { requeue: true, error }];
  const length = Math.round(delay);
  // Servers without `delay_ms` read the delay from the details.
  return ['/workers/nack', { requeue: true, delay_ms: length, error: { ...error, details: { snooze_ms: length } } }];
}

/** The job fails before a handler of it has run, or because its time is up. */
function refused(code, type, message, retryable) {
  const about = { code, type, message: clean(message), retryable, backtrace: [] };
  return { kind: FAILED, payload: json.stringify(about), delay: 0 };
}

function outcome(ctx, kind, payload = '', delay = 0) {
  return { ctx, kind, payload, delay };
}

function failed(ctx, error, { code, message, retryable, details }) {
  const type = typeName(error);
  const stack = stackOf(error);
  const about = { code, type, message: message || text(error) || type, retryable, backtrace: frames(stack) };
  const ours = { error_class: type, stack };
  try {
    return outcome(ctx, FAILED, json.stringify({ ...about, details: { ...ours, ...details } }));
  } catch {
    return outcome(ctx, FAILED, json.stringify({ ...about, details: ours }));
  }
}

function typeName(error) {
  try {
    if (error instanceof Error) return clean(String(error.name || error.constructor.name));
    return error === null ? 'null' : clean(error?.constructor?.name ?? typeof error);
  } catch {
    return 'Error';
  }
}

function text(error) {
  try {
    return clean(error instanceof Error ? String(error.message) : String(error));
  } catch {
    return 'an error that cannot be printed';
  }
}

function stackOf(error) {
  try {
    return clean(String(error?.stack ?? error));
  } catch {
    return 'a stack that cannot be printed';
  }
}

/** The frames of a stack without those of this package. An error of the package itself keeps all of them. */
function frames(stack) {
  const every = stack.split('\n').filter((line) => /^\s+at /.test(line)).map((line) => line.trim().slice(3));
  const outside = every.filter((frame) => !isOwnFrame(frame));
  return (outside.length > 0 ? outside : every).slice(0, FRAMES);
}

const exported = { COMPLETED, FAILED, RELEASED, SNOOZED, success, failure, refused, reported, unreadable };

export default exported;
