'use strict';
// Made from xtask/schema.toml by make gen; do not edit.
// Everything that can go wrong. Which class a refusal of a server becomes is decided by the core, the same in every language.

/** Base of all errors of this package. */
class OJSError extends Error {
  /** By message and members, or by what a server answered: `new OJSError(await response.json())`. */
  constructor(given, options = {}) {
    const body = typeof given === 'object' && given !== null ? given.error ?? given : undefined;
    const { code = 'internal_error', retryable = false, status = 0, details, hint, numeric, cause } = body ?? options;
    const requestId = body === undefined ? options.requestId : body.request_id;
    super(body === undefined ? given : body.message, cause === undefined ? undefined : { cause });
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

/** The server answered, and the answer is an error. */
class OJSAPIError extends OJSError {}
/** The job's present state or another job is in the way. */
class OJSConflictError extends OJSAPIError {}
/** The job exists already: same id, or a unique policy said so. */
class OJSDuplicateError extends OJSConflictError {
  /** The id of the job that was there first. */
  get existingJobId() {
    return this.details?.existing_job_id;
  }
}
/** The state of the job, schema, workflow or other thing does not allow the operation; for a job, current_state in the details names it. */
class OJSInvalidStateTransitionError extends OJSConflictError {}
/** There is no such job, queue, workflow or schedule (any more). */
class OJSNotFoundError extends OJSAPIError {}
/** The queue is paused and refuses jobs. */
class OJSQueuePausedError extends OJSAPIError {}
/** The request came too fast, or the queue is full. */
class OJSRateLimitError extends OJSAPIError {}
/** The job, its metadata, its result or the batch is larger than the server takes. */
class OJSPayloadTooLargeError extends OJSAPIError {}
/** The server found the request wrong; field in the details names the place. */
class OJSInvalidRequestError extends OJSAPIError {}
/** The server does not have an extension that the request needs, such as job trains; extension in the details names it. Nothing was done. */
class OJSUnsupportedExtensionError extends OJSInvalidRequestError {}
/** The token is missing, wrong, or not allowed to do this. */
class OJSAuthenticationError extends OJSAPIError {}
/** There was no OJS answer. */
class OJSConnectionError extends OJSError {}
/** There was no answer in time; the server may have acted. */
class OJSTimeoutError extends OJSConnectionError {}
/** The request, an argument or a setting was found wrong before anything was sent. */
class OJSValidationError extends OJSError {
  constructor(message, options) {
    super(message, { code: 'invalid_argument', ...options });
  }
}
/** An enqueue middleware did not call next: the job was dropped on purpose. */
class OJSNotEnqueuedError extends OJSError {
  constructor(message, options) {
    super(message, { code: 'not_enqueued', ...options });
  }
}
/** A chain was used wrongly: unknown name, name taken, changed while in use, next called twice. */
class OJSMiddlewareError extends OJSError {
  constructor(message, options) {
    super(message, { code: 'middleware', ...options });
  }
}
/** The outbox cannot be used as it is set up, or not here: the message says what to do. */
class OJSOutboxError extends OJSError {
  constructor(message, options) {
    super(message, { code: 'outbox', ...options });
  }
}
/** A request of a webhook is not to be trusted: a header is missing, the signature is old, or no secret fits. reason in the details is a word for it. */
class OJSUntrustedWebhookError extends OJSError {
  constructor(message, options) {
    super(message, { code: 'untrusted_webhook', ...options });
  }
}
/** The client, worker or server was closed. */
class OJSClosedError extends OJSError {
  constructor(message, options) {
    super(message, { code: 'closed', ...options });
  }
}
/** A bug in OJS. Please report it. */
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

/** By number of the core's table (`ErrorClass` in bindings/abi). */
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
  11: OJSUnsupportedExtensionError,
  20: OJSConnectionError,
  21: OJSTimeoutError,
  30: OJSValidationError,
  31: OJSNotEnqueuedError,
  34: OJSUntrustedWebhookError,
  40: OJSClosedError,
  42: OJSInternalError,
};

/** All classes by name. */
const named = {
  OJSAPIError, OJSConflictError, OJSDuplicateError, OJSInvalidStateTransitionError, OJSNotFoundError, OJSQueuePausedError,
  OJSRateLimitError, OJSPayloadTooLargeError, OJSInvalidRequestError, OJSUnsupportedExtensionError, OJSAuthenticationError,
  OJSConnectionError, OJSTimeoutError, OJSValidationError, OJSNotEnqueuedError, OJSMiddlewareError, OJSOutboxError,
  OJSUntrustedWebhookError, OJSClosedError, OJSInternalError,
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
    OJSError, ...named, NonRetryableError, Snooze, JobCancelledError,
  },
  fromText,
  fromNative,
  native,
};
Object.assign(module.exports, module.exports.public);
