// Made from node/lib/records.cjs by scripts/edge.py (make gen); do not edit.
import errors from './errors.mjs';
// Made from xtask/records.toml by make gen; do not edit.
// What a server answers with: jobs, and how they ended.
const { OJSError, OJSValidationError } = errors;

const isObject = (data) => data !== null && typeof data === 'object' && !Array.isArray(data);

/** A job as the server describes it. Its members have their names on the wire; those of several words have a name in camel case as well. */
class Job {
  /** The decoded object becomes the job: nothing is copied, unknown members stay. */
  static from(data) {
    if (!isObject(data)) throw new OJSValidationError('the answer has no job', { code: 'unexpected_answer' });
    return Object.setPrototypeOf(data, Job.prototype);
  }

  /** The job of an answer. Throws OJSError when there is none in it: what has no id is no job. */
  static answered(data) {
    if (!isObject(data) || typeof data.id !== 'string') throw new OJSError('the answer has no job', { code: 'unexpected_answer' });
    return Job.from(data);
  }

  /** How many attempts there may be; undefined when the server did not say. */
  get maxAttempts() {
    return this.max_attempts;
  }

  /** The results of the steps before this one, in a workflow. */
  get parentResults() {
    return this.parent_results;
  }

  /** The workflow that the job belongs to; undefined when it belongs to none. */
  get workflowId() {
    return this.workflow_id;
  }

  /** When the job was created. */
  get createdAt() {
    return this.created_at;
  }

  /** When the job was enqueued. */
  get enqueuedAt() {
    return this.enqueued_at;
  }

  /** When the job may run; undefined when it need not wait. */
  get scheduledAt() {
    return this.scheduled_at;
  }

  /** When the latest attempt began. */
  get startedAt() {
    return this.started_at;
  }

  /** When the job was completed; undefined when it was not. */
  get completedAt() {
    return this.completed_at;
  }

  /** When the job is thrown away unless it has started. */
  get expiresAt() {
    return this.expires_at;
  }

  /** The most that one run may take, in milliseconds. */
  get timeoutMs() {
    return this.timeout_ms;
  }
}

/** How a job ended, and what its handler returned. Its members have their names on the wire; those of several words have a name in camel case as well. */
class JobResult {
  /** The decoded object becomes the result: nothing is copied, unknown members stay. */
  static from(data) {
    if (!isObject(data)) throw new OJSError('the answer has no result', { code: 'unexpected_answer' });
    return Object.setPrototypeOf(data, JobResult.prototype);
  }

  /** The job's id. */
  get jobId() {
    return this.job_id;
  }

  /** Whether the job was completed. */
  get ok() {
    return this.state === 'completed';
  }

  /** When the result was stored. */
  get storedAt() {
    return this.result_stored_at;
  }

  /** When the result is removed; undefined when it is kept. */
  get expiresAt() {
    return this.result_expires_at;
  }
}

const exported = { Job, JobResult };

export default exported;
