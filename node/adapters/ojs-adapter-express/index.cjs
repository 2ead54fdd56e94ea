'use strict';
const { RequestOjs, ojsMiddleware } = require('./lib/middleware.cjs');
const { instrument, requestContext, transaction } = require('@openjobspec/sdk/outbox');

module.exports = { RequestOjs, instrument, ojsMiddleware, requestContext, transaction };
