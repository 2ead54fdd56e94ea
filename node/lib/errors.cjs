'use strict';
// Everything that can go wrong. Which class a refusal of a server becomes is decided by the core, the same in every language.

/** Base of all errors of this package. */
class OJSError extends Error {
  constructor(message, { code = 'internal_error', retryable = false, status = 0, details, hint, requestId, numeric, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryable = retryable;
    this.status = status;
    if (details !== undefined && details !== null) this.details = details;
    if (hint) this.hint = hint;
    if (requestId) this.requestId = requestId;
    if (numeric) this.numeric = numeric;
  }

  get name() {
    return this.constructor.name;
  }
}

class OJSAPIError extends OJSError {}
class OJSConflictError extends OJSAPIError {}
class OJSDuplicateError extends OJSConflictError {
  /** The id of the job that was there first. */
  get existingJobId() {
    return this.details?.existing_job_id;
  }
}
class OJSInvalidStateTransitionError extends OJSConflictError {}
class OJSNotFoundError extends OJSAPIError {}
class OJSQueuePausedError extends OJSAPIError {}
class OJSRateLimitError extends OJSAPIError {}
class OJSPayloadTooLargeError extends OJSAPIError {}
class OJSInvalidRequestError extends OJSAPIError {}
class OJSAuthenticationError extends OJSAPIError {}
class OJSConnectionError extends OJSError {}
class OJSTimeoutError extends OJSConnectionError {}
class OJSValidationError extends OJSError {
  constructor(message, options) {
    super(message, { code: 'invalid_argument', ...options });
  }
}
class OJSMiddlewareError extends OJSError {}
class OJSNotEnqueuedError extends OJSError {}
class OJSClosedError extends OJSError {}
class OJSInternalError extends OJSError {}

/** Throw it in a handler: the job fails for good, whatever its retry policy says. */
class NonRetryableError extends Error {
  constructor(message, { code = 'non_retryable', details, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }

  get name() {
    return 'NonRetryableError';
  }
}

/** Throw it in a handler: the job runs again after `delay`, and no attempt is counted. */
class Snooze extends Error {
  constructor(delay) {
    const { millis } = require('./durations.cjs');
    const length = millis('delay', delay);
    super(`again in ${length} ms`);
    this.delay = length;
  }

  get name() {
    return 'Snooze';
  }
}

/** Thrown by `ctx.throwIfCancelled()`; a handler that lets it through ends its job quietly. */
class JobCancelledError extends Error {
  constructor(reason) {
    super(`the job should stop: ${reason}`);
    this.reason = reason;
  }

  get name() {
    return 'JobCancelledError';
  }
}

// By number of the core's table (`ErrorClass` in bindings/abi).
const CLASSES = {
  1: OJSAPIError,
  2: OJSDuplicateError,
  3: OJSNotFoundError,
  4: OJSQueuePausedError,
  5: OJSRateLimitError,
  6: OJSInvalidStateTransitionError,
  7: OJSPayloadTooLargeError,
  8: OJSInvalidRequestError,
  9: OJSAuthenticationError,
  20: OJSConnectionError,
  21: OJSTimeoutError,
  30: OJSValidationError,
  31: OJSNotEnqueuedError,
  40: OJSClosedError,
  42: OJSInternalError,
};

/** The error that the core describes. */
function fromText(text) {
  const about = JSON.parse(text);
  const Class = CLASSES[about.class] ?? OJSError;
  return new Class(about.message, { ...about, requestId: about.request_id });
}

/** An exception of the native half, as an error of this package; anything else as it is. */
function fromNative(error) {
  if (!(error instanceof Error) || !error.message.startsWith('{')) return error;
  try {
    return fromText(error.message);
  } catch {
    return error;
  }
}

/** Calls the native half. */
function native(call) {
  try {
    return call();
  } catch (error) {
    throw fromNative(error);
  }
}

module.exports = {
  public: {
    OJSError, OJSAPIError, OJSConflictError, OJSDuplicateError, OJSInvalidStateTransitionError, OJSNotFoundError, OJSQueuePausedError,
    OJSRateLimitError, OJSPayloadTooLargeError, OJSInvalidRequestError, OJSAuthenticationError, OJSConnectionError, OJSTimeoutError,
    OJSValidationError, OJSMiddlewareError, OJSNotEnqueuedError, OJSClosedError, OJSInternalError, NonRetryableError, Snooze,
    JobCancelledError,
  },
  fromText,
  fromNative,
  native,
};
Object.assign(module.exports, module.exports.public);
