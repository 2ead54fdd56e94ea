'use strict';
// Receiving webhooks: whether a request comes from the server that has the secret. The core decides.
const binding = require('./native.cjs');
const json = require('./json.cjs');
const { OJSValidationError, native } = require('./errors.cjs');

/** See `index.d.cts`. Headers are an object (Node.js, Express) or a `Headers` (fetch). */
function verifyWebhook(body, headers, secrets, { tolerance = 300, now } = {}) {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new OJSValidationError('body must be the bytes of the request as they arrived, or their text');
  }
  const bytes = Buffer.from(body);
  const pairs = typeof headers?.entries === 'function' ? [...headers.entries()] : Object.entries(headers ?? {});
  const known = Object.fromEntries(pairs.filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)]));
  const at = now instanceof Date ? now.getTime() / 1000 : now ?? null;
  const all = typeof secrets === 'string' ? [secrets] : [...secrets];
  const request = { headers: known, secrets: all, tolerance, now: at };
  native(() => binding.verifyWebhook(bytes, json.stringify(request)));
}

module.exports = { verifyWebhook };
