'use strict';
module.exports = require('./lib/spans.cjs');
