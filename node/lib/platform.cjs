'use strict';
// What differs between Node.js and edge runtimes, here for Node.js; ../serverless/core/platform.mjs has the same of Web
// APIs.
const { randomUUID, webcrypto } = require('node:crypto');
const { types } = require('node:util');

/** Text that UTF-8 has a form for. */
const clean = (value) => Buffer.from(value).toString();
const isBuffer = (value) => Buffer.isBuffer(value);
/** Environment variables. */
const variables = () => process.env;

module.exports = { clean, isBuffer, randomUUID, types, variables, webcrypto };
