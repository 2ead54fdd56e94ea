'use strict';
// What differs between Node.js and edge runtimes, here for Node.js; ../serverless/core/platform.mjs has the same of Web
// APIs.
const { randomUUID, webcrypto } = require('node:crypto');
const { sep } = require('node:path');
const { types } = require('node:util');

/** Text that UTF-8 has a form for. */
const clean = (value) => Buffer.from(value).toString();
const isBuffer = (value) => Buffer.isBuffer(value);
/** Environment variables. */
const variables = () => process.env;

/** Whether a line of a stack is of this package. */
const isOwnFrame = (line) => line.includes(`${__dirname}${sep}`);

module.exports = { clean, isBuffer, isOwnFrame, randomUUID, types, variables, webcrypto };
