/** Types of `webhooks.cjs`, re-exported by the package. */
/**
 * Checks that one of the secrets signed a request of a webhook at most `tolerance` seconds ago (300); returns nothing
 * when it did. `body` is the body as it arrived, before any JSON is read; `headers` are those of Node.js, Express or
 * fetch. While a secret is being replaced, give both. `now` is the time, in seconds since the epoch where it is a
 * number. A request may arrive more than once: `X-OJS-Delivery-ID` is the same each time.
 * @throws {OJSUntrustedWebhookError} `details.reason` is a word for the reason.
 */
export function verifyWebhook(
  body: Uint8Array | string,
  headers: Record<string, string | readonly string[] | undefined> | { entries(): Iterable<[string, string]> },
  secrets: string | Iterable<string>, options?: { tolerance?: number; now?: number | Date }): void;
