// One job as it reaches a function.
import errors from '#core/errors';
import json from '#core/json';

/** Whether a value is a JSON object. */
export const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const text = (value) => (typeof value === 'string' ? value : undefined);

/** A delivery that cannot be read. */
export const invalid = (message) => new errors.OJSValidationError(message, { code: 'invalid_request' });

/** The value of a body. Throws OJSValidationError (`invalid_request`). */
export function read(body) {
  try {
    return json.parse(typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw invalid('the body is not JSON');
  }
}

function whole(name, value, otherwise) {
  if (value === undefined || value === null) return otherwise;
  if (!Number.isSafeInteger(value)) throw invalid(`'${name}' of the job must be a whole number`);
  return value;
}

/**
 * Reads the body of a push delivery, `{ job, worker_id, delivery_id }`, or a job alone. Throws OJSValidationError
 * (`invalid_request`), which names the wrong member.
 */
export function deliveryOf(data) {
  if (!isObject(data)) throw invalid('the body must be a JSON object with a job');
  const { job = data } = data;
  if (!isObject(job)) throw invalid("'job' must be an object");
  for (const name of ['id', 'type']) {
    if (typeof job[name] !== 'string' || job[name] === '')
      throw invalid(`'${name}' of the job must be a text that is not empty`);
  }
  if (!Array.isArray(job.args ?? [])) throw invalid("'args' of the job must be an array");
  const timeout = whole('timeout_ms', job.timeout_ms, 0);
  return {
    job,
    id: job.id,
    type: job.type,
    queue: String(job.queue ?? 'default'),
    attempt: whole('attempt', job.attempt, 1),
    timeout: timeout > 0 ? timeout : undefined,
    workerId: text(data.worker_id ?? job.worker_id),
    deliveryId: text(data.delivery_id),
    leaseToken: data.lease_token ?? job.lease_token ?? undefined,
    // The message refers to a job that is too large for the queue.
    isReference: !('args' in job),
  };
}

/**
 * The same delivery with the whole job, as the server has it. Members of the message count: its lease and its attempt
 * are those of this delivery.
 */
export function completed(delivery, job, checkpoint) {
  const { checkpoint_ref: _, ...members } = { ...job, ...delivery.job };
  if (checkpoint !== undefined) members.checkpoint = { state: checkpoint.state, sequence: checkpoint.sequence };
  return deliveryOf({ job: members, delivery_id: delivery.deliveryId, ...leaseOf(delivery) });
}

/** The members by which a call to the server names a delivery, beside the job's id. */
export function leaseOf({ workerId, leaseToken }) {
  return {
    ...(workerId === undefined ? {} : { worker_id: workerId }),
    ...(leaseToken === undefined ? {} : { lease_token: leaseToken }),
  };
}
