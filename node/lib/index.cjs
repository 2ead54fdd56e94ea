'use strict';
const { OJSClient } = require('./client.cjs');
const { OJSServer } = require('./server.cjs');
const { OJSWorker } = require('./worker.cjs');
const { JobContext } = require('./context.cjs');
const { JobRequest } = require('./job.cjs');
const { Job, JobResult } = require('./records.cjs');
const { Task } = require('./task.cjs');
const { MiddlewareChain } = require('./middleware.cjs');
const { setLogger } = require('./logs.cjs');
const { Workflow, chain, group, batch, graph, node } = require('./workflow.cjs');
const errors = require('./errors.cjs').public;
const { parse, stringify } = require('./json.cjs');
const testing = require('./testing.cjs');
const { verifyWebhook } = require('./webhooks.cjs');
const { version } = require('../package.json');

module.exports = { OJSClient, OJSServer, OJSWorker, Job, JobContext, JobRequest, JobResult, MiddlewareChain, Task,
  Workflow, chain, group, batch, graph, node,
  json: { parse, stringify }, setLogger, testing, verifyWebhook, version, ...errors };
