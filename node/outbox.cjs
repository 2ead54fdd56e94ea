'use strict';
module.exports = require('./lib/outbox.cjs');
