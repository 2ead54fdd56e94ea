// One implementation for both kinds of modules: an error thrown through one is an instance of the other's class.
import sdk from './lib/index.cjs';

export default sdk;
export const {
  OJSClient, OJSServer, OJSWorker, Job, JobContext, JobRequest, JobResult, MiddlewareChain, Task,
  Workflow, chain, group, batch, graph, node, json, setLogger, testing, verifyWebhook, version,
  OJSError, NonRetryableError, Snooze, JobCancelledError,
  // gen:node/exports.mjs.j2 (make gen; do not edit)
  OJSAPIError, OJSConflictError, OJSDuplicateError, OJSInvalidStateTransitionError, OJSNotFoundError, OJSQueuePausedError,
  OJSRateLimitError, OJSPayloadTooLargeError, OJSInvalidRequestError, OJSUnsupportedExtensionError, OJSAuthenticationError,
  OJSConnectionError, OJSTimeoutError, OJSValidationError, OJSNotEnqueuedError, OJSMiddlewareError, OJSOutboxError,
  OJSUntrustedWebhookError, OJSClosedError, OJSInternalError,
  // gen:end
} = sdk;
