'use strict';
// JSON in which integers survive: those that a number cannot hold are bigints, in both directions.
const { randomUUID, types } = require('./platform.cjs');
const { OJSError, OJSValidationError } = require('./errors.cjs');
const { DIGITS } = require('./values.cjs');

/** So many digits may be more than a number holds. */
const LONG = 16;
// A string, or a number; strings are matched so that digits in them are left alone.
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
// Bigints pass through the engine's JSON as strings that begin with this. It cannot be guessed, so no other string does.
// Made when it is needed: some edge runtimes have no randomness before the first request.
let made;
const mark = () => (made ??= `~${randomUUID()}:`);

const digit = (code) => code >= 48 && code <= 57;

/** Whether a text has that many digits in a row. They cover every 16th place: only those are looked at, and the digits around them. */
function long(text) {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!digit(text.charCodeAt(at))) continue;
    let from = at;
    let to = at + 1;
    while (from > 0 && digit(text.charCodeAt(from - 1))) from -= 1;
    while (to < text.length && digit(text.charCodeAt(to))) to += 1;
    if (to - from >= LONG) return true;
  }
  return false;
}

/** The value of what a server sent. Throws OJSError where it is not JSON; never with the text itself, which may hold what must not be shown. */
function parseAnswer(text, what = 'the answer') {
  try {
    return parse(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it is malformed' : error.message;
    throw new OJSError(`${what} is not JSON that this package can read: ${why}`, { code: 'unexpected_answer' });
  }
}

/** The value of a JSON text. */
function parse(text) {
  if (!long(text)) return JSON.parse(text);
  let found = false;
  const sign = mark();
  const marked = text.replace(TOKEN, (token) => {
    if (token[0] === '"' || /[.eE]/.test(token) || Number.isSafeInteger(Number(token))) return token;
    if (token.length > DIGITS + 1) throw new RangeError(`an integer has more than ${DIGITS} digits`);
    found = true;
    return `"${sign}${token}"`;
  });
  if (!found) return JSON.parse(text);
  return JSON.parse(marked, (_key, value) =>
    typeof value === 'string' && value.startsWith(sign) ? BigInt(value.slice(sign.length)) : value);
}

/** JSON text of a value; throws OJSValidationError for values that JSON has no form for. */
function stringify(value) {
  let text;
  let bigints = false;
  try {
    text = plain(value);
    if (text === undefined || /null|\{\}/.test(text)) {
      // What JavaScript writes as null or {} may be neither: looked at member by member, which is slower.
      text = JSON.stringify(value, function exact(key, member) {
        if (typeof member === 'bigint') {
          bigints = true;
          return `${mark()}${member}`;
        }
        const lost = lossy(this, key, member);
        if (lost) throw unserializable(lost);
        return member;
      });
    }
  } catch (error) {
    throw error instanceof OJSError ? error : unserializable(error.message, error);
  }
  if (text === undefined) throw unserializable(`a ${typeof value} has no JSON form`);
  return bigints ? text.replaceAll(new RegExp(`"${mark()}(-?\\d+)"`, 'g'), '$1') : text;
}

/** What would be lost of a member that JavaScript writes as null or {}, or nothing. Properties that are functions are left out, as always. */
function lossy(holder, key, member) {
  if (typeof member === 'number' && !Number.isFinite(member)) return `${member} has no JSON form`;
  if (Array.isArray(holder) && (typeof member === 'function' || typeof member === 'symbol')) return `a ${typeof member} has no JSON form`;
  if (types.isDate(holder[key]) && member === null) return 'an invalid Date has no JSON form';
  if (types.isPromise(member)) return 'a Promise has no JSON form: await it';
  if (types.isMap(member)) return 'a Map has no JSON form: pass Object.fromEntries(map)';
  if (types.isSet(member)) return 'a Set has no JSON form: pass [...set]';
  return undefined;
}

/** The fast way; undefined when the value holds bigints (or has no form at all). */
function plain(value) {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof TypeError && /BigInt/.test(error.message)) return undefined;
    throw error;
  }
}

function unserializable(message, cause) {
  return new OJSValidationError(`cannot be written as JSON: ${message}`, { code: 'serialization_error', cause });
}

module.exports = { parse, parseAnswer, stringify };
