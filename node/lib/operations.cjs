'use strict';
// Made from xtask/operations by make gen; do not edit.
// The methods of a client that are one request each. What they send is in xtask/operations.
const { changes, target: targetOf } = require('./bulk.cjs');
const { Part, age, at, cron, crons, given, known, lengthOf, list, many, member, query, timeOf } = require('./calls.cjs');
const { Job, JobResult } = require('./records.cjs');
const { jobPage, results } = require('./results.cjs');

/** The methods of the client itself; those of its parts are below. */
class Operations {
  /** Cancels many jobs. */
  async bulkCancel(target, chosen = {}) {
    const { atomic = false, ...options } = known('option', chosen, ['atomic', 'signal']);
    return changes(await this.request('POST', at('jobs', 'bulk', 'cancel'), { ...targetOf(target), atomicity: atomic ? 'atomic' : 'partial' }, options));
  }

  /** Runs many jobs again: discarded jobs with all their attempts, retryable jobs at once instead of after their pause. */
  async bulkRetry(target, chosen = {}) {
    const { atomic = false, ...options } = known('option', chosen, ['atomic', 'signal']);
    return changes(await this.request('POST', at('jobs', 'bulk', 'retry'), { ...targetOf(target), atomicity: atomic ? 'atomic' : 'partial' }, options));
  }

  /** Deletes many jobs that have ended. A deleted job cannot be brought back. */
  async bulkDelete(target, chosen = {}) {
    const { atomic = false, ...options } = known('option', chosen, ['atomic', 'signal']);
    return changes(await this.request('POST', at('jobs', 'bulk', 'delete'), { ...targetOf(target), atomicity: atomic ? 'atomic' : 'partial' }, options));
  }

  /** The job with this id. */
  async getJob(id, options) {
    return Job.answered(member(await this.request('GET', at('jobs', id), undefined, options), 'job'));
  }

  /** Why a job is not running: a `summary`, and `reasons` in the order in which they have to end. */
  async explainJob(id, options) {
    return this.request('GET', at('jobs', id, 'explain'), undefined, options);
  }

  /** One page of the jobs that the filter finds, the newest first unless the list is sorted otherwise. */
  async listJobs(filters = {}) {
    const { queue, type, state, since, until, sort, order, page, perPage, ...options } = known('filter', filters, ['queue', 'type', 'state', 'since', 'until', 'sort', 'order', 'page', 'perPage', 'signal']);
    return jobPage(await this.request('GET', query(at('admin', 'jobs'), { queue, type, state, since: timeOf('since', since), until: timeOf('until', until), sort, order, page, per_page: perPage }), undefined, options));
  }

  /** Cancels the job. A worker that runs it is told to stop. */
  async cancelJob(id, options) {
    return Job.answered(member(await this.request('DELETE', at('jobs', id), undefined, options), 'job'));
  }

  /** Changes the priority of a job that waits. */
  async setPriority(id, priority, options) {
    return Job.answered(member(await this.request('PATCH', at('jobs', id), { priority }, options), 'job'));
  }

  /** Makes a job available that was enqueued as pending. */
  async activateJob(id, options) {
    return Job.answered(member(await this.request('POST', at('jobs', id, 'activate'), {}, options), 'job'));
  }

  /** Runs a discarded job again, with all its attempts. A cancelled job stays cancelled. */
  async retryJob(id, options) {
    return Job.answered(await this.request('POST', at('admin', 'jobs', id, 'retry'), {}, options));
  }

  /** How the job ended, and what its handler returned. */
  async result(id, options = {}) {
    // Sent once: a refusal with 408 is an answer here.
    const call = { ...known('option', options, ['signal']), wait: 0 };
    return JobResult.from(await this.request('GET', at('jobs', id, 'result'), undefined, call));
  }

  /** How up to 1,000 jobs ended, in the order of the ids. */
  async results(ids, options) {
    return results(await this.request('POST', at('jobs', 'results'), { ids: many('ids', ids) }, options));
  }

  /** The state of the workflow and of its steps. */
  async getWorkflow(id, options) {
    return member(await this.request('GET', at('workflows', id), undefined, options), 'workflow');
  }

  /** Cancels the jobs of the workflow that have not begun. Jobs that run may finish. */
  async cancelWorkflow(id, options) {
    return member(await this.request('DELETE', at('workflows', id), undefined, options), 'workflow');
  }

  /** Workflows without their steps, the newest first. A workflow inside another one is a step of it, and not listed. */
  async listWorkflows(chosen = {}) {
    const { state, page, perPage, ...options } = known('option', chosen, ['state', 'page', 'perPage', 'signal']);
    return list(await this.request('GET', query(at('admin', 'workflows'), { state, page, per_page: perPage }), undefined, options), 'items');
  }

  /** Whether the server works, with its version, its store and how long it has run. */
  async health(options) {
    return this.request('GET', at('health'), undefined, options);
  }

  /** What the server is, and what it can do. */
  async manifest(options) {
    return this.request('GET', '/ojs/manifest', undefined, options);
  }

  /** Jobs by state, throughput, latency and workers of the whole server. */
  async serverStats(options) {
    return this.request('GET', at('admin', 'stats'), undefined, options);
  }

  /** Throughput and latency over time, oldest first. Periods in which nothing ran are left out. */
  async statsHistory(chosen = {}) {
    const { period, queue, since, until, ...options } = known('option', chosen, ['period', 'queue', 'since', 'until', 'signal']);
    return list(await this.request('GET', query(at('admin', 'stats', 'history'), { period, queue, since: timeOf('since', since), until: timeOf('until', until) }), undefined, options), 'items');
  }

  /** What happened to the jobs of each type over a length of time: how many, how long they ran and waited. */
  async typeStats(chosen = {}) {
    const { since, until, sort, limit, ...options } = known('option', chosen, ['since', 'until', 'sort', 'limit', 'signal']);
    return list(await this.request('GET', query(at('admin', 'stats', 'types'), { since: timeOf('since', since), until: timeOf('until', until), sort, limit }), undefined, options), 'items');
  }

  /** Whether the server is in maintenance, since when and why. */
  async maintenance(options) {
    return this.request('GET', at('admin', 'system', 'maintenance'), undefined, options);
  }

  /** Begins or ends maintenance. During it jobs are accepted, and none is handed out. */
  async setMaintenance(enabled, chosen = {}) {
    const { reason, estimatedDuration, ...options } = known('option', chosen, ['reason', 'estimatedDuration', 'signal']);
    return this.request('POST', at('admin', 'system', 'maintenance'), { enabled, reason, estimated_duration: lengthOf('estimatedDuration', estimatedDuration) }, options);
  }

  /** Compares the rows of the server's store with each other and changes nothing: counts with jobs, jobs with their bodies, workflows
   * with their steps, and so on. */
  async audit(options) {
    return this.request('GET', at('admin', 'system', 'audit'), undefined, options);
  }

  /** The settings that the server runs with. There are no secrets among them. */
  async serverConfig(options) {
    return this.request('GET', at('admin', 'system', 'config'), undefined, options);
  }

  /** The registered schemas of all job types, without their texts, in order of job type and version. */
  async listSchemas(options) {
    return list(await this.request('GET', query(at('schemas'), { limit: 200, pages: 'all' }), undefined, options), 'schemas');
  }

  /** Registers the JSON Schema of the arguments of a job type. A registered version never changes. */
  async registerSchema(type, version, schema, chosen = {}) {
    const { mode, ...options } = known('option', chosen, ['mode', 'signal']);
    return member(await this.request('POST', at('schemas'), { job_type: type, version, schema, mode }, options), 'schema');
  }

  /** The schema of the highest version of a job type. */
  async getSchema(type, options) {
    return member(await this.request('GET', at('schemas', type), undefined, options), 'schema');
  }

  /** The schema of a version of a job type. */
  async getSchemaVersion(type, version, options) {
    return member(await this.request('GET', at('schemas', type, version), undefined, options), 'schema');
  }

  /** The versions of a job type, highest first. */
  async listSchemaVersions(type, options) {
    return list(await this.request('GET', at('schemas', type, 'versions'), undefined, options), 'versions');
  }

  /** Changes what happens to jobs that do not match a version. Jobs that are stored are not looked at again. */
  async setSchemaMode(type, version, mode, options) {
    return member(await this.request('PATCH', at('schemas', type, version), { mode }, options), 'schema');
  }

  /** Deletes a version. Jobs that were stored under it stay. */
  async deleteSchema(type, version, options) {
    await this.request('DELETE', at('schemas', type, version), undefined, options);
  }

  /** The subscriptions, the oldest first, without their secrets. */
  async listWebhooks(options) {
    return list(await this.request('GET', query(at('webhooks', 'subscriptions'), { limit: 200, pages: 'all' }), undefined, options), 'subscriptions');
  }

  /** Creates a subscription: events are sent to `url` as signed POST requests. Only this answer has the secret. */
  async createWebhook(subscription = {}, options) {
    return member(await this.request('POST', at('webhooks', 'subscriptions'), subscription, options), 'subscription');
  }

  /** A subscription, without its secret. */
  async getWebhook(id, options) {
    return member(await this.request('GET', at('webhooks', 'subscriptions', id), undefined, options), 'subscription');
  }

  /** Changes a subscription; what is left out stays. Deliveries that wait go to the new URL. */
  async updateWebhook(id, changes = {}, options) {
    return member(await this.request('PATCH', at('webhooks', 'subscriptions', id), changes, options), 'subscription');
  }

  /** Deletes a subscription and its deliveries: nothing more is sent to it. */
  async deleteWebhook(id, options) {
    await this.request('DELETE', at('webhooks', 'subscriptions', id), undefined, options);
  }

  /** Sends an event `webhook.test` now, once, and answers with what the endpoint said: `success`, `status_code`, `response_time_ms`,
   * `response_body`. */
  async testWebhook(id, options) {
    return this.request('POST', at('webhooks', 'subscriptions', id, 'test'), {}, options);
  }

  /** Gives a subscription a new secret. For 24 hours requests are signed with both; only this answer has the new one. */
  async rotateWebhookSecret(id, options) {
    return member(await this.request('POST', at('webhooks', 'subscriptions', id, 'rotate-secret'), {}, options), 'subscription');
  }

  /** Deliveries, the newest first, without the events that they carry. */
  async listWebhookDeliveries(chosen = {}) {
    const { subscriptionId, status, limit, ...options } = known('option', chosen, ['subscriptionId', 'status', 'limit', 'signal']);
    return list(await this.request('GET', query(at('webhooks', 'deliveries'), { subscription_id: subscriptionId, status, limit }), undefined, options), 'deliveries');
  }

  /** A delivery with its event, and how its latest attempt ended. */
  async getWebhookDelivery(id, options) {
    return member(await this.request('GET', at('webhooks', 'deliveries', id), undefined, options), 'delivery');
  }

  /** Sends a delivery again now, with the same id and the attempts of a new one. It may be dead, delivered or waiting. */
  async retryWebhookDelivery(id, options) {
    return member(await this.request('POST', at('webhooks', 'deliveries', id, 'retry'), {}, options), 'delivery');
  }

  /** How far the latest attempt of a job has come: `progress` from 0 to 1, `data`, `message` and `updated_at`, which are null when
   * nothing was reported. */
  async getProgress(id, options) {
    return this.request('GET', at('jobs', id, 'progress'), undefined, options);
  }

  /** How far a workflow has come: `progress` from 0 to 1, and the progress of each of its `steps`. */
  async getWorkflowProgress(id, options) {
    return this.request('GET', at('workflows', id, 'progress'), undefined, options);
  }

  /** Saves the checkpoint of a job, in place of the one before. It is on disk when the request has been answered, and the next attempt
   * of the job is delivered with it. */
  async saveCheckpoint(id, state, options) {
    return this.request('PUT', at('jobs', id, 'checkpoint'), { state }, options);
  }

  /** The checkpoint of a job: `state`, `sequence` and `created_at`. It can be read as long as the job. */
  async getCheckpoint(id, options) {
    return this.request('GET', at('jobs', id, 'checkpoint'), undefined, options);
  }

  /** Deletes the checkpoint of a job, if it has one: its next attempt begins from the start. */
  async deleteCheckpoint(id, options) {
    await this.request('DELETE', at('jobs', id, 'checkpoint'), undefined, options);
  }

  /** The endpoints that jobs are sent to, the oldest first, without their secrets. */
  async listPushEndpoints(options) {
    return list(await this.request('GET', query(at('push', 'endpoints'), { limit: 200, pages: 'all' }), undefined, options), 'endpoints');
  }

  /** Registers an endpoint: jobs of its types are sent to it as signed POST requests. Only this answer has the secret. */
  async createPushEndpoint(endpoint = {}, options) {
    return member(await this.request('POST', at('push', 'endpoints'), endpoint, options), 'push_endpoint');
  }

  /** An endpoint, without its secret. */
  async getPushEndpoint(id, options) {
    return member(await this.request('GET', at('push', 'endpoints', id), undefined, options), 'push_endpoint');
  }

  /** Changes an endpoint; what is left out stays. One that failures have closed or disabled is sent jobs again. */
  async updatePushEndpoint(id, changes = {}, options) {
    return member(await this.request('PATCH', at('push', 'endpoints', id), changes, options), 'push_endpoint');
  }

  /** Deletes an endpoint. Deliveries that are under way are settled; its other jobs stay available. */
  async deletePushEndpoint(id, options) {
    await this.request('DELETE', at('push', 'endpoints', id), undefined, options);
  }

  /** Sends a job of the type `push.test` now, once, and explains the answer: `success`, `outcome`, `explanation`, `status_code`,
   * `response_time_ms`, `response_body`. */
  async testPushEndpoint(id, options) {
    return this.request('POST', at('push', 'endpoints', id, 'test'), {}, options);
  }

  /** Gives an endpoint a new secret. For 24 hours requests are signed with both; only this answer has the new one. */
  async rotatePushSecret(id, options) {
    return member(await this.request('POST', at('push', 'endpoints', id, 'rotate-secret'), {}, options), 'push_endpoint');
  }

  /** What happened to a job: its events, the oldest first, and its attempts with worker, wait, duration and error. */
  async getHistory(id, chosen = {}) {
    const { limit, cursor, ...options } = known('option', chosen, ['limit', 'cursor', 'signal']);
    return this.request('GET', query(at('jobs', id, 'history'), { limit, cursor }), undefined, options);
  }

  /** The workflow that a job is part of, with all its steps as a `tree`; a job without a workflow is a tree of its own. */
  async getLineage(id, options) {
    return this.request('GET', at('jobs', id, 'lineage'), undefined, options);
  }

  /** Deletes the history of a job: what happened up to now is not shown any more. The job stays as it is. */
  async deleteHistory(id, options) {
    return this.request('DELETE', at('jobs', id, 'history'), undefined, options);
  }

  /** How many events happened in each minute, hour or day, with average and 95th percentile of the durations, the oldest first. Periods
   * in which nothing happened are left out. */
  async historyStats(chosen = {}) {
    const { since, before, queues, groupBy, ...options } = known('option', chosen, ['since', 'before', 'queues', 'groupBy', 'signal']);
    return list(await this.request('GET', query(at('history', 'stats'), { start: timeOf('since', since), end: timeOf('before', before), queues, group_by: groupBy }), undefined, options), 'buckets');
  }

  /** Failed attempts put together by their fingerprint, which is the same for errors that differ only in ids, numbers and quoted text. */
  async listErrorGroups(chosen = {}) {
    const { queue, type, errorType, tenant, since, sort, page, perPage, ...options } = known('option', chosen, ['queue', 'type', 'errorType', 'tenant', 'since', 'sort', 'page', 'perPage', 'signal']);
    return list(await this.request('GET', query(at('admin', 'errors'), { queue, type, error_type: errorType, tenant, since: timeOf('since', since), sort, page, per_page: perPage }), undefined, options), 'items');
  }

  /** One group of errors, with its `places` (the failures by queue and type) and those of its `jobs` that there still are. */
  async getErrorGroup(fingerprint, chosen = {}) {
    const { queue, type, tenant, ...options } = known('option', chosen, ['queue', 'type', 'tenant', 'signal']);
    return this.request('GET', query(at('admin', 'errors', fingerprint), { queue, type, tenant }), undefined, options);
  }

  /** Begins to retry, cancel or delete all jobs that a filter finds, and answers at once with the operation. */
  async startBulkOperation(action, filter, chosen = {}) {
    const { reason, dryRun, ...options } = known('option', chosen, ['reason', 'dryRun', 'signal']);
    // Sent once: a refusal with 408 is an answer here.
    const call = { ...known('option', options, ['signal']), wait: 0 };
    return this.request('POST', at('admin', 'bulk'), { action, filter, reason, dry_run: dryRun, confirm: true }, call);
  }

  /** Bulk operations, the newest first. They are kept for 30 days after their end, and the last 1,000 of them. */
  async listBulkOperations(chosen = {}) {
    const { state, cursor, perPage, ...options } = known('option', chosen, ['state', 'cursor', 'perPage', 'signal']);
    return list(await this.request('GET', query(at('admin', 'bulk'), { state, cursor, per_page: perPage }), undefined, options), 'items');
  }

  /** A bulk operation: its state, how far it is, how many jobs were changed, and how many were refused and why. */
  async getBulkOperation(id, chosen = {}) {
    const { waitMs, ...options } = known('option', chosen, ['waitMs', 'signal']);
    return this.request('GET', query(at('admin', 'bulk', id), { wait_ms: waitMs }), undefined, options);
  }

  /** Stops a bulk operation until it is resumed. The slice that is under way is finished. */
  async pauseBulkOperation(id, options) {
    return this.request('POST', at('admin', 'bulk', id, 'pause'), {}, options);
  }

  /** Goes on with a bulk operation that was paused, or that has failed, where it stopped. */
  async resumeBulkOperation(id, options) {
    return this.request('POST', at('admin', 'bulk', id, 'resume'), {}, options);
  }

  /** Ends a bulk operation for good. Jobs that it has changed stay changed. */
  async cancelBulkOperation(id, options) {
    return this.request('POST', at('admin', 'bulk', id, 'cancel'), {}, options);
  }

  /** The relays that send rows of outboxes to this server, with what each of them said last. */
  async listRelays(chosen = {}) {
    const { state, page, perPage, ...options } = known('option', chosen, ['state', 'page', 'perPage', 'signal']);
    return list(await this.request('GET', query(at('admin', 'relays'), { state, page, per_page: perPage }), undefined, options), 'items');
  }

}

class Queues extends Part {
  /** All queues with their status. */
  async list(options) {
    return list(await this.call('GET', query(at('queues'), { pages: 'all' }), undefined, options), 'queues');
  }

  /** How many jobs of the queue are in which state. */
  async stats(name, options) {
    return member(await this.call('GET', at('queues', name, 'stats'), undefined, options), 'queue');
  }

  /** Stops handing out jobs of the queue until `queues.resume()`. Jobs can still be enqueued. A queue that does not exist is made,
   * paused: the protocol answers 200 for every name. `ojs queues pause` asks first. */
  async pause(name, options) {
    return member(await this.call('POST', at('queues', name, 'pause'), {}, options), 'queue');
  }

  /** Hands out jobs of the queue again, and accepts new ones. */
  async resume(name, options) {
    return member(await this.call('POST', at('queues', name, 'resume'), {}, options), 'queue');
  }

  /** Creates a queue with settings, such as `concurrency`, `max_size`, `rate_limit` and `retention`. */
  async create(name, config = {}, options) {
    return this.call('POST', at('queues'), { name, config }, options);
  }

  /** A queue with its settings and counts. */
  async get(name, options) {
    return this.call('GET', at('queues', name), undefined, options);
  }

  /** Changes the settings that are named and leaves the others. A setting of null goes back to the template, the queue `_default`. */
  async configure(name, config = {}, options) {
    return this.call('PUT', at('queues', name, 'config'), config, options);
  }

  /** Deletes the queue. A queue that holds jobs is deleted only if they may be discarded or moved. */
  async delete(name, chosen = {}) {
    const { strategy = 'reject', targetQueue, ...options } = known('option', chosen, ['strategy', 'targetQueue', 'signal']);
    return this.call('DELETE', query(at('queues', name), { strategy, target_queue: targetQueue }), undefined, options);
  }

  /** Accepts no more jobs for the queue and hands out those that are in it, until `queues.resume()`. */
  async drain(name, options) {
    return this.call('POST', at('queues', name, 'drain'), {}, options);
  }

  /** Removes the jobs of the queue that are in one of these states, and returns how many. They cannot be brought back. */
  async purge(name, states, chosen = {}) {
    const { olderThan, ...options } = known('option', chosen, ['olderThan', 'signal']);
    const body = { states: many('states', states), older_than: age('olderThan', olderThan), confirm: true, limit: 10000 };
    for (let found = 0; ;) {
      const answer = await this.call('DELETE', at('admin', 'queues', name, 'jobs'), body, options);
      found += answer.purged_count ?? 0;
      if (!answer.has_more) return found;
    }
  }

  /** How the jobs of a queue are shared: by tenant or by key, and with which weights. */
  async getFairness(name, options) {
    return this.call('GET', at('admin', 'queues', name, 'fairness'), undefined, options);
  }

  /** Shares the jobs of a queue, those that wait included: among jobs of one priority, keys get jobs handed out in turn, in proportion
   * to their weights. */
  async setFairness(name, sharing = {}, options) {
    return this.call('PUT', at('admin', 'queues', name, 'fairness'), sharing, options);
  }

  /** Ends the sharing of a queue: its jobs are handed out in their order again. */
  async deleteFairness(name, options) {
    await this.call('DELETE', at('admin', 'queues', name, 'fairness'), undefined, options);
  }

}

class RateLimits extends Part {
  /** The keys that have limits, with how much of each limit is used. */
  async list(options) {
    return list(await this.call('GET', query(at('rate-limits'), { limit: 200, pages: 'all' }), undefined, options), 'items');
  }

  /** The limits of a key, with how much of each is used. */
  async get(key, options) {
    return this.call('GET', at('rate-limits', key), undefined, options);
  }

  /** Gives a key other limits until a time, for example `concurrency` 2. Without any limit the override ends. */
  async override(key, limits, chosen = {}) {
    const { expiresAt, ...options } = known('option', chosen, ['expiresAt', 'signal']);
    return this.call('PUT', at('rate-limits', key), { ...limits, expires_at: timeOf('expiresAt', expiresAt) }, options);
  }

}

class DeadLetters extends Part {
  /** Jobs that failed for good and were kept, the newest first. */
  async list(filters = {}) {
    const { queue, type, limit, offset, ...options } = known('filter', filters, ['queue', 'type', 'limit', 'offset', 'signal']);
    return list(await this.call('GET', query(at('dead-letter'), { queue, type, limit, offset }), undefined, options), 'jobs').map(Job.answered);
  }

  /** The dead letter with this id. */
  async get(id, options) {
    return Job.answered(member(await this.call('GET', at('dead-letter', id), undefined, options), 'job'));
  }

  /** Runs a dead letter again, with all its attempts. */
  async retry(id, options) {
    return Job.answered(member(await this.call('POST', at('dead-letter', id, 'retry'), {}, options), 'job'));
  }

  /** Deletes a dead letter. It cannot be brought back. */
  async discard(id, options) {
    await this.call('DELETE', at('dead-letter', id), undefined, options);
  }

  /** Runs all dead letters again that the filter finds, and returns how many. Without a filter it is all of them. */
  async retryAll(filters = {}) {
    const { queue, type, errorType, since, until, ...options } = known('filter', filters, ['queue', 'type', 'errorType', 'since', 'until', 'signal']);
    return Number(member(await this.call('POST', at('dead-letter', 'retry'), { filter: given({ queue, type, error_type: errorType, since: timeOf('since', since), until: timeOf('until', until) }), confirm: true }, options), 'retried'));
  }

  /** Deletes all dead letters that the filter finds, and returns how many. Without a filter it is all of them. */
  async discardAll(filters = {}) {
    const { queue, type, errorType, since, until, ...options } = known('filter', filters, ['queue', 'type', 'errorType', 'since', 'until', 'signal']);
    return Number(member(await this.call('DELETE', query(at('dead-letter'), { queue, type, error_type: errorType, since: timeOf('since', since), until: timeOf('until', until), confirm: true }), undefined, options), 'deleted'));
  }

  /** How many dead letters there are, by queue and by type of error, and since when. */
  async stats(options) {
    return this.call('GET', at('dead-letter', 'stats'), undefined, options);
  }

  /** What would come of running dead letters again: which would be refused, which would wait and for what, and which would run although
   * an enqueue of the same job would be refused. Nothing is changed. */
  async preview(chosen = {}) {
    const { queue, type, errorType, since, until, jobs, ...options } = known('option', chosen, ['queue', 'type', 'errorType', 'since', 'until', 'jobs', 'signal']);
    return this.call('GET', query(at('dead-letter', 'preview'), { queue, type, error_type: errorType, since: timeOf('since', since), until: timeOf('until', until), job_ids: jobs }), undefined, options);
  }

}

class Cron extends Part {
  /** All cron entries. */
  async list(options) {
    return crons(await this.call('GET', query(at('cron'), { pages: 'all' }), undefined, options));
  }

  /** The cron entry of this name. */
  async get(name, options) {
    return cron(await this.call('GET', at('cron', name), undefined, options));
  }

  /** Enables the cron entry, or disables it. A disabled entry enqueues no jobs. */
  async enable(name, enabled, options) {
    return cron(await this.call('PATCH', at('cron', name), { enabled }, options));
  }

  /** Enqueues a job of the cron entry now, whether the entry is enabled or not. Its schedule stays. */
  async run(name, options = {}) {
    // Sent once: a refusal with 408 is an answer here.
    const call = { ...known('option', options, ['signal']), wait: 0 };
    return Job.answered(member(await this.call('POST', at('cron', name, 'run'), {}, call), 'job'));
  }

  /** Deletes the cron entry. The jobs that it has enqueued stay. */
  async delete(name, options) {
    await this.call('DELETE', at('cron', name), undefined, options);
  }

}

class Workers extends Part {
  /** The workers that the server knows, with what each of them does. */
  async list(chosen = {}) {
    const { state, page, perPage, ...options } = known('option', chosen, ['state', 'page', 'perPage', 'signal']);
    return list(await this.call('GET', query(at('admin', 'workers'), { state, page, per_page: perPage }), undefined, options), 'items');
  }

  /** The worker with this id. */
  async get(id, options) {
    return this.call('GET', at('admin', 'workers', id), undefined, options);
  }

  /** Tells a worker to take no more jobs (`quiet`), to stop (`terminate`), or to take jobs again (`resume`). */
  async direct(id, directive, options) {
    return this.call('POST', at('admin', 'workers', id, directive), {}, options);
  }

  /** Removes a worker that no longer sends heartbeats. Its jobs go back to their queues. */
  async remove(id, options) {
    return this.call('DELETE', at('admin', 'workers', id), undefined, options);
  }

}

class Trains extends Part {
  /** The trains that have jobs, in the order of their ids, or only those in one state; the one that was held first comes first. */
  async list(chosen = {}) {
    const { state, ...options } = known('option', chosen, ['state', 'signal']);
    return list(await this.call('GET', query(at('trains'), { state, limit: 200, pages: 'all' }), undefined, options), 'trains');
  }

  /** A train: its state, its locomotive, which is the one job that may run, and its jobs in the order in which they run. */
  async get(id, options) {
    return this.call('GET', at('trains', id), undefined, options);
  }

  /** Ends the hold of a train: a locomotive that has ended leaves it, and the next job may run. */
  async advance(id, chosen = {}) {
    const { jobId, ...options } = known('option', chosen, ['jobId', 'signal']);
    return this.call('POST', at('trains', id, 'advance'), { job_id: jobId, confirm: true }, options);
  }

  /** Holds a train: a job of it that runs may end, and no further one starts until `trains.advance()`. */
  async hold(id, options) {
    return this.call('POST', at('trains', id, 'hold'), {}, options);
  }

}

class Tenants extends Part {
  /** The tenants of the server by id, with the number of their jobs and their limits. */
  async list(chosen = {}) {
    const { page, perPage, ...options } = known('option', chosen, ['page', 'perPage', 'signal']);
    return list(await this.call('GET', query(at('admin', 'tenants'), { page, per_page: perPage }), undefined, options), 'items');
  }

  /** A tenant with its status, its limits and the number of its jobs by state. */
  async get(id, options) {
    return this.call('GET', at('admin', 'tenants', id), undefined, options);
  }

  /** Makes a tenant, or changes what the body names of one. A job that names a new tenant makes it as well. */
  async put(id, changes = {}, options) {
    return this.call('PUT', at('admin', 'tenants', id), changes, options);
  }

  /** Deletes a tenant with its ended jobs. It is refused while the tenant has jobs that have not ended. */
  async delete(id, options) {
    return this.call('DELETE', at('admin', 'tenants', id), undefined, options);
  }

  /** Sets what a tenant may use: `max_concurrency`, `max_enqueue_rate`, `max_queue_depth` and `max_scheduled`; and `fairness_weight`,
   * its weight in shared queues. */
  async setLimits(id, limits = {}, options) {
    return this.call('PUT', at('admin', 'tenants', id, 'limits'), limits, options);
  }

  /** Stops a tenant: its jobs are refused with 403, and those that wait are not handed out. Active jobs go on. */
  async suspend(id, options) {
    return this.call('POST', at('admin', 'tenants', id, 'suspend'), {}, options);
  }

  /** Ends the suspension of a tenant: its jobs are taken and handed out again. */
  async resume(id, options) {
    return this.call('POST', at('admin', 'tenants', id, 'resume'), {}, options);
  }

  /** What a tenant has: jobs by state and queue, how much of its limits is used, and what was done so far. */
  async stats(id, options) {
    return this.call('GET', at('admin', 'tenants', id, 'stats'), undefined, options);
  }

  /** The jobs of a tenant, newest first; with the filters of `GET /admin/jobs`. */
  async jobs(id, chosen = {}) {
    const { queue, state, page, perPage, ...options } = known('option', chosen, ['queue', 'state', 'page', 'perPage', 'signal']);
    return jobPage(await this.call('GET', query(at('admin', 'tenants', id, 'jobs'), { queue, state, page, per_page: perPage }), undefined, options));
  }

  /** Tenants that use far more than the others do, those with the most signals first. */
  async noisy(chosen = {}) {
    const { depthFactor, rateFactor, activePercent, errorFactor, minJobs, limit, ...options } = known('option', chosen, ['depthFactor', 'rateFactor', 'activePercent', 'errorFactor', 'minJobs', 'limit', 'signal']);
    return list(await this.call('GET', query(at('admin', 'stats', 'tenants', 'noisy'), { depth_factor: depthFactor, rate_factor: rateFactor, active_percent: activePercent, error_factor: errorFactor, min_jobs: minJobs, limit }), undefined, options), 'items');
  }

}

module.exports = { Operations, Queues, RateLimits, DeadLetters, Cron, Workers, Trains, Tenants };
