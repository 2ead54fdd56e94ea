// Calls to an OJS server by fetch.
import errors from '#core/errors';
import json from '#core/json';

/** How often a call is sent while no answer comes. The server takes an outcome once. */
const SENDS = 2;
/** The longest that one call may take, in milliseconds: all sends fit into the margin before the platform's limit. */
const TIMEOUT = 2_000;

const BY_STATUS = {
  401: errors.OJSAuthenticationError,
  403: errors.OJSAuthenticationError,
  404: errors.OJSNotFoundError,
  409: errors.OJSConflictError,
  413: errors.OJSPayloadTooLargeError,
  429: errors.OJSRateLimitError,
  400: errors.OJSInvalidRequestError,
  422: errors.OJSInvalidRequestError,
};

export class Server {
  #base;
  #headers;
  #fetch;

  constructor({ url, authToken, headers = {}, fetch = globalThis.fetch }) {
    this.#base = `${String(url).replace(/\/+$/, '')}/ojs/v1`;
    const token = authToken ? { authorization: `Bearer ${authToken}` } : {};
    this.#headers = { 'content-type': 'application/json', accept: 'application/json', ...token, ...headers };
    // Workers of Cloudflare want fetch to be called without a receiver.
    this.#fetch = (...args) => fetch(...args);
  }

  /** One call; resolves to the decoded body of a 2xx answer. `path` is relative to /ojs/v1. */
  async request(method, path, body) {
    for (let left = SENDS - 1; ; left -= 1) {
      try {
        return await this.#once(method, path, body);
      } catch (error) {
        if (left === 0 || !(error instanceof errors.OJSConnectionError)) throw error;
      }
    }
  }

  async #once(method, path, body) {
    const sent = body === undefined ? {} : { body: json.stringify(body) };
    let status;
    let text;
    try {
      const signal = AbortSignal.timeout(TIMEOUT);
      const answer = await this.#fetch(this.#base + path, {
        method,
        headers: this.#headers,
        signal,
        redirect: 'manual',
        ...sent,
      });
      status = answer.status;
      text = await answer.text();
    } catch (cause) {
      const Class = cause?.name === 'TimeoutError' ? errors.OJSTimeoutError : errors.OJSConnectionError;
      throw new Class(`no answer to ${method} ${path}: ${cause?.message ?? cause}`, {
        code: 'connection_error',
        retryable: true,
        cause,
      });
    }
    if (status >= 200 && status < 300) return text === '' ? undefined : json.parseAnswer(text);
    throw refusal(status, text);
  }
}

function refusal(status, text) {
  let about;
  try {
    about = JSON.parse(text).error;
  } catch {
    about = undefined;
  }
  if (about === null || typeof about !== 'object') {
    return new errors.OJSConnectionError(`HTTP ${status} without an OJS error body`, {
      code: 'connection_error',
      status,
      retryable: status >= 500,
    });
  }
  const Class = BY_STATUS[status] ?? errors.OJSAPIError;
  return new Class(about.message, { ...about, status, requestId: about.request_id });
}
