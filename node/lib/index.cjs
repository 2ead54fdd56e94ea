'use strict';
const { OJSClient } = require('./client.cjs');
const { OJSServer } = require('./server.cjs');
const { OJSWorker } = require('./worker.cjs');
const { JobContext } = require('./context.cjs');
const { Job, JobRequest } = require('./job.cjs');
const { MiddlewareChain } = require('./middleware.cjs');
const { Workflow, chain, group, batch } = require('./workflow.cjs');
const errors = require('./errors.cjs').public;
const json = require('./json.cjs');
const testing = require('./testing.cjs');
const { version } = require('../package.json');

module.exports = { OJSClient, OJSServer, OJSWorker, Job, JobContext, JobRequest, MiddlewareChain, Workflow, chain, group, batch, json,
  testing, version, ...errors };
