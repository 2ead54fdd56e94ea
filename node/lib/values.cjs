'use strict';
// Which values arguments and metadata may hold: those that a handler gets back as they were passed. Anything else is refused with its place and
// with what to pass instead, before anything is sent. The table is in the guide, docs/guide/values.md.
const { isBuffer, types } = require('./platform.cjs');
const { OJSValidationError } = require('./errors.cjs');

/** Levels of arrays and objects. No server takes as many: a value that contains itself ends here. */
const LEVELS = 500;
/** Integers of more digits are refused: Python reads no longer ones. */
const DIGITS = 4300;
const LARGEST = 10n ** BigInt(DIGITS);

/** Whether a text has a form in UTF-8. */
const isText = typeof String.prototype.isWellFormed === 'function' ? (text) => text.isWellFormed() : (text) => !/\p{Surrogate}/u.test(text);

/** What is wrong, and the steps from the value that holds it to the place: they are added while the search returns. */
const wrong = (why) => ({ steps: [], why });
const named = (name) => `${/^[AEIO]/i.test(name) ? 'an' : 'a'} ${name}`;
const lost = (name, remedy) => wrong(`${named(name)} has no JSON form: pass ${remedy}`);

/**
 * Throws OJSValidationError unless all of `value` survives its way to a handler. `name` begins the path: `args[0].when`. Members that are
 * undefined are left out: a handler that reads them finds undefined again.
 */
function check(name, value) {
  refuse(name, value, false);
}

/** The same for the arguments of a job. One that is undefined arrives as null: the specification's own example for Express passes such a one. */
function checkArgs(args) {
  args.forEach((argument, index) => argument === undefined || check(`args[${index}]`, argument));
}

/**
 * The same for what a handler returns, whose job is done already: what JSON.stringify() leaves out, or has a text for (Date), may stay. What it
 * would turn into `{}` or into another value is refused.
 */
function checkResult(value) {
  refuse('result', value, true);
}

function refuse(name, value, returned) {
  let found;
  try {
    found = fault(value, 0, returned);
  } catch (cause) {
    // A getter or toJSON() of the value's own has thrown.
    throw new OJSValidationError(`${name} cannot be written as JSON: ${cause?.message ?? cause}`, { code: 'serialization_error', cause });
  }
  if (found !== undefined) throw refusal(name, found);
}

function refusal(name, { steps, why }) {
  const path = steps.length > 40 ? ` … ${steps.slice(0, 3).reverse().join('')}` : steps.reverse().join('');
  return new OJSValidationError(`${name}${path}: ${why}`, { code: 'serialization_error' });
}

function fault(value, level, returned = false) {
  switch (typeof value) {
    case 'string':
      return isText(value) ? undefined : wrong('the text has half of a surrogate pair, which UTF-8 has no form for: pass text.toWellFormed()');
    case 'number':
      return Number.isFinite(value) ? undefined : wrong(`${value} has no JSON form: pass null, or text`);
    case 'boolean':
      return undefined;
    case 'bigint':
      return value < LARGEST && value > -LARGEST ? undefined : wrong(`an integer of more than ${DIGITS} digits: pass its text`);
    case 'object':
      return value === null ? undefined : faultOfObject(value, level, returned);
    case 'undefined':
      return returned ? undefined : wrong('undefined has no JSON form: pass null, or leave it out');
    default:
      return returned && level > 0 ? undefined : wrong(`a ${typeof value} has no JSON form: pass what the handler needs of it`);
  }
}

function faultOfObject(value, level, returned) {
  if (level > LEVELS) return wrong(`nested more than ${LEVELS} levels deep, or it contains itself: pass flatter data`);
  if (Array.isArray(value)) return faultOfArray(value, level, returned);
  const proto = Object.getPrototypeOf(value);
  if (proto !== Object.prototype && proto !== null) {
    const found = faultOfKind(value, returned);
    if (found !== undefined) return found;
  }
  if (typeof value.toJSON === 'function') return faultOfOwnForm(value, level, returned);
  const keys = Object.keys(value);
  if (keys.length === 0 && !returned && proto !== Object.prototype && proto !== null && !types.isBoxedPrimitive(value)) {
    return wrong(`${named(value.constructor?.name || 'object')} shows nothing of itself to JSON: pass a plain object, or give it toJSON()`);
  }
  for (const key of keys) {
    const member = value[key];
    if (member === undefined) continue;
    const found = isText(key) ? fault(member, level + 1, returned) : wrong('the name has half of a surrogate pair');
    if (found !== undefined) return step(found, /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);
  }
  return undefined;
}

function faultOfArray(value, level, returned) {
  for (let index = 0; index < value.length; index += 1) {
    const found = fault(value[index], level + 1, returned);
    if (found !== undefined) return step(found, `[${index}]`);
  }
  return undefined;
}

/** An object that says itself what it is in JSON. */
function faultOfOwnForm(value, level, returned) {
  const form = value.toJSON('');
  return form === value ? wrong('its toJSON() returns the object itself: return plain data') : fault(form, level + 1, returned);
}

function step(found, name) {
  found.steps.push(name);
  return found;
}

/** Objects that JSON.stringify() writes as `{}`, as numbered members, or as another type. */
function faultOfKind(value, returned) {
  if (types.isDate(value)) {
    if (Number.isNaN(value.getTime())) return wrong('an invalid Date has no JSON form: pass null, or text');
    return returned ? undefined : wrong('a Date has no JSON form, it would arrive as text: pass .toISOString()');
  }
  if (types.isMap(value)) return lost('Map', 'Object.fromEntries(map)');
  if (types.isSet(value)) return lost('Set', '[...set]');
  if (types.isPromise(value)) return wrong('a Promise has no JSON form: await it');
  if (types.isRegExp(value)) return lost('RegExp', '.source');
  if (types.isNativeError(value) || value instanceof Error) return lost(value.name || 'Error', '.message, or { name, message, stack }');
  if (isBuffer(value)) return lost('Buffer', ".toString('base64')");
  if (ArrayBuffer.isView(value) && !types.isDataView(value)) return lost(value.constructor.name, '[...array]');
  if (types.isDataView(value) || types.isAnyArrayBuffer(value)) return lost(value.constructor.name, "Buffer.from(bytes).toString('base64')");
  if (types.isWeakMap(value) || types.isWeakSet(value)) return wrong(`${named(value.constructor.name)} has no JSON form`);
  if (typeof value.next === 'function' && Symbol.iterator in value) return lost('iterator', '[...iterator]');
  return undefined;
}

module.exports = { DIGITS, check, checkArgs, checkResult };
