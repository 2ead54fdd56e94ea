// Encrypted arguments. This browser sends them to the codec server and shows what comes back; the job server never has
// the plain text. Without imports of other parts: its tests run without a browser.

/** The names in metadata, those of other published SDKs behind ours. */
const MARKS = ['ojs_encoded', '_encrypted', 'ojs.encryption.encrypted'];
const KEY_IDS = ['ojs.codec.key_id', '_encryption_key_id', 'ojs_key_id', 'ojs.encryption.key_id'];
const NONCES = ['ojs.codec.nonce', 'ojs_nonce', 'ojs.encryption.nonce'];
const AES = ['binary/encrypted', 'aes-256-gcm'];

const first = (meta, names) => names.map((name) => meta[name]).find((value) => typeof value === 'string');
const isMarked = (value) => value === true || value === 'true';

/**
 * What a codec server is asked to decrypt for a job, `{data, metadata}`; `null` for arguments that are not encrypted.
 * It reads all published forms: the element with its mark, and text with `ojs.codec.encodings` in the metadata.
 */
export function sealed({ args = [], meta }) {
  const known = meta ?? {};
  const [element] = args;
  const listed = known['ojs.codec.encodings'];
  const names = Array.isArray(listed) ? listed.toReversed()
    : String(element?.encoding ?? '').split('+').filter(Boolean);
  const marked = element?.[MARKS[0]] === true || MARKS.some((name) => isMarked(known[name]));
  if (!marked && !names.some((name) => AES.includes(name))) return null;
  const data = typeof element === 'string' ? element : element?.data;
  if (args.length !== 1 || typeof data !== 'string') return null;
  const key = first(known, KEY_IDS) ?? element?.metadata?.encryption_key_id;
  const nonce = first(known, NONCES);
  return {
    // A payload has no place for a nonce of its own: it stands in front of the data.
    data: nonce ? btoa(atob(nonce) + atob(data)) : data,
    metadata: { encoding: names.join('+') || AES[0], ...(key ? { encryption_key_id: key } : {}) },
  };
}

/** Has a codec server decrypt a payload; the JSON text of the arguments. What it refuses is thrown, in its words. */
export async function decrypt(server, token, payload) {
  const address = `${server.replace(/\/+$/, '')}/codec/decode`;
  let answer;
  try {
    answer = await fetch(address, {
      method: 'POST', headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ payloads: [payload] }), credentials: 'omit', cache: 'no-store',
    });
  } catch {
    throw Object.assign(new Error(`The codec server at ${server} cannot be asked.`),
      { hint: `It must run, and be started with --origin ${globalThis.location?.origin ?? 'ORIGIN'}.` });
  }
  const body = await answer.json().catch(() => ({}));
  const [plain] = body.payloads ?? [];
  if (!answer.ok || typeof plain?.data !== 'string') {
    throw new Error(`The codec server refused: ${body.error ?? `status ${answer.status}`}`);
  }
  return new TextDecoder().decode(Uint8Array.from(atob(plain.data), (letter) => letter.charCodeAt(0)));
}
