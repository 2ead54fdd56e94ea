'use strict';
// What the calls of all parts of a client share: paths, and reading answers.
const { OJSError, OJSValidationError, fromText } = require('./errors.cjs');
const { durationText, timeText } = require('./durations.cjs');
const binding = require('./native.cjs');
const json = require('./json.cjs');

/** One member of an answer. */
function member(answer, name) {
  if (answer === null || typeof answer !== 'object' || !(name in answer)) {
    throw new OJSError(`the answer has no '${name}'`, { code: 'unexpected_answer' });
  }
  return answer[name];
}

/** A member that is a list. */
function list(answer, name) {
  const found = member(answer, name) ?? [];
  if (!Array.isArray(found)) throw new OJSError(`'${name}' of the answer is not a list`, { code: 'unexpected_answer' });
  return found;
}

/** Refuses names that are none of `names`; `there` are all that the message lists. Returns what was given. */
function known(kind, given, names, there = names) {
  if (given === null || typeof given !== 'object') {
    throw new OJSValidationError(`pass an object with ${there.join(', ')}, got ${String(given)}`);
  }
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown === undefined) return given;
  throw new OJSValidationError(binding.unknownName(kind, unknown, '', there));
}

/** A path of names. */
function at(kind, ...parts) {
  for (const part of parts) {
    if (typeof part === 'string' && part !== '') continue;
    const shown = part === '' ? "''" : part !== null && typeof part === 'object' ? 'an object' : String(part);
    throw new OJSValidationError(`a path under /${kind} needs an id or a name as text, such as job.id; got ${shown}`);
  }
  return `/${[kind, ...parts].map(encodeURIComponent).join('/')}`;
}

/** The members that were given. */
const given = (members) => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));

/** A path with parameters. */
function query(path, parameters) {
  const text = new URLSearchParams(Object.entries(given(parameters)).map(([name, value]) => [name, String(value)]));
  return `${text}` === '' ? path : `${path}?${text}`;
}

/** A point in time, if there is one. */
const timeOf = (name, when) => (when === undefined || when === null ? undefined : timeText(name, when));

/** A length of time, if there is one. */
const lengthOf = (name, length) =>
  (length === undefined || length === null ? undefined : durationText(name, length));

/** A point in time, or a length of time before now, if there is one. */
function age(name, value) {
  return value instanceof Date || /^\d{4}-/.test(value) ? timeOf(name, value) : lengthOf(name, value);
}

/** The values of a list. */
function many(name, values) {
  if (typeof values === 'string') {
    throw new OJSValidationError(`${name} is a list, such as ['completed']; got '${values}'`);
  }
  return values && [...values];
}

/** Cron entries, under the names that servers have for them. */
const crons = (answer) => answer.crons ?? answer.cron_jobs ?? [];
const cron = (answer) => answer.cron ?? answer;

/** The error of one item of an answer about many. */
const itemError = (error) => (error === undefined || error === null ? undefined : fromText(binding.itemError(json.stringify(error))));

/** A group of calls of a client: `client.queues` and its like. */
class Part {
  #client;

  constructor(client) {
    this.#client = client;
  }

  call(method, path, body, options) {
    return this.#client.request(method, path, body, options);
  }
}

module.exports = { Part, age, at, cron, crons, given, itemError, known, lengthOf, list, many, member, query, timeOf };
