// Requests to the server that the page came from.
import { batch, signal } from './html.js';
import { exact } from './format.js';
import { offersOf } from './offers.js';

/** `/ojs/v1/` beside the page's own `/ui/`, whatever a proxy puts before both. */
const base = new URL('../ojs/v1/', location.href.split('#')[0]);
export const origin = new URL('..', base).href.replace(/\/ojs\/$/, '');

/** Whether the server wants a key and has none. */
export const signedOut = signal(false);
/** `{name, role, permissions, tenant, expires_at}`: who looks. */
export const session = signal(null);

/** What the server says of itself; `null` until it has been read. */
export const manifest = signal(null);

let known = { of: undefined, offers: null };

/** What the server offers, see `offersOf`. */
export function offers() {
  if (known.of !== manifest.value) known = { of: manifest.value, offers: offersOf(manifest.value) };
  return known.offers;
}

/** What a server answered that refused. */
export class Refusal extends Error {
  constructor(status, error) {
    super(error.message ?? `The server answered ${status}.`);
    this.status = status;
    this.code = error.code;
    this.hint = error.hint;
    this.details = error.details;
  }
}

/** The whole URL of a path of the API. */
export const apiUrl = (path) => new URL(path.replace(/^\//, ''), base).href;

async function send(method, path, body, signal_) {
  const headers = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  return fetch(apiUrl(path), {
    method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: signal_,
      credentials: 'same-origin', cache: 'no-store',
  });
}

/** A request; the answer as JSON in which no number has changed. A refusal is thrown. */
export async function call(method, path, body, signal_) {
  const answer = await send(method, path, body, signal_);
  if (!answer.ok) throw await refusalOf(answer);
  const text = await answer.text();
  return text ? exact(text) : null;
}

async function refusalOf(answer) {
  let error = {};
  try {
    error = JSON.parse(await answer.text()).error ?? {};
  } catch { /* A proxy has answered: the status says all there is. */ }
  if (answer.status === 401) batch(() => { signedOut.value = true; session.value = null; });
  return new Refusal(answer.status, error);
}

export const get = (path, signal_) => call('GET', path, undefined, signal_);
export const post = (path, body = {}) => call('POST', path, body);
export const put = (path, body) => call('PUT', path, body);
export const patch = (path, body) => call('PATCH', path, body);
export const remove = (path) => call('DELETE', path);

/** Begins a session with a key: the browser then has a cookie, and the page forgets the key. */
export async function signIn(secret) {
  const answer = await fetch(new URL('session', base), { method: 'POST',
    headers: { authorization: `Bearer ${secret}` }, credentials: 'same-origin' });
  if (!answer.ok) throw await refusalOf(answer);
  await whoAmI();
  signedOut.value = false;
}

/** Ends it. */
export async function signOut() {
  try { await remove('/session'); } catch { /* It has ended already. */ }
  batch(() => { session.value = null; signedOut.value = true; });
}

/** Asks whose session this is. A server without keys says that everything is allowed. */
export async function whoAmI() {
  session.value = await get('/session');
}

/** Reads the manifest. Every server has one; where it cannot be read, all screens are shown. */
export async function readManifest() {
  const answer = await fetch(new URL('../manifest', base), { headers: { accept: 'application/json' } });
  if (answer.ok) manifest.value = await answer.json();
}

/**
 * Whether the server would do what needs a permission: `operate` or `administer`. It is the server that refuses;
 * buttons only follow it.
 */
export function may(permission) {
  return session.value?.permissions?.includes(permission) ?? false;
}
