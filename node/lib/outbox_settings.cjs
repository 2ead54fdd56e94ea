'use strict';
// Settings of the outbox by the names that the specification prints (framework adapters, section 5.2), beside the SDK's own.
const { OJSValidationError } = require('./errors.cjs');

const NAMES = { ojs_url: 'url', table_name: 'table', poll_interval: 'pollInterval', batch_size: 'batchSize' };
/** Whether the server shares the application's database. */
const BACKENDS = { external: false, database: true };

/**
 * Settings in one level and in the SDK's words: `{ adapter: { ojs_url, backend_type, outbox: { enabled, table_name, … } }, database }` becomes
 * `{ url, sameDatabase, enabled, table, …, database }`. What is undefined is left out.
 */
function spelled(options) {
  const { adapter, outbox, ...own } = options;
  const flat = {};
  for (const [name, value] of [own, adapter && spelled(adapter), outbox && spelled(outbox)].flatMap((part) => Object.entries(part ?? {}))) {
    if (value === undefined) continue;
    const [ours, meaning] = name === 'backend_type' ? ['sameDatabase', shares(value)] : [NAMES[name] ?? name, value];
    if (Object.hasOwn(flat, ours)) throw new OJSValidationError(`the setting '${ours}' is given twice, under two names: leave one out`);
    flat[ours] = meaning;
  }
  return flat;
}

function shares(kind) {
  if (Object.hasOwn(BACKENDS, kind)) return BACKENDS[kind];
  throw new OJSValidationError(
    `backend_type is 'external' (jobs go through the outbox table) or 'database' (the server shares the application's database), not '${kind}'`);
}

module.exports = { spelled };
