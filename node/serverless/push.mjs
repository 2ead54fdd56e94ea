// Push deliveries: signed requests of a server, each with one job. Any framework can pass them on.
import errors from '#core/errors';
import json from '#core/json';
import { collected } from './body.mjs';
import { Deadline } from './deadline.mjs';
import { deliveryOf, read } from './delivery.mjs';
import { answered } from './ended.mjs';
import { FunctionHandler, settingsOf } from './handler.mjs';
import { Replays } from './replays.mjs';
import { digest, verify } from './signature.mjs';

/** The most bytes of a request's body. A job has 1 MiB of arguments at most. */
export const MAX_BODY = 6 * 1024 * 1024;

const answerOf = (status, body, headers = {}) => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: json.stringify(body),
});
/** A fault of the function (5xx) is worth another try. */
const refusal = (status, code, message, details, headers) =>
  answerOf(
    status,
    { error: { code, message, retryable: status >= 500, ...(details === undefined ? {} : { details }) } },
    headers,
  );

/** How to find a header in what frameworks pass: a Headers, or an object with names in any case. */
function finder(headers) {
  if (typeof headers?.get === 'function') return (name) => headers.get(name) ?? undefined;
  const lower = new Map(
    Object.entries(headers ?? {})
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(',') : String(value)]),
  );
  return (name) => lower.get(name.toLowerCase());
}

/** See index.d.mts. */
export class PushHandler extends FunctionHandler {
  #unsigned;
  #tolerance;
  #timeout;
  #clock;
  #replays;

  constructor(worker, settings = {}) {
    super(worker, settings);
    const {
      unsigned = false,
      tolerance = 300,
      timeout,
      clock = () => Date.now(),
      signingSecret,
    } = settingsOf(worker, settings);
    if (unsigned && signingSecret !== undefined)
      throw new errors.OJSValidationError(
        'unsigned checks no signature, and there is a signingSecret: leave one of them out',
      );
    if (timeout !== undefined && !(timeout > 0))
      throw new errors.OJSValidationError(`timeout must be more than zero milliseconds, got ${String(timeout)}`);
    this.#unsigned = unsigned;
    this.#tolerance = tolerance;
    this.#timeout = timeout;
    this.#clock = clock;
    // A signature from the future is valid for twice the tolerance.
    this.#replays = new Replays(2000 * tolerance);
  }

  /** The answer to one request as `{ status, headers, body }`. `body` is that of the request byte for byte. */
  async answer(method, headers, body, { deadline, env } = {}) {
    if (String(method).toUpperCase() !== 'POST')
      return refusal(405, 'method_not_allowed', 'a push delivery is a POST request', undefined, { allow: 'POST' });
    const raw = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    if (raw === undefined || raw.length > MAX_BODY)
      return refusal(413, 'payload_too_large', `a push delivery has at most ${MAX_BODY} bytes`);
    const { secrets } = this.given(env);
    if (secrets.length === 0 && !this.#unsigned) {
      // 401 would end the job and disable the endpoint, although only a setting is missing.
      this.logger.error(
        'ojs: a push endpoint needs its signing secret: set signingSecret or OJS_SIGNING_SECRET; ' +
          '`unsigned: true` trusts every request',
      );
      return refusal(500, 'internal_error', 'the function has no signing secret: its log says what to set');
    }
    let delivery;
    try {
      if (!this.#unsigned) await verify(raw, finder(headers), secrets, this.#tolerance, this.#clock() / 1000);
      delivery = deliveryOf(read(raw));
    } catch (error) {
      if (error instanceof errors.OJSUntrustedWebhookError)
        return refusal(401, 'unauthenticated', error.message, error.details);
      if (error.code === 'invalid_request') return refusal(400, error.code, error.message);
      throw error;
    }
    // The header with the delivery's id is not signed, the body is.
    const key = delivery.deliveryId ?? (await digest(raw));
    return this.#replays.once(key, async () =>
      answerOf(200, answered(await this.run(delivery, { deadline: deadline ?? this.within(), env }))),
    );
  }

  /** Answers a request of fetch: Cloudflare, Vercel, Deno, Bun, Next.js, Hono. */
  async fetch(request, env) {
    const body = await collected(request.body ?? [], MAX_BODY);
    const { status, headers, body: text } = await this.answer(request.method, request.headers, body, { env });
    return new Response(text, { status, headers });
  }

  /**
   * Answers a request of Node.js: Express, Fastify's raw request, Google's functions framework, Vercel's functions of
   * Node.js.
   */
  async handleHTTP(request, response) {
    const ready = [request.rawBody, request.body].find(
      (body) => body instanceof Uint8Array || typeof body === 'string',
    );
    if (ready === undefined && request.readableEnded) {
      throw new errors.OJSValidationError(
        'the body has been parsed already: pass its bytes on, as express.raw({ type: "*/*" }) does',
      );
    }
    const body =
      typeof ready === 'string' ? new TextEncoder().encode(ready) : (ready ?? (await collected(request, MAX_BODY)));
    const answer = await this.answer(request.method, request.headers, body);
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
  }

  /** The time that the platform allows for one call, in milliseconds; undefined where it does not limit it. */
  within(limit = this.#timeout) {
    return limit === undefined ? undefined : new Deadline(limit, this.margin);
  }
}
