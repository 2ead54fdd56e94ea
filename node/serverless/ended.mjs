// An outcome in the forms that platforms take.
import errors from '#core/errors';
import outcomes from '#core/outcome';

/**
 * The job has failed, and no OJS server has stored the failure: the platform shall deliver the event again. Thrown to
 * platforms to which an error means failure. `code` and `retryable` are those of the failure.
 */
export class DeliveryFailedError extends errors.OJSError {}

/** The answer to a delivery: `status`, the members of `about`, and `result` or `error`. */
export function answered(outcome, about = {}) {
  const [path, members] = outcomes.reported(outcome);
  return { status: path === '/workers/ack' ? 'completed' : 'failed', ...about, ...members };
}

/** Whether the job will run again: a failure that may be tried again, or a job that was given back or put off. */
export const comesAgain = (outcome) => outcomes.reported(outcome)[1].error?.retryable === true;

/** Throws DeliveryFailedError unless the job is completed. */
export function throwFailure(outcome) {
  const { error } = outcomes.reported(outcome)[1];
  if (error !== undefined) throw new DeliveryFailedError(error);
}
