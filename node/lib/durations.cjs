'use strict';
// Lengths of time are milliseconds, or text: '5m', '1h', 'PT30S'. Points in time are Dates, or RFC 3339 text.
const binding = require('./native.cjs');
const { OJSValidationError, native } = require('./errors.cjs');

/** Milliseconds of a length; undefined stays undefined. */
function millis(name, value) {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') {
    try {
      return native(() => binding.durationMillis(value));
    } catch {
      throw new OJSValidationError(`${name} must be zero or more milliseconds, or text such as '5m' or 'PT5M'; got '${value.slice(0, 40)}'`);
    }
  }
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw new OJSValidationError(`${name} must be zero or more milliseconds, or text such as '5m' or 'PT5M'; got ${String(value)}`);
  }
  return value;
}

/** ISO 8601 text of a length. Text in that form stays as it is. */
function durationText(name, value) {
  if (typeof value === 'string' && value.startsWith('P')) return value;
  const length = millis(name, value);
  return native(() => binding.durationText(length));
}

/** RFC 3339 text of the time after a delay. */
function timeAfter(name, delay) {
  const length = millis(name, delay);
  return native(() => binding.timeAfter(length));
}

/** RFC 3339 text of a point in time. */
function timeText(name, when) {
  if (typeof when === 'string') return when;
  if (when instanceof Date && !Number.isNaN(when.getTime())) return when.toISOString();
  throw new OJSValidationError(`${name} must be a Date or RFC 3339 text, got ${String(when)}`);
}

module.exports = { millis, durationText, timeAfter, timeText };
