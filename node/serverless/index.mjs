// Handlers of a worker in functions, without the native half: for Node.js and for edge runtimes, by Web APIs alone.
import contexts from '#core/context';
import errors from '#core/errors';
import middleware from '#core/middleware';

export const { JobContext } = contexts;
export const { MiddlewareChain } = middleware;
export const {
  OJSError,
  OJSAPIError,
  OJSConflictError,
  OJSNotFoundError,
  OJSRateLimitError,
  OJSPayloadTooLargeError,
  OJSInvalidRequestError,
  OJSAuthenticationError,
  OJSConnectionError,
  OJSTimeoutError,
  OJSValidationError,
  OJSMiddlewareError,
  OJSUntrustedWebhookError,
  NonRetryableError,
  Snooze,
  JobCancelledError,
} = errors;
export { LambdaHandler } from './aws.mjs';
export { AzureHandler } from './azure.mjs';
export { CloudflareHandler, VercelHandler } from './edge.mjs';
export { DeliveryFailedError } from './ended.mjs';
export { GoogleHandler } from './google.mjs';
export { FunctionHandler } from './handler.mjs';
export { PushHandler } from './push.mjs';
