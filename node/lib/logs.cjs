'use strict';
// The core's log records, in a logger of the user's.
const { isMainThread } = require('node:worker_threads');
const binding = require('./native.cjs');
const { known } = require('./calls.cjs');
const { OJSValidationError } = require('./errors.cjs');

const METHODS = { 1: 'error', 2: 'warn', 3: 'info', 4: 'debug', 5: 'debug' };
const LEVELS = { off: 0, error: 1, warn: 2, info: 3, debug: 4, trace: 5 };

let logger = console;
let level = LEVELS.warn;
let carried = false;

/** Hands all records that are there to the logger. */
function carry() {
  const records = binding.takeLogs();
  if (!logger) return;
  for (const { level, target, text, lost } of records) {
    if (lost > 0) logger.warn(`ojs: ${lost} log records were lost: the logger is too slow`);
    if (text !== undefined) (logger[METHODS[level]] ?? logger.warn).call(logger, `${level > LEVELS.warn ? target : 'ojs'}: ${text}`);
  }
}

/** Says something of the package's own. */
function warn(text) {
  if (logger && level >= LEVELS.warn) logger.warn(`ojs: ${text}`);
}

/** Starts carrying records over, once per process: those of all threads go to the main thread's logger. */
function start() {
  if (carried || !isMainThread) return;
  carried = true;
  binding.setLogLevel(level);
  binding.watchLogs(carry);
  // The event loop has ended by then: what it has not carried is carried here.
  process.on('exit', carry);
}

/** Where the core's log records go: an object with `error`, `warn`, `info`, `debug`, such as `console`, pino or winston; null is nowhere. */
function setLogger(wanted, options = {}) {
  const { level: name = 'warn' } = known('option', options, ['level']);
  if (!Object.hasOwn(LEVELS, name)) throw new OJSValidationError(`unknown level '${name}'; there are ${Object.keys(LEVELS).join(', ')}`);
  if (wanted !== null && typeof wanted?.warn !== 'function') throw new OJSValidationError('a logger has error(), warn(), info() and debug()');
  if (!isMainThread) throw new OJSValidationError('log records go to the logger of the main thread: call setLogger() there');
  logger = wanted;
  level = wanted === null ? LEVELS.off : LEVELS[name];
  if (carried) binding.setLogLevel(level);
  else if (wanted !== null) start();
}

module.exports = { carry, setLogger, start, warn };
