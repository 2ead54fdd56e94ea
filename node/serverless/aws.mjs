// AWS Lambda: SQS, function URLs, API Gateway, EventBridge, and direct invocations.
import errors from '#core/errors';
import outcomes from '#core/outcome';
import { fromBase64 } from './bytes.mjs';
import { Deadline } from './deadline.mjs';
import { deliveryOf, isObject, read } from './delivery.mjs';
import { answered, comesAgain } from './ended.mjs';
import { PushHandler } from './push.mjs';

/** See index.d.mts. */
export class LambdaHandler extends PushHandler {
  /** For `export const handler = …`: each can be passed on alone. */
  handle = (event, context) => this.#handle(event, context);
  handleSQS = (event, context) => this.#handleBatch(event, context);
  handleURL = (event, context) => this.#handleURL(event, context);
  handleEventBridge = (event, context) => this.#handleEventBridge(event, context);
  handleDirect = (event, context) => this.#handleDirect(event, context);

  #handle(event, context) {
    if (!isObject(event)) {
      throw new errors.OJSValidationError(
        'the event must be an object: of SQS, a function URL, API Gateway, EventBridge, or a job',
        { code: 'invalid_request' },
      );
    }
    if ('Records' in event) return this.#handleBatch(event, context);
    if ('httpMethod' in event || event.requestContext?.http !== undefined) return this.#handleURL(event, context);
    if ('detail-type' in event || 'source' in event) return this.#handleEventBridge(event, context);
    return this.#handleDirect(event, context);
  }

  async #handleBatch(event, context) {
    const deadline = Deadline.ofLambda(context, this.margin);
    const records = event.Records ?? [];
    const failed = await Promise.all(linesOf(records).map((line) => this.#runLine(line, deadline)));
    const again = new Set(failed.flat());
    return {
      batchItemFailures: records
        .filter((message) => again.has(message))
        .map(({ messageId }) => ({ itemIdentifier: messageId })),
    };
  }

  /** The messages of a line that come again: the first that failed, and those behind it. */
  async #runLine(messages, deadline) {
    for (const [place, message] of messages.entries()) {
      if (!(await this.#settled(message, deadline))) return messages.slice(place);
    }
    return [];
  }

  /** Runs the job of one message; false when SQS shall deliver it again. */
  async #settled(message, deadline) {
    if (deadline.passed) return false;
    let delivery;
    try {
      delivery = deliveryOf(read(message.body ?? ''));
    } catch (error) {
      this.logger.error(`ojs: message ${message.messageId} of SQS holds no job: ${error.message}`);
      return false;
    }
    if (Number(message.attributes?.ApproximateReceiveCount ?? 1) > 1 && (await this.isStale(delivery))) return true;
    const { whole, isDone } = await this.wholeOfMessage(delivery);
    if (whole === undefined) return isDone;
    const outcome = await this.run(whole, { deadline });
    const taken = await this.report(whole, outcome);
    if (this.given().server === undefined) return outcome.kind === outcomes.COMPLETED;
    return taken && (groupOf(message) === undefined || !comesAgain(outcome));
  }

  async #handleURL(event, context) {
    const body = event.isBase64Encoded ? fromBase64(event.body ?? '') : (event.body ?? '');
    const method = event.httpMethod ?? event.requestContext?.http?.method ?? '';
    const answer = await this.answer(method, event.headers, body, {
      deadline: Deadline.ofLambda(context, this.margin),
    });
    return { statusCode: answer.status, headers: answer.headers, body: answer.body, isBase64Encoded: false };
  }

  async #handleEventBridge(event, context) {
    const delivery = deliveryOf(event.detail);
    const outcome = await this.finish(delivery, Deadline.ofLambda(context, this.margin));
    return answered(outcome, { job_id: delivery.id });
  }

  async #handleDirect(event, context) {
    const delivery = await this.whole(deliveryOf(event));
    const outcome = await this.run(delivery, { deadline: Deadline.ofLambda(context, this.margin) });
    await this.report(delivery, outcome);
    return answered(outcome, { job_id: delivery.id });
  }
}

/** The message group of a FIFO queue; undefined in a standard queue. */
const groupOf = ({ eventSourceARN, attributes }) =>
  String(eventSourceARN ?? '').endsWith('.fifo') ? String(attributes?.MessageGroupId ?? '') : undefined;

/** The messages of a batch in lines, which run beside each other: a line per FIFO group, and one per other message. */
function linesOf(records) {
  const lines = new Map();
  for (const record of records) {
    const line = groupOf(record) ?? record;
    if (lines.has(line)) lines.get(line).push(record);
    else lines.set(line, [record]);
  }
  return [...lines.values()];
}
