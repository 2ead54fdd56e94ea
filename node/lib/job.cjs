'use strict';
// The request that makes a job, and what its options are on the wire.
const { durationText } = require('./durations.cjs');
const { OJSValidationError, native } = require('./errors.cjs');
const binding = require('./native.cjs');
const json = require('./json.cjs');
const { OPTIONS, isObject, ordered, shown, wireValues } = require('./options.cjs');
const { check, checkArgs } = require('./values.cjs');

/** Arguments as the array that the wire wants: a single value becomes an array of one. */
function wrapArgs(args) {
  if (args === undefined || args === null) return [];
  return Array.isArray(args) ? args : [args];
}

/** Types for which worker.register() has set options: there what is equal to the server's default is sent, too. */
const withDefaults = new Set();

/** What a transport of the program's own gets: with the options of each type, as the core's connections send them. */
function completed(body) {
  if (!isObject(body)) return body;
  const whole = { ...body };
  for (const name of ['jobs', 'steps']) if (Array.isArray(body[name])) whole[name] = body[name].map(completed);
  if (isObject(body.callbacks)) {
    whole.callbacks = Object.fromEntries(Object.entries(body.callbacks).map(([name, job]) => [name, completed(job)]));
  }
  if (body.job_template !== undefined) whole.job_template = completed(body.job_template);
  const said = withDefaults.has(body.type) || body.options?.tenant !== undefined;
  return said ? json.parse(native(() => binding.completedJob(json.stringify(whole)))) : whole;
}

/** The `options` object of the wire: only what differs from the server's defaults. */
function wireOptions(type, { extra, ...given }) {
  if (extra !== undefined && !isObject(extra)) throw new OJSValidationError(`extra is an object of options by their names on the wire; got ${shown(extra)}`);
  const values = wireValues(given);
  if (!withDefaults.has(type)) {
    for (const [option, { to = option, omit }] of Object.entries(OPTIONS)) if (omit !== undefined && values[to] === omit) delete values[to];
    if (values.tags?.length === 0) delete values.tags;
    if (values.unique === false) delete values.unique;
    if (values.train === false) delete values.train;
  }
  return { ...ordered(OPTIONS, values), ...extra };
}

/** A job to be. Enqueue middleware gets it and may change everything but its id. */
class JobRequest {
  constructor(type, args, given = {}) {
    if (!isObject(given)) throw new OJSValidationError(`options are an object, such as { queue: 'mail' }; got ${shown(given)}`);
    const { id, meta, schema, signal, ...options } = given;
    if (typeof type !== 'string' || type === '') {
      const what = `a job needs a type, such as 'email.send'; got ${shown(type)}`;
      throw new OJSValidationError(what, { code: 'invalid_payload' });
    }
    this.type = type;
    this.args = wrapArgs(args);
    this.id = id;
    this.meta = meta;
    this.schema = schema;
    this.options = options;
  }

  /** For worker.register(): options of all jobs of a type that this process makes. The core keeps them. */
  static setDefaults(type, { delay, ...options }) {
    // A delay counts from each enqueue.
    const wire = wireOptions('', options);
    if (delay !== undefined) wire.delay = durationText('delay', delay);
    native(() => binding.setJobDefaults(type, JSON.stringify(wire)));
    withDefaults.add(type);
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

module.exports = { JobRequest, completed };
