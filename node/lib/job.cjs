'use strict';
// Jobs: what a server knows about one, and the request that makes one.
const { durationText, millis, timeAfter, timeText } = require('./durations.cjs');
const { OJSValidationError } = require('./errors.cjs');

/** A job as the server describes it: its members by their names on the wire, and the long ones in camel case as well. */
class Job {
  /** The decoded object becomes the job: nothing is copied, unknown members stay. */
  static from(data) {
    if (data === null || typeof data !== 'object' || Array.isArray(data)) {
      throw new OJSValidationError('the answer has no job', { code: 'unexpected_answer' });
    }
    return Object.setPrototypeOf(data, Job.prototype);
  }
}

const CAMEL = {
  maxAttempts: 'max_attempts', createdAt: 'created_at', enqueuedAt: 'enqueued_at', scheduledAt: 'scheduled_at', startedAt: 'started_at',
  completedAt: 'completed_at', expiresAt: 'expires_at', parentResults: 'parent_results', workflowId: 'workflow_id', timeoutMs: 'timeout_ms',
};
for (const [name, wire] of Object.entries(CAMEL)) {
  Object.defineProperty(Job.prototype, name, { get() { return this[wire]; }, enumerable: false, configurable: true });
}

/** Arguments as the array that the wire wants: a single value becomes an array of one. */
function wrapArgs(args) {
  if (args === undefined || args === null) return [];
  return Array.isArray(args) ? args : [args];
}

const plain = (_name, value) => value;
const list = (_name, value) => [...value];

// gen:node/options.j2 (make gen; do not edit)
/** How each member of RetryPolicy is written, in the order of the wire. */
const RETRY = {
  max_attempts: plain,
  initial_interval: durationText,
  backoff_coefficient: plain,
  max_interval: durationText,
  jitter: plain,
  non_retryable_errors: list,
  on_exhaustion: plain,
  backoff_strategy: plain,
};

/** How each member of UniquePolicy is written, in the order of the wire. */
const UNIQUE = {
  keys: list,
  args_keys: list,
  meta_keys: list,
  period: durationText,
  states: list,
  on_conflict: plain,
};

/** How each option is written, in the order of the wire. `to` is its name there, where that is another one. */
const OPTIONS = {
  queue: { write: plain, omit: 'default' },
  priority: { write: plain, omit: 0 },
  timeout: { write: millis, to: 'timeout_ms' },
  timeout_ms: { write: plain },
  visibility_timeout: { write: millis, to: 'visibility_timeout_ms' },
  visibility_timeout_ms: { write: plain },
  result_ttl: { write: plain },
  delay: { write: timeAfter, to: 'delay_until' },
  delay_until: { write: timeText },
  expires_at: { write: timeText },
  total_timeout: { write: durationText },
  retry: { write: (_name, value) => policy('retry', RETRY, value) },
  unique: { write: (_name, value) => policy('unique', UNIQUE, value) },
  tags: { write: list },
};
// gen:end

const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function known(kind, table, name) {
  const wire = snake(name);
  if (Object.hasOwn(table, wire)) return wire;
  throw new OJSValidationError(`unknown ${kind} '${name}'; there are ${Object.keys(table).join(', ')}`);
}

function policy(kind, table, given) {
  const values = {};
  for (const [name, value] of Object.entries(given)) {
    // What earlier SDKs call it.
    const wire = kind === 'unique' && name === 'key' ? 'keys' : known(`member of ${kind}`, table, name);
    if (value !== undefined && value !== null) values[wire] = table[wire](name, value);
  }
  return ordered(table, values);
}

function ordered(table, values) {
  const result = {};
  for (const name of Object.keys(table)) if (name in values) result[name] = values[name];
  return result;
}

/** The `options` object of the wire: only what differs from the defaults. */
function wireOptions({ extra, ...given }) {
  const values = {};
  for (const [name, value] of Object.entries(given)) {
    const option = known('option', OPTIONS, name);
    if (value === undefined || value === null) continue;
    const { write, to = option, omit } = OPTIONS[option];
    if (value === omit) continue;
    if (to in values) throw new OJSValidationError(`'${name}' and another option both set ${to}; give one of them`);
    values[to] = write(name, value);
  }
  if (values.tags?.length === 0) delete values.tags;
  return { ...ordered(OPTIONS, values), ...extra };
}

/** A job to be. Enqueue middleware gets it and may change everything but its id. */
class JobRequest {
  constructor(type, args, { id, meta, schema, signal, ...options } = {}) {
    if (typeof type !== 'string' || type === '') throw new OJSValidationError('a job needs a type', { code: 'invalid_payload' });
    this.type = type;
    this.args = wrapArgs(args);
    this.id = id;
    this.meta = meta;
    this.schema = schema;
    this.options = options;
  }

  /** A request from the forms that are handy to write: a request, `{ type, args, …options }`, a type. */
  static of(value) {
    if (value instanceof JobRequest) return value;
    if (typeof value === 'string') return new JobRequest(value);
    if (value === null || typeof value !== 'object') throw new OJSValidationError('a job is { type, args, … } or a type');
    const { type, args, options, ...rest } = value;
    return new JobRequest(type, args, { ...rest, ...options });
  }

  /** The request as the wire has it. */
  toJSON() {
    const body = { type: this.type, args: wrapArgs(this.args) };
    if (this.id !== undefined) body.id = this.id;
    if (this.meta && Object.keys(this.meta).length > 0) body.meta = this.meta;
    if (this.schema !== undefined) body.schema = this.schema;
    const options = wireOptions(this.options);
    if (Object.keys(options).length > 0) body.options = options;
    return body;
  }
}

module.exports = { Job, JobRequest };
