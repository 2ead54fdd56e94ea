// Decrypts the arguments of jobs, by Web Crypto: the forms of core/sdk/src/encryption/codec.rs. Compression beside gzip
// is not in edge runtimes.
import json from '#core/json';
import outcomes from '#core/outcome';
import platform from '#core/platform';
import errors from '#core/errors';
import { bounded } from './body.mjs';
import { fromBase64, fromHex } from './bytes.mjs';

const AES = 'binary/encrypted';
const MARKERS = ['ojs_encoded', '_encrypted', 'ojs.encryption.encrypted'];
const KEY_IDS = ['ojs.codec.key_id', '_encryption_key_id', 'ojs_key_id', 'ojs.encryption.key_id'];
const NONCES = ['ojs.codec.nonce', 'ojs_nonce', 'ojs.encryption.nonce'];
const ENCODINGS = 'ojs.codec.encodings';
/** The most bytes that decompressed arguments may have. */
const MOST = 16 * 1024 * 1024;
const NONCE = 12;
const TAG = 16;

/** The outcome of a job whose arguments cannot be read. */
export class Unreadable extends Error {
  constructor(code, message) {
    super(message);
    this.outcome = outcomes.refused(code, 'DecryptionError', message, code === 'x_codec_unknown_key');
  }
}

const malformed = (why) => new Unreadable('x_codec_malformed', `the arguments are marked as encrypted, but ${why}`);

function keyBytes(key) {
  if (typeof key !== 'string') return key;
  return /^[0-9a-f]{64}$/i.test(key) ? fromHex(key) : fromBase64(key);
}

/**
 * Keys as other packages take them: `name:key,name:key`, or an object; a key is 64 hexadecimal characters, base64, or
 * 32 bytes.
 */
export function keysOf(given) {
  if (!given) return new Map();
  const pairs = typeof given === 'string' ? given.split(',').map((part) => split(part.trim())) : Object.entries(given);
  return new Map(pairs.map(([name, key]) => [name, checked(key)]));
}

function split(part) {
  const at = part.lastIndexOf(':');
  if (at < 1) throw new errors.OJSValidationError('encryptionKeys are written name:key,name:key');
  return [part.slice(0, at), part.slice(at + 1)];
}

function checked(key) {
  let bytes;
  try {
    bytes = keyBytes(key);
  } catch {
    bytes = undefined;
  }
  if (bytes?.length !== 32)
    throw new errors.OJSValidationError('encryptionKeys: a key is 32 bytes: 64 hexadecimal characters, or base64');
  return bytes;
}

/** What an encrypted job says about its encryption; undefined for a job in the clear. */
function found({ args, meta: given }) {
  const meta = given ?? {};
  const [element] = args?.length === 1 ? args : [];
  const marked = MARKERS.some((name) => meta[name] === true || meta[name] === 'true');
  const named = Array.isArray(meta[ENCODINGS]) ? meta[ENCODINGS].filter((name) => typeof name === 'string') : undefined;
  if (!(named?.includes(AES) || element?.ojs_encoded === true || marked)) return undefined;
  const first = (names) => names.map((name) => meta[name]).find((value) => typeof value === 'string');
  // Written outermost first in the element.
  const encodings = named ?? (typeof element?.encoding === 'string' ? element.encoding.split('+').reverse() : []);
  return {
    encodings: encodings.length === 0 ? [AES] : encodings,
    keyId: first(KEY_IDS) ?? element?.metadata?.encryption_key_id,
    nonce: first(NONCES),
    data: typeof element === 'string' ? element : element?.data,
  };
}

async function opened(key, nonce, sealed) {
  if (sealed.length < TAG) return undefined;
  try {
    const imported = await platform.webcrypto.subtle.importKey('raw', key, 'AES-GCM', false, ['decrypt']);
    return new Uint8Array(await platform.webcrypto.subtle.decrypt({ name: 'AES-GCM', iv: nonce }, imported, sealed));
  } catch {
    return undefined;
  }
}

/**
 * The three forms: the nonce in the metadata, behind a version byte, or before the ciphertext. The tag says which one
 * it is.
 */
async function unsealed(key, nonce, data) {
  if (nonce !== undefined) return opened(key, nonce, data);
  const versioned = data[0] === 1 ? await opened(key, data.slice(1, NONCE + 1), data.slice(NONCE + 1)) : undefined;
  return versioned ?? opened(key, data.slice(0, NONCE), data.slice(NONCE));
}

async function gunzipped(data) {
  try {
    return await bounded(new Blob([data]).stream().pipeThrough(new DecompressionStream('gzip')), MOST);
  } catch {
    throw malformed('it is no valid gzip, or too large');
  }
}

async function undo(keys, { encodings, keyId, nonce }, data) {
  let bytes = data;
  for (const name of [...encodings].reverse()) {
    if (name === AES || name === 'aes-256-gcm') {
      if (typeof keyId !== 'string') throw malformed('no key is named');
      const key = keys.get(keyId);
      if (key === undefined)
        throw new Unreadable(
          'x_codec_unknown_key',
          `the arguments are encrypted with the key '${keyId}', which is not known here`,
        );
      bytes = await unsealed(key, nonce === undefined ? undefined : decoded(nonce, 'their nonce is no base64'), bytes);
      if (bytes === undefined)
        throw new Unreadable(
          'x_codec_auth_failed',
          `the arguments do not belong to the key '${keyId}', or were changed`,
        );
    } else if (name === 'gzip/plain' || name === 'gzip') bytes = await gunzipped(bytes);
    else throw malformed(`their encoding '${name}' is not known here`);
  }
  return bytes;
}

function decoded(text, why) {
  try {
    return fromBase64(text);
  } catch {
    throw malformed(why);
  }
}

/** A job as its handler sees it. Throws Unreadable. */
export async function decrypted(job, keys) {
  // Without keys the worker passes on what it gets, too.
  const about = keys.size > 0 ? found(job) : undefined;
  if (about === undefined) return job;
  if (typeof about.data !== 'string') throw malformed('there is no data');
  const plain = await undo(keys, about, decoded(about.data, 'their data is no base64'));
  let args;
  try {
    args = json.parse(new TextDecoder('utf-8', { fatal: true }).decode(plain));
  } catch {
    args = undefined;
  }
  if (!Array.isArray(args)) throw malformed('what was encoded is no JSON array');
  const spoken = new Set([ENCODINGS, ...MARKERS, ...KEY_IDS, ...NONCES]);
  const meta = Object.fromEntries(Object.entries(job.meta ?? {}).filter(([name]) => !spoken.has(name)));
  return { ...job, args, meta };
}
