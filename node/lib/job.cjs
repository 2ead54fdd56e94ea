'use strict';
// Jobs: what a server knows about one, and the request that makes one.
const { durationText, millis, timeAfter, timeText } = require('./durations.cjs');
const { OJSError, OJSValidationError } = require('./errors.cjs');
const { unknownName } = require('./names.cjs');
const { check, checkArgs } = require('./values.cjs');

/** A job as the server describes it: its members by their names on the wire, and the long ones in camel case as well. */
class Job {
  /** The decoded object becomes the job: nothing is copied, unknown members stay. */
  static from(data) {
    if (data === null || typeof data !== 'object' || Array.isArray(data)) {
      throw new OJSValidationError('the answer has no job', { code: 'unexpected_answer' });
    }
    return Object.setPrototypeOf(data, Job.prototype);
  }

  /** The job of an answer. Throws OJSError when there is none in it: what has no id is no job. */
  static answered(data) {
    if (!isObject(data) || typeof data.id !== 'string') throw new OJSError('the answer has no job', { code: 'unexpected_answer' });
    return Job.from(data);
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

function list(name, value) {
  if (typeof value !== 'string' && typeof value?.[Symbol.iterator] === 'function') return [...value];
  throw new OJSValidationError(`${name} is a list, such as ['a', 'b']; got ${shown(value)}`);
}

/** A value in a message: never the whole of it. */
const shown = (value) => (typeof value === 'string' ? `'${value.slice(0, 40)}'` : Array.isArray(value) ? 'an array' : value !== null && typeof value === 'object' ? 'an object' : String(value));
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

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
  rate_limit: { write: plain },
  tags: { write: list },
};
// gen:end

const text = { fits: (value) => typeof value === 'string' && value !== '', is: 'text' };
const whole = { fits: Number.isInteger, is: 'a whole number' };
const counted = { fits: (value) => Number.isInteger(value) && value >= 0, is: 'a whole number, zero or more' };
const length = { fits: (value) => Number.isInteger(value) && value > 0, is: "more than zero: whole milliseconds, or text such as '30s'" };

/** What values must be, by names of the wire, where the server would say no more than 400. */
const MUST = { queue: text, priority: whole, timeout_ms: length, visibility_timeout_ms: length, result_ttl: counted, max_attempts: counted };

/** How each member of a rate limit is written. */
const RATE_LIMIT = {
  key: plain, concurrency: plain, rate: rateWindow, throttle: rateWindow, on_limit: plain, retry_priority: plain, scope: plain, max_per_second: plain,
};
const WINDOW = { limit: plain, period: durationText };

function rateWindow(name, given) {
  if (!isObject(given)) throw new OJSValidationError(`${name} is { limit: 100, period: '1m' }; got ${shown(given)}`);
  return policy(name, WINDOW, given);
}

function checked(name, wire, value) {
  if (wire === 'rate_limit') {
    if (isObject(value)) return policy('rateLimit', RATE_LIMIT, value);
    throw new OJSValidationError(`rateLimit is { key: 'api.example.com', concurrency: 2, rate: { limit: 100, period: '1m' } }; got ${shown(value)}`);
  }
  const must = Object.hasOwn(MUST, wire) ? MUST[wire] : undefined;
  if (must === undefined || must.fits(value)) return value;
  throw new OJSValidationError(`${name} must be ${must.is}; got ${shown(value)}`);
}

/** What may stand in place of a policy. */
const SHORT = {
  retry: { fits: counted.fits, long: (attempts) => ({ max_attempts: attempts }), is: 'how many attempts there are in all, or { maxAttempts: 5, initialInterval: \'1s\' }' },
  unique: { fits: (value) => value === true, long: () => ({ keys: ['type', 'args'] }), is: 'true (the same type and arguments), or { keys: [\'type\', \'args\'], period: \'1h\' }' },
};

const camel = (name) => name.replace(/_[a-z]/g, (part) => part[1].toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The name on the wire of an option, or of a member of what `kind` names. */
function known(kind, table, name, more = []) {
  const wire = snake(name);
  if (Object.hasOwn(table, wire)) return wire;
  throw new OJSValidationError(unknownName('option', name, [...Object.keys(table), ...more].map(camel), kind));
}

function policy(kind, table, given) {
  const short = SHORT[kind];
  if (short?.fits(given)) return short.long(given);
  if (!isObject(given)) throw new OJSValidationError(`${kind} is ${short?.is ?? 'an object'}; got ${shown(given)}`);
  const values = {};
  for (const [name, value] of Object.entries(given)) {
    // What earlier SDKs call it.
    const wire = kind === 'unique' && name === 'key' ? 'keys' : known(kind, table, name);
    if (value !== undefined && value !== null) values[wire] = checked(`${kind}.${name}`, wire, table[wire](`${kind}.${name}`, value));
  }
  return ordered(table, values);
}

function ordered(table, values) {
  const result = {};
  for (const name of Object.keys(table)) if (values[name] !== undefined) result[name] = values[name];
  return result;
}

/** Options by their names on the wire, each once. */
function wireValues(given) {
  const values = {};
  for (const [name, value] of Object.entries(given)) {
    const option = known(undefined, OPTIONS, name, ['id', 'meta', 'schema', 'extra', 'signal']);
    if (value === undefined || value === null) continue;
    const { write, to = option } = OPTIONS[option];
    if (option === 'unique' && value === false) {
      values.unique = undefined; // not even where the type's default says so
      continue;
    }
    if (to in values) throw new OJSValidationError(`'${name}' and another option both set ${to}; give one of them`);
    values[to] = checked(name, to, write(name, value));
  }
  return values;
}

/** Options for all jobs of a type, by type: what worker.register() was given. */
const defaults = new Map();

/** The `options` object of the wire: only what differs from the server's defaults. What the job says wins over what its type says. */
function wireOptions(type, { extra, ...given }) {
  if (extra !== undefined && !isObject(extra)) throw new OJSValidationError(`extra is an object of options by their names on the wire; got ${shown(extra)}`);
  const { extra: moreOfType, ...ofType } = defaults.get(type) ?? {};
  const values = { ...(defaults.has(type) ? wireValues(ofType) : undefined), ...wireValues(given) };
  for (const [option, { to = option, omit }] of Object.entries(OPTIONS)) if (omit !== undefined && values[to] === omit) delete values[to];
  if (values.tags?.length === 0) delete values.tags;
  return { ...ordered(OPTIONS, values), ...moreOfType, ...extra };
}

/** A job to be. Enqueue middleware gets it and may change everything but its id. */
class JobRequest {
  constructor(type, args, given = {}) {
    if (!isObject(given)) throw new OJSValidationError(`options are an object, such as { queue: 'mail' }; got ${shown(given)}`);
    const { id, meta, schema, signal, ...options } = given;
    if (typeof type !== 'string' || type === '') throw new OJSValidationError('a job needs a type', { code: 'invalid_payload' });
    this.type = type;
    this.args = wrapArgs(args);
    this.id = id;
    this.meta = meta;
    this.schema = schema;
    this.options = options;
  }

  /** For worker.register(): options of all jobs of a type that this process makes. */
  static setDefaults(type, options) {
    wireOptions('', options); // refuses what is wrong
    defaults.set(type, options);
  }

  /** A request from the forms that are handy to write: a request, `{ type, args, …options }`, a type. */
  static of(value) {
    if (value instanceof JobRequest) return value;
    if (typeof value === 'string') return new JobRequest(value);
    if (value === null || typeof value !== 'object') throw new OJSValidationError('a job is { type, args, … } or a type');
    const { type, args, options = {}, ...rest } = value;
    if (!isObject(options)) throw new OJSValidationError(`options are an object, such as { queue: 'mail' }; got ${shown(options)}`);
    return new JobRequest(type, args, { ...rest, ...options });
  }

  /** The request as the wire has it. */
  toJSON() {
    const body = { type: this.type, args: wrapArgs(this.args) };
    checkArgs(body.args);
    if (this.id !== undefined) body.id = this.id;
    if (this.meta !== undefined && this.meta !== null) {
      if (!isObject(this.meta)) throw new OJSValidationError(`meta is an object, such as { tenant_id: 'acme' }; got ${shown(this.meta)}`);
      check('meta', this.meta);
    }
    if (this.meta && Object.keys(this.meta).length > 0) body.meta = this.meta;
    if (this.schema !== undefined) body.schema = this.schema;
    const options = wireOptions(this.type, this.options);
    if (Object.keys(options).length > 0) body.options = options;
    return body;
  }
}

module.exports = { Job, JobRequest };
