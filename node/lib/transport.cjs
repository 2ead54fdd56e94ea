'use strict';
// How requests reach a server: over the core (HTTP or the embedded engine), or over an object of your own with a
// `request({ method, path, body, signal })` that answers `{ status, body }`; `path` is relative to /ojs/v1.
const binding = require('./native.cjs');
const { OJSError, OJSValidationError, fromText, native } = require('./errors.cjs');
const { completed } = require('./job.cjs');
const json = require('./json.cjs');
const { loop } = require('./loop.cjs');
const { CLIENT, clientSettings } = require('./settings.cjs');

/** What takes the place of every connection while a test wants that; see testing.cjs. */
const sinks = [];

const SETTINGS = ['url', ...CLIENT, 'auth', 'retryConfig'];

/** Refuses settings that do not exist; `more` are those of the client or worker that connects. */
function checkSettings(given, more = []) {
  if (given === null || typeof given !== 'object') throw new OJSValidationError(`a URL as text, or an object of settings is wanted, such as 'http://localhost:8080' or { url: 'sqlite:jobs.db' }; got ${String(given)}`);
  const unknown = Object.keys(given).find((name) => !SETTINGS.includes(name) && name !== 'transport');
  const known = [...more, ...SETTINGS, 'transport'];
  if (unknown) throw new OJSValidationError(binding.unknownName('setting', unknown, '', known));
}

/** The settings of a client or worker: a URL as text, or an object. What is passed behind it would be passed over. */
function settingsOf(given, more, example) {
  if (more.some((one) => one !== undefined)) {
    const object = `{ url: 'sqlite:jobs.db', ${example}: … }`;
    throw new OJSValidationError(`settings stand in one object: ${object}; a second argument was passed`);
  }
  return typeof given === 'string' ? { url: given } : given;
}

/**
 * What the variables OJS_… say, by the names of the core's settings, lengths of time in seconds. The core reads them.
 */
function environment() {
  const variables = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('OJS_')));
  return JSON.parse(native(() => binding.environment(JSON.stringify(variables))));
}

/** A connection of the core; nothing is opened before its first call. */
function connect({ url, auth, retryConfig, ...given } = {}) {
  const said = environment();
  const { authToken = auth, maxSends = retryConfig?.maxAttempts } = given;
  const settings = clientSettings({ ...given, authToken, maxSends }, said);
  return native(() => new binding.Connection(String(url || said.url), JSON.stringify(settings)));
}

/** Status and body of an answer, in whatever form a transport gave it. */
function answerOf(value) {
  const whole = value !== null && typeof value === 'object' && 'status' in value && 'body' in value;
  const { status, body } = whole ? value : { status: 200, body: value };
  const text = typeof body === 'string' || body instanceof Uint8Array;
  return { status, body, text: text ? Buffer.from(body).toString() : undefined };
}

/** One request through an object of the user's. */
async function ask(custom, { method, path, body, signal }) {
  if (typeof custom?.request !== 'function') throw new OJSValidationError('a transport is an object with a request() method');
  return answerOf(await custom.request({ method, path, body, signal }));
}

class Transport {
  /** @param custom the user's own transport, else there is a connection of the core. */
  constructor(settings = {}) {
    checkSettings(settings);
    const { transport: custom, ...options } = settings;
    this.custom = custom;
    this.tenant = settings.tenant;
    this.connection = custom ? undefined : connect(options);
  }

  /** The same with requests of one tenant. */
  ofTenant(tenant) {
    const view = Object.create(Transport.prototype);
    const connection = this.connection && native(() => this.connection.ofTenant(tenant));
    return Object.assign(view, { custom: this.custom, tenant, connection });
  }

  /** One request; the promise is the decoded body of a 2xx answer. The server may hold it back for `wait` ms; it is then sent once. */
  async request(method, path, body, signal, wait) {
    const sink = sinks.at(-1);
    return sink ? sink.request(method, path, body) : this.direct(method, path, body, signal, wait);
  }

  /** The same, whatever takes the place of connections. */
  async direct(method, path, body, signal, wait) {
    if (this.connection) {
      const sent = body === undefined ? undefined : json.stringify(body);
      const text = await loop().call((replies, ticket) => this.connection.submit(replies, ticket, method, path, sent, wait), signal);
      return text ? json.parseAnswer(text) : undefined;
    }
    // What a transport of the user's gets is what the wire would carry.
    const plain = body === undefined ? undefined : completed(json.parse(json.stringify(body)));
    const answer = await ask(this.custom, { method, path, body: plain, signal });
    if (answer.status < 200 || answer.status > 299) {
      throw fromText(binding.errorOf(answer.status, answer.text ?? json.stringify(answer.body ?? null)));
    }
    return answer.text === undefined ? answer.body : answer.text === '' ? undefined : json.parseAnswer(answer.text);
  }

  /** Releases the connection; an embedded engine is flushed. */
  async close() {
    if (this.connection && !this.connection.closed) {
      await loop().call((replies, ticket) => this.connection.close(replies, ticket));
    }
  }
}

/** Serves the requests of a worker through a transport of the user's. */
class TransportServer {
  #mailbox;

  constructor(custom) {
    const weak = new WeakRef(this);
    this.#mailbox = new binding.HostTransport(() => weak.deref()?.#serve());
    this.custom = custom;
    this.connection = binding.Connection.over(this.#mailbox);
  }

  #serve() {
    for (;;) {
      let request;
      try {
        request = this.#mailbox.next();
      } catch {
        return; // closed
      }
      if (request === null) return;
      this.#answer(request);
    }
  }

  async #answer({ ticket, method, path, body }) {
    try {
      const answer = await ask(this.custom, { method, path, body: body === undefined ? undefined : json.parse(body) });
      const text = answer.text ?? (answer.body === undefined ? '' : json.stringify(answer.body));
      this.#mailbox.reply(ticket, answer.status, text);
    } catch (error) {
      if (error instanceof OJSError && error.status > 0) {
        const { code, message, retryable } = error;
        this.#mailbox.reply(ticket, error.status, json.stringify({ error: { code, message, retryable } }));
      } else {
        this.#mailbox.fail(ticket, String(error));
      }
    }
  }

  close() {
    this.#mailbox.close();
  }
}

module.exports = { checkSettings, Transport, TransportServer, connect, environment, settingsOf, sinks };
