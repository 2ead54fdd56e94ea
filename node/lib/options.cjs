'use strict';
// Made from xtask/schema.toml by make gen; do not edit.
// How options are written on the wire, and what they must be.
const { durationText, millis, timeAfter, timeText } = require('./durations.cjs');
const { OJSValidationError } = require('./errors.cjs');
const binding = require('./native.cjs');

const plain = (_name, value) => value;

function list(name, value) {
  if (typeof value !== 'string' && typeof value?.[Symbol.iterator] === 'function') return [...value];
  throw new OJSValidationError(`${name} is a list, such as ['a', 'b']; got ${shown(value)}`);
}

/** A value in a message: never the whole of it. */
const shown = (value) => (typeof value === 'string' ? `'${value.slice(0, 40)}'` : Array.isArray(value) ? 'an array' : value !== null && typeof value === 'object' ? 'an object' : String(value));
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

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

/** How each member of Train is written, in the order of the wire. */
const TRAIN = {
  id: plain,
  on_cancelled: plain,
  on_discarded: plain,
  cancel_active: plain,
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
  train: { write: (_name, value) => policy('train', TRAIN, value) },
  tags: { write: list },
  version: { write: plain },
  tenant: { write: plain },
  fairness_key: { write: plain },
};

const text = { fits: (value) => typeof value === 'string' && value !== '', is: 'text' };
const whole = { fits: Number.isInteger, is: 'a whole number' };
const counted = { fits: (value) => Number.isInteger(value) && value >= 0, is: 'a whole number, zero or more' };
const length = { fits: (value) => Number.isInteger(value) && value > 0, is: "more than zero: whole milliseconds, or text such as '30s'" };

/** What values must be, by names of the wire, where the server would say no more than 400. */
const MUST = {
  queue: text,
  priority: whole,
  timeout_ms: length,
  visibility_timeout_ms: length,
  result_ttl: counted,
  version: text,
  tenant: text,
  fairness_key: text,
  max_attempts: counted,
};

/** How many in which length of time. How each member of RateWindow is written. */
const WINDOW = {
  limit: plain,
  period: durationText,
};

/** How many jobs of one kind may start or run at a time. How each member of RateLimit is written. */
const RATE_LIMIT = {
  key: plain,
  concurrency: plain,
  rate: rateWindow,
  throttle: rateWindow,
  on_limit: plain,
  retry_priority: plain,
  scope: plain,
  max_per_second: plain,
};

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
  train: { fits: (value) => typeof value === 'string', long: (id) => ({ id }), is: "the id of a train, or { id: 'dest_123', onCancelled: 'hold' }" },
  unique: { fits: (value) => value === true, long: () => ({ keys: ['type', 'args'] }), is: 'true (the same type and arguments), or { keys: [\'type\', \'args\'], period: \'1h\' }' },
};

const camel = (name) => name.replace(/_[a-z]/g, (part) => part[1].toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The name on the wire of an option, or of a member of what `kind` names. */
function known(kind, table, name, more = []) {
  const wire = snake(name);
  if (Object.hasOwn(table, wire)) return wire;
  throw new OJSValidationError(binding.unknownName('option', name, kind === undefined ? '' : ` of ${kind}`, [...Object.keys(table), ...more].map(camel)));
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

/** Of these options `false` says none, also where the default of the type says otherwise. */
const NONE = new Set(['unique', 'train']);

/** Options by their names on the wire, each once. */
function wireValues(given) {
  const values = {};
  for (const [name, value] of Object.entries(given)) {
    const option = known(undefined, OPTIONS, name, ['id', 'meta', 'schema', 'extra', 'signal']);
    if (value === undefined || value === null) continue;
    const { write, to = option } = OPTIONS[option];
    if (to in values) throw new OJSValidationError(`'${name}' and another option both set ${to}; give one of them`);
    // Not even where the type's default says so.
    values[to] = NONE.has(option) && value === false ? false : checked(name, to, write(name, value));
  }
  return values;
}

module.exports = { OPTIONS, isObject, ordered, shown, wireValues };
