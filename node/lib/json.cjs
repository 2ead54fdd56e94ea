'use strict';
// JSON in which integers survive: those that a number cannot hold are bigints, in both directions.
const { randomUUID } = require('node:crypto');
const { OJSValidationError } = require('./errors.cjs');

const LONG = /\d{16}/;
// A string, or a number; strings are matched so that digits in them are left alone.
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
// Bigints pass through the engine's JSON as strings that begin with this. Nobody can guess it, so no other string does.
const MARK = `~${randomUUID()}:`;
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g');

/** The value of a JSON text. */
function parse(text) {
  if (!LONG.test(text)) return JSON.parse(text);
  let found = false;
  const marked = text.replace(TOKEN, (token) => {
    if (token[0] === '"' || /[.eE]/.test(token) || Number.isSafeInteger(Number(token))) return token;
    found = true;
    return `"${MARK}${token}"`;
  });
  if (!found) return JSON.parse(text);
  return JSON.parse(marked, (_key, value) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value);
}

/** JSON text of a value; throws OJSValidationError for values that JSON has no form for. */
function stringify(value) {
  let bigints = false;
  const replace = (_key, member) => {
    if (typeof member !== 'bigint') return member;
    bigints = true;
    return `${MARK}${member}`;
  };
  let text;
  try {
    text = plain(value) ?? JSON.stringify(value, replace);
  } catch (error) {
    throw unserializable(error.message, error);
  }
  if (text === undefined) throw unserializable(`a ${typeof value} has no JSON form`);
  return bigints ? text.replaceAll(MARKED, '$1') : text;
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

module.exports = { parse, stringify };
