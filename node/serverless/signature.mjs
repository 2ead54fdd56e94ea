// Whether a push delivery comes from the server that has the secret, by Web Crypto: the rules of
// core/model/src/webhook.rs. Signatures are compared in constant time, by crypto.subtle.verify.
import errors from '#core/errors';
import platform from '#core/platform';
import { fromBase64, fromHex, joined } from './bytes.mjs';

/** Signatures that are compared at most: a header from a stranger must not cost more. */
const MAX_SIGNATURES = 16;
const PREFIX = 'whsec_';

const bytesOf = (text) => new TextEncoder().encode(text);

const untrusted = (reason, message) =>
  new errors.OJSUntrustedWebhookError(`the request is not to be trusted: ${message}`, { details: { reason } });

function decoded(text) {
  try {
    return fromBase64(text);
  } catch {
    return undefined;
  }
}

/**
 * By the rules of Standard Webhooks: what stands behind `whsec_`, decoded from base64; where that is not base64, its
 * bytes as they are.
 */
function standardKey(secret) {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  // atob() takes text without padding, and other decoders do not.
  return (text.length % 4 === 0 ? decoded(text) : undefined) ?? bytesOf(text);
}

async function fits(keys, given, message) {
  let any = false;
  for (const key of keys) {
    const imported = await platform.webcrypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, [
      'verify',
    ]);
    // All pairs are compared, also after one that fits, so that the time does not show which one it was.
    for (const signature of given)
      any = (await platform.webcrypto.subtle.verify('HMAC', imported, signature, message)) || any;
  }
  if (!any)
    throw untrusted(
      'signature_mismatch',
      'no signature fits: another secret, or the body was changed on its way (use the bytes as they arrived)',
    );
}

function checkAge(header, time, tolerance, now) {
  if (!/^\d{1,15}$/.test(time)) throw untrusted('invalid_header', `the header ${header} cannot be read`);
  const age = Math.floor(now) - Number(time);
  if (Math.abs(age) > tolerance)
    throw untrusted('stale_timestamp', `the request was signed ${age} seconds ago; at most ${tolerance} are allowed`);
}

/**
 * Checks that one of the secrets signed the request within `tolerance` seconds of `now`, seconds since the epoch.
 * `header(name)` finds a header. Throws OJSUntrustedWebhookError, whose `details.reason` is a word for the reason.
 */
export async function verify(body, header, secrets, tolerance, now) {
  const find = (name) => header(name)?.trim();
  const wanted = (name) => find(name) ?? raise(untrusted('missing_header', `the header ${name} is missing`));
  if (secrets.length === 0) throw untrusted('no_secret', 'no secret was given');
  const given = find('X-OJS-Signature');
  if (given !== undefined) {
    const time = wanted('X-OJS-Timestamp');
    checkAge('X-OJS-Timestamp', time, tolerance, now);
    const values = given
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value.startsWith('sha256='))
      .map((value) => fromHex(value.slice(7)));
    await fits(secrets.map(bytesOf), limited(values), joined([bytesOf(`${time}.`), body]));
    return;
  }
  const standard =
    find('webhook-signature') ?? raise(untrusted('missing_header', 'the header X-OJS-Signature is missing'));
  const [id, time] = [wanted('webhook-id'), wanted('webhook-timestamp')];
  checkAge('webhook-timestamp', time, tolerance, now);
  const values = standard
    .split(/\s+/)
    .filter((value) => value.startsWith('v1,'))
    .map((value) => decoded(value.slice(3)));
  await fits(secrets.map(standardKey), limited(values), joined([bytesOf(`${id}.${time}.`), body]));
}

const limited = (values) => values.filter((value) => value !== undefined).slice(0, MAX_SIGNATURES);

function raise(error) {
  throw error;
}

/** Hexadecimal SHA-256, which distinguishes bodies. */
export async function digest(body) {
  const hash = new Uint8Array(await platform.webcrypto.subtle.digest('SHA-256', body));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
