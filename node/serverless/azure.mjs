// Azure Functions: HTTP, Service Bus and storage queues.
import { collected } from './body.mjs';
import { deliveryOf, read } from './delivery.mjs';
import { MAX_BODY, PushHandler } from './push.mjs';

/** See index.d.mts. */
export class AzureHandler extends PushHandler {
  /**
   * For `app.http('push', { handler: handler.handleRequest })`: answers an HttpRequest with what the platform makes a
   * response of.
   */
  handleRequest = async (request) =>
    this.answer(request.method, request.headers, await collected(request.body ?? [], MAX_BODY));

  /** For `app.serviceBusQueue('job', { handler: handler.handleQueue })` and `app.storageQueue`. */
  handleQueue = async (message, context) => {
    const delivery = deliveryOf(typeof message === 'string' || message instanceof Uint8Array ? read(message) : message);
    const { deliveryCount, dequeueCount } = context?.triggerMetadata ?? {};
    if (Number(deliveryCount ?? dequeueCount ?? 1) > 1 && (await this.isStale(delivery))) return;
    await this.finish(delivery, this.within());
  };
}
